//! Section 4: the start and end of an episode, deliveries, and what reaches a context without content.

use std::sync::Arc;

use plugins::ids::{AgentId, CallId, MessageId, RecordId, SourceId};
use plugins::label::{Flags, LabelId};
use plugins::model::{Segment, SegmentKind};
use plugins::policy::{DenialReason, Hook, Inflow, Ruling, SessionVerdict, Verdict, VerdictKind};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Outcome, Subject};
use plugins::value::Content;
use worlds::spec::MemoryMode;

use super::Run;
use super::ask::{Admission, ask};
use super::state::{Activity, Agent, Due, Flow, Message, Record, Span};

impl Run<'_> {
    pub(super) fn begin(&mut self, episode: u32) {
        let scenario = self.scenario;
        let spec = &scenario.episodes[episode as usize];
        let agent = spec.agent;
        self.agent = Some(agent);
        self.emit(Happening::EpisodeBegan);
        for (position, step) in (0..).zip(&scenario.recovery) {
            if step.episode == episode {
                self.schedule(self.tick + step.after_ticks, Due::Recover(position));
            }
        }
        for (position, source) in scenario.sources.iter().enumerate() {
            if let Some(arrival) = source.arrival
                && arrival.episode == episode
            {
                let due = Due::Inject(SourceId::at(position), arrival.to);
                self.schedule(self.after(arrival.after_ticks), due);
            }
        }
        let Ruling { verdict, reason } = ask!(self, SESSION, on_session());
        if verdict.kind() != VerdictKind::Allow {
            let subject = Subject::Agent(agent);
            self.ruled(Hook::Session, subject, verdict.kind(), reason, None);
        }
        match verdict {
            SessionVerdict::Pass => {}
            SessionVerdict::MaskTools(masks) => {
                for (agent, tool) in masks {
                    if let Some(agent) = self.agents.get_mut(agent.index()) {
                        agent.masked.push(tool);
                    }
                }
            }
            SessionVerdict::Abort => return self.abort(),
        }
        let origin = self.touch_source(spec.goal);
        let flow = self.source_flow(spec.goal);
        self.enter_context(agent, origin, EdgeKind::Data, &flow);
        self.add_flow(agent, SegmentKind::Goal, flow);
        self.emit(Happening::Delivered { message: None });
        self.agents[agent.index()].activity = Activity::Busy;
        self.schedule(self.tick, Due::Decide(agent));
    }

    pub(super) fn deliver(&mut self, message: MessageId, agent: AgentId) {
        if self.agents[agent.index()].activity == Activity::Ended {
            return;
        }
        let Message {
            from,
            node,
            asks_for_a_reply,
            ..
        } = self.messages[message.index()];
        let mut flow = self.messages[message.index()].flow.clone();
        let inflow = Inflow {
            agent,
            from,
            content: &flow.content,
            labels: &self.fields[flow.fields.range()],
            recorded: flow.recorded,
            node: Some(node),
        };
        let ruling = ask!(self, MESSAGE, on_message(inflow));
        let subject = Subject::Message(message);
        match self.admit(Hook::Message, subject, node, &mut flow, ruling) {
            Admission::Admitted => {}
            Admission::Dropped | Admission::Quarantined(_) => return,
        }
        self.enter_context(agent, node, EdgeKind::Data, &flow);
        self.add_flow(agent, SegmentKind::Message { from }, flow);
        self.emit(Happening::Delivered {
            message: Some(message),
        });
        let receiver = &mut self.agents[agent.index()];
        if asks_for_a_reply {
            receiver.owes = from;
        }
        if receiver.activity == Activity::Idle {
            receiver.activity = Activity::Busy;
            self.schedule(self.tick, Due::Decide(agent));
        } else {
            receiver.pending = true;
        }
    }

    pub(super) fn inject(&mut self, source: SourceId, agent: AgentId) {
        if self.agents[agent.index()].activity == Activity::Ended {
            return;
        }
        let origin = self.touch_source(source);
        let Flow {
            content, fields, ..
        } = self.source_flow(source);
        let fields = self.flag_fields(fields, Flags::VIA_MESSAGE);
        let message = self.new_message(None, content, fields, NodeDetail::Plain);
        let node = self.messages[message.index()].node;
        self.edge(origin, node, EdgeKind::Data, true);
        self.send(message, false);
        self.deliver(message, agent);
    }

    /// A message and its node, which has no edges yet.
    pub(super) fn new_message(
        &mut self,
        from: Option<AgentId>,
        content: Arc<Content>,
        fields: Span,
        detail: NodeDetail,
    ) -> MessageId {
        self.add_content(&content);
        let message = MessageId::at(self.messages.len());
        let exact = self.join_fields(fields);
        let subject = Subject::Message(message);
        let node = self.node(NodeKind::Message, detail, subject, exact);
        self.messages.push(Message {
            from,
            flow: Flow {
                content,
                fields,
                recorded: LabelId::BOTTOM,
                taint: true,
            },
            node,
            asks_for_a_reply: false,
        });
        message
    }

    /// Fixes what a message carries, once the edges of its node are drawn.
    pub(super) fn send(&mut self, message: MessageId, asks_for_a_reply: bool) {
        let recorded = self.recorded(self.messages[message.index()].node);
        let message = &mut self.messages[message.index()];
        message.flow.recorded = recorded;
        message.asks_for_a_reply = asks_for_a_reply;
    }

    pub(super) fn acknowledge(&mut self, call: CallId, agent: AgentId) {
        let tool = self.trace.calls[call.index()].tool;
        self.add_bare_segment(agent, SegmentKind::Acknowledged { tool });
        self.emit(Happening::Acknowledged { call });
        self.schedule(self.tick, Due::Decide(agent));
    }

    pub(super) fn denial(&mut self, call: CallId, agent: AgentId, reason: DenialReason) {
        let tool = self.trace.calls[call.index()].tool;
        self.add_bare_segment(agent, SegmentKind::Denied { tool, reason });
        self.schedule(self.tick, Due::Decide(agent));
    }

    pub(super) fn reject(&mut self, agent: AgentId) {
        self.add_bare_segment(agent, SegmentKind::Rejected);
        self.schedule(self.tick, Due::Decide(agent));
    }

    /// A segment that says what flowed in.
    pub(super) fn add_flow(&mut self, agent: AgentId, kind: SegmentKind, flow: Flow) {
        self.add_content(&flow.content);
        let segment = Segment {
            kind,
            content: flow.content,
            marked: false,
        };
        self.add_segment(agent, segment, flow.fields);
    }

    /// A segment without content.
    pub(super) fn add_bare_segment(&mut self, agent: AgentId, kind: SegmentKind) {
        let segment = Segment {
            kind,
            content: self.empty.clone(),
            marked: false,
        };
        self.add_segment(agent, segment, Span::default());
    }

    pub(super) fn close(&mut self, episode: u32) {
        for record in 0..self.records.len() {
            let Record { store, live, .. } = self.records[record];
            if live && self.scenario.stores[store.index()].mode == MemoryMode::Session {
                self.remove(RecordId::at(record), None);
            }
        }
        self.agents.iter_mut().for_each(Agent::reset);
        if let Some(outcome) = self.halted.take() {
            self.end(outcome);
        } else if ((episode + 1) as usize) < self.scenario.episodes.len() {
            self.episode = episode + 1;
            self.episode_start = self.tick + 1;
            // The next episode is a child of this `Close`.
            self.schedule(self.tick + 1, Due::Begin(episode + 1));
        } else {
            self.end(Outcome::Completed);
        }
    }
}
