//! Limits and delays.

use super::Context;
use crate::diagnostic::{Code, Problem};
use crate::file::World;
use crate::outline::At;
use crate::spec::Limits;

/// The longest delay, in ticks.
const MOST_TICKS: u64 = 1_000_000_000;
/// The largest number of events of a rollout: ten times the default. Every event may leave a node
/// and labels behind, so this bounds memory.
const MOST_EVENTS: u32 = 100_000;
/// The largest number of events waiting, turns of an agent, and hand-offs. A turn reads the whole
/// context, so the time of an agent grows with the square of its turns.
const MOST_COUNT: u32 = 4_000;
/// The longest completion, in bytes.
const MOST_TEXT_BYTES: u32 = 1 << 20;

/// The limits, with defaults for those that are left out.
pub(super) fn limits(world: &World, context: &mut Context<'_>) -> Limits {
    let given = &world.limits;
    let usual = Limits::default();
    let mut check = |name: &str, value: u64, least: u64, most: u64| {
        let at = context.root.field("limits").field(name);
        require_between(name, value, least..=most, at, context);
    };
    let limits = Limits {
        ticks: given.ticks.unwrap_or(usual.ticks),
        events: given.events.unwrap_or(usual.events),
        queue: given.queue.unwrap_or(usual.queue),
        turns: given.turns.unwrap_or(usual.turns),
        delegations: given.delegations.unwrap_or(usual.delegations),
        text_bytes: given.text_bytes.unwrap_or(usual.text_bytes),
    };
    check("ticks", limits.ticks, 1, MOST_TICKS);
    check("events", limits.events.into(), 1, MOST_EVENTS.into());
    check("queue", limits.queue.into(), 1, MOST_COUNT.into());
    check("turns", limits.turns.into(), 1, MOST_COUNT.into());
    // No hand-off at all is a sensible limit.
    check(
        "delegations",
        limits.delegations.into(),
        0,
        MOST_COUNT.into(),
    );
    check(
        "text_bytes",
        limits.text_bytes.into(),
        1,
        MOST_TEXT_BYTES.into(),
    );
    limits
}

fn require_between(
    name: &str,
    value: u64,
    range: std::ops::RangeInclusive<u64>,
    at: At<'_>,
    context: &mut Context<'_>,
) {
    if range.contains(&value) {
        return;
    }
    let message = format!("the limit `{name}` is {value}");
    context.problems.push(
        Problem::new(Code::AbsurdLimit, at.span(), message)
            .label("absurd")
            .help(format!("choose from {} to {}", range.start(), range.end())),
    );
}

/// Complains about a duration of no ticks, or of more than anybody waits.
pub(super) fn require_ticks(ticks: u64, at: At<'_>, context: &mut Context<'_>) {
    if ticks == 0 {
        context.problems.push(
            Problem::new(Code::ZeroTicks, at.span(), "this takes no time")
                .label("no ticks")
                .help("1 tick is the least"),
        );
    }
    require_at_most(ticks, at, context);
}

/// Complains about a time after the start of an episode that an episode does not reach.
pub(super) fn require_within_episode(
    ticks: u64,
    limits: &Limits,
    at: At<'_>,
    context: &mut Context<'_>,
) {
    if ticks > limits.ticks {
        let message = format!(
            "this happens after {ticks} ticks, but an episode has at most {}",
            limits.ticks
        );
        context.problems.push(
            Problem::new(Code::TooLate, at.span(), message)
                .label("never happens")
                .help("choose an earlier tick, or a larger `limits.ticks`"),
        );
    }
}

/// Complains about a delay of more than anybody waits.
pub(super) fn require_at_most(ticks: u64, at: At<'_>, context: &mut Context<'_>) {
    if ticks > MOST_TICKS {
        let message = format!("{ticks} ticks are more than anybody waits");
        context.problems.push(
            Problem::new(Code::AbsurdLimit, at.span(), message)
                .label("absurd")
                .help(format!("at most {MOST_TICKS}")),
        );
    }
}
