//! What the host promises, shown with modules written as text.

mod faults;
mod honest;
mod layout;
mod payloads;
mod refusals;
mod templates;

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, CallId, RecordId, StoreId};
use plugins::label::{LabelId, Readers};
use plugins::loaded::{LoadedPolicy, Mistake};
use plugins::model::{Segment, SegmentKind};
use plugins::policy::{Inflow, Policy, RecordSummary, RecordView, RecoveryNotice, Ruling, Verdict};
use plugins::reason::{Hook, VerdictKind};
use plugins::tool::{RiskClass, Role, Target};
use plugins::trace::RecoveryKind;
use plugins::value::{Content, Value};

use crate::{Limits, load};

/// The parts of a module in which tests differ.
#[derive(Clone, Copy)]
struct Parts<'a> {
    memory: &'a str,
    abi: &'a str,
    hooks: &'a str,
    rule: &'a str,
    alloc: &'a str,
    reset: &'a str,
    decide: &'a str,
    more: &'a str,
}

/// A module with the one rule `stop` that blocks every call. Messages go to 65536.
const BLOCKS: Parts<'_> = Parts {
    memory: r#"(memory (export "memory") 32)"#,
    abi: "(i32.const 1)",
    hooks: "(i32.const 16)",
    rule: "(select (i64.const 0x1000000004) (i64.const 0) (i32.eqz (local.get 0)))",
    alloc: "(i32.const 65536)",
    reset: "",
    decide: "(i64.const 0x0101)",
    more: "",
};

impl Parts<'_> {
    fn text(&self) -> String {
        let Self {
            memory,
            abi,
            hooks,
            rule,
            alloc,
            reset,
            decide,
            more,
        } = self;
        format!(
            r#"(module
  {memory}
  (data (i32.const 16) "stop")
  (func (export "cb_abi") (result i32) {abi})
  (func (export "cb_hooks") (result i32) {hooks})
  (func (export "cb_rule") (param i32) (result i64) {rule})
  (func (export "cb_alloc") (param i32) (result i32) {alloc})
  (func (export "cb_reset") (param i32 i32) {reset})
  (func (export "cb_decide") (param i32 i32 i32) (result i64) {decide})
  {more})"#
        )
    }

    fn load(&self) -> LoadedPolicy {
        loaded(&self.text())
    }
}

fn loaded(text: &str) -> LoadedPolicy {
    load(text.as_bytes(), Limits::default()).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// What is wrong with a module, all in one text.
fn mistakes(bytes: &[u8]) -> String {
    let refused = load(bytes, Limits::default()).expect_err("it is refused");
    let text =
        |mistake: Mistake| format!("{} {}", mistake.message, mistake.help.unwrap_or_default());
    refused.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// A world of one agent, one tainted document, one tool `send` and one listed call of it that
/// takes its recipient from the document.
fn small_world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    world.add_principal("ann@trusted.local");
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let label = world.label_of(&[note]);
    let mut send = tool("send", RiskClass::Outbound, "");
    send.arguments = vec![
        argument("to", Role::Recipient),
        argument("body", Role::Content),
    ];
    send.target = Target::Argument(0);
    let send = world.add_tool(send);
    world.authorize("send", "ann@trusted.local", &[]);
    let to = given(0, Value::text("ann@trusted.local"), label);
    let body = given(1, Value::text("grüße"), LabelId::BOTTOM);
    world.add_call(send, vec![to, body]);
    world
}

/// Asks one question in a world. Gives verdict in words, kind and rule.
fn ask(policy: &mut dyn Policy, world: &World, hook: Hook) -> Asked {
    let mut draws = Draws::new(RolloutKey::new(1, "wasm".into(), 1));
    let view = &mut world.view(&mut draws);
    let content = Content::single("text", "hello");
    let labels = [LabelId::BOTTOM];
    let inflow = Inflow {
        agent: AgentId(0),
        from: None,
        content: &content,
        labels: &labels,
        recorded: LabelId::BOTTOM,
        node: None,
    };
    let record = RecordView {
        record: RecordId(0),
        store: StoreId(0),
        key: "note",
        content: &content,
        labels: &labels,
        recorded: LabelId::BOTTOM,
        agent: Some(AgentId(0)),
        call: None,
    };
    let proposal = world.proposal(CallId(0));
    match hook {
        Hook::Session => Asked::of(&policy.on_session(view)),
        Hook::Prompt => {
            let segment = Segment {
                kind: SegmentKind::Goal,
                content: content.into(),
                marked: false,
            };
            Asked::of(&policy.on_prompt(view, AgentId(0), &[segment.clone(), segment]))
        }
        Hook::Observation => Asked::of(&policy.on_observation(view, inflow)),
        Hook::Message => Asked::of(&policy.on_message(view, inflow)),
        Hook::Proposal => Asked::of(&policy.on_proposal(view, proposal)),
        Hook::MemoryWrite => Asked::of(&policy.on_memory_write(view, record)),
        Hook::MemoryRead => Asked::of(&policy.on_memory_read(view, record)),
        Hook::Commit => Asked::of(&policy.on_commit(view, proposal)),
        Hook::Recovery => {
            let records = [RecordSummary {
                record: RecordId(0),
                store: StoreId(0),
                call: None,
                recorded: LabelId::BOTTOM,
                has_backup: true,
            }];
            let notice = RecoveryNotice {
                step: 0,
                kind: RecoveryKind::Scrub,
                revoked: None,
                records: &records,
            };
            Asked::of(&policy.on_recovery(view, notice))
        }
    }
}

/// A ruling in a form that all hooks share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    kind: VerdictKind,
    rule: String,
    text: String,
}

impl Asked {
    fn of<V: Verdict>(ruling: &Ruling<V>) -> Self {
        Self {
            kind: ruling.verdict.kind(),
            rule: ruling.reason.rule.to_string(),
            text: format!("{:?} because {:?}", ruling.verdict, ruling.reason),
        }
    }
}

/// All hooks.
const HOOKS: [Hook; 9] = [
    Hook::Session,
    Hook::Prompt,
    Hook::Observation,
    Hook::Message,
    Hook::Proposal,
    Hook::MemoryWrite,
    Hook::MemoryRead,
    Hook::Commit,
    Hook::Recovery,
];
