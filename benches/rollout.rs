//! One rollout: the engine beside the oracle's interpreter, in one run.
//!
//! ```text
//! cargo bench --bench rollout                  # everything
//! cargo bench --bench rollout -- no_such_name  # only the table
//! ```
//!
//! Both play the same rollout of the same world, under the same policy, model and parser, in state
//! that is reused from rollout to rollout, and both record a trace with labels and do nothing else:
//! no JSON, no digest, no metric. Plugins are made before the clock starts; whoever plays drops
//! them. The oracle is a straight-line interpreter without entities, systems or snapshots: a floor.
//!
//! First the criterion groups, then a table. The table takes its samples in turns, a short batch of
//! the engine, a short batch of the oracle, and compares medians, so that a busy machine slows both
//! alike and the ratio stays what it is.
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
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use containment_bench::{Bench, Scene};
use criterion::{BenchmarkId, Criterion, Throughput};
use engine::fork::{Work, run_group};
use engine::{Plugins, Rollout, Setting, Snapshot};
use oracle::interpreter::Interpreter;
use plugins::action::ActionParser;
use plugins::model::PreparedModel;
use plugins::parameters::Parameters;
use plugins::policy::Policy;
use plugins::registry::Factory;

/// The policies of the table: none, and the one that looks at most.
const POLICIES: [&str; 2] = ["none", "intent_ledger_v2"];
/// The policies of a forked group.
const GROUP: [&str; 5] = [
    "none",
    "tool_boundary",
    "taint_only_v1",
    "intent_ledger_v2",
    "rollback_v2",
];
/// The shipped world whose trace is nearest to the 23 nodes of the first prototypes.
const REFERENCE: &str = "four_channels";
/// What a rollout of about 23 nodes took the fastest of the first prototypes.
const PROTOTYPE: &str = "the flat-array prototype took 2.0 us for 23.4 nodes, on another day and with another machine load";
/// How long a batch takes the engine: well below the time slice of a busy machine, so that the
/// median batch is one that ran without a break.
const BATCH: Duration = Duration::from_micros(200);
/// Most rollouts in one batch: as many as have their plugins in the cache.
const BATCH_MAX: usize = 32;
/// Batches of each side in the table.
const TURNS: usize = 601;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    let scenes = shipped();
    one_rollout(&mut criterion, &scenes);
    snapshots(&mut criterion, &scenes);
    forks(&mut criterion, &scenes);
    criterion.final_summary();
    // As a test, each benchmark runs once; there is nothing to compare then.
    if !std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        print_table(&scenes);
    }
}

/// Every shipped world: the case studies, then the topologies.
fn shipped() -> Vec<Scene> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in ["worlds/demos", "worlds/topologies"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = read_dir(folder).expect("the shipped worlds");
        paths.extend(entries.map(|entry| entry.expect("a readable folder").path()));
    }
    paths.retain(|path| path.with_extension("script.ron").exists());
    paths.sort();
    paths.iter().map(|path| scene(path)).collect()
}

fn scene(path: &Path) -> Scene {
    let world = read_to_string(path).expect("a shipped world");
    let script = read_to_string(path.with_extension("script.ron")).expect("the script beside it");
    let identity = path.file_stem().expect("a file name").to_string_lossy();
    Scene::parse(&world, &script, &identity).expect("a shipped world has no mistakes")
}

/// The shipped worlds that are case studies or the reference.
fn measured(scenes: &[Scene]) -> impl Iterator<Item = &Scene> {
    scenes
        .iter()
        .filter(|scene| name(scene).starts_with("case") || name(scene) == REFERENCE)
}

fn name(scene: &Scene) -> &str {
    &scene.scenario.identity
}

/// Makes the plugins of one rollout.
struct Maker {
    policy: Factory<Box<dyn Policy>>,
    parameters: Parameters,
    policy_hash: u128,
    model: Arc<dyn PreparedModel>,
    model_hash: u128,
    parser: Arc<dyn ActionParser>,
}

