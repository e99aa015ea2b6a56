//! The trace as JSON Lines, schema 1: `docs/SEMANTICS.md`, section 8. Redacted unless asked.

use std::collections::BTreeMap;

use plugins::action::Argument;
use plugins::ids::{CallId, NodeId};
use plugins::label::LabelTable;
use plugins::policy::Reason;
use plugins::trace::{Event, Happening, Subject, Trace};
use plugins::value::{Content, Value as ArgumentValue};
use serde_json::{Map, Value, json};
use worlds::spec::Scenario;

use super::names::{Names, field, outcome, word};
use crate::setup::Setting;

/// The version of the trace format. A change of meaning raises it; new keys do not.
pub const TRACE_SCHEMA: u32 = 1;

/// The key of the header under which the files of the policy stand.
pub const POLICY_FILES: &str = "policy_files";

/// What the header says of a rollout.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The policy's name.
    pub policy: &'a str,
    /// The model's name.
    pub model: &'a str,
    /// Seeds, instrumentation and user.
    pub setting: &'a Setting,
    /// What else it takes to run the rollout again; none in a trace that is only compared.
    pub recipe: Option<Recipe<'a>>,
}

/// What decides a rollout besides its names and seeds.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// The parameters of the policy that were given.
    pub policy_parameters: &'a BTreeMap<String, String>,
    /// The files of the policy as the user named them; none for one of this program.
    pub policy_files: &'a [String],
    /// The hash of the policy with its parameters.
    pub policy_hash: u128,
    /// The hash of the model with its configuration.
    pub profile_hash: u128,
}

/// Writes a trace as JSON Lines. `reveal` shows argument values, record contents and unknown names.
#[must_use]
pub fn write(header: Header<'_>, trace: &Trace, labels: &LabelTable, reveal: bool) -> String {
    let mut out = header_line(header, reveal).to_string();
    out.push('\n');
    let writer = Writer {
        names: Names {
            scenario: header.scenario,
            labels,
        },
        trace,
        reveal,
    };
    for index in 0..trace.events.len() {
        out.push_str(&writer.line(index).to_string());
        out.push('\n');
    }
    out
}

/// One event of a trace as a JSON object, as [`write()`] would write it.
#[must_use]
pub fn event(
    scenario: &Scenario,
    trace: &Trace,
    labels: &LabelTable,
    index: usize,
    reveal: bool,
) -> Value {
    Writer {
        names: Names { scenario, labels },
        trace,
        reveal,
    }
    .line(index)
}

fn header_line(header: Header<'_>, reveal: bool) -> Value {
    let mut line = json!({
        "type": "header",
        "schema": TRACE_SCHEMA,
        "scenario": *header.scenario.identity,
        "scenario_hash": hash(header.scenario.content_hash),
        "policy": header.policy,
        "model": header.model,
        "study_seed": header.setting.key.study_seed,
        "seed": header.setting.key.rollout_seed,
        "instrumentation": header.setting.instrumentation.name(),
        "redacted": !reveal,
    });
    if let Some(stratum) = &header.setting.key.stratum {
        line["stratum"] = json!(stratum.to_string());
    }
    if let Some(recipe) = header.recipe {
        line["user"] = json!(header.setting.user.name());
        line["policy_parameters"] = json!(recipe.policy_parameters);
        if !recipe.policy_files.is_empty() {
            line[POLICY_FILES] = json!(recipe.policy_files);
        }
        line["policy_hash"] = json!(hash(recipe.policy_hash));
        line["profile_hash"] = json!(hash(recipe.profile_hash));
    }
    line
}

/// A hash as 32 hexadecimal digits.
fn hash(hash: u128) -> String {
    format!("{hash:032x}")
}

struct Writer<'a> {
    names: Names<'a>,
    trace: &'a Trace,
    reveal: bool,
}

