//! Metrics of one's own over a finished trace, in the language of the predicates.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugins::action::Argument;
use plugins::briefing::Briefing;
use plugins::ids::{AgentId, CallId, MessageId, NodeId, RecordId, StoreId};
use plugins::label::{LabelId, LabelTable};
use plugins::policy::RecordView;
use plugins::trace::{Event, Happening, Node, NodeKind, Prefix, Subject};
use plugins::value::{Content, Text};

use crate::evaluate::all;
use crate::logic::Truth;
use crate::predicate::Predicate;
use crate::scene::Scene;

/// Metrics of a file.
#[derive(Clone, Debug)]
pub struct Metrics {
    pub(crate) metrics: Vec<Metric>,
    /// Hash of every byte of the file.
    pub(crate) content: u128,
}

/// One metric.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) name: Text,
    pub(crate) doc: String,
    pub(crate) count: Happened,
    pub(crate) of: Vec<Predicate>,
    /// What the share is of; none for a plain count.
    pub(crate) over: Option<Vec<Predicate>>,
}

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    Proposed,
    Committed,
    Denied,
    Asked,
    Observed,
    Stored,
    Quarantined,
    Delivered,
}

pub(crate) const HAPPENED: [(&str, Happened); 8] = [
    ("Proposed", Happened::Proposed),
    ("Committed", Happened::Committed),
    ("Denied", Happened::Denied),
    ("Asked", Happened::Asked),
    ("Observed", Happened::Observed),
    ("Stored", Happened::Stored),
    ("Quarantined", Happened::Quarantined),
    ("Delivered", Happened::Delivered),
];

/// One metric of one rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its name in the file.
    pub name: Text,
    /// How many happenings counted.
    pub count: u64,
    /// Of how many, if the metric is a share. Never less than `count`.
    pub of: Option<u64>,
}

impl Metrics {
    /// The name of each metric and what its author says of it, in the order of the file.
    pub fn described(&self) -> impl Iterator<Item = (&str, &str)> {
        self.metrics
            .iter()
            .map(|metric| (&*metric.name, metric.doc.as_str()))
    }

    /// Hash of every byte that they are made of.
    #[must_use]
    pub const fn content(&self) -> u128 {
        self.content
    }

    /// Measures a finished trace, in the order of the file. A happening counts if all its conditions
    /// hold; one of which a fact is not known does not count. History is what came before it.
    #[must_use]
    pub fn measure(
        &self,
        prefix: Prefix<'_>,
        labels: &LabelTable,
        briefing: &Briefing,
    ) -> Vec<Measured> {
        let mut measured: Vec<Measured> = self
            .metrics
            .iter()
            .map(|metric| Measured {
                name: metric.name.clone(),
                count: 0,
                of: metric.over.as_ref().map(|_| 0),
            })
            .collect();
        let mut reading = Reading::default();
        for (position, event) in prefix.events.iter().enumerate() {
            reading.note(event, prefix);
            let Some(happened) = happened(&event.what) else {
                continue;
            };
            if !self.metrics.iter().any(|metric| metric.count == happened) {
                continue;
            }
            let before = Prefix {
                events: &prefix.events[..position],
                ..prefix
            };
            let scene = Scene::new(briefing, before, labels, event.tick, event.episode);
            let Some(scene) = reading.shown(scene, event, prefix) else {
                continue;
            };
            let metrics = self.metrics.iter().zip(&mut measured);
            for (metric, measured) in metrics.filter(|(metric, _)| metric.count == happened) {
                metric.add(&scene, measured);
            }
        }
        measured
    }
}

impl Metric {
    fn add(&self, scene: &Scene<'_>, measured: &mut Measured) {
        let holds = |predicates: &[Predicate]| all(predicates, scene) == Truth::True;
        if let (Some(over), Some(of)) = (&self.over, &mut measured.of) {
            if !holds(over) {
                return;
            }
            *of += 1;
        }
        measured.count += u64::from(holds(&self.of));
    }
}

