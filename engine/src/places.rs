//! Where the columns of a snapshot go: the components of the pooled entities.

use bevy_ecs::prelude::{QueryState, World};
use bevy_ecs::query::QueryData;

use crate::columns::Columns;
use crate::components::Taint;
use crate::components::agent::{Activity, Context, Mask, Utterance};
use crate::components::call::{Authorisation, Decision, Message, Proposal};
use crate::components::memory::{Record, Store};
use crate::components::place::{HeldCalls, Landed};
use crate::identity::{Identity, Pool};

type AgentParts = (
    &'static mut Activity,
    &'static mut Context,
    &'static mut Utterance,
    &'static mut Mask,
    &'static mut Taint,
);
type ProposalParts = (
    &'static mut Proposal,
    &'static mut Authorisation,
    &'static mut Taint,
);

/// The components by pool, looked up once: a rollout begins with a restore, so restores are as many
/// as rollouts.
pub(crate) struct Places {
    agents: QueryState<AgentParts>,
    sources: QueryState<&'static mut Taint>,
    tools: QueryState<&'static mut HeldCalls>,
    sinks: QueryState<&'static mut Landed>,
    stores: QueryState<&'static mut Store>,
    records: QueryState<(&'static mut Record, &'static mut Taint)>,
    proposals: QueryState<ProposalParts>,
    decisions: QueryState<&'static mut Decision>,
    messages: QueryState<(&'static mut Message, &'static mut Taint)>,
}

impl Places {
    /// Looks up the components in `world`.
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            agents: QueryState::new(world),
            sources: QueryState::new(world),
            tools: QueryState::new(world),
            sinks: QueryState::new(world),
            stores: QueryState::new(world),
            records: QueryState::new(world),
            proposals: QueryState::new(world),
            decisions: QueryState::new(world),
            messages: QueryState::new(world),
        }
    }

    /// Writes the columns into the entities in use, in place: what a component has allocated stays.
    pub(crate) fn write(&mut self, world: &mut World, identity: &Identity, from: &Columns) {
        each(&mut self.agents, world, &identity.agents, |index, agent| {
            let (mut activity, mut context, mut utterance, mut mask, mut taint) = agent;
            activity.clone_from(&from.activities[index]);
            context.clone_from(&from.contexts[index]);
            utterance.clone_from(&from.utterances[index]);
            mask.clone_from(&from.masks[index]);
            *taint = from.agent_taint[index];
        });
        self.write_surroundings(world, identity, from);
        self.write_what_came(world, identity, from);
    }

    /// Sources, tools, sinks and stores: those of the scenario.
    fn write_surroundings(&mut self, world: &mut World, identity: &Identity, from: &Columns) {
        each(
            &mut self.sources,
            world,
            &identity.sources,
            |index, mut taint| {
                *taint = from.source_taint[index];
            },
        );
        each(
            &mut self.tools,
            world,
            &identity.tools,
            |index, mut held| {
                held.clone_from(&from.held_calls[index]);
            },
        );
        each(
            &mut self.sinks,
            world,
            &identity.sinks,
            |index, mut landed| {
                landed.clone_from(&from.landed[index]);
            },
        );
        each(
            &mut self.stores,
            world,
            &identity.stores,
            |index, mut store| {
                *store = from.stores[index];
            },
        );
    }

    /// What comes into being during a rollout; some records are there before.
    fn write_what_came(&mut self, world: &mut World, identity: &Identity, from: &Columns) {
        each(
            &mut self.records,
            world,
            &identity.records,
            |index, (mut record, mut taint)| {
                record.clone_from(&from.records[index]);
                *taint = from.record_taint[index];
            },
        );
        each(
            &mut self.proposals,
            world,
            &identity.proposals,
            |index, proposal| {
                let (mut proposal, mut authorisation, mut taint) = proposal;
                proposal.clone_from(&from.proposals[index]);
                authorisation.clone_from(&from.authorisations[index]);
                *taint = from.proposal_taint[index];
            },
        );
        each(
            &mut self.decisions,
            world,
            &identity.decisions,
            |index, mut decision| {
                decision.clone_from(&from.decisions[index]);
            },
        );
        each(
            &mut self.messages,
            world,
            &identity.messages,
            |index, (mut message, mut taint)| {
                message.clone_from(&from.messages[index]);
                *taint = from.message_taint[index];
            },
        );
    }
}

/// Hands every entity in use of a pool to `set`, with its stable id.
fn each<D: QueryData>(
    state: &mut QueryState<D>,
    world: &mut World,
    pool: &Pool,
    mut set: impl FnMut(usize, D::Item<'_, '_>),
) {
    let mut places = state.iter_many_mut(world, pool.in_use());
    let mut index = 0;
    while let Some(place) = places.fetch_next() {
        set(
            index,
            place.expect("every entity of a pool has its components"),
        );
        index += 1;
    }
}
