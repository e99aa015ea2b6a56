//! Tables as text, Markdown, LaTeX, CSV and JSON: the same cells, five ways to write them.

mod csv;
mod json;
mod latex;
mod markdown;
mod text;

use crate::table::Table;

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// In aligned columns.
    Text,
    /// Markdown.
    Markdown,
    /// LaTeX, for the package `booktabs`.
    Latex,
    /// Comma-separated values: one line for each cell.
    Csv,
    /// One JSON object.
    Json,
}

/// Writes tables.
#[must_use]
pub fn render(tables: &[Table], format: Format) -> String {
    match format {
        Format::Text => joined(tables, text::table),
        Format::Markdown => joined(tables, markdown::table),
        Format::Latex => joined(tables, latex::table),
        Format::Csv => csv::tables(tables),
        Format::Json => json::tables(tables),
    }
}

/// The tables with an empty line between them.
fn joined(tables: &[Table], written: impl Fn(&Table) -> String) -> String {
    let texts: Vec<String> = tables.iter().map(written).collect();
    texts.join("\n")
}

/// Whether the cells of a column are aligned as numbers are.
fn is_numeric(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.get(column));
    cells.all(|cell| cell.is_numeric())
}

#[cfg(test)]
mod tests;