impl Writer<'_> {
    fn line(&self, index: usize) -> Value {
        let event = &self.trace.events[index];
        let mut line = Map::new();
        line.insert("type".into(), json!("event"));
        line.insert("event".into(), json!(index));
        line.insert("tick".into(), json!(event.tick));
        line.insert("episode".into(), json!(event.episode));
        let agents = &self.names.scenario.briefing.agents;
        line.insert(
            "agent".into(),
            json!(event.agent.map(|agent| &*agents[agent.index()].name)),
        );
        line.insert("what".into(), json!(word(&event.what)));
        if let Value::Object(fields) = self.fields(&event.what) {
            line.extend(fields);
        }
        let (nodes_before, edges_before) = self.before(index);
        line.insert(
            "nodes".into(),
            (nodes_before..event.nodes_after)
                .map(|node| self.node(NodeId(node)))
                .collect(),
        );
        line.insert("edges".into(), self.edges(edges_before, event));
        Value::Object(line)
    }

    fn before(&self, index: usize) -> (u32, u32) {
        match index
            .checked_sub(1)
            .map(|previous| &self.trace.events[previous])
        {
            Some(previous) => (previous.nodes_after, previous.edges_after),
            None => (0, 0),
        }
    }

    fn node(&self, id: NodeId) -> Value {
        let node = &self.trace.nodes[id.index()];
        json!({
            "id": id.0,
            "kind": word(&node.kind),
            "detail": word(&node.detail),
            "subject": self.names.subject(node.subject),
            "recorded": self.names.sources(node.recorded),
            "exact": self.names.sources(node.exact),
            "readers": self.names.readers(node.exact),
            "control": self.names.control(node.exact),
        })
    }

    fn edges(&self, before: u32, event: &Event) -> Value {
        let edges = &self.trace.edges[before as usize..event.edges_after as usize];
        edges
            .iter()
            .map(|edge| json!({ "from": edge.from.0, "to": edge.to.0, "kind": word(&edge.kind), "taint": edge.taint }))
            .collect()
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one arm per happening: the schema on one page"
    )]
    fn fields(&self, what: &Happening) -> Value {
        let scenario = self.names.scenario;
        match what {
            Happening::EpisodeBegan => json!({}),
            Happening::Delivered { message } => {
                json!({ "message": message.map(|message| message.0) })
            }
            Happening::Completed {
                class,
                status,
                repairs,
                strict_reading_is_final,
                named,
            } => json!({
                "class": word(class),
                "status": word(status),
                "repairs": repairs.iter_names().map(|(name, _)| name.to_lowercase()).collect::<Vec<_>>(),
                "strict_reading_is_final": strict_reading_is_final,
                "named": named.as_deref().filter(|name| self.reveal || self.is_scenario_name(name)),
            }),
            Happening::Proposed { call } => self.proposed(*call),
            Happening::Sent { message, to } => {
                json!({ "message": message.0, "to": *scenario.briefing.agents[to.index()].name })
            }
            Happening::Finished { message } => json!({ "message": message.0 }),
            Happening::Ruled {
                hook,
                subject,
                verdict,
                reason,
                node,
            } => {
                let mut fields = json!({
                    "hook": word(hook),
                    "subject": self.names.subject(*subject),
                    "verdict": word(verdict),
                });
                if let Value::Object(fields) = &mut fields {
                    self.add_reason(fields, *subject, reason);
                    fields.insert("node".into(), json!(node.map(|node| node.0)));
                }
                fields
            }
            Happening::Asked { subject, answer } => {
                json!({ "subject": self.names.subject(*subject), "answer": word(answer) })
            }
            Happening::HoldReleased { call } | Happening::Acknowledged { call } => {
                json!({ "call": call.0 })
            }
            Happening::Rewritten { call, arguments } => {
                json!({ "call": call.0, "arguments": self.arguments(*call, arguments) })
            }
            Happening::Denied { call, reason } => json!({ "call": call.0, "reason": word(reason) }),
            Happening::Committed { call, node } | Happening::Undone { call, node } => {
                json!({ "call": call.0, "node": node.0 })
            }
            Happening::Observed { call, kept } => json!({ "call": call.0, "kept": kept }),
            Happening::Stored {
                record,
                store,
                key,
                content,
                node,
                quarantined,
            } => json!({
                "record": record.0,
                "store": *scenario.stores[store.index()].name,
                "key": **key,
                "node": node.0,
                "quarantined": quarantined,
                "content": self.reveal.then(|| content_object(content)),
            }),
            Happening::Removed { record, step } => json!({ "record": record.0, "step": step }),
            Happening::Quarantined { record } => json!({ "record": record.0 }),
            Happening::Filtered { store, filter } => {
                json!({ "store": *scenario.stores[store.index()].name, "filter": filter })
            }
            Happening::Recovered {
                step,
                kind,
                node,
                removed,
            } => json!({
                "step": step,
                "kind": word(kind),
                "node": node.map(|node| node.0),
                "removed": removed.iter().map(|record| record.0).collect::<Vec<_>>(),
            }),
            Happening::Relabelled {
                subject,
                before,
                after,
            } => json!({
                "subject": self.names.subject(*subject),
                "before": self.names.sources(*before),
                "after": self.names.sources(*after),
            }),
            Happening::Drawn { name, value } => json!({ "name": **name, "value": value }),
            Happening::Ended { outcome: how } => json!({ "outcome": outcome(how) }),
        }
    }

    fn add_reason(&self, fields: &mut Map<String, Value>, subject: Subject, reason: &Reason) {
        let argument_name = |position: u16| match subject {
            Subject::Call(call) => self.argument_name(call, position),
            _ => None,
        };
        let deciding: Vec<String> = reason
            .fields
            .iter()
            .map(|&deciding| field(deciding, argument_name))
            .collect();
        let evidence: Vec<String> = reason
            .evidence
            .iter()
            .map(|&evidence| self.names.evidence(evidence))
            .collect();
        fields.insert("rule".into(), json!(reason.rule));
        fields.insert("denial".into(), json!(word(&reason.denial)));
        fields.insert("fields".into(), json!(deciding));
        fields.insert("evidence".into(), json!(evidence));
        fields.insert("basis".into(), json!(word(&reason.basis)));
    }

    fn argument_name(&self, call: CallId, position: u16) -> Option<String> {
        let tool = self.trace.calls.get(call.index())?.tool;
        let spec = self.names.scenario.briefing.tools[tool.index()]
            .arguments
            .get(usize::from(position))?;
        Some(spec.name.to_string())
    }

    fn proposed(&self, id: CallId) -> Value {
        let call = &self.trace.calls[id.index()];
        json!({
            "call": id.0,
            "tool": *self.names.scenario.briefing.tools[call.tool.index()].name,
            "keep_result": call.keep_result,
            "recorded": self.names.sources(call.recorded),
            "choice": self.names.sources(call.choice),
            "arguments": self.arguments(id, &call.arguments),
        })
    }

    fn arguments(&self, call: CallId, arguments: &[Argument]) -> Value {
        arguments
            .iter()
            .map(|argument| {
                json!({
                    "name": self.argument_name(call, argument.position),
                    "value": self.reveal.then(|| argument_value(&argument.value)),
                    "sources": self.names.sources(argument.label),
                    "control": self.names.control(argument.label),
                })
            })
            .collect()
    }

    /// Names of the scenario are no secret; anything else that a model wrote may be.
    fn is_scenario_name(&self, name: &str) -> bool {
        let briefing = &self.names.scenario.briefing;
        briefing.tools.iter().any(|tool| &*tool.name == name)
            || briefing.agents.iter().any(|agent| &*agent.name == name)
    }
}

fn argument_value(value: &ArgumentValue) -> Value {
    match value {
        ArgumentValue::Text(text) => json!(**text),
        ArgumentValue::List(items) => items.iter().map(|item| json!(**item)).collect(),
        ArgumentValue::Integer(number) => json!(number),
        ArgumentValue::Boolean(truth) => json!(truth),
    }
}

fn content_object(content: &Content) -> Value {
    content
        .fields
        .iter()
        .map(|field| (field.name.to_string(), json!(*field.value)))
        .collect()
}
