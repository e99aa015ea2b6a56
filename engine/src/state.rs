//! The state of a rollout that is not in its entities.

use bevy_ecs::prelude::Resource;

use crate::agenda::Agenda;
use crate::clock::{Clock, Due};
use crate::identity::Identity;
use crate::recorder::Recorder;
use crate::setup::{Guard, Mind, Setup};
use crate::systems::stage::Stage;
use crate::wholes::Wholes;

/// All of it is one resource: a system needs most of it, and to fetch a resource costs about as
/// much as a short system does.
#[derive(Resource)]
pub(crate) struct State {
    pub(crate) due: Due,
    pub(crate) clock: Clock,
    pub(crate) agenda: Agenda,
    pub(crate) recorder: Recorder,
    pub(crate) setup: Setup,
    pub(crate) identity: Identity,
    pub(crate) guard: Guard,
    pub(crate) mind: Mind,
    pub(crate) wholes: Wholes,
}

/// The state as systems take it, each part borrowed on its own.
pub(crate) struct Parts<'a> {
    pub(crate) stage: Stage<'a>,
    pub(crate) identity: &'a mut Identity,
    pub(crate) guard: &'a mut Guard,
    pub(crate) mind: &'a mut Mind,
    pub(crate) wholes: &'a mut Wholes,
}

impl State {
    /// The state of a rollout whose columns are yet to be written.
    pub(crate) fn new(setup: Setup, guard: Guard, mind: Mind) -> Self {
        Self {
            due: Due::default(),
            clock: Clock::default(),
            agenda: Agenda::default(),
            recorder: Recorder::default(),
            setup,
            identity: Identity::default(),
            guard,
            mind,
            wholes: Wholes::default(),
        }
    }

    pub(crate) const fn parts(&mut self) -> Parts<'_> {
        Parts {
            stage: Stage {
                due: &mut self.due,
                clock: &mut self.clock,
                agenda: &mut self.agenda,
                recorder: &mut self.recorder,
                setup: &self.setup,
            },
            identity: &mut self.identity,
            guard: &mut self.guard,
            mind: &mut self.mind,
            wholes: &mut self.wholes,
        }
    }

    pub(crate) const fn stage(&mut self) -> Stage<'_> {
        self.parts().stage
    }
}
