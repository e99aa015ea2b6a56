use std::sync::Arc;

use plugins::action::{Argument, Call, Referent};
use plugins::ids::{CallId, NodeId, RecordId, ToolId};
use plugins::label::{Flags, IndexSet, LabelId, LabelTable, Readers};
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, Trace};
use plugins::value::Value;

use super::*;

fn bytes(trace: &Trace, labels: &[Label]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_trace(trace.prefix(), fingerprints(labels), &mut bytes);
    bytes
}

fn argument() -> Argument {
    Argument {
        position: 0,
        value: Value::text("a"),
        label: LabelId::BOTTOM,
        referent: None,
    }
}

/// A trace with one of each.
fn trace() -> Trace {
    let mut trace = Trace::default();
    trace.nodes.push(Node {
        kind: NodeKind::AgentState,
        detail: NodeDetail::Plain,
        tick: 3,
        episode: 0,
        agent: None,
        subject: Subject::Agent(AgentId(1)),
        recorded: LabelId::BOTTOM,
        exact: LabelId::BOTTOM,
    });
    trace.edges.push(Edge {
        from: NodeId(0),
        to: NodeId(1),
        kind: EdgeKind::Data,
        taint: false,
    });
    trace.calls.push(Call {
        id: CallId(0),
        agent: AgentId(1),
        episode: 0,
        tool: ToolId(0),
        arguments: Arc::new([argument()]),
        keep_result: false,
        recorded: LabelId::BOTTOM,
        choice: LabelId::BOTTOM,
    });
    trace.events.push(Event {
        tick: 3,
        episode: 0,
        agent: None,
        what: Happening::EpisodeBegan,
        nodes_after: 1,
        edges_after: 1,
    });
    trace
}

fn referent(record: u32) -> Referent {
    Referent {
        object: Subject::Record(RecordId(record)),
        content: Arc::default(),
        labels: std::iter::once(LabelId::BOTTOM).collect(),
    }
}

/// A change of the one argument of the one call.
fn of_argument(change: impl Fn(&mut Argument) + 'static) -> Box<dyn Fn(&mut Trace)> {
    Box::new(move |t| {
        let mut changed = argument();
        change(&mut changed);
        t.calls[0].arguments = Arc::new([changed]);
    })
}

