use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, list, tool};
use plugins::ids::CallId;
use plugins::label::{LabelId, Readers};
use plugins::ledger::Condition;
use plugins::policy::{DEFAULT_ALLOW, DenialReason, Evidence};
use plugins::tool::{RiskClass, Role, Target};
use plugins::value::Value;

use super::*;
use crate::desk::{
    BODY, Features, OUTSIDER, PARTNER, decide, parameters, random_calls, taint_argument,
};

fn boundary(given: &[(&str, &str)]) -> ToolBoundary {
    ToolBoundary::new(&parameters(&ToolBoundary::parameters(), given))
}

/// Table 7: tool and target, and no labels.
fn expected(call: Features, leak_check: bool) -> (ProposalVerdict, &'static str) {
    match call {
        Features {
            class: RiskClass::Low,
            ..
        } => (ProposalVerdict::Allow, DEFAULT_ALLOW),
        Features { matched: false, .. } => (ProposalVerdict::Block, "block_target_not_authorized"),
        Features { leaks: true, .. } if leak_check => (ProposalVerdict::Block, "block_secret_leak"),
        _ => (ProposalVerdict::Allow, "allow_authorized_target"),
    }
}

#[test]
fn truth_table() {
    for (leak_check, word) in [(false, "false"), (true, "true")] {
        let mut policy = boundary(&[("leak_check", word)]);
        for features in Features::all() {
            let ruling = decide(&mut policy, &features.world(), CallId(0));
            let (verdict, rule) = expected(features, leak_check);
            assert_eq!(ruling.verdict, verdict, "{features:?}");
            assert_eq!(ruling.reason.rule, rule, "{features:?}");
        }
    }
}

/// With every condition and the leak check it is `Match` and not `Leak`, by a second implementation
/// of `Match`.
#[test]
fn full_match_is_match_on_random_worlds() {
    let mut policy = boundary(&[("constraints", "full_match"), ("leak_check", "true")]);
    for (world, call) in random_calls() {
        let ruling = decide(&mut policy, &world, call);
        let features = Features::of(&world, call);
        assert_eq!(ruling.verdict, expected(features, true).0, "{features:?}");
    }
}

#[test]
fn fewer_constraints_allow_no_less() {
    let mut policies =
        ["full_match", "targets", "tool_and_target"].map(|word| boundary(&[("constraints", word)]));
    let mut differing = [0, 0];
    for (world, call) in random_calls() {
        let allows = policies
            .each_mut()
            .map(|policy| decide(policy, &world, call).verdict == ProposalVerdict::Allow);
        assert!(allows.is_sorted(), "{allows:?}");
        differing[0] += i32::from(allows[0] != allows[1]);
        differing[1] += i32::from(allows[1] != allows[2]);
    }
    assert!(differing.iter().all(|&count| count > 20), "{differing:?}");
}

/// It is "not a field-level provenance policy" (Table 7).
#[test]
fn labels_change_nothing() {
    let mut policy = boundary(&[]);
    for (mut world, call) in random_calls() {
        let before = decide(&mut policy, &world, call);
        let more = world.add_source("doc:more", Trust::Untrusted, Readers::Everyone);
        let more = world.label_of(&[more]);
        for position in 0..world.trace.calls[call.index()].arguments.len() {
            taint_argument(&mut world, call, position, more);
        }
        assert_eq!(decide(&mut policy, &world, call), before);
    }
}

/// `share(document, recipient, visibility)` as in case study 1, authorised for the partner.
fn share_world(recipient: Value, visibility: &str) -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    let mut spec = tool("share", RiskClass::Outbound, "");
    spec.arguments = vec![
        argument("document", Role::Document),
        argument("recipient", Role::Recipient),
        argument("visibility", Role::Visibility),
    ];
    spec.target = Target::Argument(0);
    let share = world.add_tool(spec);
    let equals = |text: &str| Condition::Equals(Value::text(text));
    world.authorize(
        "share",
        "doc:plan",
        &[
            ("recipient", equals(PARTNER)),
            ("visibility", equals("private")),
        ],
    );
    let bottom = LabelId::BOTTOM;
    world.add_call(
        share,
        vec![
            given(0, Value::text("doc:plan"), bottom),
            given(1, recipient, bottom),
            given(2, Value::text(visibility), bottom),
        ],
    );
    world
}

#[test]
fn recipients_are_targets_and_visibility_is_not() {
    let verdict = |constraints: &str, recipient: &str, visibility: &str| {
        let world = share_world(Value::text(recipient), visibility);
        let mut policy = boundary(&[("constraints", constraints)]);
        decide(&mut policy, &world, CallId(0)).verdict
    };
    let (allow, block) = (ProposalVerdict::Allow, ProposalVerdict::Block);
    assert_eq!(verdict("targets", PARTNER, "private"), allow);
    assert_eq!(verdict("targets", PARTNER, "public"), allow);
    assert_eq!(verdict("targets", OUTSIDER, "private"), block);
    assert_eq!(verdict("tool_and_target", OUTSIDER, "public"), allow);
    assert_eq!(verdict("full_match", PARTNER, "public"), block);
}

#[test]
fn one_authorised_recipient_carries_no_other() {
    let world = share_world(list(&[PARTNER, OUTSIDER]), "private");
    let ruling = decide(&mut boundary(&[]), &world, CallId(0));
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
    assert_eq!(ruling.reason.fields, [DecidingField::Argument(1)]);
}

/// As in the case studies 1 and 4: no entry for the tool, and the reason that makes the model try
/// again.
#[test]
fn what_the_configuration_does_not_name_is_refused_as_target_not_authorized() {
    let mut world = share_world(Value::text(PARTNER), "private");
    world.briefing.ledger.entries.clear();
    let ruling = decide(&mut boundary(&[]), &world, CallId(0));
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
    assert_eq!(ruling.reason.denial, DenialReason::TargetNotAuthorized);
    assert_eq!(ruling.reason.fields, [DecidingField::Action]);
    assert_eq!(ruling.reason.evidence, [Evidence::NoLedgerEntry]);
}

#[test]
fn the_leak_check_names_entry_and_arguments() {
    let features = Features {
        class: RiskClass::Outbound,
        matched: true,
        leaks: true,
        tainted: false,
        expands: false,
    };
    let mut policy = boundary(&[("leak_check", "true")]);
    let reason = decide(&mut policy, &features.world(), CallId(0)).reason;
    assert_eq!(reason.fields, [DecidingField::Argument(BODY)]);
    assert_eq!(reason.evidence, [Evidence::LedgerEntry(0)]);
}
