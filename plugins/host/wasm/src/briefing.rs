//! The trusted inputs as a module reads them: `cb_briefing`.

use plugins::briefing::{Briefing, Canary, SourceInfo};
use plugins::ledger::{Condition, Entry};
use plugins::tool::{ArgumentSpec, Operation, Target, ToolSpec, Undo};
use plugins::value::{Text, Value};

use crate::codes::{ABI, NONE};
use crate::message::{Message, Span, optional, record, two_words};

/// Words of `cb_briefing`.
pub(crate) const BRIEFING: usize = 22;
/// Words of `cb_agent`.
pub(crate) const AGENT: usize = 4;
/// Words of `cb_argument_spec`.
pub(crate) const ARGUMENT_SPEC: usize = 8;
/// Words of `cb_tool`.
pub(crate) const TOOL: usize = 16;
/// Words of `cb_sink`.
pub(crate) const SINK: usize = 4;
/// Words of `cb_entry`.
pub(crate) const ENTRY: usize = 6;
/// Words of `cb_condition`.
pub(crate) const CONDITION: usize = 6;
/// Words of `cb_source`.
pub(crate) const SOURCE: usize = 14;
/// Words of `cb_canary`.
pub(crate) const CANARY: usize = 6;

/// Writes the whole briefing.
pub(crate) fn write(message: &mut Message, briefing: &Briefing) {
    message.begin(BRIEFING);
    let goals = texts(message, &briefing.goals);
    let agents = message.list(briefing.agents.iter(), |message, agent| {
        let name = message.text(&agent.name);
        let tools = message.numbers(agent.tools.iter().map(|tool| tool.0));
        record::<AGENT>(&[&name, &tools])
    });
    let tools = message.list(briefing.tools.iter(), tool);
    let sinks = message.list(briefing.sinks.iter(), |message, sink| {
        let name = message.text(&sink.name);
        let readers = message.numbers(sink.readers.iter().map(|reader| reader.0));
        record::<SINK>(&[&name, &readers])
    });
    let ledger = message.list(briefing.ledger.entries.iter(), entry);
    let recipients = texts(message, &briefing.allowed_recipients);
    let principals = texts(message, &briefing.principals);
    let sources = message.list(briefing.sources.iter(), |message, info| {
        source(message, info, briefing)
    });
    let canaries = message.list(briefing.canaries.iter(), canary);
    let untrusted = message.set(&briefing.untrusted);
    let head: [u32; BRIEFING] = record(&[
        &[ABI, 0],
        &goals,
        &agents,
        &tools,
        &sinks,
        &ledger,
        &recipients,
        &principals,
        &sources,
        &canaries,
        &untrusted,
    ]);
    message.put(0, &head);
}

fn texts(message: &mut Message, texts: &[Text]) -> Span {
    message.texts(texts.iter().map(|text| &**text))
}

/// `cb_tool`.
fn tool(message: &mut Message, tool: &ToolSpec) -> [u32; TOOL] {
    let name = message.text(&tool.name);
    let arguments = message.list(tool.arguments.iter(), argument);
    let (target_argument, target) = match &tool.target {
        Target::Argument(position) => (u32::from(*position), [0, 0]),
        Target::Fixed(target) => (NONE, message.text(target)),
    };
    let (operation, object) = operation(tool.operation);
    let undo = match tool.undo {
        Undo::Irrevocable => NONE,
        Undo::Inverse(tool) => tool.0,
    };
    record(&[
        &name,
        &arguments,
        &target,
        &[target_argument, tool.risk as u32, operation, object],
        &[optional(tool.sink.map(|sink| sink.0)), undo],
        &[u32::from(tool.irrevocable_email), 0],
        &two_words(tool.latency_ticks),
    ])
}

/// What a tool does, and at which source or store.
const fn operation(operation: Operation) -> (u32, u32) {
    match operation {
        Operation::ReadSource => (0, NONE),
        Operation::ReturnSource(source) => (1, source.0),
        Operation::Act => (2, NONE),
        Operation::MemoryRead(store) => (3, store.0),
        Operation::MemoryWrite(store) => (4, store.0),
        Operation::MemoryUpdate(store) => (5, store.0),
        Operation::MemoryDelete(store) => (6, store.0),
        Operation::MemoryRestore(store) => (7, store.0),
    }
}

/// `cb_argument_spec`.
fn argument(message: &mut Message, argument: &ArgumentSpec) -> [u32; ARGUMENT_SPEC] {
    let name = message.text(&argument.name);
    let aliases = texts(message, &argument.aliases);
    let kind = argument.kind as u32;
    let (role, passing) = (argument.role as u32, argument.passing as u32);
    let required = u32::from(argument.required);
    record(&[&name, &aliases, &[kind, role, passing, required]])
}

/// `cb_entry`.
fn entry(message: &mut Message, entry: &Entry) -> [u32; ENTRY] {
    let action = message.text(&entry.action);
    let target = message.text(&entry.target);
    let conditions = message.list(entry.conditions.iter(), |message, (name, condition)| {
        let name = message.text(name);
        let (kind, values) = match condition {
            Condition::Equals(value) => (0, values(message, std::slice::from_ref(value))),
            Condition::OneOf(wanted) => (1, values(message, wanted)),
            Condition::Absent => (2, [0, 0]),
            Condition::Present => (3, [0, 0]),
        };
        record::<CONDITION>(&[&name, &[kind, 0], &values])
    });
    record(&[&action, &target, &conditions])
}

fn values(message: &mut Message, values: &[Value]) -> Span {
    message.list(values.iter(), |message, value| message.value(value))
}

/// `cb_source`.
fn source(message: &mut Message, source: &SourceInfo, briefing: &Briefing) -> [u32; SOURCE] {
    let name = message.text(&source.name);
    let untrusted = source.trust == plugins::briefing::Trust::Untrusted;
    let label = message.label_record(&source.label, briefing);
    let channel = source.channel as u32;
    record(&[&name, &[channel, u32::from(untrusted)], &label, &[0, 0]])
}

/// `cb_canary`.
fn canary(message: &mut Message, canary: &Canary) -> [u32; CANARY] {
    let token = message.text(&canary.token);
    let (everyone, readers) = message.readers(&canary.readers);
    record(&[&token, &[everyone, 0], &readers])
}
