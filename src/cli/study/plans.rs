//! From a study file to a plan: the study, the worlds that it names, the plugins.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use containment_bench::Bench;
use containment_bench::outside::LoadedFile;
use containment_bench::outside::reference::{Reference, ReferenceError};
use plugins::registry::Registry;
use plugins::value::Text;
use study::plan::file::{self, NamedPolicy, Study};
use study::plan::{Plan, PlanError, PlannedScenario};

use crate::cli::codes::Code;
use crate::cli::decisions::Recordings;
use crate::cli::failure::Failure;
use crate::cli::families::Family;
use crate::cli::files::{self, MAX_SOURCE_BYTES};
use crate::cli::nearest;
use crate::cli::policies;
use crate::cli::problem::{Complaint, Problem};
use crate::cli::profiles;
use crate::cli::scenes;
use crate::cli::shipped::{self, ShippedStudy};

/// A plan, and what is suspicious about its worlds.
pub(crate) struct LoadedPlan {
    /// The plan.
    pub(crate) plan: Plan,
    /// The profiles of its models that are files, as the study names them.
    pub(crate) model_files: Vec<String>,
    /// Its policies that are files.
    pub(crate) outside: Vec<LoadedFile>,
    /// What is recorded of those that are processes.
    pub(crate) recordings: Recordings,
    /// Warnings only.
    pub(crate) warnings: Vec<Complaint>,
}

/// What is to be otherwise than the study file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// The study seed.
    pub(crate) seed: Option<u64>,
    /// The policies; their files are named relative to the current folder.
    pub(crate) policies: Option<Vec<String>>,
    /// The policy in their shadow; likewise.
    pub(crate) shadow: Option<String>,
    /// Whether the answers of processes are recorded.
    pub(crate) record: bool,
}

impl Changes {
    /// Another study seed.
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..Self::default()
        }
    }
}

/// The plan of the study in `path` or inside the program, of the main study without a path.
pub(crate) fn load(path: Option<&Path>, changes: &Changes) -> Result<LoadedPlan, Failure> {
    load_one(path, inside(path), changes)
}

/// The plan of a study inside the program, whatever files there are.
pub(crate) fn load_shipped(name: &str, changes: &Changes) -> Result<LoadedPlan, Failure> {
    let known = || shipped::STUDIES.iter().map(|study| study.name);
    let study = shipped::study(name).ok_or_else(|| {
        let problem = Problem::new(format!("there is no shipped study `{name}`"));
        problem.maybe_help(nearest::suggestion(name, known()))
    })?;
    load_one(None, Some(study), changes)
}

fn load_one(
    path: Option<&Path>,
    inside: Option<&'static ShippedStudy>,
    changes: &Changes,
) -> Result<LoadedPlan, Failure> {
    let (text, origin) = match (path, inside) {
        (Some(path), None) => (text_of(path)?, files::shown(path)),
        (_, study) => {
            let study = study.unwrap_or(&shipped::STUDIES[0]);
            (study.text.to_owned(), study.path())
        }
    };
    let mut study = file::load(&text, &origin)?;
    if let Some(seed) = changes.seed {
        study.study_seed = seed;
    }
    let folder = match inside {
        Some(_) => None,
        None => path.map(|path| path.parent().unwrap_or(Path::new(""))),
    };
    let mut registry = Bench::built_in().registry;
    let model_files = register_profiles(&mut study, folder, &mut registry)?;
    let recordings = recordings(&study, changes);
    let outside = register_policies(&mut study, folder, changes, &recordings, &mut registry)?;
    let (scenarios, mut warnings) = planned(&study.worlds, folder, &origin)?;
    let worlds = scenarios.iter().map(|planned| &planned.scenario.briefing);
    warnings.extend(policies::unknown_names(
        &outside,
        &worlds.collect::<Vec<_>>(),
    ));
    let plan = Plan::new(study, scenarios, &registry);
    let plan = plan.map_err(|error| unplanned(error, &origin))?;
    Ok(LoadedPlan {
        plan,
        model_files,
        outside,
        recordings,
        warnings,
    })
}

/// Registers the models of a study that are files, and puts their names in the place of the files.
fn register_profiles(
    study: &mut Study,
    folder: Option<&Path>,
    registry: &mut Registry,
) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    for model in &mut study.models {
        if profiles::is_file(model) {
            let path = folder.unwrap_or(Path::new("")).join(&*model);
            let name = profiles::register(registry, &path)?;
            files.push(std::mem::replace(model, name));
        }
    }
    Ok(files)
}

/// A recording for each process of a study, if they are recorded.
fn recordings(study: &Study, changes: &Changes) -> Recordings {
    if !changes.record {
        return Recordings::default();
    }
    let policies = changes.policies.as_ref().unwrap_or(&study.policies);
    let shadow = changes.shadow.iter().chain(&study.shadow);
    let references = policies.iter().chain(shadow);
    let references: Vec<Reference> = references.filter_map(|text| text.parse().ok()).collect();
    Recordings::begin(references.iter().flat_map(Reference::files))
}

