//! The plain tables in which the interpreter keeps one rollout.

use std::sync::Arc;

use plugins::action::{Argument, Referent};
use plugins::draws::EventKey;
use plugins::ids::{AgentId, CallId, MessageId, NodeId, RecordId, SourceId, StoreId, ToolId};
use plugins::label::LabelId;
use plugins::model::{Reply, Segment};
use plugins::policy::{DenialReason, RecoveryAction};
use plugins::trace::Subject;
use plugins::value::{Content, Text};

/// What is waiting on the agenda (section 1).
#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    Begin(u32),
    Deliver(MessageId, AgentId),
    Inject(SourceId, AgentId),
    Result(CallId, AgentId),
    Acknowledge(CallId, AgentId),
    Denial(CallId, AgentId, DenialReason),
    Reject(AgentId),
    Decide(AgentId),
    Parse(AgentId),
    Authorize(CallId, AgentId),
    Commit(CallId, AgentId),
    Undo(CallId),
    /// The position of the automatic write in its table, and whose it is.
    Persist(u32, AgentId),
    Recover(u32),
    /// The position of the action in its table.
    Act(u32),
    Close(u32),
}

impl Due {
    /// The number of the type in the order of the table, which enters the semantic key.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Begin(..) => 0,
            Self::Deliver(..) => 1,
            Self::Inject(..) => 2,
            Self::Result(..) => 3,
            Self::Acknowledge(..) => 4,
            Self::Denial(..) => 5,
            Self::Reject(..) => 6,
            Self::Decide(..) => 7,
            Self::Parse(..) => 8,
            Self::Authorize(..) => 9,
            Self::Commit(..) => 10,
            Self::Undo(..) => 11,
            Self::Persist(..) => 12,
            Self::Recover(..) => 13,
            Self::Act(..) => 14,
            Self::Close(..) => 15,
        }
    }

    pub(super) const fn phase(self) -> u8 {
        match self {
            Self::Begin(..) | Self::Deliver(..) | Self::Inject(..) => 0,
            Self::Result(..) | Self::Acknowledge(..) | Self::Denial(..) | Self::Reject(..) => 1,
            Self::Decide(..) => 2,
            Self::Parse(..) => 3,
            Self::Authorize(..) => 4,
            Self::Commit(..) | Self::Undo(..) => 5,
            Self::Persist(..) | Self::Recover(..) | Self::Act(..) => 6,
            Self::Close(..) => 7,
        }
    }

    /// Whose event it is; none for the system's.
    pub(super) const fn agent(self) -> Option<AgentId> {
        match self {
            Self::Begin(..)
            | Self::Undo(..)
            | Self::Recover(..)
            | Self::Act(..)
            | Self::Close(..) => None,
            Self::Deliver(_, agent)
            | Self::Inject(_, agent)
            | Self::Result(_, agent)
            | Self::Acknowledge(_, agent)
            | Self::Denial(_, agent, _)
            | Self::Authorize(_, agent)
            | Self::Commit(_, agent)
            | Self::Persist(_, agent)
            | Self::Reject(agent)
            | Self::Decide(agent)
            | Self::Parse(agent) => Some(agent),
        }
    }

    /// Whether it stays on the agenda when the rollout is halted.
    pub(super) const fn survives_a_halt(self) -> bool {
        matches!(self, Self::Recover(..) | Self::Act(..) | Self::Undo(..))
    }

    /// Whether it is run whatever the limits on events and ticks, and not counted.
    pub(super) const fn is_exempt_from_limits(self) -> bool {
        self.survives_a_halt() || matches!(self, Self::Close(..))
    }
}

/// An event on the agenda.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Tick, phase, actor, sequence number.
    pub(super) order: (u64, u8, u32, u32),
    pub(super) key: EventKey,
    pub(super) due: Due,
}

/// A run of field labels in the one list that holds them all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Content on its way into a context or a store.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) content: Arc<Content>,
    /// The exact label of each field.
    pub(super) fields: Span,
    /// The recorded label that flows on.
    pub(super) recorded: LabelId,
    /// Whether the edge onward propagates taint.
    pub(super) taint: bool,
}

/// Waking (section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Activity {
    #[default]
    Idle,
    Busy,
    Ended,
}

