//! The rules of `camel`.

use plugins::policy::{DenialReason, VerdictKind};
use plugins::rule::{Origin, Rule};

use super::rule;

const CAMEL: &[&str] = &["camel"];
const OUTSIDE: Option<DenialReason> = Some(DenialReason::OutsideUserGoal);
const TAINTED: Option<DenialReason> = Some(DenialReason::TaintedPrivilegeJump);
const TARGET: Option<DenialReason> = Some(DenialReason::TargetNotAuthorized);

/// A tool without side effect.
pub const CAMEL_ALLOW_NO_SIDE_EFFECT: Rule = rule(
    CAMEL,
    "camel_allow_no_side_effect",
    VerdictKind::Allow,
    None,
    Origin::Paper,
    "The tool has no side effect, and such tools are always allowed. Ours: the low-risk tools are \
     those.",
);

/// The policy of the tool is satisfied.
pub const CAMEL_ALLOW_POLICY: Rule = rule(
    CAMEL,
    "camel_allow_policy",
    VerdictKind::Allow,
    None,
    Origin::Paper,
    "No control dependency is private, and the first policy whose pattern fits the tool is satisfied \
     by the capabilities of the arguments.",
);

/// Outside the plan.
pub const CAMEL_BLOCK_OUTSIDE_PLAN: Rule = rule(
    CAMEL,
    "camel_block_outside_plan",
    VerdictKind::Block,
    OUTSIDE,
    Origin::Inferred,
    "The plan has no such call. In CaMeL it could not be made at all: the privileged model writes \
     the program from the user's request alone. Here the ledger stands for the program.",
);

/// A private control dependency.
pub const CAMEL_BLOCK_CONTROL_DEPENDENCY: Rule = rule(
    CAMEL,
    "camel_block_control_dependency",
    VerdictKind::Block,
    TARGET,
    Origin::Paper,
    "The tool changes something, and data that not everybody may read decided that it is called. \
     The evidence names the sources.",
);

/// No policy fits.
pub const CAMEL_BLOCK_NO_POLICY: Rule = rule(
    CAMEL,
    "camel_block_no_policy",
    VerdictKind::Block,
    OUTSIDE,
    Origin::Paper,
    "The tool has a side effect and no policy's pattern fits its name: denial is the default.",
);

/// An argument that must be trusted is not.
pub const CAMEL_BLOCK_UNTRUSTED_ARGUMENT: Rule = rule(
    CAMEL,
    "camel_block_untrusted_argument",
    VerdictKind::Block,
    TAINTED,
    Origin::Paper,
    "The policy of the tool wants the argument from the user, and a source of it is not trusted. \
     The fields are those arguments.",
);

/// An argument that not every recipient may read.
pub const CAMEL_BLOCK_UNREADABLE_ARGUMENT: Rule = rule(
    CAMEL,
    "camel_block_unreadable_argument",
    VerdictKind::Block,
    TARGET,
    Origin::Paper,
    "Not everybody who would receive the argument is among its readers. The fields are those \
     arguments.",
);

/// An argument that must be public is not.
pub const CAMEL_BLOCK_NOT_PUBLIC: Rule = rule(
    CAMEL,
    "camel_block_not_public",
    VerdictKind::Block,
    TARGET,
    Origin::Paper,
    "The call publishes, and an argument is not public. The fields are those arguments.",
);

/// An argument that the policy needs is absent.
pub const CAMEL_BLOCK_ABSENT_ARGUMENT: Rule = rule(
    CAMEL,
    "camel_block_absent_argument",
    VerdictKind::Block,
    OUTSIDE,
    Origin::Paper,
    "The policy of the tool looks at an argument that the call lacks. In the repository this is an \
     exception before the tool runs.",
);

/// `bugcompat`.
pub const CAMEL_BLOCK_TRUSTED_ARGUMENT: Rule = rule(
    CAMEL,
    "camel_block_trusted_argument",
    VerdictKind::Block,
    TARGET,
    Origin::Paper,
    "Only with `bugcompat`: the repository at f083b6b denies to delete an e-mail whose id is trusted \
     and allows it otherwise, against its own comment.",
);
