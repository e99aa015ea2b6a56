//! How long a decision of a file takes.
//!
//! ```text
//! cargo run --release -p rules_host --example decision_time
//! ```
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use plugins::conformance::generate::random_world;
use plugins::conformance::sample::World;
use plugins::draws::{Draws, RolloutKey};
use plugins::policy::Policy;

/// Decisions that are timed together.
const DECISIONS: u32 = 2_000;
/// How often; the least time counts, because other programs can only make it longer.
const ROUNDS: u32 = 200;

/// Nanoseconds for one decision.
fn nanoseconds(mut decide: impl FnMut()) -> u128 {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a time is what is asked for, and nothing else depends on it"
    )]
    let mut round = || {
        let start = std::time::Instant::now();
        for _ in 0..DECISIONS {
            decide();
        }
        start.elapsed().as_nanos()
    };
    let least = (0..ROUNDS).map(|_| round()).min().unwrap_or_default();
    least / u128::from(DECISIONS)
}

/// What the policy takes for the last call of each world, on average over all of them.
fn time(policy: &mut dyn Policy, worlds: &[World]) -> u128 {
    let mut draws = Draws::new(RolloutKey::new(1, "time".into(), 0));
    let mut next = 0;
    nanoseconds(|| {
        let world = &worlds[next % worlds.len()];
        next += 1;
        let last = world.trace.calls.len() - 1;
        let view = &mut world.view(&mut draws);
        let proposal = world.proposal(plugins::ids::CallId::at(last));
        std::hint::black_box(policy.on_proposal(view, proposal));
    })
}

fn main() {
    let guard =
        include_str!("../../../../policies/recipient_guard/recipient_guard.rules.ron").to_owned();
    let approval =
        include_str!("../../../../policies/rules/two_step_approval.rules.ron").to_owned();
    let many: String = (0..100)
        .map(|number| {
            format!(
                "(rule: \"r{number}\", at: Proposal, when: [HighRisk, Tool(\"no_{number}\"), \
                 Argument(role: Recipient, is: EndsWith(\"@x\"))], then: Allow),"
            )
        })
        .collect();
    let many = format!("Rules(schema: 1, rules: [{many}])");

    let short: Vec<World> = (0..200).map(random_world).collect();
    let long: Vec<World> = short
        .iter()
        .take(20)
        .map(|world| {
            let mut world = world.clone();
            let events = world.trace.events.clone();
            while world.trace.events.len() < 1_000 {
                world.trace.events.extend(events.iter().cloned());
            }
            world
        })
        .collect();
    for (name, text) in [
        ("recipient_guard, 4 rules", guard),
        ("two_step_approval, 7 rules", approval),
        ("100 rules about tools", many),
    ] {
        let Ok(loaded) = rules_host::load(&text) else {
            continue;
        };
        let mut policy = (loaded.make)();
        let (short, long) = (time(&mut *policy, &short), time(&mut *policy, &long));
        println!("{name}: {short} ns after about 15 events, {long} ns after about 1000");
    }
}
