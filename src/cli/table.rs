//! Text in aligned columns.

/// A table that is printed with every column as wide as its widest cell.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with a header.
    pub(crate) fn new<C: Into<String>>(header: impl IntoIterator<Item = C>) -> Self {
        let mut table = Self::default();
        table.row(header);
        table
    }

    /// Adds a row.
    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths);
            // Not by a width of `format!`, which is at most 65,535.
            let padded = cells.map(|(cell, width)| {
                let missing = width.saturating_sub(cell.chars().count());
                format!("{cell}{}", " ".repeat(missing))
            });
            let line: Vec<String> = padded.collect();
            writeln!(f, "{}", line.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// `text` in lines of at most `width` characters, each after the first with `indent` blanks before
/// it. A word longer than a line stands alone.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_no_line_ends_in_blanks() {
        let mut table = Table::new(["name", "what"]);
        table.row(["a", ""]);
        table.row(["longer", "x"]);
        assert_eq!(table.to_string(), "name    what\na\nlonger  x\n");
    }

    #[test]
    fn a_cell_of_any_length_is_printed() {
        let mut table = Table::new(["short", "x"]);
        table.row(["y".repeat(70_000), "z".to_owned()]);
        assert!(table.to_string().ends_with("y  z\n"));
    }

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("incomprehensible", 4, 2), "incomprehensible");
    }
}
