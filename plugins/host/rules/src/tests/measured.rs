//! Metrics of one's own.

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::ids::{AgentId, MessageId, NodeId, RecordId, StoreId, ToolId};
use plugins::label::{LabelId, Readers};
use plugins::policy::DenialReason;
use plugins::tool::{RiskClass, Role};
use plugins::trace::{Answer, Event, Happening, Node, NodeDetail, NodeKind, Subject};
use plugins::value::{Content, Value};

use super::shipped::METRICS;
use crate::load_metrics;

/// Three mails: to a tainted recipient, to a clean one, and one that was denied.
fn world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    world.add_agent("helper");
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let mut send = tool("send_mail", RiskClass::Outbound, "x");
    send.arguments = vec![argument("recipient", Role::Recipient)];
    world.add_tool(send);
    world.authorize("send_mail", "x", &[]);
    let tainted = world.label_of(&[note]);
    for label in [tainted, LabelId::BOTTOM, LabelId::BOTTOM] {
        let to = given(0, Value::text("ann@trusted.local"), label);
        let call = world.add_call(ToolId(0), vec![to]);
        if call.0 < 2 {
            world.commit(call);
        } else {
            let subject = Subject::Call(call);
            let answer = Answer::Denied;
            add(
                &mut world,
                Some(AgentId(0)),
                Happening::Asked { subject, answer },
            );
            let reason = DenialReason::OutsideUserGoal;
            add(
                &mut world,
                Some(AgentId(0)),
                Happening::Denied { call, reason },
            );
        }
    }
    world
}

fn add(world: &mut World, agent: Option<AgentId>, what: Happening) {
    let count = world.trace.events.len();
    world.trace.events.push(Event {
        tick: count as u64,
        episode: 0,
        agent,
        what,
        nodes_after: 0,
        edges_after: 0,
    });
}

fn add_node(world: &mut World, kind: NodeKind, subject: Subject, recorded: LabelId) -> NodeId {
    world.trace.nodes.push(Node {
        kind,
        detail: NodeDetail::Plain,
        tick: 0,
        episode: 0,
        agent: Some(AgentId(1)),
        subject,
        recorded,
        exact: recorded,
    });
    NodeId::at(world.trace.nodes.len() - 1)
}

/// The name, count and base of each metric.
fn measure(text: &str, world: &World) -> Vec<(String, u64, Option<u64>)> {
    let metrics = load_metrics(text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    metrics
        .measure(world.trace.prefix(), &world.labels, &world.briefing)
        .into_iter()
        .map(|one| (one.name.to_string(), one.count, one.of))
        .collect()
}

#[test]
fn the_shipped_metrics_count_what_they_say() {
    let mut world = world();
    let tainted = world.label_of(&[plugins::ids::SourceId(0)]);
    let node = add_node(
        &mut world,
        NodeKind::Memory,
        Subject::Record(RecordId(0)),
        tainted,
    );
    let stored = Happening::Stored {
        record: RecordId(0),
        store: StoreId(0),
        key: "contact".into(),
        content: Content::single("text", "x").into(),
        node,
        quarantined: false,
    };
    add(&mut world, Some(AgentId(0)), stored);
    for (message, sender) in [(MessageId(0), Some(AgentId(0))), (MessageId(1), None)] {
        add_node(
            &mut world,
            NodeKind::Message,
            Subject::Message(message),
            tainted,
        );
        if sender.is_some() {
            let to = AgentId(1);
            add(&mut world, sender, Happening::Sent { message, to });
        }
        let message = Some(message);
        add(
            &mut world,
            Some(AgentId(1)),
            Happening::Delivered { message },
        );
    }
    add(
        &mut world,
        Some(AgentId(0)),
        Happening::Delivered { message: None },
    );
    let own = |name: &str, count, of| (name.to_owned(), count, of);
    assert_eq!(
        measure(METRICS, &world),
        [
            own("tainted_recipients", 1, Some(2)),
            own("late_commits", 0, None),
            own("tainted_memory", 1, Some(1)),
            own("tainted_messages", 1, Some(1)),
            own("denied_authorised", 1, Some(1)),
        ]
    );
}

#[test]
fn history_is_what_came_before_the_happening() {
    let text = "Metrics(schema: 1, metrics: [
        (name: \"first\", count: Committed, of: [Count(what: Committed, is: 0)]),
        (name: \"second\", count: Committed, of: [Count(what: Committed, is: 1)]),
        (name: \"asked\", count: Asked, of: [Always]),
        (name: \"proposed\", count: Proposed, of: [Tool(\"send_mail\")], over: [Always]),
        (name: \"unknown\", count: Proposed, of: [Not(Argument(name: \"no\", is: Given))]),
    ])";
    let counts: Vec<(u64, Option<u64>)> = measure(text, &world())
        .into_iter()
        .map(|(_, count, of)| (count, of))
        .collect();
    assert_eq!(
        counts,
        [(1, None), (1, None), (1, None), (3, Some(3)), (0, None)]
    );
}

/// Whatever the trace, a share is of no more than its base, and names stay in order.
#[test]
fn no_trace_makes_a_share_exceed_its_base() {
    let names: Vec<String> = load_metrics(METRICS)
        .unwrap()
        .described()
        .map(|(name, _)| name.to_owned())
        .collect();
    for seed in 0..80 {
        let world = plugins::conformance::generate::world(seed);
        let measured = measure(METRICS, &world);
        let own: Vec<&str> = measured.iter().map(|(name, ..)| &**name).collect();
        assert_eq!(own, names);
        assert!(
            measured
                .iter()
                .all(|(_, count, of)| of.is_none_or(|of| *count <= of))
        );
    }
}

#[test]
fn a_quarantined_record_is_the_one_that_was_stored() {
    let mut world = world();
    let node = add_node(
        &mut world,
        NodeKind::Memory,
        Subject::Record(RecordId(5)),
        LabelId::BOTTOM,
    );
    let stored = Happening::Stored {
        record: RecordId(5),
        store: StoreId(2),
        key: "alias".into(),
        content: Content::single("text", "x").into(),
        node,
        quarantined: true,
    };
    add(&mut world, None, stored);
    for record in [RecordId(5), RecordId(6)] {
        add(&mut world, None, Happening::Quarantined { record });
    }
    let text = "Metrics(schema: 1, metrics: [
        (name: \"held\", count: Quarantined, of: [Store(2), Key(Equals(\"alias\")), Field(is: Equals(\"x\"))], over: [Always]),
    ])";
    // What was never stored in the trace cannot be looked at and is no part of the base.
    assert_eq!(measure(text, &world), [("held".to_owned(), 1, Some(1))]);
}
