//! Recovery: steps of the scenario, actions of the policy, undone effects.

use std::sync::Arc;

use plugins::ids::{CallId, NodeId, RecordId};
use plugins::policy::{
    Hook, RecordSummary, RecoveryAction, RecoveryNotice, RecoveryVerdict, Ruling, Verdict,
    VerdictKind,
};
use plugins::tool::Undo;
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, RecoveryKind, Subject};
use worlds::spec::{MemoryMode, RecoveryOperation, RecoveryScope};

use super::backup::{backup_of, put_back};
use super::entities::Hands;
use super::hooks::{Ruled, ask, rule};
use super::stage::Stage;
use crate::agenda::AgendaEvent;
use crate::components::call::Decision;
use crate::recorder::NewNode;
use crate::setup::Guard;

/// A recovery step of the scenario runs, then the policy may act.
pub(crate) fn recover(stage: &mut Stage, guard: &mut Guard, hands: &mut Hands, step: u32) {
    let prepared = Arc::clone(&stage.setup.prepared);
    let operation = &prepared.scenario.recovery[step as usize].operation;
    let mut revoked = None;
    let kind = match operation {
        RecoveryOperation::Scrub(scope) => {
            let victims = labelled_in_scope(stage, hands, scope);
            scrub(stage, hands, Cause::step(step), &victims);
            RecoveryKind::Scrub
        }
        RecoveryOperation::Restore(scope) => {
            let victims = labelled_in_scope(stage, hands, scope);
            restore(stage, hands, Cause::step(step), &victims);
            RecoveryKind::Restore
        }
        RecoveryOperation::Quarantine(scope) => {
            let victims = labelled_in_scope(stage, hands, scope);
            quarantine(stage, hands, Cause::step(step), &victims);
            RecoveryKind::Quarantine
        }
        RecoveryOperation::Revoke(source) => {
            revoked = Some(*source);
            let what = Happening::Recovered {
                step: Some(step),
                kind: RecoveryKind::Revoke,
                node: None,
                removed: Vec::new(),
            };
            stage.happen(None, what);
            RecoveryKind::Revoke
        }
    };
    let records = summaries(stage, hands);
    let ruling = ask(stage, guard, Hook::Recovery, None, |policy, view, _| {
        policy.on_recovery(
            view,
            RecoveryNotice {
                step,
                kind,
                revoked,
                records: &records,
            },
        )
    });
    schedule_actions(stage, hands, step, ruling);
}

/// Records what the policy wants done, and schedules it one tick later.
fn schedule_actions(
    stage: &mut Stage,
    hands: &mut Hands,
    step: u32,
    ruling: Ruling<RecoveryVerdict>,
) {
    let verdict = ruling.verdict.kind();
    let RecoveryVerdict::Act(actions) = ruling.verdict else {
        return;
    };
    let ruled = Ruled {
        hook: Hook::Recovery,
        subject: Subject::Step(step),
        verdict,
        reason: ruling.reason,
        node: None,
    };
    rule(stage, hands.identity, &mut hands.decisions, None, ruled);
    for action in actions {
        match action {
            RecoveryAction::Rollback(calls) => {
                for call in calls {
                    stage.schedule_system(1, AgendaEvent::Undo(call));
                }
            }
            other => stage.schedule_system(1, AgendaEvent::Act(step, Box::new(other))),
        }
    }
}

/// A recovery action of the policy: as the step of that kind, on the records it names.
pub(crate) fn act(stage: &mut Stage, hands: &mut Hands, step: u32, action: RecoveryAction) {
    let cause = Cause {
        step: None,
        subject: step,
    };
    match action {
        RecoveryAction::Scrub(records) => {
            let victims = readable_of(hands, records);
            scrub(stage, hands, cause, &victims);
        }
        RecoveryAction::Quarantine(records) => {
            let victims = readable_of(hands, records);
            quarantine(stage, hands, cause, &victims);
        }
        RecoveryAction::Restore(records) => {
            let victims = readable_of(hands, records);
            restore(stage, hands, cause, &victims);
        }
        RecoveryAction::Rollback(_) => {}
    }
}

/// What makes a recovery run: a step of the scenario, or the policy's answer to one.
#[derive(Clone, Copy)]
struct Cause {
    step: Option<u32>,
    subject: u32,
}

impl Cause {
    const fn step(step: u32) -> Self {
        Self {
            step: Some(step),
            subject: step,
        }
    }
}

/// Live unquarantined records in scope whose recorded label is tainted, ascending.
fn labelled_in_scope(stage: &Stage, hands: &Hands, scope: &RecoveryScope) -> Vec<RecordId> {
    hands
        .records
        .all(hands.identity)
        .filter(|(record, taint)| {
            record.readable()
                && scope.covers(record.store, &record.key)
                && stage.tainted(taint.recorded)
        })
        .map(|(record, _)| record.record)
        .collect()
}

/// Those of `records` that exist, are live and not quarantined; each once, ascending.
fn readable_of(hands: &Hands, mut records: Vec<RecordId>) -> Vec<RecordId> {
    records.sort_unstable();
    records.dedup();
    let used = hands.identity.records.used();
    records.retain(|record| {
        record.index() < used && hands.records.read(hands.identity, *record).0.readable()
    });
    records
}

