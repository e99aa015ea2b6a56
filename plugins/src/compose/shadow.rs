//! A policy that is evaluated beside the live one and never enforced.

use std::collections::BTreeMap;

use super::frames::{self, Reader, damaged};
use crate::fault::PLUGIN_FAULT;
use crate::ids::{AgentId, CallId};
use crate::model::Segment;
use crate::policy::{
    CommitVerdict, Hook, Hooks, Inflow, InflowVerdict, MemoryVerdict, Policy, PromptVerdict,
    Proposal, ProposalVerdict, RecordView, RecoveryNotice, RecoveryVerdict, Ruling, SessionVerdict,
    Verdict, VerdictKind, View,
};
use crate::predicate::matches;
use crate::reason::FACTS_MISSING;
use crate::state::{RestoreError, SavedState};

/// One pair of rulings on the same thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sighting {
    /// The hook.
    pub hook: Hook,
    /// What the live policy ruled.
    pub live: VerdictKind,
    /// What the observed policy would have ruled.
    pub observed: VerdictKind,
    /// The rule of the observed policy.
    pub rule: String,
    /// At [`Hook::Proposal`]: the call.
    pub call: Option<ProposedCall>,
}

/// A call on which two policies ruled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProposedCall {
    /// Which.
    pub id: CallId,
    /// Whether the ledger authorises it.
    pub authorized: bool,
}

impl Sighting {
    /// Whether the observed policy had all the facts that it asked for, and ruled itself.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        let mut rules = self.rule.split('+');
        !rules.any(|rule| [FACTS_MISSING, PLUGIN_FAULT].contains(&rule))
    }
}

/// How often each pair of rulings occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShadowLog {
    counts: BTreeMap<Sighting, u64>,
    dropped: u64,
}

impl ShadowLog {
    /// How many different sightings are kept apart.
    const MOST_SIGHTINGS: usize = 1_000;

    /// Every sighting and its count, in order.
    pub fn counts(&self) -> impl Iterator<Item = (&Sighting, u64)> {
        self.counts
            .iter()
            .map(|(sighting, &count)| (sighting, count))
    }

    /// How often the observed policy would have ruled otherwise.
    #[must_use]
    pub fn disagreements(&self) -> u64 {
        self.counts()
            .filter(|(sighting, _)| sighting.live != sighting.observed)
            .map(|(_, count)| count)
            .sum()
    }

