//! The words of annotations, and what they mean. Each is the word that every other surface uses.

use plugins::loaded::OWN_RULES;
use plugins::policy::{DenialReason, Hook, VerdictKind, is_rule_name};

/// The rule of a refusal because no policy permits: Cedar denies by default.
pub const DEFAULT_DENY: &str = "default_deny";

/// What is wrong with the name of a rule, if anything.
pub(crate) fn wrong_rule(name: &str) -> Option<String> {
    if name == DEFAULT_DENY || OWN_RULES.contains(&name) {
        Some(format!("the rule `{name}` is given by the program itself"))
    } else if is_rule_name(name) {
        None
    } else {
        Some(format!("`{name}` is no name of a rule"))
    }
}

/// The words for verdicts of a `forbid`.
pub(crate) const VERDICTS: [(&str, VerdictKind); 7] = [
    ("abort", VerdictKind::Abort),
    ("block", VerdictKind::Block),
    ("confirm", VerdictKind::Confirm),
    ("drop", VerdictKind::Drop),
    ("hold", VerdictKind::Hold),
    ("quarantine", VerdictKind::Quarantine),
    ("simulate", VerdictKind::Simulate),
];

/// The words for what an agent is told.
pub(crate) const DENIALS: [(&str, DenialReason); 7] = [
    ("checkpoint_hold", DenialReason::CheckpointHold),
    ("confirmation_required", DenialReason::ConfirmationRequired),
    ("memory_quarantined", DenialReason::MemoryQuarantined),
    ("outside_user_goal", DenialReason::OutsideUserGoal),
    ("plugin_fault", DenialReason::PluginFault),
    ("tainted_privilege_jump", DenialReason::TaintedPrivilegeJump),
    ("target_not_authorized", DenialReason::TargetNotAuthorized),
];

/// What a policy wants its reason to name as the fields that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    /// What the nearest entry of the ledger refuses.
    Refused,
    /// The same, where conditions count only on arguments that name a target.
    TargetRefused,
    /// The arguments that leak.
    Leaking,
    /// The tainted arguments of authority whose value the matched entry does not name.
    Expanding,
    /// The tainted arguments of authority.
    TaintedAuthority,
    /// The tainted arguments that name a recipient.
    TaintedRecipients,
}

/// The words for fields.
pub(crate) const FIELDS: [(&str, Fields); 6] = [
    ("expanding", Fields::Expanding),
    ("leaking", Fields::Leaking),
    ("refused", Fields::Refused),
    ("tainted_authority", Fields::TaintedAuthority),
    ("tainted_recipients", Fields::TaintedRecipients),
    ("target_refused", Fields::TargetRefused),
];

/// What a policy wants its reason to name as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// The entry of the ledger that authorises the call.
    LedgerEntry,
    /// The entry that authorises tool, target and the arguments that name a target.
    TargetEntry,
    /// The entry that refuses least, or that there is none about the tool.
    NearestEntry,
    /// The same, where conditions count only on arguments that name a target.
    NearestTargetEntry,
    /// The untrusted sources in the fields; without fields, in the recorded label.
    Sources,
    /// The node of the proposal.
    Proposal,
}

/// The words for evidence.
pub(crate) const GROUNDS: [(&str, Ground); 6] = [
    ("ledger_entry", Ground::LedgerEntry),
    ("nearest_entry", Ground::NearestEntry),
    ("nearest_target_entry", Ground::NearestTargetEntry),
    ("proposal", Ground::Proposal),
    ("sources", Ground::Sources),
    ("target_entry", Ground::TargetEntry),
];

/// What a word of one of the lists above means.
pub(crate) fn find<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    let found = words.iter().find(|(name, _)| *name == word);
    found.map(|(_, meaning)| *meaning)
}

/// The words of a list, for a person.
pub(crate) fn listed<T>(words: &[(&str, T)]) -> String {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// A hook as the word for it.
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

/// Whether a verdict can be given at a hook.
pub(crate) const fn fits(verdict: VerdictKind, hook: Hook) -> bool {
    use VerdictKind::{Abort, Block, Confirm, Drop, Hold, Quarantine, Simulate};
    match hook {
        Hook::Proposal => matches!(verdict, Abort | Block | Confirm | Hold | Simulate),
        Hook::MemoryRead | Hook::MemoryWrite => matches!(verdict, Block | Confirm | Quarantine),
        Hook::Message | Hook::Observation => matches!(verdict, Drop | Quarantine),
        _ => false,
    }
}

/// What a `forbid` without a verdict, or no `permit`, means at a hook.
pub(crate) const fn refusal(hook: Hook) -> VerdictKind {
    match hook {
        Hook::Message | Hook::Observation => VerdictKind::Quarantine,
        _ => VerdictKind::Block,
    }
}

/// What the agent is told at a verdict if the policy does not say.
pub(crate) const fn usual_denial(verdict: VerdictKind) -> DenialReason {
    match verdict {
        VerdictKind::Confirm => DenialReason::ConfirmationRequired,
        VerdictKind::Hold => DenialReason::CheckpointHold,
        VerdictKind::Quarantine => DenialReason::MemoryQuarantined,
        _ => DenialReason::TargetNotAuthorized,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_order_once() {
        fn is_sorted<T>(words: &[(&str, T)]) -> bool {
            words.is_sorted_by(|a, b| a.0 < b.0)
        }
        assert!(is_sorted(&VERDICTS) && is_sorted(&DENIALS));
        assert!(is_sorted(&FIELDS) && is_sorted(&GROUNDS));
    }

    #[test]
    fn rules_of_the_program_are_refused() {
        for name in OWN_RULES.into_iter().chain([DEFAULT_DENY]) {
            assert!(wrong_rule(name).is_some(), "{name}");
        }
        assert_eq!(wrong_rule("tainted_recipient"), None);
        assert!(wrong_rule("Allow Refunds").is_some());
    }

    #[test]
    fn what_is_refused_without_a_verdict_fits_the_hook() {
        for hook in [
            Hook::Observation,
            Hook::Message,
            Hook::Proposal,
            Hook::MemoryWrite,
            Hook::MemoryRead,
        ] {
            assert!(fits(refusal(hook), hook), "{}", hook_word(hook));
        }
    }
}
