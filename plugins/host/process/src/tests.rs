//! The host with real interpreters.

mod decisions;
mod faults;
mod honest;
mod hooks;
mod others;
mod pooling;
mod probing;
mod safety;

use std::fs;
use std::path::{Path, PathBuf};

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::draws::{Draws, RolloutKey};
use plugins::fault::PLUGIN_FAULT;
use plugins::ids::CallId;
use plugins::label::Readers;
use plugins::loaded::{Fault, LoadedPolicy};
use plugins::policy::{Policy, ProposalVerdict, Ruling};
use plugins::tool::{RiskClass, Role, Target};
use plugins::value::Value;
use tempfile::TempDir;

use crate::{load, load_attacker};

/// What most scripts begin with.
const PRELUDE: &str = r#"
import json, os, random, subprocess, sys, time
HELLO = {"protocol": 1, "name": "test", "version": 1, "hooks": ["proposal"]}
def say(answer):
    print(json.dumps(answer), flush=True)
"#;

/// A script that answers `hello` and does `answer` for each question `m`.
fn answering(answer: &str) -> String {
    let answer = answer.replace('\n', "\n        ");
    format!(
        "{PRELUDE}
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m:
        say(HELLO)
    if 'id' in m:
        {answer}
"
    )
}

/// A script that answers each question with what `answer` makes of `m`.
fn replying(answer: &str) -> String {
    answering(&format!("say({{'id': m['id'], **({answer})}})"))
}

/// A folder with a script and its description.
struct Scripted {
    folder: TempDir,
    description: PathBuf,
}

/// A Python script with limits as a description gives them; far from what a busy machine needs.
fn scripted(script: &str, limits: &str) -> Scripted {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("script.py"), script).unwrap();
    let limits = if limits.contains("answer_ms") {
        limits.to_owned()
    } else {
        format!("answer_ms: 60000, {limits}")
    };
    let description = folder.path().join("script.process.ron");
    let text = format!(
        "Process(command: [\"python3\", \"script.py\"], files: [\"script.py\"], start_ms: 60000, {limits})"
    );
    fs::write(&description, text).unwrap();
    Scripted {
        folder,
        description,
    }
}

impl Scripted {
    fn load(&self) -> LoadedPolicy {
        load(&self.description).unwrap()
    }
}

/// The policy of a script.
fn policy(script: &str) -> LoadedPolicy {
    scripted(script, "").load()
}

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// `send(to, body)`, outbound, called three times, the second time with a recipient from an
/// untrusted note.
fn world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    world.add_principal("ann@trusted.local");
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let mut send = tool("send", RiskClass::Outbound, "");
    send.arguments = vec![
        argument("to", Role::Recipient),
        argument("body", Role::Content),
    ];
    send.target = Target::Argument(0);
    let send = world.add_tool(send);
    world.authorize("send", "ann@trusted.local", &[]);
    let clean = world.label_of(&[]);
    let tainted = world.label_of(&[note]);
    for label in [clean, tainted, clean] {
        world.add_call(
            send,
            vec![
                given(0, Value::text("ann@trusted.local"), label),
                given(1, Value::text("h\u{e9}llo"), clean),
            ],
        );
    }
    world
}

/// Asks about one call of a world, when everything up to its proposal has happened.
fn propose(policy: &mut dyn Policy, world: &World, call: u32) -> Ruling<ProposalVerdict> {
    let id = CallId(call);
    let is_proposed = |event: &plugins::trace::Event| matches!(event.what, plugins::trace::Happening::Proposed { call } if call == id);
    let last = world.trace.events.iter().position(is_proposed).unwrap();
    let mut draws = Draws::new(RolloutKey::new(1, "test".into(), 1));
    let view = &mut world.view_of(world.prefix_of(last + 1), &mut draws);
    policy.on_proposal(view, world.proposal(id))
}

/// The rules by which an instance answers the three questions.
fn rules(policy: &mut dyn Policy) -> Vec<String> {
    let world = world();
    (0..3)
        .map(|call| propose(policy, &world, call).reason.rule.into_owned())
        .collect()
}

/// The only fault of a policy so far.
#[track_caller]
fn only_fault(loaded: &LoadedPolicy) -> Fault {
    let faults = loaded.faults.as_ref().unwrap();
    assert_eq!(faults.count(), 1, "{:?}", faults.first());
    faults.first().remove(0)
}

fn no_faults(loaded: &LoadedPolicy) {
    let faults = loaded.faults.as_ref().unwrap();
    assert_eq!(faults.first(), []);
    assert_eq!(faults.count(), 0);
}
