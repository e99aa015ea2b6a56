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
pub(crate) const SHOWN: [(&str, &str); 10] = [
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

/// Seeds, and different values of a cell, that are listed one by one.
const MOST_LISTED: usize = 8;

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
        object["rollouts_per_second_per_core"] = json!(per_core(self.outcomes.ran as u64));
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
            listed(&self.plan.study.seeds, ", "),
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
        let places = SHOWN.map(|(_, column)| Place::of(column));
        let policies = &self.plan.cast.policies;
        // Rows are in plan order: every seed and model of a world, and of each every policy.
        let of_world = self.outcomes.rows.len() / self.plan.scenarios.len().max(1);
        let worlds = self.outcomes.rows.chunks(of_world.max(1));
        for (planned, rows) in self.plan.scenarios.iter().zip(worlds) {
            for (position, policy) in policies.iter().enumerate() {
                let world = if position == 0 {
                    planned.scenario.identity.to_string()
                } else {
                    String::new()
                };
                let rows = rows.iter().skip(position).step_by(policies.len());
                let names = [world, policy.name.clone()];
                table.row(names.into_iter().chain(values(rows, &places)));
            }
        }
        table
    }
}

/// Where a shown quantity stands among the cells of a row.
struct Place {
    value: usize,
    /// Numerator and denominator, if it is a ratio.
    ratio: Option<(usize, usize)>,
}

impl Place {
    /// The place of a column.
    fn of(column: &str) -> Self {
        let position = |name: &str| row_columns().iter().position(|other| other.name() == name);
        let numerator = position(&format!("{column}_numerator"));
        Self {
            value: position(column).expect("what is shown is a column"),
            ratio: numerator.zip(position(&format!("{column}_denominator"))),
        }
    }

    /// The value there: a ratio as `numerator/denominator`, null as a dash.
    fn shown(&self, cells: &[Cell]) -> String {
        match (&cells[self.value], self.ratio) {
            (Cell::Null, _) => "-".to_owned(),
            (_, Some((numerator, denominator))) => {
                format!("{}/{}", cells[numerator], cells[denominator])
            }
            (value, None) => value.to_string(),
        }
    }
}

/// What some rows hold at each place: every value that occurs, once; of many the first ones.
fn values<'r>(rows: impl Iterator<Item = &'r Row>, places: &[Place]) -> Vec<String> {
    let mut seen: Vec<Vec<String>> = vec![Vec::new(); places.len()];
    for row in rows {
        let cells = row.cells();
        for (seen, place) in seen.iter_mut().zip(places) {
            let value = place.shown(&cells);
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
    }
    seen.iter().map(|values| listed(values, " ")).collect()
}

/// A few things are listed one by one, of many the first ones and how many more there are.
fn listed<T: ToString>(things: &[T], separator: &str) -> String {
    let first: Vec<String> = things.iter().take(MOST_LISTED).map(T::to_string).collect();
    let listed = first.join(separator);
    match things.len() - first.len() {
        0 => listed,
        more => format!("{listed}{separator}and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_shown_unreduced_and_null_as_a_dash() {
        let spread = Place::of("blast_radius_norm");
        let (numerator, denominator) = spread.ratio.expect("a ratio");
        let mut cells = vec![Cell::Null; row_columns().len()];
        assert_eq!(spread.shown(&cells), "-");
        cells[spread.value] = Cell::Decimal(0.75);
        cells[numerator] = Cell::Integer(6);
        cells[denominator] = Cell::Integer(8);
        assert_eq!(spread.shown(&cells), "6/8");
    }

    #[test]
    fn of_many_things_the_first_are_listed() {
        assert_eq!(listed::<u64>(&[], " "), "");
        assert_eq!(listed(&[1, 2, 3], ", "), "1, 2, 3");
        let many: Vec<u64> = (0..10).collect();
        assert_eq!(listed(&many, " "), "0 1 2 3 4 5 6 7 and 2 more");
    }

    #[test]
    fn everything_shown_is_a_column() {
        for (_, column) in SHOWN {
            let place = Place::of(column);
            assert_eq!(row_columns()[place.value].name(), column);
        }
    }
}
