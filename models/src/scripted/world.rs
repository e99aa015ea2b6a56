//! The world that a script is held against, and what an agent can see in it.

use std::collections::BTreeMap;

use plugins::briefing::{AgentInfo, Briefing, Channel};
use plugins::ids::{AgentId, SourceId, ToolId};
use plugins::tool::{Operation, ToolSpec};
use plugins::value::{Content, Text};

/// What a script is held against.
#[derive(Clone, Debug)]
pub struct World<'w> {
    /// Its agents, tools, sources and goals.
    pub briefing: &'w Briefing,
    /// What each source instance says, by [`SourceId`].
    pub contents: Vec<&'w Content>,
    /// To whom the goal of each episode is given.
    pub goals: Vec<AgentId>,
    /// Sender and receiver of every channel.
    pub channels: Vec<(AgentId, AgentId)>,
    /// Who answers, and whom: the final answer goes back over a channel.
    pub answers: Vec<(AgentId, AgentId)>,
    /// The injected messages, and to whom they come.
    pub injected: Vec<(SourceId, AgentId)>,
}

impl World<'_> {
    pub(super) fn agent_named(&self, name: &str) -> Option<AgentId> {
        let mut agents = self.briefing.agents.iter();
        agents
            .position(|agent| &*agent.name == name)
            .map(AgentId::at)
    }

    /// The agents by name.
    pub(super) fn agent_ids(&self) -> BTreeMap<&str, AgentId> {
        let agents = self.briefing.agents.iter().enumerate();
        agents
            .map(|(index, agent)| (&*agent.name, AgentId::at(index)))
            .collect()
    }

    pub(super) fn agent(&self, agent: AgentId) -> &AgentInfo {
        &self.briefing.agents[agent.index()]
    }

    pub(super) fn agent_names(&self) -> Vec<&str> {
        let agents = self.briefing.agents.iter();
        agents.map(|agent| &*agent.name).collect()
    }

    pub(super) fn tool_names(&self) -> Vec<&str> {
        self.briefing.tools.iter().map(|tool| &*tool.name).collect()
    }

    pub(super) fn source_names(&self) -> Vec<&str> {
        let sources = self.briefing.sources.iter();
        sources.map(|source| &*source.name).collect()
    }

    pub(super) fn tool(&self, tool: ToolId) -> &ToolSpec {
        &self.briefing.tools[tool.index()]
    }

    /// The tools that an agent holds.
    pub(super) fn held(&self, agent: AgentId) -> impl Iterator<Item = &ToolSpec> {
        self.agent(agent).tools.iter().map(|&tool| self.tool(tool))
    }

    /// The agents to whom an agent may hand off.
    pub(super) fn receivers(&self, from: AgentId) -> Vec<&str> {
        let channels = self.channels.iter().filter(|(sender, _)| *sender == from);
        channels.map(|(_, to)| &*self.agent(*to).name).collect()
    }

    /// Whether an agent holds a tool that could return this source.
    pub(super) fn can_read(&self, agent: AgentId, source: SourceId) -> bool {
        self.held(agent).any(|tool| self.may_return(tool, source))
    }

    /// Whether a tool could return this source.
    pub(super) fn may_return(&self, tool: &ToolSpec, source: SourceId) -> bool {
        let channel = self.briefing.sources[source.index()].channel;
        match tool.operation {
            Operation::ReadSource => channel != Channel::PersistentMemory,
            Operation::ReturnSource(returned) => returned == source,
            Operation::MemoryRead(_) => channel == Channel::PersistentMemory,
            _ => false,
        }
    }

    /// The goals that an agent is given.
    pub(super) fn goals_of(&self, agent: AgentId) -> impl Iterator<Item = &Text> {
        let goals = self.briefing.goals.iter().zip(&self.goals);
        goals.filter_map(move |(goal, to)| (*to == agent).then_some(goal))
    }

    /// Whether a message can come to an agent: from this one, or from anybody.
    pub(super) fn can_hear(&self, to: AgentId, from: Option<AgentId>) -> bool {
        let comes = |&(sender, receiver): &(AgentId, AgentId)| {
            receiver == to && from.is_none_or(|from| sender == from)
        };
        self.channels.iter().chain(&self.answers).any(comes)
            || (from.is_none() && self.injected.iter().any(|(_, receiver)| *receiver == to))
    }
}
