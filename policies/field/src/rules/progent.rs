//! The rules of `progent`.

use plugins::policy::{DenialReason, VerdictKind};
use plugins::rule::{Origin, Rule};

use super::rule;

const PROGENT: &[&str] = &["progent"];
const OUTSIDE: Option<DenialReason> = Some(DenialReason::OutsideUserGoal);
const ASKED: Option<DenialReason> = Some(DenialReason::ConfirmationRequired);

/// A rule allows the call.
pub const PROGENT_ALLOW: Rule = rule(
    PROGENT,
    "progent_allow",
    VerdictKind::Allow,
    None,
    Origin::Paper,
    "The first rule of the tool that matches allows the call: every argument that it restricts and \
     that is given satisfies its schema. The evidence names the ledger entry that the rule was \
     derived from.",
);

/// A rule forbids the call, and the agent is told.
pub const PROGENT_BLOCK_FORBIDDEN: Rule = rule(
    PROGENT,
    "progent_block_forbidden",
    VerdictKind::Block,
    OUTSIDE,
    Origin::Paper,
    "The first rule of the tool that matches forbids the call, with fallback 0: the agent gets a \
     message. At equal priority forbidding rules are looked at before allowing ones.",
);

/// A rule forbids the call, and the run ends.
pub const PROGENT_ABORT_FORBIDDEN: Rule = rule(
    PROGENT,
    "progent_abort_forbidden",
    VerdictKind::Abort,
    None,
    Origin::Paper,
    "The first rule of the tool that matches forbids the call, with fallback 1: the run is stopped.",
);

/// A rule forbids the call unless the user wants it.
pub const PROGENT_CONFIRM_FORBIDDEN: Rule = rule(
    PROGENT,
    "progent_confirm_forbidden",
    VerdictKind::Confirm,
    ASKED,
    Origin::Paper,
    "The first rule of the tool that matches forbids the call, with fallback 2: the user is asked.",
);

/// No rule matches, and the agent is told.
pub const PROGENT_BLOCK_UNMATCHED: Rule = rule(
    PROGENT,
    "progent_block_unmatched",
    VerdictKind::Block,
    OUTSIDE,
    Origin::Paper,
    "The tool has rules and none matches. The last rule has fallback 0: the agent gets a message. \
     The fields are the arguments that the last rule refuses.",
);

/// No rule matches, and the run ends.
pub const PROGENT_ABORT_UNMATCHED: Rule = rule(
    PROGENT,
    "progent_abort_unmatched",
    VerdictKind::Abort,
    None,
    Origin::Paper,
    "The tool has rules and none matches. The last rule has fallback 1: the run is stopped.",
);

/// No rule matches, and the user is asked.
pub const PROGENT_CONFIRM_UNMATCHED: Rule = rule(
    PROGENT,
    "progent_confirm_unmatched",
    VerdictKind::Confirm,
    ASKED,
    Origin::Paper,
    "The tool has rules and none matches. The last rule has fallback 2: the user is asked.",
);

/// The tool has no rule.
pub const PROGENT_BLOCK_UNKNOWN_TOOL: Rule = rule(
    PROGENT,
    "progent_block_unknown_tool",
    VerdictKind::Block,
    OUTSIDE,
    Origin::Paper,
    "No rule is about the tool: what is not named is refused.",
);

/// Only an update that waits for an approval would allow the call.
pub const PROGENT_CONFIRM_EXPANSION: Rule = rule(
    PROGENT,
    "progent_confirm_expansion",
    VerdictKind::Confirm,
    ASKED,
    Origin::Inferred,
    "The rules refuse the call, and an update that expands them would allow it. The paper asks for \
     an approval of such an update; that it is asked at the first call which needs it is ours, \
     because here a user can be asked only about calls. An approval lets the update apply.",
);
