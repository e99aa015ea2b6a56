//! Running a plan: groups of rollouts spread over workers, rows in plan order.
//!
//! A group is one scenario, model and seed under every policy: its rollouts share what happens before
//! their policies part. One rollout is single-threaded, so the rows are the same for any number of
//! workers.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam::channel;
use engine::export::names;
use engine::fork::{ForkPoint, Work, run_group};
use engine::{Plugins, Rollout, Setting};
use plugins::trace::Outcome;

use crate::columns::Hash;
use crate::metrics::{Finished, measure};
use crate::plan::{Group, Plan};
use crate::rollout_id::RolloutFields;
use crate::row::{Identity, ROW_SCHEMA, Row};

/// How far a study is, in rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Finished.
    pub done: usize,
    /// Of how many.
    pub total: usize,
}

/// What a study gave.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// The rows in plan order: by scenario, model, seed and policy.
    pub rows: Vec<Row>,
    /// How much work they took.
    pub work: Work,
}

/// What the provider of a simulated model does with the seed.
pub const KEYED: &str = "keyed";

/// Runs every rollout of `plan` on `workers` threads and tells `progress` after each group, on the
/// calling thread.
///
/// # Panics
/// When a rollout panics, which is a bug.
pub fn run(plan: &Plan, workers: NonZeroUsize, mut progress: impl FnMut(Progress)) -> Outcomes {
    let groups: Vec<Group> = plan.groups().collect();
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel::unbounded();
    let mut done = Progress {
        done: 0,
        total: plan.rollouts(),
    };
    let finished = crossbeam::thread::scope(|scope| {
        for _ in 0..workers.get().min(groups.len()) {
            let sender = sender.clone();
            let (groups, next) = (&groups, &next);
            scope.spawn(move |_| {
                let mut worker = Worker::default();
                while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = worker.run(plan, *group);
                    if sender.send((group.index, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut results: Vec<Option<Outcomes>> = vec![None; groups.len()];
        for (index, result) in receiver {
            done.done += result.rows.len();
            progress(done);
            results[index] = Some(result);
        }
        results
    });
    match finished {
        Ok(results) => in_plan_order(results),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn in_plan_order(results: Vec<Option<Outcomes>>) -> Outcomes {
    let mut all = Outcomes {
        rows: Vec::new(),
        work: Work::default(),
    };
    for result in results {
        let result = result.expect("every group is taken by exactly one worker");
        all.rows.extend(result.rows);
        all.work.executed += result.work.executed;
        all.work.from_scratch += result.work.from_scratch;
    }
    all
}

/// One thread's pooled rollout, made with its first group.
#[derive(Default)]
struct Worker {
    rollout: Option<Rollout>,
}

impl Worker {
    fn run(&mut self, plan: &Plan, group: Group) -> Outcomes {
        let scenario = &plan.scenarios[group.scenario].scenario;
        let policies = plan.cast.policies.len();
        let setting = Setting {
            key: plan.key(group),
            instrumentation: plan.study.instrumentation,
            user: plan.study.user,
        };
        let rollout = self
            .rollout
            .get_or_insert_with(|| Rollout::new(scenario, plugins(plan, group, 0), &setting));
        let mut rows: Vec<Option<Row>> = vec![None; policies];
        let work = run_group(
            rollout,
            scenario,
            &setting,
            policies,
            |policy| plugins(plan, group, policy),
            |policy, rollout, fork| {
                let fields = plan.fields(group, policy);
                rows[policy] = Some(row(rollout, &fields, Some(fork)));
            },
        );
        let rows = rows
            .into_iter()
            .map(|row| row.expect("a group runs every policy"));
        Outcomes {
            rows: rows.collect(),
            work,
        }
    }
}

fn plugins(plan: &Plan, group: Group, policy: usize) -> Plugins {
    let configuration = &plan.scenarios[group.scenario].configuration;
    let policy = &plan.cast.policies[policy];
    let model = &plan.cast.models[group.model];
    Plugins {
        policy: policy.make(),
        policy_hash: policy.hash.0,
        model: model.make(configuration),
        model_hash: model.profile_hash(configuration).0,
        parser: plan.cast.parser.clone(),
    }
}

/// The row of a rollout that has ended, run with these fields.
///
/// # Panics
/// When the rollout has not ended.
#[must_use]
pub fn row(rollout: &Rollout, fields: &RolloutFields<'_>, fork: Option<ForkPoint>) -> Row {
    let scenario = rollout.scenario();
    let outcome = rollout.outcome().expect("the rollout has ended");
    let trace = rollout.trace();
    let length =
        |length: usize| u32::try_from(length).expect("limits keep traces far below u32::MAX");
    let identity = Identity {
        schema: ROW_SCHEMA,
        rollout_id: fields.id(),
        scenario_id: fields.scenario.to_owned(),
        scenario_hash: fields.scenario_hash,
        family: scenario.family.to_string(),
        stage: scenario.stage,
        domain: scenario.domain,
        topology: scenario.topology.to_string(),
        memory: scenario.memory_mode().to_owned(),
        policy: fields.policy.to_owned(),
        policy_hash: fields.policy_hash,
        model: fields.model.to_owned(),
        profile_hash: fields.profile_hash,
        instrumentation: fields.instrumentation.name(),
        user: fields.user.name().to_owned(),
        study_seed: fields.study_seed,
        seed: fields.seed,
        provider_seed_status: KEYED.to_owned(),
        prestate_hash: Hash(rollout.prestate_hash()),
        fork_event: fork.map(|point| point.event),
        fork_hash: fork.map(|point| Hash(point.hash)),
        trace_digest: Hash(rollout.trace_digest()),
        outcome: names::outcome(outcome),
        failure: match outcome {
            Outcome::Errored(message) => Some(message.to_string()),
            Outcome::Completed | Outcome::LimitReached(_) => None,
        },
        events: rollout.executed_events(),
        nodes: length(trace.nodes.len()),
        edges: length(trace.edges.len()),
    };
    let metrics = measure(&Finished {
        scenario,
        trace,
        labels: rollout.labels(),
        instrumentation: fields.instrumentation,
        outcome,
    });
    Row { identity, metrics }
}

#[cfg(test)]
mod tests;