impl Maker {
    fn new(scene: &Scene, policy: &str) -> Self {
        let bench = Bench::built_in();
        let made = bench
            .plugins(scene, &policy.into(), &"scripted".into())
            .expect("built-in plugins");
        let models = &bench.registry.models;
        let (_, prepare) = models.find("scripted").expect("a built-in model");
        let policies = &bench.registry.policies;
        let (parameters, policy_hash) = policies
            .resolve(policy, &std::collections::BTreeMap::new())
            .expect("defaults for every parameter");
        let (_, factory) = policies.find(policy).expect("a built-in policy");
        Self {
            policy: Arc::clone(factory),
            parameters,
            policy_hash,
            model: prepare(&Parameters::default(), &scene.script).expect("read before"),
            model_hash: made.model_hash,
            parser: made.parser,
        }
    }

    fn make(&self) -> Plugins {
        Plugins {
            policy: (self.policy)(&self.parameters).expect("checked parameters"),
            policy_hash: self.policy_hash,
            model: self.model.make(),
            model_hash: self.model_hash,
            parser: Arc::clone(&self.parser),
        }
    }

    fn batch(&self, rollouts: usize) -> Vec<Plugins> {
        (0..rollouts).map(|_| self.make()).collect()
    }
}

/// The same rollout on both sides.
struct Pair<'a> {
    scene: &'a Scene,
    maker: Maker,
    setting: Setting,
    rollout: Rollout,
    interpreter: Interpreter,
    oracle_setting: oracle::interpreter::Setting,
}

impl<'a> Pair<'a> {
    fn new(scene: &'a Scene, policy: &str) -> Self {
        let maker = Maker::new(scene, policy);
        let setting = containment_bench::bench::setting(scene, 1);
        let oracle_setting = oracle::interpreter::Setting {
            key: setting.key.clone(),
            instrumentation: setting.instrumentation,
            user: setting.user,
        };
        let mut pair = Self {
            rollout: Rollout::new(&scene.scenario, maker.make(), &setting),
            interpreter: Interpreter::default(),
            scene,
            maker,
            setting,
            oracle_setting,
        };
        pair.engine(pair.maker.batch(1));
        pair.oracle(pair.maker.batch(1));
        let (left, right) = (pair.rollout.trace(), &pair.interpreter.history().trace);
        let lengths = |trace: &plugins::trace::Trace| {
            (trace.nodes.len(), trace.edges.len(), trace.events.len())
        };
        assert_eq!(lengths(left), lengths(right), "both play the same rollout");
        pair
    }

    /// Plays one rollout per set of plugins in the engine.
    fn engine(&mut self, batch: Vec<Plugins>) -> Duration {
        let start = Instant::now();
        for plugins in batch {
            self.rollout
                .restart(&self.scene.scenario, plugins, &self.setting);
            black_box(self.rollout.run());
        }
        start.elapsed()
    }

    /// Plays one rollout per set of plugins in the oracle.
    fn oracle(&mut self, batch: Vec<Plugins>) -> Duration {
        let start = Instant::now();
        for mut plugins in batch {
            black_box(self.interpreter.run(
                &self.scene.scenario,
                plugins.policy.as_mut(),
                plugins.model.as_mut(),
                plugins.parser.as_ref(),
                &self.oracle_setting,
            ));
        }
        start.elapsed()
    }

    /// How many rollouts make a batch.
    fn batch_size(&mut self) -> usize {
        let fastest = (0..20).map(|_| self.engine(self.maker.batch(1))).min();
        let fits = BATCH.as_nanos() / fastest.map_or(1, |time| time.as_nanos().max(1));
        usize::try_from(fits).map_or(BATCH_MAX, |fits| fits.clamp(1, BATCH_MAX))
    }

    /// Plays `rollouts` rollouts in batches.
    fn many(&mut self, rollouts: u64, play: fn(&mut Self, Vec<Plugins>) -> Duration) -> Duration {
        let mut left = usize::try_from(rollouts).expect("criterion asks for far fewer");
        let mut total = Duration::ZERO;
        while left > 0 {
            let size = left.min(BATCH_MAX);
            total += play(self, self.maker.batch(size));
            left -= size;
        }
        total
    }
}

