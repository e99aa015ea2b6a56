//! Why a policy decided as it did: the moment, the kind of verdict, the rule and its evidence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::ids::{NodeId, SourceId};

/// The moments at which a policy can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Hook {
    /// An episode begins; trusted inputs only.
    Session,
    /// A model is about to be called.
    Prompt,
    /// A tool result is about to enter a context.
    Observation,
    /// A message is about to be delivered.
    Message,
    /// A valid call is to be authorised.
    Proposal,
    /// A record is about to be stored.
    MemoryWrite,
    /// A record is about to be returned.
    MemoryRead,
    /// The precommit barrier after authorisation.
    Commit,
    /// A recovery step ran.
    Recovery,
}

bitflags::bitflags! {
    /// The hooks that a policy declares to use. A hook that is not declared is never called, and a
    /// fork is taken just before the first declared hook would fire.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Hooks: u16 {
        /// [`Hook::Session`].
        const SESSION = 1;
        /// [`Hook::Prompt`].
        const PROMPT = 1 << 1;
        /// [`Hook::Observation`].
        const OBSERVATION = 1 << 2;
        /// [`Hook::Message`].
        const MESSAGE = 1 << 3;
        /// [`Hook::Proposal`].
        const PROPOSAL = 1 << 4;
        /// [`Hook::MemoryWrite`].
        const MEMORY_WRITE = 1 << 5;
        /// [`Hook::MemoryRead`].
        const MEMORY_READ = 1 << 6;
        /// [`Hook::Commit`].
        const COMMIT = 1 << 7;
        /// [`Hook::Recovery`].
        const RECOVERY = 1 << 8;
    }
}

impl From<Hook> for Hooks {
    fn from(hook: Hook) -> Self {
        match hook {
            Hook::Session => Self::SESSION,
            Hook::Prompt => Self::PROMPT,
            Hook::Observation => Self::OBSERVATION,
            Hook::Message => Self::MESSAGE,
            Hook::Proposal => Self::PROPOSAL,
            Hook::MemoryWrite => Self::MEMORY_WRITE,
            Hook::MemoryRead => Self::MEMORY_READ,
            Hook::Commit => Self::COMMIT,
            Hook::Recovery => Self::RECOVERY,
        }
    }
}

/// The kind of a verdict, without its payload, in order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VerdictKind {
    /// Nothing changes.
    Allow,
    /// A label changed.
    Relabel,
    /// Prompt, tools or content changed.
    Edit,
    /// The call was rewritten.
    Rewrite,
    /// A result was simulated.
    Simulate,
    /// Not now; may be tried again.
    Hold,
    /// The user is asked.
    Confirm,
    /// Kept out of the context without a trace in it.
    Drop,
    /// Held out of use.
    Quarantine,
    /// Refused.
    Block,
    /// Recovery actions were taken.
    Act,
    /// The rollout is stopped.
    Abort,
}

/// What an agent is told when its call is denied. A short closed list: all that a model backend
/// ever learns of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DenialReason {
    /// The target is not authorised.
    TargetNotAuthorized,
    /// The action is outside the user's goal.
    OutsideUserGoal,
    /// Untrusted content reached a privileged action.
    TaintedPrivilegeJump,
    /// The user was to confirm and did not.
    ConfirmationRequired,
    /// Held at a checkpoint; may be tried again.
    CheckpointHold,
    /// The record is quarantined.
    MemoryQuarantined,
    /// A plugin failed and the call was refused for safety.
    PluginFault,
}

/// Whether a verdict follows from trace and configuration alone, or rests on a stand-in for a
/// detector, a planner or a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Basis {
    /// A pure function of trace and configuration.
    Exact,
    /// Rests on a stand-in.
    Assumed,
}

/// One piece of evidence for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Evidence {
    /// A node of the prefix.
    Node(NodeId),
    /// A source instance.
    Source(SourceId),
    /// An entry of the ledger, by position.
    LedgerEntry(u32),
    /// The ledger has no entry for this action.
    NoLedgerEntry,
}

/// What decided: the tool itself, its target, or one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DecidingField {
    /// The action type: the ledger has no entry for the tool.
    Action,
    /// The target.
    Target,
    /// The argument at this position.
    Argument(u16),
}

/// Why a verdict is what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The rule, a stable identifier that `explain` knows.
    pub rule: Cow<'static, str>,
    /// What the agent is told if this denies.
    pub denial: DenialReason,
    /// The fields that decided.
    pub fields: Vec<DecidingField>,
    /// The evidence.
    pub evidence: Vec<Evidence>,
    /// Exact or assumed.
    pub basis: Basis,
}

impl Reason {
    /// An exact reason without fields or evidence.
    #[must_use]
    pub const fn new(rule: &'static str, denial: DenialReason) -> Self {
        Self {
            rule: Cow::Borrowed(rule),
            denial,
            fields: Vec::new(),
            evidence: Vec::new(),
            basis: Basis::Exact,
        }
    }

    /// The reason of a hook that had nothing to say.
    #[must_use]
    pub const fn default_allow() -> Self {
        Self::new(DEFAULT_ALLOW, DenialReason::PluginFault)
    }

    /// The same reason with the fields that decided.
    #[must_use]
    pub fn with_fields(mut self, fields: impl IntoIterator<Item = DecidingField>) -> Self {
        self.fields.extend(fields);
        self
    }

    /// The same reason with evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// The same reason, marked as resting on a stand-in.
    #[must_use]
    pub fn assumed(mut self) -> Self {
        self.basis = Basis::Assumed;
        self
    }
}

/// A part of the rule of a ruling that would have needed a fact which is not there, for example an
/// argument that the call lacks. Joined to the rule by `+` where the ruling stands all the same. The
/// coverage of a shadow is the share of rulings without it.
pub const FACTS_MISSING: &str = "facts_missing";

/// Whether a policy from outside may call a rule so: 1 to 64 lower-case letters, digits and `_`.
/// `+` joins rules, so it stands in no name.
#[must_use]
pub fn is_rule_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// The rule of an allow that no policy made.
pub const DEFAULT_ALLOW: &str = "default_allow";

/// A verdict and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling<V> {
    /// The verdict.
    pub verdict: V,
    /// Why.
    pub reason: Reason,
}

impl<V> Ruling<V> {
    /// A ruling.
    #[must_use]
    pub const fn new(verdict: V, reason: Reason) -> Self {
        Self { verdict, reason }
    }
}
