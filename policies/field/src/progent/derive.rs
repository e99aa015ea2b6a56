//! The oracle in the place of Progent's generator: rules derived from the ledger that the policy is
//! given.

use std::collections::BTreeMap;

use plugins::briefing::Briefing;
use plugins::ledger::{Condition, Entry};
use plugins::tool::{Target, ToolSpec};
use plugins::value::Value;
use serde_json::Value as Json;

use super::engine::{Effect, Fallback, Rule, RuleMap};
use crate::schema::Schema;

/// The rules that a generator without fault would write: every low-risk tool is allowed, and of the
/// others what the ledger authorises. A tool without an entry has no rule, and is unknown.
///
/// Progent's language cannot say that an argument must be given: an absent argument satisfies every
/// restriction. So these rules allow all that the ledger authorises, and besides that calls which
/// leave an argument out.
#[must_use]
pub fn derived_rules(briefing: &Briefing) -> RuleMap {
    let mut map = RuleMap::default();
    for tool in briefing.tools.iter().filter(|tool| !tool.high_risk()) {
        map.add(&tool.name, [allowing(BTreeMap::new(), None)]);
    }
    for (position, entry) in (0..).zip(&briefing.ledger.entries) {
        let tools = briefing.tools.iter();
        let tool = tools
            .filter(|tool| tool.high_risk())
            .find(|tool| tool.name == entry.action);
        if let Some(rule) = tool.and_then(|tool| rule_of(tool, entry, position)) {
            map.add(&entry.action, [rule]);
        }
    }
    map
}

fn allowing(restrictions: BTreeMap<String, Schema>, entry: Option<u32>) -> Rule {
    Rule {
        priority: Rule::GENERATED,
        effect: Effect::Allow,
        restrictions,
        fallback: Fallback::Message,
        entry,
    }
}

/// The rule of an entry; none if no call can match it.
fn rule_of(tool: &ToolSpec, entry: &Entry, position: u32) -> Option<Rule> {
    let mut restrictions: BTreeMap<String, Schema> = BTreeMap::new();
    let mut restrict = |argument: u16, schema: Schema| {
        let name = tool.arguments[usize::from(argument)].name.to_string();
        let own = restrictions.remove(&name).unwrap_or_default();
        restrictions.insert(name, own.and(schema));
    };
    match &tool.target {
        Target::Fixed(target) if *target != entry.target => return None,
        Target::Fixed(_) => {}
        Target::Argument(argument) => {
            let target = Value::Text(entry.target.clone());
            restrict(*argument, Schema::one_of(forms(&target)));
        }
    }
    for (name, condition) in &entry.conditions {
        match tool.argument(name) {
            Some(argument) => restrict(argument, schema_of(condition)),
            // The ledger can only ask that an argument which the tool lacks is absent.
            None if *condition == Condition::Absent => {}
            None => return None,
        }
    }
    Some(allowing(restrictions, Some(position)))
}

fn schema_of(condition: &Condition) -> Schema {
    match condition {
        Condition::Equals(value) => Schema::one_of(forms(value)),
        Condition::OneOf(values) => Schema::one_of(values.iter().flat_map(forms).collect()),
        Condition::Absent => Schema::nothing(),
        Condition::Present => Schema::anything(),
    }
}

/// The forms in which a value may be given: one text, or a list of one.
fn forms(value: &Value) -> Vec<Json> {
    let other = match value {
        Value::Text(one) => Some(Value::List(vec![one.clone()])),
        Value::List(many) => match many.as_slice() {
            [one] => Some(Value::Text(one.clone())),
            _ => None,
        },
        Value::Integer(_) | Value::Boolean(_) => None,
    };
    other.iter().chain([value]).map(json).collect()
}

/// A value as JSON.
#[must_use]
pub fn json(value: &Value) -> Json {
    match value {
        Value::Text(text) => Json::from(&**text),
        Value::List(items) => items.iter().map(|item| Json::from(&**item)).collect(),
        Value::Integer(number) => Json::from(*number),
        Value::Boolean(truth) => Json::from(*truth),
    }
}
