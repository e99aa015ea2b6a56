//! Section 8: the trace as JSON Lines.

use std::fmt::{Debug, Display, Write as _};

use plugins::action::{Argument, Repairs};
use plugins::ids::CallId;
use plugins::label::{IndexSet, LabelId, Readers};
use plugins::policy::{DecidingField, Evidence, Reason};
use plugins::trace::{Edge, Event, Happening, Node, Outcome, Subject};
use plugins::value::{Content, Value};
use worlds::spec::Scenario;

use crate::interpreter::{History, Setting};

/// What the header says besides scenario and setting, and what is shown.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The name of the model.
    pub model: &'a str,
    /// Whether values, contents and foreign names are hidden.
    pub redacted: bool,
}

/// Renders a history as JSON Lines, each line with its end.
#[must_use]
pub fn render(
    history: &History,
    scenario: &Scenario,
    setting: &Setting,
    heading: Heading<'_>,
) -> String {
    let mut writer = Writer {
        history,
        scenario,
        redacted: heading.redacted,
        out: String::new(),
    };
    writer.header(setting, heading);
    let (mut nodes, mut edges) = (0, 0);
    for (position, event) in history.trace.events.iter().enumerate() {
        let (nodes_before, edges_before) = (nodes, edges);
        nodes = event.nodes_after as usize;
        edges = event.edges_after as usize;
        writer.event(position, event);
        writer.key("nodes");
        writer.list(nodes_before..nodes, |writer, id| {
            writer.node(id, &history.trace.nodes[id]);
        });
        writer.key("edges");
        writer.list(&history.trace.edges[edges_before..edges], Writer::edge);
        writer.out.push_str("}\n");
    }
    writer.out
}

struct Writer<'a> {
    history: &'a History,
    scenario: &'a Scenario,
    redacted: bool,
    out: String,
}

