//! What is wrong with a world file, where, and what to do about it.
//!
//! A [`Report`] holds every problem of one file. It renders itself through miette, and each
//! [`Problem`] also says its line and column, for machines.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

pub use crate::codes::{Code, Explanation, Severity, TABLE};

/// Errors listed per file, and likewise warnings; more are counted.
pub const MOST_PROBLEMS: usize = 50;

/// The longest line of which a snippet is shown, in bytes; the places of longer ones are told in
/// words.
pub const LONGEST_SHOWN_LINE: usize = 1_000;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of mistake it is.
    pub code: Code,
    /// What is wrong, in one line.
    pub message: String,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// What stands there.
    pub label: String,
    /// The nearest known name, or the smallest edit that would work.
    pub help: Option<String>,
    /// Another place that belongs to it: bytes, and what stands there.
    pub also: Option<Box<(Range<usize>, String)>>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Whether the lines concerned are short enough to be shown.
    shown: bool,
}

impl Problem {
    pub(crate) fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            label: "here".to_owned(),
            help: None,
            also: None,
            line: 0,
            column: 0,
            shown: true,
        }
    }

    /// With what stands at its place.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With advice, if there is any.
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// With a second place.
    pub(crate) fn also(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.also = Some(Box::new((span, label.into())));
        self
    }
}

/// What somebody wrote, fit for a message: one line of at most 60 characters, without control
/// characters.
pub(crate) fn shortened(written: &str) -> String {
    let mut letters = written.chars();
    let mut short: String = letters
        .by_ref()
        .take(60)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if letters.next().is_some() {
        short.push_str("...");
    }
    short
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.code.severity() {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if !self.shown {
            return None;
        }
        let here = (self.span.clone(), self.label.clone());
        let all = std::iter::once(here).chain(self.also.as_deref().cloned());
        Some(Box::new(all.map(|(span, label)| {
            LabeledSpan::new(Some(label), span.start, span.len())
        })))
    }
}

/// Every problem of one file.
#[derive(Debug)]
pub struct Report {
    source: NamedSource<String>,
    problems: Vec<Problem>,
    unlisted: usize,
}

impl Report {
    /// A report on `text`, which is called `origin`. Puts the problems in the order of the text.
    pub(crate) fn new(origin: &str, text: &str, problems: Problems) -> Self {
        let lines = Lines::of(text);
        let Problems {
            errors: mut list,
            warnings,
            unlisted,
        } = problems;
        list.extend(warnings);
        for problem in &mut list {
            lines.place(problem, text);
        }
        list.sort_by_key(|problem| (problem.span.start, problem.code));
        Self {
            source: NamedSource::new(origin, text.to_owned()),
            problems: list,
            unlisted,
        }
    }

    /// The problems in the order of the text, at most [`MOST_PROBLEMS`] of each severity.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
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

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source.inner()
    }

    /// Whether nothing at all was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether a problem is an error, so that there is no scenario.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.code.severity() == Severity::Error)
    }

    /// Whether the file is written for another version of the grammar.
    #[must_use]
    pub fn is_unsupported_version(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.code == Code::UnsupportedSchema)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self
            .problems
            .iter()
            .filter(|problem| problem.code.severity() == Severity::Error)
            .count();
        let warnings = self.problems.len() - errors;
        write!(f, "`{}` has ", self.source.name())?;
        match (errors, warnings) {
            (0, 0) => f.write_str("no problems")?,
            (0, _) => f.write_str(&counted(warnings, "warning"))?,
            (_, 0) => f.write_str(&counted(errors, "error"))?,
            (_, _) => write!(
                f,
                "{} and {}",
                counted(errors, "error"),
                counted(warnings, "warning")
            )?,
        }
        if self.unlisted > 0 {
            write!(f, ", and {} not listed", counted(self.unlisted, "problem"))?;
        }
        Ok(())
    }
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

impl std::error::Error for Report {}

impl Diagnostic for Report {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(if self.has_errors() {
            miette::Severity::Error
        } else {
            miette::Severity::Warning
        })
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let related = self
            .problems
            .iter()
            .map(|problem| -> &dyn Diagnostic { problem });
        Some(Box::new(related))
    }
}

/// Collects problems up to a limit, so that a hostile file cannot ask for a million messages.
/// Warnings never crowd out errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problems {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    unlisted: usize,
}

