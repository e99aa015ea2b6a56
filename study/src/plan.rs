//! A study before it runs: from the text of a study file to the list of its rollouts.
//!
//! Nothing here reads a disk. [`file::load`] takes the text of a study file; the caller reads the
//! worlds that it names and hands them to [`Plan::new`], which resolves every plugin and refuses what
//! could not run.

pub mod cast;
pub mod file;
mod places;
pub mod problem;

use std::collections::BTreeSet;
use std::sync::Arc;

use plugins::draws::RolloutKey;
use plugins::registry::Registry;
use worlds::spec::Scenario;

use crate::columns::Hash;
use crate::rollout_id::RolloutFields;
use crate::shard::Shard;
use cast::{Cast, Part};
use file::{MAX_ROLLOUTS, Study};
use problem::StudyReport;

/// A scenario with the configuration text of the model in it, for example its script.
#[derive(Clone, Debug)]
pub struct PlannedScenario {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// What its model backend is made from.
    pub configuration: Arc<str>,
}

/// A study that can run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the study file says.
    pub study: Study,
    /// The scenarios in the order of the file.
    pub scenarios: Vec<PlannedScenario>,
    /// The plugins, resolved.
    pub cast: Cast,
    /// By scenario, then by model: the models as they play the scenarios.
    parts: Vec<Vec<Part>>,
    /// Which part of it is run here; all of it without one.
    pub shard: Option<Shard>,
}

/// A study that cannot run, although its file is well formed.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A plugin is unknown; the report says where it is named.
    #[error(transparent)]
    File(#[from] StudyReport),
    /// Two scenarios have the same identity, so their rows could not be told apart.
    #[error("two worlds of the study are called `{0}`: name it once, or rename one of the files")]
    SameScenario(String),
    /// The families of the study have so many worlds that it is too large.
    #[error("the study has {0} rollouts, more than {MAX_ROLLOUTS}: name fewer worlds or seeds")]
    TooLarge(usize),
    /// A model cannot be made from the configuration of a scenario.
    #[error("model `{model}` cannot play `{scenario}`: {problem}")]
    Model {
        /// The model backend.
        model: String,
        /// The scenario.
        scenario: String,
        /// What the backend says.
        problem: String,
    },
    /// Two rollouts have the same id. The whole study is refused: its rows could not be told apart.
    #[error("two rollouts have the id {0}")]
    SameRollout(Hash),
}

/// Rollouts that differ in their policy only, and so share a prefix: one scenario, model and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Position in the plan.
    pub index: usize,
    /// The scenario, by position.
    pub scenario: usize,
    /// The model, by position.
    pub model: usize,
    /// The seed of the rollouts.
    pub seed: u64,
}

impl Plan {
    /// Resolves and checks everything that the study names. The scenarios are those of
    /// [`Study::worlds`], in that order; a family is several.
    ///
    /// # Errors
    /// When something that the study names does not exist or cannot be made.
    pub fn new(
        study: Study,
        scenarios: Vec<PlannedScenario>,
        registry: &Registry,
    ) -> Result<Self, PlanError> {
        let counts = [study.policies.len(), study.seeds.len(), study.models.len()];
        let rollouts = counts.iter().product::<usize>() * scenarios.len();
        if rollouts > MAX_ROLLOUTS {
            return Err(PlanError::TooLarge(rollouts));
        }
        let mut identities = BTreeSet::new();
        for planned in &scenarios {
            let identity = &planned.scenario.identity;
            if !identities.insert(identity) {
                return Err(PlanError::SameScenario(identity.to_string()));
            }
        }
        let cast = Cast::resolve(&study, registry)?;
        let parts = scenarios.iter().map(|planned| cast.audition(planned));
        let parts = parts.collect::<Result<_, _>>()?;
        let plan = Self {
            study,
            scenarios,
            cast,
            parts,
            shard: None,
        };
        plan.check_ids()?;
        Ok(plan)
    }

    fn check_ids(&self) -> Result<(), PlanError> {
        let mut ids = BTreeSet::new();
        let ids_of =
            |group| (0..self.study.policies.len()).map(move |p| self.fields(group, p).id());
        for id in self.groups().flat_map(ids_of) {
            if !ids.insert(id) {
                return Err(PlanError::SameRollout(id));
            }
        }
        Ok(())
    }

    /// How many rollouts there are.
    #[must_use]
    pub fn rollouts(&self) -> usize {
        self.groups().len() * self.study.policies.len()
    }

    /// How many of them are run here.
    #[must_use]
    pub fn own_rollouts(&self) -> usize {
        self.own_groups().count() * self.study.policies.len()
    }

    /// The groups that are run here, in plan order.
    pub fn own_groups(&self) -> impl Iterator<Item = Group> {
        let is_own = |group: &Group| self.shard.is_none_or(|shard| shard.holds(group.index));
        self.groups().filter(is_own)
    }

    /// The groups in plan order: by scenario, then model, then seed. Within a group the rollouts are
    /// in the order of the policies.
    #[must_use]
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Group> {
        let (models, seeds) = (self.study.models.len(), self.study.seeds.len());
        (0..self.scenarios.len() * models * seeds).map(move |index| Group {
            index,
            scenario: index / (models * seeds),
            model: index / seeds % models,
            seed: self.study.seeds[index % seeds],
        })
    }

    /// What decides what happens in one rollout of a group: that under the policy at this position.
    #[must_use]
    pub fn fields(&self, group: Group, policy: usize) -> RolloutFields<'_> {
        let planned = &self.scenarios[group.scenario];
        let policy = &self.cast.policies[policy];
        let model = &self.cast.models[group.model];
        RolloutFields {
            study_seed: self.study.study_seed,
            scenario: &planned.scenario.identity,
            scenario_hash: Hash(planned.scenario.content_hash),
            policy: &policy.name,
            policy_hash: policy.hash,
            model: &model.name,
            profile_hash: self.part(group).profile_hash,
            instrumentation: self.study.instrumentation,
            user: self.study.user,
            seed: group.seed,
        }
    }

    /// The model of a group as it plays the group's scenario.
    #[must_use]
    pub fn part(&self, group: Group) -> &Part {
        &self.parts[group.scenario][group.model]
    }

    /// What all draws of the rollouts of a group have in common.
    #[must_use]
    pub fn key(&self, group: Group) -> RolloutKey {
        RolloutKey::new(
            self.study.study_seed,
            self.scenarios[group.scenario].scenario.identity.clone(),
            group.seed,
        )
    }
}

#[cfg(test)]
mod tests;
