mod every_hook;
mod facts;
mod hostile;
mod labels;
mod measured;
mod mistakes;
mod naive;
mod shipped;
mod twin;
mod vocabulary;

use plugins::conformance::sample::World;
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::CallId;
use plugins::policy::{Policy, ProposalVerdict, Ruling};
use plugins::trace::{Happening, Prefix};

/// The policy of a text that has no mistakes.
fn policy(text: &str) -> Box<dyn Policy> {
    match crate::load(text) {
        Ok(loaded) => (loaded.make)(),
        Err(mistakes) => panic!("{mistakes:#?}"),
    }
}

/// A file with these rules.
fn file(rules: &str) -> String {
    format!("Rules(schema: 1, rules: [{rules}])")
}

fn draws() -> Draws {
    Draws::new(RolloutKey::new(1, "rules".into(), 0))
}

/// The trace when `call` was just proposed.
fn proposed(world: &World, call: CallId) -> Prefix<'_> {
    let mut events = world.trace.events.iter();
    let is_it = |what: &Happening| matches!(what, Happening::Proposed { call: id } if *id == call);
    let last = events.position(|event| is_it(&event.what));
    world.prefix_of(last.map_or(0, |last| last + 1))
}

/// What a policy says of a call when it was just proposed.
fn ask(policy: &mut dyn Policy, world: &World, call: CallId) -> Ruling<ProposalVerdict> {
    let mut draws = draws();
    let view = &mut world.view_of(proposed(world, call), &mut draws);
    policy.on_proposal(view, world.proposal(call))
}
