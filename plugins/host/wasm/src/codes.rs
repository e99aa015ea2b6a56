//! The numbers of the binary interface. Where a number is the position in an enum, a test pins it:
//! another order there must not change what a module of today reads.

use plugins::reason::{DenialReason, Hook, VerdictKind};
use plugins::trace::Subject;
use plugins::verdict::RecoveryAction;

/// Stands where an index would, and nothing is meant.
pub(crate) const NONE: u32 = u32::MAX;

/// The version of the interface.
pub(crate) const ABI: u32 = 1;

/// The verdicts by number; which hook takes which is said in [`fits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Allow,
    Block,
    Confirm,
    Hold,
    Rewrite,
    Simulate,
    Abort,
    Quarantine,
    Drop,
    Relabel,
    Transform,
    MaskTools,
    Edit,
    Act,
}

/// All of them with their words, by number.
pub(crate) const CODES: [(Code, &str); 14] = [
    (Code::Allow, "allow"),
    (Code::Block, "block"),
    (Code::Confirm, "confirm"),
    (Code::Hold, "hold"),
    (Code::Rewrite, "rewrite"),
    (Code::Simulate, "simulate"),
    (Code::Abort, "abort"),
    (Code::Quarantine, "quarantine"),
    (Code::Drop, "drop"),
    (Code::Relabel, "relabel"),
    (Code::Transform, "transform"),
    (Code::MaskTools, "mask_tools"),
    (Code::Edit, "edit"),
    (Code::Act, "act"),
];

impl Code {
    /// Whether `cb_payload` says more about the verdict.
    pub(crate) const fn has_payload(self) -> bool {
        matches!(
            self,
            Self::Rewrite
                | Self::Simulate
                | Self::Relabel
                | Self::Transform
                | Self::MaskTools
                | Self::Edit
                | Self::Act
        )
    }
}

/// The verdicts of a hook besides allowing (or passing).
pub(crate) const fn fits(hook: Hook) -> &'static [Code] {
    match hook {
        Hook::Session => &[Code::MaskTools, Code::Abort],
        Hook::Prompt => &[Code::Edit],
        Hook::Observation | Hook::Message => {
            &[Code::Relabel, Code::Transform, Code::Quarantine, Code::Drop]
        }
        Hook::Proposal => &[
            Code::Block,
            Code::Confirm,
            Code::Hold,
            Code::Rewrite,
            Code::Simulate,
            Code::Abort,
        ],
        Hook::MemoryWrite | Hook::MemoryRead => {
            &[Code::Block, Code::Quarantine, Code::Relabel, Code::Confirm]
        }
        Hook::Commit => &[Code::Block, Code::Hold],
        Hook::Recovery => &[Code::Act],
    }
}

/// The word of a hook.
pub(crate) const fn hook_word(hook: Hook) -> &'static str {
    match hook {
        Hook::Session => "session",
        Hook::Prompt => "prompt",
        Hook::Observation => "observation",
        Hook::Message => "message",
        Hook::Proposal => "proposal",
        Hook::MemoryWrite => "memory_write",
        Hook::MemoryRead => "memory_read",
        Hook::Commit => "commit",
        Hook::Recovery => "recovery",
    }
}

/// The verdict of an event, by the same numbers as the verdicts that a module gives.
pub(crate) const fn verdict(kind: VerdictKind) -> u32 {
    let code = match kind {
        VerdictKind::Allow => Code::Allow,
        VerdictKind::Relabel => Code::Relabel,
        VerdictKind::Edit => Code::Edit,
        VerdictKind::Rewrite => Code::Rewrite,
        VerdictKind::Simulate => Code::Simulate,
        VerdictKind::Hold => Code::Hold,
        VerdictKind::Confirm => Code::Confirm,
        VerdictKind::Drop => Code::Drop,
        VerdictKind::Quarantine => Code::Quarantine,
        VerdictKind::Block => Code::Block,
        VerdictKind::Act => Code::Act,
        VerdictKind::Abort => Code::Abort,
    };
    code as u32
}

/// The denials by number. The first is that of verdicts which deny nothing.
pub(crate) const DENIALS: [DenialReason; 7] = [
    DenialReason::PluginFault,
    DenialReason::TargetNotAuthorized,
    DenialReason::OutsideUserGoal,
    DenialReason::TaintedPrivilegeJump,
    DenialReason::ConfirmationRequired,
    DenialReason::CheckpointHold,
    DenialReason::MemoryQuarantined,
];

/// The number of a denial.
pub(crate) fn denial(reason: DenialReason) -> u32 {
    let position = DENIALS.iter().position(|&denial| denial == reason);
    position.map_or(0, crate::message::word)
}

/// The kind and the number of a subject.
pub(crate) const fn subject(subject: Subject) -> [u32; 2] {
    match subject {
        Subject::Source(id) => [0, id.0],
        Subject::Record(id) => [1, id.0],
        Subject::Message(id) => [2, id.0],
        Subject::Call(id) => [3, id.0],
        Subject::Step(step) => [4, step],
        Subject::Agent(id) => [5, id.0],
    }
}

/// What a recovery action does to which ids, by number.
pub(crate) fn recovery_action(what: u32, ids: Vec<u32>) -> Option<RecoveryAction> {
    use plugins::ids::{CallId, RecordId};
    let records = |ids: Vec<u32>| ids.into_iter().map(RecordId).collect();
    match what {
        0 => Some(RecoveryAction::Scrub(records(ids))),
        1 => Some(RecoveryAction::Quarantine(records(ids))),
        2 => Some(RecoveryAction::Restore(records(ids))),
        3 => Some(RecoveryAction::Rollback(
            ids.into_iter().map(CallId).collect(),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
