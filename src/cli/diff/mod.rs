//! `containment diff`: where two traces, two results, or the rulings of two policies differ.

mod policies;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use study::results::Results;
use study::row::Row;

use super::differences::{self, CellDifference};
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::narrate::shortened;
use super::records::{self, Record, TraceFile};
use super::table::Table;
use super::terminal::Terminal;

/// Differing cells that are listed as text.
const SHOWN_CELLS: usize = 200;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Words and aligned columns; long lists are cut
    #[default]
    Text,
    /// One JSON document with everything
    Json,
}

/// The options of `diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A trace file, a result folder, or a policy as `containment run --policy` takes it
    first: PathBuf,
    /// Another of the same kind
    second: PathBuf,
    /// For two policies: the study about whose calls both are asked, a file or a shipped one [default:
    /// the main study]
    #[arg(long, value_name = "STUDY")]
    study: Option<PathBuf>,
    /// For two policies: the policy that is enforced meanwhile
    #[arg(long, value_name = "POLICY", default_value = "none")]
    under: String,
    /// How results are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Compares and prints what differs.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let named = [&args.first, &args.second];
    if named.into_iter().all(|name| policies::is_policy(name)) {
        return of_policies(args, terminal);
    }
    let names = named.map(|path| files::shown(path));
    let (text, json) = match (records::read(&args.first)?, records::read(&args.second)?) {
        (Record::Trace(a), Record::Trace(b)) => of_traces(&a, &b),
        (Record::Results(a), Record::Results(b)) => of_results(&a, &b, &names),
        _ => {
            let message = "a trace cannot be compared with a result";
            let help = "name two trace files or two result folders";
            return Err(Failure::usage(message, Some(help.to_owned())));
        }
    };
    told(args, &text, &json, terminal)
}

fn told(args: &Args, text: &str, json: &Value, terminal: &Terminal) -> Result<Exit, Failure> {
    match args.format {
        Format::Text => terminal.print(text)?,
        Format::Json => terminal.print(&format!("{json:#}"))?,
    }
    Ok(if json["same"] == true {
        Exit::Ok
    } else {
        Exit::NotDeterministic
    })
}

fn of_policies(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let written = [&args.first, &args.second].map(|name| name.to_str().unwrap_or_default());
    let compared = policies::compare(written, args.study.as_deref(), &args.under)?;
    let exit = told(args, &compared.text(), &compared.json(), terminal)?;
    super::policies::tell_faults(&compared.outside, terminal);
    Ok(exit)
}

fn of_traces(a: &TraceFile, b: &TraceFile) -> (String, Value) {
    let header = differences::differing_keys(&a.header, &b.header);
    let event = differences::first_event(&a.events(), &b.events());
    let mut parts = Vec::new();
    if !header.is_empty() {
        let mut table = Table::default();
        for (key, [a, b]) in &header {
            table.row([format!("  {key}"), a.clone(), b.clone()]);
        }
        parts.push(format!("the headers differ\n{table}"));
    }
    match &event {
        Some(event) => parts.push(event.text([&a.name, &b.name])),
        None => parts.push(format!("all {} events are the same\n", a.events().count())),
    }
    let header: Vec<Value> = header
        .iter()
        .map(|(key, values)| json!({ "key": key, "values": values }))
        .collect();
    let is_same = header.is_empty() && event.is_none();
    let json = json!({
        "schema": 1,
        "same": is_same,
        "header": header,
        "first_difference": event.map(|event| event.json()),
    });
    (parts.concat(), json)
}

/// What a row is about, apart from hashes: rows of two versions of a policy are compared.
type Key = (String, String, String, String, String, u64, u64);

fn key(row: &Row) -> Key {
    let identity = &row.identity;
    (
        identity.scenario_id.to_string(),
        identity.model.to_string(),
        identity.policy.to_string(),
        identity.instrumentation.to_string(),
        identity.user.to_string(),
        identity.study_seed,
        identity.seed,
    )
}

/// What two manifests may say differently without any number of the result depending on it.
const INDIFFERENT: [&str; 2] = ["name", "versions"];

