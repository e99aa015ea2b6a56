//! What recovery acts on.

use std::collections::BTreeSet;

use plugins::ids::CallId;
use plugins::label::LabelId;
use plugins::policy::{RecoveryAction, RecoveryNotice, RecoveryVerdict};
use plugins::tool::Undo;
use plugins::trace::Happening;

use crate::answer::{Action, ActionKind, Affected};
use crate::scene::Scene;

/// The actions that have something to act on, in order; nothing if none has.
pub(crate) fn verdict(
    actions: &[Action],
    notice: &RecoveryNotice<'_>,
    scene: &Scene<'_>,
) -> RecoveryVerdict {
    let acts: Vec<RecoveryAction> = actions
        .iter()
        .filter_map(|action| act(*action, notice, scene))
        .collect();
    if acts.is_empty() {
        RecoveryVerdict::Pass
    } else {
        RecoveryVerdict::Act(acts)
    }
}

fn act(action: Action, notice: &RecoveryNotice<'_>, scene: &Scene<'_>) -> Option<RecoveryAction> {
    let is_affected = |label: LabelId| match action.of {
        Affected::Everything => true,
        Affected::Tainted => scene.label(label).carries(&scene.briefing.untrusted),
        Affected::Revoked => notice
            .revoked
            .is_some_and(|source| scene.label(label).sources.contains(source.0)),
    };
    let records = || {
        let records = notice.records.iter();
        let affected = records.filter(|record| {
            is_affected(record.recorded)
                && (action.what != ActionKind::Restore || record.has_backup)
        });
        let ids: Vec<_> = affected.map(|record| record.record).collect();
        (!ids.is_empty()).then_some(ids)
    };
    match action.what {
        ActionKind::Scrub => records().map(RecoveryAction::Scrub),
        ActionKind::Quarantine => records().map(RecoveryAction::Quarantine),
        ActionKind::Restore => records().map(RecoveryAction::Restore),
        ActionKind::Rollback => {
            let calls = reversible(scene, is_affected);
            (!calls.is_empty()).then_some(RecoveryAction::Rollback(calls))
        }
    }
}

/// The committed calls that can be undone and are not, latest first.
fn reversible(scene: &Scene<'_>, is_affected: impl Fn(LabelId) -> bool) -> Vec<CallId> {
    let events = scene.prefix.events.iter();
    let undone: BTreeSet<CallId> = events
        .filter_map(|event| match event.what {
            Happening::Undone { call, .. } => Some(call),
            _ => None,
        })
        .collect();
    let can_be = |tool: plugins::ids::ToolId| {
        let spec = scene.briefing.tools.get(tool.index());
        spec.is_some_and(|spec| matches!(spec.undo, Undo::Inverse(_)))
    };
    let mut calls: Vec<CallId> = scene
        .prefix
        .commits()
        .map(|(call, _)| call)
        .filter(|call| can_be(call.tool) && is_affected(call.recorded))
        .map(|call| call.id)
        .filter(|call| !undone.contains(call))
        .collect();
    calls.reverse();
    calls
}
