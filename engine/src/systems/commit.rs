//! Commit: calls take effect, effects are undone. The effect itself is in `effect`, those on memory
//! in `memory`.

use std::sync::Arc;

use bevy_ecs::prelude::Query;
use plugins::briefing::Channel;
use plugins::ids::{CallId, SourceId};
use plugins::policy::{CommitVerdict, Hook, Proposal as Proposed, Verdict};
use plugins::predicate::CallView;
use plugins::tool::{Operation, ToolSpec};
use plugins::trace::{NodeDetail, Subject};

use super::authorize::{deny, hold};
use super::effect::{acknowledge, effect};
use super::entities::{Hands, Reach};
use super::hooks::{Ruled, ask, rule};
use super::memory;
use super::recover::undo;
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Phase};
use crate::components::call::{Proposal, Returned};
use crate::components::place::HeldCalls;
use crate::setup::{Guard, Prepared};
use crate::state::{Parts, State};

/// Runs the due event if it is a commit or an undo.
pub(crate) fn commit(state: &mut State, reach: Reach, mut held: Query<&mut HeldCalls>) {
    let Parts {
        mut stage,
        guard,
        identity,
        ..
    } = state.parts();
    let mut hands = reach.with(identity);
    match stage.take(Phase::Commit) {
        Some(AgendaEvent::Commit(call))
            if passes_barrier(&mut stage, guard, &mut hands, &mut held, call) =>
        {
            execute(&mut stage, guard, &mut hands, call);
        }
        Some(AgendaEvent::Undo(call)) => undo(&mut stage, &mut hands, call),
        _ => {}
    }
}

/// Asks `on_commit`, the last word before the effect; whether the call goes on.
fn passes_barrier(
    stage: &mut Stage,
    guard: &mut Guard,
    hands: &mut Hands,
    held: &mut Query<&mut HeldCalls>,
    call: CallId,
) -> bool {
    let (proposal, taint, _) = hands.proposals.read(hands.identity, call);
    let agent = proposal.agent;
    let ruling = ask(
        stage,
        guard,
        Hook::Commit,
        Some(agent),
        |policy, view, stage| {
            let under_decision = Proposed {
                call: &view.prefix.calls[call.index()],
                tool: &stage.setup.prepared.scenario.briefing.tools[proposal.tool.index()],
                arguments: &proposal.arguments,
                node: taint.node,
            };
            policy.on_commit(view, under_decision)
        },
    );
    if ruling.verdict == CommitVerdict::Allow {
        return true;
    }
    let proposal_node = hands.proposals.node(stage, hands.identity, call);
    let subject = Subject::Call(call);
    let node = stage.decision(subject, Some(agent), NodeDetail::Plain, &[proposal_node]);
    let (verdict, denial) = (ruling.verdict.kind(), ruling.reason.denial);
    let ruled = Ruled {
        hook: Hook::Commit,
        subject,
        verdict,
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
    if ruling.verdict == CommitVerdict::Hold
        && !hold(stage, hands.identity, &hands.proposals, held, call)
    {
        return true;
    }
    deny(stage, agent, call, denial);
    false
}

/// Executes a call by what its tool does.
fn execute(stage: &mut Stage, guard: &mut Guard, hands: &mut Hands, call: CallId) {
    let prepared = Arc::clone(&stage.setup.prepared);
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
    let spec = &prepared.scenario.briefing.tools[proposal.tool.index()];
    match spec.operation {
        Operation::ReadSource | Operation::ReturnSource(_) => {
            let source = readable_source(proposal, spec, &prepared);
            read_source(stage, hands, call, source, spec);
        }
        Operation::MemoryRead(store) => memory::read(stage, guard, hands, call, store, spec),
        Operation::Act => {
            effect(stage, hands, call, spec);
            acknowledge(stage, hands, call, spec);
        }
        Operation::MemoryWrite(store) | Operation::MemoryUpdate(store) => {
            memory::write(stage, guard, hands, call, store, spec);
        }
        Operation::MemoryDelete(store) => memory::delete(stage, hands, call, store, spec),
        Operation::MemoryRestore(store) => memory::restore(stage, hands, call, store, spec),
    }
}

/// The source that a read names, if it is a retrieved document or a tool result.
fn readable_source(proposal: &Proposal, spec: &ToolSpec, prepared: &Prepared) -> Option<SourceId> {
    let briefing = &prepared.scenario.briefing;
    let source = match spec.operation {
        Operation::ReturnSource(source) => source,
        _ => briefing.source_named(
            CallView {
                tool: spec,
                arguments: &proposal.arguments,
            }
            .target()?,
        )?,
    };
    let channel = briefing.sources[source.index()].channel;
    matches!(channel, Channel::RetrievedDocument | Channel::ToolResult).then_some(source)
}

fn read_source(
    stage: &mut Stage,
    hands: &mut Hands,
    call: CallId,
    source: Option<SourceId>,
    spec: &ToolSpec,
) {
    let Some(source) = source else {
        acknowledge(stage, hands, call, spec);
        return;
    };
    let agent = hands.proposals.read(hands.identity, call).0.agent;
    hands.sources.touch(stage, hands.identity, source, agent);
    let (mut proposal, _) = hands.proposals.get(hands.identity, call);
    proposal.returned = Some(Returned::Source(source));
    stage.schedule(
        proposal.agent,
        spec.latency_ticks.max(1),
        AgendaEvent::Result(call),
    );
}
