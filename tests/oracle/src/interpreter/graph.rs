//! Section 2: nodes, edges, and the records and sources behind them.

use std::sync::Arc;

use plugins::ids::{AgentId, CallId, NodeId, RecordId, SourceId, StoreId};
use plugins::label::LabelId;
use plugins::trace::{Edge, EdgeKind, Happening, Node, NodeDetail, NodeKind, Subject};
use plugins::value::{Content, Text};

use super::Run;
use super::labels::join;
use super::state::{Flow, Object, Record, Span};

impl Run<'_> {
    /// A new node. Its recorded label is bottom until edges that propagate taint reach it.
    pub(super) fn node(
        &mut self,
        kind: NodeKind,
        detail: NodeDetail,
        subject: Subject,
        exact: LabelId,
    ) -> NodeId {
        let id = NodeId::at(self.trace.nodes.len());
        self.trace.nodes.push(Node {
            kind,
            detail,
            tick: self.tick,
            episode: self.episode,
            agent: self.agent,
            subject,
            recorded: LabelId::BOTTOM,
            exact,
        });
        id
    }

    /// An edge. If it propagates taint, the recorded label of its origin flows on.
    pub(super) fn edge(&mut self, from: NodeId, to: NodeId, kind: EdgeKind, taint: bool) {
        let recorded = self.recorded(from);
        self.edge_carrying(from, to, kind, taint, recorded);
    }

    /// An edge along which `recorded` flows on, if it propagates taint.
    pub(super) fn edge_carrying(
        &mut self,
        from: NodeId,
        to: NodeId,
        kind: EdgeKind,
        taint: bool,
        recorded: LabelId,
    ) {
        self.trace.edges.push(Edge {
            from,
            to,
            kind,
            taint,
        });
        if taint {
            let node = &mut self.trace.nodes[to.index()];
            node.recorded = join(self.labels, node.recorded, recorded);
        }
    }

    pub(super) fn recorded(&self, node: NodeId) -> LabelId {
        self.trace.nodes[node.index()].recorded
    }

    pub(super) fn tainted(&self, label: LabelId) -> bool {
        self.labels
            .get(label)
            .carries(&self.scenario.briefing.untrusted)
    }

    /// A decision about `origin`, and under it an audit if the decision is a quarantine.
    pub(super) fn decision(
        &mut self,
        origin: NodeId,
        subject: Subject,
        quarantine: bool,
    ) -> NodeId {
        let detail = if quarantine {
            NodeDetail::Quarantine
        } else {
            NodeDetail::Plain
        };
        let decision = self.node(NodeKind::Decision, detail, subject, LabelId::BOTTOM);
        self.edge(origin, decision, EdgeKind::Audit, false);
        if quarantine {
            self.audit(decision, subject);
        }
        decision
    }

    /// An audit record under `above`.
    pub(super) fn audit(&mut self, above: NodeId, subject: Subject) -> NodeId {
        let audit = self.node(
            NodeKind::Decision,
            NodeDetail::Audit,
            subject,
            LabelId::BOTTOM,
        );
        self.edge(above, audit, EdgeKind::Audit, false);
        audit
    }

    /// `enter_context`: the new state of `agent`, after `flow` from `origin`.
    pub(super) fn enter_context(
        &mut self,
        agent: AgentId,
        origin: NodeId,
        kind: EdgeKind,
        flow: &Flow,
    ) -> NodeId {
        let previous = self.agents[agent.index()].state;
        let mut exact = self.join_fields(flow.fields);
        if let Some(previous) = previous {
            let before = self.trace.nodes[previous.index()].exact;
            exact = join(self.labels, before, exact);
        }
        let state = self.node(
            NodeKind::AgentState,
            NodeDetail::Plain,
            Subject::Agent(agent),
            exact,
        );
        if let Some(previous) = previous {
            self.edge(previous, state, EdgeKind::Data, true);
        }
        self.edge_carrying(origin, state, kind, flow.taint, flow.recorded);
        self.agents[agent.index()].state = Some(state);
        state
    }

    /// The label of a source instance.
    pub(super) fn source_label(&mut self, source: SourceId) -> LabelId {
        let known = &mut self.sources[source.index()].label;
        let label = &self.scenario.briefing.sources[source.index()].label;
        *known.get_or_insert_with(|| self.labels.intern(label.clone()))
    }

    /// The labels of the fields of a source instance.
    pub(super) fn source_fields(&mut self, source: SourceId) -> Span {
        if let Some(fields) = self.sources[source.index()].fields {
            return fields;
        }
        let start = self.fields.len();
        let whole = self.source_label(source);
        for label in &self.scenario.sources[source.index()].labels {
            let is_whole = label == self.labels.get(whole);
            let label = if is_whole {
                whole
            } else {
                self.labels.intern(label.clone())
            };
            self.fields.push(label);
        }
        let fields = self.span_since(start);
        self.sources[source.index()].fields = Some(fields);
        fields
    }

    /// What flows when a source instance is delivered or read.
    pub(super) fn source_flow(&mut self, source: SourceId) -> Flow {
        Flow {
            content: self.scenario.sources[source.index()].content.clone(),
            fields: self.source_fields(source),
            recorded: self.source_label(source),
            taint: true,
        }
    }

    /// The node of a source instance, created when it is first touched.
    pub(super) fn touch_source(&mut self, source: SourceId) -> NodeId {
        if let Some(node) = self.sources[source.index()].node {
            return node;
        }
        let label = self.source_label(source);
        let subject = Subject::Source(source);
        let node = self.node(NodeKind::Source, NodeDetail::Plain, subject, label);
        self.trace.nodes[node.index()].recorded = label;
        self.sources[source.index()].node = Some(node);
        node
    }

    /// The node of a record; that of an initial one is created when it is first touched.
    pub(super) fn touch_record(&mut self, record: RecordId) -> NodeId {
        let Record { node, recorded, .. } = self.records[record.index()];
        if let Some(node) = node {
            return node;
        }
        let subject = Subject::Record(record);
        let node = self.node(NodeKind::Memory, NodeDetail::Plain, subject, recorded);
        self.trace.nodes[node.index()].recorded = recorded;
        self.records[record.index()].node = Some(node);
        node
    }

    pub(super) fn touch(&mut self, object: Object) -> NodeId {
        match object {
            Object::Source(source) => self.touch_source(source),
            Object::Record(record) => self.touch_record(record),
        }
    }

    /// A new record and its memory node, which has no edges yet.
    pub(super) fn new_record(
        &mut self,
        store: StoreId,
        key: Text,
        content: Arc<Content>,
        fields: Span,
        call: Option<CallId>,
    ) -> (RecordId, NodeId) {
        self.add_content(&content);
        let id = RecordId::at(self.records.len());
        let exact = self.join_fields(fields);
        let subject = Subject::Record(id);
        let node = self.node(NodeKind::Memory, NodeDetail::Plain, subject, exact);
        self.records.push(Record {
            store,
            key,
            content,
            fields,
            recorded: LabelId::BOTTOM,
            node: Some(node),
            live: true,
            quarantined: false,
            call,
            episode: self.episode,
            initial: None,
        });
        (id, node)
    }

    /// Happening `Stored`, once the edges of the memory node are drawn.
    pub(super) fn stored(&mut self, id: RecordId, node: NodeId, quarantined: bool) {
        let recorded = self.recorded(node);
        let record = &mut self.records[id.index()];
        record.recorded = recorded;
        record.quarantined = quarantined;
        let what = Happening::Stored {
            record: id,
            store: record.store,
            key: record.key.clone(),
            content: record.content.clone(),
            node,
            quarantined,
        };
        self.emit(what);
    }

    /// Happening `Removed`.
    pub(super) fn remove(&mut self, record: RecordId, step: Option<u32>) {
        self.records[record.index()].live = false;
        self.emit(Happening::Removed { record, step });
    }

    /// The newest live record of a key that satisfies `wanted`.
    pub(super) fn find_record(
        &self,
        store: StoreId,
        key: &str,
        wanted: impl Fn(&Record) -> bool,
    ) -> Option<RecordId> {
        let fits = |record: &Record| record.store == store && &*record.key == key && wanted(record);
        self.records.iter().rposition(fits).map(RecordId::at)
    }

    /// The initial record of which a store has a backup under `key`.
    pub(super) fn backup(&self, store: StoreId, key: &str) -> Option<RecordId> {
        let stores = &self.scenario.stores;
        let before: usize = stores[..store.index()]
            .iter()
            .map(|store| store.records.len())
            .sum();
        let records = &stores[store.index()].records;
        let position = records
            .iter()
            .position(|record| record.backup && &*record.key == key)?;
        Some(RecordId::at(before + position))
    }
}
