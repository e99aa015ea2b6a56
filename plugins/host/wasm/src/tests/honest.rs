//! Honest modules keep to the laws of policies, and decide as their twins in Rust.

use std::sync::Arc;

use plugins::conformance::generate::random_world;
use plugins::conformance::{Law, check_policy, hooks_exercised};
use plugins::facts::{CallFacts, Counts};
use plugins::policy::{DenialReason, Proposal, ProposalVerdict, Reason, View};
use plugins::reason::Hooks;
use plugins::state::SavedState;

use super::*;
use crate::load::checked;
use crate::policy::WasmPolicy;

const GUARD: &[u8] = include_bytes!("../../../../../policies/recipient_guard/recipient_guard.wasm");

/// `recipient_guard` in Rust.
struct Twin;

impl SavedState for Twin {}

impl Policy for Twin {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let call = CallFacts::of(view, &proposal);
        let commits = Counts::of_high_risk(view.prefix, view.briefing).committed;
        let mut recipients = call.arguments.iter().filter(|a| a.role == Role::Recipient);
        let (verdict, rule, denial) = if !call.high_risk {
            return Ruling::<ProposalVerdict>::neutral();
        } else if recipients.any(|argument| argument.label.tainted) {
            let denial = DenialReason::TaintedPrivilegeJump;
            (ProposalVerdict::Block, "tainted_recipient", denial)
        } else if call.ledger_entry.is_none() {
            let denial = DenialReason::ConfirmationRequired;
            (ProposalVerdict::Confirm, "unlisted_action", denial)
        } else if commits >= 2 {
            let denial = DenialReason::OutsideUserGoal;
            (ProposalVerdict::Block, "too_many_commits", denial)
        } else {
            let denial = DenialReason::PluginFault;
            (ProposalVerdict::Allow, "allow_listed_action", denial)
        };
        Ruling::new(verdict, Reason::new(rule, denial))
    }
}

/// An instance whose insides can be looked at.
fn inside(bytes: &[u8]) -> WasmPolicy {
    WasmPolicy::new(&Arc::new(checked(bytes, Limits::default())))
}

/// Runs a check over both policies, and gives each ruling of the module together with its rule.
fn beside_the_twin(loaded: &LoadedPolicy, seeds: u64) -> Vec<String> {
    let mut rules = Vec::new();
    for seed in 0..seeds {
        let world = random_world(seed);
        let (mut module, mut twin) = ((loaded.make)(), Twin);
        let calls = 0..world.trace.calls.len();
        for call in calls.map(CallId::at) {
            let proposed = world.trace.events.iter().position(|event| {
                matches!(event.what, plugins::trace::Happening::Proposed { call: id } if id == call)
            });
            let prefix = world.prefix_of(proposed.unwrap() + 1);
            let mut draws = Draws::new(RolloutKey::new(1, "twin".into(), seed));
            let view = &mut world.view_of(prefix, &mut draws);
            let ruling = module.on_proposal(view, world.proposal(call));
            assert_eq!(
                ruling,
                twin.on_proposal(view, world.proposal(call)),
                "world {seed}"
            );
            rules.push(ruling.reason.rule.to_string());
        }
    }
    rules
}

#[test]
fn recipient_guard_decides_as_its_twin() {
    let loaded = load(GUARD, Limits::default()).unwrap();
    let rules = beside_the_twin(&loaded, 400);
    for rule in [
        "tainted_recipient",
        "unlisted_action",
        "too_many_commits",
        "allow_listed_action",
        "default_allow",
    ] {
        assert!(
            rules.iter().any(|found| found == rule),
            "{rule} never decided"
        );
    }
    assert_eq!(loaded.faults.unwrap().first(), []);
}

#[test]
fn recipient_guard_keeps_to_the_laws() {
    let loaded = load(GUARD, Limits::default()).unwrap();
    assert_eq!(check_policy(&|| (loaded.make)(), 48), []);
    assert_eq!(hooks_exercised(&|| (loaded.make)(), 24), Hooks::PROPOSAL);
    assert_eq!(loaded.faults.unwrap().first(), []);
}

/// Hashes every byte of every event it reads. It answers at every hook by what it has read.
const READER: &str = r#"
  (global $hash (mut i64) (i64.const -3750763034362895579))
  (func (export "cb_append") (param $at i32) (param $bytes i32)
    (loop $more
      (if (local.get $bytes) (then
        (global.set $hash (i64.mul
          (i64.xor (global.get $hash) (i64.load8_u (local.get $at)))
          (i64.const 1099511628211)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $bytes (i32.sub (local.get $bytes) (i32.const 1)))
        (br $more)))))"#;

#[test]
fn a_reader_of_events_keeps_to_the_laws() {
    let decide = "(if (result i64) (i64.eqz (i64.and (global.get $hash) (i64.const 0x10)))
      (then (i64.const 0x0100)) (else (i64.const 0)))";
    let parts = Parts {
        hooks: "(i32.const 0x1ff)",
        decide,
        more: READER,
        ..BLOCKS
    };
    // Some worlds have events of half a megabyte, and this module looks at every byte.
    let limits = Limits {
        event_fuel: 50_000_000,
        ..Limits::default()
    };
    let loaded = load(parts.text().as_bytes(), limits).unwrap();
    assert_eq!(check_policy(&|| (loaded.make)(), 24), []);
    assert_eq!(loaded.faults.unwrap().first(), []);
}

