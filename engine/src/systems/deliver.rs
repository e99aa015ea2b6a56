//! Deliver: goals and messages reach agents, episodes begin.

use std::sync::Arc;

use plugins::ids::{AgentId, MessageId, SourceId};
use plugins::label::Flags;
use plugins::model::{Segment, SegmentKind};
use plugins::policy::{Hook, SessionVerdict, Verdict};
use plugins::trace::{EdgeKind, Happening, NodeKind, Subject};

use super::entities::{Agents, Decisions, Inbound, Messages, Sources};
use super::hooks::{Admission, Flow, Passage, Ruled, admit, ask, rule};
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Phase};
use crate::clock::Halt;
use crate::components::FieldLabels;
use crate::components::agent::Doing;
use crate::components::call::Message;
use crate::identity::Identity;
use crate::recorder::NewNode;
use crate::setup::Guard;
use crate::state::{Parts, State};

/// Runs the due event if it is a delivery.
pub(crate) fn deliver(
    state: &mut State,
    mut agents: Agents,
    mut sources: Sources,
    mut messages: Messages,
    mut decisions: Decisions,
) {
    let Parts {
        mut stage,
        guard,
        identity,
        ..
    } = state.parts();
    match stage.take(Phase::Deliver) {
        Some(AgendaEvent::Begin(episode)) => {
            begin(
                &mut stage,
                guard,
                identity,
                &mut agents,
                &mut sources,
                &mut decisions,
                episode,
            );
        }
        Some(AgendaEvent::Deliver(message)) => {
            arrive(
                &mut stage,
                guard,
                identity,
                &mut agents,
                &messages,
                &mut decisions,
                message,
            );
        }
        Some(AgendaEvent::Inject(source)) => {
            let Some(message) = inject(
                &mut stage,
                identity,
                &mut agents,
                &mut sources,
                &mut messages,
                source,
            ) else {
                return;
            };
            arrive(
                &mut stage,
                guard,
                identity,
                &mut agents,
                &messages,
                &mut decisions,
                message,
            );
        }
        _ => {}
    }
}

/// An episode begins: recovery steps and injections are scheduled, the goal is delivered.
fn begin(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &mut Identity,
    agents: &mut Agents,
    sources: &mut Sources,
    decisions: &mut Decisions,
    episode: u32,
) {
    let prepared = Arc::clone(&stage.setup.prepared);
    let scenario = &prepared.scenario;
    let spec = &scenario.episodes[episode as usize];
    stage.happen(Some(spec.agent), Happening::EpisodeBegan);
    for (step, recovery) in (0..).zip(&scenario.recovery) {
        if recovery.episode == episode {
            stage.schedule_system(recovery.after_ticks, AgendaEvent::Recover(step));
        }
    }
    for (index, source) in scenario.sources.iter().enumerate() {
        if let Some(arrival) = source.arrival.filter(|arrival| arrival.episode == episode) {
            stage.schedule(
                arrival.to,
                arrival.after_ticks.max(1),
                AgendaEvent::Inject(SourceId::at(index)),
            );
        }
    }
    if begin_session(stage, guard, identity, agents, decisions, spec.agent) {
        return;
    }
    let goal = sources.touch(stage, identity, spec.goal, spec.agent);
    let labels = prepared.field_labels[spec.goal.index()].clone();
    let exact = stage.recorder.join_all(labels.iter().copied());
    let inbound = Inbound {
        kind: EdgeKind::Data,
        taint: true,
        recorded: stage.recorder.recorded(goal),
        exact,
    };
    agents.enter_context(stage, identity, spec.agent, goal, inbound);
    let (mut activity, mut context, ..) = agents.get(identity, spec.agent);
    let content = scenario.sources[spec.goal.index()].content.clone();
    stage.count_content(&content);
    context.push(
        Segment {
            kind: SegmentKind::Goal,
            content,
            marked: false,
        },
        labels,
    );
    activity.doing = Doing::Busy;
    stage.happen(Some(spec.agent), Happening::Delivered { message: None });
    stage.schedule(spec.agent, 0, AgendaEvent::Decide(spec.agent));
}

