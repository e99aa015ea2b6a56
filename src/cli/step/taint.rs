//! What of a call is tainted, and what the ledger says of it: why taint was acceptable, or not.

use plugins::action::{Argument, Call};
use plugins::briefing::Briefing;
use plugins::label::{LabelId, LabelTable};
use plugins::ledger::{Condition, Entry};
use plugins::policy::{DecidingField, Reason, VerdictKind};
use plugins::predicate::{CallView, expanding_fields, leaking_fields, matches};
use plugins::tool::ToolSpec;
use plugins::value::Value;
use policies::rules;

use crate::cli::narrate::shortened;

/// The untrusted sources of a label.
pub(super) fn untrusted<'b>(
    briefing: &'b Briefing,
    labels: &LabelTable,
    label: LabelId,
) -> Vec<&'b str> {
    let sources = labels.get(label).sources.iter();
    let tainting = sources.filter(|&source| briefing.untrusted.contains(source));
    tainting
        .map(|source| &*briefing.sources[source as usize].name)
        .collect()
}

/// A call that was ruled on, beside the ledger.
pub(super) struct Tainted<'a> {
    briefing: &'a Briefing,
    labels: &'a LabelTable,
    call: CallView<'a>,
    /// The entry that matches the call.
    matched: Option<usize>,
}

impl<'a> Tainted<'a> {
    /// Looks the call up in the ledger.
    pub(super) fn new(briefing: &'a Briefing, labels: &'a LabelTable, call: &'a Call) -> Self {
        let view = CallView {
            tool: &briefing.tools[call.tool.index()],
            arguments: &call.arguments,
        };
        Self {
            briefing,
            labels,
            call: view,
            matched: matches(view, &briefing.ledger),
        }
    }

    /// A line for each tainted argument: where it comes from, and whether the ledger names it.
    pub(super) fn arguments(&self, reason: &Reason) -> Vec<String> {
        let arguments = self.call.arguments.iter();
        arguments
            .filter_map(|argument| self.argument(argument, reason))
            .collect()
    }

    fn argument(&self, argument: &Argument, reason: &Reason) -> Option<String> {
        let sources = untrusted(self.briefing, self.labels, argument.label);
        if sources.is_empty() {
            return None;
        }
        let spec = &self.tool().arguments[usize::from(argument.position)];
        let (name, sources) = (&spec.name, sources.join(", "));
        if spec.role.is_authority() {
            let (value, standing) = (value(&argument.value), self.authority(argument));
            return Some(format!(
                "{name}: {value} comes from {sources} (untrusted){standing}"
            ));
        }
        let decided = DecidingField::Argument(argument.position);
        let standing = if reason.fields.contains(&decided) {
            "no authority field, but one of those that decided"
        } else {
            "no authority field, so it expands nothing"
        };
        Some(format!(
            "{name}: content from {sources} (untrusted), {standing}"
        ))
    }

    /// What the ledger says of a tainted field of authority.
    fn authority(&self, argument: &Argument) -> String {
        let tool = self.tool();
        if !tool.high_risk() {
            return "; the tool is low-risk and needs no ledger entry".to_owned();
        }
        let entries = &self.briefing.ledger.entries;
        if let Some(matched) = self.matched {
            return if self.names(&entries[matched], argument) {
                let how = if is_choice(tool, &entries[matched], argument) {
                    "one of the values that"
                } else {
                    "exactly what"
                };
                format!(", and is {how} ledger entry {matched} names")
            } else {
                format!("; ledger entry {matched} does not name it, so it expands what may be done")
            };
        }
        let of_tool = |entry: &Entry| entry.action == tool.name;
        let mut numbered = entries.iter().enumerate();
        match numbered.find(|(_, entry)| of_tool(entry) && self.names(entry, argument)) {
            Some((position, _)) => {
                format!("; ledger entry {position} names it, but does not authorise this call")
            }
            None => format!("; no ledger entry for {} names it", tool.name),
        }
    }

    /// Whether the entry names the value of a tainted field of authority: one that does not expand.
    fn names(&self, entry: &Entry, argument: &Argument) -> bool {
        !self.expanding(entry).contains(&argument.position)
    }

    fn expanding(&self, entry: &Entry) -> Vec<u16> {
        expanding_fields(self.call, entry, self.labels, &self.briefing.untrusted)
    }

    fn tool(&self) -> &'a ToolSpec {
        self.call.tool
    }

    /// What the ledger alone would have said, where the ruling says something else or does not ask.
    pub(super) fn ledger(&self, verdict: VerdictKind, reason: &Reason) -> Option<String> {
        if !self.tool().high_risk() {
            return None;
        }
        let (is_authorized, standing) = self.standing();
        if reason.rule.split('+').any(is_about_taint_alone) {
            return Some(format!(
                "taint alone decides here, whatever the ledger names; {standing}"
            ));
        }
        let differs = match verdict {
            VerdictKind::Allow => !is_authorized,
            VerdictKind::Block | VerdictKind::Confirm | VerdictKind::Hold => is_authorized,
            _ => false,
        };
        differs.then_some(standing)
    }

    /// Whether the call commits by Eq. 10, and why.
    fn standing(&self) -> (bool, String) {
        let Some(matched) = self.matched else {
            let text = "no ledger entry would have allowed this call";
            return (false, text.to_owned());
        };
        let entry = &self.briefing.ledger.entries[matched];
        if !leaking_fields(self.call, self.briefing, self.labels).is_empty() {
            let text = format!("ledger entry {matched} matches this call, but it leaks");
            (false, text)
        } else if !self.expanding(entry).is_empty() {
            let text = format!("ledger entry {matched} matches this call, but taint expands it");
            (false, text)
        } else {
            let text = format!("ledger entry {matched} would have allowed this call");
            (true, text)
        }
    }
}

/// Whether the entry leaves a choice of values to the argument.
fn is_choice(tool: &ToolSpec, entry: &Entry, argument: &Argument) -> bool {
    entry.conditions.iter().any(|(name, condition)| {
        tool.argument(name) == Some(argument.position) && matches!(condition, Condition::OneOf(_))
    })
}

/// Whether the rule refuses what the ledger authorises because it is tainted.
fn is_about_taint_alone(rule: &str) -> bool {
    [
        rules::TAINTED_PRIVILEGE_JUMP.id,
        rules::CONFIRM_TAINTED_WRITE.id,
    ]
    .contains(&rule)
}

/// A value as it is written in JSON, shortened.
pub(super) fn value(value: &Value) -> String {
    shortened(&match value {
        Value::Text(text) => serde_json::Value::from(&**text).to_string(),
        Value::List(items) => {
            let items = items.iter().map(|item| serde_json::Value::from(&**item));
            items.collect::<serde_json::Value>().to_string()
        }
        Value::Integer(_) | Value::Boolean(_) => value.to_string(),
    })
}
