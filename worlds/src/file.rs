//! What a world file may say: the grammar, as plain structs.
//!
//! A world file is RON, one `World(...)`. Fields may come in any order; a field with a default may
//! be left out. An optional value is written as it is, without `Some`. Maps keep the order in which
//! they are written, because content is shown to agents in that order. Episodes are counted from 0,
//! time is in ticks.
//!
//! These types know nothing of names or meaning: [`crate::check`] resolves them into
//! [`crate::spec`].

mod value;

use serde::Deserialize;

use plugins::briefing::Trust;
use plugins::tool::{Passing, RiskClass, Role, ValueKind};

use crate::spec::{AfterSending, Domain, MemoryMode, Stage};
pub use value::{Literal, Pairs};

/// The version of the grammar that this crate reads.
pub const SCHEMA: u32 = 1;

/// A world.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The version of the grammar: [`SCHEMA`].
    pub schema: u32,
    /// The family, for tables. Default: the name of the file.
    #[serde(default)]
    pub family: Option<String>,
    /// The member of the family. With it the identity is `family/variant`.
    #[serde(default)]
    pub variant: Option<String>,
    /// The evidence stage.
    pub stage: Stage,
    /// The domain.
    pub domain: Domain,
    /// The topology in one word, for tables. Default: `single` for one agent, `custom` for several.
    #[serde(default)]
    pub topology: Option<String>,
    /// The agents.
    pub agents: Vec<Agent>,
    /// What the user wants, once per episode.
    pub episodes: Vec<Episode>,
    /// Who may send messages to whom.
    #[serde(default)]
    pub channels: Vec<Channel>,
    /// What can be read.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Where effects land.
    #[serde(default)]
    pub sinks: Vec<Sink>,
    /// What agents can do.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// What agents can remember.
    #[serde(default)]
    pub memory: Vec<Store>,
    /// Synthetic secrets.
    #[serde(default)]
    pub canaries: Vec<Canary>,
    /// Readers who are mentioned nowhere else. Whoever appears as a reader, allowed recipient or
    /// recipient in the ledger is known without being listed; an address in content is not.
    #[serde(default)]
    pub principals: Vec<String>,
    /// Who may receive.
    #[serde(default)]
    pub allowed_recipients: Vec<String>,
    /// What the user authorised: the true ledger of Eq. 8.
    #[serde(default)]
    pub ledger: Vec<Entry>,
    /// What must have happened in the end (Table 4).
    #[serde(default)]
    pub success: Success,
    /// What the system does to memory, and when.
    #[serde(default)]
    pub recovery: Vec<RecoveryStep>,
    /// Limits; reaching one is an outcome.
    #[serde(default)]
    pub limits: Limits,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// The tools that it knows.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// One episode: a trusted goal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// What the user says. The source instance `goal` (`goal:2` in the second episode), whose one
    /// field is `text`.
    pub goal: String,
    /// To whom. Default: the first agent.
    #[serde(default)]
    pub agent: Option<String>,
}

/// A directed channel. One that leads from an agent to itself lets it check itself: what it says is
/// recorded and not delivered, and `after` has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// Ticks from sending to delivery.
    #[serde(default = "one_tick")]
    pub latency_ticks: u64,
    /// What the sender does next.
    #[serde(default)]
    pub after: AfterSending,
}

/// How a source reaches an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum SourceChannel {
    /// An agent reads it by name.
    #[default]
    RetrievedDocument,
    /// A tool with `ReturnSource` returns it.
    ToolResult,
    /// It arrives as a message that no agent sent.
    InterAgentMessage {
        /// The receiver.
        to: String,
        /// The episode, from 0.
        #[serde(default)]
        episode: u32,
        /// Ticks after the start of the episode.
        after_ticks: u64,
    },
}

