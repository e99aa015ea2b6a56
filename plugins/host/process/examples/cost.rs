//! What a question costs: loads `policies/recipient_guard/recipient_guard.py`, asks it about the
//! calls of generated scenarios, and prints the time of a question, of a rollout and of a start;
//! then the same with the answers recorded, and played.
//!
//! ```text
//! cargo run --release -p process_host --example cost
//! ```
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it measures"
)]

use std::path::Path;
use std::time::Instant;

use plugins::conformance::generate::random_world;
use plugins::draws::{Draws, RolloutKey};
use plugins::loaded::LoadedPolicy;
use process_host::Decisions;

const ROLLOUTS: u64 = 2_000;

fn main() {
    println!(
        "confinement on this machine: {:?}",
        process_host::confinement()
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let path = root.join("policies/recipient_guard/recipient_guard.py");
    let begun = Instant::now();
    let loaded = match process_host::load(&path) {
        Ok(loaded) => loaded,
        Err(mistakes) => {
            println!("{mistakes:?}");
            return;
        }
    };
    println!("start and hello: {:?}", begun.elapsed());
    measure("asked", &loaded);
    let decisions = Decisions::recording();
    let recorded = process_host::load_with(&path, Some(decisions.clone()));
    measure(
        "asked and recorded",
        &recorded.expect("it was loaded before"),
    );
    let text = decisions.text();
    println!("{} answers in {} bytes", decisions.count(), text.len());
    let begun = Instant::now();
    let decisions = Decisions::read(&text).expect("it was just written");
    println!("read: {:?}", begun.elapsed());
    let played = process_host::load_with(&path, Some(decisions));
    measure("played", &played.expect("it is of the same file"));
}

fn measure(how: &str, loaded: &LoadedPolicy) {
    let begun = Instant::now();
    let mut questions = 0;
    let mut times = Vec::new();
    for seed in 0..ROLLOUTS {
        let world = random_world(seed % 50);
        let mut policy = (loaded.make)();
        for (position, call) in world.trace.calls.iter().enumerate() {
            let mut draws = Draws::new(RolloutKey::new(1, "cost".into(), seed));
            let view = &mut world.view_of(world.prefix_of(world.trace.events.len()), &mut draws);
            let asked = Instant::now();
            let ruling = policy.on_proposal(view, world.proposal(call.id));
            if position > 0 {
                times.push(asked.elapsed());
            }
            assert_ne!(ruling.reason.rule, plugins::fault::PLUGIN_FAULT);
            questions += 1;
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{how}: {questions} questions in {ROLLOUTS} rollouts: {:?}",
        begun.elapsed()
    );
    println!(
        "{how}: a question after the first: median {:?}, 99 % below {:?}",
        at(50),
        at(99)
    );
}