impl Problems {
    /// Adds a problem.
    pub(crate) fn push(&mut self, problem: Problem) {
        let list = match problem.code.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if list.len() < MOST_PROBLEMS {
            list.push(problem);
        } else {
            self.unlisted += 1;
        }
    }

    /// Whether another error would only be counted, so that there is no use in working out advice.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= MOST_PROBLEMS
    }

    /// Whether any of them is an error.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether an error was found at this byte already.
    pub(crate) fn has_error_at(&self, byte: usize) -> bool {
        self.errors.iter().any(|problem| problem.span.start == byte)
    }

    /// Adds those of another list.
    pub(crate) fn extend(&mut self, more: Self) {
        self.unlisted += more.unlisted;
        for problem in more.errors.into_iter().chain(more.warnings) {
            self.push(problem);
        }
    }

    /// The problems that are listed.
    pub(crate) fn into_list(self) -> impl Iterator<Item = Problem> {
        self.errors.into_iter().chain(self.warnings)
    }

    /// The same problems at other places.
    pub(crate) fn moved(mut self, place: impl Fn(&Range<usize>) -> Range<usize>) -> Self {
        for problem in self.errors.iter_mut().chain(&mut self.warnings) {
            problem.span = place(&problem.span);
            if let Some(also) = &mut problem.also {
                also.0 = place(&also.0);
            }
        }
        self
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        let mut problems = Self::default();
        problems.push(problem);
        problems
    }
}

/// Where the lines of a text begin.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            starts: std::iter::once(0).chain(breaks).collect(),
        }
    }

    /// The byte of the character at `line` and `column`, both from 1; the end of the text beyond.
    pub(crate) fn offset(&self, text: &str, line: usize, column: usize) -> usize {
        let Some(&start) = self.starts.get(line.saturating_sub(1)) else {
            return text.len();
        };
        text[start..]
            .char_indices()
            .nth(column.saturating_sub(1))
            .map_or(text.len(), |(at, _)| start + at)
    }

    /// The index of the line that holds the byte.
    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// Line and column, both from 1, of the character at a byte.
    pub(crate) fn line_and_column(&self, text: &str, byte: usize) -> (usize, usize) {
        let line = self.line_of(byte);
        (line + 1, 1 + text[self.starts[line]..byte].chars().count())
    }

    fn length(&self, line: usize, text: &str) -> usize {
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        end - self.starts[line]
    }

    /// Works out line and column, and whether the lines can be shown.
    fn place(&self, problem: &mut Problem, text: &str) {
        (problem.line, problem.column) = self.line_and_column(text, problem.span.start);
        let also = problem.also.iter().map(|also| &also.0);
        problem.shown = std::iter::once(&problem.span)
            .chain(also)
            .flat_map(|span| self.line_of(span.start)..=self.line_of(span.end))
            .all(|line| self.length(line, text) <= LONGEST_SHOWN_LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let text = "(\n  é: \"x\",\n)";
        let at = text.find('"').unwrap();
        let problem = Problem::new(Code::Syntax, at..at + 3, "m");
        let report = Report::new("a.ron", text, problem.into());
        assert_eq!(
            (report.problems()[0].line, report.problems()[0].column),
            (2, 6)
        );
        assert_eq!(Lines::of(text).offset(text, 2, 6), at);
        assert_eq!(Lines::of(text).offset(text, 9, 9), text.len());
    }

    #[test]
    fn problems_beyond_the_limit_are_counted() {
        let mut problems = Problems::default();
        for _ in 0..MOST_PROBLEMS + 7 {
            problems.push(Problem::new(Code::Syntax, 0..0, "m"));
        }
        let report = Report::new("a.ron", "", problems);
        assert_eq!(report.problems().len(), MOST_PROBLEMS);
        assert_eq!(report.unlisted(), 7);
        assert_eq!(
            report.to_string(),
            "`a.ron` has 50 errors, and 7 problems not listed"
        );
    }

    #[test]
    fn a_very_long_line_is_not_shown() {
        let text = format!("{}\nshort", "x".repeat(LONGEST_SHOWN_LINE + 1));
        let long = Problem::new(Code::Syntax, 3..4, "m");
        let short = Problem::new(Code::Syntax, text.len() - 2..text.len(), "m");
        let mut problems = Problems::from(long);
        problems.push(short);
        let report = Report::new("a.ron", &text, problems);
        assert!(report.problems()[0].labels().is_none());
        assert!(report.problems()[1].labels().is_some());
    }
}
