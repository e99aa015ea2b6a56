//! Reach over the trace graph: `U`, `T` (Eq. 2), `R` (Eq. 4) and depth.
//!
//! Edges run from older to newer nodes, so one pass in order of the newer end is a closure.

use std::borrow::Cow;

use plugins::ids::{NodeId, StoreId};
use plugins::trace::{Edge, EdgeKind, Node, NodeKind, Subject};
use worlds::spec::{InitialRecord, Scenario};

use super::Finished;

/// What reach says of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeReach {
    /// Its recorded label carries an untrusted source.
    pub labelled: bool,
    /// In `T`: reached from `U` over taint edges, or in `U`.
    pub in_taint: bool,
    /// In `R`: reached from `U` over edges of any kind, or in `U`.
    pub in_region: bool,
    /// The least number of taint edges from `U`; 0 outside `T`.
    pub depth: u32,
    /// The most delegation edges on such a shortest path; 0 outside `T`.
    pub delegations: u32,
}

/// Reach of every node of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// By node.
    pub nodes: Vec<NodeReach>,
}

impl Reach {
    /// Computes reach from `U`.
    #[must_use]
    pub fn of(finished: &Finished<'_>) -> Self {
        let untrusted = &finished.scenario.briefing.untrusted;
        let nodes = &finished.trace.nodes;
        if untrusted.is_empty() {
            // `U` is empty, and nothing is reached from nowhere.
            return Self {
                nodes: vec![NodeReach::default(); nodes.len()],
            };
        }
        let at_root = nodes.iter().map(|node| {
            let is_root = is_untrusted_root(node, finished);
            NodeReach {
                labelled: finished.labels.get(node.recorded).carries(untrusted),
                in_taint: is_root,
                in_region: is_root,
                ..NodeReach::default()
            }
        });
        let mut reach = Self {
            nodes: at_root.collect(),
        };
        let mut edges = Cow::Borrowed(finished.trace.edges.as_slice());
        if !edges.is_sorted_by_key(|edge| edge.to) {
            edges.to_mut().sort_by_key(|edge| edge.to);
        }
        for edge in &*edges {
            reach.follow(edge);
        }
        reach
    }

    /// What reach says of `node`.
    #[must_use]
    pub fn node(&self, node: NodeId) -> NodeReach {
        self.nodes[node.index()]
    }

    fn follow(&mut self, edge: &Edge) {
        let from = self.nodes[edge.from.index()];
        let to = &mut self.nodes[edge.to.index()];
        to.in_region |= from.in_region;
        if !(edge.taint && from.in_taint) {
            return;
        }
        let depth = from.depth + 1;
        let delegations = from.delegations + u32::from(edge.kind == EdgeKind::Delegation);
        if !to.in_taint || depth < to.depth {
            to.in_taint = true;
            to.depth = depth;
            to.delegations = delegations;
        } else if depth == to.depth {
            to.delegations = to.delegations.max(delegations);
        }
    }
}

/// The records from before the rollout in the order of their ids: by store, then in file order.
pub(crate) fn initial_records(
    scenario: &Scenario,
) -> impl Iterator<Item = (StoreId, &InitialRecord)> {
    let stores = scenario.stores.iter().enumerate();
    stores.flat_map(|(index, store)| {
        let records = store.records.iter();
        records.map(move |record| (StoreId::at(index), record))
    })
}

/// Whether a node is in `U`: an untrusted source, or a tainted record carried in from before the
/// rollout.
fn is_untrusted_root(node: &Node, finished: &Finished<'_>) -> bool {
    let briefing = &finished.scenario.briefing;
    match (node.kind, node.subject) {
        (NodeKind::Source, Subject::Source(source)) => briefing.untrusted.contains(source.0),
        (NodeKind::Memory, Subject::Record(record)) => initial_records(finished.scenario)
            .nth(record.index())
            .is_some_and(|(_, initial)| {
                let label = &briefing.sources[initial.source.index()].label;
                label.carries(&briefing.untrusted)
            }),
        _ => false,
    }
}
