//! The trace graph of Eq. 1, appended as things happen and never rewritten, and the borrowed
//! [`Prefix`] of it that a policy may see.
//!
//! Edges always run from an older node to a newer one. An edge says whether it propagates taint;
//! the recorded label of a node is the join over its taint edges, so that the labelled nodes are
//! exactly `T` of Eq. 2 and lie within `R` of Eq. 4.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::action::{ActionClass, Argument, Call, ParseStatus, Repairs};
pub use crate::ids::Subject;
use crate::ids::{AgentId, CallId, MessageId, NodeId, RecordId, StoreId};
use crate::label::LabelId;
use crate::reason::{DenialReason, Hook, Reason, VerdictKind};
use crate::value::{Content, Text};

/// The eight node kinds of the paper (3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeKind {
    /// A source, at the first event that touches it.
    Source,
    /// An agent's state after one observation or delivered message.
    AgentState,
    /// A message between agents, or a final answer.
    Message,
    /// A version of a memory record.
    Memory,
    /// A parsed valid proposal.
    Proposal,
    /// What a read returned.
    ToolResult,
    /// An authorisation decision, scrub, quarantine or audit.
    Decision,
    /// A committed side effect.
    SideEffect,
}

/// The sub-kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeDetail {
    /// Nothing special.
    Plain,
    /// A message that is an agent's final answer.
    FinalAnswer,
    /// A message of an agent to itself: it restates what it has seen and checks it.
    SelfCheck,
    /// A side effect that is a low-risk entry in the task record.
    TaskRecord,
    /// A decision that scrubs records.
    Scrub,
    /// A decision that restores records from backups.
    Restore,
    /// A decision that quarantines.
    Quarantine,
    /// An audit record: under a quarantine, and two under a self-check.
    Audit,
    /// A decision that undoes a committed effect.
    Undo,
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its sub-kind.
    pub detail: NodeDetail,
    /// When it was created, in ticks.
    pub tick: u64,
    /// In which episode, from 0.
    pub episode: u32,
    /// By or for which agent.
    pub agent: Option<AgentId>,
    /// What it is about.
    pub subject: Subject,
    /// The recorded label: what the instrumentation logs.
    pub recorded: LabelId,
    /// The exact label: what the simulator knows.
    pub exact: LabelId,
}

/// The edge kinds. The paper (3.5) speaks of data-flow, structural, temporal and audit edges;
/// `docs/SEMANTICS.md` says which edge is of which kind here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EdgeKind {
    /// Content flows.
    Data,
    /// Content flows in a message.
    Delegation,
    /// One thing leads to another without content being logged.
    Control,
    /// One thing merely precedes another.
    Temporal,
    /// A decision or audit is about something.
    Audit,
}

/// One edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The older end.
    pub from: NodeId,
    /// The newer end.
    pub to: NodeId,
    /// Its kind.
    pub kind: EdgeKind,
    /// Whether it propagates taint: a member of `E^T`.
    pub taint: bool,
}

/// Why a rollout stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LimitKind {
    /// Virtual time.
    Ticks,
    /// Events processed.
    Events,
    /// Events waiting.
    Queue,
    /// Completions of one agent in one episode.
    Turns,
    /// Delegations in the rollout.
    Delegations,
    /// Bytes of one completion.
    Text,
}

/// How a rollout ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Every episode ran to its end, or a policy aborted it.
    Completed,
    /// A limit was reached; metrics are as usual, flagged.
    LimitReached(LimitKind),
    /// A backend failed; every metric is null.
    Errored(Text),
}

/// What a recovery step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RecoveryKind {
    /// Removed labelled records.
    Scrub,
    /// Put records back to their backups.
    Restore,
    /// Held labelled records out of use.
    Quarantine,
    /// Announced that a source is no longer to be trusted. Removes nothing by itself.
    Revoke,
    /// Undid a committed effect.
    Undo,
}

/// How the user answered a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// Nobody was there.
    Absent,
}

