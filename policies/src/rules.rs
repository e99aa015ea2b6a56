//! The rules that verdicts name: what `explain` prints, and what an agent is told.
//!
//! One rule means one thing under every policy: one verdict, one denial reason. A composition
//! (`plugins::compose`) joins the ids of several rules by `+`.

use plugins::compose::REWRITE_CONFLICT;
use plugins::fault::PLUGIN_FAULT;
use plugins::policy::{DEFAULT_ALLOW, DenialReason, FACTS_MISSING, VerdictKind};

pub use plugins::rule::{Origin, Rule};

/// The rule called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.id == id)
}

/// Every rule, by id.
pub const ALL: &[&Rule] = &[
    &ALLOW_AUTHORIZED_TARGET,
    &ALLOW_LEDGER_MATCH,
    &ALLOW_LISTED_ACTION,
    &ALLOW_MISSED_WRITE,
    &ALLOW_TAINTED_MATCH,
    &ALLOW_UNTAINTED_AUTHORITY,
    &ALLOW_UNTAINTED_MATCH,
    &LOW_TO_HIGH_PRIVILEGE_JUMP,
    &OUTSIDE_USER_GOAL,
    &SECRET_LEAK,
    &TAINTED_PRIVILEGE_JUMP,
    &TAINTED_UNAUTHORIZED,
    &TARGET_NOT_AUTHORIZED,
    &CONFIRM_STRUCTURED_ACTION,
    &CONFIRM_TAINTED_WRITE,
    &NOT_DECIDED,
    &FACT_NOT_THERE,
    &CHECKPOINT_HOLD,
    &POLICY_FAILED,
    &QUARANTINE_TAINTED_MEMORY,
    &CONFLICTING_REWRITES,
    &ROLLBACK_REVOKED_SOURCE,
    &SHOW_GUIDANCE,
    &SHOW_STRUCTURED_SCHEMA,
    &TAINTED_RECIPIENT,
    &TOO_MANY_COMMITS,
    &UNLISTED_ACTION,
];

/// `recipient_guard` lets a high-risk call commit.
pub const ALLOW_LISTED_ACTION: Rule = Rule {
    id: "allow_listed_action",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Inferred,
    policies: &["recipient_guard"],
    doc: "No recipient is tainted, the ledger names the call, and fewer than two high-risk calls \
          have committed before it. Ours, to show how a policy is written.",
};

/// A tainted recipient under `recipient_guard`.
pub const TAINTED_RECIPIENT: Rule = Rule {
    id: "tainted_recipient",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::TaintedPrivilegeJump),
    origin: Origin::Inferred,
    policies: &["recipient_guard"],
    doc: "A recipient of a high-risk call comes from untrusted content. Ours, to show how a policy \
          is written.",
};

/// The third high-risk call under `recipient_guard`.
pub const TOO_MANY_COMMITS: Rule = Rule {
    id: "too_many_commits",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::OutsideUserGoal),
    origin: Origin::Inferred,
    policies: &["recipient_guard"],
    doc: "Two high-risk calls have committed in the rollout already. Ours, to show how a policy is \
          written.",
};

/// A call that the ledger does not name, under `recipient_guard`.
pub const UNLISTED_ACTION: Rule = Rule {
    id: "unlisted_action",
    verdict: VerdictKind::Confirm,
    denial: Some(DenialReason::ConfirmationRequired),
    origin: Origin::Inferred,
    policies: &["recipient_guard"],
    doc: "No entry of the ledger authorises the high-risk call, so the user is asked. Ours, to show \
          how a policy is written.",
};

/// A policy from outside the program failed.
pub const POLICY_FAILED: Rule = Rule {
    id: PLUGIN_FAULT,
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::PluginFault),
    origin: Origin::Inferred,
    policies: &[],
    doc: "A policy from outside the program crashed, was too slow, or answered what is no answer. \
          It is never taken for one that allows: a call or an access to memory is blocked, content \
          is quarantined, tools are hidden, and recovery holds tainted records out of use. The \
          column `plugin_faults` counts these. Ours.",
};

/// A policy from outside the program lacked a fact.
pub const FACT_NOT_THERE: Rule = Rule {
    id: FACTS_MISSING,
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::PluginFault),
    origin: Origin::Inferred,
    policies: &[],
    doc: "A policy from outside the program asks about something that the call does not have, for \
          example an argument that its tool lacks. Alone it blocks; joined to another rule by `+` \
          that rule stands all the same. The coverage of a shadow is the share of calls without it. \
          Ours.",
};

