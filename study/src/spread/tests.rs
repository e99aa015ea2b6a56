use std::sync::Arc;

use worlds::spec::Stage;

use super::*;
use crate::fixture::{Story, row_of, scenario};

/// A row with these counts; nothing else of it matters here.
fn row(policy: &str, seed: u64, labelled: u32, region: u32, complete: bool) -> Row {
    let mut row = row_of(&Story::new(scenario(Stage::ActiveTainted)), policy);
    row.identity.seed = seed;
    let metrics = Arc::make_mut(&mut row.metrics);
    let propagation = &mut metrics.propagation;
    propagation.blast_radius_raw = Some(labelled);
    propagation.region_nodes = Some(region);
    propagation.blast_radius_norm = Some(Ratio::clipped(labelled, region));
    metrics.utility.authorized_tainted_action_success = Some(complete);
    row
}

fn errored(policy: &str, seed: u64) -> Row {
    let mut row = row(policy, seed, 0, 0, false);
    row.metrics = Arc::default();
    row
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Case 4: higher realised, lower under the common denominator.
#[test]
fn the_largest_region_of_the_group_is_the_denominator() {
    let rows = [
        row("tool_boundary", 1, 6, 8, false),
        row("intent_ledger_v2", 1, 5, 6, false),
        row("tool_boundary", 2, 3, 6, false),
        row("intent_ledger_v2", 2, 3, 6, false),
    ];
    let spread = spread_fixed_max(&rows, &names(&["tool_boundary", "intent_ledger_v2"]));
    let expected = [(6, 8), (5, 8), (3, 6), (3, 6)].map(|(n, d)| Ratio::of(n, d));
    assert_eq!(spread, expected);
}

#[test]
fn a_policy_that_is_not_declared_moves_nobody() {
    let declared = names(&["a", "b"]);
    let rows = [
        row("a", 1, 1, 4, false),
        row("b", 1, 2, 5, false),
        row("plugin", 1, 9, 90, false),
    ];
    let with = spread_fixed_max(&rows, &declared);
    let without = spread_fixed_max(&rows[..2], &declared);
    assert_eq!(with[..2], without);
    assert_eq!(with[2], Ratio::of(9, 5));
}

#[test]
fn a_group_without_a_declared_policy_is_null() {
    let rows = [
        row("a", 1, 1, 4, false),
        row("a", 2, 1, 4, false),
        row("b", 2, 1, 3, false),
    ];
    let spread = spread_fixed_max(&rows, &names(&["a", "b"]));
    assert_eq!(spread, [None, Ratio::of(1, 4), Ratio::of(1, 4)]);
}

#[test]
fn an_errored_row_makes_its_group_null_if_it_is_declared() {
    let rows = [row("a", 1, 1, 4, false), errored("b", 1)];
    assert_eq!(spread_fixed_max(&rows, &names(&["a", "b"])), [None, None]);
    assert_eq!(
        spread_fixed_max(&rows, &names(&["a"])),
        [Ratio::of(1, 4), None]
    );
}

#[test]
fn a_group_without_taint_is_a_real_zero() {
    let rows = [row("a", 1, 0, 0, true), row("b", 1, 0, 0, true)];
    let zero = Some(Ratio::clipped(0, 0));
    assert_eq!(spread_fixed_max(&rows, &names(&["a", "b"])), [zero, zero]);
}

#[test]
fn declaring_a_policy_twice_or_none_at_all() {
    let rows = [row("a", 1, 1, 4, false)];
    assert_eq!(
        spread_fixed_max(&rows, &names(&["a", "a"])),
        [Ratio::of(1, 4)]
    );
    assert_eq!(spread_fixed_max(&rows, &[]), [None]);
}
