//! What a comparison prints.

use engine::export::jsonl;
use serde_json::{Value, json};
use study::columns::Hash;
use study::divergence::first_divergence;
use study::metrics::projection::{FIELDS, Field, FieldValue};
use study::paired::{Comparison, PairError, compare, stage_utility};
use study::row::Row;
use worlds::spec::Stage;

use super::sides::{Group, Side};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::narrate::Narrator;
use crate::cli::options::Case;
use crate::cli::problem::Problem;
use crate::cli::rows;
use crate::cli::table::Table;

/// Two sides, compared.
pub(super) struct Compared {
    first: usize,
    second: usize,
    /// The first event that differs.
    divergence: Option<usize>,
    comparison: Comparison,
}

/// Compares every pair of sides.
pub(super) fn compare_all(case: &Case, group: &Group) -> Result<Vec<Compared>, Failure> {
    for side in &group.sides {
        rows::require_numbers(case, &side.policy, &side.row)?;
    }
    let mut compared = Vec::new();
    for (first, a) in group.sides.iter().enumerate() {
        for (second, b) in group.sides.iter().enumerate().skip(first + 1) {
            compared.push(Compared {
                first,
                second,
                divergence: first_divergence(a.labelled(), b.labelled()),
                comparison: compare(&a.row, &b.row).map_err(|error| no_pair(&error))?,
            });
        }
    }
    Ok(compared)
}

fn no_pair(error: &PairError) -> Failure {
    Failure::new(Exit::Threshold, Problem::new(error.to_string()))
}

/// The comparison in words and columns.
pub(super) fn text(case: &Case, group: &Group, compared: &[Compared]) -> String {
    let mut parts = vec![heading(case, group), forks(group)];
    parts.extend(
        compared
            .iter()
            .map(|compared| pair_text(case, group, compared)),
    );
    parts.push(values(group));
    parts.join("\n")
}

fn heading(case: &Case, group: &Group) -> String {
    let identity = &group.sides[0].row.identity;
    let start = format!(
        "{}, seed {}, model {}, instrumentation {}, user {}\n\
         pre-state {}, the same for every policy\n",
        identity.scenario_id,
        identity.seed,
        case.model.name,
        identity.instrumentation,
        identity.user,
        identity.prestate_hash,
    );
    match &group.joint {
        None => start,
        Some(joint) => {
            let (under, tick) = (&joint.under, joint.tick);
            format!("{start}under {under} before tick {tick}, from there under each policy\n")
        }
    }
}

fn forks(group: &Group) -> String {
    let header = [
        "policy",
        "after step",
        "state there, without the policy",
        "trace",
        "ended",
    ];
    let told = |point: Option<String>| point.unwrap_or_else(|| "-".to_owned());
    let mut table = Table::new(header);
    for side in &group.sides {
        let identity = &side.row.identity;
        table.row([
            side.policy.name.clone(),
            told(side.fork.map(|point| point.event.to_string())),
            told(side.fork.map(|point| Hash(point.hash).to_string())),
            identity.trace_digest.to_string(),
            identity.outcome.to_string(),
        ]);
    }
    let (executed, scratch) = (group.work.executed, group.work.from_scratch);
    format!("{table}{executed} steps executed instead of {scratch}\n")
}

fn pair_text(case: &Case, group: &Group, compared: &Compared) -> String {
    let (a, b) = (&group.sides[compared.first], &group.sides[compared.second]);
    let comparison = &compared.comparison;
    let differs = |same: bool| if same { "equal" } else { "differs" };
    let fields: Vec<&str> = comparison
        .differing
        .iter()
        .map(|field| field.name())
        .collect();
    let trajectory = if fields.is_empty() {
        "equal".to_owned()
    } else {
        format!("differs in {}", fields.join(", "))
    };
    let mut table = Table::default();
    table.row([
        "  endpoint".to_owned(),
        differs(comparison.same_endpoint).to_owned(),
    ]);
    table.row(["  trajectory".to_owned(), trajectory]);
    table.row([
        "  utility".to_owned(),
        differs(comparison.same_utility).to_owned(),
    ]);
    let divergence = divergence_text(case, [a, b], compared.divergence);
    format!(
        "{} and {}\n{divergence}{table}",
        a.policy.name, b.policy.name
    )
}

fn divergence_text(case: &Case, sides: [&Side; 2], divergence: Option<usize>) -> String {
    let Some(index) = divergence else {
        return "  first divergence  none: the traces are the same but for rule names\n".to_owned();
    };
    let tick = sides
        .iter()
        .find_map(|side| tick_of(side, index))
        .unwrap_or_default();
    let mut table = Table::default();
    for side in sides {
        table.row([format!("    {}", side.policy.name), told(case, side, index)]);
    }
    format!("  first divergence at event {index}, tick {tick}\n{table}")
}

fn tick_of(side: &Side, index: usize) -> Option<u64> {
    let event = side.labelled().trace.events.get(index);
    event.map(|event| event.tick)
}

