//! Parse: completions become actions.

use std::sync::Arc;

use plugins::action::{Action, ActionClass, Argument, Call, Parsed, ToolCatalogue};
use plugins::ids::{AgentId, CallId, MessageId, NodeId, ToolId};
use plugins::label::{Flags, LabelId};
use plugins::model::{OwnTurn, Segment, SegmentKind};
use plugins::tool::ToolSpec;
use plugins::trace::{EdgeKind, Happening, LimitKind, NodeDetail, NodeKind, Subject};
use plugins::value::{Content, Field, Text, Value};
use worlds::spec::AfterSending;

use super::entities::{Agents, Messages, Proposals, Records};
use super::referent;
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Phase};
use crate::components::agent::{Doing, Mask, Utterance};
use crate::components::call::{Message, Proposal};
use crate::components::{FieldLabels, Taint};
use crate::identity::Identity;
use crate::recorder::NewNode;
use crate::setup::Mind;
use crate::state::{Parts, State};

/// Runs the due event if it is a completion.
pub(crate) fn parse(
    state: &mut State,
    mut agents: Agents,
    mut messages: Messages,
    records: Records,
    mut proposals: Proposals,
) {
    let Parts {
        mut stage,
        mind,
        identity,
        ..
    } = state.parts();
    let Some(AgendaEvent::Parse(agent)) = stage.take(Phase::Parse) else {
        return;
    };
    let (_, mut context, utterance, mask, _) = agents.get(identity, agent);
    let parsed = read_completion(&stage, mind, agent, &utterance, &mask);
    let action = classify(&stage, agent, parsed.action);
    let (class, turn, named) = describe(&stage, &action);
    let what = Happening::Completed {
        class,
        status: parsed.status,
        repairs: parsed.repairs,
        strict_reading_is_final: parsed.strict_reading_is_final,
        named,
    };
    stage.happen(Some(agent), what);
    let tag = utterance.tag;
    let kind = SegmentKind::Own { turn, tag };
    context.push(
        Segment {
            kind,
            content: Arc::clone(&stage.setup.prepared.nothing),
            marked: false,
        },
        FieldLabels::new(),
    );
    match action {
        Classified::Invalid(..) => stage.schedule(agent, 1, AgendaEvent::Reject(agent)),
        Classified::Final(text) => finish(
            &mut stage,
            identity,
            &mut agents,
            &mut messages,
            agent,
            text,
        ),
        Classified::Delegate(to, content) => {
            delegate(
                &mut stage,
                identity,
                &mut agents,
                &mut messages,
                agent,
                to,
                content,
            );
        }
        Classified::Call(tool, arguments, keep_result) => {
            let called = Called {
                agent,
                tool,
                arguments,
                keep_result,
            };
            propose(
                &mut stage,
                identity,
                &mut agents,
                &records,
                &mut proposals,
                called,
            );
        }
    }
}

/// An action with its receiver resolved.
enum Classified {
    Call(ToolId, Vec<(u16, Value)>, bool),
    Delegate(AgentId, Vec<Field>),
    Final(Text),
    Invalid(ActionClass, Option<Text>),
}

fn read_completion(
    stage: &Stage,
    mind: &Mind,
    agent: AgentId,
    utterance: &Utterance,
    mask: &Mask,
) -> Parsed {
    let briefing = &stage.scenario().briefing;
    let known = &briefing.agents[agent.index()].tools;
    let tools = &briefing.tools;
    if mask.0.is_empty() && utterance.masked.is_empty() {
        return mind
            .parser
            .parse(&utterance.text, ToolCatalogue { tools, known });
    }
    let hidden = |tool: &ToolId| mask.0.contains(tool) || utterance.masked.contains(tool);
    let shown: Vec<ToolId> = known.iter().copied().filter(|tool| !hidden(tool)).collect();
    mind.parser.parse(
        &utterance.text,
        ToolCatalogue {
            tools,
            known: &shown,
        },
    )
}

