//! Time, agenda and trace, as every phase reaches for them.

use plugins::ids::{AgentId, NodeId};
use plugins::label::{LabelId, LabelTable};
use plugins::trace::{EdgeKind, Happening, LimitKind, NodeDetail, NodeKind, Outcome, Subject};
use plugins::value::{Content, Field};
use worlds::spec::{FIELD_BYTES, MOST_TEXT_OF_A_ROLLOUT, Scenario};

use crate::agenda::{Agenda, AgendaEvent, Phase, Scheduled};
use crate::clock::{Clock, Due, Halt};
use crate::recorder::{NewNode, Recorder};
use crate::setup::Setup;

/// Time, agenda and trace: what every phase needs.
pub(crate) struct Stage<'a> {
    pub(crate) due: &'a mut Due,
    pub(crate) clock: &'a mut Clock,
    pub(crate) agenda: &'a mut Agenda,
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) setup: &'a Setup,
}

impl Stage<'_> {
    /// Takes the running event if it belongs to `phase`.
    pub(crate) fn take(&mut self, phase: Phase) -> Option<AgendaEvent> {
        self.due
            .event
            .take_if(|scheduled| scheduled.event.phase() == phase)
            .map(|scheduled| scheduled.event)
    }

    pub(crate) fn scenario(&self) -> &Scenario {
        self.setup.scenario()
    }

    pub(crate) fn labels(&self) -> &LabelTable {
        &self.recorder.labels
    }

    /// Whether an untrusted source is among the sources of `label`.
    pub(crate) fn tainted(&self, label: LabelId) -> bool {
        label != LabelId::BOTTOM
            && self
                .labels()
                .get(label)
                .carries(&self.scenario().briefing.untrusted)
    }

    /// Schedules `event` of the system `after` ticks from now.
    pub(crate) fn schedule_system(&mut self, after: u64, event: AgendaEvent) {
        self.schedule_for(0, after, event);
    }

    /// Schedules `event` of `agent` `after` ticks from now.
    pub(crate) fn schedule(&mut self, agent: AgentId, after: u64, event: AgendaEvent) {
        self.schedule_for(agent.0 + 1, after, event);
    }

    fn schedule_for(&mut self, actor: u32, after: u64, event: AgendaEvent) {
        if self.clock.halt != Halt::Running && !event.survives_halt() {
            return;
        }
        let role = event.role();
        let ordinal = &mut self.due.children[usize::from(role)];
        let key = self.clock.key.child(role, *ordinal);
        *ordinal += 1;
        let tick = self.clock.tick.saturating_add(after);
        let sequence = self.clock.sequence;
        self.clock.sequence += 1;
        self.agenda.push(Scheduled {
            tick,
            actor,
            sequence,
            key,
            event,
        });
    }

    /// Stops the agents. The first reason counts.
    pub(crate) fn halt(&mut self, halt: Halt) {
        if self.clock.halt == Halt::Running {
            self.clock.halt = halt;
            self.agenda.halt();
        }
    }

    /// Stops the agents because of a limit.
    pub(crate) fn limit(&mut self, kind: LimitKind) {
        self.halt(Halt::Limit(kind));
    }

    /// Counts `bytes` of a completion; more than a rollout may have is a limit.
    pub(crate) fn count_text(&mut self, bytes: usize) {
        self.clock.text_bytes += bytes as u64;
        if self.clock.text_bytes > MOST_TEXT_OF_A_ROLLOUT {
            self.limit(LimitKind::Text);
        }
    }

    /// Counts a content that is sent, enters a context, is stored or referred to.
    pub(crate) fn count_content(&mut self, content: &Content) {
        let size = |field: &Field| field.name.len() + field.value.len() + FIELD_BYTES;
        self.count_text(content.fields.iter().map(size).sum());
    }

    /// Whether the agents were stopped.
    pub(crate) fn has_halted(&self) -> bool {
        self.clock.halt != Halt::Running
    }

    /// Ends the rollout at once.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        self.agenda.clear();
        self.clock.outcome = Some(outcome.clone());
        self.happen(None, Happening::Ended { outcome });
    }

    /// Records that something happened.
    pub(crate) fn happen(&mut self, agent: Option<AgentId>, what: Happening) {
        self.recorder
            .event(self.clock.tick, self.clock.episode, agent, what);
    }

    /// Creates a node.
    pub(crate) fn node(&mut self, new: NewNode) -> NodeId {
        self.recorder.node(new, self.clock.tick, self.clock.episode)
    }

    /// Creates a decision node about `subject` with an audit edge from each of `origins`, and, for a
    /// quarantine, the audit record under it.
    pub(crate) fn decision(
        &mut self,
        subject: Subject,
        agent: Option<AgentId>,
        detail: NodeDetail,
        origins: &[NodeId],
    ) -> NodeId {
        let node = self.node(NewNode {
            agent,
            ..NewNode::new(NodeKind::Decision, subject).detail(detail)
        });
        for &origin in origins {
            self.recorder.edge(origin, node, EdgeKind::Audit, false);
        }
        if detail == NodeDetail::Quarantine {
            let audit = self.node(NewNode {
                agent,
                ..NewNode::new(NodeKind::Decision, subject).detail(NodeDetail::Audit)
            });
            self.recorder.edge(node, audit, EdgeKind::Audit, false);
        }
        node
    }
}
