//! `progent`: Progent's programmable privilege control (arXiv 2504.11703).
//!
//! A rule checker over the arguments of a call. It looks at no label. See `docs/book/field.md` for
//! what is exact.

use std::borrow::Cow;
use std::sync::Arc;

use plugins::ids::CallId;
use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::{
    DecidingField, Evidence, Hooks, Policy, Proposal, ProposalVerdict, Reason, Ruling, View,
};
use plugins::registry::CreateError;
use plugins::rule::Rule as VerdictRule;
use plugins::state::{RestoreError, SavedState};
use plugins::trace::{Answer, Happening, Prefix, Subject};
use serde::{Deserialize, Serialize};

pub mod derive;
pub mod engine;
pub mod text;

use self::derive::{derived_rules, json};
use self::engine::{Arguments, Decision, Fallback, Rule, RuleMap};
use self::text::{Update, read_rules, read_updates};
use crate::parameter::{choice, restored, save, truth, wrong_text};
use crate::rules;

/// What becomes of an update that the generator writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Updating {
    /// The repository: it applies.
    Always,
    /// The repository with `SECAGENT_ONLY_ALLOW_NARROW`: it applies if it only narrows, and is
    /// dropped without a word otherwise.
    OnlyNarrow,
    /// The paper: what narrows applies, what expands waits for an approval.
    Approved,
}

/// What does not change in a rollout.
#[derive(Debug)]
struct Setup {
    given: RuleMap,
    derives: bool,
    updates: Vec<Update>,
    updating: Updating,
}

/// What changes. Updates are named by their position.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// How many events of the trace were looked at.
    seen: u64,
    /// The updates that apply, in order.
    applied: Vec<u32>,
    /// Those that wait for an approval, in order.
    waiting: Vec<u32>,
    /// The calls about which the user was asked because of those.
    asked: Vec<CallId>,
}

/// *Published*: the rules of each tool in the order (priority, forbid before allow); the first that
/// matches decides; a tool without rules is refused; absent arguments are not restricted; if none
/// matches, the fallback of the last rule is taken. Rules of people have priorities below 100 and
/// outlive updates.
///
/// *Given the oracle*: in the original a model writes the rules. Here they are given as text, or
/// derived from the ledger; rulings that rest on derived rules or on updates are `assumed`.
#[derive(Clone, Debug)]
pub struct Progent {
    setup: Arc<Setup>,
    state: State,
}

impl Progent {
    /// Its name.
    pub const NAME: &'static str = "progent";

    /// The policy with these parameters, as declared by [`Progent::parameters`].
    ///
    /// # Errors
    /// When a text of rules or updates is wrong.
    pub fn of_parameters(parameters: &Parameters) -> Result<Self, CreateError> {
        let given = read_rules(parameters.text("rules"))
            .map_err(|problem| wrong_text(Self::NAME, "rules", &problem))?;
        let updates = read_updates(parameters.text("updates"))
            .map_err(|problem| wrong_text(Self::NAME, "updates", &problem))?;
        let updating = match parameters.text("profile") {
            "paper" => Updating::Approved,
            _ if parameters.boolean("only_allow_narrow") => Updating::OnlyNarrow,
            _ => Updating::Always,
        };
        let setup = Setup {
            given,
            derives: parameters.text("generator") == "ledger",
            updates,
            updating,
        };
        Ok(Self {
            setup: Arc::new(setup),
            state: State::default(),
        })
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![
            choice(
                "profile",
                "What becomes of an update of the rules: in the paper one that expands needs an \
                 approval, in the repository it applies.",
                &["paper", "repository"],
            ),
            choice(
                "generator",
                "Who writes the generated rules: an oracle from the ledger that the policy is \
                 given, or nobody.",
                &["ledger", "none"],
            ),
            crate::parameter::text(
                "rules",
                "Rules as JSON in Progent's form, beside the generated ones; priorities below 100 \
                 are people's.",
            ),
            crate::parameter::text(
                "updates",
                "What the generator writes after results of tools, as a JSON list of objects with \
                 `after`, a tool, and `rules`.",
            ),
            truth(
                "only_allow_narrow",
                "Under the profile `repository`: drops an update that is not shown to narrow \
                 (`SECAGENT_ONLY_ALLOW_NARROW`).",
                false,
            ),
        ]
    }

