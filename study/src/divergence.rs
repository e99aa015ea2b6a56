//! The first event at which two traces differ.

use plugins::action::{Argument, Call};
use plugins::ids::CallId;
use plugins::label::{LabelId, LabelTable};
use plugins::trace::{Edge, Event, Happening, Node, Trace};

/// A trace and the labels behind its ids.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its labels.
    pub labels: &'a LabelTable,
}

/// The position of the first event that differs: what happened, when and to whom, with the calls,
/// nodes, edges and labels that belong to it. None if the traces are the same.
///
/// Why a verdict was given is not compared: its rule, fields, evidence and basis are the policy's
/// own words, and two policies that let the same thing happen for different reasons have not
/// diverged. Labels are compared as such, since their ids depend on the history of a rollout. If one
/// trace is the beginning of the other, the position is the length of the shorter.
#[must_use]
pub fn first_divergence(first: Labelled<'_>, second: Labelled<'_>) -> Option<usize> {
    let lengths = [first.trace.events.len(), second.trace.events.len()];
    let common = lengths[0].min(lengths[1]);
    (0..common)
        .find(|&index| !same_event(first, second, index))
        .or((lengths[0] != lengths[1]).then_some(common))
}

fn same_event(first: Labelled<'_>, second: Labelled<'_>, index: usize) -> bool {
    let (a, b) = (&first.trace.events[index], &second.trace.events[index]);
    let pair = Pair { first, second };
    (a.tick, a.episode, a.agent) == (b.tick, b.episode, b.agent)
        && pair.same_happening(&a.what, &b.what)
        && pair.same_graph(index)
}

/// Two traces that are the same up to the event under comparison.
#[derive(Clone, Copy)]
struct Pair<'a> {
    first: Labelled<'a>,
    second: Labelled<'a>,
}

impl Pair<'_> {
    fn same_happening(self, a: &Happening, b: &Happening) -> bool {
        let same_content = match (a, b) {
            (
                Happening::Ruled {
                    hook: a,
                    subject: of_a,
                    verdict: kind_a,
                    node: at_a,
                    ..
                },
                Happening::Ruled {
                    hook: b,
                    subject: of_b,
                    verdict: kind_b,
                    node: at_b,
                    ..
                },
            ) => (a, of_a, kind_a, at_a) == (b, of_b, kind_b, at_b),
            (
                Happening::Relabelled {
                    subject: a,
                    before: before_a,
                    after: after_a,
                },
                Happening::Relabelled {
                    subject: b,
                    before: before_b,
                    after: after_b,
                },
            ) => {
                a == b
                    && self.same_label(*before_a, *before_b)
                    && self.same_label(*after_a, *after_b)
            }
            (
                Happening::Rewritten {
                    call: a,
                    arguments: to_a,
                },
                Happening::Rewritten {
                    call: b,
                    arguments: to_b,
                },
            ) => a == b && self.same_arguments(to_a, to_b),
            _ => a == b,
        };
        same_content && call_of(a).is_none_or(|call| self.same_call(call))
    }

    fn same_label(self, a: LabelId, b: LabelId) -> bool {
        self.first.labels.get(a) == self.second.labels.get(b)
    }

    fn same_call(self, id: CallId) -> bool {
        let calls = [self.first, self.second].map(|side| side.trace.calls.get(id.index()));
        let [Some(a), Some(b)] = calls else {
            return calls[0].is_none() && calls[1].is_none();
        };
        let plain = |call: &Call| {
            (
                call.id,
                call.agent,
                call.episode,
                call.tool,
                call.keep_result,
            )
        };
        plain(a) == plain(b)
            && self.same_label(a.recorded, b.recorded)
            && self.same_label(a.choice, b.choice)
            && self.same_arguments(&a.arguments, &b.arguments)
    }

    fn same_arguments(self, a: &[Argument], b: &[Argument]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_argument(a, b))
    }

    fn same_argument(self, a: &Argument, b: &Argument) -> bool {
        let same_referent = match (&a.referent, &b.referent) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                a.object == b.object
                    && a.content == b.content
                    && a.labels.len() == b.labels.len()
                    && a.labels
                        .iter()
                        .zip(&b.labels)
                        .all(|(&a, &b)| self.same_label(a, b))
            }
            _ => false,
        };
        (a.position, &a.value) == (b.position, &b.value)
            && self.same_label(a.label, b.label)
            && same_referent
    }

    /// Whether the nodes and edges that belong to the event are the same.
    fn same_graph(self, index: usize) -> bool {
        let (nodes_a, edges_a) = part_of_event(self.first.trace, index);
        let (nodes_b, edges_b) = part_of_event(self.second.trace, index);
        edges_a == edges_b
            && nodes_a.len() == nodes_b.len()
            && nodes_a
                .iter()
                .zip(nodes_b)
                .all(|(a, b)| self.same_node(a, b))
    }

    fn same_node(self, a: &Node, b: &Node) -> bool {
        let plain = |node: &Node| Node {
            recorded: LabelId::BOTTOM,
            exact: LabelId::BOTTOM,
            ..*node
        };
        plain(a) == plain(b)
            && self.same_label(a.recorded, b.recorded)
            && self.same_label(a.exact, b.exact)
    }
}

/// The nodes and edges created since the previous event.
fn part_of_event(trace: &Trace, index: usize) -> (&[Node], &[Edge]) {
    let ends = |event: &Event| (event.nodes_after as usize, event.edges_after as usize);
    let (first_node, first_edge) = match index.checked_sub(1) {
        None => (0, 0),
        Some(previous) => ends(&trace.events[previous]),
    };
    let (last_node, last_edge) = ends(&trace.events[index]);
    (
        &trace.nodes[first_node..last_node],
        &trace.edges[first_edge..last_edge],
    )
}

/// The call that an event is about.
const fn call_of(happening: &Happening) -> Option<CallId> {
    match happening {
        Happening::Proposed { call }
        | Happening::HoldReleased { call }
        | Happening::Denied { call, .. }
        | Happening::Committed { call, .. }
        | Happening::Observed { call, .. }
        | Happening::Acknowledged { call }
        | Happening::Undone { call, .. }
        | Happening::Rewritten { call, .. } => Some(*call),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
