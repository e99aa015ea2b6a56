//! Several policies as one.
//!
//! How verdicts combine is never implicit: [`Composition::strictest`], [`Composition::first_hit`]
//! and [`Composition::priority`] differ in which members are asked and agree in everything else.
//! [`Shadow`](shadow::Shadow) evaluates a policy beside the live one and never enforces it.
//!
//! What the three have in common:
//!
//! - Members stand in groups. A group is asked as a whole, group after group, until one decides.
//! - Among the rulings of those asked the most severe verdict wins, in the order of
//!   [`VerdictKind`]: an abort dominates everything, a block stands before a confirmation.
//! - The reason keeps the rule of every ruling that was not an allow, joined by `+`, with all their
//!   fields and evidence; it rests on an assumption if one of them does. If all allow, it keeps the
//!   rules of the explicit allows.
//! - Verdicts of the same kind are merged where both can be had (two maskings, two narrowings, two
//!   recoveries, rewrites of different arguments); see [`merge`]. Changes of the same thing to
//!   different values are refused as [`REWRITE_CONFLICT`].
//! - After a rewrite all are asked once more about the rewritten call. See
//!   [`Composition::on_proposal`](Policy::on_proposal).

pub mod merge;
pub mod shadow;

mod frames;

use crate::action::Argument;
use crate::ids::AgentId;
use crate::label::LabelId;
use crate::model::Segment;
use crate::policy::{
    CommitVerdict, DEFAULT_ALLOW, Hook, Hooks, Inflow, InflowVerdict, MemoryVerdict, Policy,
    PromptVerdict, Proposal, ProposalVerdict, RecordView, RecoveryNotice, RecoveryVerdict, Ruling,
    SessionVerdict, Verdict, VerdictKind, View,
};
use crate::state::{RestoreError, SavedState};
use crate::value::Value;
use merge::{Merge, conflict, merged};

pub use merge::REWRITE_CONFLICT;

/// When a group has decided, so that later groups are not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decisive {
    /// A ruling other than an allow.
    Denial,
    /// A match: any ruling but an allow that names no rule ([`DEFAULT_ALLOW`]), by which a policy
    /// says that it has nothing to say.
    Match,
}

/// One policy and the group in which it is asked.
struct Member {
    group: i32,
    policy: Box<dyn Policy>,
}

/// Several policies that rule as one.
pub struct Composition {
    decisive: Decisive,
    members: Vec<Member>,
}

impl Composition {
    /// All are asked; the most severe verdict wins.
    #[must_use]
    pub fn strictest(policies: Vec<Box<dyn Policy>>) -> Self {
        Self::grouped(
            Decisive::Denial,
            policies.into_iter().map(|policy| (0, policy)),
        )
    }

    /// In the order given, the first that does not allow wins; later ones are not asked.
    #[must_use]
    pub fn first_hit(policies: Vec<Box<dyn Policy>>) -> Self {
        Self::grouped(Decisive::Denial, (0..).zip(policies))
    }

    /// The lowest number first; the first match wins, be it an allow; at equal numbers a denial
    /// stands before an allow. A neutral allow, whose rule is [`DEFAULT_ALLOW`], is no match.
    #[must_use]
    pub fn priority(policies: Vec<(i32, Box<dyn Policy>)>) -> Self {
        Self::grouped(Decisive::Match, policies)
    }

    fn grouped(
        decisive: Decisive,
        policies: impl IntoIterator<Item = (i32, Box<dyn Policy>)>,
    ) -> Self {
        let mut members: Vec<_> = policies
            .into_iter()
            .map(|(group, policy)| Member { group, policy })
            .collect();
        members.sort_by_key(|member| member.group);
        Self { decisive, members }
    }

    /// The rulings of those asked, in order. Members that do not use the hook are never asked.
    fn rulings<V: Merge>(
        &mut self,
        hook: Hook,
        mut ask: impl FnMut(&mut dyn Policy) -> Ruling<V>,
    ) -> Vec<Ruling<V>> {
        let decisive = self.decisive;
        let decides = |ruling: &Ruling<V>| {
            ruling.verdict.kind() != VerdictKind::Allow
                || decisive == Decisive::Match && ruling.reason.rule != DEFAULT_ALLOW
        };
        let mut rulings: Vec<Ruling<V>> = Vec::new();
        let mut last_group = None;
        for member in &mut self.members {
            if !member.policy.hooks().contains(hook.into()) {
                continue;
            }
            if last_group != Some(member.group) && rulings.iter().any(decides) {
                break;
            }
            last_group = Some(member.group);
            rulings.push(ask(&mut *member.policy));
        }
        rulings
    }

    fn rule<V: Merge>(
        &mut self,
        hook: Hook,
        ask: impl FnMut(&mut dyn Policy) -> Ruling<V>,
    ) -> Ruling<V> {
        merged(self.rulings(hook, ask))
    }
}

