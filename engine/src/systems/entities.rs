//! The entities of each kind, by stable id.

use bevy_ecs::prelude::{Mut, Query, With, Without};
use bevy_ecs::system::SystemParam;
use plugins::ids::{AgentId, CallId, MessageId, NodeId, RecordId, SourceId, StoreId};
use plugins::label::LabelId;
use plugins::trace::{EdgeKind, Happening, NodeKind, Subject};

use super::stage::Stage;
use crate::agenda::AgendaEvent;
use crate::components::Taint;
use crate::components::agent::{Activity, Agent, Context, Doing, Mask, Utterance};
use crate::components::call::{Authorisation, Decision, Message, Proposal};
use crate::components::memory::{Record, Store};
use crate::components::place::Source;
use crate::identity::{Identity, InUse};
use crate::recorder::NewNode;

/// The agents.
#[derive(SystemParam)]
pub(crate) struct Agents<'w, 's> {
    pub(crate) query: Query<
        'w,
        's,
        (
            &'static mut Activity,
            &'static mut Context,
            &'static mut Utterance,
            &'static mut Mask,
            &'static mut Taint,
        ),
        With<Agent>,
    >,
}

/// One agent's components.
pub(crate) type AgentParts<'a> = (
    Mut<'a, Activity>,
    Mut<'a, Context>,
    Mut<'a, Utterance>,
    Mut<'a, Mask>,
    Mut<'a, Taint>,
);

impl<'s> Agents<'_, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Agents<'_, 's> {
        Agents {
            query: self.query.reborrow(),
        }
    }

    pub(crate) fn get(&mut self, identity: &Identity, agent: AgentId) -> AgentParts<'_> {
        let entity = identity.agents.entity(agent.index());
        self.query
            .get_mut(entity)
            .expect("every agent of the scenario has its entity")
    }

    /// Creates the agent's next state: after its previous one, and after `origin`, over which
    /// `flowing` flows.
    pub(crate) fn enter_context(
        &mut self,
        stage: &mut Stage,
        identity: &Identity,
        agent: AgentId,
        origin: NodeId,
        edge: Inbound,
    ) -> NodeId {
        let (.., mut taint) = self.get(identity, agent);
        let exact = stage.recorder.labels.join(taint.exact, edge.exact);
        let state = stage.node(
            NewNode::new(NodeKind::AgentState, Subject::Agent(agent))
                .agent(agent)
                .exact(exact),
        );
        if let Some(previous) = taint.node {
            stage.recorder.edge(previous, state, EdgeKind::Data, true);
        }
        stage
            .recorder
            .edge_carrying(origin, state, edge.kind, edge.taint, edge.recorded);
        *taint = stage.recorder.taint(state);
        state
    }

    /// Something reached the agent: an idle one decides now, a busy one later.
    pub(crate) fn wake(&mut self, stage: &mut Stage, identity: &Identity, agent: AgentId) {
        let (mut activity, ..) = self.get(identity, agent);
        match activity.doing {
            Doing::Idle => {
                activity.doing = Doing::Busy;
                stage.schedule(agent, 0, AgendaEvent::Decide(agent));
            }
            Doing::Busy => activity.pending = true,
            Doing::Ended => {}
        }
    }
}

/// How something enters a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inbound {
    pub(crate) kind: EdgeKind,
    pub(crate) taint: bool,
    pub(crate) recorded: LabelId,
    pub(crate) exact: LabelId,
}

/// The records and stores.
#[derive(SystemParam)]
pub(crate) struct Records<'w, 's> {
    pub(crate) records: Query<
        'w,
        's,
        (&'static mut Record, &'static mut Taint, &'static mut InUse),
        Without<Agent>,
    >,
    pub(crate) stores: Query<'w, 's, &'static mut Store>,
}

impl<'s> Records<'_, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Records<'_, 's> {
        Records {
            records: self.records.reborrow(),
            stores: self.stores.reborrow(),
        }
    }

