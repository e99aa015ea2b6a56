//! After each event of the phases observe, authorize and commit, what it decided is brought home:
//! to the proposals that were ruled on and to the sinks where effects landed. What the other phases
//! add to the trace concerns neither. The two systems touch different entities and only read the
//! trace, so their order does not matter; a test runs both orders.

use bevy_ecs::prelude::Query;
use plugins::ids::CallId;
use plugins::policy::Hook;
use plugins::trace::{Event, Happening, Subject};

use super::entities::Proposals;
use crate::agenda::Phase;
use crate::components::call::Authorisation;
use crate::components::place::Landed;
use crate::state::State;

/// Whether one of these new events of the trace, of this phase, concerns either system. Most do not,
/// and to run the systems for nothing would cost as much as the event did.
pub(crate) fn concerned_by(phase: Phase, events: &[Event]) -> bool {
    let is_settled = matches!(phase, Phase::Observe | Phase::Authorize | Phase::Commit);
    is_settled
        && events.iter().any(|event| {
            matches!(
                event.what,
                Happening::Ruled { .. }
                    | Happening::Denied { .. }
                    | Happening::Committed { .. }
                    | Happening::Undone { .. }
            )
        })
}

/// Brings verdicts, denials, effects and undos home to the proposals.
pub(crate) fn settle_proposals(state: &State, mut proposals: Proposals) {
    let State {
        due,
        recorder,
        identity,
        ..
    } = state;
    let mut update = |call: CallId, change: &dyn Fn(&mut Authorisation)| {
        change(&mut proposals.authorisation(identity, call));
    };
    for event in &recorder.trace.events[due.events_before..] {
        match event.what {
            Happening::Ruled {
                hook: Hook::Proposal | Hook::Commit,
                subject: Subject::Call(call),
                verdict,
                ..
            } => {
                update(call, &|authorisation| authorisation.verdict = Some(verdict));
            }
            Happening::Denied { call, .. } => {
                update(call, &|authorisation| authorisation.denied = true);
            }
            Happening::Committed { call, node } => {
                update(call, &|authorisation| authorisation.effect = Some(node));
            }
            Happening::Undone { call, .. } => {
                update(call, &|authorisation| authorisation.undone = true);
            }
            _ => {}
        }
    }
}

/// Lands committed effects in their sinks.
pub(crate) fn settle_sinks(state: &State, mut sinks: Query<&mut Landed>) {
    let State {
        due,
        recorder,
        setup,
        identity,
        ..
    } = state;
    for event in &recorder.trace.events[due.events_before..] {
        let Happening::Committed { call, .. } = event.what else {
            continue;
        };
        let tool = recorder.trace.calls[call.index()].tool;
        let Some(sink) = setup.scenario().briefing.tools[tool.index()].sink else {
            continue;
        };
        sinks
            .get_mut(identity.sinks.entity(sink.index()))
            .expect("every sink has its entity")
            .0
            .push(call);
    }
}
