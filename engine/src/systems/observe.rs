//! Observe: results, acknowledgements and denials reach agents.

use std::sync::Arc;

use plugins::ids::{AgentId, CallId, NodeId, SourceId, StoreId, ToolId};
use plugins::label::{Flags, LabelId};
use plugins::model::{Segment, SegmentKind};
use plugins::policy::Hook;
use plugins::trace::{EdgeKind, Happening, NodeKind, Subject};
use plugins::value::Content;

use super::authorize::deny;
use super::entities::{Agents, Decisions, Inbound, Proposals, Records, Sources};
use super::hooks::{Admission, Flow, Passage, admit};
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Persisting, Phase};
use crate::components::call::{Returned, ReturnedRecord};
use crate::components::{FieldLabels, Taint};
use crate::identity::Identity;
use crate::recorder::NewNode;
use crate::setup::Guard;
use crate::state::{Parts, State};

/// Runs the due event if it is an observation.
pub(crate) fn observe(
    state: &mut State,
    mut agents: Agents,
    mut sources: Sources,
    mut records: Records,
    mut proposals: Proposals,
    mut decisions: Decisions,
) {
    let Parts {
        mut stage,
        guard,
        identity,
        ..
    } = state.parts();
    let agent = match stage.take(Phase::Observe) {
        Some(AgendaEvent::Result(call)) => {
            let origin = find_origin(
                &mut stage,
                identity,
                &mut sources,
                &mut records,
                &mut proposals,
                call,
            );
            let Some(origin) = origin else { return };
            let agent = origin.agent;
            if !result(
                &mut stage,
                guard,
                identity,
                &mut agents,
                &mut decisions,
                origin,
            ) {
                return;
            }
            agent
        }
        Some(AgendaEvent::Acknowledge(call)) => {
            let (proposal, ..) = proposals.read(identity, call);
            let (agent, tool) = (proposal.agent, proposal.tool);
            notice(
                identity,
                &mut agents,
                agent,
                SegmentKind::Acknowledged { tool },
            );
            stage.happen(Some(agent), Happening::Acknowledged { call });
            agent
        }
        Some(AgendaEvent::Denial(call, reason)) => {
            let (proposal, ..) = proposals.read(identity, call);
            let (agent, tool) = (proposal.agent, proposal.tool);
            notice(
                identity,
                &mut agents,
                agent,
                SegmentKind::Denied { tool, reason },
            );
            agent
        }
        Some(AgendaEvent::Reject(agent)) => {
            notice(identity, &mut agents, agent, SegmentKind::Rejected);
            agent
        }
        _ => return,
    };
    stage.schedule(agent, 0, AgendaEvent::Decide(agent));
}

/// A segment without content enters a context.
fn notice(identity: &Identity, agents: &mut Agents, agent: AgentId, kind: SegmentKind) {
    let (_, mut context, ..) = agents.get(identity, agent);
    context.push(
        Segment {
            kind,
            content: Arc::default(),
            marked: false,
        },
        FieldLabels::new(),
    );
}

/// A result, where it comes from, and for whom it is.
struct Arriving {
    call: CallId,
    agent: AgentId,
    tool: ToolId,
    /// Whether it answers a read.
    is_read: bool,
    /// Whether it enters the context.
    keep: bool,
    from: From,
}

/// Where a result comes from and what flows from there.
struct From {
    origin: NodeId,
    /// The kind of the edge onward.
    edge: EdgeKind,
    flow: Flow,
    /// What was read, for later content edges.
    read: Option<Subject>,
    /// The source instance, as the model knows it.
    source: Option<SourceId>,
}

fn find_origin(
    stage: &mut Stage,
    identity: &Identity,
    sources: &mut Sources,
    records: &mut Records,
    proposals: &mut Proposals,
    call: CallId,
) -> Option<Arriving> {
    let (proposal, ..) = proposals.read(identity, call);
    let (agent, tool) = (proposal.agent, proposal.tool);
    let is_read = stage.scenario().briefing.tools[tool.index()]
        .operation
        .is_read();
    let keep = proposal.keep_result || !is_read;
    let from = match proposal.returned.clone()? {
        Returned::Source(source) => from_source(stage, identity, sources, agent, source),
        Returned::Record(returned) => from_record(stage, identity, records, agent, returned),
        Returned::Simulated(content) => from_policy(stage, identity, proposals, call, content),
    };
    Some(Arriving {
        call,
        agent,
        tool,
        is_read,
        keep,
        from,
    })
}

fn from_source(
    stage: &mut Stage,
    identity: &Identity,
    sources: &mut Sources,
    agent: AgentId,
    source: SourceId,
) -> From {
    let origin = sources.touch(stage, identity, source, agent);
    let prepared = &stage.setup.prepared;
    let flow = Flow {
        content: Arc::clone(&prepared.scenario.sources[source.index()].content),
        labels: prepared.field_labels[source.index()].clone(),
        recorded: stage.recorder.recorded(origin),
        taint: true,
    };
    From {
        origin,
        edge: EdgeKind::Data,
        flow,
        read: Some(Subject::Source(source)),
        source: Some(source),
    }
}

