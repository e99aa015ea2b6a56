//! The result of a study of many worlds as a table: means by stage and policy.

use study::manifest::Manifest;
use study::row::{Row, row_columns};
use worlds::spec::Stage;

use crate::cli::table::Table;

/// Worlds of which each has its own lines; of more, the means are shown.
pub(super) const MOST_WORLDS: usize = 24;

/// What the table shows: a heading and the column of the row behind it.
pub(crate) const SHOWN: [(&str, &str); 11] = [
    ("harm", "committed_harm"),
    ("recipient", "wrong_recipient_rate"),
    ("leak", "secret_leakage"),
    ("spread", "blast_radius_norm"),
    ("completed", "authorized_tainted_action_success_fraction"),
    ("clean", "clean_benign_completion"),
    ("fp block", "false_positive_block_rate"),
    ("fp confirm", "false_positive_confirm_rate"),
    ("recovered", "recovery_success"),
    ("reinfected", "memory_reinfection"),
    ("rolled back", "rollback"),
];

/// One line per stage, policy and model: means over the rows that have the value, in row order.
pub(super) fn table(manifest: &Manifest, rows: &[&Row]) -> Table {
    let models = &manifest.frozen.models;
    let names = ["stage", "policy", "model", "rows"].into_iter();
    let names = names.filter(|name| *name != "model" || models.len() > 1);
    let mut table = Table::new(names.chain(SHOWN.map(|(heading, _)| heading)));
    for stage in Stage::ALL {
        let mut stage_name = stage.name();
        for policy in &manifest.frozen.policies {
            for model in models {
                let is_one = |row: &&Row| {
                    let identity = &row.identity;
                    identity.stage == stage
                        && *identity.policy == *policy.name
                        && *identity.model == *model.name
                };
                let rows: Vec<&Row> = rows.iter().copied().filter(is_one).collect();
                if rows.is_empty() {
                    continue;
                }
                let mut line = vec![stage_name.to_owned(), policy.name.clone()];
                if models.len() > 1 {
                    line.push(model.name.clone());
                }
                line.push(rows.len().to_string());
                line.extend(means(&rows));
                table.row(line);
                stage_name = "";
            }
        }
    }
    table
}

fn means(rows: &[&Row]) -> Vec<String> {
    let place = |(_, column): &(&str, &str)| {
        let mut columns = row_columns().iter();
        columns
            .position(|other| other.name() == *column)
            .expect("what is shown is a column")
    };
    let places: Vec<usize> = SHOWN.iter().map(place).collect();
    let mut sums = vec![(0.0, 0_u32); places.len()];
    for row in rows {
        let numbers = row.numbers();
        for ((sum, count), &place) in sums.iter_mut().zip(&places) {
            if let Some(value) = numbers[place] {
                *sum += value;
                *count += 1;
            }
        }
    }
    let mean = |(sum, count): (f64, u32)| match count {
        0 => "-".to_owned(),
        count => format!("{:.4}", sum / f64::from(count)),
    };
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_shown_exists() {
        assert_eq!(means(&[]), vec!["-"; SHOWN.len()]);
    }
}
