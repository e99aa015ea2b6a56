//! Why a decision was made: its rule, the fields that decided, what is tainted and whether the
//! ledger names it, the evidence.

use containment_bench::Choice;
use engine::Rollout;
use engine::export::names::word;
use plugins::action::{Argument, Call};
use plugins::ids::{CallId, NodeId};
use plugins::label::LabelId;
use plugins::ledger::{Condition, Entry};
use plugins::policy::{Basis, DecidingField, Evidence, Hook, Reason, VerdictKind};
use plugins::tool::{Target, ToolSpec};
use plugins::trace::{Answer, Event, Happening, Subject, Trace};
use worlds::spec::Scenario;

use super::taint::{Tainted, untrusted, value};
use crate::cli::list::origin_name;
use crate::cli::rules;
use crate::cli::table::wrapped;

/// The width of an explanation, in characters.
const WIDTH: usize = 96;
/// Where the explanation of a heading begins.
const INDENT: usize = 12;

/// Why the last decision was made, or the last on `call`; none if there was none. `policy` is the one
/// that decided.
pub(super) fn why(rollout: &Rollout, policy: &Choice, call: Option<u32>) -> Option<String> {
    let trace = rollout.trace();
    let is_wanted =
        |subject: Subject| call.is_none_or(|call| subject == Subject::Call(CallId(call)));
    let mut events = trace.events.iter().enumerate().rev();
    let (index, event, ruling) = events.find_map(|(index, event)| match &event.what {
        Happening::Ruled {
            hook,
            subject,
            verdict,
            reason,
            ..
        } if is_wanted(*subject) => {
            let ruling = Ruling {
                hook: *hook,
                subject: *subject,
                verdict: *verdict,
                reason,
            };
            Some((index, event, ruling))
        }
        _ => None,
    })?;
    let view = View {
        rollout,
        policy,
        scenario: rollout.scenario(),
        trace,
    };
    Some(view.explain(index, event, &ruling))
}

/// A ruling as the trace has it.
struct Ruling<'a> {
    hook: Hook,
    subject: Subject,
    verdict: VerdictKind,
    reason: &'a Reason,
}

#[derive(Clone, Copy)]
struct View<'a> {
    rollout: &'a Rollout,
    policy: &'a Choice,
    scenario: &'a Scenario,
    trace: &'a Trace,
}

impl<'a> View<'a> {
    fn explain(self, index: usize, event: &Event, ruling: &Ruling<'_>) -> String {
        let call = match ruling.subject {
            Subject::Call(call) => self.trace.calls.get(call.index()),
            _ => None,
        };
        let mut lines = vec![format!(
            "event {index}, tick {}: {} {} at the hook `{}`",
            event.tick,
            word(&ruling.verdict),
            self.subject(ruling.subject),
            word(&ruling.hook),
        )];
        let mut line = |heading: &str, what: &str| {
            let what = wrapped(what, WIDTH - INDENT, INDENT);
            lines.push(format!("  {heading:<10}{what}"));
        };
        if let Some(call) = call {
            line("call", &self.call(call));
            line("carries", &self.carried(call));
        }
        for rule in ruling.reason.rule.split('+') {
            line("rule", &rule_text(rule));
        }
        // What a rule says may depend on the parameters.
        for (parameter, value) in &self.policy.parameters {
            let policy = &self.policy.name;
            line(
                "parameter",
                &format!("{parameter}={value}, as set for {policy}"),
            );
        }
        line("fields", &self.fields(call, &ruling.reason.fields));
        if let Some(call) = call.filter(|_| ruling.hook == Hook::Proposal) {
            let tainted = Tainted::new(&self.scenario.briefing, self.rollout.labels(), call);
            for argument in tainted.arguments(ruling.reason) {
                line("argument", &argument);
            }
            if let Some(ledger) = tainted.ledger(ruling.verdict, ruling.reason) {
                line("ledger", &ledger);
            }
        }
        for evidence in &ruling.reason.evidence {
            line("evidence", &self.evidence(*evidence));
        }
        line("basis", basis(ruling.reason.basis));
        line("then", &self.outcome(index, ruling.subject, ruling.verdict));
        lines.join("\n")
    }

