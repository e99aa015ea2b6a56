use super::*;
use crate::briefing::Trust;
use crate::conformance::sample::World;
use crate::ids::{AgentId, SourceId};
use crate::label::{LabelId, Readers};
use crate::trace::{Edge, EdgeKind, Node, NodeDetail, Subject};

/// A world with an untrusted and a trusted source, and a trace drawn by hand.
struct Drawing {
    world: World,
    tainted: LabelId,
    trusted: LabelId,
}

impl Drawing {
    fn new() -> Self {
        let mut world = World::new();
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        let plan = world.add_source("doc:plan", Trust::Trusted, Readers::Everyone);
        let tainted = world.label_of(&[note]);
        let trusted = world.label_of(&[plan]);
        Self {
            world,
            tainted,
            trusted,
        }
    }

    fn node(&mut self, kind: NodeKind, recorded: LabelId) -> NodeId {
        self.world.trace.nodes.push(Node {
            kind,
            detail: NodeDetail::Plain,
            tick: 0,
            episode: 0,
            agent: Some(AgentId(0)),
            subject: Subject::Source(SourceId(0)),
            recorded,
            exact: recorded,
        });
        NodeId::at(self.world.trace.nodes.len() - 1)
    }

    fn edge(&mut self, from: NodeId, to: NodeId, taint: bool) {
        self.world.trace.edges.push(Edge {
            from,
            to,
            kind: EdgeKind::Data,
            taint,
        });
    }

    /// A committed action: source, tool result, agent state, proposal, decision, effect.
    fn committed() -> (Self, Vec<NodeId>) {
        use NodeKind::{AgentState, Decision, Proposal, SideEffect, Source, ToolResult};
        let mut drawing = Self::new();
        let tainted = drawing.tainted;
        let path: Vec<_> = [Source, ToolResult, AgentState, Proposal, SideEffect]
            .into_iter()
            .map(|kind| drawing.node(kind, tainted))
            .collect();
        for pair in path.windows(2) {
            drawing.edge(pair[0], pair[1], true);
        }
        let decision = drawing.node(Decision, LabelId::BOTTOM);
        drawing.edge(path[3], decision, false);
        (drawing, path)
    }

    fn findings(&self) -> Vec<(NodeId, &'static str)> {
        let prefix = self.world.trace.prefix();
        let found = ClosureAuditor.audit(prefix, &self.world.labels, &self.world.briefing);
        found
            .into_iter()
            .map(|finding| match finding.finding {
                Cow::Borrowed(word) => (finding.node, word),
                Cow::Owned(word) => panic!("{word} is not one of its words"),
            })
            .collect()
    }
}

#[test]
fn a_sound_trace_has_no_findings() {
    assert_eq!(Drawing::new().findings(), []);
    assert_eq!(Drawing::committed().0.findings(), []);
}

#[test]
fn a_reached_node_without_a_label_is_found() {
    let (mut drawing, path) = Drawing::committed();
    drawing.world.trace.nodes[path[4].index()].recorded = LabelId::BOTTOM;
    assert_eq!(drawing.findings(), [(path[4], ClosureAuditor::UNLABELLED)]);
}

/// A dropped edge leaves a labelled node that nothing reaches, wherever it was dropped.
#[test]
fn a_dropped_edge_is_found_at_every_place() {
    for dropped in 0..4 {
        let (mut drawing, path) = Drawing::committed();
        drawing.world.trace.edges.remove(dropped);
        let expected: Vec<_> = path[dropped + 1..]
            .iter()
            .map(|&node| (node, ClosureAuditor::UNREACHED))
            .collect();
        assert_eq!(drawing.findings(), expected);
    }
}

#[test]
fn an_edge_that_does_not_propagate_taint_reaches_nothing() {
    let (mut drawing, path) = Drawing::committed();
    drawing.world.trace.edges[3].taint = false;
    assert_eq!(drawing.findings(), [(path[4], ClosureAuditor::UNREACHED)]);
}

#[test]
fn a_trusted_source_is_no_origin_of_taint() {
    let mut drawing = Drawing::new();
    let plan = drawing.node(NodeKind::Source, drawing.trusted);
    let state = drawing.node(NodeKind::AgentState, drawing.trusted);
    drawing.edge(plan, state, true);
    assert_eq!(drawing.findings(), []);
    drawing.world.trace.nodes[state.index()].recorded = drawing.tainted;
    assert_eq!(drawing.findings(), [(state, ClosureAuditor::UNREACHED)]);
}

/// A poisoned record from before the rollout is a member of `U`; one that was stored is not.
#[test]
fn a_record_carried_in_is_an_origin_of_taint() {
    let mut drawing = Drawing::new();
    let record = drawing.node(NodeKind::Memory, drawing.tainted);
    let result = drawing.node(NodeKind::ToolResult, drawing.tainted);
    drawing.edge(record, result, true);
    assert_eq!(drawing.findings(), []);
    let clean = drawing.node(NodeKind::AgentState, LabelId::BOTTOM);
    let stored = drawing.node(NodeKind::Memory, drawing.tainted);
    drawing.edge(clean, stored, true);
    assert_eq!(drawing.findings(), [(stored, ClosureAuditor::UNREACHED)]);
}

/// An edge into an early node may be recorded after later edges; the closure does not depend on
/// the order of edges.
#[test]
fn the_order_of_edges_does_not_matter() {
    let (mut drawing, _) = Drawing::committed();
    drawing.world.trace.edges.reverse();
    assert_eq!(drawing.findings(), []);
}
