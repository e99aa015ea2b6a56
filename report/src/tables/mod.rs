//! The tables of a study, from its rows alone. One file for each group of tables; each table is a
//! function from the analysis to cells, and a cell that reproduces a published number says which.

mod accounting;
mod attribution;
mod components;
mod divergence;
mod endpoints;
pub mod factor;
mod means;
mod memory;
mod paired;
pub mod parser;
mod ranking;
mod running_text;
mod seeds;
mod spread;
mod utility;

use worlds::spec::Stage;

use crate::analysis::Analysis;
use crate::claims;
use crate::evidence::Scope;
use crate::published;
use crate::table::{Cell, Table};

/// The id of a table, what it shows, and what makes it.
type Maker = (&'static str, &'static str, fn(&Analysis<'_>) -> Table);

/// Every table of a study, in the order in which they are printed.
const MAKERS: [Maker; 22] = [
    ("3", "rows by stage", accounting::table),
    (
        "9",
        "endpoints and spread of the security stage",
        endpoints::security,
    ),
    ("10", "divergence at equal endpoints", divergence::table),
    ("11", "utility", utility::table),
    (
        "12",
        "claim-critical paired differences",
        paired::claim_critical,
    ),
    (
        "bounds",
        "how much harm could hide behind none seen",
        paired::bounds,
    ),
    (
        "13",
        "what each stage gives to a spread gap",
        spread::decomposition,
    ),
    (
        "14",
        "spread under other denominators",
        spread::denominators,
    ),
    ("15", "memory and recovery", memory::table),
    (
        "17",
        "attempts and commits of the security stage",
        endpoints::attempts,
    ),
    ("18", "candidate search", |_| {
        not_simulated("18", "Candidate-search transfer")
    }),
    ("19", "adaptive qualification", |_| {
        not_simulated("19", "Target-preserving adaptive qualification")
    }),
    ("20", "external adapter", |_| {
        not_simulated("20", "External adapter qualification")
    }),
    (
        "22",
        "how well the model is understood",
        endpoints::interface,
    ),
    ("25", "all paired differences", paired::every),
    ("26", "variance over seeds", seeds::table),
    (
        "components",
        "labelled nodes by kind, jumps and depth",
        components::table,
    ),
    (
        "attribution",
        "which rule ended the work",
        attribution::table,
    ),
    (
        "claims",
        "what each metric may be claimed for",
        claims::table,
    ),
    (
        "ranking",
        "policies in order, where an order may be claimed",
        ranking::table,
    ),
    ("text", "numbers of the running text", running_text::table),
    (
        "means",
        "every policy by itself, with intervals",
        means::table,
    ),
];

/// What is printed when nothing is asked for: harm, work, what recovers, whether the model is
/// understood, and what may be said of it.
pub const SUMMARY: [&str; 6] = ["9", "11", "12", "bounds", "15", "22"];

/// The tables that say nothing of any other study; they are printed when they are asked for.
const PAPERS_OWN: [&str; 4] = ["18", "19", "20", "text"];

/// The ids of all tables of a study, with what they show.
pub fn ids() -> impl Iterator<Item = (&'static str, &'static str)> {
    MAKERS.iter().map(|(id, shows, _)| (*id, *shows))
}

/// The tables of a study that its rows can fill.
#[must_use]
pub fn all(analysis: &Analysis<'_>) -> Vec<Table> {
    let makers = MAKERS
        .iter()
        .filter(|(id, ..)| is_the_papers(analysis) || !PAPERS_OWN.contains(id));
    made(makers, analysis)
}

/// Those of the tables with these ids that the study has rows for.
#[must_use]
pub fn some(analysis: &Analysis<'_>, wanted: &[&str]) -> Vec<Table> {
    let maker = |id: &&str| MAKERS.iter().find(|(other, ..)| other == id);
    made(wanted.iter().filter_map(maker), analysis)
}

/// The tables that are made of pairs of policies.
const OF_PAIRS: [&str; 5] = ["10", "12", "13", "25", "text"];

/// Whether a published table needs pairs of policies to be compared.
#[must_use]
pub fn needs_pairs(published_table: &str) -> bool {
    OF_PAIRS.contains(&published_table)
}

/// The cell that is to reproduce a published number of a published table.
#[must_use]
pub fn cell(analysis: &Analysis<'_>, published_table: &str, id: &str) -> Option<Cell> {
    let is_there = |(table, ..): &&Maker| *table == published_table || published_table == "text";
    let cells = MAKERS
        .iter()
        .filter(is_there)
        .flat_map(|(_, _, make)| make(analysis).rows);
    cells
        .flatten()
        .find(|cell| cell.published.iter().any(|other| other == id))
}

fn made<'m>(makers: impl Iterator<Item = &'m Maker>, analysis: &Analysis<'_>) -> Vec<Table> {
    let tables = makers.map(|(_, _, make)| make(analysis));
    let filled = tables.filter(|table| !table.rows.is_empty());
    let mut made: Vec<Table> = filled.map(|table| footed(table, analysis)).collect();
    published::keep_ids_of(&analysis.evidence.manifest.frozen.name, &mut made);
    made
}

/// Whether a study is one of those that make published numbers.
fn is_the_papers(analysis: &Analysis<'_>) -> bool {
    published::STUDIES.contains(&&*analysis.evidence.manifest.frozen.name)
}

/// With what is true of every table of the study.
fn footed(mut table: Table, analysis: &Analysis<'_>) -> Table {
    let frozen = &analysis.evidence.manifest.frozen;
    let model = analysis.evidence.model;
    if frozen.models.len() > 1 {
        table.title = format!("{}, under {model}", table.title);
    }
    let errored = analysis.evidence.errored();
    if errored > 0 {
        table.note(format!(
            "{errored} rollouts have no numbers, because their backend failed, and enter none."
        ));
    }
    table.note(format!(
        "Study {}, model {model}, scenario set {}, {} scenarios, seeds {}.",
        frozen.name,
        frozen.scenario_set(),
        frozen.scenarios.len(),
        frozen
            .seeds
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    ));
    table
}

/// A table of the paper for which nothing is simulated yet.
fn not_simulated(id: &'static str, title: &str) -> Table {
    let mut table = Table::new(id, title, &["Result"]);
    table.row([crate::table::Value::NotSimulated.into()]);
    table
}

/// What is said of every spread.
const LOWER_BOUND: &str =
    "Spread counts what the instrumentation logged: a lower bound under incomplete logging.";

/// What is said of every interval over scenarios.
fn say_intervals(table: &mut Table, monte_carlo: impl Iterator<Item = f64>) {
    let error = monte_carlo
        .reduce(f64::max)
        .map_or_else(String::new, |error| {
            format!(" Monte-Carlo error of an end at most {error:.4}.")
        });
    table.note(format!(
        "Intervals: 95 %, percentile bootstrap over scenarios with all their seeds, 10,000 resamples; \
         they answer for scenarios like these, of which a hand-written library is no random sample.{error}",
    ));
}

/// Rows of a scope under a policy that have numbers, as a cell.
fn rows_cell(analysis: &Analysis<'_>, scope: Scope, policy: &str) -> Cell {
    let rows = analysis.evidence.rows(scope, policy);
    Cell::count(rows.filter(|row| !row.identity.has_errored()).count() as u64)
}

/// What the published cells call a policy.
fn published_policy(policy: &str) -> &str {
    match policy {
        "taint_only_v1" => "taint_v1",
        "intent_ledger_v2" => "ledger_v2",
        other => other,
    }
}

/// What tables of stages call a stage in published cells.
const fn published_stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Security => "security",
        Stage::MemoryRecovery => "memory_recovery",
        Stage::ActiveTainted => "active_tainted_utility",
        Stage::Clean => "clean_utility",
    }
}

#[cfg(test)]
mod tests {
    use statistics::Bootstrap;

    use super::*;
    use crate::analysis::Options;
    use crate::evidence::Evidence;
    use crate::fixture::two_scenarios;
    use crate::headings;

    #[test]
    fn every_heading_can_be_explained() {
        let results = two_scenarios();
        let evidence = || Evidence::by_model(&results).remove(0);
        let options = Options {
            bootstrap: Bootstrap::default(),
            threads: 1,
        };
        let analysis = Analysis::new(evidence(), &[], options);
        let mut tables: Vec<Table> = MAKERS.iter().map(|(.., make)| make(&analysis)).collect();
        tables.extend(factor::table(&evidence(), &evidence()));
        assert_eq!(tables.len(), MAKERS.len() + 1);
        for heading in tables.iter().flat_map(|table| &table.columns) {
            assert!(headings::meaning(heading).is_some(), "{heading}");
        }
    }

    #[test]
    fn a_summary_is_made_of_tables_that_there_are() {
        for id in SUMMARY {
            assert!(ids().any(|(known, _)| known == id), "{id}");
        }
    }
}
