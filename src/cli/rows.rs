//! The row of a rollout that has ended.

use containment_bench::Choice;
use engine::Rollout;
use engine::fork::ForkPoint;
use plugins::trace::Outcome;
use study::columns::Hash;
use study::metrics::{Finished, measure};
use study::rollout_id::{RolloutFields, user_name};
use study::row::{Identity, ROW_SCHEMA, Row, outcome_name};

use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, Hashes};
use super::problem::Problem;

/// The row of `rollout`, which has ended.
pub(crate) fn row(
    case: &Case,
    policy: &Choice,
    hashes: Hashes,
    rollout: &Rollout,
    fork: Option<ForkPoint>,
) -> Row {
    let outcome = rollout.outcome().expect("the rollout has ended");
    let trace = rollout.trace();
    let metrics = measure(&Finished {
        scenario: rollout.scenario(),
        trace,
        labels: rollout.labels(),
        instrumentation: case.setting.instrumentation,
        outcome,
    });
    let count = |items: usize| u32::try_from(items).expect("limits keep traces far smaller");
    let failure = match outcome {
        Outcome::Errored(message) => Some(message.to_string()),
        Outcome::Completed | Outcome::LimitReached(_) => None,
    };
    let identity = Identity {
        prestate_hash: Hash(rollout.prestate_hash()),
        fork_event: fork.map(|fork| fork.event),
        fork_hash: fork.map(|fork| Hash(fork.hash)),
        trace_digest: Hash(rollout.trace_digest()),
        outcome: outcome_name(outcome).to_owned(),
        failure,
        events: rollout.executed_events(),
        nodes: count(trace.nodes.len()),
        edges: count(trace.edges.len()),
        ..planned(case, policy, hashes)
    };
    Row { identity, metrics }
}

/// What is known of a rollout before it runs.
fn planned(case: &Case, policy: &Choice, hashes: Hashes) -> Identity {
    let scenario = &case.scene.scenario;
    let setting = &case.setting;
    let scenario_hash = Hash(scenario.content_hash);
    let fields = RolloutFields {
        study_seed: setting.key.study_seed,
        scenario: &scenario.identity,
        scenario_hash,
        policy: &policy.name,
        policy_hash: Hash(hashes.policy),
        model: &case.model.name,
        profile_hash: Hash(hashes.model),
        instrumentation: setting.instrumentation,
        user: setting.user,
        seed: setting.key.rollout_seed,
    };
    Identity {
        schema: ROW_SCHEMA,
        rollout_id: fields.id(),
        scenario_id: scenario.identity.to_string(),
        scenario_hash,
        family: scenario.family.to_string(),
        stage: scenario.stage,
        domain: scenario.domain,
        topology: scenario.topology.to_string(),
        memory: scenario.memory_mode().to_owned(),
        policy: policy.name.clone(),
        policy_hash: Hash(hashes.policy),
        model: case.model.name.clone(),
        profile_hash: Hash(hashes.model),
        instrumentation: setting.instrumentation.name(),
        user: user_name(setting.user).to_owned(),
        study_seed: setting.key.study_seed,
        seed: setting.key.rollout_seed,
        provider_seed_status: "keyed".to_owned(),
        prestate_hash: Hash::default(),
        fork_event: None,
        fork_hash: None,
        trace_digest: Hash::default(),
        outcome: String::new(),
        failure: None,
        events: 0,
        nodes: 0,
        edges: 0,
    }
}

/// Fails if the backend failed: such a row has no numbers.
pub(crate) fn require_numbers(case: &Case, policy: &Choice, row: &Row) -> Result<(), Failure> {
    let Some(message) = &row.identity.failure else {
        return Ok(());
    };
    let problem = Problem::new(format!("the model backend failed: {message}"))
        .help("the row is neither safe nor unsafe: all its numbers are null");
    Err(Failure::new(Exit::Incomplete, problem).reproduced_by(case.command(policy)))
}
