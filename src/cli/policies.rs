//! Policies of the user: how the command line and study files name them, and what went wrong in them.

use std::path::{Path, PathBuf};

use containment_bench::outside::reference::{FileReference, Host, Reference, ReferenceError};
use containment_bench::outside::{self, LoadedFile, OutsideError, Registered};
use plugins::briefing::Briefing;
use plugins::conformance::generate::random_world;
use plugins::conformance::{Law, check_policy};
use plugins::draws::{Draws, RolloutKey};
use plugins::fault::PLUGIN_FAULT;
use plugins::loaded::{Fault, Faults, Mistake};
use plugins::policy::{Hooks, Policy};
use plugins::registry::Registry;

use super::codes::Code;
use super::decisions::Recordings;
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::options::plugin_failure;
use super::problem::{Complaint, Problem};
use super::shown::on_one_line;
use super::terminal::Terminal;

/// Faults of one policy that are told.
const MOST_TOLD: usize = 3;
/// Lines of a standard error that are told.
const MOST_LINES: usize = 12;

/// Reads a reference.
pub(crate) fn parse(text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|error| unreadable(&error))
}

/// The reference to a file that was named without its host, by its ending.
pub(crate) fn with_host(named: &str) -> String {
    const ENDINGS: [(&str, Host); 6] = [
        (".rules.ron", Host::Rules),
        (".process.ron", Host::Process),
        (".py", Host::Process),
        (".cedar", Host::Cedar),
        (".wasm", Host::Wasm),
        (".wat", Host::Wasm),
    ];
    let is_file = Path::new(named).is_file();
    let ending = ENDINGS.iter().find(|(ending, _)| named.ends_with(ending));
    match ending.filter(|_| is_file) {
        Some((_, host)) => format!("{}:\"{named}\"", host.name()),
        None => named.to_owned(),
    }
}

fn unreadable(error: &ReferenceError) -> Failure {
    Failure::usage(error.to_string(), Some(error.help.clone()))
}

/// Registers the policy that `reference` names; paths are relative to `folder`.
pub(crate) fn register(
    registry: &mut Registry,
    reference: &Reference,
    folder: &Path,
) -> Result<Registered, Failure> {
    register_with(registry, reference, folder, &Recordings::default())
}

/// The same, where the answers of some processes are recorded or played.
pub(crate) fn register_with(
    registry: &mut Registry,
    reference: &Reference,
    folder: &Path,
    recordings: &Recordings,
) -> Result<Registered, Failure> {
    let decisions = |file: &FileReference| recordings.of(file);
    outside::register_with(registry, reference, folder, &decisions)
        .map_err(|error| failure(registry, error))
}

/// Registers a policy by what it is called in a row or a trace. The files in it are looked for among
/// `files`, by what they are called.
pub(crate) fn register_called(
    registry: &mut Registry,
    name: &str,
    files: &[FileReference],
    recordings: &Recordings,
) -> Result<Registered, Failure> {
    let reference = parse(name)?;
    if let Some(missing) = reference
        .files()
        .into_iter()
        .find(|file| !files.iter().any(|known| known.name() == file.name()))
    {
        let message = format!("the file of the policy `{}` is not found", missing.name());
        let help = "put it back where it was: beside the study or the trace";
        return Err(Problem::new(message)
            .code(Code::WrongFile)
            .help(help)
            .into());
    }
    let found = reference.with_files(&|file| {
        let known = files.iter().find(|known| known.name() == file.name());
        known.unwrap_or(file).clone()
    });
    register_with(registry, &found, Path::new(""), recordings)
}

/// Of the files of policies, written relative to one of `folders`, those that are there.
pub(crate) fn existing(written: &[String], folders: &[PathBuf]) -> Vec<FileReference> {
    let references = written.iter().filter_map(|text| text.parse().ok());
    let files = references.flat_map(|reference: Reference| {
        let files = reference.files().into_iter().cloned();
        files.collect::<Vec<_>>()
    });
    let found = files.filter_map(|file| {
        let mut paths = folders.iter().map(|folder| folder.join(&file.path));
        let path = paths.find(|path| path.is_file())?;
        Some(FileReference {
            path: path.to_str()?.to_owned(),
            ..file
        })
    });
    found.collect()
}

/// Whether a reference, as it was written, names a process.
pub(crate) fn is_process(written: &str) -> bool {
    !is_played(written, &Recordings::default())
}

