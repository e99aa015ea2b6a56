//! The auditor contract: reads a trace, cannot affect the run.

use std::borrow::Cow;

use crate::briefing::Briefing;
use crate::ids::NodeId;
use crate::label::LabelTable;
use crate::trace::{NodeKind, Prefix};

/// One observation of an auditor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The node it is about.
    pub node: NodeId,
    /// What was found, as a stable word.
    pub finding: Cow<'static, str>,
}

/// An auditor.
pub trait Auditor: Send {
    /// Reads a trace, whole or in part.
    fn audit(&self, prefix: Prefix<'_>, labels: &LabelTable, briefing: &Briefing) -> Vec<Finding>;
}

/// Checks a law of the crate documentation of `study`: the labelled nodes are exactly `T`, the
/// reach of `U` over taint edges. `U` is what nothing in the trace tainted: labelled sources, and
/// labelled memory records carried in or put back. Any other labelled node needs a reached parent.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosureAuditor;

impl ClosureAuditor {
    /// A node is labelled but not reached.
    pub const UNREACHED: &'static str = "labelled_but_not_reached";
    /// A node is reached but not labelled.
    pub const UNLABELLED: &'static str = "reached_but_not_labelled";
}

impl Auditor for ClosureAuditor {
    fn audit(&self, prefix: Prefix<'_>, labels: &LabelTable, briefing: &Briefing) -> Vec<Finding> {
        let labelled = |node: usize| {
            labels
                .get(prefix.nodes[node].recorded)
                .carries(&briefing.untrusted)
        };
        let mut has_taint_parent = vec![false; prefix.nodes.len()];
        let mut reached = vec![false; prefix.nodes.len()];
        for edge in prefix.edges.iter().filter(|edge| edge.taint) {
            has_taint_parent[edge.to.index()] = true;
        }
        for (node, reached) in reached.iter_mut().enumerate() {
            let is_origin = matches!(prefix.nodes[node].kind, NodeKind::Source | NodeKind::Memory);
            *reached = is_origin && labelled(node) && !has_taint_parent[node];
        }
        // Edges run from older to newer nodes, so one pass in order of the newer end is a closure.
        let mut edges: Vec<_> = prefix.edges.iter().filter(|edge| edge.taint).collect();
        edges.sort_by_key(|edge| edge.to);
        for edge in edges {
            reached[edge.to.index()] |= reached[edge.from.index()];
        }
        (0..prefix.nodes.len())
            .filter(|&node| reached[node] != labelled(node))
            .map(|node| Finding {
                node: NodeId::at(node),
                finding: Cow::Borrowed(if reached[node] {
                    Self::UNLABELLED
                } else {
                    Self::UNREACHED
                }),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
