//! A policy that joins in mid-trace is fed the past: its hooks see what happened, each with the
//! prefix of that moment, and its verdicts are ignored.
//!
//! What is not part of a trace cannot be fed: prompts, and what the policy of then kept out. That a
//! read was carried out leaves nothing in a trace, so `on_commit` and `on_memory_read` are fed with
//! its proposal. A call that a limit overtook before its turn is fed as if it had had it.

use bevy_ecs::prelude::{Mut, World};
use plugins::draws::EventKey;
use plugins::ids::{CallId, NodeId, RecordId, StoreId};
use plugins::label::{Flags, LabelId};
use plugins::policy::{
    Hooks, Inflow, Proposal as Proposed, RecordSummary, RecordView, RecoveryNotice, View,
};
use plugins::tool::Operation;
use plugins::trace::{Event, Happening, Node, NodeKind, Prefix, Subject};
use worlds::spec::{MemoryMode, RecoveryOperation, Scenario};

use crate::agenda::{Agenda, AgendaEvent};
use crate::components::call::{Message, Proposal, Returned, ReturnedRecord};
use crate::components::memory::Record;
use crate::components::{FieldLabels, Taint};
use crate::identity::Identity;
use crate::recorder::Recorder;
use crate::rollout::Rollout;
use crate::setup::{Guard, Setup};
use crate::state::State;

/// The role of fed events in draw keys: no agenda event has it.
const FED: u8 = u8::MAX;

/// Feeds the trace so far to the rollout's policy.
pub(crate) fn feed(rollout: &mut Rollout) {
    let world = rollout.world();
    world.resource_scope(|world, mut state: Mut<State>| {
        let State {
            agenda,
            recorder,
            setup,
            identity,
            guard,
            ..
        } = &mut *state;
        for index in 0..recorder.trace.events.len() {
            let past = Past {
                world,
                agenda,
                recorder,
                setup,
                identity,
                index,
            };
            past.feed(guard);
        }
        guard.draws.take_record().for_each(drop);
    });
}

/// One past event.
#[derive(Clone, Copy)]
struct Past<'a> {
    world: &'a World,
    agenda: &'a Agenda,
    recorder: &'a Recorder,
    setup: &'a Setup,
    identity: &'a Identity,
    index: usize,
}

