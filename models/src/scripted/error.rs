//! What is wrong with a script, where, and what would mend it.

use ron::error::{Error, SpannedError};

/// A script could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}{}", help_clause(.help.as_deref()))]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would mend it.
    pub help: Option<String>,
}

fn help_clause(help: Option<&str>) -> String {
    help.map_or_else(String::new, |help| format!("; {help}"))
}

impl From<SpannedError> for ScriptError {
    fn from(error: SpannedError) -> Self {
        let start = error.span.start;
        let (message, help) = explain(&error.code);
        Self {
            line: start.line,
            column: start.col,
            message,
            help,
        }
    }
}

fn explain(error: &Error) -> (String, Option<String>) {
    match error {
        Error::NoSuchEnumVariant {
            expected,
            found,
            outer,
        } => (
            format!("unknown {} `{found}`", outer.as_deref().unwrap_or("word")),
            Some(suggest(found, expected)),
        ),
        Error::NoSuchStructField {
            expected, found, ..
        } => (
            format!("unknown field `{found}`"),
            Some(suggest(found, expected)),
        ),
        Error::MissingStructField { field, .. } => (
            format!("the field `{field}` is missing"),
            Some(format!("add `{field}: ...`")),
        ),
        Error::DuplicateStructField { field, .. } => (
            format!("the field `{field}` is given twice"),
            Some("keep one of them".to_owned()),
        ),
        Error::ExceededRecursionLimit => ("brackets are nested too deeply".to_owned(), None),
        Error::Eof => (
            "the script ends too early".to_owned(),
            Some("close every bracket and quote".to_owned()),
        ),
        Error::TrailingCharacters => (
            "something follows the end of the script".to_owned(),
            Some("remove it".to_owned()),
        ),
        other => (begin_in_lower_case(&other.to_string()), None),
    }
}

fn begin_in_lower_case(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// A help line for a name that is none of `known`.
pub(super) fn suggest<T: AsRef<str>>(found: &str, known: &[T]) -> String {
    let nearest = known
        .iter()
        .map(|name| (edits(found, name.as_ref()), name.as_ref()))
        .min();
    match nearest {
        None => "there are none".to_owned(),
        Some((distance, name)) if distance * 3 <= found.chars().count().max(3) => {
            format!("did you mean `{name}`?")
        }
        Some(_) => {
            let names: Vec<_> = known
                .iter()
                .map(|name| format!("`{}`", name.as_ref()))
                .collect();
            format!("there are {}", names.join(", "))
        }
    }
}

/// How many letters must be inserted, removed or exchanged to make `left` of `right`.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, left) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (column, right) in right.iter().enumerate() {
            let exchanged = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