impl Writer<'_> {
    fn header(&mut self, setting: &Setting, heading: Heading<'_>) {
        self.out.push_str(r#"{"type":"header","schema":1"#);
        let hash = format!("{:032x}", self.scenario.content_hash);
        let scenario: &str = &self.scenario.identity;
        self.text("scenario", scenario);
        self.text("scenario_hash", &hash);
        self.text("policy", heading.policy);
        self.text("model", heading.model);
        self.plain("study_seed", setting.key.study_seed);
        self.plain("seed", setting.key.rollout_seed);
        self.text("instrumentation", &setting.instrumentation.name());
        self.plain("redacted", heading.redacted);
        self.out.push_str("}\n");
    }

    fn event(&mut self, position: usize, event: &Event) {
        let briefing = &self.scenario.briefing;
        self.out.push_str(r#"{"type":"event""#);
        self.plain("event", position);
        self.plain("tick", event.tick);
        self.plain("episode", event.episode);
        let agent = event
            .agent
            .map(|agent| &*briefing.agents[agent.index()].name);
        self.optional_text("agent", agent);
        self.word("what", &event.what);
        self.fields(&event.what);
    }

    fn fields(&mut self, what: &Happening) {
        match what {
            Happening::EpisodeBegan => {}
            Happening::Delivered { message } => {
                self.optional("message", message.map(|message| message.0));
            }
            Happening::Completed {
                class,
                status,
                repairs,
                strict_reading_is_final,
                named,
            } => {
                self.word("class", class);
                self.word("status", status);
                self.repairs(*repairs);
                self.plain("strict_reading_is_final", strict_reading_is_final);
                let name = named.as_deref().filter(|name| self.shows_name(name));
                self.optional_text("named", name);
            }
            Happening::Sent { message, to } => {
                self.plain("message", message.0);
                let to = &self.scenario.briefing.agents[to.index()].name;
                self.text("to", to);
            }
            Happening::Finished { message } => self.plain("message", message.0),
            Happening::Drawn { name, value } => {
                self.text("name", name);
                self.plain("value", value);
            }
            Happening::Ended { outcome } => {
                let outcome = match outcome {
                    Outcome::Completed => "completed".to_owned(),
                    Outcome::LimitReached(kind) => format!("limit_reached:{}", snake(kind)),
                    Outcome::Errored(_) => "errored".to_owned(),
                };
                self.text("outcome", &outcome);
            }
            _ => self.fields_of_call(what),
        }
    }

    fn fields_of_call(&mut self, what: &Happening) {
        match what {
            Happening::Proposed { call } => self.proposed(*call),
            Happening::Ruled {
                hook,
                subject,
                verdict,
                reason,
                node,
            } => {
                self.word("hook", hook);
                self.subject(*subject);
                self.word("verdict", verdict);
                self.reason(*subject, reason);
                self.optional("node", node.map(|node| node.0));
            }
            Happening::Asked { subject, answer } => {
                self.subject(*subject);
                self.word("answer", answer);
            }
            Happening::Denied { call, reason } => {
                self.plain("call", call.0);
                self.word("reason", reason);
            }
            Happening::Committed { call, node } | Happening::Undone { call, node } => {
                self.plain("call", call.0);
                self.plain("node", node.0);
            }
            Happening::Observed { call, kept } => {
                self.plain("call", call.0);
                self.plain("kept", kept);
            }
            Happening::Acknowledged { call } | Happening::HoldReleased { call } => {
                self.plain("call", call.0);
            }
            Happening::Rewritten { call, arguments } => {
                self.plain("call", call.0);
                self.arguments(*call, arguments);
            }
            _ => self.fields_of_record(what),
        }
    }

    fn fields_of_record(&mut self, what: &Happening) {
        match what {
            Happening::Stored {
                record,
                store,
                key,
                content,
                node,
                quarantined,
            } => {
                self.plain("record", record.0);
                self.text("store", &self.scenario.stores[store.index()].name);
                self.text("key", key);
                self.plain("node", node.0);
                self.plain("quarantined", quarantined);
                self.content(content);
            }
            Happening::Removed { record, step } => {
                self.plain("record", record.0);
                self.optional("step", *step);
            }
            Happening::Quarantined { record } => self.plain("record", record.0),
            Happening::Filtered { store, filter } => {
                self.text("store", &self.scenario.stores[store.index()].name);
                self.plain("filter", filter);
            }
            Happening::Recovered {
                step,
                kind,
                node,
                removed,
            } => {
                self.optional("step", *step);
                self.word("kind", kind);
                self.optional("node", node.map(|node| node.0));
                self.key("removed");
                self.list(removed, |line, record| line.push(record.0));
            }
            Happening::Relabelled {
                subject,
                before,
                after,
            } => {
                self.subject(*subject);
                self.key("before");
                self.sources_of(*before);
                self.key("after");
                self.sources_of(*after);
            }
            _ => unreachable!("every happening is written above"),
        }
    }

    fn shows_name(&self, name: &str) -> bool {
        let briefing = &self.scenario.briefing;
        !self.redacted
            || briefing.tools.iter().any(|tool| &*tool.name == name)
            || briefing.agents.iter().any(|agent| &*agent.name == name)
    }

    fn repairs(&mut self, repairs: Repairs) {
        self.key("repairs");
        self.list(repairs.iter_names(), |line, (name, _)| {
            line.quoted(&name.to_lowercase());
        });
    }

    fn proposed(&mut self, call: CallId) {
        let history = self.history;
        let parsed = &history.trace.calls[call.index()];
        let tool = &self.scenario.briefing.tools[parsed.tool.index()];
        self.plain("call", call.0);
        self.text("tool", &tool.name);
        self.plain("keep_result", parsed.keep_result);
        self.key("recorded");
        self.sources_of(parsed.recorded);
        self.key("choice");
        self.sources_of(parsed.choice);
        self.arguments(call, &parsed.arguments);
    }

    fn arguments(&mut self, call: CallId, arguments: &[Argument]) {
        let history = self.history;
        let tool = history.trace.calls[call.index()].tool;
        let tool = &self.scenario.briefing.tools[tool.index()];
        self.key("arguments");
        self.list(arguments, |line, argument| {
            line.out.push('{');
            line.text("name", &tool.arguments[usize::from(argument.position)].name);
            line.key("value");
            if line.redacted {
                line.push("null");
            } else {
                line.value(&argument.value);
            }
            let label = history.labels.get(argument.label);
            line.key("sources");
            line.sources(&label.sources);
            line.key("control");
            line.sources(&label.control);
            line.out.push('}');
        });
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Text(text) => self.quoted(text),
            Value::List(items) => self.list(items, |line, item| line.quoted(item)),
            Value::Integer(number) => self.push(number),
            Value::Boolean(truth) => self.push(truth),
        }
    }

    fn content(&mut self, content: &Content) {
        self.key("content");
        if self.redacted {
            return self.push("null");
        }
        self.out.push('{');
        for field in &content.fields {
            self.text(&field.name, &field.value);
        }
        self.out.push('}');
    }

    fn reason(&mut self, subject: Subject, reason: &Reason) {
        let tool = match subject {
            Subject::Call(call) => {
                let tool = self.history.trace.calls[call.index()].tool;
                Some(&self.scenario.briefing.tools[tool.index()])
            }
            _ => None,
        };
        self.text("rule", &reason.rule);
        self.word("denial", &reason.denial);
        self.key("fields");
        self.list(&reason.fields, |line, field| match field {
            DecidingField::Action => line.quoted("action"),
            DecidingField::Target => line.quoted("target"),
            DecidingField::Argument(position) => {
                let spec = tool.and_then(|tool| tool.arguments.get(usize::from(*position)));
                match spec {
                    Some(spec) => line.quoted(&format!("argument:{}", spec.name)),
                    None => line.quoted(&format!("argument:{position}")),
                }
            }
        });
        self.key("evidence");
        self.list(&reason.evidence, |line, evidence| match evidence {
            Evidence::Node(node) => line.quoted(&format!("node:{}", node.0)),
            Evidence::Source(source) => {
                let name = &line.scenario.briefing.sources[source.index()].name;
                line.quoted(&format!("source:{name}"));
            }
            Evidence::LedgerEntry(entry) => line.quoted(&format!("ledger:{entry}")),
            Evidence::NoLedgerEntry => line.quoted("no_ledger_entry"),
        });
        self.word("basis", &reason.basis);
    }

    fn subject(&mut self, subject: Subject) {
        let briefing = &self.scenario.briefing;
        let subject = match subject {
            Subject::Source(id) => format!("source:{}", briefing.sources[id.index()].name),
            Subject::Record(id) => format!("record:{}", id.0),
            Subject::Message(id) => format!("message:{}", id.0),
            Subject::Call(id) => format!("call:{}", id.0),
            Subject::Step(step) => format!("step:{step}"),
            Subject::Agent(id) => format!("agent:{}", briefing.agents[id.index()].name),
        };
        self.text("subject", &subject);
    }

    fn node(&mut self, id: usize, node: &Node) {
        let exact = self.history.labels.get(node.exact);
        self.out.push('{');
        self.plain("id", id);
        self.word("kind", &node.kind);
        self.word("detail", &node.detail);
        self.subject(node.subject);
        self.key("recorded");
        self.sources_of(node.recorded);
        self.key("exact");
        self.sources(&exact.sources);
        self.key("readers");
        match &exact.readers {
            Readers::Everyone => self.push("null"),
            Readers::Only(readers) => self.list(readers.iter(), |line, reader| {
                line.quoted(&line.scenario.briefing.principals[reader as usize]);
            }),
        }
        self.key("control");
        self.sources(&exact.control);
        self.out.push('}');
    }

    fn edge(&mut self, edge: &Edge) {
        self.out.push('{');
        self.plain("from", edge.from.0);
        self.plain("to", edge.to.0);
        self.word("kind", &edge.kind);
        self.plain("taint", edge.taint);
        self.out.push('}');
    }

    fn sources_of(&mut self, label: LabelId) {
        let history = self.history;
        self.sources(&history.labels.get(label).sources);
    }

    fn sources(&mut self, sources: &IndexSet) {
        self.list(sources.iter(), |line, source| {
            line.quoted(&line.scenario.briefing.sources[source as usize].name);
        });
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.out.push('[');
        for (position, item) in items.into_iter().enumerate() {
            if position > 0 {
                self.out.push(',');
            }
            write(self, item);
        }
        self.out.push(']');
    }

    fn key(&mut self, key: &str) {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        self.quoted(key);
        self.out.push(':');
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.quoted(text);
    }

    fn optional_text(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.plain(key, "null"),
        }
    }

    fn optional(&mut self, key: &str, number: Option<u32>) {
        match number {
            Some(number) => self.plain(key, number),
            None => self.plain(key, "null"),
        }
    }

    /// The snake-case name of a variant.
    fn word(&mut self, key: &str, variant: &impl Debug) {
        self.text(key, &snake(variant));
    }

    fn plain(&mut self, key: &str, value: impl Display) {
        self.key(key);
        self.push(value);
    }

    fn push(&mut self, value: impl Display) {
        write!(self.out, "{value}").expect("writing to a string cannot fail");
    }

    fn quoted(&mut self, text: &str) {
        let quoted = serde_json::to_string(text).expect("a string is always valid JSON");
        self.out.push_str(&quoted);
    }
}

