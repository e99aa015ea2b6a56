//! The trace graph in DOT, through petgraph: labelled nodes filled, taint edges bold.

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, NodeIndex};
use plugins::label::LabelTable;
use plugins::trace::{Edge, Node, Trace};
use worlds::spec::Scenario;

use super::names::{Names, word};

/// The graph of a trace, nodes and edges in trace order.
#[must_use]
pub fn graph(trace: &Trace) -> DiGraph<Node, Edge> {
    let mut graph = DiGraph::with_capacity(trace.nodes.len(), trace.edges.len());
    for &node in &trace.nodes {
        graph.add_node(node);
    }
    for &edge in &trace.edges {
        graph.add_edge(
            NodeIndex::new(edge.from.index()),
            NodeIndex::new(edge.to.index()),
            edge,
        );
    }
    graph
}

/// Writes a trace as a DOT digraph.
#[must_use]
pub fn write(scenario: &Scenario, trace: &Trace, labels: &LabelTable) -> String {
    let graph = graph(trace);
    let names = Names { scenario, labels };
    let node_attributes = |_: &DiGraph<Node, Edge>, (_, node): (NodeIndex, &Node)| {
        let tainted = labels
            .get(node.recorded)
            .carries(&scenario.briefing.untrusted);
        let fill = if tainted {
            ", style=filled, fillcolor=\"#f4c7c3\""
        } else {
            ""
        };
        let text = format!(
            "{}\\n{}\\nt={}",
            word(&node.kind),
            names.subject(node.subject),
            node.tick
        );
        format!("label=\"{}\", shape=box{fill}", text.replace('"', "'"))
    };
    let edge_attributes =
        |_: &DiGraph<Node, Edge>, edge: petgraph::graph::EdgeReference<'_, Edge>| {
            let edge = edge.weight();
            let style = if edge.taint {
                ", penwidth=2"
            } else {
                ", style=dashed"
            };
            format!("label=\"{}\"{style}", word(&edge.kind))
        };
    let config = [Config::NodeNoLabel, Config::EdgeNoLabel];
    format!(
        "{:?}",
        Dot::with_attr_getters(&graph, &config, &edge_attributes, &node_attributes)
    )
}
