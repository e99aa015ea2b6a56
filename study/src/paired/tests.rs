use std::sync::Arc;

use plugins::ids::AgentId;
use plugins::trace::Outcome;
use proptest::prelude::*;

use super::*;
use crate::fixture::random::story;
use crate::fixture::{OUTSIDER, PARTNER, Story, row_of, scenario, tainted};

const READER: AgentId = AgentId(0);

fn invitation(stage: Stage, blocked: bool) -> Row {
    let mut story = Story::new(scenario(stage));
    story.begin(READER);
    story.read_note(READER);
    let arguments = [tainted("event", "event-1"), tainted("recipient", PARTNER)];
    let call = story.propose("send_invite", &arguments);
    if blocked {
        story.block(call);
    } else {
        story.allow(call);
    }
    row_of(
        &story,
        if blocked {
            "taint_only_v1"
        } else {
            "intent_ledger_v2"
        },
    )
}

#[test]
fn equal_endpoints_can_conceal_different_trajectories() {
    let comparison = compare(
        &invitation(Stage::ActiveTainted, true),
        &invitation(Stage::ActiveTainted, false),
    );
    assert_eq!(
        comparison.unwrap(),
        Comparison {
            // 4/5 against 5/6.
            differing: vec![
                Field::BlastRadiusNorm,
                Field::BlastRadiusRaw,
                Field::BrSideEffect,
                Field::CascadeDepth,
                Field::TaintToCommitRate,
            ],
            same_endpoint: true,
            same_zero: true,
            // Nothing is required here, and A_tainted needs a required commit.
            same_utility: true,
        }
    );
}

#[test]
fn equal_harm_is_no_same_zero() {
    let harmful = |policy| {
        let mut story = Story::new(scenario(Stage::Security));
        story.begin(READER);
        let call = story.propose("share_document", &[tainted("recipient", OUTSIDER)]);
        story.allow(call);
        row_of(&story, policy)
    };
    let comparison = compare(&harmful("a"), &harmful("b")).unwrap();
    assert!(comparison.same_endpoint && !comparison.same_zero);
    assert_eq!(comparison.differing, []);
}

#[test]
fn utility_is_that_of_the_stage() {
    let mut row = invitation(Stage::Clean, false);
    let mut other = row.clone();
    Arc::make_mut(&mut other.metrics)
        .utility
        .clean_benign_completion = Some(false);
    assert!(!compare(&row, &other).unwrap().same_utility);
    row.identity.stage = Stage::Security;
    other.identity.stage = Stage::Security;
    assert!(compare(&row, &other).unwrap().same_utility);
    Arc::make_mut(&mut other.metrics).utility.benign_completion = Some(false);
    assert!(!compare(&row, &other).unwrap().same_utility);
}

/// Null equals null and differs from any value; ratios are compared as pairs of integers.
#[test]
fn equality_is_exact() {
    let row = invitation(Stage::MemoryRecovery, false);
    let mut other = row.clone();
    assert_eq!(row.metrics.memory.memory_reinfection, None);
    Arc::make_mut(&mut other.metrics).memory.memory_reinfection = Some(false);
    Arc::make_mut(&mut other.metrics)
        .propagation
        .taint_to_commit_rate = crate::ratio::Ratio::of(2, 2);
    let comparison = compare(&row, &other).unwrap();
    let expected = [Field::TaintToCommitRate, Field::MemoryReinfection];
    assert_eq!(comparison.differing, expected);
}

#[test]
fn another_pre_state_is_refused() {
    let row = invitation(Stage::Security, true);
    let mut other = invitation(Stage::Security, false);
    other.identity.prestate_hash = Hash(1);
    let message = compare(&row, &other).unwrap_err().to_string();
    assert_eq!(
        message,
        "`taint_only_v1` and `intent_ledger_v2` did not start from the same state: pre-state hash \
         00000000000000000000000000000063 and 00000000000000000000000000000001"
    );
}

#[test]
fn another_key_is_refused_by_name() {
    let row = invitation(Stage::Security, true);
    let other = |change: fn(&mut Identity)| {
        let mut other = row.clone();
        change(&mut other.identity);
        compare(&row, &other).unwrap_err().to_string()
    };
    let message = other(|identity| identity.seed = 4);
    let expected = "the two rows are no pair: `seed` is `3` in one and `4` in the other";
    assert_eq!(message, expected);
    assert!(other(|identity| identity.scenario_id = "x".into()).contains("scenario_id"));
    assert!(other(|identity| identity.model = "x".into()).contains("model"));
    assert!(other(|identity| identity.profile_hash = Hash(9)).contains("profile_hash"));
    assert!(other(|identity| identity.instrumentation = "full".into()).contains("instrumentation"));
    assert!(other(|identity| identity.user = "oracle".into()).contains("user"));
    assert!(other(|identity| identity.study_seed = 9).contains("study_seed"));
}

#[test]
fn an_errored_row_is_refused() {
    let row = invitation(Stage::Security, true);
    let mut story = Story::new(scenario(Stage::Security));
    story.outcome = Outcome::Errored("gone".into());
    let errored = row_of(&story, "broken");
    let error = compare(&row, &errored).unwrap_err();
    assert_eq!(
        error,
        PairError::Errored {
            policy: "broken".into()
        }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_row_does_not_diverge_from_itself_and_order_does_not_matter(a in story(), b in story()) {
        prop_assume!(a.scenario.stage == b.scenario.stage);
        let (a, b) = (row_of(&a, "a"), row_of(&b, "b"));
        let itself = compare(&a, &a).unwrap();
        prop_assert!(itself.differing.is_empty() && itself.same_endpoint && itself.same_utility);
        prop_assert_eq!(compare(&a, &b), compare(&b, &a));
    }
}
