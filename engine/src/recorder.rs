//! Appends to the trace. A recorded label is never set: it is the join over the taint edges of its
//! node, so the labelled nodes are the reach of the untrusted sources by construction.

use plugins::ids::{AgentId, NodeId};
use plugins::label::{LabelId, LabelTable};
use plugins::trace::{
    Edge, EdgeKind, Event, Happening, Node, NodeDetail, NodeKind, Subject, Trace,
};

use crate::components::Taint;
use crate::digest::append_trace;

/// A node to be created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewNode {
    pub(crate) kind: NodeKind,
    pub(crate) detail: NodeDetail,
    pub(crate) agent: Option<AgentId>,
    pub(crate) subject: Subject,
    pub(crate) exact: LabelId,
}

impl NewNode {
    /// A node of `kind` about `subject` with exact label bottom.
    pub(crate) const fn new(kind: NodeKind, subject: Subject) -> Self {
        Self {
            kind,
            detail: NodeDetail::Plain,
            agent: None,
            subject,
            exact: LabelId::BOTTOM,
        }
    }

    pub(crate) const fn detail(self, detail: NodeDetail) -> Self {
        Self { detail, ..self }
    }

    pub(crate) const fn agent(self, agent: AgentId) -> Self {
        Self {
            agent: Some(agent),
            ..self
        }
    }

    pub(crate) const fn exact(self, exact: LabelId) -> Self {
        Self { exact, ..self }
    }
}

/// The trace so far and the labels in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) trace: Trace,
    pub(crate) labels: LabelTable,
}

/// How long a trace is, and how many labels it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    nodes: usize,
    edges: usize,
    calls: usize,
    events: usize,
    labels: usize,
}

impl Recorder {
    pub(crate) fn length(&self) -> Length {
        Length {
            nodes: self.trace.nodes.len(),
            edges: self.trace.edges.len(),
            calls: self.trace.calls.len(),
            events: self.trace.events.len(),
            labels: self.labels.labels().len(),
        }
    }

    /// Appends what is hashed of the trace so far.
    pub(crate) fn append_trace(&self, out: &mut Vec<u8>) {
        let fingerprints = self.labels.fingerprints().iter().copied();
        append_trace(self.trace.prefix(), fingerprints, out);
    }

    /// Forgets what was added since it was so long.
    pub(crate) fn cut_to(&mut self, length: Length) {
        self.trace.nodes.truncate(length.nodes);
        self.trace.edges.truncate(length.edges);
        self.trace.calls.truncate(length.calls);
        self.trace.events.truncate(length.events);
        self.labels.truncate(length.labels);
    }

    /// Appends a node whose recorded label is bottom until edges arrive.
    pub(crate) fn node(&mut self, new: NewNode, tick: u64, episode: u32) -> NodeId {
        let id = NodeId::at(self.trace.nodes.len());
        self.trace.nodes.push(Node {
            kind: new.kind,
            detail: new.detail,
            tick,
            episode,
            agent: new.agent,
            subject: new.subject,
            recorded: LabelId::BOTTOM,
            exact: new.exact,
        });
        id
    }

    /// Appends the node of something that was there before the rollout: its label is its own.
    pub(crate) fn root(&mut self, new: NewNode, tick: u64, episode: u32) -> NodeId {
        let id = self.node(new, tick, episode);
        self.trace.nodes[id.index()].recorded = new.exact;
        id
    }

    /// Appends an edge; over a taint edge the recorded label of the origin flows on.
    pub(crate) fn edge(&mut self, from: NodeId, to: NodeId, kind: EdgeKind, taint: bool) {
        let flowing = if taint {
            self.trace.nodes[from.index()].recorded
        } else {
            LabelId::BOTTOM
        };
        self.edge_carrying(from, to, kind, taint, flowing);
    }

    /// Appends an edge over which `flowing` flows: the origin's recorded label after a policy
    /// changed it.
    pub(crate) fn edge_carrying(
        &mut self,
        from: NodeId,
        to: NodeId,
        kind: EdgeKind,
        taint: bool,
        flowing: LabelId,
    ) {
        self.trace.edges.push(Edge {
            from,
            to,
            kind,
            taint,
        });
        if taint {
            let node = &mut self.trace.nodes[to.index()];
            node.recorded = self.labels.join(node.recorded, flowing);
        }
    }

    /// The recorded label of a node.
    pub(crate) fn recorded(&self, node: NodeId) -> LabelId {
        self.trace.nodes[node.index()].recorded
    }

    /// Node and labels as a component.
    pub(crate) fn taint(&self, node: NodeId) -> Taint {
        let Node {
            recorded, exact, ..
        } = self.trace.nodes[node.index()];
        Taint {
            node: Some(node),
            recorded,
            exact,
        }
    }

    /// Appends an event that closes over the nodes and edges created since the previous one.
    pub(crate) fn event(
        &mut self,
        tick: u64,
        episode: u32,
        agent: Option<AgentId>,
        what: Happening,
    ) {
        let nodes_after =
            u32::try_from(self.trace.nodes.len()).expect("limits keep traces far below u32::MAX");
        let edges_after =
            u32::try_from(self.trace.edges.len()).expect("limits keep traces far below u32::MAX");
        self.trace.events.push(Event {
            tick,
            episode,
            agent,
            what,
            nodes_after,
            edges_after,
        });
    }

    /// The join of several labels.
    pub(crate) fn join_all(&mut self, labels: impl IntoIterator<Item = LabelId>) -> LabelId {
        labels.into_iter().fold(LabelId::BOTTOM, |joined, label| {
            self.labels.join(joined, label)
        })
    }
}
