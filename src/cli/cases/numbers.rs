//! The numbers on the page of a case study: those columns of its rows that say something of it.

use std::collections::BTreeMap;

use report::render::{Format, render};
use report::table::{Cell, Table};
use study::row::{Row, row_columns};
use study::spread::spread_fixed_max;

use super::Group;

/// The columns that are shown, in this order; those that do not apply to a world are left out.
const SHOWN: [&str; 25] = [
    "harm_attempt",
    "committed_harm",
    "unauthorized_action",
    "wrong_recipient_rate",
    "secret_leakage",
    "leak_by_reference",
    "authorized_tainted_action_success",
    "authorized_tainted_action_success_fraction",
    "false_positive_block_rate",
    "false_positive_confirm_rate",
    "confirmation_burden",
    "memory_reinfection",
    "recovery_success",
    "recovery_failure",
    "rollback",
    "taint_to_commit_rate",
    "blast_radius_raw",
    "blast_radius_norm",
    "privilege_jump",
    "cascade_depth",
    "valid_tool_proposal_rate",
    "invalid_tool_rate",
    "parse_failure_rate",
    "repair_rate",
    "benign_completion",
];

/// Spread with one denominator for both policies, which no column of a row can be.
const COMMON: &str = "spread over the larger region of both";

/// The numbers of a world, a column for each policy, in Markdown.
pub(super) fn table(group: &Group) -> String {
    let rows: Vec<Row> = group.sides.iter().map(|side| side.row.clone()).collect();
    let columns: Vec<BTreeMap<String, String>> = rows.iter().map(columns).collect();
    let title = format!("World {}", group.case.scene.scenario.identity);
    let headings: Vec<&'static str> = std::iter::once("Number")
        .chain(group.policies.iter().copied())
        .collect();
    let mut table = Table::new("numbers", title, &headings);
    let mut line = |name: &str, values: Vec<Option<String>>| {
        if values.iter().any(Option::is_some) {
            let cell = |value: Option<String>| value.map_or_else(Cell::not_applicable, Cell::text);
            table.row(std::iter::once(Cell::text(name)).chain(values.into_iter().map(cell)));
        }
    };
    for name in SHOWN {
        line(name, columns.iter().map(|of| value(of, name)).collect());
    }
    if group.policies.len() > 1 {
        let policies: Vec<String> = group.policies.iter().map(|&name| name.into()).collect();
        let common = spread_fixed_max(&rows, &policies).into_iter();
        let common = common.map(|ratio| ratio.map(|ratio| ratio.to_string()));
        line(COMMON, common.collect());
    }
    render(&[table], Format::Markdown)
}

/// What the numbers are that a page shows, in the words of `study/COLUMNS.md`.
pub(super) fn meanings(groups: &[Group]) -> String {
    let sides = groups.iter().flat_map(|group| &group.sides);
    let rows: Vec<BTreeMap<String, String>> = sides.map(|side| columns(&side.row)).collect();
    let mut out =
        "A ratio is written as its two counts: 6/7 is 6 of 7. 1 stands for yes, 0 for no, where \
                   a number says whether something happened.\n\n"
            .to_owned();
    for name in SHOWN {
        let is_shown = rows.iter().any(|row| value(row, name).is_some());
        let column = row_columns().iter().find(|column| column.spec.name == name);
        let Some(column) = column.filter(|_| is_shown) else {
            continue;
        };
        let over = rows
            .iter()
            .any(|row| row.contains_key(&format!("{name}_denominator")))
            .then(|| format!(" Over {}.", column.spec.over));
        let over = over.unwrap_or_default();
        out += &format!("- `{name}`: {}{over}\n", column.spec.doc.trim());
    }
    if groups.iter().any(|group| group.sides.len() > 1) {
        out += &format!(
            "- `{COMMON}`: `blast_radius_raw` of each policy over the largest region that either has, so \
             that both have one denominator.\n"
        );
    }
    out
}

/// Every cell of a row by the name of its column; what does not apply is left out.
fn columns(row: &Row) -> BTreeMap<String, String> {
    let names = row_columns()
        .iter()
        .map(|column| column.name().into_owned());
    let cells = row.cells().into_iter().map(|cell| cell.to_string());
    names
        .zip(cells)
        .filter(|(_, cell)| !cell.is_empty())
        .collect()
}

/// A number as a page shows it: a ratio as both its counts, the truth as 1 or 0.
fn value(columns: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let part = |part: &str| columns.get(&format!("{name}_{part}"));
    match (part("numerator"), part("denominator")) {
        (Some(numerator), Some(denominator)) => Some(format!("{numerator}/{denominator}")),
        _ => columns.get(name).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_that_pages_show_is_a_column() {
        let names: Vec<String> = row_columns()
            .iter()
            .map(|column| column.name().into_owned())
            .collect();
        for shown in SHOWN {
            let is_there = [shown.to_owned(), format!("{shown}_numerator")]
                .iter()
                .any(|name| names.contains(name));
            assert!(is_there, "no column {shown}");
        }
    }
}
