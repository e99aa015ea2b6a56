//! Rows of rollouts that have ended.
//!
//! A row is put together from what all rollouts of a group have in common, from what happened in a
//! rollout, which is the same under policies that rule the same, and from what is of one policy alone.

use std::sync::Arc;

use engine::Rollout;
use engine::export::names;
use engine::fork::ForkPoint;
use plugins::registry::Origin;
use plugins::setting::Instrumentation;
use plugins::trace::Outcome;
use plugins::value::Text;
use worlds::spec::{Domain, Stage};

use crate::columns::{Hash, Word};
use crate::metrics::{Finished, Metrics, measure};
use crate::rollout_id::RolloutFields;
use crate::row::{COMPLETED, Identity, ROW_SCHEMA, Row, Shadowed};

/// What the provider of a simulated model does with the seed.
const KEYED: &str = "keyed";

/// What the rollouts of a group have in common: scenario, model, seed and the state at the start.
pub(super) struct Common {
    scenario_id: Text,
    scenario_hash: Hash,
    family: Text,
    stage: Stage,
    domain: Domain,
    topology: Text,
    memory: Word,
    model: Text,
    profile_hash: Hash,
    instrumentation: Word,
    user: Word,
    study_seed: u64,
    seed: u64,
    stratum: Option<Text>,
    prestate_hash: Hash,
}

impl Common {
    /// What `rollout` has in common with the others of its group, where it is run with these fields.
    pub(super) fn of(rollout: &Rollout, fields: &RolloutFields) -> Self {
        let scenario = rollout.scenario();
        Self {
            scenario_id: fields.scenario.clone(),
            scenario_hash: fields.scenario_hash,
            family: scenario.family.clone(),
            stage: scenario.stage,
            domain: scenario.domain,
            topology: scenario.topology.clone(),
            memory: scenario.memory_mode().into(),
            model: fields.model.clone(),
            profile_hash: fields.profile_hash,
            instrumentation: fields.instrumentation.name(),
            user: fields.user.name().into(),
            study_seed: fields.study_seed,
            seed: fields.seed,
            stratum: fields.stratum.clone(),
            prestate_hash: Hash(rollout.prestate_hash()),
        }
    }
}

/// What happened in a rollout.
pub(super) struct Course {
    trace_digest: Hash,
    outcome: Word,
    failure: Option<Text>,
    events: u64,
    nodes: u32,
    edges: u32,
    metrics: Arc<Metrics>,
}

impl Course {
    /// What happened in `rollout`, which has ended.
    pub(super) fn of(rollout: &Rollout, instrumentation: Instrumentation) -> Self {
        let outcome = rollout.outcome().expect("the rollout has ended");
        let trace = rollout.trace();
        let length =
            |length: usize| u32::try_from(length).expect("limits keep traces far below u32::MAX");
        let metrics = measure(&Finished {
            scenario: rollout.scenario(),
            trace,
            labels: rollout.labels(),
            instrumentation,
            outcome,
        });
        Self {
            trace_digest: Hash(rollout.trace_digest()),
            outcome: word(outcome),
            failure: match outcome {
                Outcome::Errored(message) => Some(message.clone()),
                Outcome::Completed | Outcome::LimitReached(_) => None,
            },
            events: rollout.executed_events(),
            nodes: length(trace.nodes.len()),
            edges: length(trace.edges.len()),
            metrics: Arc::new(metrics),
        }
    }
}

/// How a rollout ended, in a word.
fn word(outcome: &Outcome) -> Word {
    match outcome {
        Outcome::Completed => COMPLETED.into(),
        Outcome::LimitReached(_) | Outcome::Errored(_) => names::outcome(outcome).into(),
    }
}

/// What is of one policy alone.
pub(super) struct Under {
    pub(super) rollout_id: Hash,
    pub(super) policy: Text,
    pub(super) policy_hash: Hash,
    /// Where it comes from.
    pub(super) origin: Origin,
    /// What was seen of the policy in its shadow.
    pub(super) shadow: Shadowed,
    /// Where it left what the group shares; nothing if it was run from the start.
    pub(super) fork: Option<ForkPoint>,
}

/// The policy in the shadow of others.
#[derive(Clone, Debug)]
pub struct ShadowPolicy {
    /// Its name.
    pub name: Text,
    /// Hash of its version, its parameters and what it is made of.
    pub hash: Hash,
}

impl ShadowPolicy {
    /// What was seen of it in a rollout that has ended.
    pub(super) fn seen(&self, rollout: &mut Rollout) -> Shadowed {
        if matches!(rollout.outcome(), Some(Outcome::Errored(_))) {
            // Every number of a rollout that failed is null.
            return Shadowed::default();
        }
        let log = rollout.shadow_log();
        log.map_or_else(Shadowed::default, |log| {
            Shadowed::of(self.name.clone(), self.hash, log)
        })
    }
}

/// The row of a rollout that has ended, run with these fields.
///
/// # Panics
/// When the rollout has not ended.
#[must_use]
pub fn row(
    rollout: &mut Rollout,
    fields: &RolloutFields,
    origin: Origin,
    shadow: Option<&ShadowPolicy>,
    fork: Option<ForkPoint>,
) -> Row {
    let under = Under {
        rollout_id: fields.id(),
        policy: fields.policy.clone(),
        policy_hash: fields.policy_hash,
        origin,
        shadow: shadow.map_or_else(Shadowed::default, |shadow| shadow.seen(rollout)),
        fork,
    };
    let course = Course::of(rollout, fields.instrumentation);
    under.row(&Common::of(rollout, fields), &course)
}

impl Under {
    /// The row of a rollout of this course.
    pub(super) fn row(self, common: &Common, course: &Course) -> Row {
        let identity = Identity {
            schema: ROW_SCHEMA,
            rollout_id: self.rollout_id,
            scenario_id: common.scenario_id.clone(),
            scenario_hash: common.scenario_hash,
            family: common.family.clone(),
            stage: common.stage,
            domain: common.domain,
            topology: common.topology.clone(),
            memory: common.memory.clone(),
            policy: self.policy,
            policy_hash: self.policy_hash,
            policy_kind: self.origin.kind.into(),
            policy_version: self.origin.version,
            policy_content: self.origin.content.map(Hash),
            model: common.model.clone(),
            profile_hash: common.profile_hash,
            instrumentation: common.instrumentation.clone(),
            user: common.user.clone(),
            study_seed: common.study_seed,
            seed: common.seed,
            stratum: common.stratum.clone(),
            provider_seed_status: KEYED.into(),
            prestate_hash: common.prestate_hash,
            fork_event: self.fork.map(|point| point.event),
            fork_hash: self.fork.map(|point| Hash(point.hash)),
            trace_digest: course.trace_digest,
            outcome: course.outcome.clone(),
            failure: course.failure.clone(),
            events: course.events,
            nodes: course.nodes,
            edges: course.edges,
        };
        Row {
            identity,
            metrics: Arc::clone(&course.metrics),
            shadow: self.shadow,
        }
    }
}