/// Whether every process that a reference names is played from a recording.
pub(crate) fn is_played(written: &str, recordings: &Recordings) -> bool {
    let reference: Result<Reference, _> = written.parse();
    // What cannot be read runs nothing: whoever reads it says what is wrong.
    reference.map_or(true, |reference| recordings.cover(&reference.files()))
}

/// How a policy from a file was written, in the form that reads back.
pub(crate) fn written(file: &LoadedFile) -> String {
    Reference::File(file.reference.clone()).written()
}

/// What a policy that is called `name` is with its files, which are looked for among `files`.
pub(crate) fn found(name: &str, files: &[FileReference]) -> Option<String> {
    let reference: Reference = name.parse().ok()?;
    let found = reference.with_files(&|file| {
        let known = files.iter().find(|known| known.name() == file.name());
        known.unwrap_or(file).clone()
    });
    Some(found.written())
}

/// Why a policy could not be registered.
pub(crate) fn failure(registry: &Registry, error: OutsideError) -> Failure {
    match error {
        OutsideError::File {
            file,
            text,
            mistakes,
        } => mistaken(&files::shown(&file), text.as_deref(), &mistakes),
        OutsideError::SameName(_) => Failure::new(
            Exit::Invalid,
            Problem::new(error.to_string()).code(Code::WrongFile),
        ),
        OutsideError::Plugin(error) => plugin_failure(registry, &error),
    }
}

/// The mistakes in the file called `name`.
pub(crate) fn mistaken(name: &str, text: Option<&str>, mistakes: &[Mistake]) -> Failure {
    let told = mistakes.iter().map(|it| problem(name, text, it).into());
    Failure {
        exit: Exit::Invalid,
        complaints: told.collect(),
        reproduce: None,
    }
}

