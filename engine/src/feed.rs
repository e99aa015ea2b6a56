//! A policy that joins in mid-trace is fed the past: its hooks see what they would have seen, each
//! with the prefix of that moment, and its verdicts are ignored. Prompts are not part of a trace,
//! so `on_prompt` is not fed.

use std::sync::Arc;

use plugins::action::Call;
use plugins::draws::EventKey;
use plugins::ids::{NodeId, RecordId};
use plugins::policy::{
    Hooks, Inflow, Proposal as Proposed, RecordSummary, RecordView, RecoveryNotice, View,
};
use plugins::trace::{Event, Happening, NodeKind, Prefix, Subject};
use worlds::spec::{MemoryMode, RecoveryOperation};

use crate::components::Taint;
use crate::components::call::{Message, Proposal, Returned};
use crate::components::memory::Record;
use crate::identity::Identity;
use crate::recorder::Recorder;
use crate::rollout::Rollout;
use crate::setup::{Guard, Setup};

/// The role of fed events in draw keys: no agenda event has it.
const FED: u8 = u8::MAX;

/// Feeds the trace so far to the rollout's policy.
pub(crate) fn feed(rollout: &mut Rollout) {
    let world = rollout.world();
    let mut guard = world
        .remove_resource::<Guard>()
        .expect("every rollout has a policy");
    let recorder = world.resource::<Recorder>();
    for index in 0..recorder.trace.events.len() {
        Past {
            world,
            recorder,
            index,
        }
        .feed(&mut guard);
    }
    guard.draws.take_record().for_each(drop);
    world.insert_resource(guard);
}

/// One past event.
#[derive(Clone, Copy)]
struct Past<'a> {
    world: &'a bevy_ecs::prelude::World,
    recorder: &'a Recorder,
    index: usize,
}