    /// The rules without any update.
    fn first_rules(&self, view: &View<'_>) -> Cow<'_, RuleMap> {
        if !self.setup.derives {
            return Cow::Borrowed(&self.setup.given);
        }
        let mut map = derived_rules(view.briefing);
        for (tool, rules) in self.setup.given.iter() {
            map.add(tool, rules.iter().cloned());
        }
        Cow::Owned(map)
    }

    /// `rules` after these updates.
    fn after<'a>(&self, rules: Cow<'a, RuleMap>, updates: &[u32]) -> Cow<'a, RuleMap> {
        updates.iter().fold(rules, |rules, &update| {
            match self.setup.updates.get(update as usize) {
                Some(update) => Cow::Owned(rules.updated(&update.rules)),
                None => rules,
            }
        })
    }

    /// Looks at what happened since the last question.
    fn catch_up(&mut self, view: &View<'_>) {
        let prefix = view.prefix;
        let seen = usize::try_from(self.state.seen).unwrap_or(usize::MAX);
        self.state.seen = prefix.events.len() as u64;
        if self.setup.updates.is_empty() {
            return;
        }
        for event in prefix.events.get(seen..).unwrap_or_default() {
            match &event.what {
                Happening::Observed { call, kept: true } => self.observed(view, prefix, *call),
                Happening::Asked {
                    subject: Subject::Call(call),
                    answer: Answer::Approved,
                } if self.state.asked.contains(call) => {
                    for update in std::mem::take(&mut self.state.waiting) {
                        append(&mut self.state.applied, update);
                    }
                }
                _ => {}
            }
        }
    }

    /// The generator has seen the result of a call and writes its updates.
    fn observed(&mut self, view: &View<'_>, prefix: Prefix<'_>, call: CallId) {
        let Some(call) = prefix.call(call) else {
            return;
        };
        let tool = &view.briefing.tools[call.tool.index()].name;
        for (position, update) in (0..).zip(&self.setup.updates) {
            if *update.after != **tool {
                continue;
            }
            let now = self.after(self.first_rules(view), &self.state.applied);
            let narrows = || now.updated(&update.rules).is_within(&now);
            let (applies, waits) = match self.setup.updating {
                Updating::Always => (true, false),
                Updating::OnlyNarrow => (narrows(), false),
                Updating::Approved => {
                    let narrows = narrows();
                    (narrows, !narrows)
                }
            };
            if applies {
                append(&mut self.state.applied, position);
            } else if waits {
                append(&mut self.state.waiting, position);
            }
        }
    }

    fn rule_on(&mut self, view: &View<'_>, proposal: &Proposal<'_>) -> Ruling<ProposalVerdict> {
        let tool = &*proposal.tool.name;
        let arguments = arguments(proposal);
        let now = self.after(self.first_rules(view), &self.state.applied);
        let decision = now.check(tool, &arguments);
        let rests_on_oracle = self.setup.derives || !self.setup.updates.is_empty();
        let of_oracle = |ruling: Ruling<ProposalVerdict>| {
            let reason = if rests_on_oracle {
                ruling.reason.assumed()
            } else {
                ruling.reason
            };
            Ruling::new(ruling.verdict, reason)
        };
        if !decision.allows() && !self.state.waiting.is_empty() {
            let then = self.after(Cow::Borrowed(&*now), &self.state.waiting);
            if then.check(tool, &arguments).allows() {
                let reason = rules::PROGENT_CONFIRM_EXPANSION.reason();
                let ruling = Ruling::new(ProposalVerdict::Confirm, reason);
                if !self.state.asked.contains(&proposal.call.id) {
                    self.state.asked.push(proposal.call.id);
                }
                return of_oracle(ruling);
            }
        }
        of_oracle(ruling(decision, proposal, &arguments))
    }
}

/// Appends `update`, which then stands nowhere else.
fn append(updates: &mut Vec<u32>, update: u32) {
    updates.retain(|&other| other != update);
    updates.push(update);
}

/// The arguments of a call by their canonical names, as JSON.
fn arguments(proposal: &Proposal<'_>) -> Arguments {
    let given = proposal.arguments.iter();
    given
        .map(|argument| {
            let spec = &proposal.tool.arguments[usize::from(argument.position)];
            (spec.name.to_string(), json(&argument.value))
        })
        .collect()
}

fn ruling(
    decision: Decision<'_>,
    proposal: &Proposal<'_>,
    arguments: &Arguments,
) -> Ruling<ProposalVerdict> {
    let (rule, by) = match (decision, decision.fallback()) {
        (Decision::Allowed(by), _) => (&rules::PROGENT_ALLOW, Some(by)),
        (Decision::Forbidden(by), Some(Fallback::Terminate)) => {
            (&rules::PROGENT_ABORT_FORBIDDEN, Some(by))
        }
        (Decision::Forbidden(by), Some(Fallback::Confirm)) => {
            (&rules::PROGENT_CONFIRM_FORBIDDEN, Some(by))
        }
        (Decision::Forbidden(by), _) => (&rules::PROGENT_BLOCK_FORBIDDEN, Some(by)),
        (Decision::Unmatched(by), Some(Fallback::Terminate)) => {
            (&rules::PROGENT_ABORT_UNMATCHED, by)
        }
        (Decision::Unmatched(by), Some(Fallback::Confirm)) => {
            (&rules::PROGENT_CONFIRM_UNMATCHED, by)
        }
        (Decision::Unmatched(by), _) => (&rules::PROGENT_BLOCK_UNMATCHED, by),
        (Decision::UnknownTool, _) => (&rules::PROGENT_BLOCK_UNKNOWN_TOOL, None),
    };
    let mut reason = reason_of(rule, by);
    match decision {
        Decision::Unmatched(Some(by)) => {
            let refused = by.refused(arguments);
            let positions = refused.filter_map(|name| proposal.tool.argument(name));
            reason = reason.with_fields(positions.map(DecidingField::Argument));
        }
        Decision::UnknownTool => reason = reason.with_fields([DecidingField::Action]),
        _ => {}
    }
    Ruling::new(verdict(rule), reason)
}

fn reason_of(rule: &VerdictRule, by: Option<&Rule>) -> Reason {
    let entry = by.and_then(|by| by.entry);
    rule.reason()
        .with_evidence(entry.map(Evidence::LedgerEntry))
}

fn verdict(rule: &VerdictRule) -> ProposalVerdict {
    use plugins::policy::VerdictKind;
    match rule.verdict {
        VerdictKind::Allow => ProposalVerdict::Allow,
        VerdictKind::Confirm => ProposalVerdict::Confirm,
        VerdictKind::Abort => ProposalVerdict::Abort,
        _ => ProposalVerdict::Block,
    }
}

impl SavedState for Progent {
    fn save(&self, out: &mut Vec<u8>) {
        save(&self.state, out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        self.state = restored(bytes, version, self.version())?;
        Ok(())
    }
}

impl Policy for Progent {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        self.catch_up(view);
        self.rule_on(view, &proposal)
    }
}

#[cfg(test)]
mod tests;