/// One thing that happened. Facts that no node carries live here: parser diagnostics, denials,
/// answers, the life of memory records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happening {
    /// An episode began.
    EpisodeBegan,
    /// A message (or the goal) entered an agent's context.
    Delivered {
        /// The message; none for the goal.
        message: Option<MessageId>,
    },
    /// A completion was parsed: one model action.
    Completed {
        /// Its class.
        class: ActionClass,
        /// How it was read.
        status: ParseStatus,
        /// What was repaired.
        repairs: Repairs,
        /// Whether a strict reader would have called it a final answer.
        strict_reading_is_final: bool,
        /// The tool or receiver named, if any.
        named: Option<Text>,
    },
    /// A valid call became a proposal.
    Proposed {
        /// The call.
        call: CallId,
    },
    /// A message was sent.
    Sent {
        /// The message.
        message: MessageId,
        /// Its receiver.
        to: AgentId,
    },
    /// An agent gave its final answer.
    Finished {
        /// The answer.
        message: MessageId,
    },
    /// A policy ruled, or the default ruled under a policy without that hook.
    Ruled {
        /// Which hook.
        hook: Hook,
        /// On what.
        subject: Subject,
        /// The verdict.
        verdict: VerdictKind,
        /// Rule, fields, evidence, exact or assumed.
        reason: Reason,
        /// The decision node, if one was created.
        node: Option<NodeId>,
    },
    /// The user was asked.
    Asked {
        /// About which call or record.
        subject: Subject,
        /// The answer.
        answer: Answer,
    },
    /// A hold was released: the same call had been held before.
    HoldReleased {
        /// The call.
        call: CallId,
    },
    /// A call was denied and the agent will be told.
    Denied {
        /// The call.
        call: CallId,
        /// What the agent is told.
        reason: DenialReason,
    },
    /// A call took effect.
    Committed {
        /// The call.
        call: CallId,
        /// The effect node.
        node: NodeId,
    },
    /// A read's result entered (or was kept out of) a context.
    Observed {
        /// The call.
        call: CallId,
        /// Whether it entered the context.
        kept: bool,
    },
    /// The agent was told that its call committed, or that nothing was found.
    Acknowledged {
        /// The call.
        call: CallId,
    },
    /// A record was stored.
    Stored {
        /// The record.
        record: RecordId,
        /// The store.
        store: StoreId,
        /// The key.
        key: Text,
        /// What it says.
        content: Arc<Content>,
        /// Its memory node.
        node: NodeId,
        /// Whether it was stored under quarantine.
        quarantined: bool,
    },
    /// A record is no longer live: replaced, deleted, scrubbed or undone.
    Removed {
        /// The record.
        record: RecordId,
        /// The recovery step that removed it, if it was one.
        step: Option<u32>,
    },
    /// A record was quarantined.
    Quarantined {
        /// The record.
        record: RecordId,
    },
    /// A store's own filter refused a write or hid a read.
    Filtered {
        /// The store.
        store: StoreId,
        /// Which filter, by position.
        filter: u32,
    },
    /// A recovery step ran.
    Recovered {
        /// The step of the scenario; none when a policy acted.
        step: Option<u32>,
        /// What it did.
        kind: RecoveryKind,
        /// Its decision node; none for a revocation.
        node: Option<NodeId>,
        /// What it removed.
        removed: Vec<RecordId>,
    },
    /// A committed effect was undone by a compensating action.
    Undone {
        /// The call whose effect was undone.
        call: CallId,
        /// The compensating effect.
        node: NodeId,
    },
    /// A policy changed a label: an audited downgrade, or narrower readers.
    Relabelled {
        /// What.
        subject: Subject,
        /// The label before.
        before: LabelId,
        /// The label after.
        after: LabelId,
    },
    /// A call was rewritten by a policy.
    Rewritten {
        /// The call.
        call: CallId,
        /// The arguments as they would commit.
        arguments: Arc<[Argument]>,
    },
    /// A policy drew a random number.
    Drawn {
        /// The name of the draw.
        name: Text,
        /// The value.
        value: u64,
    },
    /// The rollout ended.
    Ended {
        /// How.
        outcome: Outcome,
    },
}

