//! One rollout as a module lives through it: the instance, what it has read, and what is saved.

use std::sync::Arc;

use plugins::action::Call;
use plugins::facts::Counts;
use plugins::policy::View;
use plugins::reason::{Hook, Reason, Ruling};
use plugins::state::RestoreError;
use plugins::tool::ToolSpec;
use plugins::trace::{Answer, Happening, Prefix, Subject};

use crate::answer::{Payload, reason};
use crate::codes::Code;
use crate::event::Known;
use crate::guest::Guest;
use crate::load::Loaded;
use crate::message::Message;
use crate::question::{About, BothCounts};
use crate::{briefing, event, question};

/// The state of one rollout.
pub(crate) struct Run {
    loaded: Arc<Loaded>,
    /// The instance, once there was a question.
    guest: Option<Guest>,
    /// How many events are counted and, if it reads events, the instance has read.
    seen: usize,
    counts: BothCounts,
    /// What the instance is to be given back once it has read so many events.
    pending: Option<Kept>,
    /// Something went wrong: nothing is asked any more.
    faulted: bool,
    message: Message,
}

/// Own state of a module, and after how many events it was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    events: u64,
    bytes: Vec<u8>,
}

/// The first byte of a saved state: the module keeps none, or was not asked yet.
const NOTHING: u8 = 0;
/// A fault happened.
const FAULTED: u8 = 1;
/// State of the module's own follows: after how many events, and the bytes.
const KEPT: u8 = 2;

impl Run {
    /// A rollout that has not begun.
    pub(crate) fn new(loaded: Arc<Loaded>) -> Self {
        Self {
            loaded,
            guest: None,
            seen: 0,
            counts: BothCounts::default(),
            pending: None,
            faulted: false,
            message: Message::default(),
        }
    }