    fn subject(self, subject: Subject) -> String {
        let briefing = &self.scenario.briefing;
        match subject {
            Subject::Call(id) => match self.trace.calls.get(id.index()) {
                Some(call) => format!(
                    "{} (call {} of {})",
                    self.tool(call).name,
                    id.0,
                    briefing.agents[call.agent.index()].name
                ),
                None => format!("call {}", id.0),
            },
            Subject::Source(id) => briefing.sources[id.index()].name.to_string(),
            Subject::Agent(id) => briefing.agents[id.index()].name.to_string(),
            Subject::Record(id) => format!("record {}", id.0),
            Subject::Message(id) => format!("message {}", id.0),
            Subject::Step(step) => format!("recovery step {step}"),
        }
    }

    fn tool(self, call: &Call) -> &'a ToolSpec {
        &self.scenario.briefing.tools[call.tool.index()]
    }

    fn call(self, call: &Call) -> String {
        let tool = self.tool(call);
        let arguments: Vec<String> = call
            .arguments
            .iter()
            .map(|argument| {
                let name = &tool.arguments[usize::from(argument.position)].name;
                format!("{name}: {}", value(&argument.value))
            })
            .collect();
        format!("{}({})", tool.name, arguments.join(", "))
    }

    /// From where the arguments and the choice come, as far as it is untrusted.
    fn carried(self, call: &Call) -> String {
        let tool = self.tool(call);
        let mut parts: Vec<String> = Vec::new();
        let mut add = |what: String, label: LabelId| {
            let sources = self.untrusted(label);
            if !sources.is_empty() {
                parts.push(format!("{what} from {}", sources.join(", ")));
            }
        };
        for argument in &*call.arguments {
            let spec = &tool.arguments[usize::from(argument.position)];
            let authority = if spec.role.is_authority() {
                " (authority)"
            } else {
                ""
            };
            add(format!("{}{authority}", spec.name), argument.label);
        }
        add("the choice".to_owned(), call.choice);
        let is_labelled = !self.untrusted(call.recorded).is_empty();
        let node = if is_labelled {
            "labelled"
        } else {
            "not labelled"
        };
        if parts.is_empty() {
            format!("nothing untrusted; the proposal is {node}")
        } else {
            format!("{}; the proposal is {node}", parts.join("; "))
        }
    }

    fn untrusted(self, label: LabelId) -> Vec<&'a str> {
        untrusted(&self.scenario.briefing, self.rollout.labels(), label)
    }

    fn fields(self, call: Option<&Call>, fields: &[DecidingField]) -> String {
        if fields.is_empty() {
            return "none decided by itself".to_owned();
        }
        let texts: Vec<String> = fields
            .iter()
            .map(|&field| self.field(call, field))
            .collect();
        texts.join("; ")
    }

    fn field(self, call: Option<&Call>, field: DecidingField) -> String {
        let Some(call) = call else {
            return match field {
                DecidingField::Action => "the action".to_owned(),
                DecidingField::Target => "the target".to_owned(),
                DecidingField::Argument(position) => format!("field {position}"),
            };
        };
        let tool = self.tool(call);
        match field {
            DecidingField::Action => format!("the action {}", tool.name),
            DecidingField::Target => match &tool.target {
                Target::Fixed(target) => format!("the target {target}"),
                Target::Argument(position) => {
                    format!("the target {}", self.argument(call, *position))
                }
            },
            DecidingField::Argument(position) => self.argument(call, position),
        }
    }

    fn argument(self, call: &Call, position: u16) -> String {
        let name = &self.tool(call).arguments[usize::from(position)].name;
        let is_it = |argument: &&Argument| argument.position == position;
        match call.arguments.iter().find(is_it) {
            Some(argument) => format!("{name}: {}", value(&argument.value)),
            None => format!("{name}, which is not given"),
        }
    }

    fn evidence(self, evidence: Evidence) -> String {
        let briefing = &self.scenario.briefing;
        match evidence {
            Evidence::Node(node) => self.node(node),
            Evidence::Source(source) => {
                let source = &briefing.sources[source.index()];
                format!("source {} ({})", source.name, word(&source.trust))
            }
            Evidence::LedgerEntry(position) => {
                match briefing.ledger.entries.get(position as usize) {
                    Some(entry) => format!("ledger entry {position}: {}", entry_text(entry)),
                    None => format!("ledger entry {position}"),
                }
            }
            Evidence::NoLedgerEntry => match briefing.ledger.entries.as_slice() {
                [] => "the ledger authorises nothing".to_owned(),
                entries => {
                    let texts: Vec<String> = entries.iter().map(entry_text).collect();
                    format!("the ledger authorises only: {}", texts.join("; "))
                }
            },
        }
    }

    fn node(self, id: NodeId) -> String {
        let Some(node) = self.trace.nodes.get(id.index()) else {
            return format!("node {}", id.0);
        };
        let kind = word(&node.kind).replace('_', " ");
        let subject = self.subject(node.subject);
        let sources = self.untrusted(node.recorded);
        let label = if sources.is_empty() {
            "not labelled".to_owned()
        } else {
            format!("labelled by {}", sources.join(", "))
        };
        format!("node {}, {kind} of {subject}, {label}", id.0)
    }

    /// What came of a verdict.
    fn outcome(self, index: usize, subject: Subject, verdict: VerdictKind) -> String {
        let Subject::Call(id) = subject else {
            return consequence(verdict).to_owned();
        };
        let mut parts = Vec::new();
        for event in &self.trace.events[index + 1..] {
            match &event.what {
                Happening::Asked {
                    subject: of,
                    answer,
                } if *of == subject => {
                    parts.push(answer_text(*answer).to_owned());
                }
                Happening::Denied { call, reason } if *call == id => {
                    parts.push(format!("denied; the agent is told `{}`", word(reason)));
                }
                Happening::HoldReleased { call } if *call == id => {
                    parts.push("released, because the same call was held before".to_owned());
                }
                Happening::Committed { call, .. } if *call == id => {
                    parts.push("committed".to_owned());
                }
                Happening::Undone { call, .. } if *call == id => parts.push("undone".to_owned()),
                _ => {}
            }
        }
        if parts.is_empty() {
            return consequence(verdict).to_owned();
        }
        parts.join("; ")
    }
}

