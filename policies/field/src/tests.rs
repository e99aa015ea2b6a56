use std::collections::BTreeSet;

use plugins::compose::{Composition, REWRITE_CONFLICT};
use plugins::conformance::{check_policy, hooks_exercised};
use plugins::fault::PLUGIN_FAULT;
use plugins::policy::{DEFAULT_ALLOW, FACTS_MISSING, VerdictKind, is_rule_name};

use super::*;
use crate::desk::make;

const NAMES: [&str; 3] = ["camel", "fides", "progent"];

fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry).unwrap();
    registry
}

#[test]
fn every_policy_is_registered_once_under_its_name() {
    let mut registry = registry();
    let names: Vec<_> = registry.policies.infos().map(|info| &*info.name).collect();
    assert_eq!(names, NAMES);
    assert_eq!(&*register(&mut registry).unwrap_err().name, "camel");
}

#[test]
fn every_policy_says_what_it_and_its_parameters_are() {
    for info in registry().policies.infos() {
        let texts = info.parameters.iter().map(|spec| spec.doc);
        for text in texts.chain([&*info.summary]) {
            assert!(text.ends_with('.') && !text.contains("  "), "{text}");
        }
    }
}

#[test]
fn every_rule_is_told_apart_and_said_in_words() {
    let reserved = [DEFAULT_ALLOW, FACTS_MISSING, PLUGIN_FAULT, REWRITE_CONFLICT];
    let mut ids = BTreeSet::new();
    for rule in rules::RULES {
        assert!(ids.insert(rule.id), "{}", rule.id);
        assert!(
            is_rule_name(rule.id) && !reserved.contains(&rule.id),
            "{}",
            rule.id
        );
        let [policy] = rule.policies else {
            panic!("{}: {:?}", rule.id, rule.policies);
        };
        assert!(
            NAMES.contains(policy) && rule.id.starts_with(policy),
            "{}",
            rule.id
        );
        assert!(
            rule.doc.ends_with('.') && !rule.doc.contains("  "),
            "{}",
            rule.doc
        );
        let denies = matches!(rule.verdict, VerdictKind::Block | VerdictKind::Confirm);
        assert_eq!(rule.denial.is_some(), denies, "{}", rule.id);
        assert_eq!(rules::find(rule.id), Some(*rule));
    }
    assert!(rules::RULES.is_sorted_by_key(|rule| rule.id));
}

#[test]
fn every_declared_hook_acts_somewhere() {
    for name in NAMES {
        let made = || make(name, &[]);
        assert_eq!(hooks_exercised(&made, 60), made().hooks(), "{name}");
    }
}

#[test]
fn compositions_keep_the_laws() {
    let all = || {
        NAMES
            .map(|name| make(name, &[]))
            .into_iter()
            .collect::<Vec<_>>()
    };
    let strictest = || -> Box<dyn Policy> { Box::new(Composition::strictest(all())) };
    let first_hit = || -> Box<dyn Policy> { Box::new(Composition::first_hit(all())) };
    assert_eq!(check_policy(&strictest, 12), []);
    assert_eq!(check_policy(&first_hit, 12), []);
}