impl<'a> Past<'a> {
    fn event(self) -> &'a Event {
        &self.recorder.trace.events[self.index]
    }

    fn feed(self, guard: &mut Guard) {
        match &self.event().what {
            Happening::EpisodeBegan => {
                self.ask(guard, Hooks::SESSION, self.prefix(true), |policy, view| {
                    policy.on_session(view);
                });
            }
            // The turn of a call may be yet to come; then the policy is asked as ever.
            Happening::Proposed { call } if !self.awaits(AgendaEvent::Authorize(*call)) => {
                let parsed = self.while_next(Self::is_parsed).prefix(true);
                self.ask(guard, Hooks::PROPOSAL, parsed, |policy, view| {
                    policy.on_proposal(view, self.proposal(*call, self.index));
                });
                self.feed_read(guard, *call);
            }
            Happening::Committed { call, .. } => {
                self.feed_commit(guard, *call, self.index, false);
                self.feed_called_write(guard, *call);
            }
            Happening::Filtered { store, .. } => {
                if let Some(call) = self.filtered_write(*store) {
                    self.feed_commit(guard, call, self.index, false);
                }
            }
            Happening::Delivered {
                message: Some(message),
            } => self.feed_message(guard, message.index()),
            Happening::Observed { call, .. } => self.feed_observation(guard, *call),
            Happening::Stored { record, .. } if self.event().agent.is_some() => {
                let record = self.record(*record);
                if record.0.call.is_none() {
                    self.feed_write(guard, record);
                }
            }
            Happening::Recovered {
                step: Some(step), ..
            } => self.feed_recovery(guard, *step),
            _ => {}
        }
    }

    /// Calls the policy with the prefix of that moment.
    fn ask(
        self,
        guard: &mut Guard,
        hook: Hooks,
        prefix: Prefix<'a>,
        call: impl FnOnce(&mut dyn plugins::policy::Policy, &mut View<'_>),
    ) {
        let (member, draws) = guard.first();
        if !member.hooks.contains(hook) {
            return;
        }
        let event = self.event();
        let key = EventKey::ROOT.child(
            FED,
            u32::try_from(self.index).expect("traces are far shorter"),
        );
        draws.at(event.episode, "policy", key);
        let mut view = View {
            briefing: &self.scenario().briefing,
            prefix,
            labels: &self.recorder.labels,
            tick: event.tick,
            episode: event.episode,
            draws,
        };
        call(member.policy.get().as_mut(), &mut view);
    }

    /// The trace before this event, or with it if the hook fired after it was recorded.
    fn prefix(self, including: bool) -> Prefix<'a> {
        let trace = &self.recorder.trace;
        let events = &trace.events[..self.index + usize::from(including)];
        let (nodes, edges) = events.last().map_or((0, 0), |last| {
            (last.nodes_after as usize, last.edges_after as usize)
        });
        // An object that was read is touched without an event.
        let is_earlier = |node: &&Node| node.tick < self.event().tick;
        let touched = trace.nodes[nodes..].iter().take_while(is_earlier).count();
        let calls = events
            .iter()
            .filter(|event| matches!(event.what, Happening::Proposed { .. }))
            .count();
        Prefix {
            nodes: &trace.nodes[..nodes + touched],
            edges: &trace.edges[..edges],
            calls: &trace.calls[..calls],
            events,
        }
    }

    /// The trace before this event, and the node from which something comes: one that was not yet
    /// touched is created before the policy is asked.
    fn prefix_with(self, node: Option<NodeId>) -> Prefix<'a> {
        let trace = &self.recorder.trace;
        let before = self.prefix(false);
        let nodes = node.map_or(0, |node| node.index() + 1);
        let new = trace.edges[before.edges.len()..].iter();
        let into_it = new.take_while(|edge| edge.to.index() < nodes).count();
        Prefix {
            nodes: &trace.nodes[..nodes.max(before.nodes.len())],
            edges: &trace.edges[..before.edges.len() + into_it],
            ..before
        }
    }

    /// The call as it stood after the events up to `last`.
    fn proposal(self, call: CallId, last: usize) -> Proposed<'a> {
        let trace = &self.recorder.trace;
        let proposed = &trace.calls[call.index()];
        let mut earlier = trace.events[..=last].iter().rev();
        let rewritten = earlier.find_map(|event| match &event.what {
            Happening::Rewritten {
                call: it,
                arguments,
            } if *it == call => Some(arguments),
            _ => None,
        });
        let is_its_node =
            |node: &Node| node.kind == NodeKind::Proposal && node.subject == Subject::Call(call);
        let nodes = self.prefix(true).nodes;
        let node = nodes.iter().position(is_its_node).map(NodeId::at);
        Proposed {
            call: proposed,
            tool: &self.scenario().briefing.tools[proposed.tool.index()],
            arguments: rewritten.unwrap_or(&proposed.arguments),
            node,
        }
    }

    fn awaits(self, event: AgendaEvent) -> bool {
        self.agenda.awaits(&event)
    }

    fn scenario(self) -> &'a Scenario {
        &self.setup.prepared.scenario
    }

    fn component(self, call: CallId) -> &'a Proposal {
        let proposals = &self.identity.proposals;
        let proposal = self.world.get(proposals.entity(call.index()));
        proposal.expect("a call id has its entity")
    }

    fn feed_commit(self, guard: &mut Guard, call: CallId, last: usize, including: bool) {
        self.ask(
            guard,
            Hooks::COMMIT,
            self.prefix(including),
            |policy, view| {
                policy.on_commit(view, self.proposal(call, last));
            },
        );
    }

    /// What was asked when a read was carried out.
    fn feed_read(self, guard: &mut Guard, call: CallId) {
        let events = &self.recorder.trace.events;
        let denied =
            |event: &Event| matches!(event.what, Happening::Denied { call: it, .. } if it == call);
        let returned = &self.component(call).returned;
        let last = events.len() - 1;
        if !self.proposal(call, last).tool.operation.is_read()
            || matches!(returned, Some(Returned::Simulated(_)))
            || self.awaits(AgendaEvent::Commit(call))
            || events.iter().any(denied)
        {
            return;
        }
        self.feed_commit(guard, call, last, true);
        if let Some(Returned::Record(returned)) = returned {
            let record = self.record(returned.record);
            self.ask(
                guard,
                Hooks::MEMORY_READ,
                self.prefix(true),
                |policy, view| {
                    policy.on_memory_read(view, self.access(record, Some(call)));
                },
            );
        }
    }

    /// The call that a filter refused to write: the write that the agent had just proposed. What else
    /// a filter stops is a read or no call.
    fn filtered_write(self, store: StoreId) -> Option<CallId> {
        let trace = &self.recorder.trace;
        let agent = self.event().agent;
        let earlier = trace.events[..self.index].iter().rev();
        let mut of_agent = earlier.filter(|event| event.agent == agent);
        let call = of_agent.find_map(|event| match event.what {
            Happening::Proposed { call } => Some(Some(call)),
            Happening::Committed { .. } | Happening::Denied { .. } | Happening::Filtered { .. } => {
                Some(None)
            }
            _ => None,
        })??;
        let tool = self.proposal(call, self.index).tool;
        (tool.operation.written_store() == Some(store)).then_some(call)
    }

    /// A record that a call wrote; nobody is asked about one that is put back.
    fn feed_called_write(self, guard: &mut Guard, call: CallId) {
        let Some(record) = self.component(call).stored else {
            return;
        };
        let operation = self.proposal(call, self.index).tool.operation;
        if !matches!(operation, Operation::MemoryRestore(_)) {
            self.feed_write(guard, self.record(record));
        }
    }

    fn feed_write(self, guard: &mut Guard, record: (&'a Record, &'a Taint)) {
        self.ask(
            guard,
            Hooks::MEMORY_WRITE,
            self.prefix(false),
            |policy, view| {
                policy.on_memory_write(view, self.access(record, record.0.call));
            },
        );
    }

    fn record(self, record: RecordId) -> (&'a Record, &'a Taint) {
        let entity = self.identity.records.entity(record.index());
        let record = self
            .world
            .get::<Record>(entity)
            .expect("a record id has its entity");
        (
            record,
            self.world.get::<Taint>(entity).expect("a record has taint"),
        )
    }

    fn access(
        self,
        (record, taint): (&'a Record, &'a Taint),
        call: Option<CallId>,
    ) -> RecordView<'a> {
        RecordView {
            record: record.record,
            store: record.store,
            key: &record.key,
            content: &record.content,
            labels: &record.labels,
            recorded: taint.recorded,
            agent: self.event().agent,
            call,
        }
    }

    fn feed_message(self, guard: &mut Guard, message: usize) {
        let entity = self.identity.messages.entity(message);
        let message = self
            .world
            .get::<Message>(entity)
            .expect("a message id has its entity");
        let taint = self
            .world
            .get::<Taint>(entity)
            .expect("a message has taint");
        let Some(agent) = message.to else { return };
        let inflow = Inflow {
            agent,
            from: message.from,
            content: &message.content,
            labels: &message.labels,
            recorded: taint.recorded,
            node: taint.node,
        };
        self.ask(
            guard,
            Hooks::MESSAGE,
            self.prefix_with(taint.node),
            |policy, view| {
                policy.on_message(view, inflow);
            },
        );
    }

    fn feed_observation(self, guard: &mut Guard, call: CallId) {
        let prepared = &self.setup.prepared;
        let (content, labels, subject) = match &self.component(call).returned {
            Some(Returned::Source(source)) => (
                &prepared.scenario.sources[source.index()].content,
                prepared.field_labels[source.index()].clone(),
                Subject::Source(*source),
            ),
            Some(Returned::Record(returned)) => (
                &self.record(returned.record).0.content,
                self.labels_as_read(returned),
                Subject::Record(returned.record),
            ),
            Some(Returned::Simulated(_)) | None => return,
        };
        let trace = &self.recorder.trace;
        let is_origin = |node: &Node| node.subject == subject;
        let node = trace.nodes.iter().position(is_origin).map(NodeId::at);
        let recorded = node.map(|node| trace.nodes[node.index()].recorded);
        let inflow = Inflow {
            agent: self.recorder.trace.calls[call.index()].agent,
            from: None,
            content,
            labels: &labels,
            recorded: recorded.unwrap_or_default(),
            node,
        };
        self.ask(
            guard,
            Hooks::OBSERVATION,
            self.prefix_with(node),
            |policy, view| {
                policy.on_observation(view, inflow);
            },
        );
    }

    /// The labels of a record as its reader saw them, which were interned then.
    fn labels_as_read(self, returned: &ReturnedRecord) -> FieldLabels {
        let (record, _) = self.record(returned.record);
        let mut flags = Flags::VIA_MEMORY;
        if record.initial.is_some() || record.episode < self.event().episode {
            flags |= Flags::EARLIER_EPISODE;
        }
        let table = &self.recorder.labels;
        let seen = |&label: &LabelId| {
            table
                .find(&table.get(label).flagged(flags))
                .unwrap_or(label)
        };
        returned.labels.iter().map(seen).collect()
    }

    fn feed_recovery(self, guard: &mut Guard, step: u32) {
        let scenario = self.scenario();
        let Happening::Recovered { kind, .. } = &self.event().what else {
            return;
        };
        let revoked = match scenario.recovery[step as usize].operation {
            RecoveryOperation::Revoke(source) => Some(source),
            _ => None,
        };
        let through = self.while_next(Self::is_of_a_step);
        let records = through.live_records();
        let notice = RecoveryNotice {
            step,
            kind: *kind,
            revoked,
            records: &records,
        };
        through.ask(
            guard,
            Hooks::RECOVERY,
            through.prefix(true),
            |policy, view| {
                policy.on_recovery(view, notice);
            },
        );
    }

    /// The last of the events that follow in this tick and are of this kind.
    fn while_next(self, is: fn(&Event) -> bool) -> Self {
        let later = self.recorder.trace.events[self.index + 1..].iter();
        let following = later.take_while(|event| event.tick == self.event().tick && is(event));
        Self {
            index: self.index + following.count(),
            ..self
        }
    }

    /// Completions of the other agents are parsed before anybody is asked about a call.
    const fn is_parsed(event: &Event) -> bool {
        matches!(
            event.what,
            Happening::Completed { .. }
                | Happening::Proposed { .. }
                | Happening::Sent { .. }
                | Happening::Finished { .. }
        )
    }

    /// A recovery step is through before anybody is asked about it.
    const fn is_of_a_step(event: &Event) -> bool {
        event.agent.is_none()
            && matches!(
                event.what,
                Happening::Removed { step: Some(_), .. }
                    | Happening::Quarantined { .. }
                    | Happening::Stored { .. }
            )
    }

    /// The records of persistent stores that were live at that moment.
    fn live_records(self) -> Vec<RecordSummary> {
        let scenario = self.scenario();
        let events = &self.recorder.trace.events[..=self.index];
        let happened = |record: RecordId, is: fn(&Happening) -> Option<RecordId>| {
            events.iter().any(|event| is(&event.what) == Some(record))
        };
        let stored = |what: &Happening| {
            if let Happening::Stored { record, .. } = what {
                Some(*record)
            } else {
                None
            }
        };
        let removed = |what: &Happening| {
            if let Happening::Removed { record, .. } = what {
                Some(*record)
            } else {
                None
            }
        };
        (0..self.identity.records.used())
            .map(|index| self.record(RecordId::at(index)))
            .filter(|(record, _)| {
                let store = &scenario.stores[record.store.index()];
                let existed = record.initial.is_some() || happened(record.record, stored);
                store.mode == MemoryMode::Persistent && existed && !happened(record.record, removed)
            })
            .map(|(record, taint)| RecordSummary {
                record: record.record,
                store: record.store,
                call: record.call,
                recorded: taint.recorded,
                has_backup: scenario.stores[record.store.index()]
                    .records
                    .iter()
                    .any(|initial| initial.backup && initial.key == record.key),
            })
            .collect()
    }
}
