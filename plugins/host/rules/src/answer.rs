//! What a rule can answer, as it is read from a file.

use plugins::model::{Guidance, SchemaMode};
use plugins::value::{Content, Text, Value};

use crate::predicate::{Names, Predicate};

/// A verdict, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// `Allow` and `Pass`: nothing.
    Allow,
    Block,
    Confirm,
    Hold,
    Abort,
    Simulate(Content),
    /// Arguments by name, and their values.
    Rewrite(Vec<(Text, Value)>),
    Drop,
    Quarantine,
    Transform(Content),
    Relabel(NewLabel),
    MaskTools {
        /// Which tools: all of this holds.
        tools: Vec<Predicate>,
        /// From whom; none means from all.
        agents: Option<Names>,
    },
    Edit(Edit),
    Act(Vec<Action>),
}

impl Answer {
    /// Whether an agent whose call it is about is told that it was denied.
    pub(crate) const fn denies(&self) -> bool {
        matches!(
            self,
            Self::Block | Self::Confirm | Self::Hold | Self::Quarantine
        )
    }
}

/// A change of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewLabel {
    NarrowReaders(Names),
    Endorse(Names),
    Declassify(Names),
}

/// A change of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) guidance: Option<Guidance>,
    pub(crate) schema: Option<SchemaMode>,
    /// Marks the segments that come from outside.
    pub(crate) mark_untrusted: bool,
    /// Leaves them out.
    pub(crate) drop_untrusted: bool,
    /// Hides the tools of which all of this holds; none if it is empty.
    pub(crate) mask: Vec<Predicate>,
}

/// A step of recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) what: ActionKind,
    pub(crate) of: Affected,
}

/// What a step of recovery does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionKind {
    Scrub,
    Quarantine,
    Restore,
    Rollback,
}

/// With which records or calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affected {
    /// Those into which content of an untrusted source flowed.
    Tainted,
    /// Those into which content of the source that was just revoked flowed.
    Revoked,
    Everything,
}