/// The name of a variant in snake case.
pub(crate) fn snake(variant: &impl Debug) -> String {
    let name = format!("{variant:?}");
    let name = name
        .split(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Heading, render};
    use crate::generate::WorldSeed;
    use crate::interpreter::run;
    use crate::plain_parser::PlainParser;

    fn hide(value: &mut Value, is_hidden: &dyn Fn(&str, &Value) -> bool) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| hide(item, is_hidden)),
            Value::Object(members) => {
                let is_draw = members.get("what").is_some_and(|what| what == "drawn");
                for (key, member) in members.iter_mut() {
                    if is_hidden(key, member) && !is_draw {
                        *member = Value::Null;
                    } else if key != "content" {
                        hide(member, is_hidden);
                    }
                }
            }
            _ => {}
        }
    }

    #[test]
    fn redaction_hides_values_contents_and_foreign_names_and_nothing_else() {
        for seed in (0..200).map(WorldSeed) {
            let (scenario, setting) = (seed.scenario(), seed.setting());
            let policy = &mut seed.policy();
            let history = run(&scenario, policy, &mut seed.model(), &PlainParser, &setting);
            let text = |redacted| {
                let heading = Heading {
                    policy: "random",
                    model: "random",
                    redacted,
                };
                render(&history, &scenario, &setting, heading)
            };
            let tools = scenario.briefing.tools.iter().map(|tool| &*tool.name);
            let agents = scenario.briefing.agents.iter().map(|agent| &*agent.name);
            let known: Vec<&str> = tools.chain(agents).collect();
            let is_hidden = |key: &str, value: &Value| match key {
                "value" | "content" => true,
                "named" => value.as_str().is_some_and(|name| !known.contains(&name)),
                _ => false,
            };
            let (open, redacted) = (text(false), text(true));
            assert_eq!(open.lines().count(), redacted.lines().count());
            for (open, redacted) in open.lines().zip(redacted.lines()).skip(1) {
                let mut open: Value = serde_json::from_str(open).expect("JSON");
                hide(&mut open, &is_hidden);
                let redacted: Value = serde_json::from_str(redacted).expect("JSON");
                assert_eq!(open, redacted, "{seed:?}");
            }
        }
    }
}
