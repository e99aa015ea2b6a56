//! Observe: results, acknowledgements and denials reach agents.

use std::sync::Arc;

use bevy_ecs::prelude::ResMut;
use plugins::ids::{AgentId, CallId, NodeId, SourceId};
use plugins::label::Flags;
use plugins::model::{Segment, SegmentKind};
use plugins::policy::Hook;
use plugins::trace::{EdgeKind, Happening, NodeKind, Subject};
use plugins::value::Content;

use super::authorize::deny;
use super::hooks::{Admission, Flow, Passage, admit};
use super::params::{Agents, Decisions, Inbound, Proposals, Records, Sources, Stage};
use crate::agenda::{AgendaEvent, Persisting, Phase};
use crate::components::FieldLabels;
use crate::components::call::Returned;
use crate::identity::Identity;
use crate::recorder::NewNode;
use crate::setup::Guard;

/// Runs the due event if it is an observation.
pub(crate) fn observe(
    mut stage: Stage,
    mut guard: ResMut<Guard>,
    mut identity: ResMut<Identity>,
    mut agents: Agents,
    mut sources: Sources,
    mut records: Records,
    mut proposals: Proposals,
    mut decisions: Decisions,
) {
    let agent = match stage.take(Phase::Observe) {
        Some(AgendaEvent::Result(call)) => {
            let origin = find_origin(
                &mut stage,
                &identity,
                &mut sources,
                &mut records,
                &mut proposals,
                call,
            );
            let Some(origin) = origin else { return };
            let agent = origin.agent;
            if !result(
                &mut stage,
                &mut guard,
                &mut identity,
                &mut agents,
                &mut decisions,
                origin,
            ) {
                return;
            }
            agent
        }
        Some(AgendaEvent::Acknowledge(call)) => {
            let (proposal, ..) = proposals.read(&identity, call);
            let (agent, tool) = (proposal.agent, proposal.tool);
            notice(
                &identity,
                &mut agents,
                agent,
                SegmentKind::Acknowledged { tool },
            );
            stage.happen(Some(agent), Happening::Acknowledged { call });
            agent
        }
        Some(AgendaEvent::Denial(call, reason)) => {
            let (proposal, ..) = proposals.read(&identity, call);
            let (agent, tool) = (proposal.agent, proposal.tool);
            notice(
                &identity,
                &mut agents,
                agent,
                SegmentKind::Denied { tool, reason },
            );
            agent
        }
        Some(AgendaEvent::Reject(agent)) => {
            notice(&identity, &mut agents, agent, SegmentKind::Rejected);
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
    origin: NodeId,
    flow: Flow,
    /// The edge kind onward and whether it can propagate taint.
    edge: (EdgeKind, bool),
    /// What was read, for later content edges.
    read: Option<Subject>,
    /// The source instance, as the model knows it.
    source: Option<SourceId>,
    keep: bool,
    tool: plugins::ids::ToolId,
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
    let (agent, tool, keep) = (proposal.agent, proposal.tool, proposal.keep_result);
    let prepared = Arc::clone(&stage.setup.prepared);
    let arriving = match proposal.returned.clone()? {
        Returned::Source(source) => {
            let origin = sources.touch(stage, identity, source);
            let content = prepared.scenario.sources[source.index()].content.clone();
            let labels = prepared.field_labels[source.index()].clone();
            let recorded = stage.recorder.recorded(origin);
            let flow = Flow {
                content,
                labels,
                recorded,
                taint: true,
            };
            let read = Some(Subject::Source(source));
            Arriving {
                call,
                agent,
                origin,
                flow,
                edge: (EdgeKind::Data, true),
                read,
                source: Some(source),
                keep,
                tool,
            }
        }
        Returned::Record(record, labels) => {
            let origin = records.touch(stage, identity, record);
            let (state, _) = records.read(identity, record);
            let is_earlier = state.initial.is_some() || state.episode < stage.clock.episode;
            let flags = if is_earlier {
                Flags::VIA_MEMORY | Flags::EARLIER_EPISODE
            } else {
                Flags::VIA_MEMORY
            };
            let labels = labels
                .iter()
                .map(|&label| stage.recorder.labels.flagged(label, flags))
                .collect();
            let (content, source) = (state.content.clone(), state.initial);
            let recorded = stage.recorder.recorded(origin);
            let flow = Flow {
                content,
                labels,
                recorded,
                taint: true,
            };
            let read = Some(Subject::Record(record));
            Arriving {
                call,
                agent,
                origin,
                flow,
                edge: (EdgeKind::Data, true),
                read,
                source,
                keep,
                tool,
            }
        }
        Returned::Simulated(content) => {
            let joined = stage
                .recorder
                .join_all(proposal.arguments.iter().map(|argument| argument.label));
            let labels = content.fields.iter().map(|_| joined).collect();
            let origin = proposals.node(stage, identity, call);
            let recorded = stage.recorder.recorded(origin);
            let labelled = stage.tainted(recorded);
            let kind = if labelled {
                EdgeKind::Data
            } else {
                EdgeKind::Control
            };
            let flow = Flow {
                content,
                labels,
                recorded,
                taint: labelled,
            };
            Arriving {
                call,
                agent,
                origin,
                flow,
                edge: (kind, labelled),
                read: None,
                source: None,
                keep,
                tool,
            }
        }
    };
    Some(arriving)
}

/// A read's result arrives, unless the policy keeps it out; whether the agent goes on at once.
fn result(
    stage: &mut Stage,
    guard: &mut ResMut<Guard>,
    identity: &mut Identity,
    agents: &mut Agents,
    decisions: &mut Decisions,
    arriving: Arriving,
) -> bool {
    let Arriving {
        call,
        agent,
        origin,
        flow,
        edge: (kind, can_taint),
        read,
        source,
        keep,
        tool,
    } = arriving;
    let passage = Passage {
        hook: Hook::Observation,
        subject: Subject::Call(call),
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
        NewNode::new(NodeKind::ToolResult, Subject::Call(call))
            .agent(agent)
            .exact(exact),
    );
    stage
        .recorder
        .edge_carrying(origin, node, kind, can_taint && flow.taint, flow.recorded);
    if !keep {
        let (_, mut context, ..) = agents.get(identity, agent);
        context.discarded = Some(node);
        notice(identity, agents, agent, SegmentKind::Acknowledged { tool });
        stage.happen(Some(agent), Happening::Observed { call, kept: false });
        return true;
    }
    let inbound = Inbound {
        kind: EdgeKind::Data,
        taint: true,
        recorded: stage.recorder.recorded(node),
        exact,
    };
    let state = agents.enter_context(stage, identity, agent, node, inbound);
    let (_, mut context, ..) = agents.get(identity, agent);
    context.read.extend(read);
    let kind = SegmentKind::Observation { tool, source };
    context.push(
        Segment {
            kind,
            content: flow.content.clone(),
            marked: false,
        },
        flow.labels.clone(),
    );
    stage.happen(Some(agent), Happening::Observed { call, kept: true });
    persist_later(stage, agent, &flow.content, &flow.labels, state);
    true
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
            let store = plugins::ids::StoreId::at(index);
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
