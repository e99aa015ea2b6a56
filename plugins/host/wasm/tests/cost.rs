//! What a decision and an instance cost; prints. `cargo test --release -p wasm_host --test cost --
//! --ignored --nocapture`
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads the clock and talks to its reader"
)]

use std::time::{Duration, Instant};

use plugins::conformance::generate::random_world;
use plugins::conformance::sample::World;
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::CallId;
use plugins::loaded::LoadedPolicy;
use plugins::policy::Policy;
use wasm_host::{Limits, load};

const GUARD: &[u8] = include_bytes!("../../../../policies/recipient_guard/recipient_guard.wasm");

/// Reads every event and forgets it.
const READER: &str = r#"(module
  (memory (export "memory") 4)
  (data (i32.const 16) "stop")
  (func (export "cb_abi") (result i32) (i32.const 1))
  (func (export "cb_hooks") (result i32) (i32.const 16))
  (func (export "cb_rule") (param i32) (result i64)
    (select (i64.const 0x1000000004) (i64.const 0) (i32.eqz (local.get 0))))
  (func (export "cb_alloc") (param i32) (result i32) (i32.const 65536))
  (func (export "cb_reset") (param i32 i32))
  (func (export "cb_append") (param i32 i32))
  (func (export "cb_decide") (param i32 i32 i32) (result i64) (i64.const 0x0101)))"#;

/// The median of some repetitions of `work`, for each of `count` parts.
fn median(count: u32, mut work: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..21)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed() / count
        })
        .collect();
    times.sort();
    times[10]
}

/// A world with a call and `events` events.
fn world_of(events: usize) -> World {
    let mut world = random_world(4);
    let more = world.trace.events.clone();
    while world.trace.events.len() < events {
        world.trace.events.extend(more.iter().cloned());
    }
    world
}

fn ask(policy: &mut dyn Policy, world: &World) {
    let mut draws = Draws::new(RolloutKey::new(1, "cost".into(), 1));
    let view = &mut world.view(&mut draws);
    policy.on_proposal(view, world.proposal(CallId(0)));
}

fn print(what: &str, loaded: &LoadedPolicy, world: &World) {
    let events = world.trace.events.len();
    let first = median(200, || {
        for _ in 0..200 {
            ask(&mut *(loaded.make)(), world);
        }
    });
    let mut policy = (loaded.make)();
    let next = median(20_000, || {
        for _ in 0..20_000 {
            ask(&mut *policy, world);
        }
    });
    println!("{what}, {events} events: first question {first:?}, next {next:?}");
}

#[test]
#[ignore = "prints a measurement"]
fn cost() {
    let compile = median(1, || {
        load(GUARD, Limits::default()).unwrap();
    });
    println!("load: {compile:?}");
    let guard = load(GUARD, Limits::default()).unwrap();
    let reader = load(READER.as_bytes(), Limits::default()).unwrap();
    for events in [1, 256] {
        let world = world_of(events);
        print("recipient_guard", &guard, &world);
        print("reader of events", &reader, &world);
    }
    let endless = READER.replace("(i64.const 0x0101)", "(loop (br 0)) unreachable");
    let endless = load(endless.as_bytes(), Limits::default()).unwrap();
    let world = world_of(1);
    let loops = median(1, || ask(&mut *(endless.make)(), &world));
    println!("all fuel of a question: {loops:?}");
}
