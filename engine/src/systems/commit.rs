//! Commit: calls take effect, effects are undone. Memory effects are in `memory`.

use std::sync::Arc;

use bevy_ecs::prelude::{Query, ResMut};
use plugins::action::Argument;
use plugins::briefing::Channel;
use plugins::ids::{AgentId, CallId, NodeId, SourceId};
use plugins::label::LabelId;
use plugins::ledger::CallView;
use plugins::policy::{CommitVerdict, Hook, Proposal as Proposed, Verdict};
use plugins::tool::{Operation, Passing, Role, ToolSpec};
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
        Some(AgendaEvent::Commit(call))
            if passes_barrier(&mut stage, &mut guard, &mut hands, &mut held, call) =>
        {
            execute(&mut stage, &mut guard, &mut hands, call);
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
    let agent = hands.proposals.read(&hands.identity, call).0.agent;
    hands.sources.touch(stage, &hands.identity, source, agent);
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
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    let (agent, labelled) = (proposal.agent, proposal.labelled);
    let objects = content_origins(stage, hands, call, spec);
    let origins: Vec<NodeId> = objects
        .into_iter()
        .filter_map(|origin| touch_origin(stage, hands, agent, origin))
        .collect();
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    let exact = effect_label(stage, &proposal.arguments);
    let detail = if spec.high_risk() {
        NodeDetail::Plain
    } else {
        NodeDetail::TaskRecord
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

/// From where tainted content flows into an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentOrigin {
    /// From the agent's state.
    State(NodeId),
    /// From the object itself: the agent never read it, or its state is clean.
    Object(Subject),
}

/// The distinct origins of tainted content in an effect whose proposal is not labelled. Touches
/// nothing: what is not committed after all leaves no node.
pub(crate) fn content_origins(
    stage: &Stage,
    hands: &mut Hands,
    call: CallId,
    spec: &ToolSpec,
) -> Vec<ContentOrigin> {
    let (proposal, ..) = hands.proposals.read(&hands.identity, call);
    let mut origins = Vec::new();
    if proposal.labelled || !(spec.high_risk() || stage.setup.instrumentation.low_risk) {
        return origins;
    }
    let (agent, state) = (proposal.agent, proposal.origin);
    let (_, context, ..) = hands.agents.get(&hands.identity, agent);
    let mut add = |origin: ContentOrigin| {
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    };
    for argument in &proposal.arguments {
        let argument_spec = &spec.arguments[usize::from(argument.position)];
        let is_content =
            argument_spec.role == Role::Content && argument_spec.passing == Passing::Value;
        if is_content && stage.tainted(argument.label) {
            state.map(ContentOrigin::State).map(&mut add);
        }
        let Some(referent) = &argument.referent else {
            continue;
        };
        if referent.labels.iter().any(|&label| stage.tainted(label)) {
            let was_read = context.read.contains(&referent.object);
            let tainted_state =
                state.filter(|&state| was_read && stage.tainted(stage.recorder.recorded(state)));
            add(tainted_state.map_or(ContentOrigin::Object(referent.object), ContentOrigin::State));
        }
    }
    origins
}

/// The node of an origin, created now if its object was not touched before.
fn touch_origin(
    stage: &mut Stage,
    hands: &mut Hands,
    agent: AgentId,
    origin: ContentOrigin,
) -> Option<NodeId> {
    match origin {
        ContentOrigin::State(node) => Some(node),
        ContentOrigin::Object(Subject::Record(record)) => Some(hands.records.touch(
            stage,
            &hands.identity,
            record,
            Some(agent),
        )),
        ContentOrigin::Object(Subject::Source(source)) => {
            Some(hands.sources.touch(stage, &hands.identity, source, agent))
        }
        ContentOrigin::Object(_) => None,
    }
}

/// The recorded label that flows from an origin, touched or not.
pub(crate) fn origin_label(stage: &Stage, hands: &Hands, origin: ContentOrigin) -> LabelId {
    match origin {
        ContentOrigin::State(node) => stage.recorder.recorded(node),
        ContentOrigin::Object(Subject::Record(record)) => {
            hands.records.read(&hands.identity, record).1.recorded
        }
        ContentOrigin::Object(Subject::Source(source)) => {
            stage.setup.prepared.source_labels[source.index()]
        }
        ContentOrigin::Object(_) => LabelId::BOTTOM,
    }
}
