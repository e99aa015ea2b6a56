//! Names of things in exported traces: enum words in `snake_case`, scenario names, label sources.

use plugins::label::{IndexSet, LabelId, LabelTable, Readers};
use plugins::policy::{DecidingField, Evidence};
use plugins::trace::{Outcome, Subject};
use serde::Serialize;
use serde_json::{Value, json};
use worlds::spec::Scenario;

/// The name of a variant in `snake_case`; its fields are not said.
#[must_use]
pub fn word(variant: &impl Serialize) -> String {
    let name = match serde_json::to_value(variant) {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let mut words = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// Scenario and labels: what names are made from.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) labels: &'a LabelTable,
}

impl Names<'_> {
    pub(super) fn subject(self, subject: Subject) -> String {
        let briefing = &self.scenario.briefing;
        match subject {
            Subject::Source(id) => format!("source:{}", briefing.sources[id.index()].name),
            Subject::Record(id) => format!("record:{}", id.0),
            Subject::Message(id) => format!("message:{}", id.0),
            Subject::Call(id) => format!("call:{}", id.0),
            Subject::Step(step) => format!("step:{step}"),
            Subject::Agent(id) => format!("agent:{}", briefing.agents[id.index()].name),
        }
    }

    fn source_names(self, sources: &IndexSet) -> Value {
        sources
            .iter()
            .map(|source| json!(*self.scenario.briefing.sources[source as usize].name))
            .collect()
    }

    pub(super) fn sources(self, label: LabelId) -> Value {
        self.source_names(&self.labels.get(label).sources)
    }

    pub(super) fn control(self, label: LabelId) -> Value {
        self.source_names(&self.labels.get(label).control)
    }

    pub(super) fn readers(self, label: LabelId) -> Value {
        match &self.labels.get(label).readers {
            Readers::Everyone => Value::Null,
            Readers::Only(set) => set
                .iter()
                .map(|principal| json!(*self.scenario.briefing.principals[principal as usize]))
                .collect(),
        }
    }

    pub(super) fn evidence(self, evidence: Evidence) -> String {
        match evidence {
            Evidence::Node(node) => format!("node:{}", node.0),
            Evidence::Source(source) => format!(
                "source:{}",
                self.scenario.briefing.sources[source.index()].name
            ),
            Evidence::LedgerEntry(entry) => format!("ledger:{entry}"),
            Evidence::NoLedgerEntry => "no_ledger_entry".to_owned(),
        }
    }
}

/// A deciding field; `argument_name` names an argument where the subject is a call.
pub(super) fn field(field: DecidingField, argument_name: impl Fn(u16) -> Option<String>) -> String {
    match field {
        DecidingField::Action => "action".to_owned(),
        DecidingField::Target => "target".to_owned(),
        DecidingField::Argument(position) => {
            format!(
                "argument:{}",
                argument_name(position).unwrap_or_else(|| position.to_string())
            )
        }
    }
}

/// How a rollout ended: `completed`, `limit_reached:` and the limit, or `errored`.
#[must_use]
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::LimitReached(kind) => format!("limit_reached:{}", word(kind)),
        Outcome::Errored(_) => "errored".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plugins::policy::{DenialReason, VerdictKind};
    use plugins::trace::LimitKind;

    use super::*;

    #[test]
    fn variants_are_in_snake_case() {
        assert_eq!(word(&VerdictKind::Allow), "allow");
        assert_eq!(word(&DenialReason::OutsideUserGoal), "outside_user_goal");
    }

    #[test]
    fn an_outcome_names_its_limit_and_no_message() {
        assert_eq!(outcome(&Outcome::Completed), "completed");
        let limit = Outcome::LimitReached(LimitKind::Queue);
        assert_eq!(outcome(&limit), "limit_reached:queue");
        assert_eq!(outcome(&Outcome::Errored("gone".into())), "errored");
    }
}
