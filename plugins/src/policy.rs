//! The policy contract: hooks, what each of them sees, and the reason that every verdict names. The
//! verdicts themselves are in [`crate::verdict`].
//!
//! A policy is a pure function of its saved state and its input. It sees the prefix of the trace
//! up to the moment it is asked and nothing later; its only randomness is [`Draws`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::action::{Argument, Call};
use crate::briefing::Briefing;
use crate::draws::Draws;
use crate::ids::{AgentId, CallId, NodeId, RecordId, SourceId, StoreId};
use crate::label::{LabelId, LabelTable};
use crate::ledger::CallView;
use crate::state::SavedState;
use crate::tool::ToolSpec;
use crate::trace::Prefix;
use crate::value::Content;
pub use crate::verdict::{
    CommitVerdict, InflowVerdict, MemoryVerdict, PromptEdit, PromptVerdict, ProposalVerdict,
    RecoveryAction, RecoveryVerdict, Relabel, SessionVerdict, Verdict, VerdictKind, relabelled,
};

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

/// What every hook can see.
pub struct View<'a> {
    /// The trusted inputs.
    pub briefing: &'a Briefing,
    /// The trace up to now.
    pub prefix: Prefix<'a>,
    /// The labels behind the ids.
    pub labels: &'a LabelTable,
    /// Now, in ticks.
    pub tick: u64,
    /// The episode, from 0.
    pub episode: u32,
    /// Keyed randomness for stand-ins; every draw is recorded in the trace.
    pub draws: &'a mut Draws,
}

impl View<'_> {
    /// Whether content of an untrusted source flowed into the value labelled `label`.
    #[must_use]
    pub fn tainted(&self, label: LabelId) -> bool {
        self.labels.get(label).carries(&self.briefing.untrusted)
    }
}

/// A call under decision.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// The call.
    pub call: &'a Call,
    /// Its tool.
    pub tool: &'a ToolSpec,
    /// Its arguments as they would commit: after any rewrite.
    pub arguments: &'a [Argument],
    /// Its proposal node; none for a read.
    pub node: Option<NodeId>,
}

impl<'a> Proposal<'a> {
    /// The call as the ledger predicates see it.
    #[must_use]
    pub const fn view(&self) -> CallView<'a> {
        CallView {
            tool: self.tool,
            arguments: self.arguments,
        }
    }
}

/// Content about to enter a context.
#[derive(Clone, Copy, Debug)]
pub struct Inflow<'a> {
    /// Into whose context.
    pub agent: AgentId,
    /// From which agent; none for tool results and injected messages.
    pub from: Option<AgentId>,
    /// What it says.
    pub content: &'a Content,
    /// The exact label of each field.
    pub labels: &'a [LabelId],
    /// The recorded label of the node it comes from.
    pub recorded: LabelId,
    /// The node it comes from.
    pub node: Option<NodeId>,
}

/// A record about to be stored or returned.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    /// The record; for a write, the one that will be created.
    pub record: RecordId,
    /// The store.
    pub store: StoreId,
    /// Its key.
    pub key: &'a str,
    /// What it says.
    pub content: &'a Content,
    /// The exact label of each field.
    pub labels: &'a [LabelId],
    /// The recorded label of its node.
    pub recorded: LabelId,
    /// Whose access it is.
    pub agent: Option<AgentId>,
    /// The call, unless the store persists automatically.
    pub call: Option<CallId>,
}

/// A recovery step that just ran.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryNotice<'a> {
    /// The step of the scenario, by position.
    pub step: u32,
    /// What the scenario did.
    pub kind: crate::trace::RecoveryKind,
    /// The source that was revoked, if it was a revocation.
    pub revoked: Option<SourceId>,
    /// The live records of persistent stores, ascending by id.
    pub records: &'a [RecordSummary],
}

/// A live record as recovery sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSummary {
    /// The record.
    pub record: RecordId,
    /// Its store.
    pub store: StoreId,
    /// The call that stored it, if one did.
    pub call: Option<CallId>,
    /// Its recorded label.
    pub recorded: LabelId,
    /// Whether an earlier trusted version can be put back.
    pub has_backup: bool,
}

/// A defence.
///
/// Every hook defaults to doing nothing. Hooks that are not in [`Policy::hooks`] are never called.
pub trait Policy: SavedState + Send {
    /// The hooks that this policy uses. Constant over its life.
    fn hooks(&self) -> Hooks;

    /// An episode begins. Only trusted inputs exist yet.
    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        let _ = view;
        Ruling::<SessionVerdict>::neutral()
    }

    /// `agent`'s model is about to be called with `segments` segments of context.
    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[crate::model::Segment],
    ) -> Ruling<PromptVerdict> {
        let _ = (view, agent, segments);
        Ruling::<PromptVerdict>::neutral()
    }

    /// A tool result is about to enter a context.
    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        let _ = (view, inflow);
        Ruling::<InflowVerdict>::neutral()
    }

    /// A message is about to be delivered.
    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        let _ = (view, inflow);
        Ruling::<InflowVerdict>::neutral()
    }

    /// A valid call is to be authorised.
    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let _ = (view, proposal);
        Ruling::<ProposalVerdict>::neutral()
    }

    /// A record is about to be stored.
    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let _ = (view, record);
        Ruling::<MemoryVerdict>::neutral()
    }

    /// A record is about to be returned.
    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let _ = (view, record);
        Ruling::<MemoryVerdict>::neutral()
    }

    /// The precommit barrier: the last word before the effect.
    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        let _ = (view, proposal);
        Ruling::<CommitVerdict>::neutral()
    }

    /// A recovery step ran.
    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        let _ = (view, notice);
        Ruling::<RecoveryVerdict>::neutral()
    }
}
