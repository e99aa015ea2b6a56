use std::sync::Arc;

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, given, list};
use plugins::ids::{CallId, NodeId, SourceId};
use plugins::label::{LabelId, Readers};
use plugins::ledger::Condition;
use plugins::policy::{Basis, DEFAULT_ALLOW, DenialReason};
use plugins::tool::RiskClass;
use plugins::value::Value;

use super::*;
use crate::desk::{
    BODY, Features, OUTSIDER, PARTNER, ROOM, TO, assert_label_monotone,
    assert_passes_tainted_memory, assert_quarantines_tainted_memory, decide, parameters,
    random_calls,
};
use crate::taint_only_v1::TaintOnlyV1;
use crate::tool_boundary::ToolBoundary;

const JUMP_RULES: [JumpRule; 3] = [
    JumpRule::OnUnresolvedField,
    JumpRule::Off,
    JumpRule::OnAnyTaint,
];

/// Eq. 10 under each jump rule, written out.
fn expected(call: Features, jump_rule: JumpRule) -> (ProposalVerdict, &'static str) {
    let jumps = match jump_rule {
        JumpRule::Off => false,
        JumpRule::OnUnresolvedField => call.expands,
        JumpRule::OnAnyTaint => call.tainted,
    };
    match call {
        Features {
            class: RiskClass::Low,
            ..
        } => (ProposalVerdict::Allow, DEFAULT_ALLOW),
        Features { matched: false, .. } => (ProposalVerdict::Block, "block_outside_user_goal"),
        Features { leaks: true, .. } => (ProposalVerdict::Block, "block_secret_leak"),
        _ if jumps => (ProposalVerdict::Block, "block_low_to_high_privilege_jump"),
        _ => (ProposalVerdict::Allow, "allow_ledger_match"),
    }
}

#[test]
fn truth_table() {
    for jump_rule in JUMP_RULES {
        let mut policy = IntentLedgerV2::new(jump_rule);
        for features in Features::all() {
            let ruling = decide(&mut policy, &features.world(), CallId(0));
            let (verdict, rule) = expected(features, jump_rule);
            assert_eq!(ruling.verdict, verdict, "{features:?}");
            assert_eq!(ruling.reason.rule, rule, "{features:?}");
            assert_eq!(ruling.reason.basis, Basis::Exact);
        }
    }
}

#[test]
fn truth_table_on_random_worlds() {
    for (world, call) in random_calls() {
        let features = Features::of(&world, call);
        for jump_rule in JUMP_RULES {
            let ruling = decide(&mut IntentLedgerV2::new(jump_rule), &world, call);
            let (verdict, rule) = expected(features, jump_rule);
            assert_eq!(ruling.verdict, verdict, "{features:?}");
            assert_eq!(ruling.reason.rule, rule, "{features:?}");
        }
    }
}

/// What Eq. 11 allows is a subset of what Eq. 10 allows, under every jump rule, because Expand
/// needs a tainted field. It holds where the recorded label covers every tainted authority field,
/// as under both built-in instrumentations.
#[test]
fn what_taint_only_allows_the_ledger_allows() {
    let mut allowed = 0;
    for (world, call) in random_calls() {
        if decide(&mut TaintOnlyV1::default(), &world, call).verdict != ProposalVerdict::Allow {
            continue;
        }
        allowed += 1;
        for jump_rule in JUMP_RULES {
            let ruling = decide(&mut IntentLedgerV2::new(jump_rule), &world, call);
            assert_eq!(ruling.verdict, ProposalVerdict::Allow);
        }
    }
    assert!(allowed > 1_000, "{allowed}");
}

/// The ledger variant keeps the boundary and adds to it (5.5).
#[test]
fn what_the_ledger_allows_the_boundary_allows() {
    let mut boundary = ToolBoundary::new(&parameters(&ToolBoundary::parameters(), &[]));
    let mut differing = 0;
    for (world, call) in random_calls() {
        let ledger = decide(&mut IntentLedgerV2::default(), &world, call).verdict;
        let boundary = decide(&mut boundary, &world, call).verdict;
        if ledger == ProposalVerdict::Allow {
            assert_eq!(boundary, ProposalVerdict::Allow);
        }
        differing += i32::from(ledger != boundary);
    }
    assert!(differing > 20, "{differing}");
}

#[test]
fn more_sources_never_turn_a_refusal_into_an_allow() {
    for jump_rule in JUMP_RULES {
        assert_label_monotone(&mut IntentLedgerV2::new(jump_rule));
    }
}

#[test]
fn tainted_memory_is_quarantined_at_retrieval() {
    assert_quarantines_tainted_memory(&mut IntentLedgerV2::default());
}

#[test]
fn tainted_memory_passes_where_the_parameter_says_so() {
    let pass = parameters(&IntentLedgerV2::parameters(), &[("memory", "pass")]);
    assert_passes_tainted_memory(&mut IntentLedgerV2::of_parameters(&pass));
}

