//! The rules of `fides`.

use plugins::policy::{DenialReason, VerdictKind};
use plugins::rule::{Origin, Rule};

use super::rule;

const FIDES: &[&str] = &["fides"];
const TAINTED: Option<DenialReason> = Some(DenialReason::TaintedPrivilegeJump);
const TARGET: Option<DenialReason> = Some(DenialReason::TargetNotAuthorized);
const ASKED: Option<DenialReason> = Some(DenialReason::ConfirmationRequired);

/// No policy is violated.
pub const FIDES_ALLOW: Rule = rule(
    FIDES,
    "fides_allow",
    VerdictKind::Allow,
    None,
    Origin::Paper,
    "The call violates none of the policies in force: under the profile `paper` P-T (trusted \
     action) and P-F (permitted flow), under `repository` the checks of integrity and \
     confidentiality.",
);

/// Variables are replaced by what they stand for.
pub const FIDES_EXPAND_VARIABLES: Rule = rule(
    FIDES,
    "fides_expand_variables",
    VerdictKind::Rewrite,
    None,
    Origin::Paper,
    "The call violates none of the policies in force, and arguments name variables: the tool gets \
     the values, which the model has not seen.",
);

/// A result is put behind variables.
pub const FIDES_HIDE_RESULT: Rule = rule(
    FIDES,
    "fides_hide_result",
    VerdictKind::Edit,
    None,
    Origin::Paper,
    "Fields of a tool result go into variables and the model sees only their names, so that the \
     context keeps its label. Under `paper` those whose label is above that of the context, under \
     `repository` the untrusted ones while the context is trusted. Under `endorse: boolean` a truth \
     value is shown.",
);

/// P-T.
pub const FIDES_BLOCK_UNTRUSTED_CONTEXT: Rule = rule(
    FIDES,
    "fides_block_untrusted_context",
    VerdictKind::Block,
    TAINTED,
    Origin::Paper,
    "The context from which the model made the call is untrusted. Under `paper` this is P-T: a \
     consequential call needs a trusted context. Under `repository` it is the check of integrity \
     for every tool that is not declared to accept untrusted contexts. If results are hidden, the \
     context of a call that could not be planned without them counts as having seen them \
     (`inspect`), and the basis is `assumed`.",
);

/// P-T, asked.
pub const FIDES_CONFIRM_UNTRUSTED_CONTEXT: Rule = rule(
    FIDES,
    "fides_confirm_untrusted_context",
    VerdictKind::Confirm,
    ASKED,
    Origin::Paper,
    "As fides_block_untrusted_context under `repository`, with `approval_on_violation`: the user is \
     asked.",
);

/// P-T on arguments.
pub const FIDES_BLOCK_UNTRUSTED_ARGUMENT: Rule = rule(
    FIDES,
    "fides_block_untrusted_argument",
    VerdictKind::Block,
    TAINTED,
    Origin::Inferred,
    "The context is trusted, and an argument of authority names an untrusted variable. Only with \
     `trusted_arguments`: how P-T treats arguments was not read in the paper itself.",
);

/// P-F.
pub const FIDES_BLOCK_FLOW: Rule = rule(
    FIDES,
    "fides_block_flow",
    VerdictKind::Block,
    TARGET,
    Origin::Paper,
    "P-F, permitted flow: somebody who would receive the data of the call is not among its readers. \
     The readers are those of the context and of every variable and object that the arguments name.",
);

/// The check of confidentiality.
pub const FIDES_BLOCK_CONFIDENTIALITY: Rule = rule(
    FIDES,
    "fides_block_confidentiality",
    VerdictKind::Block,
    TARGET,
    Origin::Paper,
    "Profile `repository`: the confidentiality of the context is above what the tool is declared to \
     allow, whoever the recipients are.",
);

/// The check of confidentiality, asked.
pub const FIDES_CONFIRM_CONFIDENTIALITY: Rule = rule(
    FIDES,
    "fides_confirm_confidentiality",
    VerdictKind::Confirm,
    ASKED,
    Origin::Paper,
    "As fides_block_confidentiality, with `approval_on_violation`: the user is asked.",
);

/// Fail-open.
pub const FIDES_ALLOW_UNLABELLED: Rule = rule(
    FIDES,
    "fides_allow_unlabelled",
    VerdictKind::Allow,
    None,
    Origin::Paper,
    "Profile `repository`: nobody tracks labels (`tracker: false`), so the call has no context label \
     and proceeds unchecked.",
);
