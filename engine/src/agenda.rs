//! What is yet to happen, in a total order.
//!
//! Events run by (tick, phase, actor, sequence). An event may schedule another at its own tick only
//! in a later phase, so a tick always ends.

use std::sync::Arc;

use plugins::draws::EventKey;
use plugins::ids::{AgentId, CallId, MessageId, NodeId, SourceId, StoreId};
use plugins::policy::{DenialReason, RecoveryAction};
use plugins::value::Content;
use serde::{Deserialize, Serialize};

use crate::components::FieldLabels;

/// The phases of a tick, in order. One file in `systems/` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Goals and messages reach agents.
    Deliver,
    /// Results, acknowledgements and denials reach agents.
    Observe,
    /// Models are called.
    Decide,
    /// Completions become actions.
    Parse,
    /// The policy rules on proposals.
    Authorize,
    /// Calls take effect.
    Commit,
    /// Automatic persistence and recovery.
    Remember,
    /// An episode's books are closed.
    Record,
}

impl Phase {
    /// Every phase in order.
    pub const ALL: [Self; 8] = [
        Self::Deliver,
        Self::Observe,
        Self::Decide,
        Self::Parse,
        Self::Authorize,
        Self::Commit,
        Self::Remember,
        Self::Record,
    ];

    /// Its name in step output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Observe => "observe",
            Self::Decide => "decide",
            Self::Parse => "parse",
            Self::Authorize => "authorize",
            Self::Commit => "commit",
            Self::Remember => "remember",
            Self::Record => "record",
        }
    }
}

/// What is automatically persisted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persisting {
    /// Whose observation.
    pub agent: AgentId,
    /// Into which store.
    pub store: StoreId,
    /// What was observed.
    pub content: Arc<Content>,
    /// The exact label of each field.
    pub labels: FieldLabels,
    /// The agent's state after the observation.
    pub state: NodeId,
}

/// What will happen: a closed list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgendaEvent {
    /// An episode begins.
    Begin(u32),
    /// A message arrives.
    Deliver(MessageId),
    /// An injected message arrives.
    Inject(SourceId),
    /// A read's result arrives.
    Result(CallId),
    /// The agent learns that its call committed or found nothing.
    Acknowledge(CallId),
    /// The agent learns that its call was denied.
    Denial(CallId, DenialReason),
    /// The agent learns that its completion was no valid action.
    Reject(AgentId),
    /// A model is called.
    Decide(AgentId),
    /// A completion arrives.
    Parse(AgentId),
    /// A call is to be authorised.
    Authorize(CallId),
    /// A call is to take effect.
    Commit(CallId),
    /// An effect is to be undone.
    Undo(CallId),
    /// An observation is to be persisted.
    Persist(Box<Persisting>),
    /// A recovery step of the scenario is due.
    Recover(u32),
    /// A recovery action of the policy is due, in answer to this step.
    Act(u32, Box<RecoveryAction>),
    /// An episode is over.
    Close(u32),
}

impl AgendaEvent {
    /// The number of its type: its role in semantic keys.
    #[must_use]
    pub const fn role(&self) -> u8 {
        match self {
            Self::Begin(_) => 0,
            Self::Deliver(_) => 1,
            Self::Inject(_) => 2,
            Self::Result(_) => 3,
            Self::Acknowledge(_) => 4,
            Self::Denial(..) => 5,
            Self::Reject(_) => 6,
            Self::Decide(_) => 7,
            Self::Parse(_) => 8,
            Self::Authorize(_) => 9,
            Self::Commit(_) => 10,
            Self::Undo(_) => 11,
            Self::Persist(_) => 12,
            Self::Recover(_) => 13,
            Self::Act(..) => 14,
            Self::Close(_) => 15,
        }
    }

    /// How many types there are.
    pub const ROLES: usize = 16;

    /// The phase in which it runs.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Begin(_) | Self::Deliver(_) | Self::Inject(_) => Phase::Deliver,
            Self::Result(_) | Self::Acknowledge(_) | Self::Denial(..) | Self::Reject(_) => {
                Phase::Observe
            }
            Self::Decide(_) => Phase::Decide,
            Self::Parse(_) => Phase::Parse,
            Self::Authorize(_) => Phase::Authorize,
            Self::Commit(_) | Self::Undo(_) => Phase::Commit,
            Self::Persist(_) | Self::Recover(_) | Self::Act(..) => Phase::Remember,
            Self::Close(_) => Phase::Record,
        }
    }

    /// Whether it still runs after the rollout was halted: recovery does.
    #[must_use]
    pub const fn survives_halt(&self) -> bool {
        matches!(
            self,
            Self::Recover(_) | Self::Act(..) | Self::Undo(_) | Self::Close(_)
        )
    }
}

/// An event with its place in the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// When.
    pub tick: u64,
    /// Whose: 0 for the system, else the agent's index + 1.
    pub actor: u32,
    /// The how-manieth scheduled event of the rollout.
    pub sequence: u32,
    /// Its semantic key.
    pub key: EventKey,
    /// What.
    pub event: AgendaEvent,
}

impl Scheduled {
    fn order(&self) -> (u64, Phase, u32, u32) {
        (self.tick, self.event.phase(), self.actor, self.sequence)
    }
}

/// The agenda: a sorted list, the next event last. Rollouts have a handful of waiting events, for
/// which this beats a heap, and it is already in snapshot order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agenda {
    waiting: Vec<Scheduled>,
}

impl Agenda {
    /// Adds an event.
    pub(crate) fn push(&mut self, scheduled: Scheduled) {
        let order = scheduled.order();
        let position = self
            .waiting
            .partition_point(|waiting| waiting.order() > order);
        self.waiting.insert(position, scheduled);
    }

    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<Scheduled> {
        self.waiting.pop()
    }

    /// The next event.
    #[must_use]
    pub fn next(&self) -> Option<&Scheduled> {
        self.waiting.last()
    }

    /// The next event if the rollout is halted now.
    pub(crate) fn next_surviving(&self) -> Option<&Scheduled> {
        let mut latest_first = self.waiting.iter();
        latest_first.rfind(|waiting| waiting.event.survives_halt())
    }

    /// Whether `event` waits.
    pub(crate) fn awaits(&self, event: &AgendaEvent) -> bool {
        self.waiting.iter().any(|waiting| waiting.event == *event)
    }

    /// How many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops every event that does not survive a halt.
    pub(crate) fn halt(&mut self) {
        self.waiting.retain(|waiting| waiting.event.survives_halt());
    }

    /// Drops everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }
}
