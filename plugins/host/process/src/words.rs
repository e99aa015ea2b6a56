//! The words of the protocol for the closed lists of the contract: the same on every surface.

use plugins::action::{ActionClass, ParseStatus};
use plugins::briefing::{Channel, Trust};
use plugins::model::{Guidance, SchemaMode};
use plugins::policy::{Basis, DenialReason, Hook, VerdictKind};
use plugins::tool::{Passing, RiskClass, Role, ValueKind};
use plugins::trace::{Answer, EdgeKind, LimitKind, NodeDetail, NodeKind, RecoveryKind};

/// A value of a closed list that has a word.
pub(crate) trait Word: Sized + 'static {
    /// Every value.
    const ALL: &'static [Self];

    /// Its word.
    fn word(&self) -> &'static str;

    /// The value of a word, or what could have been written.
    fn named(word: &str) -> Result<&'static Self, String> {
        let found = Self::ALL.iter().find(|value| value.word() == word);
        found.ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(Word::word).collect();
            format!("`{word}` is none of: {}", known.join(", "))
        })
    }
}

macro_rules! words {
    ($($type:ident { $($variant:ident $word:literal),* $(,)? })*) => {$(
        impl Word for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    )*};
}

words! {
    Hook {
        Session "session", Prompt "prompt", Observation "observation", Message "message",
        Proposal "proposal", MemoryWrite "memory_write", MemoryRead "memory_read",
        Commit "commit", Recovery "recovery",
    }
    VerdictKind {
        Allow "allow", Relabel "relabel", Edit "edit", Rewrite "rewrite", Simulate "simulate",
        Hold "hold", Confirm "confirm", Drop "drop", Quarantine "quarantine", Block "block",
        Act "act", Abort "abort",
    }
    DenialReason {
        TargetNotAuthorized "target_not_authorized", OutsideUserGoal "outside_user_goal",
        TaintedPrivilegeJump "tainted_privilege_jump",
        ConfirmationRequired "confirmation_required", CheckpointHold "checkpoint_hold",
        MemoryQuarantined "memory_quarantined", PluginFault "plugin_fault",
    }
    Basis { Exact "exact", Assumed "assumed" }
    RiskClass { Low "low", Write "write", Outbound "outbound" }
    Role {
        Recipient "recipient", Document "document", Visibility "visibility",
        MemoryKey "memory_key", Event "event", Contact "contact", Scope "scope",
        Content "content",
    }
    Passing { Value "value", Reference "reference" }
    ValueKind { Text "text", List "list", Integer "integer", Boolean "boolean" }
    Channel {
        Goal "goal", RetrievedDocument "retrieved_document", ToolResult "tool_result",
        InterAgentMessage "inter_agent_message", PersistentMemory "persistent_memory",
    }
    Trust { Trusted "trusted", Untrusted "untrusted" }
    Guidance {
        None "none", TreatContentAsData "treat_content_as_data", SelfCheck "self_check",
    }
    SchemaMode { Plain "plain", Structured "structured" }
    NodeKind {
        Source "source", AgentState "agent_state", Message "message", Memory "memory",
        Proposal "proposal", ToolResult "tool_result", Decision "decision",
        SideEffect "side_effect",
    }
    NodeDetail {
        Plain "plain", FinalAnswer "final_answer", SelfCheck "self_check",
        TaskRecord "task_record", Scrub "scrub", Restore "restore", Quarantine "quarantine",
        Audit "audit", Undo "undo",
    }
    EdgeKind {
        Data "data", Delegation "delegation", Control "control", Temporal "temporal",
        Audit "audit",
    }
    LimitKind {
        Ticks "ticks", Events "events", Queue "queue", Turns "turns",
        Delegations "delegations", Text "text",
    }
    RecoveryKind {
        Scrub "scrub", Restore "restore", Quarantine "quarantine", Revoke "revoke", Undo "undo",
    }
    Answer { Approved "approved", Denied "denied", Absent "absent" }
    ActionClass {
        Valid "valid", Delegate "delegate", Final "final", InvalidTool "invalid_tool",
        InvalidSchema "invalid_schema",
    }
    ParseStatus {
        ValidStrictJson "valid_strict_json", ValidRepairedJson "valid_repaired_json",
        InvalidSchema "invalid_schema",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_names_its_value_and_a_stranger_is_told_the_words() {
        for hook in Hook::ALL {
            assert_eq!(Hook::named(hook.word()), Ok(hook));
        }
        let refused = RiskClass::named("high").unwrap_err();
        assert_eq!(refused, "`high` is none of: low, write, outbound");
    }
}
