//! Running a plan: groups of rollouts spread over workers, rows in plan order.
//!
//! A group is one scenario, model and seed under every policy: its rollouts share what happens before
//! their policies part. One rollout is single-threaded, so the rows are the same for any number of
//! workers.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam::channel::{self, Receiver, Sender};
use crossbeam::thread::Scope;
use engine::export::names;
use engine::fork::{End, ForkPoint, Work, run_sharing};
use engine::{Plugins, Rollout, Setting};
use plugins::draws::Stratum;
use plugins::trace::Outcome;

use crate::columns::Hash;
use crate::journal::{Segment, Segments};
use crate::latency::{Latencies, timed};
use crate::metrics::{Finished, measure};
use crate::plan::{Group, Plan};
use crate::rollout_id::RolloutFields;
use crate::row::{Identity, ROW_SCHEMA, Row, csv_header};

/// How far a study is, in rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Finished.
    pub done: usize,
    /// Of how many.
    pub total: usize,
}

/// How a study ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// All of it was run.
    Whole(Outcomes),
    /// It was told to stop before.
    Stopped(Progress),
}

/// What a study gave.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// The rows in plan order: by scenario, model, seed and policy.
    pub rows: Vec<Row>,
    /// The same as the text of `rows.csv`.
    pub csv: Vec<u8>,
    /// How many of the rows were run now; the others were finished before.
    pub ran: usize,
    /// How much work those took.
    pub work: Work,
    /// How many threads did it.
    pub threads: usize,
    /// How long each of those rollouts took.
    pub latencies: Latencies,
}

/// What the provider of a simulated model does with the seed.
pub const KEYED: &str = "keyed";

/// Groups that may be finished and not yet seen by the calling thread, for each worker.
const WAITING: usize = 16;

/// Runs every rollout of `plan`, or of its shard, that is not in `segments` on `workers` threads. `finished` is told of
/// each group on the calling thread; when it breaks, or when `stop` is set, no further group is
/// begun.
///
/// # Errors
/// When the system starts no thread at all; if it starts fewer than `workers`, those do the work.
///
/// # Panics
/// When a rollout panics, which is a bug.
pub fn run(
    plan: &Plan,
    workers: NonZeroUsize,
    mut segments: Segments,
    stop: &AtomicBool,
    mut finished: impl FnMut(Progress, &Segment) -> ControlFlow<()>,
) -> io::Result<Ended> {
    let is_missing = |group: &Group| segments[group.index].is_none();
    let queue = Queue {
        plan,
        groups: plan.own_groups().filter(is_missing).collect(),
        next: AtomicUsize::new(0),
        stop,
    };
    let total = plan.own_rollouts();
    let ran = queue.groups.len() * plan.cast.policies.len();
    let done = total - ran;
    let mut progress = Progress { done, total };
    let mut work = Work::default();
    let (times, all_times) = channel::unbounded();
    let scope = crossbeam::thread::scope(|scope| -> io::Result<()> {
        for done in start(scope, &queue, workers, times)? {
            progress.done += done.segment.rows.len();
            work.executed += done.work.executed;
            work.from_scratch += done.work.from_scratch;
            let flow = finished(progress, &done.segment);
            segments[done.group] = Some(done.segment);
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    });
    match scope {
        Ok(started) => started?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    if progress.done < total {
        return Ok(Ended::Stopped(progress));
    }
    let mut whole = Outcomes {
        rows: Vec::with_capacity(total),
        csv: csv_header(),
        ran,
        work,
        threads: 0,
        latencies: Latencies::default(),
    };
    for times in all_times {
        whole.threads += 1;
        whole.latencies.add(&times);
    }
    for segment in segments.into_iter().flatten() {
        whole.rows.extend(segment.rows);
        whole.csv.extend(segment.csv);
    }
    Ok(Ended::Whole(whole))
}

/// The groups that are still to run.
struct Queue<'p> {
    plan: &'p Plan,
    groups: Vec<Group>,
    next: AtomicUsize,
    stop: &'p AtomicBool,
}

/// A finished group.
struct Done {
    /// Its position in the plan.
    group: usize,
    segment: Segment,
    work: Work,
}

/// Starts the workers. What they finish arrives at the receiver, how long it took goes to `times`
/// as each of them ends.
fn start<'q>(
    scope: &Scope<'q>,
    queue: &'q Queue<'q>,
    workers: NonZeroUsize,
    times: Sender<Latencies>,
) -> io::Result<Receiver<Done>> {
    let workers = workers.get().min(queue.groups.len());
    let (sender, receiver) = channel::bounded(WAITING * workers);
    for started in 0..workers {
        let (sender, times) = (sender.clone(), times.clone());
        let worker = scope.builder().spawn(move |_| {
            // Nobody waits for the times of a study that is stopped.
            drop(times.send(queue.work_off(&sender)));
        });
        match worker {
            Err(error) if started == 0 => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(receiver)
}

impl Queue<'_> {
    /// One worker: runs the next group until there is none, or nobody wants more. Gives back how
    /// long its rollouts took.
    fn work_off(&self, sender: &Sender<Done>) -> Latencies {
        let mut worker = Worker::default();
        let mut latencies = Latencies::default();
        while !self.stop.load(Ordering::Relaxed) {
            let Some(group) = self.groups.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let (done, took) = timed(|| worker.run(self.plan, *group));
            latencies.record(took, done.segment.rows.len());
            if sender.send(done).is_err() {
                break;
            }
        }
        latencies
    }
}

/// One thread's pooled rollout, made with its first group.
#[derive(Default)]
struct Worker {
    rollout: Option<Rollout>,
}

impl Worker {
    fn run(&mut self, plan: &Plan, group: Group) -> Done {
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
        let work = run_sharing(
            rollout,
            scenario,
            &setting,
            policies,
            |policy| plugins(plan, group, policy),
            |ends, rollout| {
                let (first, others) = ends.split_first().expect("somebody's rollout");
                let fields = |end: &End| plan.fields(group, end.position);
                let measured = row(rollout, &fields(first), first.fork);
                for end in others {
                    let row = under_another(&measured, &fields(end), end.fork);
                    rows[end.position] = Some(row);
                }
                rows[first.position] = Some(measured);
            },
        );
        let rows = rows
            .into_iter()
            .map(|row| row.expect("a group runs every policy"));
        Done {
            group: group.index,
            segment: Segment::new(rows.collect()),
            work,
        }
    }
}

fn plugins(plan: &Plan, group: Group, policy: usize) -> Plugins {
    let policy = &plan.cast.policies[policy];
    let model = plan.part(group);
    Plugins {
        policy: policy.make(),
        policy_hash: policy.hash.0,
        model: model.prepared.make(),
        model_hash: model.profile_hash.0,
        parser: Arc::clone(&model.readings) as _,
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
        stratum: fields.stratum.map(Stratum::to_string),
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

/// The row of the same rollout under another policy: what it says of trace and scenario is the same.
fn under_another(row: &Row, fields: &RolloutFields<'_>, fork: Option<ForkPoint>) -> Row {
    let identity = Identity {
        rollout_id: fields.id(),
        policy: fields.policy.to_owned(),
        policy_hash: fields.policy_hash,
        fork_event: fork.map(|point| point.event),
        fork_hash: fork.map(|point| Hash(point.hash)),
        ..row.identity.clone()
    };
    Row {
        identity,
        metrics: row.metrics.clone(),
    }
}

#[cfg(test)]
mod tests;
