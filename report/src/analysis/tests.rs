use std::sync::Arc;

use study::results::Results;

use worlds::spec::Stage;

use super::*;
use crate::fixture::{self, two_scenarios};
use crate::metric::{HARM, SPREAD};

const SECURITY: Scope = Scope::Stage(Stage::Security);

fn analysis(results: &Results, threads: usize) -> Analysis<'_> {
    let options = Options {
        bootstrap: Bootstrap::default(),
        threads,
    };
    Analysis::new(Evidence::by_model(results).remove(0), &[], options)
}

#[test]
fn a_difference_is_that_of_the_means_over_pairs() {
    let results = two_scenarios();
    let analysis = analysis(&results, 1);
    let find = |metric| {
        analysis
            .difference("none", "tool_boundary", metric, SECURITY)
            .expect("a difference")
    };
    let harm = find(HARM);
    assert_eq!(
        (harm.mean_a.value, harm.mean_b.value, harm.mean_a.n),
        (Some(0.5), Some(0.0), 4)
    );
    assert!((harm.by_scenario.value + 0.5).abs() < 1e-12);
    assert!((harm.wins.rate - 0.5).abs() < 1e-12);
    assert_eq!((harm.by_scenario.clusters, harm.by_pair.n), (2, 4));
    assert!((find(SPREAD).by_scenario.value + 0.125).abs() < 1e-12);
}

/// A study of one's own has policies that the paper does not.
#[test]
fn every_policy_of_ones_own_study_is_compared() {
    let mut results = two_scenarios();
    let mut own = results.manifest.frozen.policies[1].clone();
    own.name = "own".to_owned();
    results.manifest.frozen.policies.push(own);
    let compared = |results: &Results| -> Vec<String> {
        let evidence = Evidence::by_model(results).remove(0);
        let pairs = compared(&evidence, &[]).into_iter();
        pairs.map(|pair| pair.to_string()).collect()
    };
    assert_eq!(compared(&results), ["none vs tool_boundary", "none vs own"]);
    results.manifest.frozen.name = "full_main".to_owned();
    assert_eq!(compared(&results), ["none vs tool_boundary"]);
}

/// A bootstrap of one event among many scenarios ends below the exact interval of none.
#[test]
fn one_event_never_has_a_lower_upper_end_than_none() {
    let names: Vec<String> = (0..40).map(|number| format!("f{number}/a")).collect();
    let high = |events: usize| {
        let rows = names.iter().enumerate().map(|(number, name)| {
            let made = fixture::Made {
                scenario: "f/a",
                seed: 1,
                policy: "none",
                harm: number < events,
                labelled: 1,
                region: 2,
            };
            let mut row = fixture::row(&made);
            row.identity.scenario_id = name.as_str().into();
            row.identity.family = name.as_str().into();
            row
        });
        let results = fixture::results(rows.collect());
        let analysis = analysis(&results, 1);
        let ends = [
            analysis.estimate(HARM, SECURITY, "none"),
            analysis.estimate_over_families(HARM, SECURITY, "none"),
        ];
        ends.map(|end| end.and_then(|end| end.interval).expect("an interval").high)
    };
    let highs = [0, 1, 2, 5, 9, 15].map(high);
    for pair in highs.windows(2) {
        assert!(
            pair[0][0] < pair[1][0] && pair[0][1] < pair[1][1],
            "{pair:?}"
        );
    }
}

#[test]
fn divergence_is_among_pairs_with_the_same_endpoint() {
    let results = two_scenarios();
    let analysis = analysis(&results, 1);
    let one = &analysis.divergences[0];
    assert_eq!((one.pairs, one.same_endpoint, one.same_zero), (4, 2, 2));
    assert_eq!((one.trajectories, one.utilities, one.both), (0, 0, 0));
}

#[test]
fn the_numbers_are_the_same_on_any_number_of_threads() {
    let results = two_scenarios();
    let one = format!("{:?}", analysis(&results, 1));
    for threads in [2, 7] {
        assert_eq!(one, format!("{:?}", analysis(&results, threads)));
    }
}

/// One pair with the same endpoint spreads further, another does less of its task.
#[test]
fn what_differs_between_pairs_is_counted() {
    let mut results = two_scenarios();
    let of_ignored = |row: &&mut Row| {
        &*row.identity.scenario_id == "ignore/a" && &*row.identity.policy == "tool_boundary"
    };
    for row in results.rows.iter_mut().filter(of_ignored) {
        let metrics = Arc::make_mut(&mut row.metrics);
        if row.identity.seed == 1 {
            metrics.propagation.blast_radius_raw = Some(3);
        } else {
            metrics.utility.benign_completion = Some(false);
        }
    }
    let analysis = analysis(&results, 1);
    let one = &analysis.divergences[0];
    assert_eq!(
        (one.same_endpoint, one.trajectories, one.utilities, one.both),
        (2, 1, 1, 0)
    );
    assert_eq!(one.fields, [("blast_radius_raw", 1)]);
    let share = one.trajectory.as_ref().expect("a share");
    assert!((share.value - 0.5).abs() < 1e-12);
    let at_equal_utility = one.at_equal_utility.as_ref().expect("a share");
    assert!((at_equal_utility.value - 1.0).abs() < 1e-12);
}

#[test]
fn an_interval_is_the_same_whatever_else_is_estimated() {
    let mut results = two_scenarios();
    let mut other = results.manifest.frozen.policies[1].clone();
    "other".clone_into(&mut other.name);
    results.manifest.frozen.policies.insert(0, other);
    let of_boundary = results
        .rows
        .iter()
        .filter(|row| &*row.identity.policy == "tool_boundary");
    let others = of_boundary.cloned().map(|mut row| {
        row.identity.policy = "other".into();
        row
    });
    let others: Vec<Row> = others.collect();
    results.rows.extend(others);
    let pair = |second: &str| ("none".to_owned(), second.to_owned());
    let interval = |pairs: &[(String, String)], threads| {
        let options = Options {
            bootstrap: Bootstrap::default(),
            threads,
        };
        let evidence = Evidence::by_model(&results).remove(0);
        let analysis = Analysis::new(evidence, pairs, options);
        let found = analysis.difference("none", "tool_boundary", HARM, SECURITY);
        found.expect("a difference").by_scenario.interval
    };
    let alone = interval(&[pair("tool_boundary")], 1);
    assert!(alone.is_some());
    assert_eq!(alone, interval(&[pair("other"), pair("tool_boundary")], 2));
}
