//! The policy contract: hooks, and what each of them sees. What they answer is in
//! [`crate::verdict`], and the reason that every verdict names in [`crate::reason`].
//!
//! A policy is a pure function of its saved state and its input. It sees the prefix of the trace
//! up to the moment it is asked and nothing later; its only randomness is [`Draws`].

use crate::action::{Argument, Call};
use crate::briefing::Briefing;
use crate::compose::shadow::ShadowLog;
use crate::draws::Draws;
use crate::ids::{AgentId, CallId, NodeId, RecordId, SourceId, StoreId};
use crate::label::{LabelId, LabelTable};
use crate::predicate::CallView;
pub use crate::reason::{
    Basis, DEFAULT_ALLOW, DecidingField, DenialReason, Evidence, FACTS_MISSING, Hook, Hooks,
    Reason, Ruling, VerdictKind, is_rule_name,
};
use crate::state::SavedState;
use crate::tool::ToolSpec;
use crate::trace::Prefix;
use crate::value::Content;
pub use crate::verdict::{
    CommitVerdict, InflowVerdict, MemoryVerdict, PromptEdit, PromptVerdict, ProposalVerdict,
    RecoveryAction, RecoveryVerdict, Relabel, SessionVerdict, Verdict, relabelled,
};

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

    /// The hooks at which its rulings can make a difference: those of [`Policy::hooks`], but for a
    /// policy that merely watches at some. The fork point of a rollout follows from these.
    fn enforced_hooks(&self) -> Hooks {
        self.hooks()
    }

    /// What a policy in its shadow would have ruled, if there is one.
    fn shadow_log(&self) -> Option<&ShadowLog> {
        None
    }

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
