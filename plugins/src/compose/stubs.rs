//! Policies to compose in tests.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::frames;
use crate::action::Argument;
use crate::briefing::Trust;
use crate::conformance::sample::{World, argument, given, tool};
use crate::draws::{Draws, RolloutKey};
use crate::ids::CallId;
use crate::label::Readers;
use crate::policy::{DenialReason, Hooks, Policy, Proposal, ProposalVerdict, Reason, Ruling, View};
use crate::state::{RestoreError, SavedState};
use crate::tool::{RiskClass, Role};
use crate::value::{Content, Value};

pub(super) const TO: u16 = 0;
pub(super) const BODY: u16 = 1;
pub(super) const CC: u16 = 2;

/// One tool `send(to, body, cc)` and one call that gives `to` and `body`, both tainted.
pub(super) fn world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let label = world.label_of(&[note]);
    let mut spec = tool("send", RiskClass::Outbound, "mailbox");
    spec.arguments = vec![
        argument("to", Role::Recipient),
        argument("body", Role::Content),
        argument("cc", Role::Recipient),
    ];
    let send = world.add_tool(spec);
    let arguments = vec![
        given(TO, Value::text("outsider"), label),
        given(BODY, Value::text("secret"), label),
    ];
    world.add_call(send, arguments);
    world
}

pub(super) type Decide = fn(&[Argument]) -> ProposalVerdict;

/// A policy that decides on the arguments alone and tells when it is asked.
pub(super) struct Member {
    pub(super) rule: &'static str,
    pub(super) decide: Decide,
    pub(super) told: Option<Sender<(&'static str, Vec<Argument>)>>,
}

impl SavedState for Member {}

impl Policy for Member {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(&mut self, _: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<ProposalVerdict> {
        if let Some(told) = &self.told {
            told.send((self.rule, proposal.arguments.to_vec())).unwrap();
        }
        let reason = Reason::new(self.rule, DenialReason::OutsideUserGoal);
        Ruling::new((self.decide)(proposal.arguments), reason)
    }
}

/// Members that tell when they are asked.
pub(super) struct Panel {
    told: Sender<(&'static str, Vec<Argument>)>,
    pub(super) asked: Receiver<(&'static str, Vec<Argument>)>,
}

impl Panel {
    pub(super) fn new() -> Self {
        let (told, asked) = channel();
        Self { told, asked }
    }

    pub(super) fn member(&self, rule: &'static str, decide: Decide) -> Box<dyn Policy> {
        let told = Some(self.told.clone());
        Box::new(Member { rule, decide, told })
    }

    /// The rules of those asked since the last call, in order.
    pub(super) fn asked(&self) -> Vec<&'static str> {
        self.asked.try_iter().map(|(rule, _)| rule).collect()
    }
}

pub(super) fn allow(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Allow
}

pub(super) fn block(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Block
}

pub(super) fn confirm(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Confirm
}

pub(super) fn hold(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Hold
}

pub(super) fn abort(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Abort
}

pub(super) fn simulate(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Simulate(Content::single("text", "done"))
}

pub(super) fn redact(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Rewrite(vec![(BODY, Value::text("[redacted]"))])
}

pub(super) fn readdress(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Rewrite(vec![(TO, Value::text("partner"))])
}

pub(super) fn readdress_otherwise(_: &[Argument]) -> ProposalVerdict {
    ProposalVerdict::Rewrite(vec![(TO, Value::text("boss"))])
}

/// Whether the argument at `position` says `text`.
pub(super) fn says(arguments: &[Argument], position: u16, text: &str) -> bool {
    arguments
        .iter()
        .any(|argument| argument.position == position && argument.value == Value::text(text))
}

pub(super) fn block_secrets(arguments: &[Argument]) -> ProposalVerdict {
    if says(arguments, BODY, "secret") {
        ProposalVerdict::Block
    } else {
        ProposalVerdict::Allow
    }
}

pub(super) fn confirm_secrets(arguments: &[Argument]) -> ProposalVerdict {
    if says(arguments, BODY, "secret") {
        ProposalVerdict::Confirm
    } else {
        ProposalVerdict::Allow
    }
}

pub(super) fn block_redacted(arguments: &[Argument]) -> ProposalVerdict {
    if says(arguments, BODY, "[redacted]") {
        ProposalVerdict::Block
    } else {
        ProposalVerdict::Allow
    }
}

pub(super) fn simulate_redacted(arguments: &[Argument]) -> ProposalVerdict {
    if says(arguments, BODY, "[redacted]") {
        simulate(arguments)
    } else {
        ProposalVerdict::Allow
    }
}

/// Never satisfied with what it wrote.
pub(super) fn lengthen(arguments: &[Argument]) -> ProposalVerdict {
    let body = arguments[usize::from(BODY)].value.to_string() + "!";
    ProposalVerdict::Rewrite(vec![(BODY, Value::text(&body))])
}

pub(super) fn decide(policy: &mut dyn Policy) -> Ruling<ProposalVerdict> {
    let world = world();
    let mut draws = Draws::new(RolloutKey::default());
    policy.on_proposal(&mut world.view(&mut draws), world.proposal(CallId(0)))
}

/// Uses every hook and never says anything.
pub(super) struct Idle;

impl SavedState for Idle {}

impl Policy for Idle {
    fn hooks(&self) -> Hooks {
        Hooks::all()
    }
}

/// Scrubs one record in recovery; refuses to restore anything but its own number.
pub(super) struct Recoverer(pub(super) u8);

impl SavedState for Recoverer {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        frames::check_version(version, self.version())?;
        match bytes {
            [number] if *number == self.0 => Ok(()),
            _ => Err(frames::damaged("another number")),
        }
    }
}

impl Policy for Recoverer {
    fn hooks(&self) -> Hooks {
        Hooks::RECOVERY
    }
}

/// Blocks every second proposal: a policy with state.
#[derive(Default)]
pub(super) struct Alternating(u8);

impl SavedState for Alternating {
    fn version(&self) -> u32 {
        7
    }

    fn save(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        frames::check_version(version, self.version())?;
        let [count] = bytes else {
            return Err(frames::damaged("not one byte"));
        };
        self.0 = *count;
        Ok(())
    }
}

impl Policy for Alternating {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(&mut self, _: &mut View<'_>, _: Proposal<'_>) -> Ruling<ProposalVerdict> {
        self.0 = self.0.wrapping_add(1);
        let reason = Reason::new("alternate", DenialReason::OutsideUserGoal);
        let verdict = if self.0.is_multiple_of(2) {
            ProposalVerdict::Block
        } else {
            ProposalVerdict::Allow
        };
        Ruling::new(verdict, reason)
    }
}

pub(super) fn alternating() -> Box<dyn Policy> {
    Box::new(Alternating::default())
}

pub(super) fn saved(state: &dyn Policy) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.save(&mut bytes);
    bytes
}

/// Draws, so that a trace would show it.
pub(super) struct Drawing;

impl SavedState for Drawing {}

impl Policy for Drawing {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(&mut self, view: &mut View<'_>, _: Proposal<'_>) -> Ruling<ProposalVerdict> {
        let reason = Reason::new(
            if view.draws.bits("coin").is_multiple_of(2) {
                "heads"
            } else {
                "tails"
            },
            DenialReason::OutsideUserGoal,
        );
        Ruling::new(ProposalVerdict::Block, reason)
    }
}
