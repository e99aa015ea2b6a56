//! Events of a trace in plain words.
//!
//! Works on events as JSON, so that it tells a trace file as well as a running rollout.

use std::collections::{BTreeMap, BTreeSet};

use plugins::briefing::Trust;
use serde_json::Value;
use worlds::spec::Scenario;

/// The longest value that is shown in full, in characters.
const LONGEST_VALUE: usize = 48;

/// Tells the events of one trace, in order. It remembers what later events refer to by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrator {
    /// The sources worth mentioning; none: all of them.
    untrusted: Option<BTreeSet<String>>,
    tools: BTreeMap<u64, String>,
    committed: BTreeSet<u64>,
    records: BTreeMap<u64, String>,
    senders: BTreeMap<u64, String>,
}

impl Narrator {
    /// A narrator that mentions untrusted sources only and knows the records from before the
    /// rollout.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let sources = scenario.briefing.sources.iter();
        let untrusted = sources.filter(|source| source.trust == Trust::Untrusted);
        let stores = scenario.stores.iter();
        let initial = stores.flat_map(|store| {
            let records = store.records.iter();
            records.map(move |record| format!("{}/{}", store.name, record.key))
        });
        Self {
            untrusted: Some(untrusted.map(|source| source.name.to_string()).collect()),
            records: (0..).zip(initial).collect(),
            ..Self::default()
        }
    }

    /// What happened, in words.
    pub(crate) fn tell(&mut self, event: &Value) -> String {
        self.remember(event);
        let agent = text(event, "agent");
        match text(event, "what") {
            "episode_began" => format!("episode {} begins", number(event, "episode")),
            "delivered" => self.delivered(event, agent),
            "completed" => completed(event),
            "proposed" => self.proposed(event),
            "sent" => {
                let (message, to) = (number(event, "message"), text(event, "to"));
                format!(
                    "sends message {message} to {to}{}",
                    self.carried(event, "message")
                )
            }
            "finished" => format!("gives the final answer{}", self.carried(event, "message")),
            "ruled" => self.ruled(event),
            "asked" => format!("the user is asked: {}", text(event, "answer")),
            "hold_released" => format!("the hold on {} is released", self.call(event)),
            "rewritten" => format!("{} becomes {}", self.call(event), arguments(event)),
            "denied" => format!("{} is denied: {}", self.call(event), text(event, "reason")),
            "committed" => {
                let carried = self.carried(event, "side_effect");
                format!("{} commits{carried}", self.call(event))
            }
            "undone" => format!("{} is undone", self.call(event)),
            "observed" => self.observed(event),
            "acknowledged" if self.committed.contains(&number(event, "call")) => {
                format!("learns that {} committed", self.call(event))
            }
            "acknowledged" => format!("learns that {} gave nothing", self.call(event)),
            "drawn" => {
                let value = number(event, "value");
                format!("the policy draws `{}`: {value}", text(event, "name"))
            }
            "ended" => format!("the rollout ends: {}", text(event, "outcome")),
            what => self.memory(event, what),
        }
    }

    fn memory(&self, event: &Value, what: &str) -> String {
        match what {
            "stored" => {
                let quarantined = event["quarantined"] == true;
                let state = if quarantined { " under quarantine" } else { "" };
                let carried = self.carried(event, "memory");
                format!("{} is stored{state}{carried}", self.record(event))
            }
            "removed" => format!("{} is removed", self.record(event)),
            "quarantined" => format!("{} is quarantined", self.record(event)),
            "filtered" => {
                let (store, filter) = (text(event, "store"), number(event, "filter"));
                format!("filter {filter} of store {store} refuses")
            }
            "recovered" => {
                let removed = event["removed"].as_array();
                let removed = removed.into_iter().flatten().filter_map(Value::as_u64);
                let removed: Vec<String> = removed.map(|record| self.record_name(record)).collect();
                let step = event["step"].as_u64();
                let who = step.map_or_else(
                    || "the policy's recovery".to_owned(),
                    |step| format!("recovery step {step}"),
                );
                let what = if removed.is_empty() {
                    "nothing".to_owned()
                } else {
                    removed.join(", ")
                };
                match text(event, "kind") {
                    "revoke" => format!("{who}: a source is revoked"),
                    kind => format!("{who}: {kind} of {what}"),
                }
            }
            "relabelled" => {
                let subject = self.subject(text(event, "subject"));
                let (before, after) = (names(&event["before"]), names(&event["after"]));
                format!("{subject} is relabelled from [{before}] to [{after}]")
            }
            other => other.replace('_', " "),
        }
    }

    fn remember(&mut self, event: &Value) {
        match text(event, "what") {
            "proposed" => {
                let tool = text(event, "tool").to_owned();
                self.tools.insert(number(event, "call"), tool);
            }
            "committed" => {
                self.committed.insert(number(event, "call"));
            }
            "stored" => {
                let name = format!("{}/{}", text(event, "store"), text(event, "key"));
                self.records.insert(number(event, "record"), name);
            }
            "sent" | "finished" => {
                let agent = text(event, "agent").to_owned();
                self.senders.insert(number(event, "message"), agent);
            }
            _ => {}
        }
    }

    fn delivered(&self, event: &Value, agent: &str) -> String {
        let Some(message) = event["message"].as_u64() else {
            return format!("the goal reaches {agent}");
        };
        let carried = self.carried(event, "agent_state");
        match self.senders.get(&message) {
            Some(sender) => format!("message {message} of {sender} reaches {agent}{carried}"),
            None => format!("message {message}, injected, reaches {agent}{carried}"),
        }
    }

    fn proposed(&self, event: &Value) -> String {
        let (number, tool) = (number(event, "call"), text(event, "tool"));
        let call = format!("call {number}: {tool}({})", arguments(event));
        let arguments = event["arguments"].as_array();
        let arguments = arguments.into_iter().flatten();
        let tainted =
            arguments.filter(|argument| !self.worth_telling(&argument["sources"]).is_empty());
        let tainted: Vec<&str> = tainted.map(|argument| text(argument, "name")).collect();
        if tainted.is_empty() {
            return format!("proposes {call}");
        }
        let sources = event["arguments"].as_array().into_iter().flatten();
        let sources: BTreeSet<String> = sources
            .flat_map(|argument| self.worth_telling(&argument["sources"]))
            .collect();
        let sources: Vec<String> = sources.into_iter().collect();
        format!(
            "proposes {call}; from {}: {}",
            sources.join(", "),
            tainted.join(", ")
        )
    }

    fn ruled(&self, event: &Value) -> String {
        let subject = self.subject(text(event, "subject"));
        let (verdict, rule) = (text(event, "verdict"), text(event, "rule"));
        match text(event, "hook") {
            "proposal" | "recovery" => format!("{verdict} {subject}: {rule}"),
            hook => format!("{verdict} {subject} at {}: {rule}", hook.replace('_', " ")),
        }
    }

    fn observed(&self, event: &Value) -> String {
        let call = self.call(event);
        if event["kept"] == true {
            let carried = self.carried(event, "tool_result");
            format!("the result of {call} enters the context{carried}")
        } else {
            format!("the result of {call} is discarded")
        }
    }

    /// Which sources the nodes of this kind carry, by the recorded label.
    fn carried(&self, event: &Value, kind: &str) -> String {
        let nodes = event["nodes"].as_array().into_iter().flatten();
        let of_kind = nodes.filter(|node| node["kind"] == kind);
        let sources: BTreeSet<String> = of_kind
            .flat_map(|node| self.worth_telling(&node["recorded"]))
            .collect();
        if sources.is_empty() {
            return String::new();
        }
        let sources: Vec<String> = sources.into_iter().collect();
        format!(", carrying {}", sources.join(", "))
    }

    fn worth_telling(&self, sources: &Value) -> Vec<String> {
        let sources = sources
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let is_told = |source: &&str| {
            let untrusted = self.untrusted.as_ref();
            untrusted.is_none_or(|untrusted| untrusted.contains(*source))
        };
        sources.filter(is_told).map(str::to_owned).collect()
    }

    /// A subject such as `call:3` in words.
    fn subject(&self, subject: &str) -> String {
        let numbered = subject
            .split_once(':')
            .and_then(|(kind, id)| Some((kind, id.parse().ok()?)));
        match numbered {
            Some(("call", call)) => self.call_name(call),
            Some(("record", record)) => self.record_name(record),
            Some(("step", step)) => format!("after recovery step {step}"),
            Some(("message", message)) => format!("message {message}"),
            _ => subject
                .split_once(':')
                .map_or(subject, |(_, name)| name)
                .to_owned(),
        }
    }

    fn call(&self, event: &Value) -> String {
        self.call_name(number(event, "call"))
    }

    fn call_name(&self, call: u64) -> String {
        let tool = self.tools.get(&call);
        tool.map_or_else(
            || format!("call {call}"),
            |tool| format!("{tool} (call {call})"),
        )
    }

    fn record(&self, event: &Value) -> String {
        self.record_name(number(event, "record"))
    }

    fn record_name(&self, record: u64) -> String {
        let name = self.records.get(&record);
        name.map_or_else(
            || format!("record {record}"),
            |name| format!("{name} (record {record})"),
        )
    }
}

