//! From text to a checked scenario or a report: the order of the steps.

use crate::diagnostic::{Code, Problem, Problems, Report, shortened};
use crate::draft::Draft;
use crate::file::SCHEMA;
use crate::outline::{At, Outline, Shape, outline};
use crate::spec::Scenario;
use crate::{check as meaning, shape};

/// Bytes of the largest file.
pub const MAX_BYTES: usize = 1 << 20;

/// The result of a check: what was found, and the scenario if nothing forbids it.
#[derive(Debug)]
pub struct Checked {
    /// The scenario, unless there are errors.
    pub scenario: Option<Scenario>,
    /// Errors and warnings; may be empty.
    pub report: Report,
}

/// Loads a world. `origin` names the text in messages; `identity` is the scenario's identity, unless
/// the text names a family and variant. Warnings are dropped: see [`check`].
///
/// # Errors
/// When there is an error; the report holds the warnings too.
pub fn load(text: &str, origin: &str, identity: &str) -> Result<Scenario, Report> {
    let checked = check(text, origin, identity);
    checked.scenario.ok_or(checked.report)
}

/// Like [`load`], from bytes that may not be text.
///
/// # Errors
/// Likewise.
pub fn load_bytes(bytes: &[u8], origin: &str, identity: &str) -> Result<Scenario, Report> {
    if bytes.len() > MAX_BYTES {
        return Err(too_large(bytes.len(), origin));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => load(text, origin, identity),
        Err(error) => Err(not_text(bytes, error.valid_up_to(), origin)),
    }
}

/// Checks a world and gives everything that was found.
#[must_use]
pub fn check(text: &str, origin: &str, identity: &str) -> Checked {
    if text.len() > MAX_BYTES {
        return Checked {
            scenario: None,
            report: too_large(text.len(), origin),
        };
    }
    let mut problems = Problems::default();
    meaning::text::visible(text, &mut problems);
    let scenario = match outline(text) {
        Ok(outline) => checked(&outline, identity, &mut problems),
        Err(problem) => {
            if !problems.has_error_at(problem.span.start) {
                problems.push(problem);
            }
            None
        }
    };
    Checked {
        scenario,
        report: Report::new(origin, text, problems),
    }
}

/// The scenario that a well-formed text says, unless there are errors.
pub(crate) fn checked(
    outline: &Outline<'_>,
    identity: &str,
    problems: &mut Problems,
) -> Option<Scenario> {
    if let Err(problem) = require_world(outline.root()) {
        problems.push(problem);
        return None;
    }
    meaning::text::check(outline, problems);
    let reading = shape::read(outline.text(), problems);
    let world = reading.world?;
    let found = if reading.draft.is_original() {
        return meaning::scenario(&world, outline.root(), identity, problems);
    } else {
        found_in_draft(&reading.draft, &world, identity)
    };
    problems.extend(found);
    None
}

/// The mistakes of meaning in a text whose misspellings were mended, at their places in the
/// original.
fn found_in_draft(draft: &Draft<'_>, world: &crate::file::World, identity: &str) -> Problems {
    let mut problems = Problems::default();
    if let Ok(outline) = outline(draft.text()) {
        meaning::scenario(world, outline.root(), identity, &mut problems);
    }
    problems.moved(|span| draft.original(span))
}

/// The file must be a world of this version; nothing else can be said about one that is not.
fn require_world(root: At<'_>) -> Result<(), Problem> {
    let is_world = root.shape() == Shape::Group && matches!(root.word(), "" | "World");
    if !is_world {
        let message = "the file is not a world";
        let label = format!("`{}` instead of `World(...)`", shortened(root.word()));
        let help = "one world in a file is `World(...)`, many are `Family(...)`";
        let problem = Problem::new(Code::NotAWorld, root.span(), message);
        return Err(problem.label(label).help(help));
    }
    let Some(schema) = root.named("schema") else {
        return Ok(());
    };
    match schema.written().parse::<u64>() {
        Ok(version) if version != u64::from(SCHEMA) => {
            let message = format!("version {version} of the grammar is not supported");
            Err(
                Problem::new(Code::UnsupportedSchema, schema.span(), message)
                    .label("not supported")
                    .help(format!("this program reads version {SCHEMA}")),
            )
        }
        _ => Ok(()),
    }
}

/// The report on a file of too many bytes.
pub(crate) fn too_large(bytes: usize, origin: &str) -> Report {
    let message = format!("the file has {bytes} bytes, more than {MAX_BYTES}");
    Report::new(
        origin,
        "",
        Problem::new(Code::TooLarge, 0..0, message).into(),
    )
}

fn not_text(bytes: &[u8], valid: usize, origin: &str) -> Report {
    let text = String::from_utf8_lossy(bytes);
    let message = format!("the byte at {valid} is not UTF-8 text");
    // The text up to there is unchanged; the replacement character stands at the same place.
    let span = valid..valid + char::REPLACEMENT_CHARACTER.len_utf8();
    let problem = Problem::new(Code::InvalidUtf8, span, message)
        .label("not text")
        .help("save the file as UTF-8");
    Report::new(origin, &text, problem.into())
}