impl SavedState for Composition {
    fn save(&self, out: &mut Vec<u8>) {
        let states = self.members.iter().map(|member| &*member.policy);
        frames::save(states, out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        frames::check_version(version, self.version())?;
        let members = self.members.iter_mut();
        frames::restore(members.map(|member| &mut *member.policy).collect(), bytes)
    }
}

impl Policy for Composition {
    fn hooks(&self) -> Hooks {
        let hooks = self.members.iter().map(|member| member.policy.hooks());
        hooks.fold(Hooks::empty(), Hooks::union)
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        self.rule(Hook::Session, |policy| policy.on_session(view))
    }

    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        self.rule(Hook::Prompt, |policy| {
            policy.on_prompt(view, agent, segments)
        })
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.rule(Hook::Observation, |policy| {
            policy.on_observation(view, inflow)
        })
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.rule(Hook::Message, |policy| policy.on_message(view, inflow))
    }

    /// If some member rewrites and none refuses, all are asked once more about the rewritten call:
    /// then it is rewritten if nobody objects, and a block, a simulation or an abort stands. A hold
    /// or a confirmation of the rewritten call is a [`REWRITE_CONFLICT`], since either would later
    /// let the call through with its first arguments; so is a second rewrite.
    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let first = self.rulings(Hook::Proposal, |policy| policy.on_proposal(view, proposal));
        let rewrites: Vec<_> = first
            .iter()
            .filter(|ruling| ruling.verdict.kind() == VerdictKind::Rewrite)
            .cloned()
            .collect();
        let first = merged(first);
        if rewrites.is_empty() || commits_nothing(&first.verdict) {
            return first;
        }
        let rewrite = merged(rewrites);
        let ProposalVerdict::Rewrite(changes) = &rewrite.verdict else {
            return rewrite;
        };
        let arguments = rewritten(&proposal, changes, view);
        let rewritten_proposal = Proposal {
            arguments: &arguments,
            ..proposal
        };
        let second = self.rule(Hook::Proposal, |policy| {
            policy.on_proposal(view, rewritten_proposal)
        });
        resolve(rewrite, second, &rewritten_proposal, view)
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.rule(Hook::MemoryWrite, |policy| {
            policy.on_memory_write(view, record)
        })
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.rule(Hook::MemoryRead, |policy| {
            policy.on_memory_read(view, record)
        })
    }

    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        self.rule(Hook::Commit, |policy| policy.on_commit(view, proposal))
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        self.rule(Hook::Recovery, |policy| policy.on_recovery(view, notice))
    }
}

/// Whether the call cannot take effect, now or later, so that rewriting it is idle.
fn commits_nothing(verdict: &ProposalVerdict) -> bool {
    matches!(
        verdict,
        ProposalVerdict::Block | ProposalVerdict::Abort | ProposalVerdict::Simulate(_)
    )
}

/// What becomes of a rewrite after everybody was asked about the rewritten call.
fn resolve(
    rewrite: Ruling<ProposalVerdict>,
    second: Ruling<ProposalVerdict>,
    proposal: &Proposal<'_>,
    view: &View<'_>,
) -> Ruling<ProposalVerdict> {
    match &second.verdict {
        ProposalVerdict::Allow => rewrite,
        ProposalVerdict::Rewrite(again)
            if rewritten(proposal, again, view) == proposal.arguments =>
        {
            rewrite
        }
        verdict if commits_nothing(verdict) => {
            let reason = merge::joined_reason(&[&rewrite, &second], &second.reason);
            Ruling::new(second.verdict, reason)
        }
        _ => conflict(ProposalVerdict::Block, &[&rewrite, &second]),
    }
}

/// The arguments after a rewrite. A changed argument keeps its label, because a policy cannot
/// intern a new one here; the engine gives it the join of the call when it commits. A position that
/// the tool lacks is ignored, as by the engine.
fn rewritten(proposal: &Proposal<'_>, changes: &[(u16, Value)], view: &View<'_>) -> Vec<Argument> {
    let mut arguments = proposal.arguments.to_vec();
    for (position, value) in changes {
        if usize::from(*position) >= proposal.tool.arguments.len() {
            continue;
        }
        match arguments.binary_search_by_key(position, |argument| argument.position) {
            Ok(found) if arguments[found].value == *value => {}
            Ok(found) => {
                arguments[found].value = value.clone();
                arguments[found].referent = None;
            }
            Err(place) => {
                let label = label_of_an_added_argument(proposal, view);
                let added = Argument {
                    position: *position,
                    value: value.clone(),
                    label,
                    referent: None,
                };
                arguments.insert(place, added);
            }
        }
    }
    arguments
}

/// A label for an argument that a rewrite adds: one of the call, tainted if any is.
fn label_of_an_added_argument(proposal: &Proposal<'_>, view: &View<'_>) -> LabelId {
    let mut labels = proposal.arguments.iter().map(|argument| argument.label);
    labels
        .find(|&label| view.tainted(label))
        .unwrap_or(proposal.call.choice)
}

#[cfg(test)]
mod stubs;
#[cfg(test)]
mod tests;