/// Every field counts: what differs in one is hashed differently.
#[test]
#[expect(clippy::too_many_lines, reason = "one line or two for each field")]
fn every_field_of_a_trace_is_hashed() {
    let mut table = LabelTable::new();
    let other_label = table.intern(Label::bottom().flagged(Flags::VIA_MODEL));
    let changes: Vec<(&str, Box<dyn Fn(&mut Trace)>)> = vec![
        ("kind", Box::new(|t| t.nodes[0].kind = NodeKind::Message)),
        (
            "detail",
            Box::new(|t| t.nodes[0].detail = NodeDetail::Scrub),
        ),
        ("tick", Box::new(|t| t.nodes[0].tick = 1 << 40)),
        ("episode", Box::new(|t| t.nodes[0].episode = 1)),
        ("agent", Box::new(|t| t.nodes[0].agent = Some(AgentId(0)))),
        (
            "subject",
            Box::new(|t| t.nodes[0].subject = Subject::Record(RecordId(1))),
        ),
        (
            "id",
            Box::new(|t| t.nodes[0].subject = Subject::Agent(AgentId(2))),
        ),
        (
            "recorded",
            Box::new(move |t| t.nodes[0].recorded = other_label),
        ),
        ("exact", Box::new(move |t| t.nodes[0].exact = other_label)),
        ("node", Box::new(|t| t.nodes.push(t.nodes[0]))),
        ("from", Box::new(|t| t.edges[0].from = NodeId(1))),
        ("to", Box::new(|t| t.edges[0].to = NodeId(2))),
        ("edge kind", Box::new(|t| t.edges[0].kind = EdgeKind::Audit)),
        ("taint", Box::new(|t| t.edges[0].taint = true)),
        ("edge", Box::new(|t| t.edges.push(t.edges[0]))),
        ("call id", Box::new(|t| t.calls[0].id = CallId(1))),
        ("call agent", Box::new(|t| t.calls[0].agent = AgentId(0))),
        ("call episode", Box::new(|t| t.calls[0].episode = 1)),
        ("tool", Box::new(|t| t.calls[0].tool = ToolId(1))),
        ("position", of_argument(|a| a.position = 1)),
        ("value", of_argument(|a| a.value = Value::text("b"))),
        (
            "argument label",
            of_argument(move |a| a.label = other_label),
        ),
        ("referent", of_argument(|a| a.referent = Some(referent(1)))),
        (
            "another referent",
            of_argument(|a| a.referent = Some(referent(2))),
        ),
        (
            "argument",
            Box::new(|t| t.calls[0].arguments = Arc::new([argument(), argument()])),
        ),
        ("keep result", Box::new(|t| t.calls[0].keep_result = true)),
        (
            "call recorded",
            Box::new(move |t| t.calls[0].recorded = other_label),
        ),
        ("choice", Box::new(move |t| t.calls[0].choice = other_label)),
        ("call", Box::new(|t| t.calls.push(t.calls[0].clone()))),
        ("event tick", Box::new(|t| t.events[0].tick = 4)),
        ("event episode", Box::new(|t| t.events[0].episode = 1)),
        (
            "event agent",
            Box::new(|t| t.events[0].agent = Some(AgentId(0))),
        ),
        ("nodes after", Box::new(|t| t.events[0].nodes_after = 2)),
        ("edges after", Box::new(|t| t.events[0].edges_after = 2)),
        (
            "what",
            Box::new(|t| t.events[0].what = Happening::HoldReleased { call: CallId(0) }),
        ),
        ("event", Box::new(|t| t.events.push(t.events[0].clone()))),
    ];
    let mut seen = vec![("nothing", bytes(&trace(), table.labels()))];
    for (what, change) in changes {
        let mut changed = trace();
        change(&mut changed);
        let found = bytes(&changed, table.labels());
        for (other, bytes) in &seen {
            assert_ne!(*bytes, found, "{what} is as {other}");
        }
        seen.push((what, found));
    }
}

/// The labels themselves count, and not only their ids.
#[test]
fn every_part_of_a_label_is_hashed() {
    let labels = [
        Label::bottom(),
        Label::bottom().flagged(Flags::VIA_MODEL),
        Label::bottom().flagged(Flags::VIA_MEMORY),
        Label::of_source(plugins::ids::SourceId(0)),
        Label::of_source(plugins::ids::SourceId(64)),
        Label {
            control: std::iter::once(0).collect(),
            ..Label::bottom()
        },
        Label {
            readers: Readers::Only(std::iter::once(0).collect()),
            ..Label::bottom()
        },
        Label {
            readers: Readers::Only(IndexSet::default()),
            ..Label::bottom()
        },
    ];
    for (index, label) in labels.iter().enumerate() {
        for other in &labels[..index] {
            let of = |label: &Label| bytes(&trace(), std::slice::from_ref(label));
            assert_ne!(of(label), of(other), "{label:?} is as {other:?}");
        }
    }
}

/// Labels whose fingerprints were the same while they began with zeros that did not count.
#[test]
fn fingerprints_of_labels_with_leading_zeros_differ() {
    let set = |members: &[u32]| members.iter().copied().collect::<IndexSet>();
    let label = |flags, sources: &[u32], control: &[u32], readers| Label {
        sources: set(sources),
        readers,
        control: set(control),
        flags,
    };
    let (none, message) = (Flags::empty(), Flags::VIA_MESSAGE);
    let everyone = || Readers::Everyone;
    let first = || Readers::Only(set(&[0]));
    let pairs = [
        (
            label(none, &[0, 64], &[], everyone()),
            label(message, &[0], &[], everyone()),
        ),
        (
            label(none, &[0, 64, 66], &[0], first()),
            label(message, &[64, 66], &[0], first()),
        ),
        (
            label(none, &[], &[0], first()),
            label(Flags::VIA_MEMORY, &[0], &[0], everyone()),
        ),
    ];
    for (a, b) in pairs {
        assert_ne!(a.fingerprint(), b.fingerprint(), "{a:?} and {b:?}");
    }
}
