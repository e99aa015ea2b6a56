//! What the host says, as JSON: everything by name, and labels as facts.

mod briefing;
mod events;
mod questions;

pub(crate) use self::briefing::briefing;
pub(crate) use self::events::event;
pub(crate) use self::questions::{inflow, prompt, proposal, record, recovery};

use plugins::action::{Argument, Call};
use plugins::draws::RolloutKey;
use plugins::facts::LabelFacts;
use plugins::ids::{AgentId, ToolId};
use plugins::label::LabelId;
use plugins::policy::View;
use plugins::trace::Subject;
use plugins::value::{Content, Value};
use serde_json::{Map, Value as Json, json};

use crate::words::Word;

/// An object that is being written.
pub(crate) type Object = Map<String, Json>;

/// A question to be written, and all that the process may have to be told before it.
pub(crate) struct Question<'a> {
    /// Whose rollout it is; none between rollouts.
    pub(crate) rollout: Option<&'a RolloutKey>,
    /// What it is told at the beginning.
    pub(crate) reset: &'a dyn Fn() -> Json,
    /// How many events there are.
    pub(crate) events: usize,
    /// The event at a position.
    pub(crate) event: &'a dyn Fn(usize) -> Object,
    /// What the question is about.
    pub(crate) facts: &'a dyn Fn() -> Object,
}

/// Makes an object of `json!({ .. })`.
fn object(value: Json) -> Object {
    match value {
        Json::Object(object) => object,
        _ => Object::new(),
    }
}

/// The facts of a label.
fn label(view: &View<'_>, label: LabelId) -> Json {
    label_facts(&LabelFacts::of(view, label))
}

fn label_facts(facts: &LabelFacts<'_>) -> Json {
    json!({
        "tainted": facts.tainted,
        "influenced": facts.influenced,
        "sources": facts.sources,
        "control": facts.control,
        "readers": facts.readers,
    })
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(**text),
        Value::List(items) => items.iter().map(|item| json!(**item)).collect(),
        Value::Integer(number) => json!(number),
        Value::Boolean(truth) => json!(truth),
    }
}

/// Content as a list of fields, because two fields may have one name.
fn content(content: &Content) -> Json {
    let fields = content.fields.iter();
    fields
        .map(|field| json!({ "name": *field.name, "value": *field.value }))
        .collect()
}

/// Content with the facts of each field's label.
fn labelled(view: &View<'_>, content: &Content, labels: &[LabelId]) -> Json {
    let fields = content.fields.iter().zip(labels);
    fields
        .map(|(field, &id)| {
            json!({ "name": *field.name, "value": *field.value, "label": label(view, id) })
        })
        .collect()
}

fn agent<'a>(view: &'a View<'_>, agent: AgentId) -> &'a str {
    &view.briefing.agents[agent.index()].name
}

fn tool<'a>(view: &'a View<'_>, tool: ToolId) -> &'a str {
    &view.briefing.tools[tool.index()].name
}

/// The arguments of a call, each with its name, role, value and label.
fn arguments(view: &View<'_>, call: &Call, arguments: &[Argument]) -> Json {
    let specs = &view.briefing.tools[call.tool.index()].arguments;
    arguments
        .iter()
        .map(|argument| {
            let spec = &specs[usize::from(argument.position)];
            json!({
                "name": *spec.name,
                "role": spec.role.word(),
                "value": value(&argument.value),
                "label": label(view, argument.label),
            })
        })
        .collect()
}

/// What something is about: a word and an id or name, joined by `:`.
fn subject(view: &View<'_>, subject: Subject) -> String {
    match subject {
        Subject::Source(id) => format!("source:{}", view.briefing.sources[id.index()].name),
        Subject::Record(id) => format!("record:{}", id.0),
        Subject::Message(id) => format!("message:{}", id.0),
        Subject::Call(id) => format!("call:{}", id.0),
        Subject::Step(step) => format!("step:{step}"),
        Subject::Agent(id) => format!("agent:{}", agent(view, id)),
    }
}
