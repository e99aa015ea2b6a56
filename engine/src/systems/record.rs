//! Record: an episode's books are closed.

use plugins::ids::{AgentId, RecordId};
use plugins::trace::Outcome;
use worlds::spec::MemoryMode;

use super::entities::{Agents, Records};
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Phase};
use crate::clock::Halt;
use crate::components::Taint;
use crate::components::agent::Activity;
use crate::identity::Identity;
use crate::state::{Parts, State};

/// Runs the due event if it closes an episode.
pub(crate) fn record(state: &mut State, mut agents: Agents, mut records: Records) {
    let Parts {
        mut stage,
        identity,
        ..
    } = state.parts();
    let Some(AgendaEvent::Close(episode)) = stage.take(Phase::Record) else {
        return;
    };
    forget_session_memory(&mut stage, identity, &mut records);
    for index in 0..identity.agents.used() {
        let (mut activity, mut context, mut utterance, mut mask, mut taint) =
            agents.get(identity, AgentId::at(index));
        *activity = Activity::default();
        context.clear();
        utterance.text.clear();
        mask.0.clear();
        *taint = Taint::default();
    }
    match stage.clock.halt {
        Halt::Limit(kind) => stage.end(Outcome::LimitReached(kind)),
        Halt::Running if (episode as usize) + 1 < stage.scenario().episodes.len() => {
            stage.schedule_system(1, AgendaEvent::Begin(episode + 1));
            stage.clock.episode = episode + 1;
            stage.clock.episode_start = stage.clock.tick + 1;
        }
        Halt::Running | Halt::Aborted => stage.end(Outcome::Completed),
    }
}

/// Session memory does not outlive its episode.
fn forget_session_memory(stage: &mut Stage, identity: &mut Identity, records: &mut Records) {
    for index in 0..identity.records.used() {
        let record = RecordId::at(index);
        let (state, _) = records.read(identity, record);
        if state.live && stage.scenario().stores[state.store.index()].mode == MemoryMode::Session {
            records.remove(stage, identity, None, record, None);
        }
    }
}