/// Registers the policies of a study that are files or several in one, and puts what they are called
/// in the place of what the study says, or of what is to be instead.
fn register_policies(
    study: &mut Study,
    folder: Option<&Path>,
    changes: &Changes,
    recordings: &Recordings,
    registry: &mut Registry,
) -> Result<Vec<LoadedFile>, Failure> {
    let beside = folder.unwrap_or(Path::new(""));
    let mut outside = Vec::new();
    if let Some(policies) = &changes.policies {
        let mut names = Vec::new();
        for written in policies {
            let registered = policies::register_with(
                registry,
                &policies::parse(written)?,
                Path::new(HERE),
                recordings,
            )?;
            names.push(registered.name);
            outside.extend(registered.files);
        }
        study.replace_policies(names);
    } else {
        for index in 0..study.policies.len() {
            let written = study.policies[index].clone();
            let policy = NamedPolicy::Live(index);
            outside.extend(register_one(
                study, policy, &written, beside, recordings, registry,
            )?);
        }
    }
    match (&changes.shadow, study.shadow.clone()) {
        (Some(written), _) => {
            let registered = policies::register_with(
                registry,
                &policies::parse(written)?,
                Path::new(HERE),
                recordings,
            )?;
            study.shadow = Some(registered.name);
            outside.extend(registered.files);
        }
        (None, Some(written)) => {
            let policy = NamedPolicy::Shadow;
            outside.extend(register_one(
                study, policy, &written, beside, recordings, registry,
            )?);
        }
        (None, None) => {}
    }
    Ok(outside)
}

/// The current folder.
const HERE: &str = "";

/// Registers a policy that the study file names. One that is a plain name is left as it is: the plan
/// says at its place if there is none.
fn register_one(
    study: &mut Study,
    policy: NamedPolicy,
    written: &str,
    folder: &Path,
    recordings: &Recordings,
    registry: &mut Registry,
) -> Result<Vec<LoadedFile>, Failure> {
    let reference: Reference = written.parse().map_err(|error: ReferenceError| {
        study.refusal(policy, error.to_string(), error.help.clone())
    })?;
    match &reference {
        Reference::Named { parameters, .. } if parameters.is_empty() => Ok(Vec::new()),
        _ => {
            let registered = policies::register_with(registry, &reference, folder, recordings)?;
            study.rename_policy(policy, registered.name)?;
            Ok(registered.files)
        }
    }
}

/// The study inside the program that is meant: the main one without a path. A file comes first.
pub(crate) fn inside(path: Option<&Path>) -> Option<&'static ShippedStudy> {
    match path {
        None => shipped::STUDIES.first(),
        Some(path) if path.is_file() => None,
        Some(path) => shipped::study(path.to_str()?),
    }
}

fn text_of(path: &Path) -> Result<String, Problem> {
    let known = || shipped::STUDIES.iter().map(|study| study.name);
    files::text(path, MAX_SOURCE_BYTES)
        .map_err(|problem| problem.maybe_help(nearest::suggestion(&files::shown(path), known())))
}

fn unplanned(error: PlanError, origin: &str) -> Failure {
    match error {
        PlanError::File(report) => report.into(),
        other => Problem::new(other.to_string())
            .code(Code::WrongFile)
            .file(origin)
            .into(),
    }
}

/// The worlds of a study with their scripts, and warnings about them. If some are wrong, all their
/// problems are told.
fn planned(
    worlds: &[String],
    folder: Option<&Path>,
    origin: &str,
) -> Result<(Vec<PlannedScenario>, Vec<Complaint>), Failure> {
    let mut planned = Vec::new();
    let mut identities = BTreeSet::new();
    let mut suspicious = Vec::new();
    let mut wrong: Option<Failure> = None;
    for world in worlds {
        match (scenes(world, folder), &mut wrong) {
            (Ok(Family { scenes, warnings }), _) => {
                let group = group(world);
                for scene in scenes {
                    // At once: the same world may be named in thousands of ways.
                    if !identities.insert(scene.scenario.identity.clone()) {
                        let name = scene.scenario.identity.to_string();
                        return Err(unplanned(PlanError::SameScenario(name), origin));
                    }
                    planned.push(PlannedScenario {
                        scenario: scene.scenario,
                        configuration: scene.script,
                        group: group.clone(),
                    });
                }
                suspicious.extend(warnings);
            }
            (Err(failure), None) => wrong = Some(failure),
            (Err(failure), Some(first)) => first.complaints.extend(failure.complaints),
        }
    }
    wrong.map_or(Ok((planned, suspicious)), Err)
}

/// The group of the worlds of a file: what the file is called.
fn group(world: &str) -> Text {
    let name = Path::new(world).file_stem().unwrap_or_default();
    (&*name.to_string_lossy()).into()
}

/// A world of a study, or all of a family: a file, named relative to the study file, or a world inside
/// the program by its name. A file comes first.
fn scenes(world: &str, folder: Option<&Path>) -> Result<Family, Failure> {
    let Some(folder) = folder else {
        let path = PathBuf::from(world);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let inside = shipped::world(&name).expect("a test checks the worlds of the shipped study");
        return scenes::load_text(inside.into());
    };
    let path = folder.join(world);
    match shipped::world(world) {
        Some(inside) if !path.is_file() => scenes::load_text(inside.into()),
        _ => scenes::load_all(&path),
    }
}
