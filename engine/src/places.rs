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
            *activity = from.activities[index];
            context.clone_from(&from.contexts[index]);
            utterance.clone_from(&from.utterances[index]);
            mask.0.clone_from(&from.masks[index].0);
            *taint = from.agent_taint[index];
        });
        let Self {
            sources,
            tools,
            sinks,
            stores,
            ..
        } = self;
        each(sources, world, &identity.sources, |index, mut taint| {
            *taint = from.source_taint[index];
        });
        each(tools, world, &identity.tools, |index, mut held| {
            held.0.clone_from(&from.held_calls[index].0);
        });
        each(sinks, world, &identity.sinks, |index, mut landed| {
            landed.0.clone_from(&from.landed[index].0);
        });
        each(stores, world, &identity.stores, |index, mut store| {
            *store = from.stores[index];
        });
        self.write_what_came(world, identity, from);
    }

    /// What comes into being during a rollout; some records are there before.
    fn write_what_came(&mut self, world: &mut World, identity: &Identity, from: &Columns) {
        let Self {
            records,
            proposals,
            decisions,
            messages,
            ..
        } = self;
        each(records, world, &identity.records, |index, place| {
            let (mut record, mut taint) = place;
            record.clone_from(&from.records[index]);
            *taint = from.record_taint[index];
        });
        each(proposals, world, &identity.proposals, |index, place| {
            let (mut proposal, mut authorisation, mut taint) = place;
            proposal.clone_from(&from.proposals[index]);
            *authorisation = from.authorisations[index];
            *taint = from.proposal_taint[index];
        });
        each(decisions, world, &identity.decisions, |index, mut place| {
            *place = from.decisions[index];
        });
        each(messages, world, &identity.messages, |index, place| {
            let (mut message, mut taint) = place;
            message.clone_from(&from.messages[index]);
            *taint = from.message_taint[index];
        });
    }

    /// Reads the columns off the entities in use, in place: what a column has allocated stays.
    pub(crate) fn read(&mut self, world: &mut World, identity: &Identity, to: &mut Columns) {
        let counts = identity.counts();
        to.resize_agents(counts.agents);
        each(&mut self.agents, world, &identity.agents, |index, agent| {
            let (activity, context, utterance, mask, taint) = agent;
            to.activities[index] = *activity;
            to.contexts[index].clone_from(&context);
            to.utterances[index].clone_from(&utterance);
            to.masks[index].0.clone_from(&mask.0);
            to.agent_taint[index] = *taint;
        });
        let Self {
            sources,
            tools,
            sinks,
            stores,
            ..
        } = self;
        to.source_taint.clear();
        each(sources, world, &identity.sources, |_, taint| {
            to.source_taint.push(*taint);
        });
        to.held_calls.resize_with(counts.tools, Default::default);
        each(tools, world, &identity.tools, |index, held| {
            to.held_calls[index].0.clone_from(&held.0);
        });
        to.landed.resize_with(counts.sinks, Default::default);
        each(sinks, world, &identity.sinks, |index, landed| {
            to.landed[index].0.clone_from(&landed.0);
        });
        to.stores.clear();
        each(stores, world, &identity.stores, |_, store| {
            to.stores.push(*store);
        });
        self.read_what_came(world, identity, to);
    }

    fn read_what_came(&mut self, world: &mut World, identity: &Identity, to: &mut Columns) {
        let Self {
            records,
            proposals,
            decisions,
            messages,
            ..
        } = self;
        to.clear_what_came();
        each(records, world, &identity.records, |_, (record, taint)| {
            to.records.push(record.clone());
            to.record_taint.push(*taint);
        });
        each(proposals, world, &identity.proposals, |_, place| {
            let (proposal, authorisation, taint) = place;
            to.proposals.push(proposal.clone());
            to.authorisations.push(*authorisation);
            to.proposal_taint.push(*taint);
        });
        each(decisions, world, &identity.decisions, |_, decision| {
            to.decisions.push(*decision);
        });
        each(messages, world, &identity.messages, |_, place| {
            let (message, taint) = place;
            to.messages.push(message.clone());
            to.message_taint.push(*taint);
        });
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
