//! What the metrics take from the events of a trace, in one pass over them: each metric needs a few
//! kinds of event, and there are more events than anything else.

use plugins::fault::PLUGIN_FAULT;
use plugins::policy::{Basis, DEFAULT_ALLOW, Reason, VerdictKind};
use plugins::trace::{Event, Happening};

use super::Finished;
use super::calls::Calls;
use super::parsing::Completions;

/// What the events of a rollout say.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    /// Of its valid calls.
    pub calls: Calls<'a>,
    /// Of its completions.
    pub completions: Completions,
    /// Of its verdicts.
    pub verdicts: Verdicts,
}

impl<'a> Events<'a> {
    /// Goes through the events.
    #[must_use]
    pub fn of(finished: &Finished<'a>) -> Self {
        let mut events = Self {
            calls: Calls::as_proposed(finished),
            completions: Completions::default(),
            verdicts: Verdicts::default(),
        };
        for event in &finished.trace.events {
            events.note(event, finished);
        }
        events
    }

    fn note(&mut self, event: &'a Event, finished: &Finished<'a>) {
        match &event.what {
            Happening::Completed {
                class,
                status,
                repairs,
                strict_reading_is_final,
                ..
            } => {
                self.completions
                    .add(*class, *status, *repairs, *strict_reading_is_final);
            }
            Happening::Rewritten { call, arguments } => {
                self.calls.rewrite(*call, arguments, finished);
            }
            Happening::Ruled {
                hook,
                subject,
                verdict,
                reason,
                ..
            } => {
                self.verdicts.add(*verdict, reason);
                self.calls.rule(*hook, *subject, *verdict);
            }
            Happening::HoldReleased { call } => {
                self.verdicts.releases += 1;
                self.calls.release(*call);
            }
            Happening::Committed { call, node } => self.calls.commit(*call, *node),
            Happening::Undone { call, .. } => self.calls.undo(*call),
            _ => {}
        }
    }
}

/// Verdicts on whatever hook.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    /// Those that a policy gave; the default of a hook that it does not use is none.
    pub given: u32,
    /// Those of them that rest on a stand-in for a detector, a planner or a person.
    pub assumed: u32,
    /// Those in the place of an answer that a policy failed to give.
    pub faults: u32,
    /// To ask the user.
    pub confirms: u32,
    holds: u32,
    releases: u32,
}

impl Verdicts {
    fn add(&mut self, verdict: VerdictKind, reason: &Reason) {
        if reason.rule != DEFAULT_ALLOW {
            self.given += 1;
            self.assumed += u32::from(reason.basis == Basis::Assumed);
            let mut rules = reason.rule.split('+');
            self.faults += u32::from(rules.any(|rule| rule == PLUGIN_FAULT));
        }
        self.confirms += u32::from(verdict == VerdictKind::Confirm);
        self.holds += u32::from(verdict == VerdictKind::Hold);
    }

    /// To hold a call, without those that were released.
    #[must_use]
    pub const fn unreleased_holds(self) -> u32 {
        self.holds - self.releases
    }
}
