//! Scenarios that are extreme but consistent.

use super::sample::{World, argument, given, tool};
use crate::briefing::Trust;
use crate::label::{IndexSet, Readers};
use crate::ledger::Condition;
use crate::predicate::PUBLIC;
use crate::tool::{RiskClass, Role, Target, ToolSpec};
use crate::value::{Text, Value};

/// How many kinds of hostile scenario there are.
const HOSTILE_KINDS: u64 = 6;

/// The `kind`-th hostile scenario: empty, bare, long, many, odd, or private to nobody.
pub(super) fn hostile_world(kind: u64) -> World {
    match kind % HOSTILE_KINDS {
        0 => World::new(),
        1 => bare_world(),
        2 => long_world(),
        3 => world_of_many(),
        4 => odd_world(),
        _ => secretive_world(),
    }
}

/// One tool without arguments, and nothing else.
fn bare_world() -> World {
    let mut world = World::new();
    world.add_agent("");
    for risk in [RiskClass::Low, RiskClass::Write, RiskClass::Outbound] {
        let bare = world.add_tool(tool("", risk, ""));
        let call = world.add_call(bare, Vec::new());
        world.commit(call);
    }
    world
}

/// One argument of ten thousand recipients, one text of a hundred thousand letters.
fn long_world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let label = world.label_of(&[note]);
    let send = world.add_tool(send_tool());
    let many: Vec<Text> = (0..10_000)
        .map(|i| Text::from(format!("{i}@external.local")))
        .collect();
    world.authorize(
        "send",
        "0@external.local",
        &[("to", Condition::Equals(Value::List(many.clone())))],
    );
    for to in [Value::List(many), Value::List(Vec::new())] {
        let body = Value::text(&"long ".repeat(20_000));
        world.add_call(send, vec![given(0, to, label), given(1, body, label)]);
    }
    world
}

/// More than 64 sources, a thousand ledger entries.
fn world_of_many() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    let sources: Vec<_> = (0..200)
        .map(|i| {
            let trust = if i % 2 == 0 {
                Trust::Untrusted
            } else {
                Trust::Trusted
            };
            world.add_source(&format!("doc:{i}"), trust, Readers::Everyone)
        })
        .collect();
    let send = world.add_tool(send_tool());
    for i in 0..1_000 {
        let wanted = Condition::Equals(Value::text(&i.to_string()));
        world.authorize("send", &i.to_string(), &[("body", wanted)]);
    }
    let label = world.label_of(&sources);
    for body in ["999", "1000"] {
        let arguments = vec![
            given(0, Value::text("999"), label),
            given(1, Value::text(body), label),
        ];
        world.add_call(send, arguments);
    }
    world
}

/// Names and values that are empty, invisible, enormous as numbers, or not what the tool expects.
fn odd_world() -> World {
    let mut world = World::new();
    world.add_agent("\u{202e}\u{0}");
    world.add_principal("");
    world.add_canary("", Readers::Everyone);
    let note = world.add_source("\u{feff}", Trust::Untrusted, Readers::Everyone);
    let label = world.label_of(&[note]);
    let send = world.add_tool(send_tool());
    world.authorize("", "", &[("", Condition::Absent)]);
    world.authorize("send", "", &[("no such argument", Condition::Present)]);
    for value in [
        Value::text(""),
        Value::text("\u{0}\u{1f600}\u{202e}"),
        Value::Integer(i64::MIN),
        Value::Boolean(true),
        Value::List(vec!["".into(), "".into()]),
    ] {
        world.add_call(send, vec![given(0, value.clone(), label)]);
        world.add_call(send, vec![given(1, value, label)]);
    }
    world.add_call(send, Vec::new());
    world
}

/// Content that nobody may read.
fn secretive_world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    let nobody = Readers::Only(IndexSet::default());
    let secret = world.add_source("doc:secret", Trust::Untrusted, nobody.clone());
    world.add_canary("CANARY-0", nobody);
    let label = world.label_of(&[secret]);
    let send = world.add_tool(send_tool());
    world.authorize("send", PUBLIC, &[]);
    let arguments = vec![
        given(0, Value::text(PUBLIC), label),
        given(1, Value::text("CANARY-0"), label),
    ];
    world.add_call(send, arguments);
    world
}

/// `send(to, body)`, outbound, aimed at its recipient.
fn send_tool() -> ToolSpec {
    let mut spec = tool("send", RiskClass::Outbound, "");
    spec.arguments = vec![
        argument("to", Role::Recipient),
        argument("body", Role::Content),
    ];
    spec.target = Target::Argument(0);
    spec
}
