//! Whether what a verdict refers to exists.

use crate::briefing::Briefing;
use crate::ids::{CallId, RecordId, ToolId};
use crate::policy::{
    DecidingField, Evidence, PromptVerdict, ProposalVerdict, Reason, RecordSummary, RecoveryAction,
    RecoveryVerdict, SessionVerdict,
};
use crate::tool::ToolSpec;
use crate::trace::Prefix;

/// The first thing in `reason` that does not exist.
pub(super) fn in_reason(
    reason: &Reason,
    briefing: &Briefing,
    prefix: Prefix<'_>,
    tool: Option<&ToolSpec>,
) -> Option<String> {
    let evidence = reason.evidence.iter().find(|evidence| match evidence {
        Evidence::Node(node) => node.index() >= prefix.nodes.len(),
        Evidence::Source(source) => source.index() >= briefing.sources.len(),
        Evidence::LedgerEntry(entry) => *entry as usize >= briefing.ledger.entries.len(),
        Evidence::NoLedgerEntry => false,
    });
    let field = reason.fields.iter().find(|field| match (field, tool) {
        (DecidingField::Argument(position), Some(tool)) => !has_argument(tool, *position),
        _ => false,
    });
    evidence
        .map(|evidence| format!("{evidence:?}"))
        .or_else(|| field.map(|field| format!("{field:?}")))
}

/// The first agent or tool that is masked and does not exist.
pub(super) fn in_session(verdict: &SessionVerdict, briefing: &Briefing) -> Option<String> {
    let SessionVerdict::MaskTools(masked) = verdict else {
        return None;
    };
    masked
        .iter()
        .find(|(agent, tool)| agent.index() >= briefing.agents.len() || !has_tool(briefing, *tool))
        .map(|pair| format!("{pair:?}"))
}

/// The first segment or tool that is edited and does not exist.
pub(super) fn in_prompt(
    verdict: &PromptVerdict,
    segments: usize,
    briefing: &Briefing,
) -> Option<String> {
    let PromptVerdict::Edit(edit) = verdict else {
        return None;
    };
    let mut positions = edit.drop.iter().chain(&edit.mark);
    let position = positions.find(|&&position| position as usize >= segments);
    let tool = edit.mask.iter().find(|&&tool| !has_tool(briefing, tool));
    position
        .map(|position| format!("segment {position}"))
        .or_else(|| tool.map(|tool| format!("{tool:?}")))
}

/// The first argument that is rewritten and that the tool lacks.
pub(super) fn in_proposal(verdict: &ProposalVerdict, tool: &ToolSpec) -> Option<String> {
    let ProposalVerdict::Rewrite(changes) = verdict else {
        return None;
    };
    let mut positions = changes.iter().map(|(position, _)| *position);
    positions
        .find(|&position| !has_argument(tool, position))
        .map(|position| format!("argument {position}"))
}

/// The first record or call that is acted on and does not exist.
pub(super) fn in_recovery(
    verdict: &RecoveryVerdict,
    records: &[RecordSummary],
    prefix: Prefix<'_>,
) -> Option<String> {
    let RecoveryVerdict::Act(actions) = verdict else {
        return None;
    };
    let stray_record = |ids: &[RecordId]| {
        ids.iter()
            .find(|&&id| !records.iter().any(|record| record.record == id))
            .map(|id| format!("{id:?}"))
    };
    let stray_call = |ids: &[CallId]| {
        ids.iter()
            .find(|&&id| prefix.call(id).is_none())
            .map(|id| format!("{id:?}"))
    };
    actions.iter().find_map(|action| match action {
        RecoveryAction::Scrub(ids)
        | RecoveryAction::Quarantine(ids)
        | RecoveryAction::Restore(ids) => stray_record(ids),
        RecoveryAction::Rollback(ids) => stray_call(ids),
    })
}

fn has_argument(tool: &ToolSpec, position: u16) -> bool {
    usize::from(position) < tool.arguments.len()
}

fn has_tool(briefing: &Briefing, tool: ToolId) -> bool {
    tool.index() < briefing.tools.len()
}