/// Blocks every third call that it is asked about: a state that no event shows.
const THIRD: &str = r"(global $asked (mut i32) (i32.const 0))
  (func $ask (result i64)
    (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
    (select (i64.const 0x0101) (i64.const 0)
      (i32.eqz (i32.rem_u (global.get $asked) (i32.const 3)))))";

const KEEPS: &str = r#"
  (func (export "cb_save") (result i64)
    (i32.store (i32.const 64) (global.get $asked))
    (i64.const 0x4000000004))
  (func (export "cb_restore") (param i32 i32) (result i32)
    (if (i32.ne (local.get 1) (i32.const 4)) (then (return (i32.const 0))))
    (global.set $asked (i32.load (local.get 0)))
    (i32.const 1))"#;

#[test]
fn a_module_that_keeps_state_keeps_to_the_laws() {
    let more = format!("{THIRD}{KEEPS}");
    let parts = Parts {
        hooks: "(i32.const 0x90)",
        decide: "(call $ask)",
        more: &more,
        ..BLOCKS
    };
    let loaded = parts.load();
    assert_eq!(check_policy(&|| (loaded.make)(), 48), []);
    let exercised = hooks_exercised(&|| (loaded.make)(), 24);
    assert_eq!(exercised, Hooks::PROPOSAL | Hooks::COMMIT);
}

/// State that is neither saved nor a function of what was read is what the kit is for.
#[test]
fn a_module_that_hides_its_state_is_found_out() {
    let loaded = Parts {
        decide: "(call $ask)",
        more: THIRD,
        ..BLOCKS
    }
    .load();
    let violations = check_policy(&|| (loaded.make)(), 24);
    assert!(
        violations.iter().any(|found| found.law == Law::Restores),
        "{violations:?}"
    );
}

/// What the host counts event by event is what the facts count in one go.
#[test]
fn counts_are_those_of_the_facts() {
    for seed in 0..50 {
        let world = random_world(seed);
        let mut policy = inside(GUARD);
        ask(&mut policy, &world, Hook::Proposal);
        let prefix = world.trace.prefix();
        let all = Counts::of(prefix, |_| true);
        let high_risk = Counts::of_high_risk(prefix, &world.briefing);
        assert_eq!(policy.run().counts(), &[all, high_risk]);
    }
}

#[test]
fn two_runs_use_exactly_the_same_fuel() {
    for bytes in [
        GUARD.to_vec(),
        Parts {
            more: READER,
            ..BLOCKS
        }
        .text()
        .into_bytes(),
    ] {
        let spent = |seed: u64| {
            let world = random_world(seed);
            let mut policy = inside(&bytes);
            let used = [0; 3].map(|_| {
                ask(&mut policy, &world, Hook::Proposal);
                policy.run().spent().unwrap()
            });
            assert!(used[0] > 0 && used.is_sorted_by(|a, b| a < b));
            used
        };
        for seed in 0..20 {
            assert_eq!(spent(seed), spent(seed));
        }
    }
}

/// The same events one at a time or all at once, read for the first time or again: the module is
/// called alike.
#[test]
fn reading_again_after_going_back_costs_the_same_fuel() {
    let bytes = Parts {
        more: READER,
        ..BLOCKS
    }
    .text()
    .into_bytes();
    let world = random_world(7);
    let mut policy = inside(&bytes);
    ask(&mut policy, &world, Hook::Proposal);
    let first = policy.run().spent();
    let mut state = Vec::new();
    policy.save(&mut state);
    ask(&mut policy, &world, Hook::Proposal);
    policy.restore(&state, policy.version()).unwrap();
    ask(&mut policy, &world, Hook::Proposal);
    assert_eq!(policy.run().spent(), first);
}

#[test]
fn undeclared_hooks_are_never_asked() {
    let loaded = Parts {
        decide: "unreachable",
        ..BLOCKS
    }
    .load();
    let world = small_world();
    let mut policy = (loaded.make)();
    for hook in HOOKS {
        if hook != Hook::Proposal {
            assert_eq!(ask(&mut *policy, &world, hook).rule, "default_allow");
        }
    }
    assert_eq!(loaded.faults.unwrap().count(), 0);
}
