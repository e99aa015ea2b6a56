//! What a study says of its result: a table of what differs, and the numbers of the run.

use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::json;
use study::columns::{Cell, Hash};
use study::manifest::Manifest;
use study::plan::Plan;
use study::results::summary;
use study::row::{Row, row_columns};
use study::runner::Outcomes;

use crate::cli::table::Table;

/// A finished study.
pub(super) struct Told<'a> {
    pub(super) plan: &'a Plan,
    pub(super) manifest: &'a Manifest,
    pub(super) outcomes: &'a Outcomes,
    pub(super) rows_digest: Hash,
    pub(super) seconds: f64,
    pub(super) folder: &'a Path,
    pub(super) workers: NonZeroUsize,
}

/// What the table shows: a heading and the column of the row behind it. Ratios are shown as stored,
/// unreduced.
const SHOWN: [(&str, &str); 10] = [
    ("harm", "committed_harm"),
    ("attempt", "harm_attempt"),
    ("done", "authorized_tainted_action_success"),
    ("spread", "blast_radius_norm"),
    ("tcr", "taint_to_commit_rate"),
    ("fp block", "false_positive_block_rate"),
    ("fp confirm", "false_positive_confirm_rate"),
    ("recovered", "recovery_success"),
    ("reinfected", "memory_reinfection"),
    ("rolled back", "rollback"),
];

impl Told<'_> {
    /// As JSON.
    #[expect(
        clippy::cast_precision_loss,
        reason = "speeds are told to a few digits"
    )]
    pub(super) fn json(&self) -> String {
        let numbers = summary(self.manifest, &self.outcomes.rows, self.rows_digest);
        let mut object = serde_json::to_value(&numbers).expect("plain data with text keys");
        let cores = self.workers.get() as f64;
        let per_core = |count: u64| count as f64 / (self.seconds * cores).max(f64::EPSILON);
        object["seconds"] = json!({ "total": self.seconds });
        object["rollouts_per_second_per_core"] = json!(per_core(numbers.rollouts));
        object["events_per_second_per_core"] = json!(per_core(self.outcomes.work.executed));
        object["out"] = json!(self.folder.display().to_string());
        object.to_string()
    }

    /// As text: the table, then the numbers of the run.
    pub(super) fn text(&self) -> String {
        let numbers = summary(self.manifest, &self.outcomes.rows, self.rows_digest);
        format!(
            "{}\n{} rollouts of {} worlds under {} policies, seeds {}: {:.2} s\n\
             manifest {}\nrows     {}\nresult   {}\n",
            self.table(),
            numbers.rollouts,
            self.plan.scenarios.len(),
            self.plan.cast.policies.len(),
            listed(&self.plan.study.seeds),
            self.seconds,
            numbers.manifest_digest,
            numbers.rows_digest,
            self.folder.display(),
        )
    }

    /// One line per world and policy; where seeds differ, every value that occurs.
    fn table(&self) -> Table {
        let headings = ["world", "policy"]
            .into_iter()
            .chain(SHOWN.iter().map(|(heading, _)| *heading));
        let mut table = Table::new(headings);
        let mut last_world = "";
        for planned in &self.plan.scenarios {
            for policy in &self.plan.cast.policies {
                let world = &*planned.scenario.identity;
                let of_cell = |row: &&Row| {
                    row.identity.scenario_id == world && row.identity.policy == policy.name
                };
                let rows: Vec<&Row> = self.outcomes.rows.iter().filter(of_cell).collect();
                let shown_world = if world == last_world { "" } else { world };
                last_world = world;
                let values = SHOWN.iter().map(|(_, column)| values(&rows, column));
                table.row(
                    [shown_world.to_owned(), policy.name.clone()]
                        .into_iter()
                        .chain(values),
                );
            }
        }
        table
    }
}

/// The values of a column in some rows, each once; a dash where the question does not apply.
fn values(rows: &[&Row], column: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    for row in rows {
        let value = value(row, column);
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen.join(" ")
}

/// One value: a ratio as `numerator/denominator`, null as a dash.
fn value(row: &Row, column: &str) -> String {
    let cells = row.cells();
    let cell = |name: &str| {
        let position = row_columns()
            .iter()
            .position(|column| column.name() == name)?;
        cells.get(position)
    };
    let ratio = cell(&format!("{column}_numerator")).zip(cell(&format!("{column}_denominator")));
    match (ratio, cell(column)) {
        (_, None | Some(Cell::Null)) => "-".to_owned(),
        (Some((numerator, denominator)), _) => format!("{numerator}/{denominator}"),
        (None, Some(value)) => value.to_string(),
    }
}

fn listed(seeds: &[u64]) -> String {
    seeds
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
