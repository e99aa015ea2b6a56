//! What a decision costs under one policy written in every language, in one run.
//!
//! ```text
//! cargo bench --bench policies --features cedar,wasm
//! ```
//!
//! The calls are those of generated scenarios, each with the whole trace as its prefix. An instance is
//! made for each scenario, as for each rollout of a study; its first decision tells the policy of the
//! scenario and of the trace so far, the others only of what is new.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock"
)]
#![expect(
    clippy::print_stdout,
    reason = "the table is the result of the program"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use containment_bench::Bench;
use containment_bench::outside;
use plugins::conformance::generate::random_world;
use plugins::conformance::sample::World;
use plugins::draws::{Draws, RolloutKey};
use plugins::policy::Policy;

/// One policy in every language.
const POLICIES: [&str; 5] = [
    "recipient_guard",
    "rules:policies/recipient_guard/recipient_guard.rules.ron",
    "wasm:policies/recipient_guard/recipient_guard.wasm",
    "cedar:policies/recipient_guard/recipient_guard.cedar",
    "process:policies/recipient_guard/recipient_guard.py",
];

/// Scenarios, each with its calls.
const SCENARIOS: u64 = 200;

/// Times that all of them are gone through.
const TURNS: usize = 15;

/// How long decisions took.
#[derive(Default)]
struct Times {
    first: Vec<Duration>,
    later: Vec<Duration>,
}

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let is_test = std::env::args().any(|argument| argument == "--test");
    let worlds: Vec<World> = (0..SCENARIOS).map(random_world).collect();
    let turns = if is_test { 1 } else { TURNS };
    println!(
        "{:<24} {:>14} {:>14} {:>8}",
        "recipient_guard as", "first decision", "each later", "ratio"
    );
    let mut native = None;
    for named in POLICIES {
        let times = measured(named, &worlds, turns);
        let [first, later] = [times.first, times.later].map(median);
        let native = *native.get_or_insert(later);
        println!(
            "{:<24} {:>14} {:>14} {:>8.1}",
            named.split(':').next().unwrap_or(named),
            format!("{:.2} us", micros(first)),
            format!("{:.2} us", micros(later)),
            later.as_secs_f64() / native.as_secs_f64()
        );
    }
}

/// Goes through all calls under a policy.
fn measured(named: &str, worlds: &[World], turns: usize) -> Times {
    let mut bench = Bench::built_in();
    let reference = named.parse().expect("a reference");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let registered = outside::register(&mut bench.registry, &reference, root);
    let name = registered.expect("a shipped policy").name;
    let mut times = Times::default();
    for _ in 0..turns {
        for world in worlds {
            let begun = Instant::now();
            let mut policy = bench
                .policy(&name.as_str().into())
                .expect("made before")
                .policy;
            for (position, call) in world.trace.calls.iter().enumerate() {
                let begun = if position == 0 { begun } else { Instant::now() };
                decide(&mut *policy, world, call.id);
                let took = begun.elapsed();
                let times = if position == 0 {
                    &mut times.first
                } else {
                    &mut times.later
                };
                times.push(took);
            }
        }
    }
    times
}

fn decide(policy: &mut dyn Policy, world: &World, call: plugins::ids::CallId) {
    let mut draws = Draws::new(RolloutKey::default());
    let ruling = policy.on_proposal(&mut world.view(&mut draws), world.proposal(call));
    assert_ne!(ruling.reason.rule, plugins::fault::PLUGIN_FAULT);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