impl<'a> Past<'a> {
    fn event(self) -> &'a Event {
        &self.recorder.trace.events[self.index]
    }

    fn feed(self, guard: &mut Guard) {
        match &self.event().what {
            Happening::EpisodeBegan => self.ask(guard, Hooks::SESSION, true, |policy, view| {
                policy.on_session(view);
            }),
            Happening::Proposed { call } => {
                let call = &self.recorder.trace.calls[call.index()];
                self.ask(guard, Hooks::PROPOSAL, true, |policy, view| {
                    policy.on_proposal(view, self.proposal(call));
                });
            }
            Happening::Committed { call, .. } => {
                let call = &self.recorder.trace.calls[call.index()];
                self.ask(guard, Hooks::COMMIT, false, |policy, view| {
                    policy.on_commit(view, self.proposal(call));
                });
            }
            Happening::Delivered {
                message: Some(message),
            } => self.feed_message(guard, message.index()),
            Happening::Observed { call, .. } => self.feed_observation(guard, call.index()),
            Happening::Stored { record, .. } if self.event().agent.is_some() => {
                let record = self.record(*record);
                self.ask(guard, Hooks::MEMORY_WRITE, false, |policy, view| {
                    policy.on_memory_write(view, self.access(record));
                });
            }
            Happening::Recovered {
                step: Some(step), ..
            } => self.feed_recovery(guard, *step),
            _ => {}
        }
    }

    /// Calls the policy with the prefix of that moment, which includes the event itself if the hook
    /// fired after it was recorded.
    fn ask(
        self,
        guard: &mut Guard,
        hook: Hooks,
        including: bool,
        call: impl FnOnce(&mut dyn plugins::policy::Policy, &mut View<'_>),
    ) {
        if !guard.hooks.contains(hook) {
            return;
        }
        let event = self.event();
        let key = EventKey::ROOT.child(
            FED,
            u32::try_from(self.index).expect("traces are far shorter"),
        );
        guard.draws.at(event.episode, "policy", key);
        let mut view = View {
            briefing: &self.world.resource::<Setup>().prepared.scenario.briefing,
            prefix: self.prefix(including),
            labels: &self.recorder.labels,
            tick: event.tick,
            episode: event.episode,
            draws: &mut guard.draws,
        };
        call(guard.policy.get().as_mut(), &mut view);
    }

    fn prefix(self, including: bool) -> Prefix<'a> {
        let trace = &self.recorder.trace;
        let events = &trace.events[..self.index + usize::from(including)];
        let (nodes, edges) = events.last().map_or((0, 0), |last| {
            (last.nodes_after as usize, last.edges_after as usize)
        });
        let calls = events
            .iter()
            .filter(|event| matches!(event.what, Happening::Proposed { .. }))
            .count();
        Prefix {
            nodes: &trace.nodes[..nodes],
            edges: &trace.edges[..edges],
            calls: &trace.calls[..calls],
            events,
        }
    }

    fn proposal(self, call: &'a Call) -> Proposed<'a> {
        let tool = &self
            .world
            .resource::<Setup>()
            .prepared
            .scenario
            .briefing
            .tools[call.tool.index()];
        let prefix = self.prefix(true);
        let is_its_node = |node: &plugins::trace::Node| {
            node.kind == NodeKind::Proposal && node.subject == Subject::Call(call.id)
        };
        let node = prefix.nodes.iter().position(is_its_node).map(NodeId::at);
        Proposed {
            call,
            tool,
            arguments: &call.arguments,
            node,
        }
    }

    fn record(self, record: RecordId) -> (&'a Record, &'a Taint) {
        let entity = self
            .world
            .resource::<Identity>()
            .records
            .entity(record.index());
        let record = self
            .world
            .get::<Record>(entity)
            .expect("a record id has its entity");
        (
            record,
            self.world.get::<Taint>(entity).expect("a record has taint"),
        )
    }

    fn access(self, (record, taint): (&'a Record, &'a Taint)) -> RecordView<'a> {
        RecordView {
            record: record.record,
            store: record.store,
            key: &record.key,
            content: &record.content,
            labels: &record.labels,
            recorded: taint.recorded,
            agent: self.event().agent,
            call: record.call,
        }
    }

    fn feed_message(self, guard: &mut Guard, message: usize) {
        let entity = self.world.resource::<Identity>().messages.entity(message);
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
        self.ask(guard, Hooks::MESSAGE, false, |policy, view| {
            policy.on_message(view, inflow);
        });
    }

    fn feed_observation(self, guard: &mut Guard, call: usize) {
        let entity = self.world.resource::<Identity>().proposals.entity(call);
        let proposal = self
            .world
            .get::<Proposal>(entity)
            .expect("a call id has its entity");
        let prepared = Arc::clone(&self.world.resource::<Setup>().prepared);
        let (content, labels, subject) = match &proposal.returned {
            Some(Returned::Source(source)) => (
                prepared.scenario.sources[source.index()].content.clone(),
                prepared.field_labels[source.index()].clone(),
                Subject::Source(*source),
            ),
            Some(Returned::Record(returned)) => {
                let record = self.record(returned.record);
                self.ask(guard, Hooks::MEMORY_READ, false, |policy, view| {
                    policy.on_memory_read(view, self.access(record));
                });
                (
                    record.0.content.clone(),
                    returned.labels.clone(),
                    Subject::Record(returned.record),
                )
            }
            Some(Returned::Simulated(_)) | None => return,
        };
        let nodes = self.prefix(false).nodes;
        let node = nodes
            .iter()
            .position(|node| node.subject == subject)
            .map(NodeId::at);
        let recorded = node
            .map(|node| nodes[node.index()].recorded)
            .unwrap_or_default();
        let inflow = Inflow {
            agent: proposal.agent,
            from: None,
            content: &content,
            labels: &labels,
            recorded,
            node,
        };
        self.ask(guard, Hooks::OBSERVATION, false, |policy, view| {
            policy.on_observation(view, inflow);
        });
    }

    fn feed_recovery(self, guard: &mut Guard, step: u32) {
        let scenario = &self.world.resource::<Setup>().prepared.scenario;
        let Happening::Recovered { kind, .. } = &self.event().what else {
            return;
        };
        let revoked = match scenario.recovery[step as usize].operation {
            RecoveryOperation::Revoke(source) => Some(source),
            _ => None,
        };
        let records = self.live_records();
        let notice = RecoveryNotice {
            step,
            kind: *kind,
            revoked,
            records: &records,
        };
        self.ask(guard, Hooks::RECOVERY, true, |policy, view| {
            policy.on_recovery(view, notice);
        });
    }

    /// The records of persistent stores that were live at that moment.
    fn live_records(self) -> Vec<RecordSummary> {
        let scenario = &self.world.resource::<Setup>().prepared.scenario;
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
        (0..self.world.resource::<Identity>().records.used())
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