    /// How many rulings were not kept because there were too many different ones.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The log inside the saved state of a [`Shadow`], for an owner who holds only a snapshot.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn of_saved(bytes: &[u8]) -> Result<Self, RestoreError> {
        let mut reader = Reader(bytes);
        let log = Self::read(&mut Reader(reader.sized()?))?;
        Ok(log)
    }

    fn note(&mut self, sighting: Sighting) {
        let is_full = self.counts.len() >= Self::MOST_SIGHTINGS;
        if is_full && !self.counts.contains_key(&sighting) {
            self.dropped += 1;
        } else {
            *self.counts.entry(sighting).or_default() += 1;
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.dropped.to_le_bytes());
        out.extend_from_slice(&(self.counts.len() as u64).to_le_bytes());
        for (sighting, count) in &self.counts {
            out.push(sighting.hook as u8);
            out.push(sighting.live as u8);
            out.push(sighting.observed as u8);
            out.extend_from_slice(&(sighting.rule.len() as u64).to_le_bytes());
            out.extend_from_slice(sighting.rule.as_bytes());
            // Calls are counted from 1, so that none is 0.
            let call = sighting.call.map_or(0, |call| u64::from(call.id.0) + 1);
            out.extend_from_slice(&call.to_le_bytes());
            out.push(u8::from(sighting.call.is_some_and(|call| call.authorized)));
            out.extend_from_slice(&count.to_le_bytes());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, RestoreError> {
        let mut log = Self {
            dropped: reader.number()?,
            ..Self::default()
        };
        for _ in 0..reader.number()? {
            let hook = one_of(&HOOKS, reader.byte()?)?;
            let live = one_of(&KINDS, reader.byte()?)?;
            let observed = one_of(&KINDS, reader.byte()?)?;
            let rule = std::str::from_utf8(reader.sized()?)
                .map_err(|_| damaged("a rule is not text"))?
                .to_owned();
            let call = read_call(reader)?;
            let sighting = Sighting {
                hook,
                live,
                observed,
                rule,
                call,
            };
            log.counts.insert(sighting, reader.number()?);
        }
        reader.end()?;
        Ok(log)
    }
}

/// Every hook at the place of its number.
const HOOKS: [Hook; 9] = [
    Hook::Session,
    Hook::Prompt,
    Hook::Observation,
    Hook::Message,
    Hook::Proposal,
    Hook::MemoryWrite,
    Hook::MemoryRead,
    Hook::Commit,
    Hook::Recovery,
];

/// Every kind of verdict at the place of its number.
const KINDS: [VerdictKind; 12] = [
    VerdictKind::Allow,
    VerdictKind::Relabel,
    VerdictKind::Edit,
    VerdictKind::Rewrite,
    VerdictKind::Simulate,
    VerdictKind::Hold,
    VerdictKind::Confirm,
    VerdictKind::Drop,
    VerdictKind::Quarantine,
    VerdictKind::Block,
    VerdictKind::Act,
    VerdictKind::Abort,
];

fn read_call(reader: &mut Reader<'_>) -> Result<Option<ProposedCall>, RestoreError> {
    let number = reader.number()?;
    let authorized = one_of(&[false, true], reader.byte()?)?;
    let Some(id) = number.checked_sub(1) else {
        return Ok(None);
    };
    let id = u32::try_from(id).map_err(|_| damaged("a call that cannot be"))?;
    let id = CallId(id);
    Ok(Some(ProposedCall { id, authorized }))
}

fn one_of<T: Copy>(all: &[T], number: u8) -> Result<T, RestoreError> {
    all.get(usize::from(number))
        .copied()
        .ok_or_else(|| damaged("an unknown hook or verdict"))
}

/// Rules as the live policy does, word for word, and counts what the observed one would have ruled.
/// The observed policy draws from a copy of the keyed draws, so that its draws do not appear in the
/// trace: a trace under a shadow is the trace of the live policy alone.
pub struct Shadow {
    live: Box<dyn Policy>,
    observed: Box<dyn Policy>,
    log: ShadowLog,
}

impl Shadow {
    /// `observed` in the shadow of `live`.
    #[must_use]
    pub fn new(live: Box<dyn Policy>, observed: Box<dyn Policy>) -> Self {
        Self {
            live,
            observed,
            log: ShadowLog::default(),
        }
    }

    /// What was seen so far.
    #[must_use]
    pub const fn log(&self) -> &ShadowLog {
        &self.log
    }

    fn rule<V: Verdict>(
        &mut self,
        hook: Hook,
        call: Option<ProposedCall>,
        view: &mut View<'_>,
        mut ask: impl FnMut(&mut dyn Policy, &mut View<'_>) -> Ruling<V>,
    ) -> Ruling<V> {
        let observed = asked(&mut *self.observed, hook, view, &mut |policy, view| {
            let mut draws = view.draws.clone();
            let mut apart = View {
                draws: &mut draws,
                ..*view
            };
            ask(policy, &mut apart)
        });
        let live = asked(&mut *self.live, hook, view, &mut ask);
        self.log.note(Sighting {
            hook,
            live: live.verdict.kind(),
            observed: observed.verdict.kind(),
            rule: observed.reason.rule.into_owned(),
            call,
        });
        live
    }
}

/// The ruling of `policy`, neutral if it does not use the hook.
fn asked<V: Verdict>(
    policy: &mut dyn Policy,
    hook: Hook,
    view: &mut View<'_>,
    ask: &mut dyn FnMut(&mut dyn Policy, &mut View<'_>) -> Ruling<V>,
) -> Ruling<V> {
    if policy.hooks().contains(hook.into()) {
        ask(policy, view)
    } else {
        Ruling::new(V::neutral(), crate::policy::Reason::default_allow())
    }
}

impl SavedState for Shadow {
    fn save(&self, out: &mut Vec<u8>) {
        let mut log = Vec::new();
        self.log.write(&mut log);
        out.extend_from_slice(&(log.len() as u64).to_le_bytes());
        out.extend_from_slice(&log);
        frames::save([&*self.live, &*self.observed].into_iter(), out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        frames::check_version(version, self.version())?;
        let mut reader = Reader(bytes);
        let log = ShadowLog::read(&mut Reader(reader.sized()?))?;
        frames::restore(vec![&mut *self.live, &mut *self.observed], reader.0)?;
        self.log = log;
        Ok(())
    }
}

impl Policy for Shadow {
    fn hooks(&self) -> Hooks {
        self.live.hooks() | self.observed.hooks()
    }

    fn enforced_hooks(&self) -> Hooks {
        self.live.enforced_hooks()
    }

    fn shadow_log(&self) -> Option<&ShadowLog> {
        Some(&self.log)
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        self.rule(Hook::Session, None, view, |policy, view| {
            policy.on_session(view)
        })
    }

    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        self.rule(Hook::Prompt, None, view, |policy, view| {
            policy.on_prompt(view, agent, segments)
        })
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.rule(Hook::Observation, None, view, |policy, view| {
            policy.on_observation(view, inflow)
        })
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.rule(Hook::Message, None, view, |policy, view| {
            policy.on_message(view, inflow)
        })
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let call = ProposedCall {
            id: proposal.call.id,
            authorized: matches(proposal.view(), &view.briefing.ledger).is_some(),
        };
        self.rule(Hook::Proposal, Some(call), view, |policy, view| {
            policy.on_proposal(view, proposal)
        })
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.rule(Hook::MemoryWrite, None, view, |policy, view| {
            policy.on_memory_write(view, record)
        })
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.rule(Hook::MemoryRead, None, view, |policy, view| {
            policy.on_memory_read(view, record)
        })
    }

    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        self.rule(Hook::Commit, None, view, |policy, view| {
            policy.on_commit(view, proposal)
        })
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        self.rule(Hook::Recovery, None, view, |policy, view| {
            policy.on_recovery(view, notice)
        })
    }
}

#[cfg(test)]
mod tests;
