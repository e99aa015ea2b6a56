//! From text to [`World`]: the right fields with the right types, or several complaints at once.

use ron::error::{Error as RonError, Position, SpannedError};
use ron::extensions::Extensions;

use crate::diagnostic::{Code, Lines, Problem, Problems, shortened};
use crate::draft::Draft;
use crate::file::World;
use crate::nearest::{advice, nearest};
use crate::outline::{At, Outline, Shape, outline};

/// Mistakes found in one go.
const MOST_ATTEMPTS: usize = 20;
/// Bytes deserialised in one go, so that a large file is not read twenty times.
const MOST_BYTES: usize = 8 << 20;
/// Calls of the deserialiser into itself; a level of brackets takes a few.
const RECURSION_LIMIT: usize = 256;

/// What could be read.
pub(crate) struct Reading<'t> {
    /// The text, with misspellings mended.
    pub(crate) draft: Draft<'t>,
    /// The world that the draft says, unless something had to be left out of it.
    pub(crate) world: Option<World>,
}

/// Reads a well-formed text. A misspelt field or word whose meaning is plain is reported and read
/// as what it was meant to be; another mistake is reported and cut out with the list entry that it
/// stands in, so that the search can go on.
pub(crate) fn read<'t>(text: &'t str, problems: &mut Problems) -> Reading<'t> {
    let mut draft = Draft::new(text);
    let mut complete = true;
    let attempts = (MOST_BYTES / text.len().max(1)).clamp(1, MOST_ATTEMPTS);
    for _ in 0..attempts {
        let error = match deserialised(draft.text()) {
            Ok(world) => {
                let world = complete.then_some(world);
                return Reading { draft, world };
            }
            Err(error) => error,
        };
        let Ok(outline) = outline(draft.text()) else {
            break;
        };
        let mistake = Mistake::of(error, &outline);
        // What is wrong with a text or number itself was said before, and better.
        if !problems.has_error_at(draft.original(&mistake.problem.span).start) {
            let found = Problems::from(mistake.problem);
            problems.extend(found.moved(|span| draft.original(span)));
        }
        match mistake.remedy {
            Remedy::Replace(range, word) => draft.replace(range, word),
            Remedy::Cut(range) => {
                complete = false;
                draft.replace(range, "");
            }
            Remedy::None => break,
        }
    }
    Reading { draft, world: None }
}

fn deserialised(text: &str) -> Result<World, SpannedError> {
    ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME)
        .with_recursion_limit(RECURSION_LIMIT)
        .from_str(text)
}

/// How to go on after a mistake.
enum Remedy {
    /// Put the word that was meant in its place.
    Replace(std::ops::Range<usize>, &'static str),
    /// Leave these bytes out.
    Cut(std::ops::Range<usize>),
    /// There is no going on.
    None,
}

struct Mistake {
    problem: Problem,
    remedy: Remedy,
}

impl Mistake {
    fn of(error: SpannedError, outline: &Outline<'_>) -> Self {
        let lines = Lines::of(outline.text());
        let byte = |at: Position| lines.offset(outline.text(), at.line, at.col);
        let start = byte(error.span.start);
        let end = byte(error.span.end);
        match error.code {
            RonError::NoSuchStructField {
                expected, found, ..
            } => unknown_field(outline.innermost(start), &found, expected),
            RonError::NoSuchEnumVariant {
                expected, found, ..
            } => unknown_variant(outline.innermost(start), &found, expected),
            RonError::MissingStructField { field, .. } => {
                let at = outline.innermost(end);
                let message = format!("`{field}` is missing");
                let problem = Problem::new(Code::MissingField, at.span(), message)
                    .label(format!("needs `{field}`"));
                Self::in_entry(problem, at)
            }
            RonError::DuplicateStructField { field, .. } => {
                let at = outline.innermost(start);
                let message = format!("`{field}` is given twice");
                let problem =
                    Problem::new(Code::Repeated, at.label_span(), message).label("again here");
                Self::cut(problem, at)
            }
            RonError::IntegerOutOfBounds => {
                let at = outline.innermost(start);
                Self::in_entry(out_of_range(at), at)
            }
            RonError::ExceededRecursionLimit => {
                let at = outline.innermost(end);
                let message = "brackets are nested too deeply";
                Self::in_entry(Problem::new(Code::TooDeep, at.span(), message), at)
            }
            code => wrong_type(value_at(outline, end), &code),
        }
    }

    /// Goes on without the field or entry at `at`.
    fn cut(problem: Problem, at: At<'_>) -> Self {
        Self {
            problem,
            remedy: Remedy::Cut(with_comma(at)),
        }
    }