fn happened(what: &Happening) -> Option<Happened> {
    Some(match what {
        Happening::Proposed { .. } => Happened::Proposed,
        Happening::Committed { .. } => Happened::Committed,
        Happening::Denied { .. } => Happened::Denied,
        Happening::Asked {
            subject: Subject::Call(_),
            ..
        } => Happened::Asked,
        Happening::Observed { .. } => Happened::Observed,
        Happening::Stored { .. } => Happened::Stored,
        Happening::Quarantined { .. } => Happened::Quarantined,
        Happening::Delivered { .. } => Happened::Delivered,
        _ => return None,
    })
}

/// What earlier events say of calls and records.
#[derive(Default)]
struct Reading<'a> {
    /// The arguments of calls that were rewritten.
    rewritten: BTreeMap<CallId, &'a Arc<[Argument]>>,
    stored: BTreeMap<RecordId, Stored<'a>>,
    /// Who sent which message; an injected one was sent by nobody.
    sent: BTreeMap<MessageId, AgentId>,
}

/// A record when it was stored.
struct Stored<'a> {
    store: StoreId,
    key: &'a str,
    content: &'a Content,
    recorded: LabelId,
    /// Of each field: that of the whole, which is all that a trace keeps.
    exact: Vec<LabelId>,
    agent: Option<AgentId>,
}

fn node(prefix: Prefix<'_>, id: NodeId) -> Option<&Node> {
    prefix.nodes.get(id.index())
}

impl<'a> Reading<'a> {
    fn note(&mut self, event: &'a Event, prefix: Prefix<'a>) {
        match &event.what {
            Happening::Rewritten { call, arguments } => {
                self.rewritten.insert(*call, arguments);
            }
            Happening::Stored {
                record,
                store,
                key,
                content,
                node: id,
                ..
            } => {
                let node = node(prefix, *id);
                let exact = node.map_or(LabelId::BOTTOM, |node| node.exact);
                let stored = Stored {
                    store: *store,
                    key,
                    content,
                    recorded: node.map_or(LabelId::BOTTOM, |node| node.recorded),
                    exact: vec![exact; content.fields.len()],
                    agent: event.agent,
                };
                self.stored.insert(*record, stored);
            }
            Happening::Sent { message, .. } => {
                self.sent
                    .extend(event.agent.map(|sender| (*message, sender)));
            }
            _ => {}
        }
    }

    /// The moment of a counted event, with what it is about; none if that is not in the trace.
    fn shown<'s>(
        &'s self,
        scene: Scene<'s>,
        event: &'s Event,
        prefix: Prefix<'s>,
    ) -> Option<Scene<'s>> {
        match &event.what {
            Happening::Proposed { call }
            | Happening::Committed { call, .. }
            | Happening::Denied { call, .. }
            | Happening::Observed { call, .. }
            | Happening::Asked {
                subject: Subject::Call(call),
                ..
            } => {
                let known = prefix.call(*call)?;
                let tool = scene.briefing.tools.get(known.tool.index())?;
                let arguments = self.rewritten.get(call).map_or(&known.arguments, |new| new);
                Some(scene.with_call(tool, known, arguments))
            }
            Happening::Stored { record, .. } => self.with_record(scene, *record, true),
            Happening::Quarantined { record } => self.with_record(scene, *record, false),
            Happening::Delivered { message } => {
                let message = (*message)?;
                let from = self.sent.get(&message).copied();
                let subject = Subject::Message(message);
                let nodes = prefix.nodes.iter();
                let mut sent =
                    nodes.filter(|node| node.kind == NodeKind::Message && node.subject == subject);
                let node = sent.next()?;
                Some(scene.with_message(event.agent, from, node.recorded))
            }
            _ => None,
        }
    }

    fn with_record<'s>(
        &'s self,
        scene: Scene<'s>,
        id: RecordId,
        is_new: bool,
    ) -> Option<Scene<'s>> {
        let stored = self.stored.get(&id)?;
        let view = RecordView {
            record: id,
            store: stored.store,
            key: stored.key,
            content: stored.content,
            labels: &stored.exact,
            recorded: stored.recorded,
            agent: stored.agent,
            call: None,
        };
        Some(scene.with_record(&view, is_new))
    }
}
