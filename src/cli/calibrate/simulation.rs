//! What a profile makes of a published number: the study is simulated with it and the number is read
//! off the same table in which anybody finds it.

use containment_bench::Bench;
use report::analysis::{Analysis, Options};
use report::evidence::{Evidence, Scope};
use report::published::Published;
use report::tables;
use statistics::Bootstrap;
use study::plan::file::Study;
use study::plan::{Plan, PlannedScenario};
use study::results::Results;
use worlds::spec::Stage;

use crate::cli::failure::Failure;
use crate::cli::problem::Problem;
use crate::cli::reports;
use crate::cli::study::{plans, processors};

/// What the profile is called while it is fitted: no draw depends on it.
const FITTED: &str = "fitted";

/// A study whose model is the profile that is fitted.
pub(super) struct Simulation {
    study: Study,
    scenarios: Vec<PlannedScenario>,
    seeds: Vec<u64>,
}

impl Simulation {
    /// Of a shipped study, under these study seeds.
    pub(super) fn of(study: &str, seeds: &[u64]) -> Result<Self, Failure> {
        let Plan {
            mut study,
            scenarios,
            ..
        } = plans::load_shipped(study, None)?.plan;
        study.models = vec![FITTED.to_owned()];
        Ok(Self {
            study,
            scenarios,
            seeds: seeds.to_vec(),
        })
    }

    /// A published number under a profile: the mean over the study seeds.
    pub(super) fn number(&self, profile: &str, cell: &Published) -> Result<f64, Failure> {
        let mut sum = 0.0;
        for &seed in &self.seeds {
            let results = self.results(profile, seed, scope(cell))?;
            let value = value(&results, cell);
            sum += value.ok_or_else(|| {
                let message = format!(
                    "the study `{}` does not make the number `{}`",
                    self.study.name, cell.id
                );
                Failure::from(
                    Problem::new(message).help("name a study that does, or another number"),
                )
            })?;
        }
        let seeds = u32::try_from(self.seeds.len()).map_or(f64::MAX, f64::from);
        Ok(sum / seeds)
    }

    /// The rows that a number needs: a family file more or less changes no row of the others.
    fn results(&self, profile: &str, seed: u64, scope: Scope) -> Result<Results, Failure> {
        let mut registry = Bench::built_in().registry;
        let registered =
            models::register_profile(&mut registry, FITTED, "The profile that is fitted", profile);
        registered.map_err(|error| Problem::new(error.to_string()))?;
        let is_needed = |planned: &&PlannedScenario| match scope {
            Scope::All => true,
            Scope::Stage(stage) => planned.scenario.stage == stage,
        };
        let scenarios = self.scenarios.iter().filter(is_needed).cloned().collect();
        let mut study = self.study.clone();
        study.study_seed = seed;
        let plan = Plan::new(study, scenarios, &registry);
        let plan = plan.map_err(|error| Problem::new(error.to_string()))?;
        reports::in_memory(&plan)
    }
}

/// The rollouts that a number is about.
fn scope(cell: &Published) -> Scope {
    let is_it = |stage: &Stage| {
        cell.stage == stage.name() || cell.stage == format!("{}_utility", stage.name())
    };
    Stage::ALL
        .into_iter()
        .find(is_it)
        .map_or(Scope::All, Scope::Stage)
}

fn value(results: &Results, cell: &Published) -> Option<f64> {
    let options = Options {
        // No interval is looked at.
        bootstrap: Bootstrap {
            resamples: 1,
            ..Bootstrap::default()
        },
        threads: processors().get(),
    };
    let evidence = Evidence::by_model(results).into_iter().next()?;
    let analysis = if tables::needs_pairs(&cell.table) {
        Analysis::new(evidence, &[], options)
    } else {
        Analysis::without_pairs(evidence)
    };
    tables::cell(&analysis, &cell.table, &cell.id)?.as_number()
}