/// A hand-off needs a channel; without one its receiver is as unknown as an unknown tool.
fn classify(stage: &Stage, agent: AgentId, action: Action) -> Classified {
    match action {
        Action::ToolCall {
            tool,
            arguments,
            keep_result,
        } => Classified::Call(tool, arguments, keep_result),
        Action::Final { text } => Classified::Final(text),
        Action::InvalidTool { name } => Classified::Invalid(ActionClass::InvalidTool, Some(name)),
        Action::InvalidSchema { .. } => Classified::Invalid(ActionClass::InvalidSchema, None),
        Action::Delegate { to, content } => {
            let scenario = stage.scenario();
            let receiver = scenario
                .briefing
                .agents
                .iter()
                .position(|info| info.name == to)
                .map(AgentId::at);
            match receiver.filter(|&receiver| scenario.channel(agent, receiver).is_some()) {
                Some(receiver) => Classified::Delegate(receiver, content),
                None => Classified::Invalid(ActionClass::InvalidTool, Some(to)),
            }
        }
    }
}

fn describe(stage: &Stage, action: &Classified) -> (ActionClass, OwnTurn, Option<Text>) {
    let briefing = &stage.scenario().briefing;
    match action {
        Classified::Call(tool, ..) => (
            ActionClass::Valid,
            OwnTurn::Call(*tool),
            Some(briefing.tools[tool.index()].name.clone()),
        ),
        Classified::Delegate(to, _) => (
            ActionClass::Delegate,
            OwnTurn::Delegate(*to),
            Some(briefing.agents[to.index()].name.clone()),
        ),
        Classified::Final(_) => (ActionClass::Final, OwnTurn::Final, None),
        Classified::Invalid(class, named) => (*class, OwnTurn::Invalid, named.clone()),
    }
}

/// The agent's final answer ends it, and goes back to whoever waits for it.
fn finish(
    stage: &mut Stage,
    identity: &mut Identity,
    agents: &mut Agents,
    messages: &mut Messages,
    agent: AgentId,
    text: Text,
) {
    let (mut activity, _, utterance, ..) = agents.get(identity, agent);
    activity.doing = Doing::Ended;
    let reply_to = activity.owes_reply_to.take();
    let said = Said {
        content: Content {
            fields: vec![Field {
                name: "text".into(),
                value: text,
            }],
        },
        labels: std::iter::once(utterance.label_of("text")).collect(),
        choice: utterance.choice,
        origin: utterance.origin,
    };
    let message = Messages::next_id(identity);
    let new = NewNode::new(NodeKind::Message, Subject::Message(message))
        .agent(agent)
        .detail(NodeDetail::FinalAnswer);
    let (node, quotes) = message_node(stage, new, &said);
    if let Some(origin) = said.origin.filter(|_| quotes) {
        stage.recorder.edge(origin, node, EdgeKind::Data, true);
    }
    let taint = stage.recorder.taint(node);
    let content = Arc::new(said.content);
    stage.count_content(&content);
    messages.add(
        identity,
        Message {
            message,
            from: Some(agent),
            to: reply_to,
            content,
            labels: said.labels,
            wants_reply: false,
        },
        taint,
    );
    stage.happen(Some(agent), Happening::Finished { message });
    if let Some(asker) = reply_to {
        let latency = stage
            .scenario()
            .channel(asker, agent)
            .map_or(1, |channel| channel.latency_ticks.max(1));
        stage.schedule(asker, latency, AgendaEvent::Deliver(message));
    }
}

/// Something an agent says to somebody.
struct Said {
    content: Content,
    labels: FieldLabels,
    choice: LabelId,
    origin: Option<NodeId>,
}