    pub(crate) fn get(
        &mut self,
        identity: &Identity,
        record: RecordId,
    ) -> (Mut<'_, Record>, Mut<'_, Taint>) {
        let entity = identity.records.entity(record.index());
        let (record, taint, _) = self
            .records
            .get_mut(entity)
            .expect("a record id has its entity");
        (record, taint)
    }

    pub(crate) fn read(&self, identity: &Identity, record: RecordId) -> (&Record, &Taint) {
        let entity = identity.records.entity(record.index());
        let (record, taint, _) = self
            .records
            .get(entity)
            .expect("a record id has its entity");
        (record, taint)
    }

    /// Every record of the rollout, tombstones included, in stable order.
    pub(crate) fn all<'a>(
        &'a self,
        identity: &'a Identity,
    ) -> impl Iterator<Item = (&'a Record, &'a Taint)> {
        (0..identity.records.used()).map(|index| self.read(identity, RecordId::at(index)))
    }

    /// The live record of `key`; the newest, should an undo have left two.
    pub(crate) fn live(identity: &Identity, store: StoreId, key: &str) -> Option<RecordId> {
        identity.keys.of(store, key).last().copied()
    }

    /// The newest live record of `key` that is not quarantined.
    pub(crate) fn readable(
        &self,
        identity: &Identity,
        store: StoreId,
        key: &str,
    ) -> Option<RecordId> {
        let is_readable = |record: &RecordId| self.read(identity, *record).0.readable();
        identity
            .keys
            .of(store, key)
            .iter()
            .copied()
            .rfind(is_readable)
    }

    /// The next automatic key of a store.
    pub(crate) fn automatic_key(
        &mut self,
        stage: &Stage,
        identity: &Identity,
        store: StoreId,
        agent: AgentId,
    ) -> String {
        let entity = identity.stores.entity(store.index());
        let mut state = self
            .stores
            .get_mut(entity)
            .expect("every store of the scenario has its entity");
        state.automatic_records += 1;
        format!(
            "{}/{}",
            stage.scenario().briefing.agents[agent.index()].name,
            state.automatic_records
        )
    }

    /// The node of a record, created now if it was not touched before: only initial records are
    /// untouched.
    pub(crate) fn touch(
        &mut self,
        stage: &mut Stage,
        identity: &Identity,
        record: RecordId,
        agent: Option<AgentId>,
    ) -> NodeId {
        let (_, mut taint) = self.get(identity, record);
        if let Some(node) = taint.node {
            return node;
        }
        let new = NewNode {
            agent,
            ..NewNode::new(NodeKind::Memory, Subject::Record(record)).exact(taint.exact)
        };
        let node = stage
            .recorder
            .root(new, stage.clock.tick, stage.clock.episode);
        *taint = stage.recorder.taint(node);
        node
    }

    /// The record id that the next stored record will have.
    pub(crate) fn next_id(identity: &Identity) -> RecordId {
        RecordId::at(identity.records.used())
    }

    /// Stores a record whose node exists, and records that it happened.
    pub(crate) fn store(
        &mut self,
        stage: &mut Stage,
        identity: &mut Identity,
        agent: Option<AgentId>,
        new: Record,
        node: NodeId,
    ) -> RecordId {
        stage.count_content(&new.content);
        let (index, entity) = identity.records.take();
        let (mut record, mut taint, mut in_use) =
            self.records.get_mut(entity).expect("a pooled record");
        let id = RecordId::at(index);
        stage.happen(
            agent,
            Happening::Stored {
                record: id,
                store: new.store,
                key: new.key.clone(),
                content: new.content.clone(),
                node,
                quarantined: new.quarantined,
            },
        );
        identity.keys.insert(new.store, &new.key, id);
        *record = Record {
            record: id,
            live: true,
            episode: stage.clock.episode,
            ..new
        };
        *taint = stage.recorder.taint(node);
        in_use.0 = true;
        id
    }

    /// Makes a record a tombstone, and records that it happened.
    pub(crate) fn remove(
        &mut self,
        stage: &mut Stage,
        identity: &mut Identity,
        agent: Option<AgentId>,
        record: RecordId,
        step: Option<u32>,
    ) {
        let (mut state, _) = self.get(identity, record);
        state.live = false;
        let (store, key) = (state.store, state.key.clone());
        identity.keys.remove(store, &key, record);
        stage.happen(agent, Happening::Removed { record, step });
    }
}