/// A source instance.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name, for example `doc:project_plan`.
    pub name: String,
    /// How it reaches an agent.
    #[serde(default)]
    pub channel: SourceChannel,
    /// Whether it can carry an attacker's words.
    pub trust: Trust,
    /// What it says: named fields that a model can copy.
    pub fields: Pairs<String>,
    /// The fields that an attacker may fill. What they say here is the fixed attack.
    #[serde(default)]
    pub slots: Vec<String>,
    /// Who may read it. Default: everyone.
    #[serde(default)]
    pub readers: Option<Vec<String>>,
    /// Who may read a single field, by field.
    #[serde(default)]
    pub private: Pairs<Vec<String>>,
}

/// A sink.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// Its name.
    pub name: String,
    /// Who reads what lands there besides the recipients of the call.
    #[serde(default)]
    pub readers: Vec<String>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name: the action type of the ledger.
    pub name: String,
    /// What it does.
    pub does: Does,
    /// Its risk class. Default: `Low` for reads, `Write` for memory; `Act` must say.
    #[serde(default)]
    pub risk: Option<RiskClass>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<Argument>,
    /// Where the target of a call is found. Default: the only argument of role `Document` for
    /// `ReadSource`, the only one of role `MemoryKey` for memory, the source for `ReturnSource`;
    /// `Act` must say.
    #[serde(default)]
    pub target: Option<Target>,
    /// Where its effect lands; `Act` must say, other tools have none.
    #[serde(default)]
    pub sink: Option<String>,
    /// Ticks from commit to the result reaching the agent.
    #[serde(default = "one_tick")]
    pub latency_ticks: u64,
    /// How its effect is taken back.
    #[serde(default)]
    pub undo: Undo,
    /// Whether it sends e-mail that cannot be taken back, which a rollback checkpoint holds once.
    #[serde(default)]
    pub irrevocable_email: bool,
}

/// What a tool does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Does {
    /// Reads the source that its target names.
    ReadSource,
    /// Returns this source.
    ReturnSource(String),
    /// Commits an effect at its sink.
    Act,
    /// Reads a record of this store; the target is the key.
    MemoryRead(String),
    /// Creates a record of this store.
    MemoryWrite(String),
    /// Replaces a record of this store.
    MemoryUpdate(String),
    /// Deletes a record of this store.
    MemoryDelete(String),
    /// Puts a record of this store back to its backup.
    MemoryRestore(String),
}

/// Where the target of a call is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Target {
    /// In this argument.
    Argument(String),
    /// It is always this.
    Fixed(String),
}

/// An argument of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it means to the authorisation.
    #[serde(default = "content")]
    pub role: Role,
    /// Its type.
    #[serde(default = "text")]
    pub kind: ValueKind,
    /// By value, or by the name of what is meant.
    #[serde(default = "by_value")]
    pub passing: Passing,
    /// Whether a call must give it.
    #[serde(default = "yes")]
    pub required: bool,
    /// Other names under which a model may give it.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// How an effect is taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Undo {
    /// It cannot be.
    #[default]
    Irrevocable,
    /// By this tool.
    Inverse(String),
}

/// A memory store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Its name.
    pub name: String,
    /// How long it remembers.
    pub mode: MemoryMode,
    /// The agents whose every observation it stores without being asked.
    #[serde(default)]
    pub automatic: Vec<Automatic>,
    /// What it refuses by itself, whatever the policy.
    #[serde(default)]
    pub filters: Vec<Filter>,
    /// What it holds from before the rollout. A record is the source instance `store/key`.
    #[serde(default)]
    pub records: Vec<Record>,
}

/// Automatic persistence of one agent's observations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Automatic {
    /// The agent.
    pub agent: String,
    /// Ticks from the observation to the record.
    #[serde(default = "one_tick")]
    pub after_ticks: u64,
}

/// A filter of the store itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Filter {
    /// Stores nothing that an untrusted source flowed into.
    RefuseUntrustedWrites,
    /// Returns nothing that an untrusted source flowed into.
    HideUntrustedReads,
    /// Stores nothing under a key that begins with this.
    RefuseKeyPrefix(String),
}

