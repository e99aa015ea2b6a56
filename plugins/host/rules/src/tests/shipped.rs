//! The files that are shipped.

use plugins::conformance::{check_policy, hooks_exercised};
use plugins::policy::Hooks;

pub(super) const FILES: [(&str, &str, Hooks); 6] = [
    (
        "recipient_guard",
        include_str!("../../../../../policies/recipient_guard/recipient_guard.rules.ron"),
        Hooks::PROPOSAL,
    ),
    (
        "rate_limit",
        include_str!("../../../../../policies/rules/rate_limit.rules.ron"),
        Hooks::PROPOSAL.union(Hooks::COMMIT),
    ),
    (
        "recipient_allow_list",
        include_str!("../../../../../policies/rules/recipient_allow_list.rules.ron"),
        Hooks::PROPOSAL,
    ),
    (
        "memory_quarantine",
        include_str!("../../../../../policies/rules/memory_quarantine.rules.ron"),
        Hooks::MEMORY_READ
            .union(Hooks::MEMORY_WRITE)
            .union(Hooks::RECOVERY),
    ),
    (
        "two_step_approval",
        include_str!("../../../../../policies/rules/two_step_approval.rules.ron"),
        Hooks::PROPOSAL,
    ),
    (
        "untrusted_content",
        include_str!("../../../../../policies/rules/untrusted_content.rules.ron"),
        Hooks::SESSION
            .union(Hooks::PROMPT)
            .union(Hooks::OBSERVATION)
            .union(Hooks::MESSAGE),
    ),
];

pub(super) const METRICS: &str = include_str!("../../../../../policies/rules/spread.metrics.ron");

#[test]
fn every_shipped_file_keeps_the_laws_of_a_policy() {
    for (name, text, hooks) in FILES {
        let loaded = crate::load(text).unwrap_or_else(|mistakes| panic!("{name}: {mistakes:#?}"));
        assert_eq!((loaded.make)().hooks(), hooks, "{name}");
        assert_eq!(loaded.kind, "rules");
        assert!(loaded.faults.is_none());
        assert!(!loaded.summary.is_empty(), "{name}");
        assert_eq!(check_policy(&|| (loaded.make)(), 60), [], "{name}");
    }
}

#[test]
fn shipped_files_use_the_hooks_that_they_declare() {
    for (name, text, hooks) in FILES {
        let loaded = crate::load(text).unwrap();
        let exercised = hooks_exercised(&|| (loaded.make)(), 400);
        // Commits are limited where proposals are already, and no world has such words.
        let rare = match name {
            "rate_limit" => Hooks::PROPOSAL | Hooks::COMMIT,
            "memory_quarantine" => Hooks::MEMORY_WRITE,
            "untrusted_content" => Hooks::OBSERVATION | Hooks::MESSAGE,
            _ => Hooks::empty(),
        };
        assert!((exercised | rare).contains(hooks), "{name}: {exercised:?}");
    }
}

#[test]
fn a_changed_byte_is_another_policy() {
    let (_, text, _) = FILES[0];
    let loaded = crate::load(text).unwrap();
    let spaced = crate::load(&format!("{text} ")).unwrap();
    assert_eq!(loaded.content, crate::load(text).unwrap().content);
    assert_ne!(loaded.content, spaced.content);
}

/// Where a file names nothing of a world, or only what it has, there is nothing to warn of.
#[test]
fn the_toy_policy_fits_every_world() {
    for seed in 0..20 {
        let world = plugins::conformance::generate::world(seed);
        assert_eq!(crate::validate(FILES[0].1, &world.briefing), []);
    }
}
