//! What the engine trusts: a checked scenario. Constructed only by [`crate::check`], so every index
//! in it is valid and every name unique.

use std::sync::Arc;

use plugins::briefing::Briefing;
use plugins::ids::{AgentId, SourceId, StoreId};
use plugins::label::Label;
use plugins::ledger::Entry;
use plugins::value::{Content, Text};
use serde::{Deserialize, Serialize};

/// The evidence stage of a scenario (paper 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// Unauthorised commits and propagation under attack-like conditions.
    Security,
    /// Persistence, reinfection, scrub, quarantine, rollback.
    MemoryRecovery,
    /// Authorised work over untrusted content.
    ActiveTainted,
    /// Ordinary work without injected content.
    Clean,
}

impl Stage {
    /// Every stage, in the order of Table 3.
    pub const ALL: [Self; 4] = [
        Self::Security,
        Self::MemoryRecovery,
        Self::ActiveTainted,
        Self::Clean,
    ];

    /// Its name in rows and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::MemoryRecovery => "memory_recovery",
            Self::ActiveTainted => "active_tainted",
            Self::Clean => "clean",
        }
    }
}

/// The domain of a scenario (paper 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Domain {
    /// E-mail-like.
    Email,
    /// Document-like.
    Documents,
    /// Calendar- and CRM-like.
    CalendarCrm,
}

impl Domain {
    /// Its name in rows and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Documents => "documents",
            Self::CalendarCrm => "calendar_crm",
        }
    }
}

/// What happens to the sender once a message is on its way.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum AfterSending {
    /// The sender waits for nothing; it acts again only if something reaches it.
    #[default]
    HandOff,
    /// The sender goes on with its next turn.
    Continue,
    /// The receiver's final answer comes back over this channel and wakes the sender.
    AwaitReply,
}

/// A directed channel between two agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelSpec {
    /// The sender.
    pub from: AgentId,
    /// The receiver.
    pub to: AgentId,
    /// Ticks from sending to delivery, at least 1.
    pub latency_ticks: u64,
    /// What the sender does next.
    pub after: AfterSending,
}

/// A source instance: what it says and how it is touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpec {
    /// What it says, with its untrusted slots filled.
    pub content: Arc<Content>,
    /// The label of each field: the source itself, narrowed to the readers of the field.
    pub labels: Vec<Label>,
    /// The positions of the fields that an attacker may fill.
    pub slots: Vec<u16>,
    /// For the inter-agent-message channel: to whom, and at which tick of which episode.
    pub arrival: Option<Arrival>,
}

/// When an injected message arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// The receiver.
    pub to: AgentId,
    /// The episode, from 0.
    pub episode: u32,
    /// Ticks after the start of the episode.
    pub after_ticks: u64,
}

/// How long a store remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MemoryMode {
    /// Until the episode ends.
    Session,
    /// Across episodes.
    Persistent,
}

/// A filter of the store itself, independent of any policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreFilter {
    /// Refuses to store content that an untrusted source flowed into (by recorded label).
    RefuseUntrustedWrites,
    /// Does not return records that an untrusted source flowed into (by recorded label).
    HideUntrustedReads,
    /// Refuses to store records whose key begins with this.
    RefuseKeyPrefix(Text),
}

/// A record from before the rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialRecord {
    /// Its key.
    pub key: Text,
    /// The source instance that it is; content and labels are found there.
    pub source: SourceId,
    /// Whether the store holds a backup of it.
    pub backup: bool,
}

/// A memory store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreSpec {
    /// Its name.
    pub name: Text,
    /// How long it remembers.
    pub mode: MemoryMode,
    /// Agents for which every observation is persisted automatically, after this many ticks.
    pub persists: Vec<(AgentId, u64)>,
    /// Its own filters, in order.
    pub filters: Vec<StoreFilter>,
    /// What it holds at the start of the rollout.
    pub records: Vec<InitialRecord>,
}

/// One episode: a trusted goal given to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeSpec {
    /// The goal as a source instance.
    pub goal: SourceId,
    /// To whom it is given.
    pub agent: AgentId,
}

