//! Section 4: the turns of the agents, from the prompt to the proposal.

use plugins::action::{Action, ActionClass, Argument, Call, Parsed, ToolCatalogue};
use plugins::ids::{AgentId, CallId, NodeId, ToolId};
use plugins::label::{Flags, LabelId};
use plugins::model::{OwnTurn, SegmentKind, Turn as Prompt};
use plugins::policy::{Hook, PromptEdit, PromptVerdict, Ruling, Verdict, VerdictKind};
use plugins::tool::ToolSpec;
use plugins::trace::{EdgeKind, Happening, LimitKind, NodeDetail, NodeKind, Outcome, Subject};
use plugins::value::{Content, Text, Value};
use worlds::spec::AfterSending;

use super::Run;
use super::ask::ask;
use super::labels::{join, join_arguments};
use super::state::{Activity, Due, Progress, Turn};

impl Run<'_> {
    pub(super) fn decide(&mut self, agent: AgentId) {
        let at = agent.index();
        if self.agents[at].turns >= self.scenario.limits.turns {
            return self.limit(LimitKind::Turns);
        }
        self.agents[at].pending = false;
        let ruling = ask!(self, PROMPT, on_prompt(agent, &self.agents[at].context));
        let Ruling { verdict, reason } = ruling;
        if verdict.kind() != VerdictKind::Allow {
            let subject = Subject::Agent(agent);
            self.ruled(Hook::Prompt, subject, verdict.kind(), reason, None);
        }
        let edit = match verdict {
            PromptVerdict::Pass => PromptEdit::default(),
            PromptVerdict::Edit(edit) => edit,
        };
        let mut turn = std::mem::take(&mut self.agents[at].turn);
        turn.reply.clear();
        turn.origin = self.agents[at].state.expect("an agent wakes in a state");
        self.known_tools(agent, &edit.mask, &mut turn.known);
        let whole = self.write_prompt(agent, &edit);
        let name = &self.scenario.briefing.agents[at].name;
        self.draws.at(self.episode, name, self.key);
        let is_edited = !edit.drop.is_empty() || !edit.mark.is_empty();
        let context = if is_edited {
            &self.prompt.segments
        } else {
            &self.agents[at].context
        };
        let prompt = Prompt {
            agent,
            episode: self.episode,
            briefing: &self.scenario.briefing,
            tools: &turn.known,
            context,
            guidance: edit.guidance.unwrap_or_default(),
            schema_mode: edit.schema_mode.unwrap_or_default(),
        };
        let completion = self
            .model
            .complete(prompt, &mut self.draws, &mut turn.reply);
        if let Err(failure) = completion {
            return self.end(Outcome::Errored(failure.0.into()));
        }
        self.agents[at].turns += 1;
        if turn.reply.text.len() > self.scenario.limits.text_bytes as usize {
            self.limit(LimitKind::Text);
        } else {
            let spans = if is_edited {
                std::mem::take(&mut self.prompt.spans)
            } else {
                std::mem::take(&mut self.agents[at].spans)
            };
            self.label_turn(&mut turn, &spans, whole);
            if is_edited {
                self.prompt.spans = spans;
            } else {
                self.agents[at].spans = spans;
            }
            self.add_text(turn.reply.text.len());
            self.schedule(self.after(turn.reply.latency_ticks), Due::Parse(agent));
        }
        self.agents[at].turn = turn;
    }

    /// The tools that `agent` may call: its own, without those masked for the episode or the call.
    fn known_tools(&self, agent: AgentId, mask: &[ToolId], known: &mut Vec<ToolId>) {
        let tools = &self.scenario.briefing.agents[agent.index()].tools;
        let masked = &self.agents[agent.index()].masked;
        let visible = |tool: &ToolId| !masked.contains(tool) && !mask.contains(tool);
        known.clear();
        known.extend(tools.iter().copied().filter(visible));
    }

    /// Writes the visible context as a policy edited it. Returns the join of its segments.
    fn write_prompt(&mut self, agent: AgentId, edit: &PromptEdit) -> LabelId {
        let agent = &self.agents[agent.index()];
        if edit.drop.is_empty() && edit.mark.is_empty() {
            return agent.whole;
        }
        let prompt = &mut *self.prompt;
        prompt.segments.clear();
        prompt.spans.clear();
        let mut whole = LabelId::BOTTOM;
        for (position, (segment, span)) in (0..).zip(agent.context.iter().zip(&agent.spans)) {
            if edit.drop.contains(&position) {
                continue;
            }
            let mut segment = segment.clone();
            segment.marked |= edit.mark.contains(&position);
            prompt.segments.push(segment);
            prompt.spans.push(*span);
            for &field in &self.fields[span.range()] {
                whole = join(self.labels, whole, field);
            }
        }
        whole
    }

    pub(super) fn parse(&mut self, agent: AgentId) {
        let turn = std::mem::take(&mut self.agents[agent.index()].turn);
        let catalogue = ToolCatalogue {
            tools: &self.scenario.briefing.tools,
            known: &turn.known,
        };
        let parsed = self.parser.parse(&turn.reply.text, catalogue);
        self.take_turn(agent, &turn, parsed);
        self.agents[agent.index()].turn = turn;
    }

    fn take_turn(&mut self, agent: AgentId, turn: &Turn, parsed: Parsed) {
        let briefing = &self.scenario.briefing;
        let receiver = match &parsed.action {
            Action::Delegate { to, .. } => {
                let mut agents = briefing.agents.iter();
                let named = agents.position(|agent| agent.name == *to).map(AgentId::at);
                named.and_then(|to| self.scenario.channel(agent, to))
            }
            _ => None,
        };
        let (class, own, named): (_, _, Option<Text>) = match (&parsed.action, receiver) {
            (Action::ToolCall { tool, .. }, _) => {
                let name = briefing.tools[tool.index()].name.clone();
                (ActionClass::Valid, OwnTurn::Call(*tool), Some(name))
            }
            (Action::Delegate { to, .. }, Some(channel)) => {
                let own = OwnTurn::Delegate(channel.to);
                (ActionClass::Delegate, own, Some(to.clone()))
            }
            (Action::Delegate { to: name, .. }, None) | (Action::InvalidTool { name }, _) => {
                let name = Some(name.clone());
                (ActionClass::InvalidTool, OwnTurn::Invalid, name)
            }
            (Action::Final { .. }, _) => (ActionClass::Final, OwnTurn::Final, None),
            (Action::InvalidSchema { .. }, _) => {
                (ActionClass::InvalidSchema, OwnTurn::Invalid, None)
            }
        };
        self.emit(Happening::Completed {
            class,
            status: parsed.status,
            repairs: parsed.repairs,
            strict_reading_is_final: parsed.strict_reading_is_final,
            named,
        });
        let tag = turn.reply.tag;
        self.add_bare_segment(agent, SegmentKind::Own { turn: own, tag });
        match (parsed.action, receiver) {
            (Action::Final { text }, _) => self.finish(agent, turn, &text),
            (Action::Delegate { content, .. }, Some(channel)) => {
                let content = Content { fields: content };
                let latency = channel.latency_ticks;
                self.delegate(agent, turn, content, (channel.to, latency, channel.after));
            }
            (
                Action::ToolCall {
                    tool,
                    arguments,
                    keep_result,
                },
                _,
            ) => self.propose(agent, turn, tool, arguments, keep_result),
            (
                Action::Delegate { .. } | Action::InvalidTool { .. } | Action::InvalidSchema { .. },
                _,
            ) => self.schedule(self.tick + 1, Due::Reject(agent)),
        }
    }

    fn finish(&mut self, agent: AgentId, turn: &Turn, text: &Text) {
        let label = self.field_label(turn, "text");
        let start = self.fields.len();
        self.fields.push(label);
        let fields = self.span_since(start);
        let content = Content::single("text", text).into();
        let message = self.new_message(Some(agent), content, fields, NodeDetail::FinalAnswer);
        if self.quotes(fields, turn.choice) {
            let node = self.messages[message.index()].node;
            self.edge(turn.origin, node, EdgeKind::Data, true);
        }
        self.send(message, false);
        self.emit(Happening::Finished { message });
        self.agents[agent.index()].activity = Activity::Ended;
        if let Some(waiting) = self.agents[agent.index()].owes {
            let channel = self
                .scenario
                .channel(waiting, agent)
                .expect("a reply is asked for over a channel");
            let due = Due::Deliver(message, waiting);
            self.schedule(self.after(channel.latency_ticks), due);
        }
    }

    fn delegate(
        &mut self,
        agent: AgentId,
        turn: &Turn,
        content: Content,
        (to, latency, after): (AgentId, u64, AfterSending),
    ) {
        if self.delegations >= self.scenario.limits.delegations {
            return self.limit(LimitKind::Delegations);
        }
        self.delegations += 1;
        let start = self.fields.len();
        for field in &content.fields {
            let label = self.field_label(turn, &field.name);
            let label = self.labels.flagged(label, Flags::VIA_MESSAGE);
            self.fields.push(label);
        }
        let fields = self.span_since(start);
        let is_self_check = to == agent;
        let (detail, quoting) = if is_self_check {
            (NodeDetail::SelfCheck, EdgeKind::Data)
        } else {
            (NodeDetail::Plain, EdgeKind::Delegation)
        };
        let message = self.new_message(Some(agent), content.into(), fields, detail);
        let node = self.messages[message.index()].node;
        if self.quotes(fields, turn.choice) {
            self.edge(turn.origin, node, quoting, true);
        } else {
            self.edge(turn.origin, node, EdgeKind::Control, false);
        }
        if is_self_check {
            let subject = Subject::Message(message);
            let checked = self.audit(node, subject);
            self.audit(checked, subject);
        }
        self.send(message, after == AfterSending::AwaitReply);
        self.emit(Happening::Sent { message, to });
        if is_self_check {
            return self.schedule(self.after(latency), Due::Decide(agent));
        }
        self.schedule(self.after(latency), Due::Deliver(message, to));
        let sender = &mut self.agents[agent.index()];
        if after != AfterSending::Continue && !sender.pending {
            sender.activity = Activity::Idle;
        } else {
            self.schedule(self.tick + 1, Due::Decide(agent));
        }
    }

    fn propose(
        &mut self,
        agent: AgentId,
        turn: &Turn,
        tool: ToolId,
        values: Vec<(u16, Value)>,
        keep_result: bool,
    ) {
        let id = CallId::at(self.calls.len());
        let scenario = self.scenario;
        let spec = &scenario.briefing.tools[tool.index()];
        let mut arguments = Vec::with_capacity(values.len());
        for (position, value) in values {
            let label = self.field_label(turn, &spec.arguments[usize::from(position)].name);
            arguments.push(Argument {
                position,
                value,
                label,
                referent: None,
            });
        }
        self.resolve_references(spec, &mut arguments);
        for referent in arguments.iter().filter_map(|given| given.referent.as_ref()) {
            self.add_content(&referent.content);
        }
        if self.halted.is_some() {
            return;
        }
        let is_read = spec.operation.is_read();
        let labelled = !is_read && self.is_labelled(spec, &arguments, turn.choice);
        let proposal =
            (!is_read).then(|| self.proposal_node(id, agent, turn, spec, &arguments, labelled));
        self.trace.calls.push(Call {
            id,
            agent,
            episode: self.episode,
            tool,
            arguments: arguments.into(),
            keep_result,
            recorded: proposal.map_or(LabelId::BOTTOM, |node| self.recorded(node)),
            choice: turn.choice,
        });
        self.calls.push(Progress {
            origin: turn.origin,
            proposal,
            labelled,
            rewritten: None,
            result: None,
            effect: None,
            stored: None,
            removed: None,
            undone: false,
        });
        self.emit(Happening::Proposed { call: id });
        self.schedule(self.tick, Due::Authorize(id, agent));
    }

    fn is_labelled(&self, tool: &ToolSpec, arguments: &[Argument], choice: LabelId) -> bool {
        let logs = self.instrumentation;
        let counts = |argument: &&Argument| {
            let role = tool.arguments[usize::from(argument.position)].role;
            !logs.authority_only || role.is_authority()
        };
        (tool.high_risk() || logs.low_risk)
            && (arguments
                .iter()
                .filter(counts)
                .any(|argument| self.tainted(argument.label))
                || logs.choice && self.tainted(choice))
    }

    fn proposal_node(
        &mut self,
        call: CallId,
        agent: AgentId,
        turn: &Turn,
        tool: &ToolSpec,
        arguments: &[Argument],
        labelled: bool,
    ) -> NodeId {
        let exact = join_arguments(self.labels, arguments);
        let subject = Subject::Call(call);
        let node = self.node(NodeKind::Proposal, NodeDetail::Plain, subject, exact);
        let (kind, taint) = if labelled {
            (EdgeKind::Data, true)
        } else if tool.high_risk() {
            (EdgeKind::Control, false)
        } else {
            (EdgeKind::Temporal, false)
        };
        self.edge(turn.origin, node, kind, taint);
        if !tool.high_risk()
            && let Some(discarded) = self.agents[agent.index()].discarded.take()
        {
            self.edge(discarded, node, EdgeKind::Temporal, false);
        }
        node
    }
}
