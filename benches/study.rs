//! A study on one core: the whole path from a plan to rows, beside the engine alone, in one run.
//!
//! ```text
//! cargo bench --bench study                  # everything
//! cargo bench --bench study -- no_such_name  # only the table
//! ```
//!
//! The plan is every shipped world under five policies with a few seeds. *Whole* is what `containment
//! study` does between the plan and the result: engine, plugins, labels, trace and its digest, hashes
//! of states, metrics, rows as CSV, the journal. *Engine* runs the same groups with the same plugins,
//! forked where they part, and looks at nothing.
//!
//! The table takes its samples in turns and compares medians, so that a busy machine slows both sides
//! alike and the ratio stays what it is. One worker does all the work; the calling thread only writes
//! the journal.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock"
)]
#![expect(
    clippy::print_stdout,
    reason = "the table is the result of the program"
)]

use std::fs::{read_dir, read_to_string};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use containment_bench::{Bench, Scene};
use criterion::{Criterion, Throughput};
use engine::fork::{Work, run_group};
use engine::{Plugins, Rollout, Setting};
use study::folder::Folder;
use study::journal::Journal;
use study::manifest::Manifest;
use study::plan::{Group, Plan, PlannedScenario, file};
use study::runner::{Ended, run};
use tempfile::TempDir;

/// Seeds of each world.
const SEEDS: u32 = 8;
/// Samples of each side in the table.
const TURNS: usize = 21;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let mut subject = Subject::new();
    let Work { from_scratch, .. } = subject.engine();
    let rollouts = subject.plan.rollouts() as u64;
    for (unit, count) in [("rollouts", rollouts), ("events", from_scratch)] {
        let mut group = criterion.benchmark_group(unit);
        group.throughput(Throughput::Elements(count));
        group.bench_function("whole", |bencher| bencher.iter(|| subject.whole()));
        group.bench_function("engine", |bencher| bencher.iter(|| subject.engine()));
        group.finish();
    }
    criterion.final_summary();
    // As a test, each benchmark runs once; there is nothing to compare then.
    if !std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        print_table(&mut subject);
    }
}

/// The plan, and what both sides reuse.
struct Subject {
    plan: Plan,
    manifest: Manifest,
    folder: TempDir,
    rollout: Option<Rollout>,
}

impl Subject {
    fn new() -> Self {
        let plan = plan();
        Self {
            manifest: Manifest::freeze(&plan),
            plan,
            folder: TempDir::new().expect("a folder for the journal"),
            rollout: None,
        }
    }

    /// From the plan to the rows of a result.
    fn whole(&mut self) -> Work {
        let folder = Folder::open(self.folder.path()).expect("a folder of our own");
        let mut journal = Journal::begin(&folder, (&self.manifest).into()).expect("a new journal");
        let ended = run(
            &self.plan,
            NonZeroUsize::MIN,
            vec![None; self.plan.groups().len()],
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

    /// The same groups without anything that comes after a rollout.
    fn engine(&mut self) -> Work {
        let mut total = Work::default();
        for group in self.plan.groups() {
            let work = play(&self.plan, group, &mut self.rollout);
            total.executed += work.executed;
            total.from_scratch += work.from_scratch;
        }
        total
    }
}

fn play(plan: &Plan, group: Group, rollout: &mut Option<Rollout>) -> Work {
    let scenario = &plan.scenarios[group.scenario].scenario;
    let setting = Setting {
        key: plan.key(group),
        instrumentation: plan.study.instrumentation,
        user: plan.study.user,
    };
    let make = |policy: usize| plugins(plan, group, policy);
    let rollout = rollout.get_or_insert_with(|| Rollout::new(scenario, make(0), &setting));
    run_group(
        rollout,
        scenario,
        &setting,
        plan.cast.policies.len(),
        make,
        |_, rollout, _| {
            black_box(rollout.trace());
        },
    )
}

fn plugins(plan: &Plan, group: Group, policy: usize) -> Plugins {
    let policy = &plan.cast.policies[policy];
    let model = plan.part(group);
    Plugins {
        policy: policy.make(),
        policy_hash: policy.hash.0,
        model: model.prepared.make(),
        model_hash: model.profile_hash.0,
        parser: plan.cast.parser.clone(),
    }
}

/// Every shipped world of one file, under the policies of the shipped study.
fn plan() -> Plan {
    let worlds = Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds");
    let text = read_to_string(worlds.join("studies/demos.ron")).expect("the shipped study");
    let mut study = file::load(&text, "demos.ron").expect("a sound study");
    study.seeds = (1..=u64::from(SEEDS)).collect();
    let folders = ["demos", "topologies"].map(|folder| worlds.join(folder));
    let scenes = folders.iter().flat_map(|folder| scenes(folder));
    let planned = scenes.map(|scene| PlannedScenario {
        group: scene.scenario.identity.clone(),
        scenario: scene.scenario,
        configuration: scene.script,
    });
    Plan::new(study, planned.collect(), &Bench::built_in().registry).expect("a sound plan")
}

/// The worlds of a folder that have a script, by name.
fn scenes(folder: &Path) -> Vec<Scene> {
    let entries = read_dir(folder).expect("the shipped worlds");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.with_extension("script.ron").exists())
        .collect();
    paths.sort();
    let scene = |path: &std::path::PathBuf| {
        let world = read_to_string(path).expect("a shipped world");
        let script = read_to_string(path.with_extension("script.ron")).expect("its script");
        let identity = path.file_stem().expect("a file name").to_string_lossy();
        Scene::parse(&world, &script, &identity).expect("a shipped world has no mistakes")
    };
    paths.iter().map(scene).collect()
}

fn print_table(subject: &mut Subject) {
    let (mut whole, mut engine) = (Vec::new(), Vec::new());
    let mut work = Work::default();
    for _ in 0..TURNS {
        whole.push(timed(|| work = subject.whole()));
        engine.push(timed(|| work = subject.engine()));
    }
    let (whole, engine) = (median(whole), median(engine));
    let rollouts = subject.plan.rollouts() as u64;
    println!(
        "\n{rollouts} rollouts of {} worlds on one core: medians of {TURNS} studies, taken in turns.",
        subject.plan.scenarios.len()
    );
    println!(
        "{:<8} {:>10} {:>12} {:>12} {:>11}",
        "", "rollouts/s", "events/s", "ns/rollout", "of whole"
    );
    for (side, time) in [("whole", whole), ("engine", engine)] {
        let per_second = |count: u64| u128::from(count) * 1_000_000_000 / time.as_nanos().max(1);
        println!(
            "{side:<8} {:>10} {:>12} {:>12} {:>10}%",
            per_second(rollouts),
            per_second(work.from_scratch),
            time.as_nanos() / u128::from(rollouts),
            100 * time.as_nanos() / whole.as_nanos().max(1),
        );
    }
    println!(
        "events: those of the rollouts, {} each; {} in a hundred of them were executed, the rest \
         shared by the policies of a group.",
        work.from_scratch / rollouts,
        100 * work.executed / work.from_scratch,
    );
    print_readings(&subject.plan);
}

/// How often a completion had been read before, and how often it was read.
fn print_readings(plan: &Plan) {
    let (mut hits, mut misses) = (0, 0);
    let mut last = usize::MAX;
    for group in plan.groups() {
        // The seeds of a scenario share what was read.
        if group.scenario != last {
            let (hit, missed) = plan.part(group).readings.hits_and_misses();
            hits += hit;
            misses += missed;
            last = group.scenario;
        }
    }
    println!("completions: {hits} looked up, {misses} read, over all turns.");
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}
