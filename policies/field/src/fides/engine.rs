//! The labelled planning loop of Fides: labels, the two policies of the paper, the checks of the
//! product, and what a tool result does to the context. Pure functions.
//!
//! Written from the paper (arXiv 2505.23643) as far as it is described, the tutorial `microsoft/fides`
//! at 669c046 (its notebook at 807fd1d8) and `microsoft/agent-framework` at 5eb3eb74 and 04505bdd (both MIT). Nothing is copied.

use plugins::label::Readers;
use serde::{Deserialize, Serialize};

use crate::audience::Audience;

/// How confidential the product takes something to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// For everybody.
    #[default]
    Public,
    /// For some.
    Private,
    /// For one.
    UserIdentity,
}

impl Level {
    /// *Ours*: the level of data with these readers.
    #[must_use]
    pub fn of(readers: &Readers) -> Self {
        match readers {
            Readers::Everyone => Self::Public,
            Readers::Only(set) if set.iter().count() == 1 => Self::UserIdentity,
            Readers::Only(_) => Self::Private,
        }
    }
}

/// A label: integrity, and confidentiality as the paper and as the product see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Whether somebody whom nobody trusts had a hand in it.
    pub untrusted: bool,
    /// The paper's confidentiality: who may read it. Fewer readers are higher.
    pub readers: Readers,
    /// The product's confidentiality.
    pub level: Level,
}

impl Label {
    /// A label of data with these readers.
    #[must_use]
    pub fn new(untrusted: bool, readers: Readers) -> Self {
        let level = Level::of(&readers);
        Self {
            untrusted,
            readers,
            level,
        }
    }

    /// The least label above both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            untrusted: self.untrusted || other.untrusted,
            readers: self.readers.intersection(&other.readers),
            level: self.level.max(other.level),
        }
    }

    /// The order of the paper's lattice: no less trusted and no fewer readers than `other`.
    #[must_use]
    pub fn flows_to(&self, other: &Self) -> bool {
        (!self.untrusted || other.untrusted) && other.readers.is_subset(&self.readers)
    }
}

/// Which of the paper's policies are in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policies {
    /// P-T and P-F.
    #[default]
    Both,
    /// P-T.
    TrustedAction,
    /// P-F.
    PermittedFlow,
    /// One of the two is enough: the tutorial's policy against untrusted declassification.
    Either,
}

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// It was made from an untrusted context.
    UntrustedContext,
    /// An argument of authority is untrusted.
    UntrustedArgument,
    /// Somebody who receives may not read.
    Flow,
    /// The context is more confidential than the tool may see.
    Confidentiality,
}

/// A consequential call as the paper's policies see it.
#[derive(Clone, Copy, Debug)]
pub struct LabelledCall<'a> {
    /// The label of the context from which it was made.
    pub context: &'a Label,
    /// The label of its data: that of the context and of all that its arguments name.
    pub data: &'a Label,
    /// Whether an argument of authority names something untrusted.
    pub untrusted_argument: bool,
    /// Who receives.
    pub audience: &'a Audience,
}

/// P-T and P-F of the paper. `trusted_arguments`: P-T also looks at arguments of authority.
///
/// # Errors
/// The first policy that the call violates.
pub fn check_paper(
    policies: Policies,
    trusted_arguments: bool,
    call: LabelledCall<'_>,
) -> Result<(), Violation> {
    let trusted = if call.context.untrusted {
        Err(Violation::UntrustedContext)
    } else if trusted_arguments && call.untrusted_argument {
        Err(Violation::UntrustedArgument)
    } else {
        Ok(())
    };
    let permitted = if call.audience.is_within(&call.data.readers) {
        Ok(())
    } else {
        Err(Violation::Flow)
    };
    match policies {
        Policies::Both => trusted.and(permitted),
        Policies::TrustedAction => trusted,
        Policies::PermittedFlow => permitted,
        Policies::Either => trusted.or(permitted),
    }
}

/// What an operator of the product declares of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// It may be called from an untrusted context.
    pub accepts_untrusted: bool,
    /// The highest confidentiality of the context; none: not checked.
    pub most_confidential: Option<Level>,
}

/// The product's checks of a call of any tool. Without a context label the call proceeds.
///
/// # Errors
/// The first check that fails.
pub fn check_repository(
    context: Option<&Label>,
    declaration: Declaration,
) -> Result<(), Violation> {
    let Some(context) = context else {
        return Ok(());
    };
    if context.untrusted && !declaration.accepts_untrusted {
        return Err(Violation::UntrustedContext);
    }
    match declaration.most_confidential {
        Some(most) if context.level > most => Err(Violation::Confidentiality),
        _ => Ok(()),
    }
}

/// How a planner takes in a tool result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planner {
    /// All of it enters the context: as if it inspected every variable at once.
    Basic,
    /// The paper's: what would raise the context's label goes behind a variable.
    #[default]
    Variables,
    /// The product's: what is untrusted does, while the context is trusted.
    AutoHide,
}

/// One field of a tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLabel {
    /// Its label.
    pub label: Label,
    /// It is of a type that carries so little that its integrity can be endorsed.
    pub endorsed: bool,
}

/// What a tool result does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// For each field whether it goes behind a variable.
    pub hidden: Vec<bool>,
    /// What is joined to the label of the context.
    pub raises: Label,
}

/// What a tool result with these fields does to a context. Only the paper's planner endorses.
#[must_use]
pub fn admit(planner: Planner, context: &Label, fields: &[FieldLabel]) -> Admission {
    let join = |labels: &mut dyn Iterator<Item = Label>| {
        labels.fold(Label::default(), |sum, label| sum.join(&label))
    };
    match planner {
        Planner::Basic => Admission {
            hidden: vec![false; fields.len()],
            raises: join(&mut fields.iter().map(|field| field.label.clone())),
        },
        Planner::Variables => {
            let seen = fields.iter().map(|field| Label {
                untrusted: field.label.untrusted && !field.endorsed,
                ..field.label.clone()
            });
            let seen: Vec<Label> = seen.collect();
            let hidden = seen.iter().map(|label| !label.flows_to(context)).collect();
            let shown = seen.into_iter().filter(|label| label.flows_to(context));
            Admission {
                hidden,
                raises: join(&mut { shown }),
            }
        }
        Planner::AutoHide => {
            let hides = |field: &FieldLabel| field.label.untrusted && !context.untrusted;
            let all = join(&mut fields.iter().map(|field| field.label.clone()));
            Admission {
                hidden: fields.iter().map(hides).collect(),
                // What is hidden does not taint, but it counts for confidentiality.
                raises: Label {
                    untrusted: fields
                        .iter()
                        .any(|field| field.label.untrusted && !hides(field)),
                    ..all
                },
            }
        }
    }
}
