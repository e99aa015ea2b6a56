//! Behaviour profiles of the user: a model that is named by a file instead of a name.

use std::path::{Path, PathBuf};

use models::profile::{Profile, SCHEMA, schema_of};
use plugins::registry::Registry;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::files::{self, MAX_SOURCE_BYTES};
use super::problem::Problem;

/// The ending of a model that is the file of a profile.
const ENDING: &str = ".ron";

/// Characters of the longest name of a profile.
const MAX_NAME: usize = 64;

/// Whether a model is named by a file.
pub(crate) fn is_file(model: &str) -> bool {
    model.ends_with(ENDING)
}

/// Registers the profile in `path` as a model that is called what the file is called; gives that name.
pub(crate) fn register(registry: &mut Registry, path: &Path) -> Result<String, Failure> {
    let origin = files::shown(path);
    let name = name_of(path)?;
    let text = files::text(path, MAX_SOURCE_BYTES)?;
    let profile = parse(&origin, &text).map_err(|problem| {
        if is_of_another_version(&text) {
            Failure::new(Exit::UnsupportedVersion, problem)
        } else {
            problem.into()
        }
    })?;
    let summary = format!("Behaves as {} in {origin}", profile.model());
    models::register_profile(registry, &name, &summary, &text).map_err(|_| {
        let message = format!("there is a model `{name}` already");
        let problem = Problem::new(message).code(Code::WrongFile).file(&origin);
        problem.help("rename the file: the model is called what it is called")
    })?;
    Ok(name)
}

/// Whether a profile is written in another version of the grammar.
pub(crate) fn is_of_another_version(text: &str) -> bool {
    schema_of(text).is_some_and(|schema| schema != SCHEMA)
}

/// The profile that a text says; `origin` names it in messages.
pub(crate) fn parse(origin: &str, text: &str) -> Result<Profile, Problem> {
    Profile::parse(text).map_err(|error| {
        Problem::new(error.message)
            .code(Code::ProfileSyntax)
            .maybe_help(error.help)
            .at(origin, text, error.line, error.column)
    })
}

/// The name of the model in a file.
fn name_of(path: &Path) -> Result<String, Problem> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if stem.is_empty() || stem.len() > MAX_NAME || !stem.bytes().all(is_plain) {
        let message = "the name of a profile is lower-case letters, digits and `_`";
        let problem = Problem::new(message).code(Code::WrongFile);
        return Err(problem
            .file(files::shown(path))
            .help(format!("rename the file, with at most {MAX_NAME} letters")));
    }
    Ok(stem.into_owned())
}

/// Registers the profile of a model that is not inside the program, from the first of these files that
/// is called so, and gives the file.
pub(crate) fn register_found(
    registry: &mut Registry,
    model: &str,
    files: &[PathBuf],
) -> Result<Option<PathBuf>, Failure> {
    if registry.models.find(model).is_ok() {
        return Ok(None);
    }
    let is_it = |path: &&PathBuf| path.file_stem().is_some_and(|stem| stem == model);
    let mut found = files.iter().filter(is_it).filter(|path| path.is_file());
    let Some(path) = found.next() else {
        let message = format!("the behaviour profile of the model `{model}` is not found");
        let problem = Problem::new(message).code(Code::WrongFile);
        let help =
            format!("put `{model}{ENDING}` back where it was: beside the study or the trace");
        return Err(problem.help(help).into());
    };
    register(registry, path)?;
    Ok(Some(path.clone()))
}