/// What a side did at an event, in words.
fn told(case: &Case, side: &Side, index: usize) -> String {
    let mut narrator = Narrator::of(&case.scene.scenario);
    let events = (0..=index).map_while(|position| event_json(case, side, position));
    let told: Vec<String> = events.map(|event| narrator.tell(&event)).collect();
    let at = told.into_iter().nth(index);
    at.unwrap_or_else(|| "nothing: its trace ends before".to_owned())
}

fn event_json(case: &Case, side: &Side, index: usize) -> Option<Value> {
    let labelled = side.labelled();
    let exists = index < labelled.trace.events.len();
    let scenario = &case.scene.scenario;
    exists.then(|| jsonl::event(scenario, labelled.trace, labelled.labels, index, true))
}

/// The compared numbers of every side.
fn values(group: &Group) -> String {
    let names = group.sides.iter().map(|side| side.policy.name.clone());
    let mut table = Table::new(
        std::iter::once("axis".to_owned())
            .chain(["column".to_owned()])
            .chain(names),
    );
    let stage = group.sides[0].row.identity.stage;
    let mut add = |axis: &str, name: &str, value: &dyn Fn(&Row) -> String| {
        let cells = group.sides.iter().map(|side| value(&side.row));
        table.row([axis.to_owned(), name.to_owned()].into_iter().chain(cells));
    };
    add("endpoint", "committed_harm", &|row| {
        indicator(row.metrics.endpoints.committed_harm)
    });
    for field in FIELDS {
        add("trajectory", field.name(), &|row| {
            field.of(&row.metrics).to_string()
        });
    }
    add("utility", utility_name(stage), &|row| {
        indicator(stage_utility(row))
    });
    table.to_string()
}

fn indicator(value: Option<bool>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| u8::from(value).to_string())
}

/// The column that is the utility of a stage.
const fn utility_name(stage: Stage) -> &'static str {
    match stage {
        Stage::ActiveTainted => "authorized_tainted_action_success",
        Stage::Clean => "clean_benign_completion",
        Stage::Security | Stage::MemoryRecovery => "benign_completion",
    }
}

/// The comparison as JSON.
pub(super) fn json(case: &Case, group: &Group, compared: &[Compared]) -> Value {
    let identity = &group.sides[0].row.identity;
    let pairs = compared
        .iter()
        .map(|compared| pair_json(case, group, compared));
    json!({
        "schema": 1,
        "scenario": identity.scenario_id,
        "scenario_hash": identity.scenario_hash.to_string(),
        "stage": identity.stage.name(),
        "model": case.model.name,
        "seed": identity.seed,
        "study_seed": identity.study_seed,
        "instrumentation": identity.instrumentation,
        "user": identity.user,
        "prestate_hash": identity.prestate_hash.to_string(),
        "at": group.joint.as_ref().map(|joint| json!({ "tick": joint.tick, "under": joint.under })),
        "policies": group.sides.iter().map(side_json).collect::<Vec<_>>(),
        "events_executed": group.work.executed,
        "events_from_scratch": group.work.from_scratch,
        "pairs": pairs.collect::<Vec<_>>(),
    })
}

fn side_json(side: &Side) -> Value {
    let identity = &side.row.identity;
    let trajectory = FIELDS.into_iter().map(|field| {
        let value = match field.of(&side.row.metrics) {
            FieldValue::Null => Value::Null,
            FieldValue::Count(count) => json!(count),
            FieldValue::Ratio(ratio) => json!(ratio.to_string()),
        };
        (field.name().to_owned(), value)
    });
    json!({
        "policy": side.policy.name,
        "parameters": side.policy.parameters,
        "prestate_hash": identity.prestate_hash.to_string(),
        "fork_event": side.fork.map(|point| point.event),
        "fork_hash": side.fork.map(|point| Hash(point.hash).to_string()),
        "trace_digest": identity.trace_digest.to_string(),
        "outcome": identity.outcome,
        "events": identity.events,
        "committed_harm": side.row.metrics.endpoints.committed_harm,
        "trajectory": trajectory.collect::<Value>(),
        "utility": { utility_name(identity.stage): stage_utility(&side.row) },
    })
}

fn pair_json(case: &Case, group: &Group, compared: &Compared) -> Value {
    let sides = [&group.sides[compared.first], &group.sides[compared.second]];
    let names = sides.map(|side| side.policy.name.as_str());
    let comparison = &compared.comparison;
    let divergence = compared.divergence.map(|index| {
        json!({
            "event": index,
            "tick": sides.iter().find_map(|side| tick_of(side, index)),
            "events": sides.map(|side| event_json(case, side, index)),
            "told": sides.map(|side| told(case, side, index)),
        })
    });
    let differing: Vec<&str> = comparison
        .differing
        .iter()
        .copied()
        .map(Field::name)
        .collect();
    json!({
        "policies": names,
        "same_prestate": true,
        "first_divergence": divergence,
        "same_endpoint": comparison.same_endpoint,
        "same_zero": comparison.same_zero,
        "same_trajectory": differing.is_empty(),
        "differing": differing,
        "same_utility": comparison.same_utility,
    })
}