/// One rollout on both sides; criterion compares each with its own last run.
fn one_rollout(criterion: &mut Criterion, scenes: &[Scene]) {
    let mut group = criterion.benchmark_group("rollout");
    for scene in measured(scenes) {
        let mut pair = Pair::new(scene, "intent_ledger_v2");
        group.throughput(Throughput::Elements(pair.rollout.executed_events()));
        group.bench_function(BenchmarkId::new("engine", name(scene)), |bencher| {
            bencher.iter_custom(|rollouts| pair.many(rollouts, Pair::engine));
        });
        group.bench_function(BenchmarkId::new("oracle", name(scene)), |bencher| {
            bencher.iter_custom(|rollouts| pair.many(rollouts, Pair::oracle));
        });
    }
    group.finish();
}

/// A rollout of the reference world, half-way through.
fn half_way(scene: &Scene) -> Rollout {
    let maker = Maker::new(scene, "intent_ledger_v2");
    let setting = containment_bench::bench::setting(scene, 1);
    let mut rollout = Rollout::new(&scene.scenario, maker.make(), &setting);
    rollout.run();
    let half = rollout.executed_events() / 2;
    rollout.restart(&scene.scenario, maker.make(), &setting);
    for _ in 0..half {
        rollout.step().expect("half of the events");
    }
    rollout
}

fn reference(scenes: &[Scene]) -> &Scene {
    let mut scenes = scenes.iter();
    scenes
        .find(|scene| name(scene) == REFERENCE)
        .expect("the reference world is shipped")
}

/// Snapshots of the reference world half-way through a rollout.
fn snapshots(criterion: &mut Criterion, scenes: &[Scene]) {
    let mut rollout = half_way(reference(scenes));
    let snapshot = rollout.snapshot();
    let bytes = snapshot.to_bytes();
    let mut group = criterion.benchmark_group("snapshot");
    group.bench_function("capture", |bencher| bencher.iter(|| rollout.snapshot()));
    group.bench_function("restore", |bencher| {
        bencher.iter(|| rollout.restore(black_box(&snapshot)));
    });
    group.bench_function("hash", |bencher| {
        bencher.iter(|| snapshot.policy_free_hash());
    });
    group.bench_function("to_bytes", |bencher| bencher.iter(|| snapshot.to_bytes()));
    group.bench_function("from_bytes", |bencher| {
        bencher.iter(|| Snapshot::from_bytes(black_box(&bytes)));
    });
    group.finish();
}

/// All policies on one world: forked where they part, or each from scratch.
struct Group<'a> {
    scene: &'a Scene,
    makers: Vec<Maker>,
    setting: Setting,
    rollout: Rollout,
}

impl<'a> Group<'a> {
    fn new(scene: &'a Scene) -> Self {
        let makers: Vec<Maker> = GROUP
            .iter()
            .map(|policy| Maker::new(scene, policy))
            .collect();
        let setting = containment_bench::bench::setting(scene, 1);
        let rollout = Rollout::new(&scene.scenario, makers[0].make(), &setting);
        Self {
            scene,
            makers,
            setting,
            rollout,
        }
    }

    fn forked(&mut self) -> Work {
        run_group(
            &mut self.rollout,
            &self.scene.scenario,
            &self.setting,
            self.makers.len(),
            |index| self.makers[index].make(),
            |_, rollout, _| {
                black_box(rollout.trace());
            },
        )
    }

    fn run_from_scratch(&mut self) {
        for maker in &self.makers {
            self.rollout
                .restart(&self.scene.scenario, maker.make(), &self.setting);
            black_box(self.rollout.run());
        }
    }
}

/// A group of policies, forked and from scratch.
fn forks(criterion: &mut Criterion, scenes: &[Scene]) {
    let mut group = criterion.benchmark_group("five_policies");
    for scene in measured(scenes) {
        let mut policies = Group::new(scene);
        group.bench_function(BenchmarkId::new("forked", name(scene)), |bencher| {
            bencher.iter(|| policies.forked());
        });
        group.bench_function(BenchmarkId::new("from_scratch", name(scene)), |bencher| {
            bencher.iter(|| policies.run_from_scratch());
        });
    }
    group.finish();
}

