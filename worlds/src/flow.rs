//! A static upper bound on flow: what untrusted content can reach at all.
//!
//! Nothing is simulated. Every tool an agent knows may be used on anything it can see, every channel
//! may carry anything, and no policy is asked. What is not reached here is reached in no rollout.

use std::collections::BTreeSet;

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

use plugins::briefing::{Channel, Trust};
use plugins::ids::{AgentId, SinkId, SourceId, StoreId};
use plugins::tool::{Operation, Passing, Target, ToolSpec};

use crate::spec::{AfterSending, RecoveryOperation, Scenario};

/// What untrusted content can reach, each in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// The agents that it can reach.
    pub agents: Vec<AgentId>,
    /// The memory stores, those included that hold it from the start.
    pub stores: Vec<StoreId>,
    /// The sinks.
    pub sinks: Vec<SinkId>,
}

/// What untrusted content can reach at most.
#[must_use]
pub fn exposure(scenario: &Scenario) -> Exposure {
    let graph = FlowGraph::of(scenario);
    let untrusted = (0..).zip(&scenario.briefing.sources);
    let untrusted = untrusted.filter(|(_, info)| info.trust == Trust::Untrusted);
    let mut search = Dfs::empty(&graph.graph);
    let mut reached = BTreeSet::new();
    for (id, _) in untrusted {
        search.move_to(graph.source(SourceId(id)));
        while let Some(node) = search.next(&graph.graph) {
            reached.insert(graph.graph[node]);
        }
    }
    let mut exposure = Exposure::default();
    for place in reached {
        match place {
            Place::Agent(agent) => exposure.agents.push(agent),
            Place::Store(store) => exposure.stores.push(store),
            Place::Sink(sink) => exposure.sinks.push(sink),
            Place::Source(_) | Place::Readable | Place::Referable => {}
        }
    }
    exposure
}

/// The sources that no agent can read and no recovery step names, in ascending order.
#[must_use]
pub fn unread(scenario: &Scenario) -> Vec<SourceId> {
    let graph = FlowGraph::of(scenario);
    let is_revoked = |source| {
        let steps = scenario.recovery.iter();
        steps
            .map(|step| &step.operation)
            .any(|operation| *operation == RecoveryOperation::Revoke(source))
    };
    (0..scenario.sources.len())
        .map(SourceId::at)
        .filter(|&source| graph.leads_nowhere(graph.source(source)) && !is_revoked(source))
        .collect()
}

/// A place through which content flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Source(SourceId),
    Agent(AgentId),
    Store(StoreId),
    Sink(SinkId),
    /// Everything that can be read by name. One node instead of an edge for every pair.
    Readable,
    /// Everything that can be passed by reference.
    Referable,
}

struct FlowGraph {
    graph: DiGraph<Place, ()>,
    sources: Vec<NodeIndex>,
    agents: Vec<NodeIndex>,
    stores: Vec<NodeIndex>,
    sinks: Vec<NodeIndex>,
    readable: NodeIndex,
    referable: NodeIndex,
}

impl FlowGraph {
    fn of(scenario: &Scenario) -> Self {
        let mut graph = DiGraph::new();
        let briefing = &scenario.briefing;
        let mut nodes = |places: &mut dyn Iterator<Item = Place>| -> Vec<NodeIndex> {
            places.map(|place| graph.add_node(place)).collect()
        };
        let sources = nodes(&mut ids(&scenario.sources).map(|i| Place::Source(SourceId::at(i))));
        let agents = nodes(&mut ids(&briefing.agents).map(|i| Place::Agent(AgentId::at(i))));
        let stores = nodes(&mut ids(&scenario.stores).map(|i| Place::Store(StoreId::at(i))));
        let sinks = nodes(&mut ids(&briefing.sinks).map(|i| Place::Sink(SinkId::at(i))));
        let readable = graph.add_node(Place::Readable);
        let referable = graph.add_node(Place::Referable);
        let mut flow = Self {
            graph,
            sources,
            agents,
            stores,
            sinks,
            readable,
            referable,
        };
        flow.add_sources(scenario);
        flow.add_stores(scenario);
        flow.add_channels(scenario);
        flow.add_tools(scenario);
        flow
    }

    fn source(&self, source: SourceId) -> NodeIndex {
        self.sources[source.index()]
    }

    fn edge(&mut self, from: NodeIndex, to: NodeIndex) {
        self.graph.add_edge(from, to, ());
    }

    fn add_sources(&mut self, scenario: &Scenario) {
        self.edge(self.readable, self.referable);
        for (index, info) in scenario.briefing.sources.iter().enumerate() {
            if matches!(
                info.channel,
                Channel::RetrievedDocument | Channel::ToolResult
            ) {
                self.edge(self.sources[index], self.readable);
            }
            if let Some(arrival) = scenario.sources[index].arrival {
                self.edge(self.sources[index], self.agents[arrival.to.index()]);
            }
        }
        for episode in &scenario.episodes {
            self.edge(
                self.source(episode.goal),
                self.agents[episode.agent.index()],
            );
        }
    }

    fn add_stores(&mut self, scenario: &Scenario) {
        for (index, store) in scenario.stores.iter().enumerate() {
            let node = self.stores[index];
            self.edge(node, self.referable);
            for record in &store.records {
                self.edge(self.source(record.source), node);
            }
            for (agent, _) in &store.persists {
                self.edge(self.agents[agent.index()], node);
            }
        }
    }

