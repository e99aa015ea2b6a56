//! What a call does: its side effect, from where tainted content flows into it, and that the agent
//! learns of it.

use plugins::action::Argument;
use plugins::ids::{AgentId, CallId, NodeId};
use plugins::label::LabelId;
use plugins::tool::{Passing, Role, ToolSpec};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Subject};

use super::entities::Hands;
use super::stage::Stage;
use crate::agenda::AgendaEvent;
use crate::recorder::NewNode;

/// The agent will learn that its call is through.
pub(crate) fn acknowledge(stage: &mut Stage, hands: &Hands, call: CallId, spec: &ToolSpec) {
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
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
    let proposal_node = hands.proposals.node(stage, hands.identity, call);
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
    let (agent, labelled) = (proposal.agent, proposal.labelled);
    let objects = content_origins(stage, hands, call, spec);
    let origins: Vec<NodeId> = objects
        .into_iter()
        .filter_map(|origin| touch_origin(stage, hands, agent, origin))
        .collect();
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
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
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
    let mut origins = Vec::new();
    if proposal.labelled || !(spec.high_risk() || stage.setup.instrumentation.low_risk) {
        return origins;
    }
    let (agent, state) = (proposal.agent, proposal.origin);
    let (_, context, ..) = hands.agents.get(hands.identity, agent);
    let mut add = |origin: ContentOrigin| {
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    };
    for argument in &*proposal.arguments {
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
            hands.identity,
            record,
            Some(agent),
        )),
        ContentOrigin::Object(Subject::Source(source)) => {
            Some(hands.sources.touch(stage, hands.identity, source, agent))
        }
        ContentOrigin::Object(_) => None,
    }
}

/// The recorded label that flows from an origin, touched or not.
pub(crate) fn origin_label(stage: &Stage, hands: &Hands, origin: ContentOrigin) -> LabelId {
    match origin {
        ContentOrigin::State(node) => stage.recorder.recorded(node),
        ContentOrigin::Object(Subject::Record(record)) => {
            hands.records.read(hands.identity, record).1.recorded
        }
        ContentOrigin::Object(Subject::Source(source)) => {
            stage.setup.prepared.source_labels[source.index()]
        }
        ContentOrigin::Object(_) => LabelId::BOTTOM,
    }
}