/// The source instances.
#[derive(SystemParam)]
pub(crate) struct Sources<'w, 's> {
    pub(crate) query:
        Query<'w, 's, &'static mut Taint, (With<Source>, Without<Agent>, Without<Record>)>,
}

impl<'s> Sources<'_, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Sources<'_, 's> {
        Sources {
            query: self.query.reborrow(),
        }
    }

    /// The node of a source, created now if it was not touched before.
    pub(crate) fn touch(
        &mut self,
        stage: &mut Stage,
        identity: &Identity,
        source: SourceId,
        agent: AgentId,
    ) -> NodeId {
        let entity = identity.sources.entity(source.index());
        let mut taint = self
            .query
            .get_mut(entity)
            .expect("every source of the scenario has its entity");
        if let Some(node) = taint.node {
            return node;
        }
        let label = stage.setup.prepared.source_labels[source.index()];
        let new = NewNode::new(NodeKind::Source, Subject::Source(source))
            .agent(agent)
            .exact(label);
        let node = stage
            .recorder
            .root(new, stage.clock.tick, stage.clock.episode);
        *taint = stage.recorder.taint(node);
        node
    }
}

/// The proposals.
#[derive(SystemParam)]
pub(crate) struct Proposals<'w, 's> {
    pub(crate) query: Query<
        'w,
        's,
        (
            &'static mut Proposal,
            &'static mut Taint,
            &'static mut Authorisation,
            &'static mut InUse,
        ),
        (Without<Agent>, Without<Record>, Without<Source>),
    >,
}

impl<'s> Proposals<'_, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Proposals<'_, 's> {
        Proposals {
            query: self.query.reborrow(),
        }
    }

    pub(crate) fn get(
        &mut self,
        identity: &Identity,
        call: CallId,
    ) -> (Mut<'_, Proposal>, Mut<'_, Taint>) {
        let entity = identity.proposals.entity(call.index());
        let (proposal, taint, ..) = self
            .query
            .get_mut(entity)
            .expect("a call id has its entity");
        (proposal, taint)
    }

    pub(crate) fn read(
        &self,
        identity: &Identity,
        call: CallId,
    ) -> (&Proposal, &Taint, &Authorisation) {
        let entity = identity.proposals.entity(call.index());
        let (proposal, taint, authorisation, _) =
            self.query.get(entity).expect("a call id has its entity");
        (proposal, taint, authorisation)
    }

    /// Where authorisation stands on a call.
    pub(crate) fn authorisation(
        &mut self,
        identity: &Identity,
        call: CallId,
    ) -> Mut<'_, Authorisation> {
        let entity = identity.proposals.entity(call.index());
        let (_, _, authorisation, _) = self
            .query
            .get_mut(entity)
            .expect("a call id has its entity");
        authorisation
    }

    /// Puts a new proposal in place.
    pub(crate) fn add(&mut self, identity: &mut Identity, new: Proposal, node: Taint) {
        let (_, entity) = identity.proposals.take();
        let (mut proposal, mut taint, mut authorisation, mut in_use) =
            self.query.get_mut(entity).expect("a pooled proposal");
        *proposal = new;
        *taint = node;
        *authorisation = Authorisation::default();
        in_use.0 = true;
    }

    /// The proposal node of a call; a read gets one only when something is to hang off it.
    pub(crate) fn node(&mut self, stage: &mut Stage, identity: &Identity, call: CallId) -> NodeId {
        let (proposal, mut taint) = self.get(identity, call);
        if let Some(node) = taint.node {
            return node;
        }
        let exact = stage
            .recorder
            .join_all(proposal.arguments.iter().map(|argument| argument.label));
        let new = NewNode::new(NodeKind::Proposal, Subject::Call(call))
            .agent(proposal.agent)
            .exact(exact);
        let node = stage.node(new);
        if let Some(origin) = proposal.origin {
            stage.recorder.edge(origin, node, EdgeKind::Control, false);
        }
        *taint = stage.recorder.taint(node);
        node
    }
}