    fn add_channels(&mut self, scenario: &Scenario) {
        for channel in &scenario.channels {
            let from = self.agents[channel.from.index()];
            let to = self.agents[channel.to.index()];
            self.edge(from, to);
            if channel.after == AfterSending::AwaitReply {
                self.edge(to, from);
            }
        }
    }

    fn add_tools(&mut self, scenario: &Scenario) {
        let briefing = &scenario.briefing;
        for (index, info) in briefing.agents.iter().enumerate() {
            for tool in &info.tools {
                let tool = &briefing.tools[tool.index()];
                self.add_tool(self.agents[index], tool, scenario);
            }
        }
    }

    fn add_tool(&mut self, agent: NodeIndex, tool: &ToolSpec, scenario: &Scenario) {
        let written = match tool.operation {
            Operation::ReadSource => {
                let fixed = match &tool.target {
                    Target::Fixed(name) => scenario.briefing.source_named(name),
                    Target::Argument(_) => None,
                };
                let from = fixed.map_or(self.readable, |source| self.source(source));
                self.edge(from, agent);
                None
            }
            Operation::ReturnSource(source) => {
                self.edge(self.source(source), agent);
                None
            }
            Operation::MemoryRead(store) => {
                self.edge(self.stores[store.index()], agent);
                None
            }
            Operation::Act => tool.sink.map(|sink| self.sinks[sink.index()]),
            Operation::MemoryWrite(store) | Operation::MemoryUpdate(store) => {
                Some(self.stores[store.index()])
            }
            Operation::MemoryDelete(_) | Operation::MemoryRestore(_) => None,
        };
        let Some(written) = written else {
            return;
        };
        self.edge(agent, written);
        let takes_references = tool
            .arguments
            .iter()
            .any(|argument| argument.passing == Passing::Reference);
        if takes_references {
            self.edge(self.referable, written);
        }
    }

    /// Whether nothing flows out of the node, but into [`Place::Readable`] that nobody reads.
    fn leads_nowhere(&self, node: NodeIndex) -> bool {
        let out = |node| self.graph.neighbors_directed(node, Direction::Outgoing);
        out(node).all(|next| {
            next == self.readable
                && out(next).all(|next| next == self.referable && out(next).next().is_none())
        })
    }
}

fn ids<T>(things: &[T]) -> impl Iterator<Item = usize> + use<T> {
    0..things.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    /// A reader, a writer, and what `middle` puts between them.
    fn world(middle: &str, reader: &str, writer: &str, body: &str) -> Scenario {
        let text = format!(
            r#"World(
    schema: 1, stage: Security, domain: Email,
    agents: [(name: "reader", tools: [{reader}]), (name: "writer", tools: [{writer}])],
    episodes: [(goal: "a", agent: "reader"), (goal: "b", agent: "writer")],
    {middle}
    sources: [(name: "note", trust: Untrusted, fields: {{"text": "x"}})],
    sinks: [(name: "mail"), (name: "unused")],
    tools: [
        (name: "read", does: ReadSource, arguments: [(name: "note", role: Document)]),
        (name: "keep", does: MemoryWrite("book"), arguments: [(name: "key", role: MemoryKey), (name: "text")]),
        (name: "look", does: MemoryRead("book"), arguments: [(name: "key", role: MemoryKey)]),
        (name: "send", does: Act, risk: Outbound, sink: "mail", target: Fixed("a"), arguments: [(name: "body"{body})]),
    ],
    memory: [(name: "book", mode: Persistent)],
)"#
        );
        load(&text, "flow.ron", "flow").unwrap()
    }

    /// How many agents, stores and sinks are reached.
    fn reached(world: &Scenario) -> (usize, usize, usize) {
        let exposure = exposure(world);
        (
            exposure.agents.len(),
            exposure.stores.len(),
            exposure.sinks.len(),
        )
    }

    #[test]
    fn what_nobody_reads_reaches_nothing() {
        let world = world("", "", "\"send\"", "");
        assert_eq!(reached(&world), (0, 0, 0));
        assert_eq!(unread(&world), [SourceId(0)]);
    }

    #[test]
    fn content_flows_through_channels_in_their_direction() {
        let apart = world("", "\"read\"", "\"send\"", "");
        assert_eq!(reached(&apart), (1, 0, 0));
        assert!(unread(&apart).is_empty());
        let there = "channels: [(from: \"reader\", to: \"writer\")],";
        let there = world(there, "\"read\"", "\"send\"", "");
        assert_eq!(reached(&there), (2, 0, 1));
        let back = "channels: [(from: \"writer\", to: \"reader\")],";
        let back = world(back, "\"read\"", "\"send\"", "");
        assert_eq!(reached(&back), (1, 0, 0));
        let reply = "channels: [(from: \"writer\", to: \"reader\", after: AwaitReply)],";
        let reply = world(reply, "\"read\"", "\"send\"", "");
        assert_eq!(reached(&reply), (2, 0, 1));
    }

    #[test]
    fn content_flows_through_memory() {
        let called = world("", "\"read\", \"keep\"", "\"look\", \"send\"", "");
        assert_eq!(reached(&called), (2, 1, 1));
        let unread = world("", "\"read\", \"keep\"", "\"send\"", "");
        assert_eq!(reached(&unread), (1, 1, 0));
    }

    #[test]
    fn content_flows_by_reference_past_every_agent() {
        let passed = world("", "", "\"send\"", ", passing: Reference");
        assert_eq!(reached(&passed), (0, 0, 1));
        assert!(unread(&passed).is_empty());
    }
}
