//! Where the columns of a snapshot go: the components of the pooled entities.

use crate::columns::Columns;
use crate::scene::Scene;

/// Why no entity of a pool can be without its components: it was spawned with them.
const SPAWNED_WITH: &str = "every entity of a pool has its components";

impl Scene<'_, '_> {
    /// Writes the columns into the entities, in place: what a component has allocated stays. There
    /// are enough entities, and those of the scenario are in use.
    pub(crate) fn write_entities(&mut self, from: &Columns) {
        let identity = &self.state.identity;
        for (index, &entity) in identity.agents.in_use().iter().enumerate() {
            let agent = self.reach.agents.query.get_mut(entity);
            let (mut activity, mut context, mut utterance, mut mask, mut taint) =
                agent.expect(SPAWNED_WITH);
            *activity = from.activities[index];
            context.clone_from(&from.contexts[index]);
            utterance.clone_from(&from.utterances[index]);
            mask.0.clone_from(&from.masks[index].0);
            *taint = from.agent_taint[index];
        }
        for (&entity, new) in identity.sources.in_use().iter().zip(&from.source_taint) {
            let taint = self.reach.sources.query.get_mut(entity);
            *taint.expect(SPAWNED_WITH) = *new;
        }
        for (&entity, new) in identity.tools.in_use().iter().zip(&from.held_calls) {
            let held = self.held.get_mut(entity);
            held.expect(SPAWNED_WITH).0.clone_from(&new.0);
        }
        for (&entity, new) in identity.sinks.in_use().iter().zip(&from.landed) {
            let landed = self.landed.get_mut(entity);
            landed.expect(SPAWNED_WITH).0.clone_from(&new.0);
        }
        for (&entity, new) in identity.stores.in_use().iter().zip(&from.stores) {
            let store = self.reach.records.stores.get_mut(entity);
            *store.expect(SPAWNED_WITH) = *new;
        }
        self.write_what_came(from);
    }

    /// What comes into being during a rollout; some records are there before.
    fn write_what_came(&mut self, from: &Columns) {
        let identity = &mut self.state.identity;
        identity.keys.reset_to(&from.records);
        for (index, &entity) in identity.records.put_in_use(from.records.len()) {
            let record = self.reach.records.records.get_mut(entity);
            let (mut record, mut taint, mut in_use) = record.expect(SPAWNED_WITH);
            in_use.0 = index < from.records.len();
            if in_use.0 {
                record.clone_from(&from.records[index]);
                *taint = from.record_taint[index];
            }
        }
        for (index, &entity) in identity.proposals.put_in_use(from.proposals.len()) {
            let proposal = self.reach.proposals.query.get_mut(entity);
            let (mut proposal, mut taint, mut authorisation, mut in_use) =
                proposal.expect(SPAWNED_WITH);
            in_use.0 = index < from.proposals.len();
            if in_use.0 {
                proposal.clone_from(&from.proposals[index]);
                *authorisation = from.authorisations[index];
                *taint = from.proposal_taint[index];
            }
        }
        for (index, &entity) in identity.decisions.put_in_use(from.decisions.len()) {
            let decision = self.reach.decisions.query.get_mut(entity);
            let (mut decision, mut in_use) = decision.expect(SPAWNED_WITH);
            in_use.0 = index < from.decisions.len();
            if in_use.0 {
                *decision = from.decisions[index];
            }
        }
        for (index, &entity) in identity.messages.put_in_use(from.messages.len()) {
            let message = self.messages.query.get_mut(entity);
            let (mut message, mut taint, mut in_use) = message.expect(SPAWNED_WITH);
            in_use.0 = index < from.messages.len();
            if in_use.0 {
                message.clone_from(&from.messages[index]);
                *taint = from.message_taint[index];
            }
        }
    }

    /// Reads the columns off the entities in use, in place: what a column has allocated stays.
    pub(crate) fn read_entities(&self, to: &mut Columns) {
        let identity = &self.state.identity;
        let counts = identity.counts();
        to.resize_agents(counts.agents);
        for (index, &entity) in identity.agents.in_use().iter().enumerate() {
            let agent = self.reach.agents.query.get(entity);
            let (activity, context, utterance, mask, taint) = agent.expect(SPAWNED_WITH);
            to.activities[index] = *activity;
            to.contexts[index].clone_from(context);
            to.utterances[index].clone_from(utterance);
            to.masks[index].0.clone_from(&mask.0);
            to.agent_taint[index] = *taint;
        }
        to.source_taint.clear();
        for &entity in identity.sources.in_use() {
            let taint = self.reach.sources.query.get(entity);
            to.source_taint.push(*taint.expect(SPAWNED_WITH));
        }
        to.held_calls.resize_with(counts.tools, Default::default);
        for (&entity, place) in identity.tools.in_use().iter().zip(&mut to.held_calls) {
            let held = self.held.get(entity);
            place.0.clone_from(&held.expect(SPAWNED_WITH).0);
        }
        to.landed.resize_with(counts.sinks, Default::default);
        for (&entity, place) in identity.sinks.in_use().iter().zip(&mut to.landed) {
            let landed = self.landed.get(entity);
            place.0.clone_from(&landed.expect(SPAWNED_WITH).0);
        }
        to.stores.clear();
        for &entity in identity.stores.in_use() {
            let store = self.reach.records.stores.get(entity);
            to.stores.push(*store.expect(SPAWNED_WITH));
        }
        self.read_what_came(to);
    }

    fn read_what_came(&self, to: &mut Columns) {
        let identity = &self.state.identity;
        to.clear_what_came();
        for (record, taint) in self.reach.records.all(identity) {
            to.records.push(record.clone());
            to.record_taint.push(*taint);
        }
        for &entity in identity.proposals.in_use() {
            let proposal = self.reach.proposals.query.get(entity);
            let (proposal, taint, authorisation, _) = proposal.expect(SPAWNED_WITH);
            to.proposals.push(proposal.clone());
            to.authorisations.push(*authorisation);
            to.proposal_taint.push(*taint);
        }
        for &entity in identity.decisions.in_use() {
            let decision = self.reach.decisions.query.get(entity);
            to.decisions.push(*decision.expect(SPAWNED_WITH).0);
        }
        for &entity in identity.messages.in_use() {
            let message = self.messages.query.get(entity);
            let (message, taint, _) = message.expect(SPAWNED_WITH);
            to.messages.push(message.clone());
            to.message_taint.push(*taint);
        }
    }
}