fn from_record(
    stage: &mut Stage,
    identity: &Identity,
    records: &mut Records,
    agent: AgentId,
    returned: ReturnedRecord,
) -> From {
    let ReturnedRecord {
        record,
        labels,
        recorded,
        taint,
    } = returned;
    let origin = records.touch(stage, identity, record, Some(agent));
    let (state, _) = records.read(identity, record);
    let is_earlier = state.initial.is_some() || state.episode < stage.clock.episode;
    let earlier = if is_earlier {
        Flags::EARLIER_EPISODE
    } else {
        Flags::empty()
    };
    let flagged = |&label: &LabelId| {
        stage
            .recorder
            .labels
            .flagged(label, Flags::VIA_MEMORY | earlier)
    };
    let labels = labels.iter().map(flagged).collect();
    let flow = Flow {
        content: Arc::clone(&state.content),
        labels,
        recorded,
        taint,
    };
    From {
        origin,
        edge: EdgeKind::Data,
        flow,
        read: Some(Subject::Record(record)),
        source: state.initial,
    }
}

/// A simulated result hangs off its proposal.
fn from_policy(
    stage: &mut Stage,
    identity: &Identity,
    proposals: &mut Proposals,
    call: CallId,
    content: Arc<Content>,
) -> From {
    let origin = proposals.node(stage, identity, call);
    let (proposal, ..) = proposals.read(identity, call);
    let joined = stage
        .recorder
        .join_all(proposal.arguments.iter().map(|argument| argument.label));
    let labels = content.fields.iter().map(|_| joined).collect();
    let labelled = proposal.labelled;
    let edge = if labelled {
        EdgeKind::Data
    } else {
        EdgeKind::Control
    };
    let flow = Flow {
        content,
        labels,
        recorded: stage.recorder.recorded(origin),
        taint: labelled,
    };
    From {
        origin,
        edge,
        flow,
        read: None,
        source: None,
    }
}

/// A read's result arrives, unless the policy keeps it out; whether the agent goes on at once.
fn result(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &mut Identity,
    agents: &mut Agents,
    decisions: &mut Decisions,
    arriving: Arriving,
) -> bool {
    let Arriving {
        call,
        agent,
        tool,
        is_read,
        keep,
        from,
    } = arriving;
    let From {
        origin,
        edge,
        flow,
        read,
        source,
    } = from;
    let subject = Subject::Call(call);
    let passage = Passage {
        hook: Hook::Observation,
        subject,
        agent,
        from: None,
        origin,
    };
    let flow = match admit(stage, guard, identity, decisions, &passage, flow) {
        Admission::In(flow) => flow,
        Admission::Dropped => {
            stage.schedule(agent, 1, AgendaEvent::Acknowledge(call));
            return false;
        }
        Admission::Quarantined(denial) => {
            deny(stage, agent, call, denial);
            return false;
        }
    };
    let exact = stage.recorder.join_all(flow.labels.iter().copied());
    let node = stage.node(
        NewNode::new(NodeKind::ToolResult, subject)
            .agent(agent)
            .exact(exact),
    );
    stage
        .recorder
        .edge_carrying(origin, node, edge, flow.taint, flow.recorded);
    let (_, mut context, ..) = agents.get(identity, agent);
    if !keep {
        context.discarded = Some(node);
        notice(identity, agents, agent, SegmentKind::Acknowledged { tool });
        stage.happen(Some(agent), Happening::Observed { call, kept: false });
        return true;
    }
    if is_read {
        context.discarded = None;
    }
    context.read.extend(read);
    let kind = SegmentKind::Observation { tool, source };
    let content = Arc::clone(&flow.content);
    stage.count_content(&content);
    context.push(
        Segment {
            kind,
            content,
            marked: false,
        },
        flow.labels.clone(),
    );
    let state = enter_with(stage, identity, agents, agent, node);
    stage.happen(Some(agent), Happening::Observed { call, kept: true });
    persist_later(stage, agent, &flow.content, &flow.labels, state);
    true
}

/// The agent's state after the tool result `node`.
fn enter_with(
    stage: &mut Stage,
    identity: &Identity,
    agents: &mut Agents,
    agent: AgentId,
    node: NodeId,
) -> NodeId {
    let Taint {
        recorded, exact, ..
    } = stage.recorder.taint(node);
    let inbound = Inbound {
        kind: EdgeKind::Data,
        taint: true,
        recorded,
        exact,
    };
    agents.enter_context(stage, identity, agent, node, inbound)
}

/// Schedules what the stores persist automatically.
fn persist_later(
    stage: &mut Stage,
    agent: AgentId,
    content: &Arc<Content>,
    labels: &FieldLabels,
    state: NodeId,
) {
    let prepared = Arc::clone(&stage.setup.prepared);
    for (index, store) in prepared.scenario.stores.iter().enumerate() {
        for &(_, delay) in store
            .persists
            .iter()
            .filter(|&&(persisting, _)| persisting == agent)
        {
            stage.count_content(content);
            if stage.has_halted() {
                return;
            }
            let store = StoreId::at(index);
            let persisting = Persisting {
                agent,
                store,
                content: Arc::clone(content),
                labels: labels.clone(),
                state,
            };
            stage.schedule(agent, delay, AgendaEvent::Persist(Box::new(persisting)));
        }
    }
}
