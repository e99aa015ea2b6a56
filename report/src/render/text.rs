//! In aligned columns.

use super::is_numeric;
use crate::table::Table;

pub(super) fn table(table: &Table) -> String {
    let headings = table.columns.iter().map(|heading| (*heading).to_owned());
    let mut lines: Vec<Vec<String>> = vec![headings.collect()];
    lines.extend(
        table
            .rows
            .iter()
            .map(|row| row.iter().map(ToString::to_string).collect()),
    );
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let columns: Vec<(usize, bool)> = (0..table.columns.len())
        .map(|column| (width(column), is_numeric(table, column)))
        .collect();
    let mut out = table.caption();
    out.push('\n');
    for line in &lines {
        let cells = line.iter().zip(&columns).map(|(cell, &(width, numeric))| {
            if numeric {
                format!("{cell:>width$}")
            } else {
                format!("{cell:width$}")
            }
        });
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out.push('\n');
    }
    for note in &table.notes {
        out += &format!("  {note}\n");
    }
    out
}
