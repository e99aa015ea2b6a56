//! `recipient_guard`: the same policy as the files in `policies/recipient_guard/`, which write it as
//! rules, in Cedar, in Python and in WebAssembly. All five rule alike on every call, reasons included,
//! so each can be read beside the others.

use plugins::facts::Counts;
use plugins::policy::{Hooks, Policy, Proposal, ProposalVerdict, Ruling, View};
use plugins::predicate::matches;
use plugins::state::SavedState;
use plugins::tool::Role;

use crate::rules::{self, Rule};

/// High-risk calls that may commit in a rollout.
const MOST_COMMITS: u64 = 2;

/// *Ours*, to show how a policy is written. Of a high-risk call it asks three things: whether a
/// recipient comes from untrusted content, whether the ledger names the call, and how many such calls
/// have committed before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipientGuard;

impl SavedState for RecipientGuard {}

impl Policy for RecipientGuard {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        if !proposal.tool.high_risk() {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let rule = |verdict, rule: &Rule| Ruling::new(verdict, rule.reason());
        let call = proposal.view();
        let mut recipients = call.with_role(Role::Recipient);
        if recipients.any(|recipient| view.tainted(recipient.label)) {
            return rule(ProposalVerdict::Block, &rules::TAINTED_RECIPIENT);
        }
        if matches(call, &view.briefing.ledger).is_none() {
            return rule(ProposalVerdict::Confirm, &rules::UNLISTED_ACTION);
        }
        let so_far = Counts::of_high_risk(view.prefix, view.briefing);
        if so_far.committed >= MOST_COMMITS {
            return rule(ProposalVerdict::Block, &rules::TOO_MANY_COMMITS);
        }
        rule(ProposalVerdict::Allow, &rules::ALLOW_LISTED_ACTION)
    }
}

#[cfg(test)]
mod tests {
    use plugins::conformance::check_policy;

    use super::*;
    use crate::desk::{Features, decide};

    #[test]
    fn it_keeps_the_contract() {
        assert_eq!(check_policy(&|| Box::new(RecipientGuard), 20), []);
    }

    #[test]
    fn it_asks_for_what_the_ledger_lacks_and_allows_the_rest() {
        for features in Features::all() {
            let world = features.world();
            let ruling = decide(&mut RecipientGuard, &world, plugins::ids::CallId(0));
            let expected = match (features.class, features.matched) {
                (plugins::tool::RiskClass::Low, _) => "default_allow",
                (_, false) => "unlisted_action",
                (_, true) => "allow_listed_action",
            };
            assert_eq!(ruling.reason.rule, expected, "{features:?}");
        }
    }
}
