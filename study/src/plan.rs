//! A study before it runs: from the text of a study file to the list of its rollouts.
//!
//! Nothing here reads a disk. [`file::load`] takes the text of a study file; the caller reads the
//! worlds that it names and hands them to [`Plan::new`], which resolves every plugin and refuses what
//! could not run.

pub mod cast;
pub mod file;
mod places;
pub mod problem;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugins::draws::{RolloutKey, Stratum};
use plugins::registry::Registry;
use plugins::value::Text;
use worlds::spec::Scenario;

use crate::columns::Hash;
use crate::readings::SharedReadings;
use crate::rollout_id::RolloutFields;
use crate::shard::Shard;
use cast::{Cast, Part};
use file::{Latents, MAX_ROLLOUTS, Study};
use problem::StudyReport;

/// A scenario with the configuration text of the model in it, for example its script.
#[derive(Clone, Debug)]
pub struct PlannedScenario {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// What its model backend is made from.
    pub configuration: Arc<str>,
    /// The group over which a study that stratifies latent variables balances them: the name of the
    /// file that the scenario is from.
    pub group: Text,
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
    /// What the parsers of the parts read.
    pub readings: Arc<SharedReadings>,
    /// The places of scenarios and seeds, by position; none if latent variables are independent.
    strata: Vec<Place>,
    /// The id of every rollout in plan order.
    ids: Vec<Hash>,
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
        let mut readings = SharedReadings::default();
        let parts = scenarios.iter();
        let parts = parts.map(|planned| cast.audition(planned, &mut readings));
        let parts = parts.collect::<Result<_, _>>()?;
        let strata = match study.latents {
            Latents::Independent => Vec::new(),
            Latents::Stratified => strata(&scenarios, study.seeds.len()),
        };
        let mut plan = Self {
            study,
            scenarios,
            cast,
            parts,
            readings: Arc::new(readings),
            strata,
            ids: Vec::new(),
            shard: None,
        };
        plan.ids = plan.computed_ids();
        require_different(&plan.ids)?;
        Ok(plan)
    }

    fn computed_ids(&self) -> Vec<Hash> {
        let mut ids = Vec::with_capacity(self.rollouts());
        for group in self.groups() {
            let policies = 0..self.study.policies.len();
            ids.extend(policies.map(|policy| self.fields(group, policy).id()));
        }
        ids
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

    /// The ids of the rollouts of a group, in the order of the policies.
    #[must_use]
    pub fn ids_of(&self, group: Group) -> &[Hash] {
        let policies = self.study.policies.len();
        &self.ids[group.index * policies..][..policies]
    }

    /// The id of every rollout in plan order.
    #[must_use]
    pub fn ids(&self) -> &[Hash] {
        &self.ids
    }

    /// What decides what happens in one rollout of a group: that under the policy at this position.
    #[must_use]
    pub fn fields(&self, group: Group, policy: usize) -> RolloutFields {
        let planned = &self.scenarios[group.scenario];
        let policy = &self.cast.policies[policy];
        let model = &self.cast.models[group.model];
        RolloutFields {
            study_seed: self.study.study_seed,
            scenario: planned.scenario.identity.clone(),
            scenario_hash: Hash(planned.scenario.content_hash),
            policy: policy.name.clone(),
            policy_hash: policy.hash,
            model: model.name.clone(),
            profile_hash: self.part(group).profile_hash,
            instrumentation: self.study.instrumentation,
            user: self.study.user,
            seed: group.seed,
            stratum: self.place(group).map(|place| place.text.clone()),
        }
    }

    /// The place of the rollouts of a group among those over which latent variables are stratified.
    /// All policies and models have the same, so that they share their random numbers.
    fn place(&self, group: Group) -> Option<&Place> {
        let seeds = self.study.seeds.len();
        self.strata
            .get(group.scenario * seeds + group.index % seeds)
    }

    /// The model of a group as it plays the group's scenario.
    #[must_use]
    pub fn part(&self, group: Group) -> &Part {
        &self.parts[group.scenario][group.model]
    }

    /// What all draws of the rollouts of a group have in common.
    #[must_use]
    pub fn key(&self, group: Group) -> RolloutKey {
        RolloutKey {
            study_seed: self.study.study_seed,
            scenario_identity: self.scenarios[group.scenario].scenario.identity.clone(),
            rollout_seed: group.seed,
            stratum: self.place(group).map(|place| place.stratum.clone()),
        }
    }
}

/// A place among those over which latent variables are stratified.
#[derive(Clone, Debug)]
struct Place {
    stratum: Stratum,
    /// The same as text, which is part of the id of each of its rollouts.
    text: Text,
}

/// Fails if two rollouts have the same id.
fn require_different(ids: &[Hash]) -> Result<(), PlanError> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(PlanError::SameRollout(pair[0])),
        None => Ok(()),
    }
}

/// The place of every scenario within its group, with every seed: in the order of both.
fn strata(scenarios: &[PlannedScenario], seeds: usize) -> Vec<Place> {
    let narrow =
        |count| u32::try_from(count).expect("a study has far fewer rollouts than u32::MAX");
    let mut counts: BTreeMap<&Text, u32> = BTreeMap::new();
    for planned in scenarios {
        *counts.entry(&planned.group).or_default() += 1;
    }
    let mut placed: BTreeMap<&Text, u32> = BTreeMap::new();
    let mut strata = Vec::with_capacity(scenarios.len() * seeds);
    for planned in scenarios {
        let place = placed.entry(&planned.group).or_default();
        for slice in 0..seeds {
            let stratum = Stratum {
                group: planned.group.clone(),
                place: *place,
                places: counts[&planned.group],
                slice: narrow(slice),
                slices: narrow(seeds),
            };
            strata.push(Place {
                text: stratum.to_string().into(),
                stratum,
            });
        }
        *place += 1;
    }
    strata
}

#[cfg(test)]
mod tests;
