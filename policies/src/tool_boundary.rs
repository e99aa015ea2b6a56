//! `tool_boundary`: the strong baseline of Table 8. Checks every high-risk call against the trusted
//! task configuration, and nothing else: it reads no label.

use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{DecidingField, Hooks, Policy, Proposal, ProposalVerdict, Ruling, View};
use plugins::predicate::leaking_fields;
use plugins::state::SavedState;

use crate::authorize::{Scope, ledger_entry, refusal, refused_fields};
use crate::rules;

/// *The paper's*: a per-call check against "allowed tool/target constraints" that are "derived from
/// the trusted task configuration" (Table 7). *Inferred*: which conditions of the ledger, our form
/// of that configuration, are target constraints. Section 5.2 counts recipient, document, memory
/// key and calendar entity as targets, and leaves arguments and visibility to the predicate phi of
/// the ledger, which Table 7 contrasts with this policy as "exact ledger match". So the default
/// checks the conditions on arguments of those roles and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolBoundary {
    scope: Scope,
    leak_check: bool,
}

impl ToolBoundary {
    /// The policy with these parameters, as declared by [`ToolBoundary::parameters`].
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            scope: match parameters.text("constraints") {
                "tool_and_target" => Scope::ToolAndTarget,
                "full_match" => Scope::Everything,
                _ => Scope::Targets,
            },
            leak_check: parameters.boolean("leak_check"),
        }
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![
            ParameterSpec {
                name: "constraints",
                doc: "Which conditions of an authorisation are checked besides tool and target: \
                      those on arguments that name a target (recipient, document, memory key, \
                      event, contact), none, or all.",
                kind: ParameterKind::Choice(&["targets", "tool_and_target", "full_match"]),
            },
            ParameterSpec {
                name: "leak_check",
                doc: "Whether Leak blocks. Off by default: Table 7 gives the leak check to the \
                      ledger policy only, and private labels are provenance, which is \"not part \
                      of the baseline policy state\".",
                kind: ParameterKind::Boolean(false),
            },
        ]
    }

    /// The first entry of the ledger that authorises the call within the scope.
    fn authorization(self, view: &View<'_>, proposal: &Proposal<'_>) -> Option<usize> {
        let call = proposal.view();
        let mut entries = view.briefing.ledger.entries.iter();
        entries.position(|entry| refused_fields(call, entry, self.scope).is_empty())
    }
}

impl SavedState for ToolBoundary {}

impl Policy for ToolBoundary {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        if !proposal.tool.high_risk() {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let Some(entry) = self.authorization(view, &proposal) else {
            let reason = refusal(&rules::TARGET_NOT_AUTHORIZED, view, &proposal, self.scope);
            return Ruling::new(ProposalVerdict::Block, reason);
        };
        let evidence = [ledger_entry(entry)];
        if self.leak_check {
            let leaking = leaking_fields(proposal.view(), view.briefing, view.labels);
            if !leaking.is_empty() {
                let reason = rules::SECRET_LEAK.reason().with_evidence(evidence);
                let fields = leaking.into_iter().map(DecidingField::Argument);
                return Ruling::new(ProposalVerdict::Block, reason.with_fields(fields));
            }
        }
        let reason = rules::ALLOW_AUTHORIZED_TARGET.reason();
        Ruling::new(ProposalVerdict::Allow, reason.with_evidence(evidence))
    }
}

#[cfg(test)]
mod tests;