/// A mistake in the file called `name`.
pub(crate) fn problem(name: &str, text: Option<&str>, mistake: &Mistake) -> Problem {
    let problem = Problem::new(&*mistake.message)
        .code(Code::PolicySyntax)
        .maybe_help(mistake.help.clone());
    match (text, &mistake.place) {
        (Some(text), Some(place)) => {
            let before = text.get(..place.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let line = 1 + before.matches('\n').count();
            problem.at(name, text, line, 1 + before[line_start..].chars().count())
        }
        _ => problem.file(name),
    }
}

/// Random scenarios in which a process is asked everything twice before a study.
const PROBED_ROUNDS: u64 = 1;

/// Fails if a policy that is asked about calls answers not one question about the first of some: it
/// would be asked in vain, each time for as long as an answer may take.
pub(crate) fn require_answers(files: &[LoadedFile]) -> Result<(), Failure> {
    const ASKED: u64 = 3;
    for file in files {
        let Some(faults) = &file.policy.faults else {
            continue;
        };
        let before = faults.count();
        let answers = (0..ASKED).any(|seed| answers((file.policy.make)(), seed));
        if !answers && faults.count() > before {
            let name = file.reference.name();
            let message = format!("`{name}` answered none of {ASKED} questions");
            let said = faults.first().into_iter().next_back();
            let said = said.map_or_else(String::new, |fault| format!(": {}", fault.message));
            let help = format!("`containment plugin check` shows more{said}");
            let problem = Problem::new(message).code(Code::PolicySyntax);
            return Err(problem.help(on_one_line(&help).into_owned()).into());
        }
    }
    Ok(())
}

/// Whether a policy answers about the first call of a random scenario, or is not asked about calls.
fn answers(mut policy: Box<dyn Policy>, seed: u64) -> bool {
    if !policy.hooks().contains(Hooks::PROPOSAL) {
        return true;
    }
    let world = random_world(seed);
    let Some(call) = world.trace.calls.first() else {
        return true;
    };
    let mut draws = Draws::new(RolloutKey::default());
    let ruling = policy.on_proposal(&mut world.view(&mut draws), world.proposal(call.id));
    ruling.reason.rule != PLUGIN_FAULT
}

/// The processes that answer one question in two ways, by what they are called. Nothing else that runs
/// a policy can: no other host gives it a clock, randomness or memory of another rollout.
pub(crate) fn not_replayable(files: &[LoadedFile]) -> Vec<String> {
    let is_unsteady = |file: &&LoadedFile| {
        let policy = &file.policy;
        let is_process = file.reference.host == Host::Process;
        is_process
            && check_policy(&|| (policy.make)(), PROBED_ROUNDS)
                .iter()
                .any(|violation| {
                    matches!(
                        violation.law,
                        Law::Deterministic | Law::Independent | Law::Restores
                    )
                })
    };
    let mut names: Vec<String> = files
        .iter()
        .filter(is_unsteady)
        .map(|file| file.reference.name())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// That a policy is not deterministic.
pub(crate) fn not_deterministic(name: &str) -> Problem {
    let message = format!(
        "`{name}` answered one question in two ways: the rows under it cannot be expected to come out \
         the same again"
    );
    let help = format!("`containment plugin check` shows how; the manifest says that `{name}` did");
    Problem::new(message).warning().help(help)
}

/// What a file names that a world does not have.
pub(crate) fn foreign_names(file: &LoadedFile, briefing: &Briefing) -> Vec<Problem> {
    let Ok(text) = files::text(&file.path, files::MAX_SOURCE_BYTES) else {
        return Vec::new();
    };
    let mistakes = outside::foreign_names(file.reference.host, &text, briefing);
    problems(file, &text, &mistakes)
}

fn problems(file: &LoadedFile, text: &str, mistakes: &[Mistake]) -> Vec<Problem> {
    let name = files::shown(&file.path);
    let mistakes = mistakes.iter();
    mistakes
        .map(|mistake| problem(&name, Some(text), mistake))
        .collect()
}

/// Worlds that a text in Cedar is held against at most: that takes some milliseconds for each.
const MOST_HELD_AGAINST: usize = 20;

/// What files name that no world has: a misspelt name makes a rule say nothing, and says so nowhere.
pub(crate) fn unknown_names(files: &[LoadedFile], worlds: &[&Briefing]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in files {
        let host = file.reference.host;
        let is_held = host == Host::Rules || worlds.len() <= MOST_HELD_AGAINST;
        let text = files::text(&file.path, files::MAX_SOURCE_BYTES);
        let (true, Ok(text), Some(first)) = (is_held, text, worlds.first()) else {
            continue;
        };
        let mut unknown = outside::foreign_names(host, &text, first);
        for world in &worlds[1..] {
            if unknown.is_empty() {
                break;
            }
            let here = outside::foreign_names(host, &text, world);
            unknown.retain(|mistake| here.iter().any(|other| other.place == mistake.place));
        }
        let told = problems(file, &text, &unknown).into_iter();
        complaints.extend(told.map(|problem| problem.warning().into()));
    }
    complaints
}

/// Tells the first faults of policies from files, each with the end of its standard error.
pub(crate) fn tell_faults(files: &[LoadedFile], terminal: &Terminal) {
    tell_faults_since(files, &[], terminal);
}

/// How many faults each of the policies had so far.
pub(crate) fn fault_counts(files: &[LoadedFile]) -> Vec<u64> {
    let faults = files.iter().map(|file| file.policy.faults.as_ref());
    faults
        .map(|faults| faults.map_or(0, |faults| faults.count()))
        .collect()
}

/// The same without the faults that there were before, by policy.
pub(crate) fn tell_faults_since(files: &[LoadedFile], before: &[u64], terminal: &Terminal) {
    for (index, file) in files.iter().enumerate() {
        if let Some(faults) = &file.policy.faults {
            let what = "each is a refusal under the rule `plugin_fault`";
            let before = before.get(index).copied().unwrap_or_default();
            let count = faults.count().saturating_sub(before);
            tell_some(&file.reference.name(), &**faults, count, what, terminal);
        }
    }
}

/// Tells the first faults of a plugin, if there are any; `what` says what stands in their place.
pub(crate) fn tell_some(
    name: &str,
    faults: &dyn Faults,
    count: u64,
    what: &str,
    terminal: &Terminal,
) {
    if count == 0 {
        return;
    }
    let plural = if count == 1 { "" } else { "s" };
    terminal.note(&format!("`{name}` failed {count} time{plural}: {what}"));
    for fault in faults.first().iter().take(MOST_TOLD) {
        tell(fault, terminal);
    }
}

fn tell(fault: &Fault, terminal: &Terminal) {
    let at = fault.hook.map_or_else(String::new, |hook| {
        format!(" at the hook `{}`", engine::export::names::word(&hook))
    });
    terminal.note(&format!("  {}{at}", on_one_line(&fault.message)));
    let lines: Vec<&str> = fault.standard_error.lines().collect();
    for line in &lines[lines.len().saturating_sub(MOST_LINES)..] {
        terminal.note(&format!("    {}", on_one_line(line)));
    }
}