/// One agent. The defaults are those of the start of an episode.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub(super) activity: Activity,
    pub(super) pending: bool,
    /// Completions in this episode.
    pub(super) turns: u32,
    /// The latest `agent_state` of this episode.
    pub(super) state: Option<NodeId>,
    pub(super) context: Vec<Segment>,
    /// The labels of each segment's fields.
    pub(super) spans: Vec<Span>,
    /// The join of all segments.
    pub(super) whole: LabelId,
    /// To whom it owes its final answer.
    pub(super) owes: Option<AgentId>,
    /// Tools hidden for the episode.
    pub(super) masked: Vec<ToolId>,
    /// What it has read in this episode.
    pub(super) read: Vec<Object>,
    /// The result of its last read, if that was discarded and no low-risk proposal followed.
    pub(super) discarded: Option<NodeId>,
    pub(super) turn: Turn,
}

impl Agent {
    pub(super) fn reset(&mut self) {
        self.activity = Activity::Idle;
        self.pending = false;
        self.turns = 0;
        self.state = None;
        self.context.clear();
        self.spans.clear();
        self.whole = LabelId::BOTTOM;
        self.owes = None;
        self.masked.clear();
        self.read.clear();
        self.discarded = None;
    }
}

/// A completion on its way to the parser, with its labels (section 3).
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) reply: Reply,
    /// The tools that are not masked.
    pub(super) known: Vec<ToolId>,
    /// The label of each derivation of the reply.
    pub(super) derived: Vec<LabelId>,
    /// The join of all visible segments.
    pub(super) whole: LabelId,
    pub(super) choice: LabelId,
    /// The origin state.
    pub(super) origin: NodeId,
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) from: Option<AgentId>,
    pub(super) flow: Flow,
    pub(super) node: NodeId,
    pub(super) asks_for_a_reply: bool,
}

/// What a by-reference argument can mean, and what an agent can have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Source(SourceId),
    Record(RecordId),
}

impl Object {
    pub(super) fn of(referent: &Referent) -> Self {
        match referent.object {
            Subject::Source(source) => Self::Source(source),
            Subject::Record(record) => Self::Record(record),
            _ => unreachable!("a reference names a source or a record"),
        }
    }
}

/// What has become of a call. What was proposed stands in the trace.
#[derive(Debug)]
pub(super) struct Progress {
    /// The state that the turn hangs off.
    pub(super) origin: NodeId,
    /// The proposal node; a read has none at first.
    pub(super) proposal: Option<NodeId>,
    pub(super) labelled: bool,
    /// The arguments after a rewrite.
    pub(super) rewritten: Option<Vec<Argument>>,
    /// What its `Result` will bring, and from which node.
    pub(super) result: Option<(Flow, NodeId, Option<Object>)>,
    /// The committed side effect.
    pub(super) effect: Option<NodeId>,
    pub(super) stored: Option<RecordId>,
    pub(super) removed: Option<RecordId>,
    pub(super) undone: bool,
}

/// A version of a memory record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) store: StoreId,
    pub(super) key: Text,
    pub(super) content: Arc<Content>,
    pub(super) fields: Span,
    pub(super) recorded: LabelId,
    /// Its node; an initial record has none until it is touched.
    pub(super) node: Option<NodeId>,
    pub(super) live: bool,
    pub(super) quarantined: bool,
    pub(super) call: Option<CallId>,
    pub(super) episode: u32,
    /// The source instance that it is, if it is an initial one.
    pub(super) initial: Option<SourceId>,
}

impl Record {
    pub(super) const fn is_usable(&self) -> bool {
        self.live && !self.quarantined
    }
}

/// What a source instance has come to: its labels once needed, its node once touched.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) label: Option<LabelId>,
    pub(super) fields: Option<Span>,
    pub(super) node: Option<NodeId>,
}

/// An automatic write that waits.
#[derive(Debug)]
pub(super) struct AutomaticWrite {
    pub(super) store: StoreId,
    pub(super) content: Arc<Content>,
    pub(super) fields: Span,
    pub(super) state: NodeId,
}

/// An action of a policy in answer to the notice of a step.
#[derive(Debug)]
pub(super) struct AnsweredStep {
    pub(super) step: u32,
    pub(super) action: RecoveryAction,
}
