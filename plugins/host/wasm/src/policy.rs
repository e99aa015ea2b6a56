//! A module as a policy.

use std::cell::RefCell;
use std::sync::Arc;

use plugins::fault;
use plugins::ids::AgentId;
use plugins::model::Segment;
use plugins::policy::{
    CommitVerdict, Inflow, InflowVerdict, MemoryVerdict, Policy, PromptVerdict, Proposal,
    ProposalVerdict, RecordView, RecoveryNotice, RecoveryVerdict, SessionVerdict, View,
};
use plugins::reason::{Hook, Hooks, Ruling};
use plugins::state::{RestoreError, SavedState};

use crate::answer;
use crate::load::Loaded;
use crate::question::About;
use crate::run::Run;

/// The version of saved states.
const STATE: u32 = 1;

/// One instance of a module, as one rollout uses it.
pub(crate) struct WasmPolicy {
    hooks: Hooks,
    /// Saving asks the module, which moves its fuel.
    run: RefCell<Run>,
}

impl WasmPolicy {
    /// A policy at the beginning of a rollout.
    pub(crate) fn new(loaded: &Arc<Loaded>) -> Self {
        Self {
            hooks: loaded.hooks,
            run: RefCell::new(Run::new(Arc::clone(loaded))),
        }
    }

    fn inflow(&mut self, view: &View<'_>, hook: Hook, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        let run = self.run.get_mut();
        let ruling = run.rule(view, hook, &About::Inflow(inflow), |code, payload| {
            answer::inflow(code, payload, view.briefing)
        });
        ruling.unwrap_or_else(fault::on_inflow)
    }

    fn memory(
        &mut self,
        view: &View<'_>,
        hook: Hook,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let run = self.run.get_mut();
        let ruling = run.rule(view, hook, &About::Record(record), |code, payload| {
            answer::memory(code, payload, view.briefing)
        });
        ruling.unwrap_or_else(fault::on_memory)
    }

    /// Fuel that the instance has used so far.
    #[cfg(test)]
    pub(crate) fn run(&self) -> std::cell::Ref<'_, Run> {
        self.run.borrow()
    }
}

impl SavedState for WasmPolicy {
    fn version(&self) -> u32 {
        STATE
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.run.borrow_mut().save(out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        if version != STATE {
            return Err(RestoreError::Version {
                found: version,
                expected: STATE,
            });
        }
        self.run.get_mut().restore(bytes)
    }
}

impl Policy for WasmPolicy {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        if !self.hooks.contains(Hooks::SESSION) {
            return Ruling::<SessionVerdict>::neutral();
        }
        let run = self.run.get_mut();
        let ruling = run.rule(view, Hook::Session, &About::Session, |code, payload| {
            answer::session(code, payload, view.briefing)
        });
        ruling.unwrap_or_else(|| fault::on_session(view))
    }

    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        if !self.hooks.contains(Hooks::PROMPT) {
            return Ruling::<PromptVerdict>::neutral();
        }
        let run = self.run.get_mut();
        let about = About::Prompt(agent, segments);
        let ruling = run.rule(view, Hook::Prompt, &about, |code, payload| {
            answer::prompt(code, payload, view.briefing, segments.len())
        });
        ruling.unwrap_or_else(|| fault::on_prompt(view, segments))
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        if !self.hooks.contains(Hooks::OBSERVATION) {
            return Ruling::<InflowVerdict>::neutral();
        }
        self.inflow(view, Hook::Observation, inflow)
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        if !self.hooks.contains(Hooks::MESSAGE) {
            return Ruling::<InflowVerdict>::neutral();
        }
        self.inflow(view, Hook::Message, inflow)
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        if !self.hooks.contains(Hooks::PROPOSAL) {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let run = self.run.get_mut();
        let about = About::Call(proposal);
        let ruling = run.rule(view, Hook::Proposal, &about, |code, payload| {
            answer::proposal(code, payload, proposal.tool)
        });
        ruling.unwrap_or_else(fault::on_proposal)
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        if !self.hooks.contains(Hooks::MEMORY_WRITE) {
            return Ruling::<MemoryVerdict>::neutral();
        }
        self.memory(view, Hook::MemoryWrite, record)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        if !self.hooks.contains(Hooks::MEMORY_READ) {
            return Ruling::<MemoryVerdict>::neutral();
        }
        self.memory(view, Hook::MemoryRead, record)
    }

    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        if !self.hooks.contains(Hooks::COMMIT) {
            return Ruling::<CommitVerdict>::neutral();
        }
        let run = self.run.get_mut();
        let about = About::Call(proposal);
        let ruling = run.rule(view, Hook::Commit, &about, |code, _| answer::commit(code));
        ruling.unwrap_or_else(fault::on_commit)
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        if !self.hooks.contains(Hooks::RECOVERY) {
            return Ruling::<RecoveryVerdict>::neutral();
        }
        let run = self.run.get_mut();
        let calls = view.prefix.calls.len();
        let about = About::Recovery(notice);
        let ruling = run.rule(view, Hook::Recovery, &about, |code, payload| {
            answer::recovery(code, payload, notice.records, calls)
        });
        ruling.unwrap_or_else(|| fault::on_recovery(view, notice))
    }
}