/// What a verdict leads to, if nothing came of it yet.
const fn consequence(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Allow => "it goes on",
        VerdictKind::Relabel => "it goes on under another label",
        VerdictKind::Edit | VerdictKind::Rewrite => "it goes on, changed",
        VerdictKind::Simulate => "nothing is executed; the agent gets a simulated result",
        VerdictKind::Hold => "it is held once",
        VerdictKind::Confirm => "the user is asked",
        VerdictKind::Drop => "it is kept out of the context",
        VerdictKind::Quarantine => "it is held out of use",
        VerdictKind::Block => "it is refused",
        VerdictKind::Act => "recovery actions follow one tick later",
        VerdictKind::Abort => "the rollout is stopped",
    }
}

const fn answer_text(answer: Answer) -> &'static str {
    match answer {
        Answer::Approved => "the user approved",
        Answer::Denied => "the user denied",
        Answer::Absent => "nobody was there to confirm",
    }
}

const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Exact => "exact: follows from trace and configuration alone",
        Basis::Assumed => "assumed: rests on a stand-in for a detector, a planner or a person",
    }
}

fn rule_text(id: &str) -> String {
    match rules::find(id) {
        Some(rule) => format!("{id} ({}): {}", origin_name(rule.origin), rule.doc),
        None => id.to_owned(),
    }
}

/// A ledger entry in words.
fn entry_text(entry: &Entry) -> String {
    let mut text = format!("{} on `{}`", entry.action, entry.target);
    for (position, (name, condition)) in entry.conditions.iter().enumerate() {
        text.push_str(if position == 0 { " where " } else { " and " });
        text.push_str(&condition_text(name, condition));
    }
    text
}

fn condition_text(name: &str, condition: &Condition) -> String {
    match condition {
        Condition::Equals(wanted) => format!("{name} is {}", value(wanted)),
        Condition::OneOf(wanted) => {
            let values: Vec<String> = wanted.iter().map(value).collect();
            format!("{name} is one of {}", values.join(", "))
        }
        Condition::Absent => format!("{name} is not given"),
        Condition::Present => format!("{name} is given"),
    }
}