fn completed(event: &Value) -> String {
    let named = event["named"].as_str().unwrap_or("something it has not");
    let said = match text(event, "class") {
        "valid" => format!("calls {named}"),
        "delegate" => format!("hands off to {named}"),
        "final" => "answers".to_owned(),
        "invalid_tool" => format!("names {named}, which is not its to use"),
        _ => "says nothing that can be read as an action".to_owned(),
    };
    let repairs = names(&event["repairs"]);
    if repairs.is_empty() {
        said
    } else {
        format!("{said} (repaired: {repairs})")
    }
}

/// The arguments of an event as `name: value` pairs; values only where they are shown.
fn arguments(event: &Value) -> String {
    let arguments = event["arguments"].as_array();
    let pairs: Vec<String> = arguments.into_iter().flatten().map(argument).collect();
    pairs.join(", ")
}

/// An argument as `name: value`, or its name alone if the value is not shown.
pub(crate) fn argument(argument: &Value) -> String {
    let name = text(argument, "name");
    match &argument["value"] {
        Value::Null => name.to_owned(),
        value => format!("{name}: {}", shortened(&value.to_string())),
    }
}

/// At most [`LONGEST_VALUE`] characters of `value`.
pub(crate) fn shortened(value: &str) -> String {
    let mut letters = value.chars();
    let mut short: String = letters.by_ref().take(LONGEST_VALUE).collect();
    if letters.next().is_some() {
        short.push_str("...");
    }
    short
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

fn names(value: &Value) -> String {
    let names = value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}
