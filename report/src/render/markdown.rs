//! Markdown.

use super::is_numeric;
use crate::table::Table;

pub(super) fn table(table: &Table) -> String {
    let mut out = format!("**{}**\n\n", escaped(&table.caption()));
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out += &line(
        table
            .columns
            .iter()
            .map(|heading| escaped(heading))
            .collect(),
    );
    let rule = |column| {
        if is_numeric(table, column) {
            "---:"
        } else {
            "---"
        }
    };
    out += &line(
        (0..table.columns.len())
            .map(|column| rule(column).to_owned())
            .collect(),
    );
    for row in &table.rows {
        out += &line(row.iter().map(|cell| escaped(&cell.to_string())).collect());
    }
    for note in &table.notes {
        out += &format!("\n{}\n", escaped(note));
    }
    out
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if matches!(letter, '|' | '*' | '`' | '<' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
