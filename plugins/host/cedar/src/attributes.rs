//! The attributes of the context, and those that a text reads although there are none.
//!
//! Cedar leaves out a policy that reads what is not there. A misspelt forbid would so forbid
//! nothing, and silently; hence it is refused before it runs, without a world to hold it against.

use std::collections::BTreeSet;
use std::ops::Range;

use plugins::loaded::Mistake;
use serde_json::Value;

use crate::needs::path_of;

/// The attributes of `context`, at calls and at the other hooks.
pub(crate) const TOP: [&str; 12] = [
    "arguments",
    "episode",
    "fields",
    "from",
    "high_risk",
    "history",
    "labels",
    "ledger",
    "read",
    "risk",
    "target",
    "text",
];

/// The attributes of the records in `context` whose attributes are always the same.
pub(crate) const INNER: [(&str, &[&str]); 3] = [
    ("history", &["agent", "high_risk", "tool", "total"]),
    (
        "labels",
        &[
            "choice_influenced",
            "choice_tainted",
            "control",
            "influenced",
            "influenced_fields",
            "readers",
            "recorded_sources",
            "recorded_tainted",
            "sources",
            "tainted",
            "tainted_authority",
            "tainted_contacts",
            "tainted_contents",
            "tainted_documents",
            "tainted_events",
            "tainted_fields",
            "tainted_memory_keys",
            "tainted_recipients",
            "tainted_scopes",
            "tainted_visibility",
        ],
    ),
    (
        "ledger",
        &[
            "action_listed",
            "entry",
            "expanding",
            "leaking",
            "matched",
            "target_authorized",
            "target_entry",
            "target_listed",
            "wrong_recipient",
        ],
    ),
];

/// What a policy, in Cedar's JSON form, reads of the context although there is no such attribute.
/// What it tests by `has` it may read.
pub(crate) fn unknown(policy: &Value, text: &str, place: &Range<usize>) -> Vec<Mistake> {
    let mut read = BTreeSet::new();
    let mut tested = BTreeSet::new();
    collect(policy, &mut read, &mut tested);
    let wrong = read.difference(&tested).filter_map(|path| {
        let (name, known): (&str, &[&str]) = match path[..] {
            [name] => (name, &TOP),
            [group, name] => {
                let inner = INNER.iter().find(|(inner, _)| *inner == group);
                (name, inner.map(|(_, known)| *known)?)
            }
            _ => return None,
        };
        let whole = format!("context.{}", path.join("."));
        let mistake = Mistake::new(format!("there is no `{whole}`"));
        let mistake = mistake.help(format!("one of {}", known.join(", ")));
        let statement = text.get(place.clone()).unwrap_or_default();
        let at = match statement.find(&whole) {
            Some(at) => place.start + at..place.start + at + whole.len(),
            None => place.clone(),
        };
        (!known.contains(&name)).then(|| mistake.at(at))
    });
    wrong.collect()
}

/// The paths of one and of two attributes that are read, and those that are tested.
fn collect<'a>(
    expression: &'a Value,
    read: &mut BTreeSet<Vec<&'a str>>,
    tested: &mut BTreeSet<Vec<&'a str>>,
) {
    match expression {
        Value::Array(items) => items.iter().for_each(|item| collect(item, read, tested)),
        Value::Object(fields) => {
            let path = path_of(expression).unwrap_or_default();
            if fields.contains_key("has") {
                tested.extend((1..=path.len()).map(|length| path[..length].to_vec()));
            } else if !path.is_empty() && path.len() <= 2 {
                read.insert(path);
            }
            fields
                .values()
                .for_each(|field| collect(field, read, tested));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use plugins::conformance::sample::{World, tool};
    use plugins::tool::RiskClass;

    use super::*;
    use crate::{load, schema};

    fn wrong(condition: &str) -> Vec<(String, String)> {
        let text = format!("forbid(principal, action, resource) when {{ {condition} }};");
        let mistakes = load(&text).map(|_| ()).err().unwrap_or_default();
        let shown = mistakes
            .into_iter()
            .map(|mistake| (mistake.message, text[mistake.place.unwrap()].to_owned()));
        shown.collect()
    }

    #[test]
    fn what_there_is_not_is_found_before_it_runs() {
        for path in [
            "context.ledgr",
            "context.labels.tainted_reciepients",
            "context.ledger.match",
            "context.history.tools",
            "context.input",
        ] {
            let expected = (format!("there is no `{path}`"), path.to_owned());
            assert_eq!(wrong(&format!("{path} == 1")), [expected]);
        }
        assert_eq!(wrong("1 == context.a || context.b.c == context.a").len(), 2);
    }

    #[test]
    fn what_there_is_or_is_tested_is_not() {
        for condition in [
            "context.arguments.any_name == 1",
            "context.history.tool.committed == 1",
            "context has later && context.later.part == 1",
            "context.ledger has later && context.ledger.later == 1",
            "context.text == context.risk",
        ] {
            assert_eq!(wrong(condition), [], "{condition}");
        }
    }

    #[test]
    fn the_schema_has_every_attribute() {
        let mut world = World::new();
        world.add_tool(tool("act", RiskClass::Low, ""));
        let schema = schema(&world.briefing);
        let has = |name: &str| {
            schema.contains(&format!(" {name}: ")) || schema.contains(&format!(" {name}?: "))
        };
        let is_inner = |name: &str| has(name) || schema.contains(&format!("{{{name}: "));
        assert!(TOP.iter().all(|name| has(name)));
        let inner = INNER.iter().flat_map(|(_, names)| *names);
        for name in inner {
            assert!(is_inner(name), "{name}");
        }
        assert!(TOP.is_sorted() && INNER.iter().all(|(_, names)| names.is_sorted()));
    }
}
