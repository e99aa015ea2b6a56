//! What is wrong with the input of a command, and how it is told: drawn, in one line, or as JSON.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode,
};
use serde_json::{Value, json};
use study::plan::problem::StudyReport;
use worlds::diagnostic::{LONGEST_SHOWN_LINE, Report, Severity};

use super::codes::Code;
use super::shown::{Shortened, on_one_line, shortened};

/// The width of drawn problems, in characters.
const WIDTH: usize = 100;

/// How problems are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ErrorFormat {
    /// Drawn, with the lines concerned
    #[default]
    Human,
    /// One line each: `file:line:column: error[code]: message; help`
    Plain,
    /// One JSON object each
    Json,
}

/// One problem found by a command itself.
#[derive(Debug)]
pub(crate) struct Problem {
    severity: Severity,
    code: Option<Code>,
    message: String,
    help: Option<String>,
    file: Option<String>,
    place: Option<Box<Place>>,
}

/// A place in a text file.
#[derive(Debug)]
struct Place {
    source: NamedSource<String>,
    offset: usize,
    line: usize,
    column: usize,
    /// Whether its line is short enough to be drawn.
    shown: bool,
}

impl Problem {
    /// An error.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: None,
            message: message.into(),
            help: None,
            file: None,
            place: None,
        }
    }

    /// As a warning.
    pub(crate) const fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// With a code that `explain` knows.
    pub(crate) const fn code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    /// With what would mend it.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With what would mend it, if anything is known.
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// In this file.
    pub(crate) fn file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// At this line and column, both from 1, of the file called `name`, which says `text`.
    pub(crate) fn at(mut self, name: &str, text: &str, line: usize, column: usize) -> Self {
        let start: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.lines().next().map_or(0, str::len);
        let letters = rest.chars();
        let before: usize = letters
            .take(column.saturating_sub(1))
            .map(char::len_utf8)
            .sum();
        self.place = Some(Box::new(Place {
            source: NamedSource::new(name, text.to_owned()),
            offset: start + before,
            line,
            column,
            shown: length <= LONGEST_SHOWN_LINE,
        }));
        self.file(name)
    }

    /// Whether it is an error rather than a warning.
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    fn flat(&self) -> Flat<'_> {
        let place = self.place.as_deref();
        Flat {
            severity: self.severity,
            code: self.code.map(Code::id),
            file: self.file.as_deref(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            message: &self.message,
            help: self.help.as_deref(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (&self.file, self.place.as_deref()) {
            (Some(file), Some(place)) if !place.shown => {
                write!(f, ", at {file}:{}:{}", place.line, place.column)
            }
            (Some(file), None) if !self.message.contains(&**file) => write!(f, ", in {file}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code?.id()))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.help.as_ref()?))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let place = self.place.as_deref().filter(|place| place.shown);
        Some(&place?.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_deref().filter(|place| place.shown)?;
        let label = LabeledSpan::new(Some("here".to_owned()), place.offset, 0);
        Some(Box::new(std::iter::once(label)))
    }
}

/// Something to tell the user: the problems of a world or study file, or one of our own.
#[derive(Debug)]
pub(crate) enum Complaint {
    /// The problems of a world file.
    World(Report),
    /// The problems of a study file.
    Study(StudyReport),
    /// A problem that a command found.
    Own(Problem),
}

impl From<Report> for Complaint {
    fn from(report: Report) -> Self {
        Self::World(report)
    }
}

impl From<StudyReport> for Complaint {
    fn from(report: StudyReport) -> Self {
        Self::Study(report)
    }
}

impl From<Problem> for Complaint {
    fn from(problem: Problem) -> Self {
        Self::Own(problem)
    }
}

/// A problem in words and numbers.
struct Flat<'a> {
    severity: Severity,
    code: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    message: &'a str,
    help: Option<&'a str>,
}

impl Complaint {
    /// In this format, without the last line break.
    pub(crate) fn render(&self, format: ErrorFormat, color: bool) -> String {
        match format {
            ErrorFormat::Human => self.drawn(color),
            ErrorFormat::Plain => self.plain(),
            ErrorFormat::Json => self.json_lines(),
        }
    }

    /// Every problem as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.flat().iter().map(Flat::json).collect()
    }

    /// How many errors and warnings it holds, those that are not listed included in the errors.
    pub(crate) fn count(&self) -> (usize, usize) {
        let flat = self.flat();
        let errors = flat.iter().filter(|flat| flat.severity == Severity::Error);
        let errors = errors.count();
        let unlisted = match self {
            Self::World(report) if report.has_errors() => report.unlisted(),
            Self::Study(report) => report.unlisted(),
            Self::World(_) | Self::Own(_) => 0,
        };
        (errors + unlisted, flat.len() - errors)
    }

    fn drawn(&self, color: bool) -> String {
        let theme = if color {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_links(false)
            .with_width(WIDTH);
        let diagnostic: &dyn Diagnostic = match self {
            Self::World(report) => report,
            Self::Study(report) => report,
            Self::Own(problem) => problem,
        };
        let mut out = String::new();
        let shown = Shortened::of(diagnostic);
        if handler.render_report(&mut out, &shown).is_err() {
            return self.plain();
        }
        out.trim_matches('\n').to_owned()
    }

    fn plain(&self) -> String {
        let lines: Vec<String> = self.flat().iter().map(Flat::line).collect();
        lines.join("\n")
    }

    fn json_lines(&self) -> String {
        let lines: Vec<String> = self.json().iter().map(Value::to_string).collect();
        lines.join("\n")
    }

    fn flat(&self) -> Vec<Flat<'_>> {
        match self {
            Self::Own(problem) => vec![problem.flat()],
            Self::Study(report) => {
                let origin = report.origin();
                let problems = report.problems().iter();
                problems
                    .map(|problem| Flat {
                        severity: Severity::Error,
                        code: Some(problem.code.id()),
                        file: Some(origin),
                        line: Some(problem.line),
                        column: Some(problem.column),
                        message: &problem.message,
                        help: problem.help.as_deref(),
                    })
                    .collect()
            }
            Self::World(report) => {
                let origin = report.origin();
                let problems = report.problems().iter();
                problems
                    .map(|problem| Flat {
                        severity: problem.code.severity(),
                        code: Some(problem.code.id()),
                        file: Some(origin),
                        line: Some(problem.line),
                        column: Some(problem.column),
                        message: &problem.message,
                        help: problem.help.as_deref(),
                    })
                    .collect()
            }
        }
    }
}

impl Flat<'_> {
    fn line(&self) -> String {
        let place = match (self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => {
                format!("{}:{line}:{column}: ", shortened(file))
            }
            (Some(file), _, _) => format!("{}: ", shortened(file)),
            (None, _, _) => String::new(),
        };
        let code = self.code.map(|code| format!("[{code}]"));
        let help = self.help.map(|help| format!("; {}", shortened(help)));
        let (code, help) = (code.unwrap_or_default(), help.unwrap_or_default());
        let severity = severity_name(self.severity);
        let message = shortened(self.message);
        let line = format!("{place}{severity}{code}: {message}{help}");
        on_one_line(&line).into_owned()
    }

    fn json(&self) -> Value {
        json!({
            "severity": severity_name(self.severity),
            "code": self.code,
            "file": self.file.map(shortened),
            "line": self.line,
            "column": self.column,
            "message": shortened(self.message),
            "help": self.help.map(shortened),
        })
    }
}

/// The name of a severity.
pub(crate) const fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
