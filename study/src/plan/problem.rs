//! What can be wrong with a study file, where, and what to do about it.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use plugins::registry::CreateError;
use ron::error::{Error as RonError, SpannedError};
use worlds::diagnostic::LONGEST_SHOWN_LINE;

use super::places::{Field, place_of};

/// Problems listed per file; more are counted.
pub const MOST_PROBLEMS: usize = 50;

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyExplanation {
    /// The code.
    pub code: StudyCode,
    /// As it is printed.
    pub id: &'static str,
    /// Why it is a mistake.
    pub explanation: &'static str,
}

macro_rules! codes {
    ($($id:ident $code:ident $explanation:literal)*) => {
        /// A kind of mistake in a study file. A code keeps its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum StudyCode {
            $(
                #[doc = $explanation]
                $code,
            )*
        }

        /// Every code, in the order of their numbers.
        pub const STUDY_CODES: &[StudyExplanation] = &[$(
            StudyExplanation {
                code: StudyCode::$code,
                id: stringify!($id),
                explanation: $explanation,
            },
        )*];
    };
}

codes! {
    S001 Syntax "A study file is RON: `Study(field: value)`, lists in `[]`, texts in double quotes, entries separated by commas, comments after `//`."
    S002 TooLarge "A study file has at most 1 MiB."
    S003 NotText "A study file is text in UTF-8. The place is that of the first byte that is not."
    S004 UnsupportedSchema "`schema` is the version of the grammar. This program reads version 1."
    S005 UnknownField "Fields that the grammar does not know are refused, because a misspelt field would otherwise silently keep its default."
    S006 UnknownWord "The place takes one of a closed list of words."
    S007 MissingField "The field has no default, so it must be given."
    S008 Repeated "A field or entry is given twice. Two equal entries would give two equal rollouts."
    S009 WrongKind "The place takes another kind of value, or a smaller number."
    S010 Name "The name of a study is also that of the folder of its result, so it must be a folder name on any machine."
    S011 Empty "A study without worlds, policies, seeds or models has no rollouts."
    S012 TooMany "A list has at most 10,000 entries, and a study at most 250,000 rollouts."
    S013 Denominator "Spread under a common denominator is taken over the declared policies, so each of them must run. A study that declares none takes all of its policies."
    S014 UnknownPolicy "No policy of that name is registered, or it cannot be made from its defaults."
    S015 UnknownModel "No model backend of that name is registered, or it cannot be made from its defaults."
    S016 UnknownParser "The parser through which every action passes is not registered."
}

impl StudyCode {
    /// The code as it is printed.
    #[must_use]
    pub const fn id(self) -> &'static str {
        STUDY_CODES[self as usize].id
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyProblem {
    /// What kind of mistake it is.
    pub code: StudyCode,
    /// What is wrong, in one line.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Whether its lines are short enough to be drawn.
    shown: bool,
}

impl fmt::Display for StudyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.shown {
            return Ok(());
        }
        write!(f, ", at {}:{}", self.line, self.column)
    }
}

impl std::error::Error for StudyProblem {}

