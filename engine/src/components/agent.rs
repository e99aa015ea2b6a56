//! Agents: what they are doing, what they know, what they are about to say.

use bevy_ecs::prelude::Component;
use plugins::ids::{AgentId, NodeId, ToolId};
use plugins::label::LabelId;
use plugins::model::Segment;
use plugins::trace::Subject;
use plugins::value::Text;
use serde::{Deserialize, Serialize};

use super::FieldLabels;

/// Which agent an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component)]
pub struct Agent(pub AgentId);

/// What an agent is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doing {
    /// Waiting for something to reach it.
    #[default]
    Idle,
    /// Thinking, or waiting for the outcome of its action.
    Busy,
    /// It gave its final answer in this episode.
    Ended,
}

/// An agent's activity in the running episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Activity {
    /// What it is doing.
    pub doing: Doing,
    /// Whether something was delivered while it was busy.
    pub pending: bool,
    /// How many completions it gave in this episode.
    pub turns: u32,
    /// To whom it owes its final answer as a reply.
    pub owes_reply_to: Option<AgentId>,
}

/// What an agent has seen in the running episode: the segments that its model sees, and beside
/// them, unseen by the model, the exact label of every field.
#[derive(Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Context {
    /// The segments, oldest first.
    pub segments: Vec<Segment>,
    /// The labels of each segment's fields.
    pub labels: Vec<FieldLabels>,
    /// The sources and records read, for content edges.
    pub read: Vec<Subject>,
    /// The tool result of a discarded read that no low-risk proposal has followed yet.
    pub discarded: Option<NodeId>,
}

impl Context {
    /// Adds a segment.
    pub(crate) fn push(&mut self, segment: Segment, labels: FieldLabels) {
        self.segments.push(segment);
        self.labels.push(labels);
    }

    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.segments.clear();
        self.labels.clear();
        self.read.clear();
        self.discarded = None;
    }
}

/// By hand, so that `clone_from` keeps the memory: a restart is a `clone_from`.
impl Clone for Context {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            segments,
            labels,
            read,
            discarded,
        } = source;
        self.segments.clone_from(segments);
        self.labels.clone_from(labels);
        self.read.clone_from(read);
        self.discarded = *discarded;
    }
}

/// A completion on its way, with the labels of the moment at which the model was called.
#[derive(Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Utterance {
    /// The text.
    pub text: String,
    /// The backend's own mark.
    pub tag: u32,
    /// The agent's state when the model was called.
    pub origin: Option<NodeId>,
    /// The exact label of each field that the backend derived, control included.
    pub fields: Vec<(Text, LabelId)>,
    /// The exact label of any other field.
    pub other_fields: LabelId,
    /// The exact label of the choice.
    pub choice: LabelId,
    /// Tools hidden by the prompt of this turn.
    pub masked: Vec<ToolId>,
}

/// By hand for the same reason.
impl Clone for Utterance {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            text,
            tag,
            origin,
            fields,
            other_fields,
            choice,
            masked,
        } = source;
        self.text.clone_from(text);
        self.fields.clone_from(fields);
        self.masked.clone_from(masked);
        (self.tag, self.origin) = (*tag, *origin);
        (self.other_fields, self.choice) = (*other_fields, *choice);
    }
}

impl Utterance {
    /// The exact label of the field called `name`.
    #[must_use]
    pub fn label_of(&self, name: &str) -> LabelId {
        self.fields
            .iter()
            .find(|(field, _)| &**field == name)
            .map_or(self.other_fields, |&(_, label)| label)
    }
}

/// The tools hidden from an agent for the episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Mask(pub Vec<ToolId>);
