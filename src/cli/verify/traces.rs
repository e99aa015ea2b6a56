//! The traces that lie in the folder: redacted, and of rollouts of this result.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use study::folder::SCENARIOS;
use study::row::{Identity, Row};

use super::check::{Check, Trouble};
use super::found::{Found, Listed};
use super::scenes::Worlds;
use crate::cli::decisions::RECORDING;
use crate::cli::differences;
use crate::cli::exit::Exit;
use crate::cli::files::{self, MAX_RESULT_BYTES};
use crate::cli::library::case_of_trace;
use crate::cli::records::TraceFile;
use crate::cli::replay;

/// Bytes of the longest line that is read as an event.
const MAX_LINE_BYTES: usize = 16 << 20;

/// What would mend a trace.
const WRITE: &str = "write it again with `containment trace DIR --id ID`, without `--reveal`";

/// The rows by scenario, policy, model and seed.
type ByName<'r> = BTreeMap<(&'r str, &'r str, &'r str, u64), &'r Identity>;

/// Every trace file, and `wanted` of them run again. Those of `own` are the program's case studies, byte
/// for byte, and about no row.
pub(super) fn check(
    found: &Found,
    worlds: &mut Worlds,
    wanted: usize,
    own: &BTreeSet<String>,
) -> Check {
    const NAME: &str = "traces";
    let files = found.files.iter().filter(|file| is_trace(file));
    let (own, files): (Vec<&Listed>, Vec<&Listed>) =
        files.partition(|file| own.contains(&file.name));
    let mut check = Check::new(NAME);
    let rows: ByName<'_> = found.rows.iter().flatten().map(named).collect();
    let names = names(worlds);
    let (mut events, mut replayed) = (0, 0);
    for file in &files {
        let trace = files::text(&file.path, MAX_RESULT_BYTES).map_err(Into::into);
        let trace = trace.and_then(|text| {
            if text.lines().any(|line| line.len() > MAX_LINE_BYTES) {
                let message = format!("a line has more than {MAX_LINE_BYTES} bytes");
                return Err(crate::cli::problem::Problem::new(message).into());
            }
            TraceFile::parse(&file.name, text)
        });
        let trace = match trace {
            Ok(trace) => trace,
            Err(failure) => {
                check.is_other_version |= failure.exit == Exit::UnsupportedVersion;
                check.add(Trouble::of(&file.name, failure.message(), WRITE));
                continue;
            }
        };
        header(&mut check, &trace, found.rows.is_some().then_some(&rows));
        events += redaction(&mut check, &trace, &names);
        if replayed < wanted && again(&mut check, &trace, worlds) {
            replayed += 1;
        }
    }
    let mut looked_at = match files.len() {
        0 => "there are none".to_owned(),
        count => format!("{count} traces, {events} events, {replayed} of the traces run again"),
    };
    if !own.is_empty() {
        looked_at += &format!("; {} of case studies, made again", own.len());
    }
    check.looked_at(looked_at)
}

/// Lines of JSON that are not the scenarios are traces.
fn is_trace(file: &Listed) -> bool {
    let is_recording = file.name.ends_with(RECORDING);
    file.name.ends_with(".jsonl") && file.name != SCENARIOS && !is_recording
}

fn named(row: &Row) -> ((&str, &str, &str, u64), &Identity) {
    let identity = &row.identity;
    let Identity {
        scenario_id,
        policy,
        model,
        seed,
        ..
    } = identity;
    ((&**scenario_id, &**policy, &**model, *seed), identity)
}

/// The tools and agents of each world, which a trace may name.
fn names(worlds: &Worlds) -> BTreeMap<String, Vec<String>> {
    let names = worlds.scenes.iter().map(|scene| {
        let briefing = &scene.scenario.briefing;
        let tools = briefing.tools.iter().map(|tool| tool.name.to_string());
        let agents = briefing.agents.iter().map(|agent| agent.name.to_string());
        (
            scene.scenario.identity.to_string(),
            tools.chain(agents).collect(),
        )
    });
    names.collect()
}

