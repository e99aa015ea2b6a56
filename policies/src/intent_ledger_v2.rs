//! `intent_ledger_v2`: the policy case study (section 5, Eq. 10). Untrusted content may supply what
//! is said; it may not expand what may be done.

use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{
    DecidingField, Evidence, Hooks, MemoryVerdict, Policy, Proposal, ProposalVerdict, RecordView,
    Ruling, View,
};
use plugins::predicate::expanding_fields;
use plugins::state::SavedState;

use crate::authorize::{Authorization, Scope, authorize, ledger_entry, refusal};
use crate::quarantine::TaintedMemory;
use crate::rules;
use crate::taint::{carried_sources, tainted_authority_fields};

/// When `block_low_to_high_privilege_jump` blocks a call that matches the ledger.
///
/// The paper attributes 40 lost completions to this rule (7.2) and does not define it apart from
/// `Expand`; if the ledger's predicate constrains every authority field, `Expand` adds nothing to
/// `Match`. Hence a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JumpRule {
    /// `Expand` of Eq. 10: an authority field is tainted, and the matched entry does not name its
    /// value. *The paper's*.
    #[default]
    OnUnresolvedField,
    /// Never: `Match` and `Leak` alone. *Ours*, for ablation.
    Off,
    /// Whenever a taint edge enters the proposal, as the indicator `privilege_jump` of Table 5
    /// counts it: the ledger policy then allows what `taint_only_v1` allows. *Ours*, for ablation.
    OnAnyTaint,
}

impl JumpRule {
    fn named(word: &str) -> Self {
        match word {
            "off" => Self::Off,
            "on_any_taint" => Self::OnAnyTaint,
            _ => Self::OnUnresolvedField,
        }
    }
}

/// *The paper's*: a high-risk call commits iff `Match`, not `Leak` and not `Expand` (Eq. 10), with
/// the ledger it is given. *Inferred*: tainted memory is quarantined at retrieval (Table 15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntentLedgerV2 {
    jump_rule: JumpRule,
    memory: TaintedMemory,
}

impl IntentLedgerV2 {
    /// The policy with this jump rule, which quarantines tainted memory.
    #[must_use]
    pub const fn new(jump_rule: JumpRule) -> Self {
        Self {
            jump_rule,
            memory: TaintedMemory::Quarantine,
        }
    }

    /// The policy with these parameters, as declared by [`IntentLedgerV2::parameters`].
    #[must_use]
    pub fn of_parameters(parameters: &Parameters) -> Self {
        Self {
            jump_rule: JumpRule::named(parameters.text("jump_rule")),
            memory: TaintedMemory::of_parameters(parameters),
        }
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        let jump_rule = ParameterSpec {
            name: "jump_rule",
            doc: "When a call that matches the ledger is blocked as a privilege jump: if a tainted \
                  authority field has a value that the matched entry does not name (Expand of \
                  Eq. 10), never, or whenever the proposal is tainted.",
            kind: ParameterKind::Choice(&["on_unresolved_field", "off", "on_any_taint"]),
        };
        vec![jump_rule, TaintedMemory::parameter()]
    }

    /// The ruling on a call that `entry` authorises.
    fn matched(
        self,
        view: &View<'_>,
        proposal: &Proposal<'_>,
        entry: usize,
    ) -> Ruling<ProposalVerdict> {
        if let Some(fields) = self.jump(view, proposal, entry) {
            return privilege_jump(view, proposal, entry, &fields);
        }
        let reason = rules::ALLOW_LEDGER_MATCH.reason();
        let evidence = [ledger_entry(entry)];
        Ruling::new(ProposalVerdict::Allow, reason.with_evidence(evidence))
    }

    /// The argument positions through which a call that matches `entry` is a privilege jump; none
    /// if it is no jump.
    fn jump(self, view: &View<'_>, proposal: &Proposal<'_>, entry: usize) -> Option<Vec<u16>> {
        match self.jump_rule {
            JumpRule::Off => None,
            JumpRule::OnUnresolvedField => {
                let fields = expanding_fields(
                    proposal.view(),
                    &view.briefing.ledger.entries[entry],
                    view.labels,
                    &view.briefing.untrusted,
                );
                (!fields.is_empty()).then_some(fields)
            }
            JumpRule::OnAnyTaint => view
                .tainted(proposal.call.recorded)
                .then(|| tainted_authority_fields(view, proposal, &view.briefing.untrusted)),
        }
    }
}

impl SavedState for IntentLedgerV2 {}

impl Policy for IntentLedgerV2 {
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
                let rule = &rules::OUTSIDE_USER_GOAL;
                let reason = refusal(rule, view, &proposal, Scope::Everything);
                Ruling::new(ProposalVerdict::Block, reason)
            }
            Authorization::Leaking(fields) => {
                let fields = fields.into_iter().map(DecidingField::Argument);
                let reason = rules::SECRET_LEAK.reason().with_fields(fields);
                Ruling::new(ProposalVerdict::Block, reason)
            }
            Authorization::Matched(entry) => self.matched(view, &proposal, entry),
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

/// The block of a privilege jump through `fields`, with the entry that was exceeded and the
/// untrusted sources that exceed it.
fn privilege_jump(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    entry: usize,
    fields: &[u16],
) -> Ruling<ProposalVerdict> {
    let untrusted = &view.briefing.untrusted;
    let reason = rules::LOW_TO_HIGH_PRIVILEGE_JUMP
        .reason()
        .with_fields(fields.iter().copied().map(DecidingField::Argument))
        .with_evidence([ledger_entry(entry)])
        .with_evidence(carried_sources(view, proposal, fields, untrusted))
        .with_evidence(proposal.node.map(Evidence::Node));
    Ruling::new(ProposalVerdict::Block, reason)
}

#[cfg(test)]
mod tests;