/// The settings in which two studies differ, and where their rows do. Numbers are made of both.
fn of_results(a: &Results, b: &Results, names: &[String; 2]) -> (String, Value) {
    let settings = |results: &Results| match json!(results.manifest.frozen) {
        Value::Object(settings) => settings,
        _ => Map::new(),
    };
    let mut settings = differences::differing_keys(&settings(a), &settings(b));
    settings.retain(|(key, _)| !INDIFFERENT.contains(&key.as_str()));
    let (rows, mut json) = of_rows(&a.rows, &b.rows, names);
    let mut text = String::new();
    if !settings.is_empty() {
        let mut table = Table::default();
        for (key, [a, b]) in &settings {
            table.row([format!("  {key}"), a.clone(), b.clone()]);
        }
        text = format!("the manifests differ\n{table}");
        json["same"] = false.into();
    }
    let settings: Vec<Value> = settings
        .iter()
        .map(|(key, values)| json!({ "key": key, "values": values }))
        .collect();
    json["manifest"] = settings.into();
    (text + &rows, json)
}

fn of_rows(a: &[Row], b: &[Row], names: &[String; 2]) -> (String, Value) {
    let second: BTreeMap<Key, &Row> = b.iter().map(|row| (key(row), row)).collect();
    let first: BTreeMap<Key, &Row> = a.iter().map(|row| (key(row), row)).collect();
    let only_first: Vec<&Row> = a
        .iter()
        .filter(|row| !second.contains_key(&key(row)))
        .collect();
    let only_second: Vec<&Row> = b
        .iter()
        .filter(|row| !first.contains_key(&key(row)))
        .collect();
    let mut cells = Vec::new();
    for row in a {
        if let Some(other) = second.get(&key(row)) {
            cells.extend(
                differences::cells(row, other)
                    .into_iter()
                    .map(|cell| (row, cell)),
            );
        }
    }
    let text = rows_text(&cells, [&only_first, &only_second], names, a.len());
    let json = json!({
        "schema": 1,
        "same": cells.is_empty() && only_first.is_empty() && only_second.is_empty(),
        "rows": [a.len(), b.len()],
        "only_in_first": only_first.iter().map(|row| place(row)).collect::<Vec<_>>(),
        "only_in_second": only_second.iter().map(|row| place(row)).collect::<Vec<_>>(),
        "cells": cells.iter().map(cell_json).collect::<Vec<_>>(),
    });
    (text, json)
}

fn cell_json((row, cell): &(&Row, CellDifference)) -> Value {
    json!({ "row": place(row), "column": cell.column, "values": cell.values })
}

fn place(row: &Row) -> Value {
    let identity = &row.identity;
    json!({
        "rollout_id": identity.rollout_id.to_string(),
        "scenario_id": identity.scenario_id,
        "policy": identity.policy,
        "model": identity.model,
        "study_seed": identity.study_seed,
        "seed": identity.seed,
    })
}

fn rows_text(
    cells: &[(&Row, CellDifference)],
    only: [&[&Row]; 2],
    names: &[String; 2],
    rows: usize,
) -> String {
    let mut parts = Vec::new();
    if !cells.is_empty() {
        let header = ["scenario", "policy", "seed", "column", &names[0], &names[1]];
        let mut table = Table::new(header);
        for (row, cell) in cells.iter().take(SHOWN_CELLS) {
            let identity = &row.identity;
            table.row([
                identity.scenario_id.to_string(),
                identity.policy.to_string(),
                identity.seed.to_string(),
                cell.column.clone(),
                shortened(&cell.values[0]),
                shortened(&cell.values[1]),
            ]);
        }
        parts.push(table.to_string());
        if cells.len() > SHOWN_CELLS {
            let more = cells.len() - SHOWN_CELLS;
            parts.push(format!(
                "... and {more} more cells; --format json lists all\n"
            ));
        }
    }
    for (rows, name) in only.iter().zip(names) {
        if !rows.is_empty() {
            parts.push(format!("{} rows are only in {name}\n", rows.len()));
        }
    }
    if parts.is_empty() {
        return format!("all {rows} rows are the same\n");
    }
    let common = rows - only[0].len();
    parts.push(format!(
        "{} cells differ in {common} common rows\n",
        cells.len()
    ));
    parts.concat()
}
