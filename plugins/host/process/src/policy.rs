//! A policy that is a process.

use std::sync::Arc;

use plugins::fault;
use plugins::ids::AgentId;
use plugins::model::Segment;
use plugins::policy::{
    CommitVerdict, Hook, Hooks, Inflow, InflowVerdict, MemoryVerdict, Policy, PromptVerdict,
    Proposal, ProposalVerdict, RecordView, RecoveryNotice, RecoveryVerdict, Ruling, SessionVerdict,
    View,
};
use plugins::state::{RestoreError, SavedState};
use serde_json::json;

use crate::hear::{self, Answer};
use crate::pool::Pool;
use crate::session::{STATE_VERSION, Session};
use crate::tell::{self, Object, Question};
use crate::words::Word;

/// One instance, for one rollout.
pub(crate) struct ProcessPolicy {
    session: Session,
}

impl ProcessPolicy {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self {
            session: Session::new(pool),
        }
    }

    /// Asks at `hook`; none is a fault. `facts` is what the hook is about, `hear` makes a ruling of
    /// the answer.
    fn ask<V>(
        &mut self,
        hook: Hook,
        view: &View<'_>,
        facts: impl Fn() -> Object,
        hear: impl Fn(&Answer) -> Result<Ruling<V>, String>,
    ) -> Option<Ruling<V>> {
        let graph = self.session.pool.hello.wants_graph;
        let question = Question {
            rollout: Some(view.draws.rollout()),
            reset: &|| tell::briefing(view.briefing),
            events: view.prefix.events.len(),
            event: &|position| tell::event(view, position, graph),
            facts: &|| {
                let mut told = Object::new();
                told.insert("tick".into(), json!(view.tick));
                told.insert("episode".into(), json!(view.episode));
                told.extend(facts());
                told
            },
        };
        self.session.ask(Some(hook), hook.word(), question, hear)
    }

    fn inflow(
        &mut self,
        hook: Hook,
        view: &View<'_>,
        inflow: &Inflow<'_>,
    ) -> Ruling<InflowVerdict> {
        if !self.hooks().contains(hook.into()) {
            return Ruling::<InflowVerdict>::neutral();
        }
        let facts = || tell::inflow(view, inflow);
        let ruling = self.ask(hook, view, facts, |answer| hear::inflow(answer, view));
        ruling.unwrap_or_else(fault::on_inflow)
    }

    fn memory(
        &mut self,
        hook: Hook,
        view: &View<'_>,
        record: &RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        if !self.hooks().contains(hook.into()) {
            return Ruling::<MemoryVerdict>::neutral();
        }
        let facts = || tell::record(view, record);
        let ruling = self.ask(hook, view, facts, |answer| hear::memory(answer, view));
        ruling.unwrap_or_else(fault::on_memory)
    }
}

impl SavedState for ProcessPolicy {
    fn version(&self) -> u32 {
        STATE_VERSION
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.session.save(out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        self.session.restore(bytes, version)
    }
}

impl Policy for ProcessPolicy {
    fn hooks(&self) -> Hooks {
        self.session.pool.hello.hooks
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        if !self.hooks().contains(Hooks::SESSION) {
            return Ruling::<SessionVerdict>::neutral();
        }
        let view = &*view;
        let hear = |answer: &Answer| hear::session(answer, view);
        let ruling = self.ask(Hook::Session, view, Object::new, hear);
        ruling.unwrap_or_else(|| fault::on_session(view))
    }

    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        if !self.hooks().contains(Hooks::PROMPT) {
            return Ruling::<PromptVerdict>::neutral();
        }
        let view = &*view;
        let facts = || tell::prompt(view, agent, segments);
        let hear = |answer: &Answer| hear::prompt(answer, view, segments.len());
        let ruling = self.ask(Hook::Prompt, view, facts, hear);
        ruling.unwrap_or_else(|| fault::on_prompt(view, segments))
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.inflow(Hook::Observation, view, &inflow)
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.inflow(Hook::Message, view, &inflow)
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        if !self.hooks().contains(Hooks::PROPOSAL) {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let view = &*view;
        let facts = || tell::proposal(view, &proposal);
        let hear = |answer: &Answer| hear::proposal(answer, view, proposal.tool);
        let ruling = self.ask(Hook::Proposal, view, facts, hear);
        ruling.unwrap_or_else(fault::on_proposal)
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.memory(Hook::MemoryWrite, view, &record)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.memory(Hook::MemoryRead, view, &record)
    }

    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        if !self.hooks().contains(Hooks::COMMIT) {
            return Ruling::<CommitVerdict>::neutral();
        }
        let view = &*view;
        let facts = || tell::proposal(view, &proposal);
        let hear = |answer: &Answer| hear::commit(answer, view, proposal.tool);
        let ruling = self.ask(Hook::Commit, view, facts, hear);
        ruling.unwrap_or_else(fault::on_commit)
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        if !self.hooks().contains(Hooks::RECOVERY) {
            return Ruling::<RecoveryVerdict>::neutral();
        }
        let view = &*view;
        let facts = || tell::recovery(view, &notice);
        let hear = |answer: &Answer| hear::recovery(answer, view, &notice);
        let ruling = self.ask(Hook::Recovery, view, facts, hear);
        ruling.unwrap_or_else(|| fault::on_recovery(view, notice))
    }
}
