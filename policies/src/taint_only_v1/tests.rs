use plugins::ids::{CallId, NodeId, SourceId};
use plugins::policy::{DEFAULT_ALLOW, DenialReason};

use super::*;
use crate::desk::{
    BODY, Features, assert_label_monotone, assert_passes_tainted_memory,
    assert_quarantines_tainted_memory, decide, parameters, random_calls,
};

/// Eq. 11 and the two inferred rows for tainted matching calls, written out.
fn expected(call: Features) -> (ProposalVerdict, &'static str) {
    match call {
        Features {
            class: RiskClass::Low,
            ..
        } => (ProposalVerdict::Allow, DEFAULT_ALLOW),
        Features { matched: false, .. } => (ProposalVerdict::Block, "block_target_not_authorized"),
        Features { leaks: true, .. } => (ProposalVerdict::Block, "block_secret_leak"),
        Features { tainted: false, .. } => (ProposalVerdict::Allow, "allow_untainted_match"),
        Features {
            class: RiskClass::Write,
            ..
        } => (ProposalVerdict::Confirm, "confirm_tainted_write"),
        _ => (ProposalVerdict::Block, "block_tainted_privilege_jump"),
    }
}

#[test]
fn truth_table() {
    for features in Features::all() {
        let ruling = decide(&mut TaintOnlyV1::default(), &features.world(), CallId(0));
        let (verdict, rule) = expected(features);
        assert_eq!(ruling.verdict, verdict, "{features:?}");
        assert_eq!(ruling.reason.rule, rule, "{features:?}");
    }
}

#[test]
fn truth_table_on_random_worlds() {
    for (world, call) in random_calls() {
        let ruling = decide(&mut TaintOnlyV1::default(), &world, call);
        assert_eq!(ruling.verdict, expected(Features::of(&world, call)).0);
    }
}

#[test]
fn more_sources_never_turn_a_refusal_into_an_allow() {
    assert_label_monotone(&mut TaintOnlyV1::default());
}

#[test]
fn tainted_memory_is_quarantined_at_retrieval() {
    assert_quarantines_tainted_memory(&mut TaintOnlyV1::default());
}

#[test]
fn tainted_memory_passes_where_the_parameter_says_so() {
    let pass = parameters(&TaintOnlyV1::parameters(), &[("memory", "pass")]);
    assert_passes_tainted_memory(&mut TaintOnlyV1::of_parameters(&pass));
}

/// As in case study 2: the authorised calendar entry is confirmed, the authorised invite blocked.
#[test]
fn the_agent_is_told_why() {
    let told = |class, matched, tainted| {
        let features = Features {
            class,
            matched,
            leaks: false,
            tainted,
            expands: false,
        };
        let ruling = decide(&mut TaintOnlyV1::default(), &features.world(), CallId(0));
        ruling.reason.denial
    };
    assert_eq!(
        told(RiskClass::Write, true, true),
        DenialReason::ConfirmationRequired
    );
    assert_eq!(
        told(RiskClass::Outbound, true, true),
        DenialReason::TaintedPrivilegeJump
    );
    assert_eq!(
        told(RiskClass::Outbound, false, true),
        DenialReason::TargetNotAuthorized
    );
}

#[test]
fn a_tainted_proposal_shows_node_source_and_entry() {
    let features = Features {
        class: RiskClass::Outbound,
        matched: true,
        leaks: false,
        tainted: true,
        expands: false,
    };
    let reason = decide(&mut TaintOnlyV1::default(), &features.world(), CallId(0)).reason;
    assert_eq!(reason.fields, []);
    assert_eq!(
        reason.evidence,
        [
            Evidence::Node(NodeId(0)),
            Evidence::Source(SourceId(0)),
            Evidence::LedgerEntry(0),
        ]
    );
}

#[test]
fn a_leak_names_the_arguments_that_leak() {
    let features = Features {
        class: RiskClass::Outbound,
        matched: true,
        leaks: true,
        tainted: true,
        expands: false,
    };
    let reason = decide(&mut TaintOnlyV1::default(), &features.world(), CallId(0)).reason;
    assert_eq!(reason.fields, [DecidingField::Argument(BODY)]);
}
