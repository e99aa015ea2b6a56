//! What stands in the place of an answer that a plugin could not give.
//!
//! A plugin that fails is never taken for one that allows: each hook has the most restrictive answer
//! that lets the rollout go on, under the rule [`PLUGIN_FAULT`].

use crate::ids::{AgentId, RecordId, ToolId};
use crate::model::Segment;
use crate::policy::{
    CommitVerdict, DenialReason, InflowVerdict, MemoryVerdict, PromptEdit, PromptVerdict,
    ProposalVerdict, Reason, RecoveryAction, RecoveryNotice, RecoveryVerdict, Ruling,
    SessionVerdict, View,
};

/// The rule of a refusal because a plugin failed: it crashed, was too slow, or answered what is no
/// answer.
pub const PLUGIN_FAULT: &str = "plugin_fault";

/// The reason of every answer here.
#[must_use]
pub const fn reason() -> Reason {
    Reason::new(PLUGIN_FAULT, DenialReason::PluginFault)
}

/// Hides every tool from every agent for the episode.
#[must_use]
pub fn on_session(view: &View<'_>) -> Ruling<SessionVerdict> {
    let agents = view.briefing.agents.iter().enumerate();
    let hidden = agents.flat_map(|(agent, info)| {
        let tools = info.tools.iter();
        tools.map(move |&tool| (AgentId::at(agent), tool))
    });
    Ruling::new(SessionVerdict::MaskTools(hidden.collect()), reason())
}

/// Hides every tool from the agent for this call, and every segment but the goal's from its eyes.
#[must_use]
pub fn on_prompt(view: &View<'_>, segments: &[Segment]) -> Ruling<PromptVerdict> {
    let content = (0..)
        .zip(segments)
        .filter(|(_, segment)| !matches!(segment.kind, crate::model::SegmentKind::Goal));
    let edit = PromptEdit {
        drop: content.map(|(position, _)| position).collect(),
        mask: (0..view.briefing.tools.len()).map(ToolId::at).collect(),
        ..PromptEdit::default()
    };
    Ruling::new(PromptVerdict::Edit(edit), reason())
}

/// Keeps the content out.
#[must_use]
pub const fn on_inflow() -> Ruling<InflowVerdict> {
    Ruling::new(InflowVerdict::Quarantine, reason())
}

/// Refuses the call.
#[must_use]
pub const fn on_proposal() -> Ruling<ProposalVerdict> {
    Ruling::new(ProposalVerdict::Block, reason())
}

/// Refuses the access.
#[must_use]
pub const fn on_memory() -> Ruling<MemoryVerdict> {
    Ruling::new(MemoryVerdict::Block, reason())
}

/// Refuses the call after all.
#[must_use]
pub const fn on_commit() -> Ruling<CommitVerdict> {
    Ruling::new(CommitVerdict::Block, reason())
}

/// Holds every record out of use into which untrusted content flowed.
#[must_use]
pub fn on_recovery(view: &View<'_>, notice: RecoveryNotice<'_>) -> Ruling<RecoveryVerdict> {
    let records = notice.records.iter();
    let tainted = records.filter(|record| view.tainted(record.recorded));
    let tainted: Vec<RecordId> = tainted.map(|record| record.record).collect();
    let verdict = if tainted.is_empty() {
        RecoveryVerdict::Pass
    } else {
        RecoveryVerdict::Act(vec![RecoveryAction::Quarantine(tainted)])
    };
    Ruling::new(verdict, reason())
}
