//! What a tool is: its arguments, their roles, its risk class, what it does and how it is undone.

use serde::{Deserialize, Serialize};

use crate::ids::{PrincipalId, SinkId, SourceId, StoreId, ToolId};
use crate::value::Text;

/// The risk class of a tool. `Write` and `Outbound` are high-risk (paper 4.4, Appendix H 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RiskClass {
    /// Reads and the summary in the task record.
    Low,
    /// Changes state inside: drafts, status notes, CRM fields, persistent memory.
    Write,
    /// Reaches somebody outside: send, share, invite, publish.
    Outbound,
}

/// What an argument means to the authorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Somebody who receives: to, cc, bcc, invitee, grantee.
    Recipient,
    /// A document identifier.
    Document,
    /// Who may see the result.
    Visibility,
    /// The key of a memory record.
    MemoryKey,
    /// An event identifier.
    Event,
    /// A contact identifier.
    Contact,
    /// The scope of an operation.
    Scope,
    /// Title, time, body: content that carries no authority.
    Content,
}

impl Role {
    /// Whether the argument decides *who, what or where*.
    #[must_use]
    pub const fn is_authority(self) -> bool {
        !matches!(self, Self::Content)
    }
}

/// How an argument carries content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Passing {
    /// The value itself.
    Value,
    /// The name of a source or memory record whose content is meant. The label stays on the handle.
    Reference,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ValueKind {
    /// A string.
    Text,
    /// One or more strings.
    List,
    /// A whole number.
    Integer,
    /// A truth value.
    Boolean,
}

/// One argument of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArgumentSpec {
    /// Its canonical name.
    pub name: Text,
    /// Other names that the parser maps to the canonical one (Appendix I).
    pub aliases: Vec<Text>,
    /// Its type.
    pub kind: ValueKind,
    /// What it means to the authorisation.
    pub role: Role,
    /// By value or by reference.
    pub passing: Passing,
    /// Whether a call without it is invalid.
    pub required: bool,
}

/// What a tool does when it commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// Reads the source named by the target argument.
    ReadSource,
    /// Returns the content of one fixed source: the tool-result channel.
    ReturnSource(SourceId),
    /// Commits a side effect at the tool's sink.
    Act,
    /// Reads the record whose key is the target.
    MemoryRead(StoreId),
    /// Creates a record.
    MemoryWrite(StoreId),
    /// Replaces a record.
    MemoryUpdate(StoreId),
    /// Deletes a record.
    MemoryDelete(StoreId),
    /// Puts a record back to its backup.
    MemoryRestore(StoreId),
}

impl Operation {
    /// Whether the tool only reads. A read's `tool_result` stands for it in the trace
    /// (`docs/SEMANTICS.md`, section 4, `Parse` and `Result`).
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(
            self,
            Self::ReadSource | Self::ReturnSource(_) | Self::MemoryRead(_)
        )
    }

    /// The store that the tool changes, if any.
    #[must_use]
    pub const fn written_store(self) -> Option<StoreId> {
        match self {
            Self::MemoryWrite(store)
            | Self::MemoryUpdate(store)
            | Self::MemoryDelete(store)
            | Self::MemoryRestore(store) => Some(store),
            _ => None,
        }
    }
}

/// Where the target `t(q)` of a call is found (Eq. 9).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Target {
    /// The value of the argument at this position.
    Argument(u16),
    /// Always the same, for example the primary calendar.
    Fixed(Text),
}

/// How a committed effect can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Undo {
    /// It cannot.
    Irrevocable,
    /// By a call of this tool with the same target.
    Inverse(ToolId),
}

/// One tool of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name: the action type `a(q)` of Eq. 9.
    pub name: Text,
    /// What it does.
    pub operation: Operation,
    /// Its risk class.
    pub risk: RiskClass,
    /// Its arguments in file order.
    pub arguments: Vec<ArgumentSpec>,
    /// Its target.
    pub target: Target,
    /// Where its effect lands; none for reads and memory tools.
    pub sink: Option<SinkId>,
    /// Ticks from commit to the result reaching the agent, at least 1.
    pub latency_ticks: u64,
    /// How its effect is taken back.
    pub undo: Undo,
    /// Whether it is an irrevocable e-mail action, which `rollback_v2` holds once while tainted.
    pub irrevocable_email: bool,
}

impl ToolSpec {
    /// `HighRisk(q)`: side-effecting tools, drafts, persistent-memory changes and rollbacks.
    #[must_use]
    pub const fn high_risk(&self) -> bool {
        !matches!(self.risk, RiskClass::Low)
    }

    /// The position of the argument called `name` or by one of its aliases.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<u16> {
        let position = self.arguments.iter().position(|argument| {
            &*argument.name == name || argument.aliases.iter().any(|alias| &**alias == name)
        })?;
        u16::try_from(position).ok()
    }
}

/// Where side effects land.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SinkSpec {
    /// Its name.
    pub name: Text,
    /// Who reads what lands there besides the recipients of the call.
    pub readers: Vec<PrincipalId>,
}
