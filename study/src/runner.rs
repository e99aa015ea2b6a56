//! Running a plan: groups of rollouts spread over workers, rows in plan order.
//!
//! A group is one scenario, model and seed under every policy: its rollouts share what happens before
//! their policies part. One rollout is single-threaded, so the rows are the same for any number of
//! workers.

mod rows;

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam::channel::{self, Receiver, Sender};
use crossbeam::thread::Scope;
use engine::fork::{End, Work, run_sharing};
use engine::{Plugins, Rollout, Setting};

use crate::journal::{Segment, Segments};
use crate::latency::{Latencies, timed};
use crate::plan::{Group, Plan};
use crate::row::{Row, Shadowed, csv_header};
use rows::{Common, Course, Under};
pub use rows::{ShadowPolicy, row};

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
    /// The groups in plan order: by scenario, model and seed.
    pub segments: Vec<Segment>,
    /// How many of the rows were run now; the others were finished before.
    pub ran: usize,
    /// How much work those took.
    pub work: Work,
    /// How many threads did it.
    pub threads: usize,
    /// How long each of those rollouts took.
    pub latencies: Latencies,
}

impl Outcomes {
    /// The rows in plan order: by scenario, model, seed and policy.
    #[must_use]
    pub fn rows(&self) -> Vec<&Row> {
        let segments = self.segments.iter();
        segments.flat_map(|segment| &segment.rows).collect()
    }

    /// The text of `rows.csv`, in pieces.
    #[must_use]
    pub fn csv(&self) -> Vec<&[u8]> {
        let segments = self.segments.iter().map(|segment| &*segment.csv);
        std::iter::once(csv_header()).chain(segments).collect()
    }
}

/// Groups that may be finished and not yet seen by the calling thread, for each worker.
const WAITING: usize = 64;

/// How long the calling thread rests when it has seen every finished group. A worker that had to wake
/// it for every group would spend a tenth of its time on that.
const REST: Duration = Duration::from_millis(1);

/// Runs every rollout of `plan`, or of its shard, that is not in `segments` on `workers` threads.
/// `finished` is told of each group on the calling thread, a moment after it has finished; when it
/// breaks, or when `stop` is set, no further group is begun.
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
        let receiver = start(scope, &queue, workers, times)?;
        for done in &receiver {
            progress.done += done.segment.rows.len();
            work.executed += done.work.executed;
            work.from_scratch += done.work.from_scratch;
            let flow = finished(progress, &done.segment);
            segments[done.group] = Some(done.segment);
            if flow.is_break() {
                break;
            }
            if receiver.is_empty() {
                std::thread::sleep(REST);
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
        segments: segments.into_iter().flatten().collect(),
        ran,
        work,
        threads: 0,
        latencies: Latencies::default(),
    };
    for times in all_times {
        whole.threads += 1;
        whole.latencies.add(&times);
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
        let setting = setting(plan, group);
        let rollout = self
            .rollout
            .get_or_insert_with(|| Rollout::new(scenario, plugins(plan, group, 0), &setting));
        let policies = &plan.cast.policies;
        let shadow = plan.cast.shadow.as_ref().map(|policy| ShadowPolicy {
            name: policy.name.clone(),
            hash: policy.hash,
        });
        let ids = plan.ids_of(group);
        let mut rows: Vec<Option<Row>> = vec![None; policies.len()];
        let mut common = None;
        let work = run_sharing(
            rollout,
            scenario,
            &setting,
            policies.len(),
            |policy| plugins(plan, group, policy),
            |ends, rollout| {
                let common =
                    common.get_or_insert_with(|| Common::of(rollout, &plan.fields(group, 0)));
                let course = Course::of(rollout, setting.instrumentation);
                // They rule the same, so the shadow saw the same beside each of them.
                let shadowed = shadow
                    .as_ref()
                    .map_or_else(Shadowed::default, |shadow| shadow.seen(rollout));
                for &End { position, fork } in ends {
                    let policy = &policies[position];
                    let under = Under {
                        rollout_id: ids[position],
                        policy: policy.name.clone(),
                        policy_hash: policy.hash,
                        origin: policy.origin,
                        shadow: shadowed.clone(),
                        fork,
                    };
                    rows[position] = Some(under.row(common, &course));
                }
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

/// What is fixed for the rollouts of a group.
#[must_use]
pub fn setting(plan: &Plan, group: Group) -> Setting {
    Setting {
        key: plan.key(group),
        instrumentation: plan.study.instrumentation,
        user: plan.study.user,
    }
}

/// The plugins of the rollout of a group under the policy at this position.
#[must_use]
pub fn plugins(plan: &Plan, group: Group, policy: usize) -> Plugins {
    let model = plan.part(group);
    Plugins {
        policy: plan.cast.make(policy),
        policy_hash: plan.cast.policies[policy].hash.0,
        model: model.prepared.make(),
        model_hash: model.profile_hash.0,
        parser: Arc::clone(&model.readings) as _,
    }
}

#[cfg(test)]
mod tests;
