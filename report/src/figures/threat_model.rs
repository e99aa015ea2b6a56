//! Figure 1: the threat model and the graph of taint and intent, drawn from a world: what is written
//! by whom, through which agents and tools it can go, and what the policy layer reads before it lets
//! a call through. Agents that are alike share a box, and so do sources, or a large world would be a
//! thicket of arrows that say the same.

use std::collections::{BTreeMap, BTreeSet};

use plugins::briefing::{Channel, SourceInfo, Trust};
use plugins::ids::AgentId;
use plugins::tool::{Operation, RiskClass};
use worlds::spec::Scenario;

use super::layered::{Kind, Layered, counted};

/// So many that are alike share a box.
const MANY: usize = 3;

const SOURCES: u32 = 0;
const AGENTS: u32 = 1;
const POLICY: u32 = 2;
const TOOLS: u32 = 3;
const SINKS: u32 = 4;

/// The graph of a world.
#[must_use]
pub fn figure(scenario: &Scenario) -> String {
    let mut drawn = Drawn {
        scenario,
        schematic: Layered {
            title: format!(
                "Figure 1. Threat model and taint/intent graph: {}",
                scenario.identity
            ),
            headings: vec![
                "Sources",
                "Agents and memory",
                "Policy layer",
                "Tools",
                "Side-effect sinks",
            ],
            note: "Blue: written by the user or the operator. Vermillion, dashed: written by anybody, so \
                   that instructions in it have influence and no authority. Green, doubled: what the \
                   trusted goal authorises, exactly. Every proposed call passes the policy layer, which \
                   knows the sources of its arguments and the ledger, and nothing of what the sources \
                   say. Who stands in one box has the same arrows, each for itself. Drawn from the \
                   world."
                .to_owned(),
            ..Layered::default()
        },
        agents: Vec::new(),
        stores: Vec::new(),
    };
    drawn.agents_and_stores();
    drawn.sources();
    drawn.policy_and_tools();
    drawn.schematic.draw()
}

/// A schematic in the making: which of its boxes are agents and stores, by their ids.
struct Drawn<'s> {
    scenario: &'s Scenario,
    schematic: Layered,
    agents: Vec<usize>,
    stores: Vec<usize>,
}