/// Samples of the two sides, taken in turns.
#[derive(Default)]
struct Samples {
    left: Vec<Duration>,
    right: Vec<Duration>,
}

impl Samples {
    fn take<T>(
        subject: &mut T,
        left: impl Fn(&mut T) -> Duration,
        right: impl Fn(&mut T) -> Duration,
    ) -> Self {
        let mut samples = Self::default();
        for turn in 0..TURNS {
            // Neither side always goes first.
            if turn % 2 == 0 {
                samples.left.push(left(subject));
                samples.right.push(right(subject));
            } else {
                samples.right.push(right(subject));
                samples.left.push(left(subject));
            }
        }
        samples
    }

    /// Medians in nanoseconds per `each`, and their ratio in hundredths.
    fn medians(mut self, each: u128) -> (u128, u128, u128) {
        let median = |samples: &mut Vec<Duration>| {
            samples.sort();
            samples[samples.len() / 2].as_nanos()
        };
        let (left, right) = (median(&mut self.left), median(&mut self.right));
        (left / each, right / each, 100 * left / right.max(1))
    }
}

fn print_table(scenes: &[Scene]) {
    println!("\nOne rollout in nanoseconds: medians of {TURNS} short batches, taken in turns.");
    println!(
        "{:<38} {:<16} {:>7} {:>7} {:>5}  {:>5} {:>5} {:>6} {:>6}  {:>8}",
        "world",
        "policy",
        "engine",
        "oracle",
        "ratio",
        "nodes",
        "edges",
        "agenda",
        "events",
        "ns/event"
    );
    for scene in scenes {
        for policy in POLICIES {
            print_row(scene, policy);
        }
    }
    println!(
        "nodes, edges, events: of the trace; agenda: events executed, by which ns/event divides."
    );
    println!("*: the reference workload. {PROTOTYPE}.");
    println!(
        "\nFive policies on one world in nanoseconds, forked where they part and from scratch."
    );
    println!(
        "{:<38} {:>8} {:>8} {:>5}  {:>8} {:>8}",
        "world", "forked", "scratch", "ratio", "executed", "of"
    );
    for scene in measured(scenes) {
        print_fork_row(scene);
    }
}

fn title(scene: &Scene) -> String {
    let mark = if name(scene) == REFERENCE { " *" } else { "" };
    format!("{}{mark}", name(scene))
}

fn print_row(scene: &Scene, policy: &str) {
    let mut pair = Pair::new(scene, policy);
    let size = pair.batch_size();
    let samples = Samples::take(
        &mut pair,
        |pair| pair.engine(pair.maker.batch(size)),
        |pair| pair.oracle(pair.maker.batch(size)),
    );
    let (engine, oracle, ratio) = samples.medians(size as u128);
    let trace = pair.rollout.trace();
    let agenda = pair.rollout.executed_events();
    println!(
        "{:<38} {policy:<16} {engine:>7} {oracle:>7} {:>2}.{:02}  {:>5} {:>5} {agenda:>6} {:>6}  {:>8}",
        title(scene),
        ratio / 100,
        ratio % 100,
        trace.nodes.len(),
        trace.edges.len(),
        trace.events.len(),
        engine / u128::from(agenda),
    );
}

fn print_fork_row(scene: &Scene) {
    let mut group = Group::new(scene);
    let Work {
        executed,
        from_scratch,
    } = group.forked();
    let samples = Samples::take(
        &mut group,
        |group| timed(|| group.forked()),
        |group| timed(|| group.run_from_scratch()),
    );
    let (forked, scratch, ratio) = samples.medians(1);
    println!(
        "{:<38} {forked:>8} {scratch:>8} {:>2}.{:02}  {executed:>8} {from_scratch:>8}",
        title(scene),
        ratio / 100,
        ratio % 100
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}