/// A record from before the rollout.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its key.
    pub key: String,
    /// Whether it can carry an attacker's words.
    pub trust: Trust,
    /// What it says.
    pub fields: Pairs<String>,
    /// The fields that an attacker may fill.
    #[serde(default)]
    pub slots: Vec<String>,
    /// Who may read it. Default: everyone.
    #[serde(default)]
    pub readers: Option<Vec<String>>,
    /// Who may read a single field, by field.
    #[serde(default)]
    pub private: Pairs<Vec<String>>,
    /// Whether the store holds a backup of it.
    #[serde(default)]
    pub backup: bool,
}

/// A synthetic secret.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canary {
    /// The exact token.
    pub token: String,
    /// Who may read it; at least one.
    #[serde(default)]
    pub readers: Vec<String>,
}

/// One authorised or required action.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The tool.
    pub action: String,
    /// The target.
    pub target: String,
    /// What further arguments must be.
    #[serde(default, rename = "where")]
    pub conditions: Pairs<Condition>,
}

/// What one argument must be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Condition {
    /// Exactly this.
    Equals(Literal),
    /// One of these.
    OneOf(Vec<Literal>),
    /// Not given.
    Absent,
    /// Given, whatever its value.
    Present,
}

/// The success criteria.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Success {
    /// Actions that must have committed, each exactly once.
    pub required: Vec<Entry>,
    /// The recovery objective.
    pub recovery: Objective,
}

/// The recovery objective.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Objective {
    /// Where no record that an untrusted source flowed into may be live.
    pub clean: Vec<Scope>,
    /// Records that must say what they said at the start.
    pub at_initial_value: Vec<RecordName>,
}

/// Records of one store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The store.
    pub store: String,
    /// The keys; none means all.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// One record of one store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordName {
    /// The store.
    pub store: String,
    /// The key.
    pub key: String,
}

/// A recovery step: something the system does to memory at a fixed time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoveryStep {
    /// The episode, from 0.
    #[serde(default)]
    pub episode: u32,
    /// Ticks after the start of the episode.
    pub after_ticks: u64,
    /// What it does.
    pub operation: Operation,
}

/// What a recovery step does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Operation {
    /// Removes what untrusted sources flowed into.
    Scrub {
        /// The store.
        store: String,
        /// The keys; none means all.
        #[serde(default)]
        keys: Vec<String>,
    },
    /// Puts backups in the place of what untrusted sources flowed into.
    Restore {
        /// The store.
        store: String,
        /// The keys; none means all.
        #[serde(default)]
        keys: Vec<String>,
    },
    /// Holds what untrusted sources flowed into out of use.
    Quarantine {
        /// The store.
        store: String,
        /// The keys; none means all.
        #[serde(default)]
        keys: Vec<String>,
    },
    /// Announces that a source is no longer to be trusted.
    Revoke {
        /// The source instance.
        source: String,
    },
}

/// Limits. One that is left out has the default of [`crate::spec::Limits`]. The largest values are
/// such that the worst of worlds takes seconds and far less than a gigabyte; the text of a whole
/// rollout is bounded by [`crate::spec::MOST_TEXT_OF_A_ROLLOUT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Virtual time per episode.
    pub ticks: Option<u64>,
    /// Events per rollout, at most 100,000.
    pub events: Option<u32>,
    /// Events waiting at once, at most 4,000.
    pub queue: Option<u32>,
    /// Completions of one agent in one episode, at most 4,000.
    pub turns: Option<u32>,
    /// Hand-offs per rollout, at most 4,000; must be given when channels form a cycle.
    pub delegations: Option<u32>,
    /// Bytes of one completion, at most 1 MiB.
    pub text_bytes: Option<u32>,
}

const fn one_tick() -> u64 {
    1
}

const fn yes() -> bool {
    true
}

const fn content() -> Role {
    Role::Content
}

const fn text() -> ValueKind {
    ValueKind::Text
}

const fn by_value() -> Passing {
    Passing::Value
}