/// Creates the node of something said; whether it quotes an untrusted source.
fn message_node(stage: &mut Stage, new: NewNode, said: &Said) -> (NodeId, bool) {
    let exact = stage.recorder.join_all(said.labels.iter().copied());
    let node = stage.node(new.exact(exact));
    let untrusted = &stage.scenario().briefing.untrusted;
    let quotes = stage.setup.instrumentation.quotes(
        said.labels.iter().copied(),
        said.choice,
        stage.labels(),
        untrusted,
    );
    (node, quotes)
}

/// A hand-off: a message on its way to another agent.
fn delegate(
    stage: &mut Stage,
    identity: &mut Identity,
    agents: &mut Agents,
    messages: &mut Messages,
    agent: AgentId,
    to: AgentId,
    fields: Vec<Field>,
) {
    if stage.clock.delegations >= stage.scenario().limits.delegations {
        stage.limit(LimitKind::Delegations);
        return;
    }
    stage.clock.delegations += 1;
    let (_, _, utterance, ..) = agents.get(identity, agent);
    let mut labels = FieldLabels::new();
    for field in &fields {
        labels.push(
            stage
                .recorder
                .labels
                .flagged(utterance.label_of(&field.name), Flags::VIA_MESSAGE),
        );
    }
    let said = Said {
        content: Content { fields },
        labels,
        choice: utterance.choice,
        origin: utterance.origin,
    };
    let message = Messages::next_id(identity);
    let is_self_check = to == agent;
    let node = sent_node(stage, agent, message, &said, is_self_check);
    let taint = stage.recorder.taint(node);
    let channel = stage
        .scenario()
        .channel(agent, to)
        .expect("a hand-off was classified by its channel");
    let (latency, after) = (channel.latency_ticks.max(1), channel.after);
    let wants_reply = after == AfterSending::AwaitReply;
    let content = Arc::new(said.content);
    stage.count_content(&content);
    messages.add(
        identity,
        Message {
            message,
            from: Some(agent),
            to: Some(to),
            content,
            labels: said.labels,
            wants_reply,
        },
        taint,
    );
    stage.happen(Some(agent), Happening::Sent { message, to });
    if is_self_check {
        // What it says is in the agent's own context already.
        stage.schedule(agent, latency, AgendaEvent::Decide(agent));
        return;
    }
    stage.schedule(to, latency, AgendaEvent::Deliver(message));
    let (mut activity, ..) = agents.get(identity, agent);
    if after == AfterSending::Continue || activity.pending {
        stage.schedule(agent, 1, AgendaEvent::Decide(agent));
    } else {
        activity.doing = Doing::Idle;
    }
}

/// The node of a message on its way, and under a self-check its two records.
fn sent_node(
    stage: &mut Stage,
    agent: AgentId,
    message: MessageId,
    said: &Said,
    is_self_check: bool,
) -> NodeId {
    let subject = Subject::Message(message);
    let new = NewNode::new(NodeKind::Message, subject).agent(agent);
    let (new, quoting) = if is_self_check {
        (new.detail(NodeDetail::SelfCheck), EdgeKind::Data)
    } else {
        (new, EdgeKind::Delegation)
    };
    let (node, quotes) = message_node(stage, new, said);
    if let Some(origin) = said.origin {
        let kind = if quotes { quoting } else { EdgeKind::Control };
        stage.recorder.edge(origin, node, kind, quotes);
    }
    if is_self_check {
        // Of what was checked, and that it was.
        let checked = stage.decision(subject, Some(agent), NodeDetail::Audit, &[node]);
        stage.decision(subject, Some(agent), NodeDetail::Audit, &[checked]);
    }
    node
}

/// A call as the model made it.
struct Called {
    agent: AgentId,
    tool: ToolId,
    arguments: Vec<(u16, Value)>,
    keep_result: bool,
}

