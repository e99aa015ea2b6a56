//! Where two traces, and where two rows, differ.

use serde_json::{Map, Value, json};
use study::row::{Row, row_columns};

use super::narrate::{Narrator, shortened};
use super::records::Events;
use super::rows::cell_text;
use super::table::Table;

/// The verdicts of which the agent is told.
const DENYING: [&str; 4] = ["hold", "confirm", "quarantine", "block"];

/// The first event at which two traces differ.
#[derive(Debug)]
pub(crate) struct EventDifference {
    /// Which, from 0.
    pub(crate) index: usize,
    /// What each says there; none if it has ended.
    events: [Option<Value>; 2],
    /// The same in words.
    told: [String; 2],
}

/// The first event that differs; none if all are the same. Two events that are written in another
/// way may say the same.
pub(crate) fn first_event<'t>(first: &Events<'t>, second: &Events<'t>) -> Option<EventDifference> {
    let mut rest = [first.clone(), second.clone()];
    for index in 0.. {
        let [a, b] = rest.each_mut().map(Iterator::next);
        if a.is_none() && b.is_none() {
            break;
        }
        if a == b {
            continue;
        }
        let events = [a, b].map(|line| line.map(read));
        if events[0] != events[1] {
            return Some(EventDifference {
                index,
                events,
                told: [first, second].map(|events| told(events.clone(), index)),
            });
        }
    }
    None
}

/// An event as a value; null for what no trace file would hold.
fn read(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_default()
}

/// An event in words.
fn told(events: Events<'_>, index: usize) -> String {
    let mut narrator = Narrator::default();
    let mut count = 0;
    for line in events.take(index + 1) {
        let told = narrator.tell(&read(line));
        if count == index {
            return told;
        }
        count += 1;
    }
    format!("nothing: the trace ends after {count} events")
}

impl EventDifference {
    /// In words, the two traces under these names.
    pub(crate) fn text(&self, names: [&str; 2]) -> String {
        let tick = self
            .tick()
            .map_or_else(|| "?".to_owned(), |tick| tick.to_string());
        let mut table = Table::default();
        for (name, told) in names.iter().zip(&self.told) {
            table.row([format!("  {name}"), told.clone()]);
        }
        let mut keys = Table::default();
        for (key, values) in self.keys() {
            keys.row([format!("  {key}"), values[0].clone(), values[1].clone()]);
        }
        format!(
            "first difference at event {}, tick {tick}\n{table}{keys}",
            self.index
        )
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Value {
        json!({ "event": self.index, "tick": self.tick(), "events": self.events, "told": self.told })
    }

    fn tick(&self) -> Option<u64> {
        self.events
            .iter()
            .flatten()
            .find_map(|event| event["tick"].as_u64())
    }

    /// The keys whose values differ, if both traces have the event.
    fn keys(&self) -> Vec<(String, [String; 2])> {
        match &self.events {
            [Some(Value::Object(a)), Some(Value::Object(b))] => {
                differing_keys(&without_idle_denial(a), &without_idle_denial(b))
            }
            _ => Vec::new(),
        }
    }
}

/// An event without the denial of a verdict that denies nothing. A trace has a `denial` with every
/// ruling, and that of an allowed call says nothing.
fn without_idle_denial(event: &Map<String, Value>) -> Map<String, Value> {
    let mut event = event.clone();
    let verdict = event.get("verdict").and_then(Value::as_str);
    if verdict.is_some_and(|verdict| !DENYING.contains(&verdict)) {
        event.remove("denial");
    }
    event
}

/// The keys of two objects whose values differ, with the values shortened.
pub(crate) fn differing_keys(
    a: &Map<String, Value>,
    b: &Map<String, Value>,
) -> Vec<(String, [String; 2])> {
    let only_in_b = b.keys().filter(|key| !a.contains_key(*key));
    let keys = a.keys().chain(only_in_b);
    let differing = keys.filter(|key| a.get(*key) != b.get(*key));
    let written = |value: Option<&Value>| {
        value.map_or_else(|| "-".to_owned(), |value| shortened(&value.to_string()))
    };
    differing
        .map(|key| (key.clone(), [written(a.get(key)), written(b.get(key))]))
        .collect()
}

/// A cell in which two rows differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CellDifference {
    /// The column.
    pub(crate) column: String,
    /// What each row says.
    pub(crate) values: [String; 2],
}

/// The cells in which two rows differ.
pub(crate) fn cells(first: &Row, second: &Row) -> Vec<CellDifference> {
    let (a, b) = (first.cells(), second.cells());
    let columns = row_columns().iter().zip(a.iter().zip(&b));
    let differing = columns.filter(|(_, (a, b))| a != b);
    differing
        .map(|(column, (a, b))| CellDifference {
            column: column.name().into_owned(),
            values: [a, b].map(cell_text),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first event that differs between traces of these events.
    fn first_of(first: &[Value], second: &[Value]) -> Option<EventDifference> {
        let lines = |events: &[Value]| {
            let lines: Vec<String> = events.iter().map(Value::to_string).collect();
            lines.join("\n")
        };
        let (first, second) = (lines(first), lines(second));
        first_event(&Events::of(&first), &Events::of(&second))
    }

    #[test]
    fn the_first_event_that_differs_is_found() {
        let event = |what: &str| json!({ "what": what, "tick": 3, "agent": "a" });
        let (a, b) = (vec![event("x"), event("y")], vec![event("x"), event("z")]);
        assert!(first_of(&a, &a).is_none());
        let written_in_another_way = " {\"tick\": 3, \"agent\": \"a\", \"what\": \"x\"}";
        let text = a[0].to_string();
        let events = [&text, written_in_another_way].map(Events::of);
        assert!(first_event(&events[0], &events[1]).is_none());
        let difference = first_of(&a, &b).expect("they differ");
        let text = difference.text(["one", "two"]);
        assert!(
            text.starts_with("first difference at event 1, tick 3\n  one  y\n"),
            "{text}"
        );
        assert!(text.contains("  what  \"y\"  \"z\""), "{text}");
    }

    #[test]
    fn a_verdict_that_denies_nothing_has_no_denial() {
        let ruled = |verdict: &str, denial: &str| {
            vec![json!({ "what": "ruled", "verdict": verdict, "denial": denial })]
        };
        let allowed = ruled("allow", "plugin_fault");
        let text = |other: &[Value]| {
            let difference = first_of(&allowed, other).expect("they differ");
            difference.text(["one", "two"])
        };
        let blocked = text(&ruled("block", "outside_user_goal"));
        assert!(
            blocked.contains("  denial   -        \"outside_user_goal\""),
            "{blocked}"
        );
        let relabelled = text(&ruled("relabel", "target_not_authorized"));
        assert!(!relabelled.contains("denial"), "{relabelled}");
    }

    #[test]
    fn a_trace_that_ends_early_differs() {
        let events = vec![json!({ "what": "x", "tick": 1 })];
        let text = first_of(&events, &[])
            .expect("they differ")
            .text(["a", "b"]);
        assert!(text.contains("the trace ends after 0 events"), "{text}");
    }
}
