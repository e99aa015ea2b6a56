//! LaTeX, for the package `booktabs`.

use super::is_numeric;
use crate::table::Table;

pub(super) fn table(table: &Table) -> String {
    let columns: String = (0..table.columns.len())
        .map(|column| if is_numeric(table, column) { 'r' } else { 'l' })
        .collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut out = format!(
        "\\begin{{table}}\n\\caption{{{}}}\n",
        escaped(&table.caption())
    );
    out += &format!("\\begin{{tabular}}{{{columns}}}\n\\toprule\n");
    out += &line(
        table
            .columns
            .iter()
            .map(|heading| escaped(heading))
            .collect(),
    );
    out += "\\midrule\n";
    for row in &table.rows {
        out += &line(row.iter().map(|cell| escaped(&cell.to_string())).collect());
    }
    out += "\\bottomrule\n\\end{tabular}\n";
    for note in &table.notes {
        out += &format!("\\par\\small {}\n", escaped(note));
    }
    out += "\\end{table}\n";
    out
}

/// Text that is no command.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            // A line that begins with a bracket would be read as an option of the line break before.
            '[' => out += "{[}",
            letter => out.push(letter),
        }
    }
    out
}