/// Asks `on_session`; whether the policy aborted.
fn begin_session(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &mut Identity,
    agents: &mut Agents,
    decisions: &mut Decisions,
    agent: AgentId,
) -> bool {
    let ruling = ask(
        stage,
        guard,
        Hook::Session,
        Some(agent),
        |policy, view, _| policy.on_session(view),
    );
    if ruling.verdict == SessionVerdict::Pass {
        return false;
    }
    let verdict = ruling.verdict.kind();
    let subject = Subject::Agent(agent);
    rule(
        stage,
        identity,
        decisions,
        Some(agent),
        Ruled {
            hook: Hook::Session,
            subject,
            verdict,
            reason: ruling.reason,
            node: None,
        },
    );
    match ruling.verdict {
        SessionVerdict::Pass => false,
        SessionVerdict::MaskTools(masks) => {
            for (masked_agent, tool) in masks {
                if masked_agent.index() < identity.agents.used() {
                    let (.., mut mask, _) = agents.get(identity, masked_agent);
                    mask.0.push(tool);
                }
            }
            false
        }
        SessionVerdict::Abort => {
            stage.halt(Halt::Aborted);
            true
        }
    }
}

/// An injected message comes into being, unless its receiver has ended.
fn inject(
    stage: &mut Stage,
    identity: &mut Identity,
    agents: &mut Agents,
    sources: &mut Sources,
    messages: &mut Messages,
    source: SourceId,
) -> Option<MessageId> {
    let spec = &stage.setup.prepared.scenario.sources[source.index()];
    let to = spec.arrival?.to;
    let content = Arc::clone(&spec.content);
    let (activity, ..) = agents.get(identity, to);
    if activity.doing == Doing::Ended {
        return None;
    }
    let origin = sources.touch(stage, identity, source, to);
    let field_labels = stage.setup.prepared.field_labels[source.index()].clone();
    let labels: FieldLabels = field_labels
        .iter()
        .map(|&label| stage.recorder.labels.flagged(label, Flags::VIA_MESSAGE))
        .collect();
    let message = Messages::next_id(identity);
    let exact = stage.recorder.join_all(labels.iter().copied());
    let node = stage.node(
        NewNode::new(NodeKind::Message, Subject::Message(message))
            .agent(to)
            .exact(exact),
    );
    stage.recorder.edge(origin, node, EdgeKind::Data, true);
    let taint = stage.recorder.taint(node);
    stage.count_content(&content);
    messages.add(
        identity,
        Message {
            message,
            from: None,
            to: Some(to),
            content,
            labels,
            wants_reply: false,
        },
        taint,
    );
    Some(message)
}

/// A message reaches its receiver, unless that one has ended or the policy keeps it out.
fn arrive(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &mut Identity,
    agents: &mut Agents,
    messages: &Messages,
    decisions: &mut Decisions,
    message: MessageId,
) {
    let (sent, taint) = messages.read(identity, message);
    let (Some(to), Some(origin)) = (sent.to, taint.node) else {
        return;
    };
    if agents.get(identity, to).0.doing == Doing::Ended {
        return;
    }
    let passage = Passage {
        hook: Hook::Message,
        subject: Subject::Message(message),
        agent: to,
        from: sent.from,
        origin,
    };
    let flow = Flow {
        content: sent.content.clone(),
        labels: sent.labels.clone(),
        recorded: taint.recorded,
        taint: true,
    };
    let (from, wants_reply) = (sent.from, sent.wants_reply);
    let Admission::In(flow) = admit(stage, guard, identity, decisions, &passage, flow) else {
        return;
    };
    let exact = stage.recorder.join_all(flow.labels.iter().copied());
    let inbound = Inbound {
        kind: EdgeKind::Data,
        taint: flow.taint,
        recorded: flow.recorded,
        exact,
    };
    agents.enter_context(stage, identity, to, origin, inbound);
    stage.count_content(&flow.content);
    let (mut activity, mut context, ..) = agents.get(identity, to);
    context.push(
        Segment {
            kind: SegmentKind::Message { from },
            content: flow.content,
            marked: false,
        },
        flow.labels,
    );
    if wants_reply {
        activity.owes_reply_to = from;
    }
    stage.happen(
        Some(to),
        Happening::Delivered {
            message: Some(message),
        },
    );
    agents.wake(stage, identity, to);
}
