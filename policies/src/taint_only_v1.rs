//! `taint_only_v1`: taint disqualifies (Eq. 11). The failure that motivated the ledger policy.

use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::{
    DecidingField, Evidence, Hooks, MemoryVerdict, Policy, Proposal, ProposalVerdict, RecordView,
    Ruling, View,
};
use plugins::state::SavedState;
use plugins::tool::RiskClass;

use crate::authorize::{Authorization, Scope, authorize, ledger_entry, refusal};
use crate::quarantine::TaintedMemory;
use crate::rules;
use crate::taint::untrusted_sources;

/// *The paper's*: a high-risk call commits only if it matches the ledger, does not leak, and its
/// proposal is not tainted; tainted means the node-level, recorded label (Eq. 11). *Inferred*:
/// tainted memory is quarantined at retrieval (Table 15), and a tainted matching call is confirmed
/// if its tool writes inside and blocked if it reaches outside (Table 11 has both rates; Eq. 11 is
/// binary).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaintOnlyV1 {
    memory: TaintedMemory,
}

impl TaintOnlyV1 {
    /// The policy with these parameters, as declared by [`TaintOnlyV1::parameters`].
    #[must_use]
    pub fn of_parameters(parameters: &Parameters) -> Self {
        Self {
            memory: TaintedMemory::of_parameters(parameters),
        }
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![TaintedMemory::parameter()]
    }
}

impl SavedState for TaintOnlyV1 {}

impl Policy for TaintOnlyV1 {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL | self.memory.hooks()
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        match authorize(view, &proposal) {
            Authorization::LowRisk => Ruling::<ProposalVerdict>::neutral(),
            Authorization::Unmatched => {
                let rule = &rules::TARGET_NOT_AUTHORIZED;
                let reason = refusal(rule, view, &proposal, Scope::Everything);
                Ruling::new(ProposalVerdict::Block, reason)
            }
            Authorization::Leaking(fields) => {
                let fields = fields.into_iter().map(DecidingField::Argument);
                let reason = rules::SECRET_LEAK.reason().with_fields(fields);
                Ruling::new(ProposalVerdict::Block, reason)
            }
            Authorization::Matched(entry) if view.tainted(proposal.call.recorded) => {
                tainted_match(view, &proposal, entry)
            }
            Authorization::Matched(entry) => {
                let reason = rules::ALLOW_UNTAINTED_MATCH.reason();
                let evidence = [ledger_entry(entry)];
                Ruling::new(ProposalVerdict::Allow, reason.with_evidence(evidence))
            }
        }
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.memory.on_read(view, &record)
    }
}

/// Confirms a write and blocks what reaches outside. No field decides: the label is the node's.
fn tainted_match(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    entry: usize,
) -> Ruling<ProposalVerdict> {
    let (verdict, rule) = if proposal.tool.risk == RiskClass::Write {
        (ProposalVerdict::Confirm, &rules::CONFIRM_TAINTED_WRITE)
    } else {
        (ProposalVerdict::Block, &rules::TAINTED_PRIVILEGE_JUMP)
    };
    let reason = rule
        .reason()
        .with_evidence(proposal.node.map(Evidence::Node))
        .with_evidence(untrusted_sources(view, proposal.call.recorded))
        .with_evidence([ledger_entry(entry)]);
    Ruling::new(verdict, reason)
}

#[cfg(test)]
mod tests;
