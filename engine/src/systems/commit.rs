//! Commit: calls take effect, effects are undone. Memory effects are in `memory`.

use std::sync::Arc;

use bevy_ecs::prelude::{Query, ResMut};
use plugins::action::Argument;
use plugins::briefing::Channel;
use plugins::ids::{AgentId, CallId, NodeId, SourceId};
use plugins::label::LabelId;
use plugins::policy::{CommitVerdict, Hook, Proposal as Proposed, Verdict};
use plugins::tool::{Operation, Role, ToolSpec};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Subject};

use super::authorize::{deny, hold};
use super::hooks::{Ruled, ask, rule};
use super::memory;
use super::params::{Agents, Decisions, Proposals, Records, Sources, Stage};
use super::recover::undo;
use crate::agenda::{AgendaEvent, Phase};
use crate::components::call::{Proposal, Returned};
use crate::components::place::HeldCalls;
use crate::identity::Identity;
use crate::recorder::NewNode;
use crate::referent;
use crate::setup::{Guard, Prepared};

/// The entities that a commit can touch.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct Hands<'w, 's> {
    pub(crate) identity: ResMut<'w, Identity>,
    pub(crate) agents: Agents<'w, 's>,
    pub(crate) sources: Sources<'w, 's>,
    pub(crate) records: Records<'w, 's>,
    pub(crate) proposals: Proposals<'w, 's>,
    pub(crate) decisions: Decisions<'w, 's>,
}

/// Runs the due event if it is a commit or an undo.
pub(crate) fn commit(
    mut stage: Stage,
    mut guard: ResMut<Guard>,
    mut hands: Hands,
    mut held: Query<&mut HeldCalls>,
) {
    match stage.take(Phase::Commit) {
        Some(AgendaEvent::Commit(call)) => {
            if passes_barrier(&mut stage, &mut guard, &mut hands, &mut held, call) {
                execute(&mut stage, &mut guard, &mut hands, call);
            }
        }
        Some(AgendaEvent::Undo(call)) => undo(&mut stage, &mut hands, call),
        _ => {}
    }
}

/// Asks `on_commit`, the last word before the effect; whether the call goes on.
fn passes_barrier(
    stage: &mut Stage,
    guard: &mut ResMut<Guard>,
    hands: &mut Hands,
    held: &mut Query<&mut HeldCalls>,
    call: CallId,
) -> bool {
    let (proposal, taint, _) = hands.proposals.read(&hands.identity, call);
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
    let proposal_node = hands.proposals.node(stage, &hands.identity, call);
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
        &mut hands.identity,
        &mut hands.decisions,
        Some(agent),
        ruled,
    );
    if ruling.verdict == CommitVerdict::Hold
        && !hold(stage, &hands.identity, &hands.proposals, held, call)
    {
        return true;
    }
    deny(stage, agent, call, denial);
    false
}

/// Executes a call by what its tool does.
fn execute(stage: &mut Stage, guard: &mut ResMut<Guard>, hands: &mut Hands, call: CallId) {
    let prepared = Arc::clone(&stage.setup.prepared);
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    let spec = &prepared.scenario.briefing.tools[proposal.tool.index()];
    match spec.operation {
        Operation::ReadSource => {
            let source = readable_source(proposal, spec, &prepared);
            read_source(stage, hands, call, source, spec);
        }
        Operation::ReturnSource(source) => read_source(stage, hands, call, Some(source), spec),
        Operation::MemoryRead(store) => memory::read(stage, guard, hands, call, store, spec),
        Operation::Act => {
            effect(stage, hands, call, spec);
            acknowledge(stage, hands, call, spec);
        }
        Operation::MemoryWrite(store) | Operation::MemoryUpdate(store) => {
            memory::write(stage, guard, hands, call, store, spec)
        }
        Operation::MemoryDelete(store) => memory::delete(stage, hands, call, store, spec),
        Operation::MemoryRestore(store) => memory::restore(stage, hands, call, store, spec),
    }
}