/// A valid call becomes a proposal.
fn propose(
    stage: &mut Stage,
    identity: &mut Identity,
    agents: &mut Agents,
    records: &Records,
    proposals: &mut Proposals,
    called: Called,
) {
    let Called {
        agent,
        tool,
        arguments,
        keep_result,
    } = called;
    let setup = Arc::clone(&stage.setup.prepared);
    let spec = &setup.scenario.briefing.tools[tool.index()];
    let (_, _, utterance, ..) = agents.get(identity, agent);
    let mut labelled = Vec::with_capacity(arguments.len());
    for (position, value) in arguments {
        let argument_spec = &spec.arguments[usize::from(position)];
        let label = utterance.label_of(&argument_spec.name);
        let referent = referent::resolve(&value, argument_spec.passing, &setup, records, identity);
        if let Some(referent) = &referent {
            stage.count_content(&referent.content);
            if stage.has_halted() {
                return;
            }
        }
        labelled.push(Argument {
            position,
            value,
            label,
            referent,
        });
    }
    let (choice, origin) = (utterance.choice, utterance.origin);
    let id = CallId::at(stage.recorder.trace.calls.len());
    let (taint, labelled_proposal) = if spec.operation.is_read() {
        (Taint::default(), false)
    } else {
        proposal_node(
            stage,
            identity,
            agents,
            spec,
            &Proposing {
                id,
                agent,
                choice,
                origin,
                arguments: &labelled,
            },
        )
    };
    let arguments: Arc<[Argument]> = labelled.into();
    stage.recorder.trace.calls.push(Call {
        id,
        agent,
        episode: stage.clock.episode,
        tool,
        arguments: Arc::clone(&arguments),
        keep_result,
        recorded: taint.recorded,
        choice,
    });
    let proposal = Proposal {
        call: id,
        agent,
        tool,
        arguments,
        keep_result,
        origin,
        labelled: labelled_proposal,
        ..Proposal::default()
    };
    proposals.add(identity, proposal, taint);
    stage.happen(Some(agent), Happening::Proposed { call: id });
    stage.schedule(agent, 0, AgendaEvent::Authorize(id));
}

/// A call about to get its node.
struct Proposing<'a> {
    id: CallId,
    agent: AgentId,
    choice: LabelId,
    origin: Option<NodeId>,
    arguments: &'a [Argument],
}

fn proposal_node(
    stage: &mut Stage,
    identity: &Identity,
    agents: &mut Agents,
    spec: &ToolSpec,
    call: &Proposing,
) -> (Taint, bool) {
    let labelled = is_labelled(stage, spec, call);
    let exact = stage
        .recorder
        .join_all(call.arguments.iter().map(|argument| argument.label));
    let new = NewNode::new(NodeKind::Proposal, Subject::Call(call.id))
        .agent(call.agent)
        .exact(exact);
    let node = stage.node(new);
    if let Some(origin) = call.origin {
        let kind = match (labelled, spec.high_risk()) {
            (true, _) => EdgeKind::Data,
            (false, true) => EdgeKind::Control,
            (false, false) => EdgeKind::Temporal,
        };
        stage.recorder.edge(origin, node, kind, labelled);
    }
    if !spec.high_risk() {
        let (_, mut context, ..) = agents.get(identity, call.agent);
        if let Some(discarded) = context.discarded.take() {
            stage
                .recorder
                .edge(discarded, node, EdgeKind::Temporal, false);
        }
    }
    (stage.recorder.taint(node), labelled)
}

/// Whether the instrumentation labels the proposal (`docs/SEMANTICS.md`, section 2).
fn is_labelled(stage: &Stage, spec: &ToolSpec, call: &Proposing) -> bool {
    let instrumentation = stage.setup.instrumentation;
    let considered = |argument: &&Argument| {
        !instrumentation.authority_only
            || spec.arguments[usize::from(argument.position)]
                .role
                .is_authority()
    };
    (spec.high_risk() || instrumentation.low_risk)
        && (call
            .arguments
            .iter()
            .filter(considered)
            .any(|argument| stage.tainted(argument.label))
            || instrumentation.choice && stage.tainted(call.choice))
}