/// `tool_boundary` lets a high-risk call commit.
pub const ALLOW_AUTHORIZED_TARGET: Rule = Rule {
    id: "allow_authorized_target",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Paper,
    policies: &["tool_boundary"],
    doc: "The trusted task configuration authorises this tool on this target, and every \
          constraint of that authorisation on arguments that name a target holds (Table 7, final \
          send, share, invite or write). The evidence names the authorisation.",
};

/// `intent_ledger_v2` lets a high-risk call commit.
pub const ALLOW_LEDGER_MATCH: Rule = Rule {
    id: "allow_ledger_match",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Paper,
    policies: &["intent_ledger_v2", "rollback_v2"],
    doc: "The call matches the trusted ledger exactly, leaks nothing, and no tainted field \
          expands its authority (Eq. 10, Appendix H 6). Taint alone does not forbid it. The \
          evidence names the ledger entry.",
};

/// `structured_guard` takes a high-risk write for a low-risk one.
pub const ALLOW_MISSED_WRITE: Rule = Rule {
    id: "allow_missed_write",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Inferred,
    policies: &["structured_guard"],
    doc: "The guard takes the first high-risk write of an agent in an episode for low-risk, with the \
          probability `missed_writes`, where the ledger names another action beside it. A \
          stand-in: Table 11 prints a completion of 0.0102 although all 600 rows end in a \
          confirmation or a parser failure (7.1), so what completes is the first of several \
          actions; that it is a misread write is ours. The basis is `assumed`.",
};

/// `cross_agent_taint_firewall` lets a tainted high-risk call commit.
pub const ALLOW_TAINTED_MATCH: Rule = Rule {
    id: "allow_tainted_match",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Inferred,
    policies: &["cross_agent_taint_firewall"],
    doc: "An argument of authority is tainted, and the call matches the trusted ledger and leaks \
          nothing: it is allowed and not confirmed. Inferred: the firewall completes what \
          tool_boundary completes (Table 22: 0.9861 both; Table 18: 0.3130 against 0.3134). The \
          evidence names the ledger entry.",
};

/// `cross_agent_taint_firewall` has nothing to say of a high-risk call.
pub const ALLOW_UNTAINTED_AUTHORITY: Rule = Rule {
    id: "allow_untainted_authority",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Inferred,
    policies: &["cross_agent_taint_firewall"],
    doc: "No argument of authority carries taint of the parameter `scope`, so a firewall against \
          taint lets the call through, authorised or not. Ours: the paper names the policy and does \
          not define it.",
};

/// `taint_only_v1` lets a high-risk call commit.
pub const ALLOW_UNTAINTED_MATCH: Rule = Rule {
    id: "allow_untainted_match",
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Paper,
    policies: &["taint_only_v1"],
    doc: "The call matches the trusted ledger, leaks nothing, and its proposal is not tainted \
          (Eq. 11). The evidence names the ledger entry.",
};

/// `Expand`.
pub const LOW_TO_HIGH_PRIVILEGE_JUMP: Rule = Rule {
    id: "block_low_to_high_privilege_jump",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::TaintedPrivilegeJump),
    origin: Origin::Paper,
    policies: &["intent_ledger_v2", "rollback_v2"],
    doc: "The call matches the ledger, but untrusted content steers it: it supplies a field of \
          authority (recipient, document, visibility, memory key, event, contact, scope) with a \
          value that the matched entry does not name (Expand of Eq. 10, Appendix H 5) or, if the \
          parameter `jump_rule` is `on_any_taint`, the proposal is tainted at all, whatever the \
          entry names. The rule id is the paper's (7.2); which calls it meets beyond Eq. 10 is \
          inferred. The fields are the tainted fields of authority that it is about.",
};

/// No `Match` under the ledger.
pub const OUTSIDE_USER_GOAL: Rule = Rule {
    id: "block_outside_user_goal",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::OutsideUserGoal),
    origin: Origin::Paper,
    policies: &["intent_ledger_v2", "rollback_v2"],
    doc: "No ledger entry authorises this action on this target with these arguments (Match of \
          Eqs. 9 and 10, Appendix H 4 and 5). The fields say what failed: the action if no entry \
          is about the tool, else the target, else the arguments that the nearest entry refuses.",
};