/// The decision node of a recovery, with an edge from every victim.
fn decide_on(
    stage: &mut Stage,
    hands: &mut Hands,
    cause: Cause,
    detail: NodeDetail,
    victims: &[RecordId],
) -> NodeId {
    let origins: Vec<NodeId> = victims
        .iter()
        .map(|&victim| hands.records.touch(stage, hands.identity, victim, None))
        .collect();
    let subject = Subject::Step(cause.subject);
    let node = stage.decision(subject, None, detail, &origins);
    hands.decisions.add(
        hands.identity,
        Decision {
            hook: None,
            subject,
            verdict: VerdictKind::Act,
            node,
        },
    );
    node
}

fn recovered(
    stage: &mut Stage,
    cause: Cause,
    kind: RecoveryKind,
    node: NodeId,
    victims: &[RecordId],
) {
    stage.happen(
        None,
        Happening::Recovered {
            step: cause.step,
            kind,
            node: Some(node),
            removed: victims.to_vec(),
        },
    );
}

fn scrub(stage: &mut Stage, hands: &mut Hands, cause: Cause, victims: &[RecordId]) {
    let node = decide_on(stage, hands, cause, NodeDetail::Scrub, victims);
    recovered(stage, cause, RecoveryKind::Scrub, node, victims);
    for &victim in victims {
        hands
            .records
            .remove(stage, hands.identity, None, victim, cause.step);
    }
}

fn quarantine(stage: &mut Stage, hands: &mut Hands, cause: Cause, victims: &[RecordId]) {
    let node = decide_on(stage, hands, cause, NodeDetail::Quarantine, victims);
    recovered(stage, cause, RecoveryKind::Quarantine, node, victims);
    for &victim in victims {
        hands.records.get(hands.identity, victim).0.quarantined = true;
        stage.happen(None, Happening::Quarantined { record: victim });
    }
}

fn restore(stage: &mut Stage, hands: &mut Hands, cause: Cause, labelled: &[RecordId]) {
    let mut victims = Vec::new();
    let mut backups = Vec::new();
    for &record in labelled {
        let (state, _) = hands.records.read(hands.identity, record);
        if let Some(backup) = backup_of(stage, state.store, &state.key) {
            victims.push(record);
            backups.push(backup);
        }
    }
    let node = decide_on(stage, hands, cause, NodeDetail::Restore, &victims);
    recovered(stage, cause, RecoveryKind::Restore, node, &victims);
    for &victim in &victims {
        hands
            .records
            .remove(stage, hands.identity, None, victim, cause.step);
    }
    for backup in backups {
        put_back(
            stage,
            &mut hands.records,
            hands.identity,
            None,
            backup,
            None,
            None,
        );
    }
}

/// What the policy learns of the live records of persistent stores.
fn summaries(stage: &Stage, hands: &Hands) -> Vec<RecordSummary> {
    let is_persistent = |record: &crate::components::memory::Record| {
        stage.scenario().stores[record.store.index()].mode == MemoryMode::Persistent
    };
    let live = hands
        .records
        .all(hands.identity)
        .filter(|(record, _)| record.live && is_persistent(record));
    live.map(|(record, taint)| RecordSummary {
        record: record.record,
        store: record.store,
        call: record.call,
        recorded: taint.recorded,
        has_backup: backup_of(stage, record.store, &record.key).is_some(),
    })
    .collect()
}

/// A compensating action undoes a committed effect. It is the system's, so it is no proposal.
pub(crate) fn undo(stage: &mut Stage, hands: &mut Hands, call: CallId) {
    if call.index() >= hands.identity.proposals.used() {
        return;
    }
    let (proposal, _, authorisation) = hands.proposals.read(hands.identity, call);
    let spec = &stage.scenario().briefing.tools[proposal.tool.index()];
    let (Some(effect), Undo::Inverse(_), false) =
        (authorisation.effect, spec.undo, authorisation.undone)
    else {
        return;
    };
    let is_memory = spec.operation.written_store().is_some();
    let (stored, replaced) = (proposal.stored, proposal.replaced);
    let live = stored.filter(|&record| hands.records.read(hands.identity, record).0.live);
    if is_memory && live.is_none() && replaced.is_none() {
        return;
    }
    let origin = match stored {
        Some(record) => Some(hands.records.touch(stage, hands.identity, record, None)),
        None if is_memory => None,
        None => Some(effect),
    };
    let subject = Subject::Call(call);
    let decision = stage.decision(subject, None, NodeDetail::Undo, origin.as_slice());
    hands.decisions.add(
        hands.identity,
        Decision {
            hook: None,
            subject,
            verdict: VerdictKind::Act,
            node: decision,
        },
    );
    let removed = live.into_iter().collect();
    stage.happen(
        None,
        Happening::Recovered {
            step: None,
            kind: RecoveryKind::Undo,
            node: Some(decision),
            removed,
        },
    );
    if let Some(record) = live {
        hands
            .records
            .remove(stage, hands.identity, None, record, None);
    }
    let compensation = stage.node(NewNode::new(NodeKind::SideEffect, subject));
    stage.happen(
        None,
        Happening::Undone {
            call,
            node: compensation,
        },
    );
    if let Some(earlier) = replaced.filter(|_| is_memory) {
        let cause = Some((compensation, EdgeKind::Data, true));
        put_back(
            stage,
            &mut hands.records,
            hands.identity,
            None,
            earlier,
            cause,
            None,
        );
    }
}
