//! The rules that verdicts of these policies name. Beside [`plugins::rule::Rule`] it says where each
//! comes from: `Paper` is the system's own publication or repository.

use plugins::policy::{DenialReason, VerdictKind};
use plugins::rule::{Origin, Rule};

mod camel;
mod fides;
mod progent;

pub use camel::*;
pub use fides::*;
pub use progent::*;

/// The rule called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// Every rule, by policy.
pub const RULES: &[&Rule] = &[
    &CAMEL_ALLOW_NO_SIDE_EFFECT,
    &CAMEL_ALLOW_POLICY,
    &CAMEL_BLOCK_ABSENT_ARGUMENT,
    &CAMEL_BLOCK_CONTROL_DEPENDENCY,
    &CAMEL_BLOCK_NO_POLICY,
    &CAMEL_BLOCK_NOT_PUBLIC,
    &CAMEL_BLOCK_OUTSIDE_PLAN,
    &CAMEL_BLOCK_TRUSTED_ARGUMENT,
    &CAMEL_BLOCK_UNREADABLE_ARGUMENT,
    &CAMEL_BLOCK_UNTRUSTED_ARGUMENT,
    &FIDES_ALLOW,
    &FIDES_ALLOW_UNLABELLED,
    &FIDES_BLOCK_CONFIDENTIALITY,
    &FIDES_BLOCK_FLOW,
    &FIDES_BLOCK_UNTRUSTED_ARGUMENT,
    &FIDES_BLOCK_UNTRUSTED_CONTEXT,
    &FIDES_CONFIRM_CONFIDENTIALITY,
    &FIDES_CONFIRM_UNTRUSTED_CONTEXT,
    &FIDES_EXPAND_VARIABLES,
    &FIDES_HIDE_RESULT,
    &PROGENT_ABORT_FORBIDDEN,
    &PROGENT_ABORT_UNMATCHED,
    &PROGENT_ALLOW,
    &PROGENT_BLOCK_FORBIDDEN,
    &PROGENT_BLOCK_UNKNOWN_TOOL,
    &PROGENT_BLOCK_UNMATCHED,
    &PROGENT_CONFIRM_EXPANSION,
    &PROGENT_CONFIRM_FORBIDDEN,
    &PROGENT_CONFIRM_UNMATCHED,
];

/// A rule of one policy.
const fn rule(
    policies: &'static [&'static str],
    id: &'static str,
    verdict: VerdictKind,
    denial: Option<DenialReason>,
    origin: Origin,
    doc: &'static str,
) -> Rule {
    Rule {
        id,
        verdict,
        denial,
        origin,
        policies,
        doc,
    }
}