impl Diagnostic for StudyProblem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code.id()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if !self.shown {
            return None;
        }
        let label = LabeledSpan::new(Some("here".to_owned()), self.span.start, self.span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// Every problem of one study file.
#[derive(Clone, Debug)]
pub struct StudyReport {
    source: NamedSource<String>,
    problems: Vec<StudyProblem>,
    unlisted: usize,
}

impl StudyReport {
    /// An empty report on `text`, which is called `origin`.
    pub(super) fn new(origin: &str, text: &str) -> Self {
        Self {
            source: NamedSource::new(origin, text.to_owned()),
            problems: Vec::new(),
            unlisted: 0,
        }
    }

    /// The problems in the order in which they were found, at most [`MOST_PROBLEMS`].
    #[must_use]
    pub fn problems(&self) -> &[StudyProblem] {
        &self.problems
    }

    /// How many more problems there are.
    #[must_use]
    pub const fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// The name under which the file was given.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.source.name()
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether the file is written for another version of the grammar.
    #[must_use]
    pub fn is_unsupported_version(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.code == StudyCode::UnsupportedSchema)
    }

    /// Name and text.
    pub(super) fn into_source(self) -> (String, String) {
        let name = self.source.name().to_owned();
        (name, self.source.inner().clone())
    }

    /// Adds a problem with an entry of a field.
    pub(super) fn push(
        &mut self,
        field: Field,
        index: usize,
        code: StudyCode,
        message: String,
        help: Option<String>,
    ) {
        // To find a place is to read the whole file again.
        if self.problems.len() >= MOST_PROBLEMS {
            self.unlisted += 1;
            return;
        }
        let span = place_of(self.source.inner(), field, index);
        self.push_at(span, code, message, help);
    }

    /// Adds a plugin that cannot be made.
    pub(super) fn refuse<'a>(
        &mut self,
        field: Field,
        index: usize,
        code: StudyCode,
        error: &CreateError,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let (message, help) = match error {
            CreateError::Unknown { kind, name, .. } => {
                (format!("no {kind} is called `{name}`"), advice(name, known))
            }
            other => (other.to_string(), None),
        };
        self.push(field, index, code, message, help);
    }

    /// Adds a problem with these bytes.
    pub(super) fn push_at(
        &mut self,
        span: Range<usize>,
        code: StudyCode,
        message: String,
        help: Option<String>,
    ) {
        if self.problems.len() >= MOST_PROBLEMS {
            self.unlisted += 1;
            return;
        }
        let before = &self.source.inner()[..span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let lines = self.source.inner()[line_start..].lines();
        let concerned = 1 + self.source.inner()[span.clone()].matches('\n').count();
        let mut lengths = lines.take(concerned).map(str::len);
        self.problems.push(StudyProblem {
            code,
            message,
            help,
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().count(),
            span,
            shown: lengths.all(|length| length <= LONGEST_SHOWN_LINE),
        });
    }

    /// Adds what the deserialiser says.
    pub(super) fn push_ron(&mut self, error: SpannedError) {
        let text = self.source.inner();
        let start = offset(text, error.span.start.line, error.span.start.col);
        let end = offset(text, error.span.end.line, error.span.end.col);
        // The deserialiser has not skipped the blanks before a value when it finds it wrong.
        let blanks = text[start..].len() - text[start..].trim_start().len();
        let start = start + blanks;
        let word = misquoted(text, start);
        let (code, message, help) = word.unwrap_or_else(|| in_our_words(error.code));
        self.push_at(start..end.max(start), code, message, help);
    }
}

impl fmt::Display for StudyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len() + self.unlisted;
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "`{}` has {count} error{plural}", self.source.name())
    }
}

impl std::error::Error for StudyReport {}

impl Diagnostic for StudyReport {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let related = self
            .problems
            .iter()
            .map(|problem| -> &dyn Diagnostic { problem });
        Some(Box::new(related))
    }
}

fn in_our_words(error: RonError) -> (StudyCode, String, Option<String>) {
    match error {
        RonError::NoSuchStructField {
            expected, found, ..
        } => {
            let help = advice(&found, expected.iter().copied());
            (
                StudyCode::UnknownField,
                format!("there is no field `{found}`"),
                help,
            )
        }
        RonError::NoSuchEnumVariant {
            expected, found, ..
        } => {
            let help = choices(&found, expected);
            (
                StudyCode::UnknownWord,
                format!("`{found}` is not known here"),
                Some(help),
            )
        }
        RonError::MissingStructField { field, .. } => (
            StudyCode::MissingField,
            format!("`{field}` is missing"),
            None,
        ),
        RonError::DuplicateStructField { field, .. } => (
            StudyCode::Repeated,
            format!("`{field}` is given twice"),
            None,
        ),
        RonError::ExpectedDifferentStructName { found, .. } => {
            let message = format!("the file is a `{found}` and no study");
            let help = Some("a study file holds one `Study(...)`".to_owned());
            (StudyCode::Syntax, message, help)
        }
        RonError::ExpectedNamedStructLike(_) => {
            let help = Some("a study file holds one `Study(...)`".to_owned());
            (StudyCode::Syntax, "the file is no study".to_owned(), help)
        }
        RonError::IntegerOutOfBounds => {
            let message = "the number is too large or negative".to_owned();
            (StudyCode::WrongKind, message, None)
        }
        kind @ (RonError::ExpectedArray
        | RonError::ExpectedBoolean
        | RonError::ExpectedInteger
        | RonError::ExpectedString
        | RonError::InvalidValueForType { .. }) => (StudyCode::WrongKind, lowered(&kind), None),
        other => (StudyCode::Syntax, lowered(&other), None),
    }
}