/// What a recovery step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecoveryOperation {
    /// Removes every live labelled record in scope. Quarantined records are skipped.
    Scrub(RecoveryScope),
    /// Removes the current version of every record in scope that has a backup and is labelled, and
    /// puts the backup in its place.
    Restore(RecoveryScope),
    /// Holds every live labelled record in scope out of use.
    Quarantine(RecoveryScope),
    /// Announces that a source is no longer to be trusted. Only a policy with a recovery hook acts.
    Revoke(SourceId),
}

/// The records that a recovery step is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryScope {
    /// The store.
    pub store: StoreId,
    /// The keys; empty means the whole store.
    pub keys: Vec<Text>,
}

impl RecoveryScope {
    /// Whether the record with this store and key is in scope.
    #[must_use]
    pub fn covers(&self, store: StoreId, key: &str) -> bool {
        self.store == store
            && (self.keys.is_empty() || self.keys.iter().any(|scoped| &**scoped == key))
    }
}

/// A recovery step of the scenario: an operation of the system, not of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryStep {
    /// The episode in which it runs, from 0.
    pub episode: u32,
    /// Ticks after the start of the episode.
    pub after_ticks: u64,
    /// What it does.
    pub operation: RecoveryOperation,
}

/// The designated recovery objective, checked at the end of the rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryObjective {
    /// The scope in which no labelled record may be live; by store and key, no key means all.
    pub clean: Vec<RecoveryScope>,
    /// Records that must have the content they had at the start of the rollout.
    pub at_initial_value: Vec<(StoreId, Text)>,
}

/// The success criteria `B` (Table 4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Success {
    /// Commits that must be present, each exactly once, with these exact fields.
    pub required: Vec<Entry>,
    /// The recovery objective, for the memory/recovery stage.
    pub recovery: RecoveryObjective,
}

/// Limits; reaching one is a typed outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Virtual time per episode.
    pub ticks: u64,
    /// Agenda events per rollout.
    pub events: u32,
    /// Events waiting at once.
    pub queue: u32,
    /// Completions of one agent in one episode.
    pub turns: u32,
    /// Hand-offs per rollout.
    pub delegations: u32,
    /// Bytes of one completion.
    pub text_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ticks: 10_000,
            events: 10_000,
            queue: 1_000,
            turns: 64,
            delegations: 64,
            text_bytes: 65_536,
        }
    }
}

/// How much text a rollout may have, in bytes as `docs/SEMANTICS.md` counts them (section 5). It is
/// no limit of a world file: it bounds the memory of a rollout, whatever the other limits are.
pub const MOST_TEXT_OF_A_ROLLOUT: u64 = 16 << 20;

/// What a field of a content counts besides its name and value, in bytes: labels and handles.
pub const FIELD_BYTES: usize = 64;

/// A checked scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Family and variant, or file name. Enters the keyed draws.
    pub identity: Text,
    /// Hash of what the scenario says. Never enters a draw.
    pub content_hash: u128,
    /// The family, for tables; the identity of a single file.
    pub family: Text,
    /// The evidence stage.
    pub stage: Stage,
    /// The domain.
    pub domain: Domain,
    /// The topology in one word: the author's, otherwise `single` for one agent and `custom` for
    /// several.
    pub topology: Text,
    /// Goal, agents, tools, sinks, *true* ledger, recipients and labels.
    pub briefing: Briefing,
    /// What each source instance says, by [`SourceId`].
    pub sources: Vec<SourceSpec>,
    /// The channels between agents.
    pub channels: Vec<ChannelSpec>,
    /// The memory stores.
    pub stores: Vec<StoreSpec>,
    /// The episodes; at least one.
    pub episodes: Vec<EpisodeSpec>,
    /// The recovery steps in file order.
    pub recovery: Vec<RecoveryStep>,
    /// The success criteria.
    pub success: Success,
    /// The limits.
    pub limits: Limits,
}

impl Scenario {
    /// The channel from one agent to another.
    #[must_use]
    pub fn channel(&self, from: AgentId, to: AgentId) -> Option<&ChannelSpec> {
        self.channels
            .iter()
            .find(|channel| channel.from == from && channel.to == to)
    }

    /// The memory mode column of a row: `persistent` if any store is, else `session`, else `none`.
    #[must_use]
    pub fn memory_mode(&self) -> &'static str {
        if self
            .stores
            .iter()
            .any(|store| store.mode == MemoryMode::Persistent)
        {
            "persistent"
        } else if self.stores.is_empty() {
            "none"
        } else {
            "session"
        }
    }
}