/// A [`Happening`] with its place in virtual time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The tick.
    pub tick: u64,
    /// The episode, from 0.
    pub episode: u32,
    /// Whose event it is.
    pub agent: Option<AgentId>,
    /// What happened.
    pub what: Happening,
    /// How many nodes the trace had once this event was recorded; the nodes since the previous
    /// event belong to this one.
    pub nodes_after: u32,
    /// How many edges the trace had once this event was recorded.
    pub edges_after: u32,
}

/// The trace of one rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Nodes in creation order.
    pub nodes: Vec<Node>,
    /// Edges in creation order.
    pub edges: Vec<Edge>,
    /// Valid calls in the order they were parsed.
    pub calls: Vec<Call>,
    /// What happened, in order.
    pub events: Vec<Event>,
}

impl Trace {
    /// The whole trace so far as a prefix.
    #[must_use]
    pub fn prefix(&self) -> Prefix<'_> {
        Prefix {
            nodes: &self.nodes,
            edges: &self.edges,
            calls: &self.calls,
            events: &self.events,
        }
    }

    /// Empties the trace and keeps its memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.calls.clear();
        self.events.clear();
    }
}

/// A position in a trace up to which a mirror has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    nodes: usize,
    edges: usize,
    calls: usize,
    events: usize,
}

/// The part of a trace that existed at one moment: all that a policy may see (`G` cut at `k(q)`,
/// paper 5.4).
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    /// Nodes in creation order.
    pub nodes: &'a [Node],
    /// Edges in creation order.
    pub edges: &'a [Edge],
    /// Valid calls so far, the one under decision included.
    pub calls: &'a [Call],
    /// What happened so far.
    pub events: &'a [Event],
}

impl<'a> Prefix<'a> {
    /// The end of the prefix, to be handed to [`Prefix::since`] later.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor {
            nodes: self.nodes.len(),
            edges: self.edges.len(),
            calls: self.calls.len(),
            events: self.events.len(),
        }
    }

    /// What was appended since `cursor`; lets a mirror outside the process copy only what is new.
    #[must_use]
    pub fn since(&self, cursor: Cursor) -> Prefix<'a> {
        Prefix {
            nodes: &self.nodes[cursor.nodes.min(self.nodes.len())..],
            edges: &self.edges[cursor.edges.min(self.edges.len())..],
            calls: &self.calls[cursor.calls.min(self.calls.len())..],
            events: &self.events[cursor.events.min(self.events.len())..],
        }
    }

    /// The call with this id.
    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&'a Call> {
        self.calls.get(id.index())
    }

    /// The calls that committed so far, in order of commit.
    pub fn commits(&self) -> impl Iterator<Item = (&'a Call, NodeId)> {
        let calls = self.calls;
        self.events
            .iter()
            .filter_map(move |event| match event.what {
                Happening::Committed { call, node } => Some((&calls[call.index()], node)),
                _ => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happened(tick: u64) -> Event {
        Event {
            tick,
            episode: 0,
            agent: None,
            what: Happening::EpisodeBegan,
            nodes_after: 0,
            edges_after: 0,
        }
    }

    /// A mirror outside the process copies only what is new, and a cursor from further on (after a
    /// step back) gives nothing rather than panics.
    #[test]
    fn since_a_cursor_there_is_only_what_came_later() {
        let mut trace = Trace::default();
        let start = trace.prefix().cursor();
        trace.events.push(happened(1));
        let middle = trace.prefix().cursor();
        trace.events.push(happened(2));
        assert_eq!(trace.prefix().since(start).events, trace.events);
        assert_eq!(trace.prefix().since(middle).events, [happened(2)]);
        assert!(
            trace
                .prefix()
                .since(trace.prefix().cursor())
                .events
                .is_empty()
        );
        let end = trace.prefix().cursor();
        trace.clear();
        assert!(trace.prefix().since(end).events.is_empty());
    }
}
