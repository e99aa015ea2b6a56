//! The toy policy of all outside languages against the same policy written in Rust.

use plugins::conformance::generate::{random_world, world};
use plugins::conformance::sample::World;
use plugins::policy::{
    DenialReason, Hooks, Policy, Proposal, ProposalVerdict, Reason, Ruling, View,
};
use plugins::predicate::matches;
use plugins::state::SavedState;
use plugins::tool::Role;

use super::{ask, policy};

const FILE: &str =
    include_str!("../../../../../policies/recipient_guard/recipient_guard.rules.ron");

struct Native;

impl SavedState for Native {}

impl Policy for Native {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let ruling = |verdict, rule, denial| Ruling::new(verdict, Reason::new(rule, denial));
        if !proposal.tool.high_risk() {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let call = proposal.view();
        let mut recipients = call.with_role(Role::Recipient);
        if recipients.any(|recipient| view.tainted(recipient.label)) {
            let denial = DenialReason::TaintedPrivilegeJump;
            return ruling(ProposalVerdict::Block, "tainted_recipient", denial);
        }
        if matches(call, &view.briefing.ledger).is_none() {
            let denial = DenialReason::ConfirmationRequired;
            return ruling(ProposalVerdict::Confirm, "unlisted_action", denial);
        }
        let tools = &view.briefing.tools;
        let is_risky = |tool: plugins::ids::ToolId| tools[tool.index()].high_risk();
        let commits = view.prefix.commits();
        if commits.filter(|(call, _)| is_risky(call.tool)).count() >= 2 {
            let denial = DenialReason::OutsideUserGoal;
            return ruling(ProposalVerdict::Block, "too_many_commits", denial);
        }
        let denial = DenialReason::PluginFault;
        ruling(ProposalVerdict::Allow, "allow_listed_action", denial)
    }
}

#[test]
fn the_file_decides_as_the_same_policy_in_rust() {
    let mut of_file = policy(FILE);
    assert_eq!(of_file.hooks(), Native.hooks());
    let mut rules = std::collections::BTreeMap::new();
    let worlds = (0..600).map(random_world).chain((0..24).map(world));
    for world in worlds {
        for call in calls(&world) {
            let native = ask(&mut Native, &world, call);
            assert_eq!(ask(&mut *of_file, &world, call), native);
            *rules.entry(native.reason.rule.to_string()).or_insert(0) += 1;
        }
    }
    // Every rule and the neutral answer were compared.
    assert_eq!(rules.len(), 5, "{rules:?}");
    assert!(rules.values().all(|&times| times > 20), "{rules:?}");
}

fn calls(world: &World) -> Vec<plugins::ids::CallId> {
    world.trace.calls.iter().map(|call| call.id).collect()
}
