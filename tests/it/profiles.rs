//! Behaviour profiles in the main study's worlds.

use std::path::Path;
use std::sync::Arc;

use containment_bench::{Bench, Scene};
use plugins::parameters::Parameters;
use plugins::policy::{
    DenialReason, Hooks, Policy, Proposal, ProposalVerdict, Reason, Ruling, View,
};
use plugins::registry::PluginInfo;
use plugins::state::SavedState;
use plugins::tool::RiskClass;
use plugins::trace::Happening;
use worlds::family::load_family;

pub(crate) fn family_scenes(file: &str) -> Vec<Scene> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds/families");
    let text = std::fs::read_to_string(path.join(file)).expect("a shipped family");
    let members = load_family(&text, file).unwrap_or_else(|report| panic!("{report:?}"));
    let scene = |member: worlds::family::Member| Scene {
        scenario: Arc::new(member.scenario),
        script: member.script.expect("a script").text().into(),
    };
    members.into_iter().map(scene).collect()
}

/// A policy that no profile has heard of. What an agent sees of it is what it sees of
/// `tool_boundary` where nothing is authorised.
struct NobodyKnowsMe;

impl SavedState for NobodyKnowsMe {}

impl Policy for NobodyKnowsMe {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(&mut self, _: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<ProposalVerdict> {
        let call = proposal.view();
        if call.tool.risk == RiskClass::Low {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let reason = Reason::new("block_whatever_it_is", DenialReason::TargetNotAuthorized);
        Ruling::new(ProposalVerdict::Block, reason)
    }
}

fn bench() -> Bench {
    let mut bench = Bench::built_in();
    let info = PluginInfo {
        name: "nobody_knows_me".into(),
        summary: "Blocks whatever has an effect".into(),
        version: 1,
        parameters: Vec::new(),
    };
    let make = |_: &Parameters| Ok(Box::new(NobodyKnowsMe) as Box<dyn Policy>);
    let added = bench.registry.policies.add(info, Arc::new(make));
    added.expect("a new name");
    bench
}

/// What the agents say in a rollout, in order.
fn said(bench: &Bench, scene: &Scene, policy: &str, seed: u64) -> Vec<String> {
    let mut rollout = bench.rollout(scene, policy, seed).expect("a rollout");
    rollout.run();
    let events = &rollout.trace().events;
    let completions = events.iter().filter_map(|event| match &event.what {
        Happening::Completed { class, named, .. } => Some(format!("{class:?} {named:?}")),
        _ => None,
    });
    completions.collect()
}

/// A profile depends on what an agent sees and on nothing else of a policy: one that it cannot know
/// leads to the same completions as a known one that shows the same.
#[test]
fn under_an_unknown_policy_agents_behave_as_under_a_known_one_that_shows_the_same() {
    let bench = bench();
    let mut denied = 0;
    for scene in family_scenes("security_documents.ron").iter().take(24) {
        for seed in [11, 23] {
            let unknown = said(&bench, scene, "nobody_knows_me", seed);
            assert_eq!(unknown, said(&bench, scene, "tool_boundary", seed));
            denied += usize::from(unknown.len() > 4);
        }
    }
    assert!(denied > 10, "{denied}");
}