/// `Leak`.
pub const SECRET_LEAK: Rule = Rule {
    id: "block_secret_leak",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::TargetNotAuthorized),
    origin: Origin::Paper,
    policies: &[
        "cross_agent_taint_firewall",
        "intent_ledger_v2",
        "rollback_v2",
        "taint_only_v1",
        "tool_boundary",
    ],
    doc: "An argument carries a synthetic secret or a private label, and not everybody who would \
          read it is permitted to (Leak of Eqs. 10 and 11, Table 7). The fields are the arguments \
          that leak. That the agent is told `target_not_authorized` is inferred.",
};

/// A tainted proposal of an outbound tool under `taint_only_v1`.
pub const TAINTED_PRIVILEGE_JUMP: Rule = Rule {
    id: "block_tainted_privilege_jump",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::TaintedPrivilegeJump),
    origin: Origin::Paper,
    policies: &["taint_only_v1"],
    doc: "The proposal is tainted, and taint disqualifies a high-risk call even if the ledger \
          authorises it (Eq. 11, 5.1). That it is blocked, and not confirmed, because the tool is \
          outbound is inferred from the confirm rate of Table 11.",
};

/// A tainted call without an authorisation under `cross_agent_taint_firewall`.
pub const TAINTED_UNAUTHORIZED: Rule = Rule {
    id: "block_tainted_unauthorized",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::TargetNotAuthorized),
    origin: Origin::Inferred,
    policies: &["cross_agent_taint_firewall"],
    doc: "An argument of authority carries taint of the parameter `scope`, and no ledger entry \
          authorises the call. Inferred from the zeros of the firewall where no defence commits \
          harm (Tables 18 and 22). That the agent is told `target_not_authorized` is inferred from \
          its ties with tool_boundary in what is proposed afterwards (Table 22). The fields are the \
          tainted arguments; the evidence names the sources, the messages that brought them if \
          `scope` is `crossed_agents`, and the proposal.",
};

/// Neither tool nor target is authorised under `tool_boundary` and `taint_only_v1`.
pub const TARGET_NOT_AUTHORIZED: Rule = Rule {
    id: "block_target_not_authorized",
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::TargetNotAuthorized),
    origin: Origin::Paper,
    policies: &["taint_only_v1", "tool_boundary"],
    doc: "The trusted task configuration authorises no such call: no entry for the tool, or not \
          for the target, or a constraint on an argument fails (Table 7; Match of Eq. 11). The \
          fields say which.",
};

/// `structured_guard` puts a high-risk call to the user.
pub const CONFIRM_STRUCTURED_ACTION: Rule = Rule {
    id: "confirm_structured_action",
    verdict: VerdictKind::Confirm,
    denial: Some(DenialReason::ConfirmationRequired),
    origin: Origin::Inferred,
    policies: &["structured_guard"],
    doc: "A high-risk call is put to the user, whatever the ledger names and whatever is tainted. \
          Inferred: Table 11 prints no block and a confirm rate of 0.9350, the rules of 7.1 are \
          368 times confirmation_not_committed, and no harm commits in Table 9. The basis is \
          `assumed` if the call might have been missed by allow_missed_write.",
};

/// A tainted proposal of a write tool under `taint_only_v1`.
pub const CONFIRM_TAINTED_WRITE: Rule = Rule {
    id: "confirm_tainted_write",
    verdict: VerdictKind::Confirm,
    denial: Some(DenialReason::ConfirmationRequired),
    origin: Origin::Inferred,
    policies: &["taint_only_v1"],
    doc: "The proposal is tainted and matches the ledger, and the tool writes inside: the user is \
          asked. Eq. 11 is binary and suppresses confirmation metadata; Table 11 prints a confirm \
          rate of 0.1605 for this policy.",
};

/// No policy had a say.
pub const NOT_DECIDED: Rule = Rule {
    id: DEFAULT_ALLOW,
    verdict: VerdictKind::Allow,
    denial: None,
    origin: Origin::Paper,
    policies: &[],
    doc: "No rule of the policy is about this: the hook is not used, or the call is low-risk, \
          which Eqs. 10 and 11 allow and Appendix H 3 allows and records.",
};

