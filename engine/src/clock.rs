//! Virtual time and what bounds it.

use plugins::draws::EventKey;
use plugins::trace::{LimitKind, Outcome};
use serde::{Deserialize, Serialize};

use crate::agenda::{AgendaEvent, Scheduled};

/// Whether and why the agents were stopped before the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Halt {
    /// They were not.
    #[default]
    Running,
    /// A limit was reached.
    Limit(LimitKind),
    /// The policy aborted.
    Aborted,
}

/// Where the rollout stands in virtual time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// Now, in ticks.
    pub(crate) tick: u64,
    /// The running episode, from 0.
    pub(crate) episode: u32,
    /// When it began, in ticks.
    pub(crate) episode_start: u64,
    /// The semantic key of the running event.
    pub(crate) key: EventKey,
    /// How many events were scheduled so far.
    pub(crate) sequence: u32,
    /// How many events ran that count against the limit.
    pub(crate) limited_events: u32,
    /// How many events ran in all.
    pub(crate) executed_events: u64,
    /// How many hand-offs there were.
    pub(crate) delegations: u32,
    /// How much text there was, in bytes as `docs/SEMANTICS.md` counts them.
    pub(crate) text_bytes: u64,
    /// Whether the agents were stopped.
    pub(crate) halt: Halt,
    /// How the rollout ended, once it has.
    pub(crate) outcome: Option<Outcome>,
}

/// The running event, and how many children of each type it has scheduled. Empty between events,
/// so it is no part of a snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Due {
    /// The event, until the system of its phase takes it.
    pub(crate) event: Option<Scheduled>,
    /// How many happenings the trace had before it.
    pub(crate) events_before: usize,
    /// Children by type.
    pub(crate) children: [u32; AgendaEvent::ROLES],
}
