//! The main study on one core, beside its parts, in one run.
//!
//! ```text
//! cargo bench --bench study                  # everything
//! cargo bench --bench study -- no_such_name  # only the table
//! ```
//!
//! The plan is that of `containment study`: 17,640 rollouts. *Whole* is everything between the plan and
//! the result: rollouts, labels, traces and their digests, metrics, rows as CSV, the journal on disk.
//! *Measured* stops at the numbers: rollouts with labels, traces and their digests, and every metric.
//! *Engine* runs the same groups with the same plugins, forked where they part, and looks at nothing.
//!
//! The build is another than that of the program: `[profile.bench]` in Cargo.toml optimises over all
//! crates at once, which makes a study about a tenth faster.
//!
//! Each sample begins with a plan of its own, so that every completion is read anew; making it is not
//! measured. The table takes its samples in turns and compares medians, so that a busy machine slows
//! all sides alike and the ratio stays what it is. One worker does all the work; the calling thread only
//! writes the journal.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock"
)]
#![expect(
    clippy::print_stdout,
    reason = "the table is the result of the program"
)]

mod support;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput};
use engine::fork::{Work, run_sharing};
use engine::{Plugins, Rollout, Setting};
use study::folder::Folder;
use study::journal::Journal;
use study::manifest::Manifest;
use study::metrics::{Finished, measure};
use study::plan::{Group, Plan};
use study::runner::{Ended, run};
use support::Subject;
use tempfile::TempDir;

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Samples of each side in the table.
const TURNS: usize = 21;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let subject = Subject::new();
    let plan = subject.plan();
    let rollouts = plan.rollouts() as u64;
    let Work { from_scratch, .. } = engine(&plan);
    for (unit, count) in [("rollouts", rollouts), ("events", from_scratch)] {
        let mut group = criterion.benchmark_group(unit);
        group.throughput(Throughput::Elements(count));
        for (name, side) in SIDES {
            let run = |plan: Plan| side(&plan);
            group.bench_function(name, |bencher| {
                bencher.iter_batched(|| subject.plan(), run, BatchSize::PerIteration);
            });
        }
        group.finish();
    }
    criterion.final_summary();
    // As a test, each benchmark runs once; there is nothing to compare then.
    if !std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        print_table(&subject);
    }
}

/// Something that is done with a plan.
type Side = fn(&Plan) -> Work;

/// What is compared, the first with all others.
const SIDES: [(&str, Side); 3] = [("whole", whole), ("measured", measured), ("engine", engine)];

/// From the plan to the rows of a result.
fn whole(plan: &Plan) -> Work {
    let folder = TempDir::new().expect("a folder for the journal");
    let folder = Folder::open(folder.path()).expect("a folder of our own");
    let manifest = Manifest::freeze(plan);
    let mut journal = Journal::begin(&folder, (&manifest).into()).expect("a new journal");
    let ended = run(
        plan,
        NonZeroUsize::MIN,
        vec![None; plan.groups().len()],
        &AtomicBool::new(false),
        |_, segment| {
            journal.append(segment).expect("room for the journal");
            ControlFlow::Continue(())
        },
    );
    journal.remove(&folder).expect("a journal of our own");
    match black_box(ended).expect("a thread") {
        Ended::Whole(outcomes) => outcomes.work,
        Ended::Stopped(_) => unreachable!("nobody stops it"),
    }
}

/// The numbers of every rollout, and no rows.
fn measured(plan: &Plan) -> Work {
    play(plan, |rollout| {
        let finished = Finished {
            scenario: rollout.scenario(),
            trace: rollout.trace(),
            labels: rollout.labels(),
            instrumentation: plan.study.instrumentation,
            outcome: rollout.outcome().expect("it has ended"),
        };
        black_box((rollout.trace_digest(), measure(&finished)));
    })
}

/// The rollouts, and nothing that comes after.
fn engine(plan: &Plan) -> Work {
    play(plan, |rollout| {
        black_box(rollout.trace());
    })
}

/// Runs every group, and hands over each rollout as it ends; one that is the same under several
/// policies once.
fn play(plan: &Plan, mut ended: impl FnMut(&Rollout)) -> Work {
    let mut total = Work::default();
    let mut pooled = None;
    for group in plan.groups() {
        let work = play_group(plan, group, &mut pooled, &mut ended);
        total.executed += work.executed;
        total.from_scratch += work.from_scratch;
    }
    total
}

fn play_group(
    plan: &Plan,
    group: Group,
    pooled: &mut Option<Rollout>,
    ended: &mut impl FnMut(&Rollout),
) -> Work {
    let scenario = &plan.scenarios[group.scenario].scenario;
    let setting = Setting {
        key: plan.key(group),
        instrumentation: plan.study.instrumentation,
        user: plan.study.user,
    };
    let make = |policy: usize| plugins(plan, group, policy);
    let rollout = pooled.get_or_insert_with(|| Rollout::new(scenario, make(0), &setting));
    let policies = plan.cast.policies.len();
    run_sharing(rollout, scenario, &setting, policies, make, |_, rollout| {
        ended(rollout);
    })
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

fn print_table(subject: &Subject) {
    let mut times = SIDES.map(|_| Vec::new());
    let mut work = Work::default();
    let mut readings = (0, 0);
    for _ in 0..TURNS {
        for ((_, side), times) in SIDES.iter().zip(&mut times) {
            let plan = subject.plan();
            times.push(timed(|| work = side(&plan)));
            readings = plan.readings.hits_and_misses();
        }
    }
    for times in &mut times {
        times.sort();
    }
    let rollouts = subject.plan().rollouts() as u64;
    println!(
        "\nThe main study, {rollouts} rollouts, on one core: medians of {TURNS} studies, taken in turns, and \
         the fastest of them, which was disturbed least."
    );
    println!(
        "{:<9} {:>10} {:>12} {:>12} {:>9} {:>22}",
        "", "rollouts/s", "events/s", "ns/rollout", "of whole", "fastest, rollouts/s"
    );
    let median = |side: usize| times[side][TURNS / 2];
    for (index, (side, _)) in SIDES.iter().enumerate() {
        let time = median(index);
        println!(
            "{side:<9} {:>10} {:>12} {:>12} {:>8}% {:>22}",
            per_second(rollouts, time),
            per_second(work.from_scratch, time),
            time.as_nanos() / u128::from(rollouts),
            100 * time.as_nanos() / median(0).as_nanos().max(1),
            per_second(rollouts, times[index][0]),
        );
    }
    println!(
        "events: those of the rollouts, {} each; {} in a hundred of them were executed, the rest \
         shared by the policies of a group.",
        work.from_scratch / rollouts,
        100 * work.executed / work.from_scratch,
    );
    let (hits, misses) = readings;
    println!("completions of one study: {hits} looked up, {misses} read.");
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn per_second(count: u64, time: Duration) -> u128 {
    u128::from(count) * 1_000_000_000 / time.as_nanos().max(1)
}
