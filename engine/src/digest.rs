//! What is hashed of a trace: every field of every node, edge, call, event and label.
//!
//! Every rollout of a study has its digest, and the bytes of a snapshot are dear. So the numbers of
//! nodes, edges and events are words of eight bytes, and labels are fingerprints; calls, and what
//! happened in an event, are as in a snapshot.

use plugins::ids::AgentId;
use plugins::label::Label;
use plugins::trace::{Edge, Event, Node, Prefix, Subject};

use crate::bytes::append;

/// Appends what is hashed of a trace and of the labels behind its ids. Every part is preceded by its
/// length, so that different traces give different bytes.
pub(crate) fn append_trace(
    trace: Prefix<'_>,
    fingerprints: impl ExactSizeIterator<Item = u64>,
    out: &mut Vec<u8>,
) {
    let Prefix {
        nodes,
        edges,
        calls,
        events,
    } = trace;
    append_words([nodes.len() as u64, edges.len() as u64], out);
    append_words([fingerprints.len() as u64, events.len() as u64], out);
    for node in nodes {
        append_node(node, out);
    }
    for edge in edges {
        append_edge(edge, out);
    }
    for fingerprint in fingerprints {
        append_words([fingerprint], out);
    }
    for event in events {
        append_event(event, out);
    }
    append(calls, out);
}

/// The fingerprints of labels.
pub(crate) fn fingerprints(labels: &[Label]) -> impl ExactSizeIterator<Item = u64> {
    labels.iter().map(Label::fingerprint)
}

fn append_node(node: &Node, out: &mut Vec<u8>) {
    let Node {
        kind,
        detail,
        tick,
        episode,
        agent,
        subject,
        recorded,
        exact,
    } = *node;
    let (role, id) = subject_parts(subject);
    let kinds = u32::from_le_bytes([kind as u8, detail as u8, role, 0]);
    append_words(
        [
            tick,
            pair(episode, actor(agent)),
            pair(kinds, id),
            pair(recorded.number(), exact.number()),
        ],
        out,
    );
}

fn append_edge(edge: &Edge, out: &mut Vec<u8>) {
    let Edge {
        from,
        to,
        kind,
        taint,
    } = *edge;
    let kinds = u32::from_le_bytes([kind as u8, u8::from(taint), 0, 0]);
    append_words([pair(from.0, to.0), kinds.into()], out);
}

fn append_event(event: &Event, out: &mut Vec<u8>) {
    let Event {
        tick,
        episode,
        agent,
        what,
        nodes_after,
        edges_after,
    } = event;
    append_words(
        [
            *tick,
            pair(*episode, actor(*agent)),
            pair(*nodes_after, *edges_after),
        ],
        out,
    );
    append(what, out);
}

/// 0 for nobody, else the agent's index + 1.
fn actor(agent: Option<AgentId>) -> u32 {
    agent.map_or(0, |agent| agent.0 + 1)
}

/// The kind of a subject, and its id.
const fn subject_parts(subject: Subject) -> (u8, u32) {
    match subject {
        Subject::Source(source) => (0, source.0),
        Subject::Record(record) => (1, record.0),
        Subject::Message(message) => (2, message.0),
        Subject::Call(call) => (3, call.0),
        Subject::Step(step) => (4, step),
        Subject::Agent(agent) => (5, agent.0),
    }
}

const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

fn append_words<const COUNT: usize>(words: [u64; COUNT], out: &mut Vec<u8>) {
    out.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
}

#[cfg(test)]
mod tests;
