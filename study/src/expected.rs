//! Which rollouts a manifest is about, in plan order: what [`crate::plan`] made of the study, found
//! again without it.

use std::collections::BTreeMap;

use plugins::draws::Stratum;

use crate::manifest::{Frozen, FrozenPolicy, FrozenScenario};
use crate::plan::cast::profile_hash_of;
use crate::plan::file::MAX_ROLLOUTS;
use crate::rollout_id::RolloutFields;

/// The rollouts of a manifest.
#[derive(Clone, Debug)]
pub struct Expected<'m> {
    frozen: &'m Frozen,
    rollouts: usize,
    /// Of each scenario: how many of its group come before it, and the size of the group.
    places: Vec<(usize, usize)>,
}

/// A manifest of more rollouts than any study has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its lists are for more rollouts than the {MAX_ROLLOUTS} that a study may have")]
pub struct TooMany;

impl<'m> Expected<'m> {
    /// The rollouts that scenarios, models, seeds and policies make together.
    ///
    /// # Errors
    /// When they are more than a study may have: a manifest may list anything.
    pub fn of(frozen: &'m Frozen) -> Result<Self, TooMany> {
        let counts = [
            frozen.scenarios.len(),
            frozen.models.len(),
            frozen.seeds.len(),
            frozen.policies.len(),
        ];
        let product = |product: usize, count: &usize| product.checked_mul(*count);
        let rollouts = counts.iter().try_fold(1, product).ok_or(TooMany)?;
        if rollouts > MAX_ROLLOUTS {
            return Err(TooMany);
        }
        Ok(Self {
            frozen,
            rollouts,
            places: places(&frozen.scenarios),
        })
    }

    /// How many there are.
    #[must_use]
    pub const fn rollouts(&self) -> usize {
        self.rollouts
    }

    /// The scenario of the rollout at this position, by its own.
    ///
    /// # Panics
    /// When there is no such rollout.
    #[must_use]
    pub const fn scenario(&self, position: usize) -> usize {
        assert!(position < self.rollouts, "there is no such rollout");
        let frozen = self.frozen;
        position / (frozen.policies.len() * frozen.seeds.len() * frozen.models.len())
    }

    /// The policy of the rollout at this position.
    ///
    /// # Panics
    /// When the manifest has no policies, and so no rollouts.
    #[must_use]
    pub fn policy(&self, position: usize) -> &'m FrozenPolicy {
        &self.frozen.policies[position % self.frozen.policies.len()]
    }

    /// The policy in the shadow of all others.
    #[must_use]
    pub const fn shadow(&self) -> Option<&'m FrozenPolicy> {
        self.frozen.shadow.as_ref()
    }

    /// What decides what happens in the rollout at this position.
    ///
    /// # Panics
    /// When there is no such rollout.
    #[must_use]
    pub fn fields(&self, position: usize) -> RolloutFields {
        let frozen = self.frozen;
        let index = self.scenario(position);
        let scenario = &frozen.scenarios[index];
        let policy = &frozen.policies[position % frozen.policies.len()];
        let group = position / frozen.policies.len();
        let seed = group % frozen.seeds.len();
        let model = &frozen.models[group / frozen.seeds.len() % frozen.models.len()];
        RolloutFields {
            study_seed: frozen.study_seed,
            scenario: scenario.id.as_str().into(),
            scenario_hash: scenario.hash,
            policy: policy.name.as_str().into(),
            policy_hash: policy.hash,
            model: model.name.as_str().into(),
            profile_hash: profile_hash_of(model.hash, scenario.configuration_hash),
            instrumentation: frozen.instrumentation,
            user: frozen.user,
            seed: frozen.seeds[seed],
            stratum: self
                .stratum(index, seed)
                .map(|stratum| stratum.to_string().into()),
        }
    }

    /// The place of a scenario with a seed among those over which latent variables are stratified.
    fn stratum(&self, scenario: usize, seed: usize) -> Option<Stratum> {
        let group = self.frozen.scenarios[scenario].group.as_ref()?;
        let (before, size) = self.places[scenario];
        let narrow = |count| u32::try_from(count).expect("no study has so many rollouts");
        Some(Stratum {
            group: group.as_str().into(),
            place: narrow(before),
            places: narrow(size),
            slice: narrow(seed),
            slices: narrow(self.frozen.seeds.len()),
        })
    }
}

fn places(scenarios: &[FrozenScenario]) -> Vec<(usize, usize)> {
    let mut sizes: BTreeMap<&Option<String>, usize> = BTreeMap::new();
    let mut before = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let size = sizes.entry(&scenario.group).or_default();
        before.push(*size);
        *size += 1;
    }
    let size = |scenario: &FrozenScenario| sizes[&scenario.group];
    before.into_iter().zip(scenarios.iter().map(size)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use worlds::spec::Stage;

    use super::*;
    use crate::fixture::{registry, scenario};
    use crate::manifest::Manifest;
    use crate::plan::{Plan, PlannedScenario, file};

    const TEXT: &str = r#"Study(
        schema: 1, name: "tests", study_seed: 7,
        worlds: ["a.ron", "b.ron", "c.ron"],
        policies: ["none", "block"],
        models: ["understudy", "scripted"],
        seeds: [5, 3, 4],
        latents: Independent,
    )"#;

    fn plan(text: &str) -> Plan {
        let planned = [("a", "first"), ("b", "second"), ("c", "first")];
        let planned = planned.map(|(identity, group)| {
            let mut scenario = scenario(Stage::Clean);
            scenario.identity = identity.into();
            PlannedScenario {
                scenario: Arc::new(scenario),
                configuration: identity.into(),
                group: group.into(),
            }
        });
        let study = file::load(text, "tests.ron").expect("a study");
        Plan::new(study, planned.to_vec(), &registry()).expect("a plan")
    }

    #[test]
    fn a_manifest_says_the_rollouts_of_its_plan() {
        for latents in ["Independent", "Stratified"] {
            let plan = plan(&TEXT.replace("Independent", latents));
            let frozen = Manifest::freeze(&plan).frozen;
            let expected = Expected::of(&frozen).expect("a small study");
            assert_eq!(expected.rollouts(), plan.rollouts());
            let ids = (0..plan.rollouts()).map(|position| expected.fields(position).id());
            assert!(ids.eq(plan.ids().iter().copied()), "{latents}");
        }
    }

    #[test]
    fn a_manifest_of_more_than_any_study_has_is_refused() {
        let mut frozen = Manifest::freeze(&plan(TEXT)).frozen;
        frozen.seeds = vec![1; MAX_ROLLOUTS];
        assert_eq!(Expected::of(&frozen).expect_err("too many"), TooMany);
        frozen.seeds.clear();
        assert_eq!(Expected::of(&frozen).expect("none").rollouts(), 0);
    }
}
