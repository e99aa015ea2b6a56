use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::columns::Stages;
use crate::fixture::random::story;
use crate::fixture::{Story, row_of, scenario};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_row_that_was_measured_breaks_a_law(story in story()) {
        prop_assert_eq!(broken(&row_of(&story, "none")), []);
    }
}

/// The columns of the laws that a row breaks after a change.
fn columns(change: impl FnOnce(&mut Row)) -> Vec<String> {
    let mut row = row_of(&Story::new(scenario(Stage::Clean)), "none");
    change(&mut row);
    let broken = broken(&row).into_iter();
    broken.map(|broken| broken.columns).collect()
}

fn metrics(row: &mut Row) -> &mut Metrics {
    Arc::make_mut(&mut row.metrics)
}

#[test]
fn a_number_that_was_changed_breaks_the_law_about_it() {
    assert_eq!(columns(|_| ()), [""; 0]);
    let changed = columns(|row| metrics(row).endpoints.committed_harm = Some(true));
    assert_eq!(changed[0], "committed_harm");
    let changed = columns(|row| metrics(row).propagation.br_tool = Some(7));
    assert_eq!(changed, ["br_five", "blast_radius_raw"]);
    let changed = columns(|row| metrics(row).parsing.valid_actions = Some(u32::MAX));
    assert_eq!(changed[0], "model_actions");
    let changed = columns(|row| metrics(row).utility.utility = None);
    assert_eq!(changed[0], "utility");
    let changed = columns(|row| metrics(row).memory.recovery_success = Some(true));
    assert!(changed.contains(&"recovery_success".to_owned()));
    let changed = columns(|row| row.identity.failure = Some("gone".into()));
    assert_eq!(changed, ["failure"]);
}

#[test]
fn a_word_that_is_none_of_its_column_breaks_a_law() {
    let changed = columns(|row| row.identity.provider_seed_status = "kept".into());
    assert_eq!(changed, ["provider_seed_status"]);
    let changed = columns(|row| row.identity.outcome = "finished".into());
    assert_eq!(changed[0], "outcome");
    let changed = columns(|row| {
        let endpoints = &mut metrics(row).endpoints;
        endpoints.verdicts = Some(0);
        endpoints.assumed_verdicts = Some(0);
        endpoints.terminal_rule = Some("block_anything".into());
    });
    assert!(changed.contains(&"terminal_rule".to_owned()), "{changed:?}");
    let changed = columns(|row| metrics(row).containment.contained = Some(false));
    assert!(changed.contains(&"contained".to_owned()), "{changed:?}");
    let changed = columns(|row| metrics(row).endpoints.net_harm = Some(true));
    assert!(changed.contains(&"net_harm".to_owned()), "{changed:?}");
}

#[test]
fn an_errored_row_has_no_numbers() {
    let changed = columns(|row| {
        row.identity.outcome = ERRORED.into();
        row.identity.failure = Some("gone".into());
    });
    assert!(changed.contains(&"committed_harm".to_owned()));
}

/// A count with one more, an indicator turned round, another quotient.
fn changed(value: &serde_json::Value) -> Option<serde_json::Value> {
    match value.as_u64() {
        Some(1) => Some(0.into()),
        Some(number) => Some((number + 1).into()),
        None => value.as_f64().map(|quotient| (quotient + 0.125).into()),
    }
}

/// The columns of which a change breaks no law in any of many rows: only replaying the rollout
/// shows it.
#[test]
fn what_no_law_sees_is_known() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut unseen: std::collections::BTreeSet<&str> = row_columns()
        .iter()
        .skip_while(|column| column.spec.name != "events")
        .filter(|column| column.spec.stages != Stages::Search)
        // These rows have no shadow.
        .filter(|column| !column.spec.name.starts_with("shadow"))
        .map(|column| column.spec.name)
        .collect();
    for _ in 0..100 {
        let story = story().new_tree(&mut runner).expect("a story").current();
        let json = row_of(&story, "none").to_json();
        let row: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        unseen.retain(|name| {
            let mut row = row.clone();
            let Some(value) = changed(&row[*name]) else {
                return true;
            };
            row[*name] = value;
            let read = Row::from_json(&row.to_string());
            read.is_ok_and(|row| broken(&row).is_empty())
        });
    }
    let unseen: Vec<&str> = unseen.into_iter().collect();
    assert_eq!(
        unseen,
        [
            "edges",
            "events",
            "leak_by_reference",
            "memory_reinfection",
            "nodes",
            "rollback",
            "terminal_rule",
            "ttc_events",
            "ttc_ticks",
        ]
    );
}
