//! A table before anybody has decided how it looks.

use statistics::Interval;

/// A table: every format prints the same cells.
#[derive(Clone, Debug)]
pub struct Table {
    /// The number in the paper, or a name for those that it does not have.
    pub id: &'static str,
    /// What it is.
    pub title: String,
    /// The headings.
    pub columns: Vec<&'static str>,
    /// The lines, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// What must be known to read it.
    pub notes: Vec<String>,
}

impl Table {
    /// A table without lines.
    #[must_use]
    pub fn new(id: &'static str, title: impl Into<String>, columns: &[&'static str]) -> Self {
        Self {
            id,
            title: title.into(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a line.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a note; the same one is not said twice.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The heading in the caption: `Table 11: ...`, or the title alone where the paper has no such
    /// table.
    #[must_use]
    pub fn caption(&self) -> String {
        if self.id.starts_with(|first: char| first.is_ascii_digit()) {
            format!("Table {}. {}", self.id, self.title)
        } else {
            self.title.clone()
        }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What stands in it.
    pub value: Value,
    /// How far the value may be off.
    pub interval: Option<Interval>,
    /// The published numbers that it is to reproduce, by id.
    pub published: Vec<String>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Words.
    Text(String),
    /// A count.
    Count(u64),
    /// So many of so many.
    Part {
        /// How many.
        part: u64,
        /// Of how many.
        whole: u64,
    },
    /// A number, printed with so many decimals.
    Number {
        /// The number.
        number: f64,
        /// Decimals.
        decimals: usize,
    },
    /// The interval of the cell, and the number that it is of, where that is to be compared.
    Interval(Option<f64>),
    /// The question does not apply: never a zero.
    NotApplicable,
    /// The simulator does not reach so far yet: never a zero.
    NotSimulated,
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self {
            value,
            interval: None,
            published: Vec::new(),
        }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into()).into()
    }

    /// A count.
    #[must_use]
    pub fn count(count: u64) -> Self {
        Value::Count(count).into()
    }

    /// A rate or another number with four decimals, as the paper prints them; N/A if there is none.
    #[must_use]
    pub fn rate(number: Option<f64>) -> Self {
        Self::number(number, 4)
    }

    /// A number with so many decimals; N/A if there is none.
    #[must_use]
    pub fn number(number: Option<f64>, decimals: usize) -> Self {
        let value = number.map_or(Value::NotApplicable, |number| Value::Number {
            number,
            decimals,
        });
        value.into()
    }

    /// So many of so many.
    #[must_use]
    pub fn part(part: u64, whole: u64) -> Self {
        Value::Part { part, whole }.into()
    }

    /// An interval; N/A if there is none.
    #[must_use]
    pub fn interval(interval: Option<Interval>) -> Self {
        Self {
            value: interval.map_or(Value::NotApplicable, |_| Value::Interval(None)),
            interval,
            published: Vec::new(),
        }
    }

    /// The interval of this number.
    #[must_use]
    pub fn of(mut self, number: f64) -> Self {
        self.value = Value::Interval(Some(number));
        self
    }

    /// The question does not apply.
    #[must_use]
    pub fn not_applicable() -> Self {
        Value::NotApplicable.into()
    }

    /// With the interval of its number.
    #[must_use]
    pub fn within(mut self, interval: Option<Interval>) -> Self {
        self.interval = interval;
        self
    }

    /// As the one that is to reproduce a published number.
    #[must_use]
    pub fn publishes(mut self, id: impl Into<String>) -> Self {
        self.published.push(id.into());
        self
    }

    /// Its number; of a part the count.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn as_number(&self) -> Option<f64> {
        match self.value {
            Value::Count(count) | Value::Part { part: count, .. } => Some(count as f64),
            Value::Number { number, .. } => Some(number),
            Value::Interval(number) => number,
            Value::Text(_) | Value::NotApplicable | Value::NotSimulated => None,
        }
    }

    /// Whether it is aligned as numbers are.
    #[must_use]
    pub const fn is_numeric(&self) -> bool {
        !matches!(self.value, Value::Text(_))
    }
}

impl std::fmt::Display for Cell {
    /// As every format prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.value, self.interval) {
            (Value::Text(text), _) => f.write_str(text),
            (Value::Count(count), _) => count.fmt(f),
            (Value::Part { part, whole }, _) => write!(f, "{part}/{whole}"),
            (Value::Number { number, decimals }, _) => f.write_str(&rounded(*number, *decimals)),
            (Value::Interval(_), Some(Interval { low, high, .. })) => {
                write!(f, "[{}, {}]", rounded(low, 4), rounded(high, 4))
            }
            (Value::NotApplicable | Value::Interval(_), _) => f.write_str("N/A"),
            (Value::NotSimulated, _) => f.write_str("not simulated yet"),
        }
    }
}

/// A number with so many decimals, and no sign before a zero.
fn rounded(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let is_zero = text.bytes().all(|byte| b"-0.".contains(&byte));
    if is_zero {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_without_an_answer_is_never_a_zero() {
        assert_eq!(Cell::rate(None).to_string(), "N/A");
        assert_eq!(Cell::interval(None).to_string(), "N/A");
        assert_eq!(
            Cell::from(Value::NotSimulated).to_string(),
            "not simulated yet"
        );
        assert_eq!(Cell::rate(None).as_number(), None);
    }

    #[test]
    fn numbers_are_rounded_and_a_zero_has_no_sign() {
        assert_eq!(Cell::rate(Some(0.923_35)).to_string(), "0.9234");
        assert_eq!(Cell::rate(Some(-0.000_01)).to_string(), "0.0000");
        assert_eq!(Cell::rate(Some(-0.5)).to_string(), "-0.5000");
        assert_eq!(Cell::part(3, 4).to_string(), "3/4");
    }

    #[test]
    fn only_tables_of_the_paper_have_a_number() {
        assert_eq!(
            Table::new("11", "Utility", &[]).caption(),
            "Table 11. Utility"
        );
        assert_eq!(Table::new("components", "Spread", &[]).caption(), "Spread");
    }
}
