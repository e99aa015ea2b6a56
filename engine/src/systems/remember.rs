//! Remember: automatic persistence, recovery steps and what the policy does in recovery.

use std::sync::Arc;

use bevy_ecs::prelude::ResMut;
use plugins::policy::{Hook, MemoryVerdict, Verdict};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Subject};

use super::commit::Hands;
use super::hooks::{Flow, Ruled, ask_user, quarantine_detail, relabel, rule};
use super::memory::{Writing, ask_write, refusing_filter};
use super::params::{Records, Stage};
use super::recover::{act, recover};
use crate::agenda::{AgendaEvent, Persisting, Phase};
use crate::components::memory::Record;
use crate::recorder::NewNode;
use crate::setup::Guard;

/// Runs the due event if it is about memory.
pub(crate) fn remember(mut stage: Stage, mut guard: ResMut<Guard>, mut hands: Hands) {
    match stage.take(Phase::Remember) {
        Some(AgendaEvent::Persist(persisting)) => {
            persist(&mut stage, &mut guard, &mut hands, *persisting)
        }
        Some(AgendaEvent::Recover(step)) => recover(&mut stage, &mut guard, &mut hands, step),
        Some(AgendaEvent::Act(step, action)) => act(&mut stage, &mut hands, step, *action),
        _ => {}
    }
}

/// A store persists an observation without being called (METRICS 1, automatic persistence).
fn persist(
    stage: &mut Stage,
    guard: &mut ResMut<Guard>,
    hands: &mut Hands,
    persisting: Persisting,
) {
    let Persisting {
        agent,
        store,
        content,
        labels,
        state,
    } = persisting;
    let recorded = stage.recorder.recorded(state);
    let key = hands
        .records
        .automatic_key(stage, &hands.identity, store, agent);
    if let Some(filter) = refusing_filter(stage, store, &key, recorded) {
        stage.happen(Some(agent), Happening::Filtered { store, filter });
        return;
    }
    let mut flow = Flow {
        content,
        labels,
        recorded,
        taint: true,
    };
    let writing = Writing {
        call: None,
        agent,
        store,
        key: &key,
    };
    let ruling = ask_write(stage, guard, &hands.identity, &writing, &flow);
    let verdict = ruling.verdict.kind();
    let is_stored = match &ruling.verdict {
        MemoryVerdict::Block => false,
        MemoryVerdict::Confirm => ask_user(
            stage,
            guard,
            Some(agent),
            Subject::Record(Records::next_id(&hands.identity)),
            false,
        ),
        _ => true,
    };
    if !is_stored {
        let subject = Subject::Agent(agent);
        let node = stage.decision(subject, Some(agent), NodeDetail::Plain, &[state]);
        let ruled = Ruled {
            hook: Hook::MemoryWrite,
            subject,
            verdict,
            reason: ruling.reason,
            node: Some(node),
        };
        rule(
            stage,
            &mut hands.identity,
            &mut hands.decisions,
            Some(agent),
            ruled,
        );
        return;
    }
    let id = Records::next_id(&hands.identity);
    let subject = Subject::Record(id);
    if let MemoryVerdict::Relabel(change) = &ruling.verdict {
        flow = relabel(stage, Some(agent), subject, flow, change);
    }
    let exact = stage.recorder.join_all(flow.labels.iter().copied());
    let node = stage.node(
        NewNode::new(NodeKind::Memory, subject)
            .agent(agent)
            .exact(exact),
    );
    stage
        .recorder
        .edge_carrying(state, node, EdgeKind::Data, flow.taint, flow.recorded);
    let new = Record {
        store,
        key: key.into(),
        content: Arc::clone(&flow.content),
        labels: flow.labels,
        quarantined: verdict == plugins::policy::VerdictKind::Quarantine,
        ..Record::default()
    };
    hands
        .records
        .store(stage, &mut hands.identity, Some(agent), new, node);
    let decision = stage.decision(subject, Some(agent), quarantine_detail(verdict), &[node]);
    let ruled = Ruled {
        hook: Hook::MemoryWrite,
        subject,
        verdict,
        reason: ruling.reason,
        node: Some(decision),
    };
    rule(
        stage,
        &mut hands.identity,
        &mut hands.decisions,
        Some(agent),
        ruled,
    );
}
