//! The next event: which one may run, and what a limit overtakes.

use plugins::draws::EventKey;
use plugins::trace::LimitKind;
use worlds::spec::Limits;

use crate::agenda::{AgendaEvent, Phase, Scheduled};
use crate::clock::{Clock, Due};
use crate::state::State;
use crate::systems::stage::Stage;

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it ran, in ticks.
    pub tick: u64,
    /// Its phase.
    pub phase: Phase,
    /// The event.
    pub event: AgendaEvent,
    /// How many happenings the trace had before it.
    pub events_before: usize,
}

/// The event that is about to run.
pub(crate) fn due_step(state: &State) -> Step {
    let due = state.due.event.as_ref().expect("it is about to run");
    Step {
        tick: due.tick,
        phase: due.event.phase(),
        event: due.event.clone(),
        events_before: state.due.events_before,
    }
}

/// Takes the next event, advances the clock to it and puts it before the systems; its phase.
pub(crate) fn begin_event(state: &mut State) -> Option<Phase> {
    let mut stage = state.stage();
    let due = next_due(&mut stage)?;
    stage.clock.tick = due.tick;
    stage.clock.key = due.key;
    stage.clock.executed_events += 1;
    let phase = due.event.phase();
    *stage.due = Due {
        event: Some(due),
        events_before: stage.recorder.trace.events.len(),
        ..Due::default()
    };
    Some(phase)
}

/// More events waiting than a rollout may have is a limit.
pub(crate) fn bound_queue(state: &mut State) {
    let mut stage = state.stage();
    if stage.agenda.len() > stage.scenario().limits.queue as usize {
        stage.limit(LimitKind::Queue);
    }
}

/// The next event that may run. A limit that is reached here halts the agents, and an empty agenda
/// closes the episode.
fn next_due(stage: &mut Stage) -> Option<Scheduled> {
    loop {
        if stage.clock.outcome.is_some() {
            return None;
        }
        let Some(next) = stage.agenda.pop() else {
            let episode = stage.clock.episode;
            let event = AgendaEvent::Close(episode);
            let key = EventKey::ROOT.child(event.role(), episode);
            return Some(Scheduled {
                tick: stage.clock.tick,
                actor: 0,
                sequence: u32::MAX,
                key,
                event,
            });
        };
        if next.event.survives_halt() {
            return Some(next);
        }
        let limits = &stage.scenario().limits;
        if let Some(limit) = limit_before(&next, stage.clock, limits) {
            stage.limit(limit);
        } else {
            stage.clock.limited_events += 1;
            return Some(next);
        }
    }
}

/// The limit that is reached before `next` may run.
fn limit_before(next: &Scheduled, clock: &Clock, limits: &Limits) -> Option<LimitKind> {
    if next.event.survives_halt() {
        None
    } else if clock.limited_events >= limits.events {
        Some(LimitKind::Events)
    } else if next.tick - clock.episode_start > limits.ticks {
        Some(LimitKind::Ticks)
    } else {
        None
    }
}

/// The event that runs in the stead of the next one, if a limit overtakes that.
pub(crate) fn next_after_limit(state: &State) -> Option<&Scheduled> {
    let State {
        agenda,
        clock,
        setup,
        ..
    } = state;
    limit_before(agenda.next()?, clock, &setup.scenario().limits)?;
    agenda.next_surviving()
}
