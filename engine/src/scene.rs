//! The order of a tick, on one screen: each due event runs the system of its phase; then what it
//! decided is brought home.

use bevy_ecs::prelude::{Query, ResMut};
use bevy_ecs::system::SystemParam;

use crate::agenda::Phase;
use crate::components::place::{HeldCalls, Landed};
use crate::state::State;
use crate::systems::entities::{Messages, Reach};
use crate::systems::{
    authorize, commit, decide, deliver, observe, parse, record, remember, settle,
};

/// All that the systems take, fetched once for many events: to fetch it costs as much as a short
/// system does.
#[derive(SystemParam)]
pub(crate) struct Scene<'w, 's> {
    pub(crate) state: ResMut<'w, State>,
    pub(crate) reach: Reach<'w, 's>,
    pub(crate) messages: Messages<'w, 's>,
    pub(crate) held: Query<'w, 's, &'static mut HeldCalls>,
    pub(crate) landed: Query<'w, 's, &'static mut Landed>,
}

impl Scene<'_, '_> {
    /// Runs the system of a phase.
    pub(crate) fn run_phase(&mut self, phase: Phase) {
        let state = &mut *self.state;
        let Reach {
            agents,
            sources,
            records,
            proposals,
            decisions,
        } = self.reach.reborrow();
        let messages = self.messages.reborrow();
        let held = self.held.reborrow();
        match phase {
            Phase::Deliver => deliver::deliver(state, agents, sources, messages, decisions),
            Phase::Observe => {
                observe::observe(state, agents, sources, records, proposals, decisions);
            }
            Phase::Decide => decide::decide(state, agents, decisions),
            Phase::Parse => parse::parse(state, agents, messages, records, proposals),
            Phase::Authorize => authorize::authorize(state, proposals, records, decisions, held),
            Phase::Commit => commit::commit(state, self.reach.reborrow(), held),
            Phase::Remember => remember::remember(state, self.reach.reborrow()),
            Phase::Record => record::record(state, agents, records),
        }
    }

    /// Settles what it decided.
    pub(crate) fn settle(&mut self) {
        let proposals = self.reach.reborrow().proposals;
        settle::settle_proposals(&self.state, proposals);
        settle::settle_sinks(&self.state, self.landed.reborrow());
    }
}