/// The fields that take one of a closed list of words, with the words.
const WORDS: [(&str, &[&str]); 3] = [
    ("instrumentation", &["Paper", "Full", "Custom"]),
    ("user", &["Absent", "RubberStamp", "Oracle", "Careful"]),
    ("latents", &["Independent", "Stratified"]),
];

/// What to say if the value that begins at `start` is a text in quotes where a word is expected.
fn misquoted(text: &str, start: usize) -> Option<(StudyCode, String, Option<String>)> {
    let field = text[..start].trim_end().strip_suffix(':')?.trim_end();
    let (_, words) = WORDS.iter().find(|(name, _)| field.ends_with(name))?;
    let quoted = text[start..].strip_prefix('"')?;
    let found = quoted.split(['"', '\n']).next().unwrap_or_default();
    let message = format!("`\"{found}\"` is a text, and a word is expected here");
    let help = format!("{}; without quotes", choices(found, words));
    Some((StudyCode::UnknownWord, message, Some(help)))
}

/// The nearest of a closed list of words if one is near, and all of them.
fn choices(found: &str, words: &[&str]) -> String {
    let all = format!("there is: `{}`", words.join("`, `"));
    // Words begin with a capital, and to forget that makes no word a farther one.
    let mut letters = found.chars().take(COMPARED);
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let found: String = first.into_iter().chain(letters).collect();
    match advice(&found, words.iter().copied()) {
        Some(nearest) if nearest.starts_with("did") => format!("{nearest} {all}"),
        _ => all,
    }
}

/// A message of the deserialiser in the form of ours: it starts in lower case.
fn lowered(error: &RonError) -> String {
    let message = error.to_string();
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// The byte at this line and column, both from 1; the end of the text beyond.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
    let Some(start) = std::iter::once(0).chain(breaks).nth(line.saturating_sub(1)) else {
        return text.len();
    };
    text[start..]
        .char_indices()
        .nth(column.saturating_sub(1))
        .map_or(text.len(), |(at, _)| start + at)
}

/// Characters of a wrong name that are compared with those that are known.
const COMPARED: usize = 64;

/// The known name nearest to the wrong one if it is near, else all that are known.
pub(super) fn advice<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let wrong: Vec<char> = wrong.chars().take(COMPARED).collect();
    let mut known: Vec<&str> = known.into_iter().collect();
    let nearest = known
        .iter()
        .map(|name| (distance(&wrong, name), *name))
        .min()?;
    if nearest.0 <= (wrong.len() / 3).max(1) {
        return Some(format!("did you mean `{}`?", nearest.1));
    }
    known.truncate(20);
    Some(format!("there is: `{}`", known.join("`, `")))
}

/// How many letters must be put in, taken out or replaced.
fn distance(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for letter in to.chars() {
        let mut diagonal = row[0];
        row[0] += 1;
        for (at, own) in from.iter().enumerate() {
            let replaced = diagonal + usize::from(*own != letter);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[from.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        let between = |from: &str, to: &str| distance(&from.chars().collect::<Vec<_>>(), to);
        assert_eq!(between("kitten", "sitting"), 3);
        assert_eq!(between("", "ab"), 2);
        assert_eq!(between("none", "none"), 0);
    }

    #[test]
    fn advice_names_the_nearest_or_all() {
        let known = ["none", "block"];
        assert_eq!(
            advice("nnoe", known).as_deref(),
            Some("there is: `none`, `block`")
        );
        assert_eq!(
            advice("blck", known).as_deref(),
            Some("did you mean `block`?")
        );
        assert_eq!(advice("x", []), None);
    }
}
