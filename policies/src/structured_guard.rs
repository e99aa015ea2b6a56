//! `structured_guard`: the structured action proxy of Table 8. The model fills in a schema, and what
//! it would do with consequences is put to the user.

use plugins::draws::Chance;
use plugins::ids::AgentId;
use plugins::model::{SchemaMode, Segment};
use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{
    Evidence, Hooks, Policy, PromptEdit, PromptVerdict, Proposal, ProposalVerdict, Reason, Ruling,
    View,
};
use plugins::state::SavedState;
use plugins::tool::RiskClass;

use crate::rules;

/// The name of the draw behind [`rules::ALLOW_MISSED_WRITE`].
const MISSED_WRITE: &str = "missed_write";

/// *The paper's*: a structured-action guard baseline (Table 8) whose interface and confirmation path
/// decide: no block, a confirm rate of 0.9350, and over 600 rows 368 confirmations that did not
/// commit and 232 parser failures (Table 11, 7.1). *Inferred*: every high-risk call is put to the
/// user, whatever the ledger names and whatever is tainted. *Ours*: a stand-in for the reading of a
/// call that is sometimes wrong, off by default ([`rules::ALLOW_MISSED_WRITE`]). Parser failures are
/// the model's, which is shown the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructuredGuard {
    missed_writes: Chance,
}

impl StructuredGuard {
    /// The policy with these parameters, as declared by [`StructuredGuard::parameters`].
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            missed_writes: parameters.chance("missed_writes"),
        }
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![ParameterSpec {
            name: "missed_writes",
            doc: "The probability, drawn once for a rollout, that the first high-risk write of an \
                  agent in an episode is taken for low-risk where the ledger names another action \
                  beside it; 0 draws nothing. 0.077, the default, gives the completion of 0.0102 in Table 11 if \
                  four of fifteen families of workflows write first and then reach outside.",
            kind: ParameterKind::Probability(Chance::from_millionths(77_000)),
        }]
    }

    /// The ruling on a write that may be missed. It rests on a draw, so it is assumed either way.
    fn on_first_write(
        self,
        view: &mut View<'_>,
        proposal: &Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        // Latent, so that a study can balance how many rollouts of a group miss one.
        if !view.draws.latent(MISSED_WRITE, self.missed_writes) {
            let reason = reason(&rules::CONFIRM_STRUCTURED_ACTION, proposal);
            return Ruling::new(ProposalVerdict::Confirm, reason.assumed());
        }
        let reason = reason(&rules::ALLOW_MISSED_WRITE, proposal);
        Ruling::new(ProposalVerdict::Allow, reason.assumed())
    }
}

impl SavedState for StructuredGuard {}

impl Policy for StructuredGuard {
    fn hooks(&self) -> Hooks {
        Hooks::PROMPT | Hooks::PROPOSAL
    }

    fn on_prompt(
        &mut self,
        _view: &mut View<'_>,
        _agent: AgentId,
        _segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        let edit = PromptEdit {
            schema_mode: Some(SchemaMode::Structured),
            ..PromptEdit::default()
        };
        let reason = rules::SHOW_STRUCTURED_SCHEMA.reason();
        Ruling::new(PromptVerdict::Edit(edit), reason)
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        if !proposal.tool.high_risk() {
            return Ruling::<ProposalVerdict>::neutral();
        }
        if self.missed_writes != Chance::NEVER && is_first_write_of_several(view, &proposal) {
            return self.on_first_write(view, &proposal);
        }
        let reason = reason(&rules::CONFIRM_STRUCTURED_ACTION, &proposal);
        Ruling::new(ProposalVerdict::Confirm, reason)
    }
}

/// `rule`, with the proposal as evidence.
fn reason(rule: &rules::Rule, proposal: &Proposal<'_>) -> Reason {
    let node = proposal.node.map(Evidence::Node);
    rule.reason().with_evidence(node)
}

/// Whether the call is a high-risk write, the first of its agent in its episode, and the ledger names
/// an action of another tool: the first write of a workflow of several actions. A write proposed
/// again is not the first.
fn is_first_write_of_several(view: &View<'_>, proposal: &Proposal<'_>) -> bool {
    let tools = &view.briefing.tools;
    let call = proposal.call;
    let mut earlier = view.prefix.calls.iter().filter(|other| {
        other.id < call.id
            && other.agent == call.agent
            && other.episode == call.episode
            && tools[other.tool.index()].risk == RiskClass::Write
    });
    let mut entries = view.briefing.ledger.entries.iter();
    proposal.tool.risk == RiskClass::Write
        && entries.any(|entry| entry.action != proposal.tool.name)
        && earlier.next().is_none()
}

#[cfg(test)]
mod tests;
