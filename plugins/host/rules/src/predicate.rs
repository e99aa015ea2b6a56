//! What can be asked, as it is read from a file once: nothing of it is text that is still to be
//! understood when a call is decided on.

use plugins::tool::{Operation, RiskClass, Role};
use plugins::trace::RecoveryKind;
use plugins::value::{Text, Value};

use crate::logic::Compare;

/// Some names, of which one must fit; sorted.
pub(crate) type Names = Vec<Text>;

/// The names in order, each once.
pub(crate) fn sorted(mut names: Names) -> Names {
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether `name` is one of `names`. A few are quicker looked through than searched.
pub(crate) fn is_named(names: &[Text], name: &str) -> bool {
    const FEW: usize = 8;
    if names.len() <= FEW {
        names.iter().any(|one| **one == *name)
    } else {
        names.binary_search_by(|one| (**one).cmp(name)).is_ok()
    }
}

/// A statement about a moment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Predicate {
    Always,
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    // The tool.
    Tool(Names),
    Risk(Vec<RiskClass>),
    HighRisk,
    Reads,
    Operation(Vec<OperationKind>),
    // The call.
    Target(Test),
    Argument {
        which: Which,
        every: bool,
        is: Test,
    },
    Choice(Test),
    LedgerMatch,
    LedgerEntry(u64),
    LedgerNamesTool,
    LedgerNames(Text),
    Expanding,
    Leaking,
    WrongRecipient,
    // What comes in, is stored or returned, and the call too.
    Agent(Names),
    Recorded(Test),
    Field {
        name: Option<Text>,
        is: Test,
    },
    Sender(Names),
    NoSender,
    // Memory.
    Store(Vec<u64>),
    Key(Test),
    Age(Compare),
    Initial,
    // History and time.
    Count {
        what: Counted,
        of: Of,
        within: Within,
        is: Compare,
    },
    Episode(Compare),
    Tick(Compare),
    // Prompts and recovery.
    UntrustedContext,
    Step(Vec<RecoveryKind>),
    Revoked(Names),
    AnyRecord(Test),
}

/// Which arguments of a call are meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Which {
    Named(Text),
    OfRole(Vec<Role>),
    Every,
}

/// A statement about a value, its label, or its part in a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Test {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    // The value.
    Given,
    Absent,
    OneOf(Vec<Value>),
    Outside(Names),
    Every(Box<Self>),
    Contains(Text),
    StartsWith(Text),
    EndsWith(Text),
    LongerThan(u64),
    Texts(Compare),
    Number(Compare),
    // The label.
    Tainted,
    Influenced,
    From(Names),
    InfluencedBy(Names),
    ReadableBy(Names),
    Public,
    // The part in a call.
    Expands,
    Leaks,
}

/// What a tool does, without the store or source that it does it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OperationKind {
    ReadSource,
    ReturnSource,
    Act,
    MemoryRead,
    MemoryWrite,
    MemoryUpdate,
    MemoryDelete,
    MemoryRestore,
}

impl OperationKind {
    pub(crate) const ALL: [(&'static str, Self); 8] = [
        ("ReadSource", Self::ReadSource),
        ("ReturnSource", Self::ReturnSource),
        ("Act", Self::Act),
        ("MemoryRead", Self::MemoryRead),
        ("MemoryWrite", Self::MemoryWrite),
        ("MemoryUpdate", Self::MemoryUpdate),
        ("MemoryDelete", Self::MemoryDelete),
        ("MemoryRestore", Self::MemoryRestore),
    ];

    pub(crate) const fn of(operation: Operation) -> Self {
        match operation {
            Operation::ReadSource => Self::ReadSource,
            Operation::ReturnSource(_) => Self::ReturnSource,
            Operation::Act => Self::Act,
            Operation::MemoryRead(_) => Self::MemoryRead,
            Operation::MemoryWrite(_) => Self::MemoryWrite,
            Operation::MemoryUpdate(_) => Self::MemoryUpdate,
            Operation::MemoryDelete(_) => Self::MemoryDelete,
            Operation::MemoryRestore(_) => Self::MemoryRestore,
        }
    }

    /// As [`Operation::is_read`].
    pub(crate) const fn is_read(self) -> bool {
        matches!(
            self,
            Self::ReadSource | Self::ReturnSource | Self::MemoryRead
        )
    }
}

/// What can have happened to calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counted {
    Proposed,
    Committed,
    Denied,
    Asked,
    Approved,
}

/// To which calls it happened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    All,
    HighRisk,
    ThisTool,
    ThisTarget,
    ThisAgent,
    Tool(Names),
}

/// How long ago at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Within {
    Rollout,
    Episode,
    Ticks(u64),
}

pub(crate) const RISKS: [(&str, RiskClass); 3] = [
    ("Low", RiskClass::Low),
    ("Write", RiskClass::Write),
    ("Outbound", RiskClass::Outbound),
];

pub(crate) const ROLES: [(&str, Role); 8] = [
    ("Recipient", Role::Recipient),
    ("Document", Role::Document),
    ("Visibility", Role::Visibility),
    ("MemoryKey", Role::MemoryKey),
    ("Event", Role::Event),
    ("Contact", Role::Contact),
    ("Scope", Role::Scope),
    ("Content", Role::Content),
];

pub(crate) const STEPS: [(&str, RecoveryKind); 5] = [
    ("Scrub", RecoveryKind::Scrub),
    ("Restore", RecoveryKind::Restore),
    ("Quarantine", RecoveryKind::Quarantine),
    ("Revoke", RecoveryKind::Revoke),
    ("Undo", RecoveryKind::Undo),
];

pub(crate) const COUNTED: [(&str, Counted); 5] = [
    ("Proposed", Counted::Proposed),
    ("Committed", Counted::Committed),
    ("Denied", Counted::Denied),
    ("Asked", Counted::Asked),
    ("Approved", Counted::Approved),
];
