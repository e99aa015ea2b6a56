//! Every built-in plugin passes the conformance kit, and composed policies run in the engine.

use std::collections::{BTreeMap, BTreeSet};

use containment_bench::bench::setting;
use containment_bench::{Bench, Choice};
use engine::Rollout;
use models::recorded::{PARAMETER, header};
use plugins::compose::Composition;
use plugins::compose::shadow::Shadow;
use plugins::conformance::{
    check_attacker, check_auditor, check_model, check_parser, check_policy,
};
use plugins::parameters::Parameters;
use plugins::policy::Policy;
use plugins::registry::PluginInfo;

use crate::support::{POLICIES, expect, numbers, root, scene};

const ROUNDS: u64 = 150;

#[test]
fn every_built_in_policy_conforms() {
    let registry = Bench::built_in().registry;
    for info in registry.policies.infos() {
        let (parameters, _) = registry
            .policies
            .resolve(&info.name, &BTreeMap::new())
            .expect("defaults");
        let make = &registry.policies.find(&info.name).expect("listed").1;
        let violations = check_policy(&|| make(&parameters).expect("defaults fit"), ROUNDS);
        assert!(
            violations.is_empty(),
            "{}: {:?}",
            info.name,
            violations.first()
        );
    }
}

/// The policies of which the tests stand beside them: in `policies/field/`, and where one policy is
/// compared in every language.
const ELSEWHERE: [&str; 4] = ["camel", "fides", "progent", "recipient_guard"];

/// The tests that go through every policy leave none out.
#[test]
fn the_tests_know_every_built_in_policy() {
    let registry = Bench::built_in().registry;
    let registered: BTreeSet<_> = registry.policies.infos().map(|info| &*info.name).collect();
    assert_eq!(registered, POLICIES.into_iter().chain(ELSEWHERE).collect());
}

/// What a model needs that has no default: a recording, which for the kit holds nothing.
fn given(info: &PluginInfo) -> BTreeMap<String, String> {
    let recordings = info.parameters.iter().filter(|spec| spec.name == PARAMETER);
    recordings
        .map(|spec| (spec.name.to_owned(), header("any", "any")))
        .collect()
}

#[test]
fn every_built_in_model_conforms() {
    let registry = Bench::built_in().registry;
    for script in [
        "worlds/demos/case2_partner_meeting.script.ron",
        "worlds/topologies/hub_and_eight_workers.script.ron",
    ] {
        let text = std::fs::read_to_string(root().join(script)).expect("a shipped script");
        for info in registry.models.infos() {
            let prepare = &registry.models.find(&info.name).expect("listed").1;
            let resolved = registry.models.resolve(&info.name, &given(info));
            let (parameters, _) = resolved.expect("parameters that it declares");
            let model = prepare(&parameters, &text).expect("a valid script");
            let violations = check_model(&*model, ROUNDS);
            assert!(
                violations.is_empty(),
                "{} on {script}: {:?}",
                info.name,
                violations.first()
            );
        }
    }
}

#[test]
fn every_built_in_parser_attacker_and_auditor_conforms() {
    let registry = Bench::built_in().registry;
    for info in registry.parsers.infos() {
        let parser = (registry.parsers.find(&info.name).expect("listed").1)(&Parameters::default())
            .expect("defaults");
        assert!(check_parser(&*parser, ROUNDS).is_empty(), "{}", info.name);
    }
    for info in registry.attackers.infos() {
        let make = &registry.attackers.find(&info.name).expect("listed").1;
        assert!(
            check_attacker(&|| make(&Parameters::default()).expect("defaults"), ROUNDS).is_empty(),
            "{}",
            info.name
        );
    }
    for info in registry.auditors.infos() {
        let auditor =
            (registry.auditors.find(&info.name).expect("listed").1)(&Parameters::default())
                .expect("defaults");
        assert!(check_auditor(&*auditor, ROUNDS).is_empty(), "{}", info.name);
    }
}

/// Runs case 2 under a policy put together by hand.
fn case_2_under(policy: Box<dyn Policy>) -> Rollout {
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    let plugins = Bench::built_in()
        .plugins(&scene, &"none".into(), &"scripted".into())
        .expect("built-in plugins");
    let plugins = engine::Plugins {
        policy,
        policy_hash: 1,
        ..plugins
    };
    let mut rollout = Rollout::new(&scene.scenario, plugins, &setting(&scene, 1));
    rollout.run();
    rollout
}

fn built_in(name: &str) -> Box<dyn Policy> {
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    Bench::built_in()
        .plugins(&scene, &Choice::from(name), &"scripted".into())
        .expect("built-in plugins")
        .policy
}

#[test]
fn composed_policies_run_in_the_engine() {
    let pair = || vec![built_in("intent_ledger_v2"), built_in("taint_only_v1")];
    let cases: [(&str, Box<dyn Policy>, &str); 3] = [
        (
            "strictest is as strict as its strictest part",
            Box::new(Composition::strictest(pair())),
            "blast_radius_norm 8/12, taint_to_commit_rate 0/4",
        ),
        (
            "first_hit: the ledger has nothing against it, taint-only has",
            Box::new(Composition::first_hit(pair())),
            "taint_to_commit_rate 0/4",
        ),
        (
            "a shadow enforces nothing",
            Box::new(Shadow::new(
                built_in("intent_ledger_v2"),
                built_in("taint_only_v1"),
            )),
            "blast_radius_norm 8/10, taint_to_commit_rate 2/2",
        ),
    ];
    for (what, policy, expected) in cases {
        let rollout = case_2_under(policy);
        expect(
            &numbers(&rollout, plugins::setting::Instrumentation::PAPER),
            what,
            expected,
        );
    }
}