/// The source that a read names: a retrieved document or a tool result.
fn readable_source(proposal: &Proposal, spec: &ToolSpec, prepared: &Prepared) -> Option<SourceId> {
    let view = plugins::ledger::CallView {
        tool: spec,
        arguments: &proposal.arguments,
    };
    let briefing = &prepared.scenario.briefing;
    briefing.source_named(view.target()?).filter(|source| {
        matches!(
            briefing.sources[source.index()].channel,
            Channel::RetrievedDocument | Channel::ToolResult
        )
    })
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
    hands.sources.touch(stage, &hands.identity, source);
    let (mut proposal, _) = hands.proposals.get(&hands.identity, call);
    proposal.returned = Some(Returned::Source(source));
    stage.schedule(
        proposal.agent,
        spec.latency_ticks.max(1),
        AgendaEvent::Result(call),
    );
}

/// The agent will learn that its call is through.
pub(crate) fn acknowledge(stage: &mut Stage, hands: &Hands, call: CallId, spec: &ToolSpec) {
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    stage.schedule(
        proposal.agent,
        spec.latency_ticks.max(1),
        AgendaEvent::Acknowledge(call),
    );
}

/// The side effect of a call, and that it committed.
pub(crate) fn effect(
    stage: &mut Stage,
    hands: &mut Hands,
    call: CallId,
    spec: &ToolSpec,
) -> NodeId {
    let proposal_node = hands.proposals.node(stage, &hands.identity, call);
    let (proposal, taint, _) = hands.proposals.read(&hands.identity, call);
    let (agent, labelled) = (proposal.agent, stage.tainted(taint.recorded));
    let origins = content_origins(stage, hands, call, spec, labelled);
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    let exact = effect_label(stage, &proposal.arguments);
    let is_task_record = !spec.high_risk() && spec.operation == Operation::Act;
    let detail = if is_task_record {
        NodeDetail::TaskRecord
    } else {
        NodeDetail::Plain
    };
    let new = NewNode::new(NodeKind::SideEffect, Subject::Call(call))
        .agent(agent)
        .detail(detail)
        .exact(exact);
    let node = stage.node(new);
    let kind = match (labelled, spec.high_risk()) {
        (true, _) => EdgeKind::Data,
        (false, true) => EdgeKind::Control,
        (false, false) => EdgeKind::Temporal,
    };
    stage.recorder.edge(proposal_node, node, kind, labelled);
    for origin in origins {
        stage.recorder.edge(origin, node, EdgeKind::Data, true);
    }
    stage.happen(Some(agent), Happening::Committed { call, node });
    node
}

/// The exact label of an effect: its arguments and what they refer to.
fn effect_label(stage: &mut Stage, arguments: &[Argument]) -> LabelId {
    let own = arguments.iter().map(|argument| argument.label);
    let referred = arguments
        .iter()
        .flat_map(|argument| &argument.referent)
        .flat_map(|referent| referent.labels.iter().copied());
    stage.recorder.join_all(own.chain(referred))
}

/// From where tainted content flows into an effect whose proposal is not labelled: from the agent's
/// state, or from the object itself if the agent never read it or its state is clean.
pub(crate) fn content_origins(
    stage: &mut Stage,
    hands: &mut Hands,
    call: CallId,
    spec: &ToolSpec,
    labelled: bool,
) -> Vec<NodeId> {
    let mut origins: Vec<NodeId> = Vec::new();
    if labelled || !(spec.high_risk() || stage.setup.instrumentation.low_risk) {
        return origins;
    }
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    let (agent, state) = (proposal.agent, proposal.origin);
    let arguments = proposal.arguments.clone();
    for argument in &arguments {
        let is_content = spec.arguments[usize::from(argument.position)].role == Role::Content;
        if is_content && stage.tainted(argument.label) {
            origins.extend(state);
        }
        if let Some(referent) = &argument.referent
            && referent.labels.iter().any(|&label| stage.tainted(label))
        {
            origins.extend(referred_origin(stage, hands, agent, state, referent.object));
        }
    }
    let mut distinct = Vec::new();
    origins.retain(|&origin| {
        let is_new = !distinct.contains(&origin);
        distinct.push(origin);
        is_new
    });
    origins
}

fn referred_origin(
    stage: &mut Stage,
    hands: &mut Hands,
    agent: AgentId,
    state: Option<NodeId>,
    object: Subject,
) -> Option<NodeId> {
    let (_, context, ..) = hands.agents.get(&hands.identity, agent);
    let was_read = context.read.contains(&object);
    match state.filter(|&state| was_read && stage.tainted(stage.recorder.recorded(state))) {
        Some(state) => Some(state),
        None => referent::touch(
            stage,
            &hands.identity,
            &mut hands.sources,
            &mut hands.records,
            object,
        ),
    }
}
