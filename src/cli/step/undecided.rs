//! What there is to say of calls that were not ruled on.

use engine::Rollout;
use engine::agenda::{AgendaEvent, Phase};
use engine::export::names::word;
use plugins::action::Call;
use plugins::ids::CallId;
use plugins::trace::Happening;

/// The number of the only call of `tool`; else what there is.
pub(super) fn only_call(rollout: &Rollout, tool: &str) -> Result<u32, String> {
    let calls = rollout.trace().calls.iter();
    let of_tool = calls.filter(|call| name(rollout, call) == tool);
    let found: Vec<u32> = of_tool.map(|call| call.id.0).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(format!("there is no call of `{tool}` yet")),
        several => {
            let numbers: Vec<String> = several.iter().map(u32::to_string).collect();
            let (count, numbers) = (several.len(), numbers.join(", "));
            Err(format!(
                "there are {count} calls of `{tool}`: {numbers}; give the number of one"
            ))
        }
    }
}

/// Why there is no decision, or none on `call`.
pub(super) fn undecided(rollout: &Rollout, call: Option<u32>) -> String {
    let calls = &rollout.trace().calls;
    let asked = match call {
        Some(call) => calls.get(CallId(call).index()),
        None => calls.last(),
    };
    match (asked, call) {
        (Some(asked), _) if is_read(rollout, asked) && was_authorized(rollout, asked) => {
            let (number, tool) = (asked.id.0, name(rollout, asked));
            let then = denial(rollout, asked).unwrap_or_default();
            format!("call {number} ({tool}) is a read and was let through without a ruling{then}")
        }
        (None, Some(call)) => format!("there is no call {call} yet"),
        (_, Some(call)) => format!("there is no decision on call {call} yet"),
        (_, None) => "there is no decision yet".to_owned(),
    }
}

fn name<'r>(rollout: &'r Rollout, call: &Call) -> &'r str {
    &rollout.scenario().briefing.tools[call.tool.index()].name
}

fn is_read(rollout: &Rollout, call: &Call) -> bool {
    let tool = &rollout.scenario().briefing.tools[call.tool.index()];
    tool.operation.is_read()
}

/// That a read was denied after it was let through, because of what it would have returned.
fn denial(rollout: &Rollout, call: &Call) -> Option<String> {
    let mut events = rollout.trace().events.iter();
    let reason = events.find_map(|event| match &event.what {
        Happening::Denied { call: of, reason } if *of == call.id => Some(word(reason)),
        _ => None,
    })?;
    Some(format!("; what it returns was denied: {reason}"))
}

/// Whether the authorisation of a call is behind: it follows in the tick of its proposal, and that of
/// an earlier call of the same tick comes first.
fn was_authorized(rollout: &Rollout, call: &Call) -> bool {
    let mut events = rollout.trace().events.iter();
    let is_proposal =
        |what: &Happening| matches!(what, Happening::Proposed { call: of } if *of == call.id);
    let proposed = events.find(|event| is_proposal(&event.what));
    match (rollout.next_event(), proposed) {
        (Some(next), Some(proposed)) if next.tick == proposed.tick => match next.event {
            AgendaEvent::Authorize(authorized) => authorized > call.id,
            _ => next.event.phase() > Phase::Authorize,
        },
        _ => true,
    }
}