/// The messages.
#[derive(SystemParam)]
pub(crate) struct Messages<'w, 's> {
    pub(crate) query: Query<
        'w,
        's,
        (&'static mut Message, &'static mut Taint, &'static mut InUse),
        (
            Without<Agent>,
            Without<Record>,
            Without<Source>,
            Without<Proposal>,
        ),
    >,
}

impl<'s> Messages<'_, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Messages<'_, 's> {
        Messages {
            query: self.query.reborrow(),
        }
    }

    pub(crate) fn read(&self, identity: &Identity, message: MessageId) -> (&Message, &Taint) {
        let entity = identity.messages.entity(message.index());
        let (message, taint, _) = self.query.get(entity).expect("a message id has its entity");
        (message, taint)
    }

    /// The id that the next message will have.
    pub(crate) fn next_id(identity: &Identity) -> MessageId {
        MessageId::at(identity.messages.used())
    }

    /// Puts a new message in place.
    pub(crate) fn add(&mut self, identity: &mut Identity, new: Message, node: Taint) {
        let (_, entity) = identity.messages.take();
        let (mut message, mut taint, mut in_use) =
            self.query.get_mut(entity).expect("a pooled message");
        *message = new;
        *taint = node;
        in_use.0 = true;
    }
}

/// The decisions.
#[derive(SystemParam)]
pub(crate) struct Decisions<'w, 's> {
    pub(crate) query: Query<
        'w,
        's,
        (&'static mut Decision, &'static mut InUse),
        (Without<Record>, Without<Proposal>, Without<Message>),
    >,
}

impl<'s> Decisions<'_, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Decisions<'_, 's> {
        Decisions {
            query: self.query.reborrow(),
        }
    }

    /// Puts a new decision in place.
    pub(crate) fn add(&mut self, identity: &mut Identity, new: Decision) {
        let (_, entity) = identity.decisions.take();
        let (mut decision, mut in_use) = self.query.get_mut(entity).expect("a pooled decision");
        *decision = new;
        in_use.0 = true;
    }
}

/// The entities that a commit can touch, as a system fetches them.
#[derive(SystemParam)]
pub(crate) struct Reach<'w, 's> {
    pub(crate) agents: Agents<'w, 's>,
    pub(crate) sources: Sources<'w, 's>,
    pub(crate) records: Records<'w, 's>,
    pub(crate) proposals: Proposals<'w, 's>,
    pub(crate) decisions: Decisions<'w, 's>,
}

impl<'w, 's> Reach<'w, 's> {
    /// The same for as long as this borrow lasts.
    pub(crate) fn reborrow(&mut self) -> Reach<'_, 's> {
        Reach {
            agents: self.agents.reborrow(),
            sources: self.sources.reborrow(),
            records: self.records.reborrow(),
            proposals: self.proposals.reborrow(),
            decisions: self.decisions.reborrow(),
        }
    }

    /// With the stable ids, by which they are found.
    pub(crate) fn with<'a>(self, identity: &'a mut Identity) -> Hands<'a, 'w, 's> {
        let Self {
            agents,
            sources,
            records,
            proposals,
            decisions,
        } = self;
        Hands {
            identity,
            agents,
            sources,
            records,
            proposals,
            decisions,
        }
    }
}

/// The entities that a commit can touch, by stable id.
pub(crate) struct Hands<'a, 'w, 's> {
    pub(crate) identity: &'a mut Identity,
    pub(crate) agents: Agents<'w, 's>,
    pub(crate) sources: Sources<'w, 's>,
    pub(crate) records: Records<'w, 's>,
    pub(crate) proposals: Proposals<'w, 's>,
    pub(crate) decisions: Decisions<'w, 's>,
}
