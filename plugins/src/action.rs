//! What a completion parses to, and a valid call with a label per argument.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::ids::{AgentId, CallId, Subject, ToolId};
use crate::label::LabelId;
use crate::tool::ToolSpec;
use crate::value::{Content, Field, Text, Value};

/// What the model asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A call of a tool known to the agent, with canonical argument positions, ascending.
    ToolCall {
        /// The tool.
        tool: ToolId,
        /// Position in [`ToolSpec::arguments`] and value.
        arguments: Vec<(u16, Value)>,
        /// Whether the result of a read enters the context. `false` is a *discarded read*.
        keep_result: bool,
    },
    /// A hand-off to another agent.
    Delegate {
        /// The receiver's name as the model wrote it.
        to: Text,
        /// What is said, as named fields.
        content: Vec<Field>,
    },
    /// The final answer of the agent.
    Final {
        /// The answer.
        text: Text,
    },
    /// A call of a tool that the agent does not know, or of no tool at all. Never executed.
    InvalidTool {
        /// The name as the model wrote it.
        name: Text,
    },
    /// Text from which no action can be read with certainty.
    InvalidSchema {
        /// What is wrong, in one phrase.
        problem: &'static str,
    },
}

/// How an action was read (Table 24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ParseStatus {
    /// The whole completion is one JSON object of the canonical form.
    ValidStrictJson,
    /// An action was recovered by at least one repair.
    ValidRepairedJson,
    /// No action can be read.
    InvalidSchema,
}

bitflags::bitflags! {
    /// The repairs that were needed (Appendix I).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub struct Repairs: u16 {
        /// The JSON stood in a code fence.
        const FENCE = 1;
        /// Prose stood before or after the JSON.
        const PREFIX = 1 << 1;
        /// The action type named the tool itself.
        const ACTION_TYPE_AS_TOOL = 1 << 2;
        /// ToolBench-style or otherwise aliased keys for action, tool or arguments.
        const KEY_ALIAS = 1 << 3;
        /// An argument had an aliased name.
        const ARGUMENT_ALIAS = 1 << 4;
        /// Broken JSON was mended: quotes, trailing commas, missing closers.
        const SYNTAX = 1 << 5;
        /// A value was converted to the declared type.
        const COERCION = 1 << 6;
        /// Arguments that the tool lacks were dropped.
        const DROPPED_ARGUMENT = 1 << 7;
        /// Arguments were given as a string that holds JSON.
        const STRINGIFIED_ARGUMENTS = 1 << 8;
    }
}

impl Repairs {
    /// How many kinds of repair were needed.
    #[must_use]
    pub fn count(self) -> u32 {
        self.bits().count_ones()
    }
}

/// The result of parsing one completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// How it was read.
    pub status: ParseStatus,
    /// What had to be repaired.
    pub repairs: Repairs,
    /// What it says.
    pub action: Action,
    /// Whether a parser without repairs would have taken the text for a final answer: the old
    /// reading that Table 24 counts as `old action-like final answers`.
    pub strict_reading_is_final: bool,
}

/// The class of a model action. Law: the five classes partition model actions
/// (`study/src/metrics/parsing.rs` counts them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ActionClass {
    /// A call of a tool known to the agent.
    Valid,
    /// A hand-off over a declared channel.
    Delegate,
    /// A final answer.
    Final,
    /// A tool or receiver unknown to the agent.
    InvalidTool,
    /// No action can be read.
    InvalidSchema,
}

/// What a parser may know: the tools and which of them the agent knows.
#[derive(Clone, Copy, Debug)]
pub struct ToolCatalogue<'a> {
    /// Every tool of the scenario.
    pub tools: &'a [ToolSpec],
    /// Those that the agent knows and that are not masked, ascending.
    pub known: &'a [ToolId],
}

impl<'a> ToolCatalogue<'a> {
    /// The known tool called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(ToolId, &'a ToolSpec)> {
        let tools = self.tools;
        self.known
            .iter()
            .map(|&id| (id, &tools[id.index()]))
            .find(|(_, tool)| &*tool.name == name)
    }
}

/// Reads an action out of a completion. Must accept any text without panicking.
pub trait ActionParser: Send + Sync {
    /// Parses one completion.
    fn parse(&self, completion: &str, catalogue: ToolCatalogue<'_>) -> Parsed;
}

/// The content that a by-reference argument stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Referent {
    /// Which source instance or record it was when the reference was resolved.
    pub object: Subject,
    /// The content.
    pub content: Arc<Content>,
    /// The exact label of each field of the content.
    pub labels: SmallVec<[LabelId; 4]>,
}

/// One argument of a call, with its exact label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its position in [`ToolSpec::arguments`].
    pub position: u16,
    /// Its value.
    pub value: Value,
    /// The exact label of the value: what was copied or derived into it, and what chose it.
    pub label: LabelId,
    /// For a by-reference argument whose object exists: the content meant.
    pub referent: Option<Referent>,
}

/// A valid tool call, fixed at the moment it is parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its stable id.
    pub id: CallId,
    /// Who calls.
    pub agent: AgentId,
    /// The episode, from 0.
    pub episode: u32,
    /// The tool.
    pub tool: ToolId,
    /// The arguments, ascending by position.
    pub arguments: Arc<[Argument]>,
    /// Whether the result of a read enters the context.
    pub keep_result: bool,
    /// The recorded label of the proposal node (`docs/SEMANTICS.md`, section 2): what node-level
    /// taint sees.
    pub recorded: LabelId,
    /// The exact label of the choice of tool.
    pub choice: LabelId,
}
