//! What the trusted side knows before a rollout starts, and nothing untrusted.

use serde::{Deserialize, Serialize};

use crate::ids::{PrincipalId, SourceId, ToolId};
use crate::label::{Label, Readers, SourceSet};
use crate::ledger::Ledger;
use crate::tool::{SinkSpec, ToolSpec};
use crate::value::Text;

/// By which channel a source reaches an agent (paper 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Channel {
    /// The trusted user goal of one episode.
    Goal,
    /// A document that an agent retrieves by name.
    RetrievedDocument,
    /// What a tool returns.
    ToolResult,
    /// A message that arrives between agents.
    InterAgentMessage,
    /// A memory record from before the rollout.
    PersistentMemory,
}

/// Whether a source can carry an attacker's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Trust {
    /// Written by the user or the operator.
    Trusted,
    /// Written by anybody: a member of `U`.
    Untrusted,
}

/// What is known of a source instance without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceInfo {
    /// Its name in the world file, for example `doc:project_plan`.
    pub name: Text,
    /// How it reaches an agent.
    pub channel: Channel,
    /// Whether it is a member of `U`.
    pub trust: Trust,
    /// The label of its content.
    pub label: Label,
}

/// A synthetic secret: an exact token and who may read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Canary {
    /// The token.
    pub token: Text,
    /// Its permitted readers.
    pub readers: Readers,
}

/// One agent as the trusted side knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its name.
    pub name: Text,
    /// The tools known to it, ascending.
    pub tools: Vec<ToolId>,
}

/// The trusted inputs of a rollout: goal, agents, tools, sinks, ledger, recipients, labels.
///
/// A policy is told this in `on_session`. The ledger here is the one the policy is *given*; scoring
/// always uses the scenario's true ledger (`I*` in the crate documentation of `study`), and the two
/// differ once ledger errors are studied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Briefing {
    /// The trusted goal of each episode, as text.
    pub goals: Vec<Text>,
    /// The agents.
    pub agents: Vec<AgentInfo>,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// The sinks.
    pub sinks: Vec<SinkSpec>,
    /// The authorised actions.
    pub ledger: Ledger,
    /// Who may receive.
    pub allowed_recipients: Vec<Text>,
    /// Every principal by name.
    pub principals: Vec<Text>,
    /// Every source instance.
    pub sources: Vec<SourceInfo>,
    /// The synthetic secrets.
    pub canaries: Vec<Canary>,
    /// `U`: the untrusted source instances.
    pub untrusted: SourceSet,
}

impl Briefing {
    /// The principal called `name`.
    #[must_use]
    pub fn principal_named(&self, name: &str) -> Option<PrincipalId> {
        self.principals
            .iter()
            .position(|principal| &**principal == name)
            .map(PrincipalId::at)
    }

    /// The source instance called `name`.
    #[must_use]
    pub fn source_named(&self, name: &str) -> Option<SourceId> {
        self.sources
            .iter()
            .position(|source| &*source.name == name)
            .map(SourceId::at)
    }

    /// The tool called `name`.
    #[must_use]
    pub fn tool_named(&self, name: &str) -> Option<ToolId> {
        self.tools
            .iter()
            .position(|tool| &*tool.name == name)
            .map(ToolId::at)
    }
}
