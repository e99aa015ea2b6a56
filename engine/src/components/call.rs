//! Proposals, decisions and messages: what appears during a rollout.

use std::sync::Arc;

use bevy_ecs::prelude::Component;
use plugins::action::Argument;
use plugins::ids::{AgentId, CallId, MessageId, NodeId, RecordId, SourceId, ToolId};
use plugins::label::LabelId;
use plugins::policy::{Hook, VerdictKind};
use plugins::trace::Subject;
use plugins::value::Content;
use serde::{Deserialize, Serialize};

use super::FieldLabels;

/// What a read returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Returned {
    /// The content of a source.
    Source(SourceId),
    /// The content of a record, as the policy let it through.
    Record(ReturnedRecord),
    /// A result that the policy simulated.
    Simulated(Arc<Content>),
}

/// A record on its way to the agent that read it, under labels that a policy may have changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedRecord {
    /// The record.
    pub record: RecordId,
    /// The exact label of each field.
    pub labels: FieldLabels,
    /// The recorded label that flows on.
    pub recorded: LabelId,
    /// Whether the edge onward propagates taint.
    pub taint: bool,
}

/// A valid call on its way from proposal to effect. The taint component beside it holds the
/// proposal node and its labels.
#[derive(Clone, Debug, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Proposal {
    /// The call.
    pub call: CallId,
    /// Who calls.
    pub agent: AgentId,
    /// The tool.
    pub tool: ToolId,
    /// The arguments as they would commit: after any rewrite.
    pub arguments: Arc<[Argument]>,
    /// Whether the result of a read enters the context.
    pub keep_result: bool,
    /// The agent's state when it decided to call.
    pub origin: Option<NodeId>,
    /// Whether the instrumentation labels the proposal.
    pub labelled: bool,
    /// What a read returns, once it is known.
    pub returned: Option<Returned>,
    /// The record that the call stored.
    pub stored: Option<RecordId>,
    /// The live record that the call replaced or deleted.
    pub replaced: Option<RecordId>,
}

impl Default for Proposal {
    fn default() -> Self {
        Self {
            call: CallId::default(),
            agent: AgentId::default(),
            tool: ToolId::default(),
            arguments: Arc::default(),
            keep_result: true,
            origin: None,
            labelled: false,
            returned: None,
            stored: None,
            replaced: None,
        }
    }
}

/// Where authorisation stands on a proposal; brought up to date after each event that can
/// change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Authorisation {
    /// The latest verdict on it.
    pub verdict: Option<VerdictKind>,
    /// Whether it was denied for good.
    pub denied: bool,
    /// The effect, once it committed.
    pub effect: Option<NodeId>,
    /// Whether the effect was undone.
    pub undone: bool,
}

/// A decision that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Decision {
    /// Which hook ruled; none for a recovery step or an undo.
    pub hook: Option<Hook>,
    /// On what.
    pub subject: Subject,
    /// The verdict.
    pub verdict: VerdictKind,
    /// The decision node.
    pub node: NodeId,
}

impl Default for Decision {
    fn default() -> Self {
        Self {
            hook: None,
            subject: Subject::Step(0),
            verdict: VerdictKind::Allow,
            node: NodeId::default(),
        }
    }
}

/// A message between agents, or a final answer. The taint component beside it holds its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub message: MessageId,
    /// The sender; none for an injected message.
    pub from: Option<AgentId>,
    /// The receiver; none for a final answer that nobody waits for.
    pub to: Option<AgentId>,
    /// What it says.
    pub content: Arc<Content>,
    /// The exact label of each field.
    pub labels: FieldLabels,
    /// Whether the receiver owes the sender its final answer.
    pub wants_reply: bool,
}
