//! What a profile is fitted to: a file that says, for each free parameter, which published number
//! identifies it.

use plugins::draws::Chance;
use report::published::Published;
use ron::Options;
use ron::error::Error as RonError;
use ron::extensions::Extensions;
use serde::Deserialize;
use worlds::places::place_of;

use super::check;
use super::fit::rounded;
use crate::cli::codes::Code;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::nearest;
use crate::cli::problem::Problem;

/// The version of the file.
const SCHEMA: u32 = 1;

/// Levels of brackets in a file; one that is well formed has four.
const MAX_DEPTH: usize = 16;

/// What is read of a file of any version.
#[derive(Debug, Deserialize)]
#[serde(rename = "Targets")]
struct Version {
    schema: u32,
}

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Targets")]
pub(super) struct Written {
    #[expect(dead_code, reason = "`Version` was read before")]
    schema: u32,
    /// The shipped study that makes the numbers.
    pub(super) study: String,
    /// The study seeds over which a number is averaged.
    pub(super) study_seeds: Vec<u64>,
    /// How often all parameters are fitted, one after the other.
    pub(super) sweeps: u32,
    /// The free parameters, in the order in which they are fitted.
    pub(super) parameters: Vec<WrittenParameter>,
}

/// A free parameter as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Parameter")]
pub(super) struct WrittenParameter {
    /// Where it stands in the profile.
    pub(super) at: String,
    /// The published numbers that identify it, mostly one.
    pub(super) cells: Vec<String>,
    /// Between which values it is looked for: decimals in quotes.
    pub(super) between: (String, String),
}

/// Targets that fit their profile.
#[derive(Debug)]
pub(super) struct Targets {
    /// The shipped study that makes the numbers.
    pub(super) study: String,
    /// The study seeds over which a number is averaged. None of them is the one that the study is
    /// reported under.
    pub(super) study_seeds: Vec<u64>,
    /// How often all parameters are fitted, one after the other.
    pub(super) sweeps: u32,
    /// The free parameters, in the order in which they are fitted.
    pub(super) parameters: Vec<Parameter>,
    /// Where they are from.
    pub(super) source: Source,
}

/// A free parameter that the profile has.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Where it stands in the profile.
    pub(super) at: String,
    /// The published numbers that identify it.
    pub(super) cells: Vec<Published>,
    /// The lowest value that is looked at, in millionths.
    pub(super) low: u32,
    /// The highest.
    pub(super) high: u32,
}

/// The text of a file, and what messages call it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// What messages call it.
    pub(super) origin: String,
    /// What it says.
    pub(super) text: String,
}

impl Source {
    /// A problem with the value at `path` of the file, or with the file if there is no such value.
    pub(super) fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        let problem = Problem::new(message).code(Code::TargetsSyntax);
        let Some(place) = place_of(&self.text, path) else {
            return problem.file(&self.origin);
        };
        let before = &self.text[..place.start];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before
            .rsplit('\n')
            .next()
            .map_or(0, |last| last.chars().count());
        problem.at(&self.origin, &self.text, line, column)
    }
}

impl Targets {
    /// Reads the targets of a profile, and checks that they fit it.
    pub(super) fn read(source: Source, profile: &str) -> Result<Self, Failure> {
        let options = Options::default()
            .with_default_extension(Extensions::IMPLICIT_SOME)
            .with_recursion_limit(MAX_DEPTH);
        if source.text.starts_with('\u{feff}') {
            let message = "the file begins with a byte order mark";
            let problem = Problem::new(message).code(Code::TargetsSyntax);
            let problem = problem.at(&source.origin, &source.text, 1, 1);
            return Err(problem.help("save it as UTF-8 without one").into());
        }
        // Before the fields: those of another version may be other ones.
        if let Ok(Version { schema }) = options.from_str(&source.text)
            && schema != SCHEMA
        {
            let message = format!("the targets have schema {schema}, this program reads {SCHEMA}");
            let problem = source.problem("schema", message);
            let help = format!("write `schema: {SCHEMA}`, if nothing else is different");
            return Err(Failure::new(Exit::UnsupportedVersion, problem.help(help)));
        }
        let written: Written = options.from_str(&source.text).map_err(|error| {
            let start = error.span.start;
            let (message, help) = in_our_words(&error.code);
            Problem::new(message)
                .code(Code::TargetsSyntax)
                .help(help)
                .at(&source.origin, &source.text, start.line, start.col)
        })?;
        check::checked(written, source, profile)
    }
}

impl Parameter {
    /// Where the search begins: the middle of the range.
    pub(super) fn start(&self) -> u32 {
        rounded(self.low.midpoint(self.high))
    }

    /// Whether a value is one of the bounds.
    pub(super) const fn is_bound(&self, value: u32) -> bool {
        value == self.low || value == self.high
    }
}

/// What the deserialiser says, for somebody who does not know it, and what would mend it.
fn in_our_words(error: &RonError) -> (String, String) {
    let form = "targets are RON: `Targets(schema: 1, study: \"...\", study_seeds: [...], sweeps: 2, \
                parameters: [(at: \"...\", cells: [\"...\"], between: (\"0\", \"1\")), ...])`";
    match error {
        RonError::NoSuchStructField {
            expected, found, ..
        } => {
            let all = format!("there is: `{}`", expected.join("`, `"));
            let help = nearest::suggestion(found, expected.iter().copied());
            (format!("there is no field `{found}`"), help.unwrap_or(all))
        }
        RonError::MissingStructField { field, .. } => (
            format!("`{field}` is missing"),
            format!("write `{field}: ...`"),
        ),
        RonError::DuplicateStructField { field, .. } => (
            format!("`{field}` is given twice"),
            "keep one of them".to_owned(),
        ),
        RonError::ExceededRecursionLimit => {
            ("brackets are nested too deeply".to_owned(), form.to_owned())
        }
        RonError::ExpectedString => (
            "a text in quotes is expected here".to_owned(),
            "write names and bounds in quotes, such as `\"0.25\"`".to_owned(),
        ),
        RonError::IntegerOutOfBounds => (
            "the number is too large or negative".to_owned(),
            "write a whole number, without a sign".to_owned(),
        ),
        RonError::ExpectedDifferentStructName { .. } | RonError::ExpectedNamedStructLike(_) => {
            ("the file holds no targets".to_owned(), form.to_owned())
        }
        other => {
            let message = other.to_string();
            let mut letters = message.chars();
            let first = letters.next().map(|first| first.to_ascii_lowercase());
            (first.into_iter().chain(letters).collect(), form.to_owned())
        }
    }
}

/// The decimal between quotation marks that stands in a profile.
pub(super) fn decimal(written: &str) -> Option<Chance> {
    written.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}
