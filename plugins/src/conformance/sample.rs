//! A scenario and a trace built by hand, for tests of plugins. Everything in it refers only to what
//! exists, as in a rollout, so a plugin may index freely.

use crate::action::{Argument, Call};
use crate::briefing::{AgentInfo, Briefing, Canary, Channel, SourceInfo, Trust};
use crate::draws::Draws;
use crate::ids::{AgentId, CallId, NodeId, PrincipalId, SinkId, SourceId, ToolId};
use crate::label::{Label, LabelId, LabelTable, Readers};
use crate::ledger::{Condition, Entry};
use crate::policy::{Proposal, View};
use crate::predicate::CallView;
use crate::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, SinkSpec, Target, ToolSpec, Undo, ValueKind,
};
use crate::trace::{
    Edge, EdgeKind, Event, Happening, Node, NodeDetail, NodeKind, Prefix, Subject, Trace,
};
use crate::value::{Text, Value};

/// A scenario with a trace, grown piece by piece.
#[derive(Clone, Debug)]
pub struct World {
    /// The trusted inputs.
    pub briefing: Briefing,
    /// The labels behind the ids.
    pub labels: LabelTable,
    /// What happened.
    pub trace: Trace,
    /// The proposal node of each call; none for a read.
    pub proposals: Vec<Option<NodeId>>,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// A scenario without anything.
    #[must_use]
    pub fn new() -> Self {
        Self {
            briefing: Briefing::default(),
            labels: LabelTable::new(),
            trace: Trace::default(),
            proposals: Vec::new(),
        }
    }

    /// Adds somebody who may read.
    pub fn add_principal(&mut self, name: &str) -> PrincipalId {
        self.briefing.principals.push(name.into());
        PrincipalId::at(self.briefing.principals.len() - 1)
    }

    /// Adds an agent that knows no tool yet.
    pub fn add_agent(&mut self, name: &str) -> AgentId {
        self.briefing.agents.push(AgentInfo {
            name: name.into(),
            tools: Vec::new(),
        });
        AgentId::at(self.briefing.agents.len() - 1)
    }

    /// Adds a source instance, a document.
    pub fn add_source(&mut self, name: &str, trust: Trust, readers: Readers) -> SourceId {
        let source = SourceId::at(self.briefing.sources.len());
        if trust == Trust::Untrusted {
            self.briefing.untrusted.insert(source.0);
        }
        let label = Label {
            readers,
            ..Label::of_source(source)
        };
        self.briefing.sources.push(SourceInfo {
            name: name.into(),
            channel: Channel::RetrievedDocument,
            trust,
            label,
        });
        source
    }

    /// Adds a synthetic secret.
    pub fn add_canary(&mut self, token: &str, readers: Readers) {
        self.briefing.canaries.push(Canary {
            token: token.into(),
            readers,
        });
    }

    /// Adds a sink.
    pub fn add_sink(&mut self, name: &str, readers: Vec<PrincipalId>) -> SinkId {
        self.briefing.sinks.push(SinkSpec {
            name: name.into(),
            readers,
        });
        SinkId::at(self.briefing.sinks.len() - 1)
    }

    /// Adds a tool that every agent knows.
    pub fn add_tool(&mut self, tool: ToolSpec) -> ToolId {
        let id = ToolId::at(self.briefing.tools.len());
        self.briefing.tools.push(tool);
        for agent in &mut self.briefing.agents {
            agent.tools.push(id);
        }
        id
    }

    /// Adds a ledger entry.
    pub fn authorize(&mut self, action: &str, target: &str, conditions: &[(&str, Condition)]) {
        self.briefing.ledger.entries.push(Entry {
            action: action.into(),
            target: target.into(),
            conditions: conditions
                .iter()
                .map(|(name, condition)| (Text::from(*name), condition.clone()))
                .collect(),
        });
    }

    /// The join of the labels of `sources`.
    pub fn label_of(&mut self, sources: &[SourceId]) -> LabelId {
        let joined = sources.iter().fold(Label::bottom(), |label, source| {
            label.join(&self.briefing.sources[source.index()].label)
        });
        self.labels.intern(joined)
    }

    /// Adds a call of the first agent. Its recorded label follows the instrumentation `paper`
    /// (`docs/SEMANTICS.md`, section 2): the join of the labels of its authority-bearing arguments,
    /// if one of them is tainted and the tool is high-risk.
    pub fn add_call(&mut self, tool: ToolId, arguments: Vec<Argument>) -> CallId {
        let id = CallId::at(self.trace.calls.len());
        let recorded = self.recorded_label(tool, &arguments);
        let call = Call {
            id,
            agent: AgentId(0),
            episode: 0,
            tool,
            arguments: arguments.into(),
            keep_result: true,
            recorded,
            choice: LabelId::BOTTOM,
        };
        self.trace.calls.push(call);
        let is_read = self.briefing.tools[tool.index()].operation.is_read();
        let node = (!is_read).then(|| self.add_node(NodeKind::Proposal, id, recorded, None));
        self.proposals.push(node);
        self.add_event(Happening::Proposed { call: id });
        id
    }

