//! The label of each agent's context, read from the trace.
//!
//! Fides does not see what a model made of its context, so whatever a model writes carries the label
//! of the whole context. This is coarser than the exact labels of the trace, which are used only for
//! what enters from outside: sources and initial records.

use std::collections::BTreeMap;

use plugins::ids::{AgentId, NodeId};
use plugins::label::LabelId;
use plugins::policy::View;
use plugins::trace::{Node, NodeKind};
use serde::{Deserialize, Serialize};

use super::engine::Label;

/// Labels of contexts, messages, records and results, as far as the trace was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Track {
    /// How many nodes and edges were read.
    nodes: u64,
    edges: u64,
    /// By episode and agent: from which state node on which label holds. Grows only where the label
    /// changes.
    contexts: BTreeMap<(u32, u32), Vec<(u32, Label)>>,
    /// The labels of messages, records and results.
    carried: BTreeMap<u32, Label>,
    /// By agent: what its next result raises, if that was decided when it came.
    decided: BTreeMap<u32, Label>,
}

/// The label of what comes from outside.
pub(super) fn outside(view: &View<'_>, label: LabelId) -> Label {
    let label = view.labels.get(label);
    Label::new(
        label.carries(&view.briefing.untrusted),
        label.readers.clone(),
    )
}

impl Track {
    /// Reads what was appended to the trace.
    pub(super) fn catch_up(&mut self, view: &View<'_>) {
        let prefix = view.prefix;
        let at = |seen: u64| usize::try_from(seen).unwrap_or(usize::MAX);
        let first = at(self.nodes);
        let edges = prefix.edges.get(at(self.edges)..).unwrap_or_default();
        let mut origins: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for edge in edges {
            origins.entry(edge.to).or_default().push(edge.from);
        }
        let nodes = prefix.nodes.get(first..).unwrap_or_default();
        for (position, node) in (first..).zip(nodes) {
            let id = NodeId::at(position);
            let origins = origins.get(&id).map_or(&[][..], Vec::as_slice);
            self.read(view, id, node, origins);
        }
        self.nodes = self.nodes.max(prefix.nodes.len() as u64);
        self.edges = self.edges.max(prefix.edges.len() as u64);
    }

    fn read(&mut self, view: &View<'_>, id: NodeId, node: &Node, origins: &[NodeId]) {
        let of_kind = |wanted: NodeKind| {
            let kind = move |origin: &&NodeId| view.prefix.nodes[origin.index()].kind == wanted;
            origins.iter().copied().filter(move |origin| kind(&origin))
        };
        let exact = || outside(view, node.exact);
        let label = match node.kind {
            NodeKind::ToolResult => {
                let decided = node.agent.and_then(|agent| self.decided.remove(&agent.0));
                decided.unwrap_or_else(|| self.joined(view, exact(), origins))
            }
            // A message that no agent sent comes straight from a source.
            NodeKind::Message if of_kind(NodeKind::Source).next().is_some() => exact(),
            NodeKind::Message => self.written(node, exact()),
            // An initial record has no origin.
            NodeKind::Memory if origins.is_empty() => exact(),
            NodeKind::Memory => {
                let records: Vec<_> = of_kind(NodeKind::Memory).collect();
                self.joined(view, self.written(node, exact()), &records)
            }
            NodeKind::AgentState => {
                let states = |origin: &NodeId| {
                    view.prefix.nodes[origin.index()].kind == NodeKind::AgentState
                };
                let entered: Vec<_> = origins.iter().copied().filter(|it| !states(it)).collect();
                let entered = self.joined(view, Label::default(), &entered);
                if let Some(agent) = node.agent {
                    self.enter(id, node.episode, agent, &entered);
                }
                return;
            }
            _ => return,
        };
        self.carried.insert(id.0, label);
    }

    /// `label` joined with those of `origins`.
    fn joined(&self, view: &View<'_>, label: Label, origins: &[NodeId]) -> Label {
        origins.iter().fold(label, |label, &origin| {
            label.join(&self.label_of(view, origin))
        })
    }

    /// The label of a message, record, result or source.
    fn label_of(&self, view: &View<'_>, node: NodeId) -> Label {
        let carried = self.carried.get(&node.0).cloned();
        carried.unwrap_or_else(|| outside(view, view.prefix.nodes[node.index()].exact))
    }

    /// The label of what the model of a node's agent wrote.
    fn written(&self, node: &Node, label: Label) -> Label {
        match node.agent {
            Some(agent) => label.join(&self.now(node.episode, agent)),
            None => label,
        }
    }

    fn enter(&mut self, state: NodeId, episode: u32, agent: AgentId, entered: &Label) {
        let now = self.now(episode, agent);
        let raised = now.join(entered);
        let known = self.contexts.entry((episode, agent.0)).or_default();
        if raised != now {
            known.push((state.0, raised));
        }
    }

    /// The label of an agent's context now.
    pub(super) fn now(&self, episode: u32, agent: AgentId) -> Label {
        let known = self.contexts.get(&(episode, agent.0));
        let last = known.and_then(|known| known.last());
        last.map_or_else(Label::default, |(_, label)| label.clone())
    }

    /// The label of an agent's context at a state of it.
    pub(super) fn at_state(&self, episode: u32, agent: AgentId, state: NodeId) -> Label {
        let known = self.contexts.get(&(episode, agent.0));
        let mut known = known.into_iter().flatten().rev();
        let then = known.find(|(since, _)| *since <= state.0);
        then.map_or_else(Label::default, |(_, label)| label.clone())
    }

    /// The label of the node that a result comes from, beside what is known of each field.
    pub(super) fn origin(&self, view: &View<'_>, node: Option<NodeId>) -> Label {
        let written = node.filter(|node| {
            let node = view.prefix.nodes.get(node.index());
            node.is_some_and(|node| node.kind == NodeKind::Memory)
        });
        let carried = written.and_then(|node| self.carried.get(&node.0));
        carried.cloned().unwrap_or_default()
    }

    /// Fixes what the next result of `agent` raises.
    pub(super) fn decide(&mut self, agent: AgentId, raises: Label) {
        self.decided.insert(agent.0, raises);
    }
}
