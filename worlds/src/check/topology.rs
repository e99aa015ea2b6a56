//! Agents, channels and episodes: who can reach whom.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

use plugins::briefing::AgentInfo;
use plugins::ids::{AgentId, ToolId};
use plugins::value::Text;

use super::Context;
use super::limits::require_ticks;
use crate::diagnostic::{Code, Problem, shortened};
use crate::file::{SourceChannel, World};
use crate::outline::At;
use crate::spec::ChannelSpec;

/// The topology in one word, if the file does not say another.
pub(super) fn name(world: &World) -> &str {
    let usual = if world.agents.len() > 1 {
        "custom"
    } else {
        "single"
    };
    world.topology.as_deref().unwrap_or(usual)
}

/// The agents with the tools that they know.
pub(super) fn agents(world: &World, context: &mut Context<'_>) -> Vec<AgentInfo> {
    let root = context.root;
    let all = world.agents.iter().enumerate();
    all.map(|(index, agent)| {
        let at = root.field("agents").item(index);
        refuse_reserved_name(&agent.name, at.field("name"), context);
        let at = at.field("tools");
        let mut known: BTreeMap<ToolId, usize> = BTreeMap::new();
        for (position, name) in agent.tools.iter().enumerate() {
            let place = at.item(position);
            let Some(tool) = context.names.tools.find(name, place, context.problems) else {
                continue;
            };
            if let Some(first) = known.insert(ToolId(tool), position) {
                let message = format!("the tool `{}` is given twice", shortened(name));
                context.problems.push(
                    Problem::new(Code::DuplicateName, place.span(), message)
                        .label("again here")
                        .also(at.item(first).span(), "first here"),
                );
            }
        }
        AgentInfo {
            name: Text::from(agent.name.as_str()),
            tools: known.into_keys().collect(),
        }
    })
    .collect()
}

/// Policies and users draw random numbers under names of their own, which agents must not share.
fn refuse_reserved_name(name: &str, at: At<'_>, context: &mut Context<'_>) {
    if matches!(name, "policy" | "user") {
        let message = format!("an agent cannot be called `{name}`");
        context.problems.push(
            Problem::new(Code::InvalidName, at.span(), message)
                .label("reserved")
                .help("choose a name like `assistant`"),
        );
    }
}

/// The channels; two agents have at most one in each direction.
pub(super) fn channels(world: &World, context: &mut Context<'_>) -> Vec<ChannelSpec> {
    let root = context.root;
    let mut seen = BTreeMap::new();
    let mut specs = Vec::new();
    for (index, channel) in world.channels.iter().enumerate() {
        let at = root.field("channels").item(index);
        require_ticks(channel.latency_ticks, at.field("latency_ticks"), context);
        let agents = &context.names.agents;
        let from = agents.find(&channel.from, at.field("from"), context.problems);
        let to = agents.find(&channel.to, at.field("to"), context.problems);
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        if let Some(first) = seen.insert((from, to), at.span()) {
            let message = format!(
                "the channel from `{}` to `{}` is given twice",
                shortened(&channel.from),
                shortened(&channel.to)
            );
            context.problems.push(
                Problem::new(Code::DuplicateName, at.span(), message)
                    .label("again here")
                    .also(first, "first here"),
            );
        }
        specs.push(ChannelSpec {
            from: AgentId(from),
            to: AgentId(to),
            latency_ticks: channel.latency_ticks,
            after: channel.after,
        });
    }
    specs
}

/// The agents that something can reach. Complains about the others, and about cycles without a
/// budget, unless a name could not be resolved: then nothing is known, and all count as reachable.
pub(super) fn reachable(
    world: &World,
    channels: &[ChannelSpec],
    context: &mut Context<'_>,
) -> BTreeSet<AgentId> {
    let all = (0..world.agents.len()).map(AgentId::at);
    let Some(starts) = starts(world, context) else {
        return all.collect();
    };
    if channels.len() != world.channels.len() || !context.names.agents.is_unique() {
        return all.collect();
    }
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = world.agents.iter().map(|_| graph.add_node(())).collect();
    for channel in channels {
        graph.add_edge(nodes[channel.from.index()], nodes[channel.to.index()], ());
    }
    refuse_unbounded_cycles(world, channels, &graph, context);
    let mut reached = BTreeSet::new();
    let mut search = Dfs::empty(&graph);
    for start in starts {
        search.move_to(nodes[start.index()]);
        while let Some(node) = search.next(&graph) {
            reached.insert(AgentId::at(node.index()));
        }
    }
    for (agent, id) in world.agents.iter().zip(all) {
        if !reached.contains(&id) {
            let at = context.root.field("agents").item(id.index()).field("name");
            let message = format!("nothing can reach the agent `{}`", shortened(&agent.name));
            context.problems.push(
                Problem::new(Code::UnreachableAgent, at.span(), message)
                    .label("never acts")
                    .help("give it a goal, or add a channel that leads to it"),
            );
        }
    }
    reached
}

/// The agents that are given a goal or an injected message; nothing if one of them does not exist.
fn starts(world: &World, context: &Context<'_>) -> Option<Vec<AgentId>> {
    let agents = &context.names.agents;
    let mut starts = Vec::new();
    for episode in &world.episodes {
        let agent = match &episode.agent {
            Some(name) => agents.get(name),
            None => (!world.agents.is_empty()).then_some(0),
        };
        starts.push(AgentId(agent?));
    }
    for source in &world.sources {
        if let SourceChannel::InterAgentMessage { to, .. } = &source.channel {
            starts.push(AgentId(agents.get(to)?));
        }
    }
    Some(starts)
}

fn refuse_unbounded_cycles(
    world: &World,
    channels: &[ChannelSpec],
    graph: &DiGraph<(), ()>,
    context: &mut Context<'_>,
) {
    if world.limits.delegations.is_some() {
        return;
    }
    let mut component = vec![0; world.agents.len()];
    for (number, members) in kosaraju_scc(graph).into_iter().enumerate() {
        for member in members {
            component[member.index()] = number;
        }
    }
    // What an agent says to itself goes nowhere.
    let back = channels.iter().position(|channel| {
        channel.from != channel.to
            && component[channel.from.index()] == component[channel.to.index()]
    });
    let Some(position) = back else {
        return;
    };
    let at = context.root.field("channels").item(position);
    let channel = &world.channels[position];
    let message = format!(
        "a hand-off from `{}` to `{}` can come back for ever",
        shortened(&channel.from),
        shortened(&channel.to)
    );
    context.problems.push(
        Problem::new(Code::UnboundedCycle, at.span(), message)
            .label("part of a cycle")
            .help("say how many hand-offs a rollout may have: `limits: (delegations: 16)`"),
    );
}