/// The checkpoint of `rollback_v2`.
pub const CHECKPOINT_HOLD: Rule = Rule {
    id: "hold_irrevocable_email",
    verdict: VerdictKind::Hold,
    denial: Some(DenialReason::CheckpointHold),
    origin: Origin::Inferred,
    policies: &["rollback_v2"],
    doc: "An authorised, tainted call of an irrevocable e-mail tool is held once; the same call \
          proposed again commits. The paper counts synthetic confirmation and rollback paths (5.6, \
          Appendix H 7) and does not say where; this place gives the block rate of 0.2000 in \
          Table 11 at the completion of intent_ledger_v2. Not with the parameter `hold=none`.",
};

/// Quarantine at retrieval.
pub const QUARANTINE_TAINTED_MEMORY: Rule = Rule {
    id: "quarantine_tainted_memory",
    verdict: VerdictKind::Quarantine,
    denial: Some(DenialReason::MemoryQuarantined),
    origin: Origin::Inferred,
    policies: &["intent_ledger_v2", "rollback_v2", "taint_only_v1"],
    doc: "A memory record whose recorded label is tainted is quarantined when it is read. \
          Inferred from the logged spread of the memory stage (Table 15) and from case 5 of \
          Table 21; the equations are about proposals only, and with the parameter `memory=pass` \
          so is the policy. The evidence names the untrusted sources in the record.",
};

/// Two policies of a composition rewrite one call differently.
pub const CONFLICTING_REWRITES: Rule = Rule {
    id: REWRITE_CONFLICT,
    verdict: VerdictKind::Block,
    denial: Some(DenialReason::PluginFault),
    origin: Origin::Inferred,
    policies: &[],
    doc: "The policies of a composition change the same thing in different ways, or one changes \
          it while another would later let the unchanged call through; it is refused. Ours.",
};

/// The compensating action of `rollback_v2`.
pub const ROLLBACK_REVOKED_SOURCE: Rule = Rule {
    id: "rollback_revoked_source",
    verdict: VerdictKind::Act,
    denial: None,
    origin: Origin::Inferred,
    policies: &["rollback_v2"],
    doc: "A source was revoked, a live memory record carries it, and the ledger authorises the \
          inverse of the tool that stored the record on the same target: the call is undone. The \
          paper marks rollback paths (5.6) and subjects rollbacks to the ledger (Appendix H 4); \
          that conditions on arguments do not apply to the compensating action, which has none, \
          is ours. The evidence names the source and the ledger entries.",
};

/// What `prompt_only` does.
pub const SHOW_GUIDANCE: Rule = Rule {
    id: "show_guidance",
    verdict: VerdictKind::Edit,
    denial: None,
    origin: Origin::Paper,
    policies: &["prompt_only"],
    doc: "The prompt shows guidance, and nothing is enforced (Table 8, instruction-only baseline). \
          What the guidance says is the parameter `guidance`, and inferred.",
};

/// How `structured_guard` asks for actions.
pub const SHOW_STRUCTURED_SCHEMA: Rule = Rule {
    id: "show_structured_schema",
    verdict: VerdictKind::Edit,
    denial: None,
    origin: Origin::Inferred,
    policies: &["structured_guard"],
    doc: "The prompt shows the action schema as a structure to be filled in. Table 8 calls the \
          guard a structured action proxy; that its 232 parser failures of 600 rows (7.1) come of \
          this is inferred.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_in_order_and_have_an_id_and_a_text_of_their_own() {
        let ids: Vec<_> = ALL.iter().map(|rule| rule.id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        for rule in ALL {
            assert_eq!(find(rule.id), Some(*rule));
            assert!(
                rule.doc.len() > 40 && !rule.doc.contains("  "),
                "{}",
                rule.id
            );
        }
        assert_eq!(find("no_such_rule"), None);
    }

    #[test]
    fn policies_are_named_in_order() {
        for rule in ALL {
            assert!(rule.policies.is_sorted_by(|a, b| a < b), "{}", rule.id);
        }
    }

    #[test]
    fn exactly_the_denying_rules_say_what_the_agent_is_told() {
        use VerdictKind::{Block, Confirm, Hold, Quarantine};
        for rule in ALL {
            let denies = matches!(rule.verdict, Block | Confirm | Hold | Quarantine);
            assert_eq!(rule.denial.is_some(), denies, "{}", rule.id);
        }
    }
}
