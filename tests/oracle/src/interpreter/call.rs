//! Section 4: a call from its authorisation to its result.

use plugins::action::Argument;
use plugins::briefing::Channel;
use plugins::ids::{AgentId, CallId, NodeId, SourceId, StoreId};
use plugins::label::Flags;
use plugins::model::SegmentKind;
use plugins::policy::{
    CommitVerdict, DenialReason, Hook, Inflow, MemoryVerdict, Proposal, ProposalVerdict,
    RecordView, Ruling, Verdict, VerdictKind,
};
use plugins::tool::Operation;
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Subject, Trace};
use plugins::value::{Content, Value};
use worlds::spec::{Scenario, StoreFilter};

use super::Run;
use super::ask::{Admission, ask};
use super::labels::join_arguments;
use super::state::{AutomaticWrite, Due, Flow, Object, Progress, Record};

impl Run<'_> {
    pub(super) fn authorize(&mut self, call: CallId) {
        let proposal = proposal(self.scenario, self.trace, self.calls, call);
        let ruling = ask!(self, PROPOSAL, on_proposal(proposal));
        let Ruling { verdict, reason } = ruling;
        let kind = verdict.kind();
        let denial = reason.denial;
        if !self.tool(call).operation.is_read() || kind != VerdictKind::Allow {
            let subject = Subject::Call(call);
            let proposal = self.proposal_of(call);
            let decision = self.decision(proposal, subject, false);
            self.ruled(Hook::Proposal, subject, kind, reason, Some(decision));
        }
        let allowed = match verdict {
            ProposalVerdict::Allow => true,
            ProposalVerdict::Block => false,
            ProposalVerdict::Confirm => self.approved(Subject::Call(call), Some(call)),
            ProposalVerdict::Hold => self.released(call),
            ProposalVerdict::Rewrite(values) => {
                self.rewrite(call, values);
                true
            }
            ProposalVerdict::Simulate(content) => return self.simulate(call, content),
            ProposalVerdict::Abort => return self.abort(),
        };
        if allowed {
            self.schedule(self.tick, Due::Commit(call, self.caller(call)));
        } else {
            self.deny(call, denial);
        }
    }

    pub(super) fn caller(&self, call: CallId) -> AgentId {
        self.trace.calls[call.index()].agent
    }

    /// The proposal node of a call; a read gets it when it is first needed.
    pub(super) fn proposal_of(&mut self, call: CallId) -> NodeId {
        let progress = &self.calls[call.index()];
        if let Some(node) = progress.proposal {
            return node;
        }
        let origin = progress.origin;
        let arguments = &self.trace.calls[call.index()].arguments;
        let exact = join_arguments(self.labels, arguments);
        let subject = Subject::Call(call);
        let node = self.node(NodeKind::Proposal, NodeDetail::Plain, subject, exact);
        self.edge(origin, node, EdgeKind::Control, false);
        self.calls[call.index()].proposal = Some(node);
        node
    }

    pub(super) fn deny(&mut self, call: CallId, reason: DenialReason) {
        self.emit(Happening::Denied { call, reason });
        let due = Due::Denial(call, self.caller(call), reason);
        self.schedule(self.tick + 1, due);
    }

    fn rewrite(&mut self, call: CallId, values: Vec<(u16, Value)>) {
        let scenario = self.scenario;
        let tool = self.trace.calls[call.index()].tool;
        let tool = &scenario.briefing.tools[tool.index()];
        let mut arguments = self.trace.calls[call.index()].arguments.to_vec();
        let join = join_arguments(self.labels, &arguments);
        for (position, value) in values {
            if usize::from(position) >= tool.arguments.len() {
                continue;
            }
            match arguments.binary_search_by_key(&position, |argument| argument.position) {
                Ok(at) => arguments[at].value = value,
                Err(at) => arguments.insert(
                    at,
                    Argument {
                        position,
                        value,
                        label: join,
                        referent: None,
                    },
                ),
            }
        }
        self.resolve_references(tool, &mut arguments);
        self.emit(Happening::Rewritten {
            call,
            arguments: arguments.as_slice().into(),
        });
        self.calls[call.index()].rewritten = Some(arguments);
    }

    fn simulate(&mut self, call: CallId, content: Content) {
        let proposal = self.proposal_of(call);
        let arguments = &self.trace.calls[call.index()].arguments;
        let label = join_arguments(self.labels, arguments);
        let start = self.fields.len();
        self.fields.resize(start + content.fields.len(), label);
        let flow = Flow {
            content: content.into(),
            fields: self.span_since(start),
            recorded: self.recorded(proposal),
            taint: self.calls[call.index()].labelled,
        };
        self.calls[call.index()].result = Some((flow, proposal, None));
        let due = Due::Result(call, self.caller(call));
        self.schedule(self.after(self.tool(call).latency_ticks), due);
    }

    pub(super) fn commit(&mut self, call: CallId) {
        let proposal = proposal(self.scenario, self.trace, self.calls, call);
        let ruling = ask!(self, COMMIT, on_commit(proposal));
        let Ruling { verdict, reason } = ruling;
        let denial = reason.denial;
        if verdict.kind() != VerdictKind::Allow {
            let subject = Subject::Call(call);
            let proposal = self.proposal_of(call);
            let decision = self.decision(proposal, subject, false);
            self.ruled(
                Hook::Commit,
                subject,
                verdict.kind(),
                reason,
                Some(decision),
            );
        }
        let allowed = match verdict {
            CommitVerdict::Allow => true,
            CommitVerdict::Block => false,
            CommitVerdict::Hold => self.released(call),
        };
        if !allowed {
            return self.deny(call, denial);
        }
        match self.tool(call).operation {
            Operation::ReadSource => {
                let target = self.call_view(call).target();
                let source = target.and_then(|name| self.scenario.briefing.source_named(name));
                self.read_source(call, source);
            }
            Operation::ReturnSource(source) => self.read_source(call, Some(source)),
            Operation::MemoryRead(store) => self.read_record(call, store),
            Operation::Act => self.act(call),
            Operation::MemoryWrite(store) | Operation::MemoryUpdate(store) => {
                self.write_record(call, store);
            }
            Operation::MemoryDelete(store) => self.delete_record(call, store),
            Operation::MemoryRestore(store) => self.restore_record(call, store),
        }
    }

    /// `Acknowledge(call)` after the latency of its tool.
    pub(super) fn acknowledge_later(&mut self, call: CallId) {
        let tick = self.after(self.tool(call).latency_ticks);
        self.schedule(tick, Due::Acknowledge(call, self.caller(call)));
    }

    fn bring(&mut self, call: CallId, flow: Flow, origin: NodeId, object: Object) {
        self.calls[call.index()].result = Some((flow, origin, Some(object)));
        let tick = self.after(self.tool(call).latency_ticks);
        self.schedule(tick, Due::Result(call, self.caller(call)));
    }

    fn read_source(&mut self, call: CallId, source: Option<SourceId>) {
        let readable = |source: &SourceId| {
            let channel = self.scenario.briefing.sources[source.index()].channel;
            matches!(channel, Channel::RetrievedDocument | Channel::ToolResult)
        };
        let Some(source) = source.filter(readable) else {
            return self.acknowledge_later(call);
        };
        let origin = self.touch_source(source);
        let flow = self.source_flow(source);
        self.bring(call, flow, origin, Object::Source(source));
    }

    fn read_record(&mut self, call: CallId, store: StoreId) {
        let target = self.call_view(call).target();
        let found = target.and_then(|key| self.find_record(store, key, Record::is_usable));
        let Some(id) = found else {
            return self.acknowledge_later(call);
        };
        let hidden = self.tainted(self.records[id.index()].recorded);
        let hides =
            |filter: &StoreFilter| hidden && matches!(filter, StoreFilter::HideUntrustedReads);
        let mut filters = self.scenario.stores[store.index()].filters.iter();
        if let Some(filter) = filters.position(hides) {
            let filter = super::count(filter);
            self.emit(Happening::Filtered { store, filter });
            return self.acknowledge_later(call);
        }
        let origin = self.touch_record(id);
        let record = &self.records[id.index()];
        let mut flow = Flow {
            content: record.content.clone(),
            fields: record.fields,
            recorded: record.recorded,
            taint: true,
        };
        let view = RecordView {
            record: id,
            store,
            key: &record.key,
            content: &record.content,
            labels: &self.fields[record.fields.range()],
            recorded: record.recorded,
            agent: Some(self.caller(call)),
            call: Some(call),
        };
        let ruling = ask!(self, MEMORY_READ, on_memory_read(view));
        let Ruling { verdict, reason } = ruling;
        let kind = verdict.kind();
        let denial = reason.denial;
        let subject = Subject::Record(id);
        if kind != VerdictKind::Allow {
            let decision = self.decision(origin, subject, kind == VerdictKind::Quarantine);
            self.ruled(Hook::MemoryRead, subject, kind, reason, Some(decision));
        }
        let allowed = match verdict {
            MemoryVerdict::Allow => true,
            MemoryVerdict::Block => false,
            MemoryVerdict::Quarantine => {
                self.quarantine(id);
                false
            }
            MemoryVerdict::Relabel(change) => {
                let (before, after) = self.relabel(&mut flow, &change);
                self.emit(Happening::Relabelled {
                    subject,
                    before,
                    after,
                });
                true
            }
            MemoryVerdict::Confirm => self.approved(subject, Some(call)),
        };
        if !allowed {
            return self.deny(call, denial);
        }
        let record = &self.records[id.index()];
        let mut flags = Flags::VIA_MEMORY;
        if record.initial.is_some() || record.episode < self.episode {
            flags |= Flags::EARLIER_EPISODE;
        }
        flow.fields = self.flag_fields(flow.fields, flags);
        self.bring(call, flow, origin, Object::Record(id));
    }

    pub(super) fn result(&mut self, call: CallId, agent: AgentId) {
        let result = self.calls[call.index()].result.take();
        let (mut flow, origin, object) = result.expect("a result brings what was committed");
        let inflow = Inflow {
            agent,
            from: None,
            content: &flow.content,
            labels: &self.fields[flow.fields.range()],
            recorded: flow.recorded,
            node: Some(origin),
        };
        let ruling = ask!(self, OBSERVATION, on_observation(inflow));
        let subject = Subject::Call(call);
        match self.admit(Hook::Observation, subject, origin, &mut flow, ruling) {
            Admission::Admitted => {}
            Admission::Dropped => {
                return self.schedule(self.tick + 1, Due::Acknowledge(call, agent));
            }
            Admission::Quarantined(denial) => return self.deny(call, denial),
        }
        let exact = self.join_fields(flow.fields);
        let node = self.node(NodeKind::ToolResult, NodeDetail::Plain, subject, exact);
        let is_unlabelled = object.is_none() && !self.calls[call.index()].labelled;
        let kind = if is_unlabelled {
            EdgeKind::Control
        } else {
            EdgeKind::Data
        };
        self.edge_carrying(origin, node, kind, flow.taint, flow.recorded);
        let tool = self.trace.calls[call.index()].tool;
        if !self.trace.calls[call.index()].keep_result && self.tool(call).operation.is_read() {
            self.agents[agent.index()].discarded = Some(node);
            self.emit(Happening::Observed { call, kept: false });
            self.add_bare_segment(agent, SegmentKind::Acknowledged { tool });
            return self.schedule(self.tick, Due::Decide(agent));
        }
        if self.tool(call).operation.is_read() {
            self.agents[agent.index()].discarded = None;
        }
        self.agents[agent.index()].read.extend(object);
        flow.recorded = self.recorded(node);
        flow.taint = true;
        let state = self.enter_context(agent, node, EdgeKind::Data, &flow);
        let source = match object {
            Some(Object::Source(source)) => Some(source),
            Some(Object::Record(record)) => self.records[record.index()].initial,
            None => None,
        };
        self.add_flow(
            agent,
            SegmentKind::Observation { tool, source },
            flow.clone(),
        );
        self.emit(Happening::Observed { call, kept: true });
        for (store, spec) in self.scenario.stores.iter().enumerate() {
            let mut persists = spec.persists.iter();
            let Some((_, delay)) = persists.find(|(observer, _)| *observer == agent) else {
                continue;
            };
            self.add_content(&flow.content);
            let write = super::count(self.automatic_writes.len());
            self.automatic_writes.push(AutomaticWrite {
                store: StoreId::at(store),
                content: flow.content.clone(),
                fields: flow.fields,
                state,
            });
            self.schedule(self.tick + delay, Due::Persist(write, agent));
        }
        self.schedule(self.tick, Due::Decide(agent));
    }
}

/// A call as the hooks on proposals and commits see it.
fn proposal<'a>(
    scenario: &'a Scenario,
    trace: &'a Trace,
    calls: &'a [Progress],
    call: CallId,
) -> Proposal<'a> {
    let progress = &calls[call.index()];
    let call = &trace.calls[call.index()];
    Proposal {
        call,
        tool: &scenario.briefing.tools[call.tool.index()],
        arguments: progress.rewritten.as_deref().unwrap_or(&call.arguments),
        node: progress.proposal,
    }
}
