//! What happened to calls before.

use plugins::action::Call;
use plugins::ids::CallId;
use plugins::predicate::CallView;
use plugins::trace::{Answer, Event, Happening, Subject};

use crate::predicate::{Counted, Of, Within, is_named};
use crate::scene::Scene;

/// How often `what` happened to calls `of` some kind. Counts no further than one above `bound`.
/// None if the moment does not have the call or the target that `of` speaks of.
pub(crate) fn count(
    what: Counted,
    of: &Of,
    within: Within,
    bound: i64,
    scene: &Scene<'_>,
) -> Option<u64> {
    let target = match of {
        Of::ThisTarget => Some(scene.view()?.target()?),
        _ => None,
    };
    let this = match of {
        Of::ThisTool => Some(scene.call?.0),
        _ => None,
    };
    let agent = match of {
        Of::ThisAgent => Some(scene.agent?),
        _ => None,
    };
    let is_meant = |call: &Call| match of {
        Of::All => true,
        Of::ThisTool => this.is_some_and(|this| this.tool == call.tool),
        Of::ThisAgent => agent == Some(call.agent),
        Of::HighRisk | Of::Tool(_) | Of::ThisTarget => {
            let Some(tool) = scene.briefing.tools.get(call.tool.index()) else {
                return false;
            };
            match of {
                Of::HighRisk => tool.high_risk(),
                Of::Tool(names) => is_named(names, &tool.name),
                _ => {
                    let arguments = &call.arguments;
                    CallView { tool, arguments }.target() == target
                }
            }
        }
    };
    let enough = u64::try_from(bound).unwrap_or(0).saturating_add(1);
    let mut number = 0;
    for event in scene.prefix.events {
        let Some(id) = call_of(what, &event.what) else {
            continue;
        };
        let call = scene.prefix.call(id);
        if is_recent(within, event, scene) && call.is_some_and(is_meant) {
            number += 1;
            if number >= enough {
                break;
            }
        }
    }
    Some(number)
}

/// The call to which `what` happened in `happening`.
fn call_of(what: Counted, happening: &Happening) -> Option<CallId> {
    match (what, happening) {
        (Counted::Proposed, Happening::Proposed { call })
        | (Counted::Committed, Happening::Committed { call, .. })
        | (Counted::Denied, Happening::Denied { call, .. }) => Some(*call),
        (
            Counted::Asked | Counted::Approved,
            Happening::Asked {
                subject: Subject::Call(call),
                answer,
            },
        ) => (what == Counted::Asked || *answer == Answer::Approved).then_some(*call),
        _ => None,
    }
}

fn is_recent(within: Within, event: &Event, scene: &Scene<'_>) -> bool {
    match within {
        Within::Rollout => true,
        Within::Episode => event.episode == scene.episode,
        Within::Ticks(ticks) => scene.tick.saturating_sub(event.tick) < ticks,
    }
}