    /// Lets a call that is no read commit.
    pub fn commit(&mut self, call: CallId) {
        let recorded = self.trace.calls[call.index()].recorded;
        let proposal = self.proposals[call.index()];
        let node = self.add_node(NodeKind::SideEffect, call, recorded, proposal);
        self.add_event(Happening::Committed { call, node });
    }

    /// A call as the policy sees it.
    #[must_use]
    pub fn proposal(&self, call: CallId) -> Proposal<'_> {
        let call = &self.trace.calls[call.index()];
        Proposal {
            call,
            tool: &self.briefing.tools[call.tool.index()],
            arguments: &call.arguments,
            node: self.proposals[call.id.index()],
        }
    }

    /// A call as the ledger predicates see it.
    #[must_use]
    pub fn call_view(&self, call: CallId) -> CallView<'_> {
        self.proposal(call).view()
    }

    /// The trace when its first `events` events have happened.
    #[must_use]
    pub fn prefix_of(&self, events: usize) -> Prefix<'_> {
        let whole = self.trace.prefix();
        let events = &whole.events[..events.min(whole.events.len())];
        let (nodes, edges) = events
            .last()
            .map_or((0, 0), |last| (last.nodes_after, last.edges_after));
        let calls = events
            .iter()
            .filter(|event| matches!(event.what, Happening::Proposed { .. }))
            .count();
        Prefix {
            nodes: &whole.nodes[..nodes as usize],
            edges: &whole.edges[..edges as usize],
            calls: &whole.calls[..calls],
            events,
        }
    }

    /// What a hook sees when everything in the trace has happened.
    pub fn view<'a>(&'a self, draws: &'a mut Draws) -> View<'a> {
        self.view_of(self.trace.prefix(), draws)
    }

    /// What a hook sees when `prefix` has happened.
    pub fn view_of<'a>(&'a self, prefix: Prefix<'a>, draws: &'a mut Draws) -> View<'a> {
        View {
            briefing: &self.briefing,
            prefix,
            labels: &self.labels,
            tick: prefix.events.len() as u64,
            episode: 0,
            draws,
        }
    }

    fn recorded_label(&mut self, tool: ToolId, arguments: &[Argument]) -> LabelId {
        let spec = &self.briefing.tools[tool.index()];
        let authority: Vec<_> = arguments
            .iter()
            .filter(|argument| {
                let spec = &spec.arguments[usize::from(argument.position)];
                spec.role.is_authority()
            })
            .map(|argument| argument.label)
            .collect();
        let tainted = authority.iter().any(|&label| {
            let label = self.labels.get(label);
            label.carries(&self.briefing.untrusted)
        });
        if !tainted || !spec.high_risk() {
            return LabelId::BOTTOM;
        }
        authority
            .into_iter()
            .fold(LabelId::BOTTOM, |a, b| self.labels.join(a, b))
    }

    fn add_node(
        &mut self,
        kind: NodeKind,
        call: CallId,
        recorded: LabelId,
        parent: Option<NodeId>,
    ) -> NodeId {
        let id = NodeId::at(self.trace.nodes.len());
        self.trace.nodes.push(Node {
            kind,
            detail: NodeDetail::Plain,
            tick: self.trace.events.len() as u64,
            episode: 0,
            agent: Some(AgentId(0)),
            subject: Subject::Call(call),
            recorded,
            exact: recorded,
        });
        self.trace.edges.extend(parent.map(|from| Edge {
            from,
            to: id,
            kind: EdgeKind::Data,
            taint: recorded != LabelId::BOTTOM,
        }));
        id
    }

    fn add_event(&mut self, what: Happening) {
        let rows = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        self.trace.events.push(Event {
            tick: self.trace.events.len() as u64,
            episode: 0,
            agent: Some(AgentId(0)),
            what,
            nodes_after: rows(self.trace.nodes.len()),
            edges_after: rows(self.trace.edges.len()),
        });
    }
}

/// A side-effecting tool without arguments, whose target is always `target`.
#[must_use]
pub fn tool(name: &str, risk: RiskClass, target: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        operation: Operation::Act,
        risk,
        arguments: Vec::new(),
        target: Target::Fixed(target.into()),
        sink: None,
        latency_ticks: 1,
        undo: Undo::Irrevocable,
        irrevocable_email: false,
    }
}

/// An optional text argument passed by value.
#[must_use]
pub fn argument(name: &str, role: Role) -> ArgumentSpec {
    ArgumentSpec {
        name: name.into(),
        aliases: Vec::new(),
        kind: ValueKind::Text,
        role,
        passing: Passing::Value,
        required: false,
    }
}

/// An argument given in a call.
#[must_use]
pub fn given(position: u16, value: Value, label: LabelId) -> Argument {
    Argument {
        position,
        value,
        label,
        referent: None,
    }
}

/// A list of texts.
#[must_use]
pub fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| Text::from(*item)).collect())
}