    /// Goes on without the innermost list or map entry around `at`: an entry can be missing, a
    /// field perhaps not.
    fn in_entry(problem: Problem, at: At<'_>) -> Self {
        let mut entry = at;
        while let Some(parent) = entry.parent() {
            if matches!(parent.shape(), Shape::List | Shape::Map) {
                return Self::cut(problem, entry);
            }
            entry = parent;
        }
        Self {
            problem,
            remedy: Remedy::None,
        }
    }
}

/// The entry and the comma after it.
fn with_comma(at: At<'_>) -> std::ops::Range<usize> {
    let extent = at.extent();
    let end = at.after_comma();
    extent.start..end
}

fn unknown_field(at: At<'_>, found: &str, expected: &'static [&'static str]) -> Mistake {
    let message = format!("there is no field `{}` here", shortened(found));
    let problem = Problem::new(Code::UnknownField, at.label_span(), message)
        .label("not known")
        .maybe_help(advice(found, expected.iter().copied()));
    match meant(at, found, expected) {
        Some(word) => Mistake {
            problem,
            remedy: Remedy::Replace(at.label_span(), word),
        },
        None => Mistake::cut(problem, at),
    }
}

/// The field that was probably meant, unless it is given as well.
fn meant(at: At<'_>, found: &str, expected: &'static [&'static str]) -> Option<&'static str> {
    let word = nearest(found, expected.iter().copied())?;
    at.parent()?.named(word).is_none().then_some(word)
}

fn unknown_variant(at: At<'_>, found: &str, expected: &'static [&'static str]) -> Mistake {
    let start = at.whole().start;
    let span = start..start + at.word().len();
    let message = format!("`{}` is not known here", shortened(found));
    let problem = Problem::new(Code::UnknownVariant, span.clone(), message)
        .label("not known")
        .maybe_help(advice(found, expected.iter().copied()));
    match nearest(found, expected.iter().copied()) {
        Some(word) => Mistake {
            problem,
            remedy: Remedy::Replace(span, word),
        },
        None => Mistake::in_entry(problem, at),
    }
}

pub(crate) fn out_of_range(at: At<'_>) -> Problem {
    let message = format!("`{}` is out of range", shortened(at.written()));
    Problem::new(Code::OutOfRange, at.whole(), message).label("does not fit")
}

/// The value that a complaint about `byte` is about: the deserialiser stops before a value of the
/// wrong kind, or just after one that lacks something.
fn value_at<'o>(outline: &'o Outline<'o>, byte: usize) -> At<'o> {
    let at = outline.innermost(byte);
    let is_inside = at.span().contains(&byte);
    if is_inside {
        return at;
    }
    let before = outline.text()[..byte].trim_end().len().saturating_sub(1);
    outline.innermost(before)
}

fn wrong_type(at: At<'_>, code: &RonError) -> Mistake {
    let expected = match code {
        RonError::ExpectedString => "a text in double quotes".to_owned(),
        RonError::ExpectedArray => "a list `[...]`".to_owned(),
        RonError::ExpectedMap => "a map `{\"name\": ...}`".to_owned(),
        RonError::ExpectedInteger | RonError::InvalidIntegerDigit { .. } => {
            "a whole number".to_owned()
        }
        RonError::ExpectedBoolean => "`true` or `false`".to_owned(),
        RonError::ExpectedStructLike | RonError::ExpectedNamedStructLike(_) => {
            "something in `(...)`".to_owned()
        }
        RonError::ExpectedDifferentStructName { .. } => "`(...)` without this name".to_owned(),
        RonError::ExpectedIdentifier | RonError::SuggestRawIdentifier(_) => {
            "a name without quotes".to_owned()
        }
        RonError::InvalidValueForType { expected, .. } => expected.clone(),
        RonError::InvalidEscape(_) => {
            let message = "a text has an escape that does not exist";
            let problem = Problem::new(Code::Syntax, at.span(), message)
                .help("write `\\\\` for a backslash, or a raw text `r\"...\"`");
            return Mistake::in_entry(problem, at);
        }
        _ => "something else".to_owned(),
    };
    let message = format!("{expected} is expected here, not {}", described(at));
    let problem = Problem::new(Code::WrongType, at.span(), message)
        .label("of the wrong kind")
        .maybe_help(condition_meant(at));
    Mistake::in_entry(problem, at)
}

/// How to write the condition, where a value stands in the place of one.
fn condition_meant(at: At<'_>) -> Option<String> {
    let is_condition = at.parent()?.label() == Some("where");
    let written = at.written();
    let is_short = written.len() <= 60 && !written.contains(char::is_control);
    match at.shape() {
        Shape::Text | Shape::Scalar if is_condition && is_short => {
            Some(format!("write `Equals({written})`"))
        }
        Shape::List if is_condition && is_short => Some(format!("write `OneOf({written})`")),
        _ => None,
    }
}

/// What a value looks like, in a word or two.
fn described(at: At<'_>) -> String {
    match at.shape() {
        Shape::Text => "a text".to_owned(),
        Shape::List => "a list".to_owned(),
        Shape::Map => "a map".to_owned(),
        Shape::Group if at.word().is_empty() => "`(...)`".to_owned(),
        Shape::Group => format!("`{}(...)`", shortened(at.word())),
        Shape::Scalar => format!("`{}`", shortened(at.written())),
    }
}
