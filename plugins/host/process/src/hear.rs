//! What a process may answer, and what it means. Whatever is not exactly an answer to the question
//! is a fault: a message that says why.

mod reason;
mod verdict;

pub(crate) use self::verdict::{commit, inflow, memory, prompt, proposal, recovery, session};

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// An answer of a policy, read but not yet understood.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    id: u64,
    verdict: String,
    rule: Option<String>,
    denial: Option<String>,
    fields: Option<Vec<String>>,
    evidence: Option<Vec<String>>,
    basis: Option<String>,
    #[serde(default, deserialize_with = "given")]
    state: Option<Box<RawValue>>,
    mask: Option<Vec<Masked>>,
    edit: Option<Edited>,
    relabel: Option<Relabelled>,
    content: Option<Vec<Said>>,
    arguments: Option<BTreeMap<String, Json>>,
    actions: Option<Vec<Action>>,
}

/// The tools to hide from one agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Masked {
    agent: String,
    tools: Vec<String>,
}

/// Changes to a prompt.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Edited {
    drop: Vec<u32>,
    mark: Vec<u32>,
    guidance: Option<String>,
    schema_mode: Option<String>,
    mask: Vec<String>,
}

/// One change of a label.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Relabelled {
    NarrowReaders(Vec<String>),
    Endorse(Vec<String>),
    Declassify(Vec<String>),
}

/// One field of content.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    name: String,
    value: String,
}

/// One thing to do in recovery.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Action {
    Scrub(Vec<u32>),
    Quarantine(Vec<u32>),
    Restore(Vec<u32>),
    Rollback(Vec<u32>),
}

/// Answers carry the id of their question, and maybe a state.
pub(crate) trait Reply: DeserializeOwned {
    /// The question that is answered.
    fn id(&self) -> u64;
    /// The state that came with it.
    fn take_state(&mut self) -> Option<Box<RawValue>>;
}

impl Reply for Answer {
    fn id(&self) -> u64 {
        self.id
    }
    fn take_state(&mut self) -> Option<Box<RawValue>> {
        self.state.take()
    }
}

/// What an attacker answers: the text of every slot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Texts {
    id: u64,
    pub(crate) texts: Vec<String>,
    #[serde(default, deserialize_with = "given")]
    state: Option<Box<RawValue>>,
}

impl Reply for Texts {
    fn id(&self) -> u64 {
        self.id
    }
    fn take_state(&mut self) -> Option<Box<RawValue>> {
        self.state.take()
    }
}

/// What an auditor answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Findings {
    id: u64,
    pub(crate) findings: Vec<Found>,
}

/// One finding of an auditor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Found {
    pub(crate) node: u32,
    pub(crate) finding: String,
}

impl Reply for Findings {
    fn id(&self) -> u64 {
        self.id
    }
    fn take_state(&mut self) -> Option<Box<RawValue>> {
        None
    }
}

/// Keeps `null` apart from what is left out.
fn given<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(input).map(Some)
}

/// Reads the answer to question `id` out of a line. Its state, as the process wrote it, is there
/// exactly if the process has `keeps_state`.
pub(crate) fn read<R: Reply>(
    line: &[u8],
    id: u64,
    keeps_state: bool,
) -> Result<(R, Option<Box<str>>), String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("not UTF-8: {error}"))?;
    if !text.trim_start().starts_with('{') {
        return Err(format!("no answer: no object: {}", shortened(text)));
    }
    let mut reply: R = serde_json::from_str(text)
        .map_err(|error| format!("no answer: {error}: {}", shortened(text)))?;
    if reply.id() != id {
        let found = reply.id();
        return Err(format!(
            "answers question {found}, and question {id} was asked"
        ));
    }
    let state = reply
        .take_state()
        .map(|state| Box::<str>::from(state.get()));
    match (keeps_state, &state) {
        (true, None) => Err("keeps a state and answers without `state`".into()),
        (false, Some(_)) => {
            Err("answers with `state` and did not say in its hello that it keeps one".into())
        }
        _ => Ok((reply, state)),
    }
}

/// An answer without its `id`, to be kept. Every value stays as the process wrote it.
pub(crate) fn without_id(line: &[u8]) -> Result<String, String> {
    let mut values: BTreeMap<String, &RawValue> =
        serde_json::from_slice(line).map_err(|error| format!("no answer: {error}"))?;
    values.remove("id");
    serde_json::to_string(&values).map_err(|error| format!("cannot be kept: {error}"))
}

/// What [`without_id`] made, as the answer to question `id`.
pub(crate) fn with_id(answer: &str, id: u64) -> Vec<u8> {
    let values = answer.strip_prefix('{').unwrap_or(answer);
    format!("{{\"id\":{id},{values}").into_bytes()
}

/// The beginning of a text, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str(" ..");
    }
    short
}
