//! Stable ids and the entities behind them.
//!
//! Everything that can reach the trace goes by stable id, never by query order, which changes when
//! entities move between archetypes. Entities are pooled: index `i` of a kind is the same entity
//! from rollout to rollout.

use bevy_ecs::prelude::{Bundle, Component, Entity, World};
use plugins::ids::{AgentId, CallId, MessageId, RecordId, SinkId, SourceId, StoreId, ToolId};

use crate::components::Taint;
use crate::components::agent::{Activity, Agent, Context, Mask, Utterance};
use crate::components::call::{Authorisation, Decision, Message, Proposal};
use crate::components::memory::{Record, Store};
use crate::components::place::{HeldCalls, Landed, Sink, Source, Tool};
use crate::keys::LiveKeys;

/// Whether a pooled entity belongs to the running rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component)]
pub struct InUse(pub bool);

/// The entities of one kind, by stable id.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    entities: Vec<Entity>,
    used: usize,
}

impl Pool {
    /// The entity with stable id `index`.
    pub(crate) fn entity(&self, index: usize) -> Entity {
        self.entities[index]
    }

    /// How many are in use.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// The entities in use, in stable order.
    pub(crate) fn in_use(&self) -> &[Entity] {
        &self.entities[..self.used]
    }

    /// Takes the next free one. The caller marks it [`InUse`].
    pub(crate) fn take(&mut self) -> (usize, Entity) {
        let index = self.used;
        self.used += 1;
        (index, self.entities[index])
    }

    /// Sees to it that `spare` free ones exist.
    fn reserve<B: Bundle>(&mut self, spare: usize, world: &mut World, make: impl Fn(usize) -> B) {
        while self.entities.len() < self.used + spare {
            let index = self.entities.len();
            self.entities
                .push(world.spawn((make(index), InUse(false))).id());
        }
    }

    /// Sees to it that there are `count`, in use or free.
    fn make_room<B: Bundle>(&mut self, count: usize, world: &mut World, make: impl Fn(usize) -> B) {
        self.reserve(count.saturating_sub(self.used), world, make);
    }

    /// Puts exactly the first `count` in use. Gives those that were or are now; the caller marks them
    /// [`InUse`] or not.
    pub(crate) fn put_in_use(&mut self, count: usize) -> impl Iterator<Item = (usize, &Entity)> {
        let concerned = self.used.max(count);
        self.used = count;
        self.entities[..concerned].iter().enumerate()
    }

    /// Puts exactly the first `count` in use, spawning what the pool lacks.
    fn resize<B: Bundle>(&mut self, count: usize, world: &mut World, make: impl Fn(usize) -> B) {
        self.make_room(count, world, make);
        let unchanged = self.used.min(count);
        for (index, &entity) in self.put_in_use(count).skip(unchanged) {
            if let Some(mut in_use) = world.get_mut::<InUse>(entity) {
                in_use.0 = index < count;
            }
        }
    }
}

/// Every pool.
#[derive(Debug, Default)]
pub(crate) struct Identity {
    pub(crate) agents: Pool,
    pub(crate) sources: Pool,
    pub(crate) tools: Pool,
    pub(crate) sinks: Pool,
    pub(crate) stores: Pool,
    pub(crate) records: Pool,
    pub(crate) proposals: Pool,
    pub(crate) decisions: Pool,
    pub(crate) messages: Pool,
    /// The live records by key.
    pub(crate) keys: LiveKeys,
}

/// How many entities of each kind are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) agents: usize,
    pub(crate) sources: usize,
    pub(crate) tools: usize,
    pub(crate) sinks: usize,
    pub(crate) stores: usize,
    pub(crate) records: usize,
    pub(crate) proposals: usize,
    pub(crate) decisions: usize,
    pub(crate) messages: usize,
}

impl Identity {
    /// Puts exactly `counts` entities of the kinds of a scenario in use, and sees to it that there are
    /// as many of those that come into being during a rollout. Spawns what the pools lack.
    pub(crate) fn make_room(&mut self, counts: Counts, world: &mut World) {
        self.agents.resize(counts.agents, world, agent);
        self.sources.resize(counts.sources, world, source);
        self.tools.resize(counts.tools, world, tool);
        self.sinks.resize(counts.sinks, world, sink);
        self.stores.resize(counts.stores, world, store);
        self.records.make_room(counts.records, world, record);
        self.proposals.make_room(counts.proposals, world, proposal);
        self.decisions.make_room(counts.decisions, world, decision);
        self.messages.make_room(counts.messages, world, message);
    }

    /// How many entities of each kind are in use.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            agents: self.agents.used,
            sources: self.sources.used,
            tools: self.tools.used,
            sinks: self.sinks.used,
            stores: self.stores.used,
            records: self.records.used,
            proposals: self.proposals.used,
            decisions: self.decisions.used,
            messages: self.messages.used,
        }
    }

    /// Sees to it that the next event finds enough free entities: it may restore as many records as
    /// are in use, and creates a handful of everything else.
    pub(crate) fn reserve(&mut self, world: &mut World) {
        let records = self.records.used() + 2;
        self.records.reserve(records, world, record);
        self.proposals.reserve(2, world, proposal);
        self.decisions.reserve(8, world, decision);
        self.messages.reserve(2, world, message);
    }

    /// Whether [`Identity::reserve`] has nothing to do.
    pub(crate) fn has_spare(&self) -> bool {
        let spare = |pool: &Pool, wanted: usize| pool.entities.len() >= pool.used + wanted;
        spare(&self.records, self.records.used() + 2)
            && spare(&self.proposals, 2)
            && spare(&self.decisions, 8)
            && spare(&self.messages, 2)
    }
}

fn agent(index: usize) -> impl Bundle {
    (
        Agent(AgentId::at(index)),
        Activity::default(),
        Context::default(),
        Utterance::default(),
        Mask::default(),
        Taint::default(),
    )
}

fn source(index: usize) -> impl Bundle {
    (Source(SourceId::at(index)), Taint::default())
}

fn tool(index: usize) -> impl Bundle {
    (Tool(ToolId::at(index)), HeldCalls::default())
}

fn sink(index: usize) -> impl Bundle {
    (Sink(SinkId::at(index)), Landed::default())
}

fn store(index: usize) -> impl Bundle {
    (Store {
        store: StoreId::at(index),
        automatic_records: 0,
    },)
}

fn record(index: usize) -> impl Bundle {
    (
        Record {
            record: RecordId::at(index),
            ..Record::default()
        },
        Taint::default(),
    )
}

fn proposal(index: usize) -> impl Bundle {
    (
        Proposal {
            call: CallId::at(index),
            ..Proposal::default()
        },
        Authorisation::default(),
        Taint::default(),
    )
}

fn decision(_index: usize) -> impl Bundle {
    (Decision::default(),)
}

fn message(index: usize) -> impl Bundle {
    (
        Message {
            message: MessageId::at(index),
            ..Message::default()
        },
        Taint::default(),
    )
}
