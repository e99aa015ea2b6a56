//! The model backend contract: context in, completion text out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::briefing::Briefing;
use crate::draws::Draws;
use crate::ids::{AgentId, SourceId, ToolId};
use crate::reason::DenialReason;
use crate::state::SavedState;
use crate::value::{Content, Text};

/// Guidance that a policy shows in the prompt; a closed list, so that adding a policy needs no
/// change in a behaviour profile.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Guidance {
    /// None.
    #[default]
    None,
    /// A reminder that retrieved content is data, not instructions.
    TreatContentAsData,
    /// A request to check one's own plan first.
    SelfCheck,
}

/// How the action schema is shown.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum SchemaMode {
    /// A short description.
    #[default]
    Plain,
    /// A structured schema that must be filled in.
    Structured,
}

/// What one part of a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SegmentKind {
    /// The trusted goal of the episode.
    Goal,
    /// A message; from which agent, or none if it came over an untrusted channel.
    Message {
        /// The sender.
        from: Option<AgentId>,
    },
    /// A turn of the agent's own.
    Own {
        /// What it was.
        turn: OwnTurn,
        /// [`Reply::tag`] of that turn.
        tag: u32,
    },
    /// The result of a read.
    Observation {
        /// The tool that returned it.
        tool: ToolId,
        /// Which source instance it is, if it is one.
        source: Option<SourceId>,
    },
    /// A call committed, or a read found nothing.
    Acknowledged {
        /// The tool.
        tool: ToolId,
    },
    /// A call was denied.
    Denied {
        /// The tool.
        tool: ToolId,
        /// All that the agent learns of the policy.
        reason: DenialReason,
    },
    /// The previous completion was not a valid action.
    Rejected,
}

/// What a turn of the agent's own was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OwnTurn {
    /// A tool call.
    Call(ToolId),
    /// A hand-off.
    Delegate(AgentId),
    /// A final answer.
    Final,
    /// An invalid tool, receiver or text.
    Invalid,
}

/// One part of a context, without labels: a backend sees text, not truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// What it says.
    pub content: Arc<Content>,
    /// Whether a policy marked it as untrusted data.
    pub marked: bool,
}

/// One call of a model.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// Whose turn.
    pub agent: AgentId,
    /// The episode, from 0.
    pub episode: u32,
    /// Agents and tools by name. The ledger and the labels in it are not the model's to read;
    /// built-in backends use names only.
    pub briefing: &'a Briefing,
    /// The tools that the agent may call.
    pub tools: &'a [ToolId],
    /// The context.
    pub context: &'a [Segment],
    /// Guidance shown by the policy.
    pub guidance: Guidance,
    /// How the schema is shown.
    pub schema_mode: SchemaMode,
}

/// A part of the context that flowed into a field of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Input {
    /// Position of the segment in [`Turn::context`].
    pub segment: u32,
    /// Position of the field in the segment's content; none means all of it.
    pub field: Option<u16>,
}

/// The exact derivation of one field of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derivation {
    /// The canonical argument name; `text` for a final answer; a content field of a hand-off.
    pub field: Text,
    /// What flowed into it. Empty: nothing of the context did.
    pub inputs: SmallVec<[Input; 2]>,
}

/// What a backend answers. Reused from call to call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The completion.
    pub text: String,
    /// Virtual time until it arrives, at least 1 tick; 0 is read as 1.
    pub latency_ticks: u64,
    /// Opaque to the engine; comes back in [`SegmentKind::Own`], so that a backend can recognise
    /// its own earlier turns without state of its own.
    pub tag: u32,
    /// The exact derivation of each field, for backends that know it. A field without one is
    /// labelled with the join of the whole context.
    pub derivations: Vec<Derivation>,
    /// What influenced the choice of the action; none: the whole context.
    pub choice: Option<SmallVec<[Input; 2]>>,
}

impl Reply {
    /// Makes the reply empty and keeps its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.latency_ticks = 1;
        self.tag = 0;
        self.derivations.clear();
        self.choice = None;
    }
}

/// A backend failed. The rollout ends as `Errored` and is never counted as safe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model backend failed: {0}")]
pub struct ModelFailure(pub String);

/// A model backend.
pub trait ModelBackend: SavedState + Send {
    /// Completes `turn` into `reply`, which arrives cleared.
    ///
    /// # Errors
    /// When the backend cannot answer.
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure>;
}

/// A model backend that has read its parameters and its configuration. Rollouts far outnumber
/// scenarios, so the reading is done once for a scenario and shared by all its rollouts.
pub trait PreparedModel: Send + Sync {
    /// A backend for one rollout, at its beginning. Cheap: it is called for each.
    fn make(&self) -> Box<dyn ModelBackend>;
}

/// A backend that is cheap to clone and has not been asked yet is its own preparation.
impl<M: ModelBackend + Clone + Sync + 'static> PreparedModel for M {
    fn make(&self) -> Box<dyn ModelBackend> {
        Box::new(self.clone())
    }
}