impl Drawn<'_> {
    fn agents_and_stores(&mut self) {
        let agents = &self.scenario.briefing.agents;
        let alike = self.alike_agents();
        let mut boxes: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, agent) in agents.iter().enumerate() {
            let group = &alike[index];
            let tools = counted(agent.tools.len(), "tool", "tools");
            let place = *boxes.entry(group[0]).or_insert_with(|| {
                let schematic = &mut self.schematic;
                if let [_] = group[..] {
                    let says = [format!("agent, {tools}")];
                    return schematic.add(AGENTS, &*agent.name, &says, Kind::Plain);
                }
                let names = group.iter().map(|other| &*agents[*other].name);
                let names = names.collect::<Vec<_>>().join(", ");
                let says = [names, format!("{tools} each")];
                let name = format!("{} agents", group.len());
                schematic.add(AGENTS, name, &says, Kind::Plain)
            });
            self.agents.push(place);
        }
        for store in &self.scenario.stores {
            let says = [format!("{:?} memory", store.mode).to_lowercase()];
            let place = self.schematic.add(AGENTS, &*store.name, &says, Kind::Plain);
            self.stores.push(place);
        }
        for channel in &self.scenario.channels {
            let (from, to) = (channel.from.index(), channel.to.index());
            self.schematic
                .arrow(self.agents[from], self.agents[to], Kind::Plain);
        }
        self.memory_reads();
    }

    /// For each agent those that are like it, itself included: the same tools, channels to and from the
    /// same agents, and nothing that is given to it alone. Fewer than [`MANY`] are not grouped.
    fn alike_agents(&self) -> Vec<Vec<usize>> {
        let scenario = self.scenario;
        let agents = &scenario.briefing.agents;
        let of = |index: usize| {
            let is_it = |id: AgentId| id.index() == index;
            let tools: BTreeSet<usize> = agents[index].tools.iter().map(|id| id.index()).collect();
            let channels = || scenario.channels.iter();
            let to = channels().filter(|channel| is_it(channel.from));
            let to: BTreeSet<usize> = to.map(|channel| channel.to.index()).collect();
            let from = channels().filter(|channel| is_it(channel.to));
            let from: BTreeSet<usize> = from.map(|channel| channel.from.index()).collect();
            let has_goal = scenario.episodes.iter().any(|episode| is_it(episode.agent));
            let arrivals = scenario
                .sources
                .iter()
                .filter_map(|source| source.arrival.as_ref());
            let mut arrivals = arrivals.map(|arrival| arrival.to);
            let is_alone = has_goal || arrivals.any(is_it);
            (tools, to, from, is_alone.then_some(index))
        };
        alike((0..agents.len()).map(of))
    }

    /// A store reaches every agent that has a tool to read it.
    fn memory_reads(&mut self) {
        let briefing = &self.scenario.briefing;
        for (agent, place) in briefing.agents.iter().zip(self.agents.clone()) {
            for tool in &agent.tools {
                if let Operation::MemoryRead(store) = briefing.tools[tool.index()].operation {
                    let store = self.stores[store.index()];
                    self.schematic.arrow(store, place, Kind::Plain);
                }
            }
        }
    }

    /// Every source with an arrow to where it enters.
    fn sources(&mut self) {
        let sources = &self.scenario.briefing.sources;
        let of = |(index, source): (usize, &SourceInfo)| {
            let entries: BTreeSet<usize> =
                self.entries(index, source.channel).into_iter().collect();
            (
                trust_words(source.trust),
                channel_words(source.channel),
                entries,
            )
        };
        let alike = alike(sources.iter().enumerate().map(of));
        for (index, (source, group)) in sources.iter().zip(alike).enumerate() {
            if group[0] != index {
                continue;
            }
            let kind = match source.trust {
                Trust::Trusted => Kind::Trusted,
                Trust::Untrusted => Kind::Untrusted,
            };
            let said = format!(
                "{} {}",
                trust_words(source.trust),
                channel_words(source.channel)
            );
            let place = if let [_] = group[..] {
                self.schematic.add(SOURCES, &*source.name, &[said], kind)
            } else {
                let names = group.iter().map(|other| &*sources[*other].name);
                let says = [
                    names.collect::<Vec<_>>().join(", "),
                    format!("each: {said}"),
                ];
                let name = format!("{} sources", group.len());
                self.schematic.add(SOURCES, name, &says, kind)
            };
            for entry in self.entries(index, source.channel) {
                self.schematic.arrow(place, entry, kind);
            }
        }
    }

    /// The boxes that a source reaches first.
    fn entries(&self, source: usize, channel: Channel) -> Vec<usize> {
        let scenario = self.scenario;
        let is_it = |id: plugins::ids::SourceId| id.index() == source;
        match channel {
            Channel::Goal => {
                let episodes = scenario.episodes.iter();
                let given = episodes.filter(|episode| is_it(episode.goal));
                given
                    .map(|episode| self.agents[episode.agent.index()])
                    .collect()
            }
            Channel::PersistentMemory => {
                let stores = scenario.stores.iter().zip(&self.stores);
                let holding = stores
                    .filter(|(store, _)| store.records.iter().any(|record| is_it(record.source)));
                holding.map(|(_, place)| *place).collect()
            }
            Channel::InterAgentMessage => {
                let arrival = scenario.sources[source].arrival;
                arrival
                    .map(|arrival| self.agents[arrival.to.index()])
                    .into_iter()
                    .collect()
            }
            Channel::RetrievedDocument | Channel::ToolResult => {
                let briefing = &scenario.briefing;
                let reads =
                    |tool: &plugins::ids::ToolId| match briefing.tools[tool.index()].operation {
                        Operation::ReadSource => channel == Channel::RetrievedDocument,
                        Operation::ReturnSource(returned) => is_it(returned),
                        _ => false,
                    };
                let agents = briefing.agents.iter().zip(&self.agents);
                let reading = agents.filter(|(agent, _)| agent.tools.iter().any(reads));
                reading.map(|(_, place)| *place).collect()
            }
        }
    }

    fn policy_and_tools(&mut self) {
        let briefing = &self.scenario.briefing;
        let says = ["allows, asks or blocks each call; reads taint and intent".to_owned()];
        let policy = self.schematic.add(POLICY, "policy", &says, Kind::Plain);
        let entries = briefing.ledger.entries.iter();
        let mut says: Vec<String> = entries
            .map(|entry| format!("{} on {}", entry.action, entry.target))
            .collect();
        if says.is_empty() {
            says.push("authorises no high-risk action".to_owned());
        }
        let ledger = self
            .schematic
            .add(POLICY, "intent ledger", &says, Kind::Authority);
        self.schematic.arrow(ledger, policy, Kind::Authority);
        for agent in self.agents.clone() {
            self.schematic.arrow(agent, policy, Kind::Plain);
        }
        let tools: Vec<usize> = briefing
            .tools
            .iter()
            .map(|tool| {
                let says = [tool_words(tool.operation, tool.risk).to_owned()];
                let place = self.schematic.add(TOOLS, &*tool.name, &says, Kind::Plain);
                self.schematic.arrow(policy, place, Kind::Plain);
                place
            })
            .collect();
        let sinks: Vec<usize> = briefing
            .sinks
            .iter()
            .map(|sink| {
                let says = ["synthetic, local".to_owned()];
                self.schematic.add(SINKS, &*sink.name, &says, Kind::Plain)
            })
            .collect();
        for (tool, place) in briefing.tools.iter().zip(tools) {
            if let Some(sink) = tool.sink {
                self.schematic
                    .arrow(place, sinks[sink.index()], Kind::Plain);
            }
            if let Some(store) = tool.operation.written_store() {
                self.schematic
                    .arrow(place, self.stores[store.index()], Kind::Plain);
            }
        }
    }
}

/// For each of them the positions of those that are equal to it, itself included; alone if they are
/// fewer than [`MANY`].
fn alike<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<Vec<usize>> {
    let keys: Vec<K> = keys.collect();
    let mut groups: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
    for (index, key) in keys.iter().enumerate() {
        groups.entry(key).or_default().push(index);
    }
    let group = |(index, key): (usize, &K)| {
        let group = &groups[key];
        if group.len() < MANY {
            return vec![index];
        }
        group.clone()
    };
    keys.iter().enumerate().map(group).collect()
}

const fn trust_words(trust: Trust) -> &'static str {
    match trust {
        Trust::Trusted => "trusted",
        Trust::Untrusted => "untrusted",
    }
}

const fn channel_words(channel: Channel) -> &'static str {
    match channel {
        Channel::Goal => "user goal",
        Channel::RetrievedDocument => "document",
        Channel::ToolResult => "tool result",
        Channel::InterAgentMessage => "message",
        Channel::PersistentMemory => "memory record",
    }
}

const fn tool_words(operation: Operation, risk: RiskClass) -> &'static str {
    match (operation.is_read(), risk) {
        (true, _) => "reads",
        (false, RiskClass::Low) => "low risk",
        (false, RiskClass::Write) => "high risk: writes",
        (false, RiskClass::Outbound) => "high risk: sends out",
    }
}
