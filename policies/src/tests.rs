use std::collections::{BTreeMap, BTreeSet};

use plugins::compose::Composition;
use plugins::compose::shadow::Shadow;
use plugins::conformance::{check_policy, hooks_exercised};
use plugins::parameters::ParameterKind;
use plugins::policy::{Hooks, ProposalVerdict, Verdict};

use super::*;
use crate::desk::{decide, random_calls};

const NAMES: [&str; 9] = [
    "cross_agent_taint_firewall",
    "intent_ledger_v2",
    "none",
    "prompt_only",
    "recipient_guard",
    "rollback_v2",
    "structured_guard",
    "taint_only_v1",
    "tool_boundary",
];

fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry).unwrap();
    registry
}

fn make(name: &str, given: &BTreeMap<String, String>) -> Box<dyn Policy> {
    let registry = registry();
    let (parameters, _) = registry.policies.resolve(name, given).unwrap();
    let (_, factory) = registry.policies.find(name).unwrap();
    factory(&parameters).unwrap()
}

/// The defaults of a policy, and every other word and truth value of one parameter, or a few
/// probabilities.
fn settings(info: &PluginInfo) -> Vec<BTreeMap<String, String>> {
    let mut settings = vec![BTreeMap::new()];
    for spec in &info.parameters {
        let values: Vec<String> = match &spec.kind {
            ParameterKind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            ParameterKind::Boolean(_) => vec!["true".to_owned(), "false".to_owned()],
            ParameterKind::Probability(_) => ["0", "0.5", "1"].map(str::to_owned).to_vec(),
            other => panic!("{other:?}: say here which values to try"),
        };
        settings.extend(
            values
                .into_iter()
                .map(|value| BTreeMap::from([(spec.name.to_owned(), value)])),
        );
    }
    settings
}

#[test]
fn every_policy_is_registered_once_under_its_name() {
    let mut registry = registry();
    let names: Vec<_> = registry.policies.infos().map(|info| &*info.name).collect();
    assert_eq!(names, NAMES);
    assert_eq!(&*register(&mut registry).unwrap_err().name, "none");
}

#[test]
fn every_policy_says_what_it_and_its_parameters_are() {
    let registry = registry();
    for info in registry.policies.infos() {
        assert!(info.summary.ends_with('.'), "{}", info.summary);
        for spec in &info.parameters {
            assert!(
                spec.doc.ends_with('.') && !spec.doc.contains("  "),
                "{}",
                spec.doc
            );
        }
    }
}

#[test]
fn every_setting_has_a_hash_of_its_own() {
    let registry = registry();
    for info in registry.policies.infos() {
        let resolved: Vec<_> = settings(info)
            .iter()
            .map(|given| registry.policies.resolve(&info.name, given).unwrap())
            .collect();
        for (parameters, hash) in &resolved {
            for (others, other) in &resolved {
                assert_eq!(hash == other, parameters == others);
            }
        }
    }
}

#[test]
fn every_policy_keeps_the_laws_under_every_setting() {
    for info in registry().policies.infos() {
        for given in settings(info) {
            let violations = check_policy(&|| make(&info.name, &given), 60);
            assert_eq!(violations, [], "{} {given:?}", info.name);
        }
    }
}

#[test]
fn every_declared_hook_acts_somewhere() {
    for name in NAMES {
        let made = || make(name, &BTreeMap::new());
        assert_eq!(hooks_exercised(&made, 400), made().hooks(), "{name}");
    }
    assert_eq!(make("none", &BTreeMap::new()).hooks(), Hooks::empty());
}

#[test]
fn compositions_of_built_in_policies_keep_the_laws() {
    let member = |name| make(name, &BTreeMap::new());
    let all = || NAMES.map(member).into_iter().collect::<Vec<_>>();
    let strictest = || -> Box<dyn Policy> { Box::new(Composition::strictest(all())) };
    let first_hit = || -> Box<dyn Policy> { Box::new(Composition::first_hit(all())) };
    let priority = || -> Box<dyn Policy> {
        Box::new(Composition::priority(
            [2, 0, 1, 1, 0, 2, 0, 1, 2].into_iter().zip(all()).collect(),
        ))
    };
    let shadow = || -> Box<dyn Policy> {
        Box::new(Shadow::new(member("tool_boundary"), member("rollback_v2")))
    };
    assert_eq!(check_policy(&strictest, 30), []);
    assert_eq!(check_policy(&first_hit, 30), []);
    assert_eq!(check_policy(&priority, 30), []);
    assert_eq!(check_policy(&shadow, 30), []);
}

/// Every rule that a verdict names is in the table, with that verdict, denial and policy, and every
/// rule on proposals is used by each policy that the table names.
#[test]
fn verdicts_name_rules_of_the_table() {
    let registry = registry();
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for info in registry.policies.infos() {
        for given in settings(info) {
            let mut policy = make(&info.name, &given);
            for (world, call) in random_calls() {
                let ruling = decide(&mut *policy, &world, call);
                let rule = rules::find(&ruling.reason.rule).unwrap();
                assert_eq!(ruling.verdict.kind(), rule.verdict);
                if ruling.verdict != ProposalVerdict::Allow {
                    assert_eq!(Some(ruling.reason.denial), rule.denial);
                }
                seen.entry(rule.id).or_default().insert(&info.name);
            }
        }
    }
    seen.remove("default_allow");
    for (rule, policies) in &seen {
        let named = rules::find(rule).unwrap().policies;
        assert!(policies.iter().eq(named), "{rule}: {policies:?}");
    }
    let unseen = rules::ALL.iter().filter(|rule| !seen.contains_key(rule.id));
    let unseen: Vec<_> = unseen.map(|rule| rule.id).collect();
    assert_eq!(
        unseen,
        [
            "default_allow",
            "facts_missing",
            "plugin_fault",
            "quarantine_tainted_memory",
            "rewrite_conflict",
            "rollback_revoked_source",
            "show_guidance",
            "show_structured_schema",
        ]
    );
}