fn features(matched: bool, leaks: bool, expands: bool) -> Features {
    Features {
        class: RiskClass::Outbound,
        matched,
        leaks,
        tainted: expands,
        expands,
    }
}

fn ruling_on(world: &World) -> Ruling<ProposalVerdict> {
    decide(&mut IntentLedgerV2::default(), world, CallId(0))
}

#[test]
fn an_allow_names_the_matched_entry() {
    let mut world = features(true, false, false).world();
    world.briefing.ledger.entries.insert(0, {
        let mut other = world.briefing.ledger.entries[0].clone();
        other.target = OUTSIDER.into();
        other
    });
    let reason = ruling_on(&world).reason;
    assert_eq!(reason.evidence, [Evidence::LedgerEntry(1)]);
}

#[test]
fn a_jump_names_the_fields_that_expand_and_where_they_come_from() {
    let reason = ruling_on(&features(true, false, true).world()).reason;
    assert_eq!(reason.fields, [DecidingField::Argument(ROOM)]);
    assert_eq!(reason.denial, DenialReason::TaintedPrivilegeJump);
    assert_eq!(
        reason.evidence,
        [
            Evidence::LedgerEntry(0),
            Evidence::Source(SourceId(0)),
            Evidence::Node(NodeId(0)),
        ]
    );
}

#[test]
fn a_leak_names_the_arguments_that_leak() {
    let reason = ruling_on(&features(true, true, false).world()).reason;
    assert_eq!(reason.fields, [DecidingField::Argument(BODY)]);
    assert_eq!(reason.denial, DenialReason::TargetNotAuthorized);
}

/// As in the case studies 1 and 7: the ledger has no entry for the tool, so the action decides.
#[test]
fn without_an_entry_for_the_tool_the_action_decides() {
    let mut world = features(false, false, false).world();
    world.briefing.ledger.entries[0].action = "another".into();
    let reason = ruling_on(&world).reason;
    assert_eq!(reason.fields, [DecidingField::Action]);
    assert_eq!(reason.evidence, [Evidence::NoLedgerEntry]);
    assert_eq!(reason.denial, DenialReason::OutsideUserGoal);
    world.briefing.ledger.entries.clear();
    assert_eq!(ruling_on(&world).reason, reason);
}

#[test]
fn without_an_entry_for_the_target_the_target_decides() {
    let reason = ruling_on(&features(false, false, false).world()).reason;
    assert_eq!(reason.fields, [DecidingField::Target]);
    assert_eq!(reason.evidence, [Evidence::LedgerEntry(0)]);
}

#[test]
fn several_targets_are_none() {
    let mut world = features(true, false, false).world();
    let several = given(TO, list(&[PARTNER, OUTSIDER]), LabelId::BOTTOM);
    Arc::make_mut(&mut world.trace.calls[0].arguments)[0] = several;
    let ruling = ruling_on(&world);
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
    assert_eq!(ruling.reason.fields, [DecidingField::Target]);
}

#[test]
fn otherwise_the_arguments_decide_that_the_nearest_entry_refuses() {
    let mut world = features(false, false, false).world();
    world.briefing.ledger.entries.clear();
    let unequal = |text: &str| Condition::Equals(Value::text(text));
    world.authorize("act", OUTSIDER, &[]);
    world.authorize(
        "act",
        PARTNER,
        &[("room", unequal("room 9")), ("body", unequal("bye"))],
    );
    world.authorize(
        "act",
        PARTNER,
        &[("room", Condition::Absent), ("body", Condition::Present)],
    );
    let reason = ruling_on(&world).reason;
    assert_eq!(reason.fields, [DecidingField::Argument(ROOM)]);
    assert_eq!(reason.evidence, [Evidence::LedgerEntry(2)]);
}

/// As in case study 3: every field comes from the note, and the ledger names each.
#[test]
fn taint_alone_forbids_nothing() {
    let mut world = features(true, false, true).world();
    world.briefing.ledger.entries[0].conditions[0].1 = Condition::Equals(Value::text("room 3"));
    let note = world.label_of(&[SourceId(0)]);
    for argument in Arc::make_mut(&mut world.trace.calls[0].arguments) {
        argument.label = note;
    }
    assert_eq!(ruling_on(&world).verdict, ProposalVerdict::Allow);
    let mut strict = IntentLedgerV2::new(JumpRule::OnAnyTaint);
    let reason = decide(&mut strict, &world, CallId(0)).reason;
    let fields = [DecidingField::Argument(TO), DecidingField::Argument(ROOM)];
    assert_eq!(reason.fields, fields);
}

/// The mask of a policy is the scenario's: a trusted source taints nothing.
#[test]
fn a_trusted_source_expands_nothing() {
    let mut world = features(true, false, false).world();
    let goal = world.add_source("goal", Trust::Trusted, Readers::Everyone);
    let label = world.label_of(&[goal]);
    Arc::make_mut(&mut world.trace.calls[0].arguments)[1].label = label;
    assert_eq!(ruling_on(&world).verdict, ProposalVerdict::Allow);
}
