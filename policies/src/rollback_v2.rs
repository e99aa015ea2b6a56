//! `rollback_v2`: the ledger policy with a checkpoint and a recovery path (5.6, Appendix H 7).

use plugins::action::Call;
use plugins::briefing::Briefing;
use plugins::ids::{CallId, SourceId};
use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{
    Evidence, Hooks, MemoryVerdict, Policy, Proposal, ProposalVerdict, RecordView, RecoveryAction,
    RecoveryNotice, RecoveryVerdict, Ruling, View,
};
use plugins::predicate::CallView;
use plugins::state::SavedState;
use plugins::tool::Undo;

use crate::authorize::ledger_entry;
use crate::intent_ledger_v2::IntentLedgerV2;
use crate::rules;

/// What the checkpoint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Checkpoint {
    /// Each tainted call of an irrevocable e-mail tool that the ledger allows, once. *Inferred*: see
    /// [`rules::CHECKPOINT_HOLD`].
    #[default]
    IrrevocableEmail,
    /// Nothing: the recovery path alone. *Ours*, for ablation.
    Nothing,
}

impl Checkpoint {
    fn named(word: &str) -> Self {
        match word {
            "none" => Self::Nothing,
            _ => Self::IrrevocableEmail,
        }
    }

    /// Whether it holds a call that the ledger allows.
    fn holds(self, view: &View<'_>, proposal: &Proposal<'_>) -> bool {
        self == Self::IrrevocableEmail
            && proposal.tool.irrevocable_email
            && view.tainted(proposal.call.recorded)
    }
}

/// *The paper's*: `intent_ledger_v2` with synthetic confirmation and rollback paths, counted
/// separately (5.6, Appendix H 7). *Inferred*: where these paths are. One hold per tainted
/// irrevocable e-mail call gives the published block rate; the undoing of what a revoked source
/// stored is ours (`worlds/demos/case6_control_rollback.ron`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollbackV2 {
    ledger: IntentLedgerV2,
    checkpoint: Checkpoint,
}

impl RollbackV2 {
    /// The checkpoint and the rollback path on top of `ledger`.
    #[must_use]
    pub const fn new(ledger: IntentLedgerV2) -> Self {
        Self {
            ledger,
            checkpoint: Checkpoint::IrrevocableEmail,
        }
    }

    /// The policy with these parameters, as declared by [`RollbackV2::parameters`].
    #[must_use]
    pub fn of_parameters(parameters: &Parameters) -> Self {
        Self {
            ledger: IntentLedgerV2::of_parameters(parameters),
            checkpoint: Checkpoint::named(parameters.text("hold")),
        }
    }

    /// The parameters that it takes: those of [`IntentLedgerV2::parameters`], and what is held.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        let mut parameters = IntentLedgerV2::parameters();
        parameters.push(ParameterSpec {
            name: "hold",
            doc: "What the checkpoint holds once: tainted calls of irrevocable e-mail tools that \
                  the ledger allows (inferred from the block rate of Table 11), or none.",
            kind: ParameterKind::Choice(&["irrevocable_email", "none"]),
        });
        parameters
    }
}

impl SavedState for RollbackV2 {}

impl Policy for RollbackV2 {
    fn hooks(&self) -> Hooks {
        self.ledger.hooks() | Hooks::RECOVERY
    }

    /// Holds what the ledger allows if it is a tainted irrevocable e-mail. The engine releases the
    /// same call when it is proposed again, so nothing need be remembered here.
    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let ruling = self.ledger.on_proposal(view, proposal);
        if ruling.verdict != ProposalVerdict::Allow || !self.checkpoint.holds(view, &proposal) {
            return ruling;
        }
        let reason = rules::CHECKPOINT_HOLD
            .reason()
            .with_evidence(ruling.reason.evidence)
            .with_evidence(proposal.node.map(Evidence::Node));
        Ruling::new(ProposalVerdict::Hold, reason)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.ledger.on_memory_read(view, record)
    }

    /// Undoes what a revoked source stored, as far as the ledger authorises the undoing.
    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        let Some(revoked) = notice.revoked else {
            return Ruling::<RecoveryVerdict>::neutral();
        };
        let mut calls = Vec::new();
        let mut evidence = vec![Evidence::Source(revoked)];
        // The latest first: a later change must be undone before the one that it built on.
        for call in storing_calls(view, &notice, revoked).into_iter().rev() {
            if let Some(entry) = authorized_inverse(view.briefing, call) {
                calls.push(call.id);
                evidence.push(ledger_entry(entry));
            }
        }
        if calls.is_empty() {
            return Ruling::<RecoveryVerdict>::neutral();
        }
        let reason = rules::ROLLBACK_REVOKED_SOURCE
            .reason()
            .with_evidence(evidence);
        let rollback = RecoveryAction::Rollback(calls);
        Ruling::new(RecoveryVerdict::Act(vec![rollback]), reason)
    }
}

/// The calls that stored a live record whose recorded label carries `revoked`, ascending.
fn storing_calls<'a>(
    view: &View<'a>,
    notice: &RecoveryNotice<'_>,
    revoked: SourceId,
) -> Vec<&'a Call> {
    let carries = |label| view.labels.get(label).sources.contains(revoked.0);
    let mut ids: Vec<CallId> = notice
        .records
        .iter()
        .filter(|record| carries(record.recorded))
        .filter_map(|record| record.call)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter()
        .filter_map(|id| view.prefix.call(id))
        .collect()
}

/// The ledger entry that authorises the inverse of `call` on the same target. Conditions on
/// arguments are not looked at: a compensating action has a target and no arguments of its own.
fn authorized_inverse(briefing: &Briefing, call: &Call) -> Option<usize> {
    let tool = briefing.tools.get(call.tool.index())?;
    let Undo::Inverse(inverse) = tool.undo else {
        return None;
    };
    let inverse = briefing.tools.get(inverse.index())?;
    let arguments = &call.arguments;
    let target = CallView { tool, arguments }.target()?;
    let mut entries = briefing.ledger.entries.iter();
    entries.position(|entry| entry.action == inverse.name && &*entry.target == target)
}

#[cfg(test)]
mod tests;
