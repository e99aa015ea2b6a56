//! Remember: automatic persistence, recovery steps and what the policy does in recovery.

use std::sync::Arc;

use plugins::ids::{AgentId, NodeId};
use plugins::policy::{Hook, MemoryVerdict, Ruling, Verdict, VerdictKind};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Subject};

use super::entities::{Hands, Reach, Records};
use super::hooks::{Flow, Ruled, ask_user, quarantine_detail, relabel, rule};
use super::memory::{Writing, ask_write, refusing_filter};
use super::recover::{act, recover};
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Persisting, Phase};
use crate::components::memory::Record;
use crate::recorder::NewNode;
use crate::setup::Guard;
use crate::state::{Parts, State};

/// Runs the due event if it is about memory.
pub(crate) fn remember(state: &mut State, reach: Reach) {
    let Parts {
        mut stage,
        guard,
        identity,
        ..
    } = state.parts();
    let mut hands = reach.with(identity);
    match stage.take(Phase::Remember) {
        Some(AgendaEvent::Persist(persisting)) => {
            persist(&mut stage, guard, &mut hands, *persisting);
        }
        Some(AgendaEvent::Recover(step)) => recover(&mut stage, guard, &mut hands, step),
        Some(AgendaEvent::Act(step, action)) => act(&mut stage, &mut hands, step, *action),
        _ => {}
    }
}

/// A store persists an observation without being called (`docs/SEMANTICS.md`, section 4).
fn persist(stage: &mut Stage, guard: &mut Guard, hands: &mut Hands, persisting: Persisting) {
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
        .automatic_key(stage, hands.identity, store, agent);
    if let Some(filter) = refusing_filter(stage, store, &key, recorded) {
        stage.happen(Some(agent), Happening::Filtered { store, filter });
        return;
    }
    let flow = Flow {
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
    let ruling = ask_write(stage, guard, hands.identity, &writing, &flow);
    let is_stored = match &ruling.verdict {
        MemoryVerdict::Block => false,
        MemoryVerdict::Confirm => {
            let subject = Subject::Record(Records::next_id(hands.identity));
            ask_user(stage, guard, Some(agent), subject, false)
        }
        _ => true,
    };
    if is_stored {
        store_automatically(stage, hands, &writing, flow, state, ruling);
    } else {
        let subject = Subject::Agent(agent);
        let node = stage.decision(subject, Some(agent), NodeDetail::Plain, &[state]);
        rule_on_write(stage, hands, agent, subject, ruling, node);
    }
}

/// The record and, under it, the decision, which is there under every policy.
fn store_automatically(
    stage: &mut Stage,
    hands: &mut Hands,
    writing: &Writing,
    mut flow: Flow,
    state: NodeId,
    ruling: Ruling<MemoryVerdict>,
) {
    let agent = writing.agent;
    let subject = Subject::Record(Records::next_id(hands.identity));
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
    let verdict = ruling.verdict.kind();
    let new = Record {
        store: writing.store,
        key: writing.key.into(),
        content: Arc::clone(&flow.content),
        labels: flow.labels,
        quarantined: verdict == VerdictKind::Quarantine,
        ..Record::default()
    };
    hands
        .records
        .store(stage, hands.identity, Some(agent), new, node);
    let decision = stage.decision(subject, Some(agent), quarantine_detail(verdict), &[node]);
    rule_on_write(stage, hands, agent, subject, ruling, decision);
}

fn rule_on_write(
    stage: &mut Stage,
    hands: &mut Hands,
    agent: AgentId,
    subject: Subject,
    ruling: Ruling<MemoryVerdict>,
    node: NodeId,
) {
    let ruled = Ruled {
        hook: Hook::MemoryWrite,
        subject,
        verdict: ruling.verdict.kind(),
        reason: ruling.reason,
        node: Some(node),
    };
    rule(
        stage,
        hands.identity,
        &mut hands.decisions,
        Some(agent),
        ruled,
    );
}
