//! The trusted inputs of a rollout. Secrets are not in it: what leaks is told as a fact of a call.

use plugins::briefing::Briefing;
use plugins::ids::PrincipalId;
use plugins::label::Readers;
use plugins::ledger::{Condition, Entry};
use plugins::tool::{ArgumentSpec, Operation, Target, ToolSpec, Undo};
use serde_json::{Value as Json, json};

use super::value;
use crate::words::Word;

/// The briefing as one object.
pub(crate) fn briefing(briefing: &Briefing) -> Json {
    let texts = |texts: &[plugins::value::Text]| -> Json {
        texts.iter().map(|text| json!(**text)).collect()
    };
    let agents = briefing.agents.iter().map(|agent| {
        let tools = agent.tools.iter();
        let tools: Json = tools
            .map(|id| json!(*briefing.tools[id.index()].name))
            .collect();
        json!({ "name": *agent.name, "tools": tools })
    });
    let sinks = briefing.sinks.iter().map(|sink| {
        let readers = sink
            .readers
            .iter()
            .map(|&reader| principal(briefing, reader));
        json!({ "name": *sink.name, "readers": readers.collect::<Json>() })
    });
    let sources = briefing.sources.iter().map(|source| {
        json!({
            "name": *source.name,
            "channel": source.channel.word(),
            "trust": source.trust.word(),
            "readers": readers(briefing, &source.label.readers),
        })
    });
    let tools = briefing.tools.iter().map(|spec| tool(briefing, spec));
    json!({
        "goals": texts(&briefing.goals),
        "agents": agents.collect::<Json>(),
        "tools": tools.collect::<Json>(),
        "sinks": sinks.collect::<Json>(),
        "ledger": briefing.ledger.entries.iter().map(entry).collect::<Json>(),
        "allowed_recipients": texts(&briefing.allowed_recipients),
        "principals": texts(&briefing.principals),
        "sources": sources.collect::<Json>(),
    })
}

fn principal(briefing: &Briefing, principal: PrincipalId) -> Json {
    json!(*briefing.principals[principal.index()])
}

fn readers(briefing: &Briefing, readers: &Readers) -> Json {
    match readers {
        Readers::Everyone => Json::Null,
        Readers::Only(set) => set
            .iter()
            .map(|reader| principal(briefing, PrincipalId(reader)))
            .collect(),
    }
}

fn tool(briefing: &Briefing, tool: &ToolSpec) -> Json {
    let (operation, store) = operation(tool.operation);
    let name = |id: plugins::ids::ToolId| &*briefing.tools[id.index()].name;
    let target = match &tool.target {
        Target::Argument(position) => {
            json!({ "argument": *tool.arguments[usize::from(*position)].name })
        }
        Target::Fixed(target) => json!({ "fixed": **target }),
    };
    json!({
        "name": *tool.name,
        "risk": tool.risk.word(),
        "high_risk": tool.high_risk(),
        "operation": operation,
        "store": store,
        "arguments": tool.arguments.iter().map(argument).collect::<Json>(),
        "target": target,
        "sink": tool.sink.map(|sink| &*briefing.sinks[sink.index()].name),
        "undo": match tool.undo {
            Undo::Irrevocable => None,
            Undo::Inverse(inverse) => Some(name(inverse)),
        },
        "irrevocable_email": tool.irrevocable_email,
    })
}

fn argument(argument: &ArgumentSpec) -> Json {
    json!({
        "name": *argument.name,
        "kind": argument.kind.word(),
        "role": argument.role.word(),
        "passing": argument.passing.word(),
        "required": argument.required,
    })
}

/// The word of an operation, and the store that it is about.
fn operation(operation: Operation) -> (&'static str, Option<u32>) {
    match operation {
        Operation::ReadSource => ("read_source", None),
        Operation::ReturnSource(_) => ("return_source", None),
        Operation::Act => ("act", None),
        Operation::MemoryRead(store) => ("memory_read", Some(store.0)),
        Operation::MemoryWrite(store) => ("memory_write", Some(store.0)),
        Operation::MemoryUpdate(store) => ("memory_update", Some(store.0)),
        Operation::MemoryDelete(store) => ("memory_delete", Some(store.0)),
        Operation::MemoryRestore(store) => ("memory_restore", Some(store.0)),
    }
}

fn entry(entry: &Entry) -> Json {
    let conditions = entry.conditions.iter().map(|(argument, condition)| {
        let (word, wanted) = match condition {
            Condition::Equals(wanted) => ("equals", value(wanted)),
            Condition::OneOf(wanted) => ("one_of", wanted.iter().map(value).collect()),
            Condition::Absent => ("absent", Json::Bool(true)),
            Condition::Present => ("present", Json::Bool(true)),
        };
        json!({ "argument": **argument, word: wanted })
    });
    json!({
        "action": *entry.action,
        "target": *entry.target,
        "conditions": conditions.collect::<Json>(),
    })
}