    /// What the module rules; none if it failed, now or before.
    pub(crate) fn rule<V>(
        &mut self,
        view: &View<'_>,
        hook: Hook,
        about: &About<'_>,
        read: impl FnOnce(Code, &mut Payload<'_>) -> Result<V, String>,
    ) -> Option<Ruling<V>> {
        if self.faulted {
            return None;
        }
        match self.ask(view, hook, about, read) {
            Ok(ruling) => Some(ruling),
            Err(message) => {
                self.fail(Some(hook), message);
                None
            }
        }
    }

    /// Notes a fault. The instance is of no use any more.
    fn fail(&mut self, hook: Option<Hook>, message: String) {
        self.faulted = true;
        self.guest = None;
        self.pending = None;
        self.loaded.faults.add(hook, message);
    }

    fn ask<V>(
        &mut self,
        view: &View<'_>,
        hook: Hook,
        about: &About<'_>,
        read: impl FnOnce(Code, &mut Payload<'_>) -> Result<V, String>,
    ) -> Result<Ruling<V>, String> {
        let mut guest = self.informed(view)?;
        question::write(&mut self.message, view, hook, about, &self.counts);
        let answer = guest.ask(hook, &self.message)?;
        let most = self.loaded.limits.payload_bytes;
        let memory = guest.memory();
        let verdict = read(answer.code, &mut Payload::new(memory, answer.payload, most))?;
        let mut evidence = Payload::new(memory, answer.evidence, most);
        let rules = &self.loaded.rules;
        let reason: Reason = reason(&answer, rules, &mut evidence, view, tool_of(about))?;
        self.guest = Some(guest);
        Ok(Ruling::new(verdict, reason))
    }

    /// The instance, which knows all that has happened. It is put back after the question, so that
    /// one that failed is gone.
    fn informed(&mut self, view: &View<'_>) -> Result<Guest, String> {
        let prefix = view.prefix;
        if prefix.events.len() < self.seen {
            // The trace was cut although nothing was restored. What the module keeps stays.
            self.pending = self.kept()?;
            self.forget();
        }
        let mut guest = match self.guest.take() {
            Some(guest) => guest,
            None => self.begin(view)?,
        };
        if let Some(kept) = self.pending.take() {
            let then = usize::try_from(kept.events).unwrap_or(usize::MAX);
            self.read(&mut guest, view, then.min(prefix.events.len()))?;
            guest.restore(&kept.bytes)?;
        }
        self.read(&mut guest, view, prefix.events.len())?;
        Ok(guest)
    }

    /// A new instance that is told of the rollout.
    fn begin(&mut self, view: &View<'_>) -> Result<Guest, String> {
        let mut guest = Guest::start(&self.loaded.pre, self.loaded.limits)?;
        briefing::write(&mut self.message, view.briefing);
        guest.reset(&self.message)?;
        Ok(guest)
    }

    /// Counts the events up to `end` and lets the module read them, one by one.
    fn read(&mut self, guest: &mut Guest, view: &View<'_>, end: usize) -> Result<(), String> {
        let known = Known {
            briefing: view.briefing,
            labels: view.labels,
        };
        for position in self.seen..end {
            self.count(view, position);
            if guest.reads_events() {
                event::write(&mut self.message, view.prefix, position, known);
                guest.append(&self.message)?;
            }
        }
        self.seen = self.seen.max(end);
        Ok(())
    }

    /// As [`Counts::of`] counts, one event at a time.
    fn count(&mut self, view: &View<'_>, position: usize) {
        let Some((call, counting)) = counted(view.prefix, position) else {
            return;
        };
        let high_risk = view.briefing.tools[call.tool.index()].high_risk();
        counting(&mut self.counts[0]);
        if high_risk {
            counting(&mut self.counts[1]);
        }
    }

    fn forget(&mut self) {
        self.guest = None;
        self.seen = 0;
        self.counts = BothCounts::default();
    }

    /// The state of the module's own.
    fn kept(&mut self) -> Result<Option<Kept>, String> {
        let Some(guest) = &mut self.guest else {
            return Ok(self.pending.clone());
        };
        if !guest.keeps_state() {
            return Ok(None);
        }
        Ok(Some(Kept {
            events: self.seen as u64,
            bytes: guest.save()?,
        }))
    }

    /// Appends what is to be known after going back.
    pub(crate) fn save(&mut self, out: &mut Vec<u8>) {
        let kept = match self.kept() {
            Ok(kept) => kept,
            Err(message) => {
                self.fail(None, message);
                None
            }
        };
        match kept {
            _ if self.faulted => out.push(FAULTED),
            None => out.push(NOTHING),
            Some(kept) => {
                out.push(KEPT);
                out.extend(kept.events.to_le_bytes());
                out.extend(kept.bytes);
            }
        }
    }

    /// Goes back to what [`Run::save`] wrote. The module learns of it at the next question.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let damaged = |what: &str| RestoreError::Damaged(what.into());
        let (faulted, pending) = match bytes {
            [NOTHING] => (false, None),
            [FAULTED] => (true, None),
            [KEPT, rest @ ..] => {
                let (events, state) = rest
                    .split_first_chunk()
                    .ok_or_else(|| damaged("it ends too early"))?;
                if !self.loaded.keeps_state {
                    return Err(damaged("this module keeps no state"));
                }
                let kept = Kept {
                    events: u64::from_le_bytes(*events),
                    bytes: state.to_vec(),
                };
                (false, Some(kept))
            }
            _ => return Err(damaged("it is no state of a WebAssembly policy")),
        };
        self.forget();
        self.faulted = faulted;
        self.pending = pending;
        Ok(())
    }

    /// Fuel that the instance has used so far.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> Option<u64> {
        self.guest.as_ref().map(Guest::spent)
    }

    /// The counts as the next question would show them.
    #[cfg(test)]
    pub(crate) const fn counts(&self) -> &BothCounts {
        &self.counts
    }
}

/// The tool of the call that a question is about.
fn tool_of<'a>(about: &About<'a>) -> Option<&'a ToolSpec> {
    match about {
        About::Call(proposal) => Some(proposal.tool),
        _ => None,
    }
}

/// The call that an event counts for, and what it counts.
fn counted(prefix: Prefix<'_>, position: usize) -> Option<(&Call, fn(&mut Counts))> {
    let (call, counting): (_, fn(&mut Counts)) = match &prefix.events[position].what {
        Happening::Proposed { call } => (*call, |counts| counts.proposed += 1),
        Happening::Committed { call, .. } => (*call, |counts| counts.committed += 1),
        Happening::Denied { call, .. } => (*call, |counts| counts.denied += 1),
        Happening::Asked {
            subject: Subject::Call(call),
            answer: Answer::Approved,
        } => (*call, |counts| {
            counts.asked += 1;
            counts.approved += 1;
        }),
        Happening::Asked {
            subject: Subject::Call(call),
            ..
        } => (*call, |counts| counts.asked += 1),
        _ => return None,
    };
    Some((prefix.call(call)?, counting))
}