/// The header says that it is redacted, and is about a row of the result.
fn header(check: &mut Check, trace: &TraceFile, rows: Option<&ByName<'_>>) {
    let trouble = |message: String| Trouble::of(&trace.name, message, WRITE).line(1);
    check.require(
        trace.header.get("redacted") == Some(&Value::Bool(true)),
        || {
            trouble("the header does not say that the trace is redacted".to_owned())
                .field("redacted")
        },
    );
    let Some(rows) = rows else { return };
    let text = |key: &str| trace.header.get(key).and_then(Value::as_str);
    let seed = trace.header.get("seed").and_then(Value::as_u64);
    let name = (text("scenario"), text("policy"), text("model"), seed);
    let row = match name {
        (Some(scenario), Some(policy), Some(model), Some(seed)) => {
            rows.get(&(scenario, policy, model, seed))
        }
        _ => None,
    };
    let Some(row) = row else {
        check
            .add(trouble("no row of the result is about its rollout".to_owned()).field("scenario"));
        return;
    };
    for (key, of_row) in [
        ("scenario_hash", row.scenario_hash.to_string()),
        ("policy_hash", row.policy_hash.to_string()),
        ("profile_hash", row.profile_hash.to_string()),
        ("instrumentation", row.instrumentation.to_string()),
        ("user", row.user.to_string()),
        ("study_seed", row.study_seed.to_string()),
        (
            "stratum",
            row.stratum.as_deref().unwrap_or_default().to_owned(),
        ),
    ] {
        let said = trace.header.get(key).map_or_else(String::new, |value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        });
        check.require(said == of_row, || {
            let message = format!("the header says `{said}`, the row of its rollout `{of_row}`");
            trouble(message).field(key)
        });
    }
}

/// No event holds a value, a content, or a name that is none of its world. Gives how many there are.
fn redaction(check: &mut Check, trace: &TraceFile, names: &BTreeMap<String, Vec<String>>) -> usize {
    let scenario = trace.header.get("scenario").and_then(Value::as_str);
    let names = scenario.and_then(|scenario| names.get(scenario));
    let mut count = 0;
    for (line, text) in (2..).zip(trace.events()) {
        count += 1;
        let Ok(event) = serde_json::from_str::<Map<String, Value>>(text) else {
            continue;
        };
        for (field, problem) in unredacted(&event, names) {
            let trouble = Trouble::of(&trace.name, problem, WRITE).line(line);
            check.add(trouble.field(field));
        }
    }
    count
}

/// What an event holds that a redacted one does not.
fn unredacted(
    event: &Map<String, Value>,
    names: Option<&Vec<String>>,
) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    let arguments = event.get("arguments").and_then(Value::as_array);
    let values = arguments.into_iter().flatten().map(|one| one.get("value"));
    if values.flatten().any(|value| !value.is_null()) {
        found.push(("value", "an argument has its value"));
    }
    // What was drawn is a number that no text can be read from.
    if event
        .get("value")
        .is_some_and(|value| !value.is_null() && !value.is_u64())
    {
        found.push(("value", "an event has a value"));
    }
    if event
        .get("content")
        .is_some_and(|content| !content.is_null())
    {
        found.push(("content", "a record has its content"));
    }
    if let Some(named) = event.get("named").filter(|named| !named.is_null()) {
        let is_known = |names: &Vec<String>| names.iter().any(|name| named == name.as_str());
        if !names.is_some_and(is_known) {
            let problem = "a name stands there that is no tool or agent of its world, or whose world \
                           is not found";
            found.push(("named", problem));
        }
    }
    found
}

/// Runs the rollout of a trace again and compares the events. Whether it could be run.
fn again(check: &mut Check, trace: &TraceFile, worlds: &mut Worlds) -> bool {
    let case = case_of_trace(trace, &mut worlds.library);
    let again = case.and_then(|(case, policy)| replay::trace_again(trace, &case, &policy));
    let Ok(again) = again else {
        return false;
    };
    if let Some(difference) = differences::first_event(&trace.events(), &again.events()) {
        let message = "the rollout run again has another event there";
        let trouble = Trouble::of(&trace.name, message, WRITE);
        check.add(trouble.line(difference.index + 2));
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(event: Value, names: Option<&Vec<String>>) -> Vec<&'static str> {
        let Value::Object(event) = event else {
            panic!("an event is an object");
        };
        let found = unredacted(&event, names).into_iter();
        found.map(|(field, _)| field).collect()
    }

    #[test]
    fn values_contents_and_foreign_names_are_not_redacted() {
        let names = Some(vec!["send_mail".to_owned()]);
        for (event, field) in [
            (
                json!({"arguments": [{"value": null}, {"value": "x"}]}),
                "value",
            ),
            (json!({"value": "x"}), "value"),
            (json!({"content": {}}), "content"),
            (json!({"named": "x"}), "named"),
        ] {
            assert_eq!(problems(event, names.as_ref()), [field]);
        }
        let clean = json!({
            "arguments": [{"value": null}], "value": 7, "content": null, "named": "send_mail",
        });
        assert_eq!(problems(clean.clone(), names.as_ref()), [""; 0]);
        assert_eq!(problems(clean, None), ["named"]);
    }
}
