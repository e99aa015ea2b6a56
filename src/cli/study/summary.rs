//! What a study says of its result: a table of what differs, and the numbers of the run.

use std::path::Path;

use serde_json::json;
use study::columns::{Cell, Hash};
use study::latency::LatencyNs;
use study::manifest::Manifest;
use study::results::summary;
use study::row::{Row, row_columns};
use study::runner::Outcomes;

use super::{Format, means, shadow};
use crate::cli::failure::Failure;
use crate::cli::table::Table;
use crate::cli::terminal::Terminal;

/// A result that was written.
pub(crate) struct Told<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) rows: &'a [&'a Row],
    pub(crate) rows_digest: Hash,
    pub(crate) folder: &'a Path,
    /// How it was run; nothing if it was put together.
    pub(crate) run: Option<Run<'a>>,
}

/// How a study was run.
pub(crate) struct Run<'a> {
    pub(crate) outcomes: &'a Outcomes,
    pub(crate) seconds: f64,
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
    /// Prints it.
    pub(crate) fn print(&self, format: Format, terminal: &Terminal) -> Result<(), Failure> {
        terminal.print(&match format {
            Format::Json => self.json(),
            Format::Text => self.text(),
        })
    }

    fn json(&self) -> String {
        let numbers = summary(self.manifest, self.rows, self.rows_digest);
        let mut object = serde_json::to_value(&numbers).expect("plain data with text keys");
        if let Some(shard) = self.manifest.circumstances.shard {
            object["shard"] = json!(shard);
        }
        if let Some(run) = &self.run {
            let Outcomes { ran, work, .. } = run.outcomes;
            object["seconds"] = json!({ "total": run.seconds });
            object["rollouts_per_second_per_core"] = json!(run.per_core(*ran as u64));
            object["events_per_second_per_core"] = json!(run.per_core(work.executed));
            object["latency_ns"] = json!(run.outcomes.latencies.summary());
        }
        object["out"] = json!(self.folder.display().to_string());
        object.to_string()
    }

    /// The table, then the numbers of the run.
    fn text(&self) -> String {
        let frozen = &self.manifest.frozen;
        let seconds = self
            .run
            .as_ref()
            .map(|run| format!(": {:.2} s", run.seconds));
        let shard = self.manifest.circumstances.shard;
        let part = shard.map(|_| format!(" of {}", frozen.rollouts));
        let shard = shard.map(|shard| {
            format!("shard    {shard}; `containment merge` puts all shards of the study together\n")
        });
        format!(
            "{}\n{}{}{} rollouts of {} worlds under {} policies, seeds {}{}\n\
             {}{}manifest {}\nrows     {}\nresult   {}\n",
            if frozen.scenarios.len() > means::MOST_WORLDS {
                means::table(self.manifest, self.rows)
            } else {
                self.table()
            },
            shadow::report(self.manifest, self.rows)
                .map(|report| format!("{report}\n"))
                .unwrap_or_default(),
            self.rows.len(),
            part.unwrap_or_default(),
            frozen.scenarios.len(),
            frozen.policies.len(),
            listed(&frozen.seeds, ", "),
            seconds.unwrap_or_default(),
            self.run.as_ref().map(Run::latency).unwrap_or_default(),
            shard.unwrap_or_default(),
            self.manifest.digest,
            self.rows_digest,
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
        let policies = &self.manifest.frozen.policies;
        // Rows are in plan order: every seed and model of a world, and of each every policy.
        let is_same_world = |a: &&Row, b: &&Row| a.identity.scenario_id == b.identity.scenario_id;
        for rows in self.rows.chunk_by(is_same_world) {
            for (position, policy) in policies.iter().enumerate() {
                let world = match position {
                    0 => rows[0].identity.scenario_id.to_string(),
                    _ => String::new(),
                };
                let rows = rows.iter().copied().skip(position).step_by(policies.len());
                let names = [world, policy.name.clone()];
                table.row(names.into_iter().chain(values(rows, &places)));
            }
        }
        table
    }
}

impl Run<'_> {
    /// How many there were each second on each thread that ran.
    #[expect(
        clippy::cast_precision_loss,
        reason = "speeds are told to a few digits"
    )]
    fn per_core(&self, count: u64) -> f64 {
        let threads = self.outcomes.threads.max(1) as f64;
        count as f64 / (self.seconds * threads).max(f64::EPSILON)
    }

    /// How long rollouts took, as a line; nothing if none was run.
    fn latency(&self) -> String {
        self.outcomes
            .latencies
            .summary()
            .map_or_else(String::new, |times| {
                let LatencyNs { p50, p90, p99, max } = times;
                let [p50, p90, p99, max] = [p50, p90, p99, max].map(duration);
                format!("rollout  p50 {p50}, p90 {p90}, p99 {p99}, max {max}\n")
            })
    }
}

/// Nanoseconds in a unit that suits them.
#[expect(clippy::cast_precision_loss, reason = "times are told to a few digits")]
fn duration(ns: u64) -> String {
    let in_unit = |unit: u64| ns as f64 / unit as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", in_unit(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} ms", in_unit(1_000_000)),
        _ => format!("{:.2} s", in_unit(1_000_000_000)),
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
    fn times_are_told_in_a_unit_that_suits_them() {
        let told = [1, 999, 1_000, 41_250, 999_999, 2_500_000, 3_600_000_000_000].map(duration);
        let expected = [
            "1 ns",
            "999 ns",
            "1.0 us",
            "41.2 us",
            "1000.0 us",
            "2.5 ms",
            "3600.00 s",
        ];
        assert_eq!(told, expected);
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
