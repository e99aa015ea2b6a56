//! Section 4: what a committed call does, and the objects that its arguments refer to.

use std::sync::Arc;

use plugins::action::{Argument, Referent};
use plugins::briefing::Channel;
use plugins::ids::{CallId, NodeId, RecordId, StoreId};
use plugins::label::{Flags, LabelId};
use plugins::policy::{Hook, MemoryVerdict, RecordView, Ruling, Verdict, VerdictKind};
use plugins::tool::{Passing, Role, ToolSpec};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Subject};
use plugins::value::{Content, Field, Text, Value};
use worlds::spec::StoreFilter;

use super::Run;
use super::ask::ask;
use super::labels::{join, join_arguments};
use super::state::{Flow, Object, Record, Span};

/// From where tainted content reaches a side effect past its proposal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    State,
    Object(Object),
}

impl Run<'_> {
    /// Gives each by-reference argument what it refers to.
    pub(super) fn resolve_references(&mut self, tool: &ToolSpec, arguments: &mut [Argument]) {
        for argument in arguments {
            if tool.arguments[usize::from(argument.position)].passing == Passing::Reference {
                let object = self.named_object(&argument.value);
                argument.referent = object.map(|object| self.referent(object));
            }
        }
    }

    /// The object that the first string to name one names.
    fn named_object(&self, value: &Value) -> Option<Object> {
        let briefing = &self.scenario.briefing;
        value.strings().find_map(|name| {
            if let Some(record) = self.named_record(name) {
                return Some(Object::Record(record));
            }
            let source = briefing.source_named(name)?;
            let channel = briefing.sources[source.index()].channel;
            let is_object = !matches!(channel, Channel::Goal | Channel::PersistentMemory);
            is_object.then_some(Object::Source(source))
        })
    }

    fn named_record(&self, name: &str) -> Option<RecordId> {
        let (store, key) = name.split_once('/')?;
        let mut stores = self.scenario.stores.iter();
        let store = stores.position(|spec| &*spec.name == store)?;
        self.find_record(StoreId::at(store), key, Record::is_usable)
    }

    fn referent(&mut self, object: Object) -> Referent {
        let (subject, content, fields) = match object {
            Object::Record(id) => {
                let record = &self.records[id.index()];
                (Subject::Record(id), record.content.clone(), record.fields)
            }
            Object::Source(id) => {
                let content = self.scenario.sources[id.index()].content.clone();
                (Subject::Source(id), content, self.source_fields(id))
            }
        };
        Referent {
            object: subject,
            content,
            labels: self.labels_of(fields).iter().copied().collect(),
        }
    }

    /// The recorded label of an object, touched or not.
    fn object_label(&mut self, object: Object) -> LabelId {
        match object {
            Object::Source(source) => self.source_label(source),
            Object::Record(record) => self.records[record.index()].recorded,
        }
    }

    /// The origins of the content edges of a call's side effect, each once.
    fn content_origins(&self, call: CallId) -> Vec<Origin> {
        let tool = self.tool(call);
        let progress = &self.calls[call.index()];
        let mut origins = Vec::new();
        if progress.labelled || !(tool.high_risk() || self.instrumentation.low_risk) {
            return origins;
        }
        for argument in self.arguments(call) {
            let spec = &tool.arguments[usize::from(argument.position)];
            let by_value = spec.passing == Passing::Value
                && spec.role == Role::Content
                && self.tainted(argument.label);
            let is_tainted = |referent: &&Referent| {
                let mut labels = referent.labels.iter();
                labels.any(|&label| self.tainted(label))
            };
            let origin = if by_value {
                Origin::State
            } else if let Some(referent) = argument.referent.as_ref().filter(is_tainted) {
                let object = Object::of(referent);
                let read = &self.agents[self.caller(call).index()].read;
                if read.contains(&object) && self.tainted(self.recorded(progress.origin)) {
                    Origin::State
                } else {
                    Origin::Object(object)
                }
            } else {
                continue;
            };
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        origins
    }

    /// The recorded label that the side effect of a call will have.
    fn label_to_come(&mut self, call: CallId, origins: &[Origin]) -> LabelId {
        let progress = &self.calls[call.index()];
        let (state, labelled) = (progress.origin, progress.labelled);
        let mut label = match progress.proposal {
            Some(proposal) if labelled => self.recorded(proposal),
            _ => LabelId::BOTTOM,
        };
        for origin in origins {
            let from = match *origin {
                Origin::State => self.recorded(state),
                Origin::Object(object) => self.object_label(object),
            };
            label = join(self.labels, label, from);
        }
        label
    }

    /// The side effect of a call, with happening `Committed`.
    fn side_effect(&mut self, call: CallId, origins: &[Origin]) -> NodeId {
        let tool = self.tool(call);
        let arguments = self.arguments(call);
        let referents = arguments.iter().filter_map(|a| a.referent.as_ref());
        let referred: Vec<LabelId> = referents
            .flat_map(|referent| referent.labels.iter().copied())
            .collect();
        let mut exact = match &self.calls[call.index()].rewritten {
            Some(arguments) => join_arguments(self.labels, arguments),
            None => join_arguments(self.labels, &self.trace.calls[call.index()].arguments),
        };
        for label in referred {
            exact = join(self.labels, exact, label);
        }
        // An edge runs from an older node to a newer one, so what is touched here comes first.
        for origin in origins {
            if let Origin::Object(object) = *origin {
                self.touch(object);
            }
        }
        let proposal = self.proposal_of(call);
        let labelled = self.calls[call.index()].labelled;
        let (detail, unlabelled) = if tool.high_risk() {
            (NodeDetail::Plain, EdgeKind::Control)
        } else {
            (NodeDetail::TaskRecord, EdgeKind::Temporal)
        };
        let kind = if labelled { EdgeKind::Data } else { unlabelled };
        let subject = Subject::Call(call);
        let node = self.node(NodeKind::SideEffect, detail, subject, exact);
        self.edge(proposal, node, kind, labelled);
        for origin in origins {
            let from = match *origin {
                Origin::State => self.calls[call.index()].origin,
                Origin::Object(object) => self.touch(object),
            };
            self.edge(from, node, EdgeKind::Data, true);
        }
        self.calls[call.index()].effect = Some(node);
        self.emit(Happening::Committed { call, node });
        node
    }

    pub(super) fn act(&mut self, call: CallId) {
        let origins = self.content_origins(call);
        self.side_effect(call, &origins);
        self.acknowledge_later(call);
    }

    /// The key that a memory tool means.
    fn key(&self, call: CallId) -> Text {
        self.call_view(call).target().unwrap_or_default().into()
    }

    /// The store's own filter that refuses a write, if one does.
    pub(super) fn refused(&self, store: StoreId, key: &str, recorded: LabelId) -> Option<u32> {
        let refuses = |filter: &StoreFilter| match filter {
            StoreFilter::RefuseUntrustedWrites => self.tainted(recorded),
            StoreFilter::RefuseKeyPrefix(prefix) => key.starts_with(&**prefix),
            StoreFilter::HideUntrustedReads => false,
        };
        let mut filters = self.scenario.stores[store.index()].filters.iter();
        filters.position(refuses).map(super::count)
    }

    /// What a memory write stores: its arguments of content role.
    fn written_content(&mut self, call: CallId) -> (Arc<Content>, Span) {
        let tool = self.tool(call);
        let mut content = Content::default();
        let mut labels = Vec::new();
        for argument in self.arguments(call) {
            let spec = &tool.arguments[usize::from(argument.position)];
            if spec.role != Role::Content {
                continue;
            }
            if let Some(referent) = &argument.referent {
                content.fields.extend_from_slice(&referent.content.fields);
                labels.extend_from_slice(&referent.labels);
            } else {
                content.fields.push(Field {
                    name: spec.name.clone(),
                    value: argument.value.to_string().into(),
                });
                labels.push(argument.label);
            }
        }
        let start = self.fields.len();
        self.fields.extend(labels);
        (content.into(), self.span_since(start))
    }

    pub(super) fn write_record(&mut self, call: CallId, store: StoreId) {
        let key = self.key(call);
        let origins = self.content_origins(call);
        let recorded = self.label_to_come(call, &origins);
        if let Some(filter) = self.refused(store, &key, recorded) {
            self.emit(Happening::Filtered { store, filter });
            return self.acknowledge_later(call);
        }
        let (content, fields) = self.written_content(call);
        let mut flow = Flow {
            content,
            fields,
            recorded,
            taint: true,
        };
        let view = RecordView {
            record: RecordId::at(self.records.len()),
            store,
            key: &key,
            content: &flow.content,
            labels: &self.fields[flow.fields.range()],
            recorded,
            agent: Some(self.caller(call)),
            call: Some(call),
        };
        let ruling = ask!(self, MEMORY_WRITE, on_memory_write(view));
        let Ruling { verdict, reason } = ruling;
        let kind = verdict.kind();
        let denial = reason.denial;
        let subject = Subject::Call(call);
        if kind != VerdictKind::Allow {
            let proposal = self.proposal_of(call);
            let decision = self.decision(proposal, subject, kind == VerdictKind::Quarantine);
            self.ruled(Hook::MemoryWrite, subject, kind, reason, Some(decision));
        }
        let allowed = match verdict {
            MemoryVerdict::Allow | MemoryVerdict::Quarantine => true,
            MemoryVerdict::Block => false,
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
        let effect = self.side_effect(call, &origins);
        self.remove_live(call, store, &key);
        flow.fields = self.flag_fields(flow.fields, Flags::VIA_MEMORY);
        let (record, node) = self.new_record(store, key, flow.content, flow.fields, Some(call));
        self.edge_carrying(effect, node, EdgeKind::Data, flow.taint, flow.recorded);
        self.calls[call.index()].stored = Some(record);
        self.stored(record, node, kind == VerdictKind::Quarantine);
        self.acknowledge_later(call);
    }

    /// Removes the live record of a key, if there is one, on behalf of a call.
    fn remove_live(&mut self, call: CallId, store: StoreId, key: &str) {
        let removed = self.find_record(store, key, |record| record.live);
        if let Some(record) = removed {
            self.remove(record, None);
        }
        self.calls[call.index()].removed = removed;
    }

    pub(super) fn delete_record(&mut self, call: CallId, store: StoreId) {
        let key = self.key(call);
        let origins = self.content_origins(call);
        self.side_effect(call, &origins);
        self.remove_live(call, store, &key);
        self.acknowledge_later(call);
    }

    pub(super) fn restore_record(&mut self, call: CallId, store: StoreId) {
        let key = self.key(call);
        let origins = self.content_origins(call);
        let effect = self.side_effect(call, &origins);
        if let Some(initial) = self.backup(store, &key) {
            self.remove_live(call, store, &key);
            let (record, node, from) = self.copy_of(initial, Some(call));
            self.edge(effect, node, EdgeKind::Control, false);
            self.edge(from, node, EdgeKind::Data, true);
            self.calls[call.index()].stored = Some(record);
            self.stored(record, node, false);
        }
        self.acknowledge_later(call);
    }

    /// A new record with the key and content of `earlier`, and the node of `earlier`, touched.
    pub(super) fn copy_of(
        &mut self,
        earlier: RecordId,
        call: Option<CallId>,
    ) -> (RecordId, NodeId, NodeId) {
        let from = self.touch_record(earlier);
        let record = &self.records[earlier.index()];
        let (store, fields) = (record.store, record.fields);
        let (key, content) = (record.key.clone(), record.content.clone());
        let (record, node) = self.new_record(store, key, content, fields, call);
        (record, node, from)
    }
}
