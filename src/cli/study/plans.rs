//! From a study file to a plan: the study, the worlds that it names, the plugins.

use std::path::Path;

use containment_bench::{Bench, Scene};
use study::plan::file;
use study::plan::problem::StudyReport;
use study::plan::{Plan, PlanError, PlannedScenario};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{self, MAX_SOURCE_BYTES};
use crate::cli::problem::Problem;
use crate::cli::{scenes, shipped};

/// The plan of the study in `path`, or of the shipped case studies, under this study seed.
pub(super) fn load(path: Option<&Path>, seed: Option<u64>) -> Result<Plan, Failure> {
    let (text, origin) = match path {
        Some(path) => (files::text(path, MAX_SOURCE_BYTES)?, files::shown(path)),
        None => (
            shipped::DEMOS.to_owned(),
            "worlds/studies/demos.ron".to_owned(),
        ),
    };
    let refused = |report: StudyReport| from_report(&report, &text, &origin);
    let mut study = file::load(&text, &origin).map_err(refused)?;
    if let Some(seed) = seed {
        study.study_seed = seed;
    }
    // Worlds are named relative to the study file; the shipped study names shipped worlds.
    let folder = path.map(|path| path.parent().unwrap_or(Path::new("")));
    let scenarios = study
        .worlds
        .iter()
        .map(|world| planned(world, folder))
        .collect::<Result<_, _>>()?;
    Plan::new(study, scenarios, &Bench::built_in().registry).map_err(|error| match error {
        PlanError::File(report) => refused(report),
        other => Problem::new(other.to_string()).file(origin.as_str()).into(),
    })
}

/// A world of the study with its script: a file beside the study, or for the shipped study a
/// shipped world.
fn planned(world: &str, folder: Option<&Path>) -> Result<PlannedScenario, Failure> {
    let Scene { scenario, script } = match folder {
        Some(folder) => scenes::load(&folder.join(world))?,
        None => {
            let name = Path::new(world)
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy();
            scenes::load(Path::new(&*name))?
        }
    };
    Ok(PlannedScenario {
        scenario,
        configuration: script,
    })
}

/// The problems of a study file.
fn from_report(report: &StudyReport, text: &str, origin: &str) -> Failure {
    let exit = if report.is_unsupported_version() {
        Exit::UnsupportedVersion
    } else {
        Exit::Invalid
    };
    let complaints = report.problems().iter().map(|problem| {
        Problem::new(format!("{} ({})", problem.message, problem.code.id()))
            .at(origin, text, problem.line, problem.column)
            .maybe_help(problem.help.clone())
            .into()
    });
    Failure {
        exit,
        complaints: complaints.collect(),
        reproduce: None,
    }
}
