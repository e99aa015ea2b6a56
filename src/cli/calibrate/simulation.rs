//! What a profile makes of published numbers: the study is simulated with it and each number is read
//! off the same table in which anybody finds it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use containment_bench::Bench;
use report::analysis::{Analysis, Options};
use report::evidence::{Evidence, Scope};
use report::published::Published;
use report::table::Value;
use report::tables;
use statistics::Bootstrap;
use study::plan::file::Study;
use study::plan::{Plan, PlannedScenario};
use study::results::Results;
use worlds::spec::Stage;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::problem::Problem;
use crate::cli::reports;
use crate::cli::study::plans::Changes;
use crate::cli::study::{plans, processors};

/// What the profile is called while it is fitted: no draw depends on it.
const FITTED: &str = "fitted";

/// A study whose model is the profile that is fitted.
pub(super) struct Simulation {
    study: Study,
    scenarios: Vec<PlannedScenario>,
    seeds: Vec<u64>,
    stop: Arc<AtomicBool>,
}

/// A number under each study seed.
#[derive(Clone, Debug)]
pub(super) struct Number(Vec<f64>);

/// Why there are no numbers.
#[derive(Debug)]
pub(super) enum Unmade {
    /// The fit cannot go on.
    Failed(Failure),
    /// The study does not make one of the numbers.
    Missing {
        /// Which of those that were asked for.
        index: usize,
        /// What is missing.
        why: String,
    },
}

impl Number {
    /// The mean over the study seeds.
    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.count()
    }

    /// How far the mean may be off because there are only so many study seeds; none if there is one.
    pub(super) fn seed_error(&self) -> Option<f64> {
        if self.0.len() < 2 {
            return None;
        }
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        Some((squares / (self.count() - 1.0) / self.count()).sqrt())
    }

    fn count(&self) -> f64 {
        u32::try_from(self.0.len()).map_or(f64::MAX, f64::from)
    }
}

impl<E: Into<Failure>> From<E> for Unmade {
    fn from(failure: E) -> Self {
        Self::Failed(failure.into())
    }
}

impl Simulation {
    /// Of a shipped study, under these study seeds, until `stop` is set.
    pub(super) fn of(study: &str, seeds: &[u64], stop: Arc<AtomicBool>) -> Result<Self, Failure> {
        let Plan {
            mut study,
            scenarios,
            ..
        } = plans::load_shipped(study, &Changes::default())?.plan;
        study.models = vec![FITTED.to_owned()];
        Ok(Self {
            study,
            scenarios,
            seeds: seeds.to_vec(),
            stop,
        })
    }

    /// Published numbers under a profile. What several of them need is simulated once.
    pub(super) fn numbers(
        &self,
        profile: &str,
        cells: &[Published],
    ) -> Result<Vec<Number>, Unmade> {
        let mut scopes: Vec<Scope> = Vec::new();
        for cell in cells {
            if !scopes.contains(&scope(cell)) {
                scopes.push(scope(cell));
            }
        }
        let mut numbers = vec![Number(Vec::new()); cells.len()];
        for &seed in &self.seeds {
            for &wanted in &scopes {
                let results = self.results(profile, seed, wanted)?;
                let of_scope = cells.iter().zip(&mut numbers).enumerate();
                for (index, (cell, number)) in
                    of_scope.filter(|(_, (cell, _))| scope(cell) == wanted)
                {
                    let value = value(&results, cell).map_err(|why| Unmade::Missing {
                        index,
                        why: format!("under study seed {seed}, {why}"),
                    })?;
                    number.0.push(value);
                }
            }
        }
        Ok(numbers)
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
        self.ran(&plan)
    }

    fn ran(&self, plan: &Plan) -> Result<Results, Failure> {
        reports::in_memory(plan, &self.stop)?.ok_or_else(|| {
            let help = "what was found so far is in the lines above; a fit begins anew each time";
            let problem = Problem::new("interrupted: no profile was written").help(help);
            Failure::new(Exit::Incomplete, problem)
        })
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

/// A number, or what is missing for it.
fn value(results: &Results, cell: &Published) -> Result<f64, String> {
    let options = Options {
        // No interval is looked at.
        bootstrap: Bootstrap {
            resamples: 1,
            ..Bootstrap::default()
        },
        threads: processors().get(),
    };
    let none = || "it has no rollouts".to_owned();
    let evidence = Evidence::by_model(results)
        .into_iter()
        .next()
        .ok_or_else(none)?;
    let analysis = if tables::needs_pairs(&cell.table) {
        Analysis::new(evidence, &[], options)
    } else {
        Analysis::without_pairs(evidence)
    };
    let found = tables::cell(&analysis, &cell.table, &cell.id)
        .ok_or_else(|| "none of its tables has a cell for it".to_owned())?;
    found.as_number().ok_or_else(|| match found.value {
        Value::NotSimulated => "what it is about is not simulated here".to_owned(),
        _ => "no rollout is one that it counts, so its cell is N/A".to_owned(),
    })
}
