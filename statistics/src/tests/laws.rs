//! What holds of every input.

use proptest::prelude::*;

use super::assert_close;
use crate::{
    Bootstrap, Clustered, Estimate, Interval, Question, Stream, benjamini_hochberg,
    clopper_pearson, cluster_t, design_effect, exact_zero_bound, holm, intraclass_correlation,
    mcnemar_exact, newcombe, proportion, quantile, rule_of_three, seed_variance, sign_flip,
    stratified, wilson,
};

type Rows = Vec<(u8, f64)>;

/// Rows of up to eight clusters.
fn rows() -> impl Strategy<Value = Rows> {
    prop::collection::vec((0_u8..8, -100.0..100.0_f64), 1..60)
}

/// Rows that are zero or one.
fn indicators() -> impl Strategy<Value = Rows> {
    let value = prop::bool::ANY.prop_map(|happened| f64::from(u8::from(happened)));
    prop::collection::vec((0_u8..8, value), 1..60)
}

/// Successes and trials.
fn counts() -> impl Strategy<Value = (u64, u64)> {
    (1_u64..400).prop_flat_map(|trials| (0..=trials, Just(trials)))
}

fn level() -> impl Strategy<Value = f64> {
    0.5..0.999
}

fn share(successes: u64, trials: u64) -> f64 {
    crate::number::real(successes) / crate::number::real(trials)
}

/// Whether `value` is in the interval but for rounding.
fn holds(interval: Interval, value: f64) -> bool {
    let slack = 1e-12 * value.abs().max(1.0);
    interval.low <= value + slack && value <= interval.high + slack
}

#[track_caller]
fn assert_same(left: Option<Estimate>, right: Option<Estimate>) {
    let (left, right) = (left.unwrap(), right.unwrap());
    assert_close(left.value, right.value, 1e-9);
    assert_eq!((left.n, left.clusters), (right.n, right.clusters));
    assert_eq!(left.interval.is_some(), right.interval.is_some());
    for (left, right) in left.interval.into_iter().zip(right.interval) {
        assert_close(left.low, right.low, 1e-7);
        assert_close(left.high, right.high, 1e-7);
    }
}

proptest! {
    #[test]
    fn an_interval_of_a_proportion_holds_it((successes, trials) in counts(), level in level()) {
        for interval in [clopper_pearson, wilson] {
            let found = interval(successes, trials, level).unwrap();
            prop_assert!(holds(found, share(successes, trials)), "{:?}", found);
            prop_assert!(found.low >= 0.0 && found.high <= 1.0, "{:?}", found);
        }
    }

    #[test]
    fn more_successes_never_lower_an_interval((successes, trials) in counts(), level in level()) {
        if successes < trials {
            for interval in [clopper_pearson, wilson] {
                let less = interval(successes, trials, level).unwrap();
                let more = interval(successes + 1, trials, level).unwrap();
                prop_assert!(less.low < more.low && less.high < more.high);
            }
        }
    }

    #[test]
    fn failures_are_the_mirror_of_successes((successes, trials) in counts(), level in level()) {
        for interval in [clopper_pearson, wilson] {
            let one = interval(successes, trials, level).unwrap();
            let other = interval(trials - successes, trials, level).unwrap();
            assert_close(one.low, 1.0 - other.high, 1e-12);
            assert_close(one.high, 1.0 - other.low, 1e-12);
        }
    }

    #[test]
    fn a_higher_level_is_never_narrower((successes, trials) in counts(), level in level()) {
        for interval in [clopper_pearson, wilson] {
            let narrow = interval(successes, trials, level * 0.9).unwrap();
            let wide = interval(successes, trials, level).unwrap();
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }
    }

    #[test]
    fn the_exact_interval_leaves_no_more_than_half_the_rest_to_each_side(
        (successes, trials) in counts(),
        level in level(),
    ) {
        let tail = (1.0 - level) / 2.0;
        let found = clopper_pearson(successes, trials, level).unwrap();
        let at_most = |count, chance| {
            let (count, trials) = (crate::number::real(count), crate::number::real(trials));
            crate::special::binomial_lower(count, trials, chance)
        };
        if successes < trials {
            assert_close(at_most(successes, found.high), tail, 1e-10);
        }
        if successes > 0 {
            assert_close(1.0 - at_most(successes - 1, found.low), tail, 1e-10);
        }
    }

    #[test]
    fn a_difference_turned_round_is_its_negative(one in counts(), two in counts(), level in level()) {
        let there = newcombe(one, two, level).unwrap();
        let back = newcombe(two, one, level).unwrap();
        assert_close(there.low, -back.high, 1e-12);
        assert_close(there.high, -back.low, 1e-12);
        prop_assert!(holds(there, share(one.0, one.1) - share(two.0, two.1)));
    }

    #[test]
    fn an_interval_of_a_mean_holds_it(rows in rows(), level in level()) {
        let sample = Clustered::of_rows(rows);
        let mut stream = Stream::named(1, "law");
        let bootstrap = Bootstrap { resamples: 500, level };
        for found in [
            stratified(&sample, level),
            cluster_t(&sample, level),
            bootstrap.clusters(&sample, &mut stream),
            bootstrap.pairs(sample.values(), &mut stream),
        ] {
            let found = found.unwrap();
            if let Some(interval) = found.interval {
                prop_assert!(holds(interval, found.value), "{:?}", found);
            }
        }
    }

    #[test]
    fn a_proportion_always_has_an_interval_for_these_scenarios(rows in indicators(), level in level()) {
        let sample = Clustered::of_rows(rows);
        let found = proportion(&sample, Question::TheseScenarios, level).unwrap();
        let interval = found.interval.unwrap();
        prop_assert!(holds(interval, found.value), "{:?}", found);
        prop_assert!(interval.width() > 0.0 && interval.low >= 0.0 && interval.high <= 1.0);
    }

    #[test]
    fn a_proportion_is_never_certain(rows in indicators(), level in level()) {
        let sample = Clustered::of_rows(rows);
        let mut stream = Stream::named(1, "law");
        let bootstrap = Bootstrap { resamples: 200, level };
        for question in [Question::TheseScenarios, Question::ScenariosLikeThese] {
            for found in [
                proportion(&sample, question, level),
                bootstrap.proportion(&sample, question, &mut stream),
            ] {
                let found = found.unwrap();
                prop_assert!(found.interval.is_none_or(|interval| interval.width() > 0.0));
            }
        }
    }

    #[test]
    fn clusters_of_one_row_are_plain_rows(values in prop::collection::vec(-10.0..10.0_f64, 2..40)) {
        let sample = Clustered::of_rows(values.iter().copied().enumerate());
        let bootstrap = Bootstrap { resamples: 300, level: 0.95 };
        let by_cluster = bootstrap.clusters(&sample, &mut Stream::named(2, "one"));
        let by_pair = bootstrap.pairs(&values, &mut Stream::named(2, "one"));
        prop_assert_eq!(by_cluster.unwrap().interval, by_pair.unwrap().interval);
        let together = Clustered::of_rows(values.iter().map(|value| (0, *value)));
        assert_same(
            cluster_t(&sample, 0.95),
            stratified(&together, 0.95).map(|found| Estimate {
                clusters: found.n,
                ..found
            }),
        );
    }

    #[test]
    fn the_order_of_rows_changes_nothing_but_rounding(
        (rows, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
    ) {
        let (one, other) = (Clustered::of_rows(rows.clone()), Clustered::of_rows(shuffled.clone()));
        assert_same(stratified(&one, 0.95), stratified(&other, 0.95));
        assert_same(cluster_t(&one, 0.95), cluster_t(&other, 0.95));
        let flips = |sample| sign_flip(sample, 0, &mut Stream::named(1, "unused"));
        prop_assert_eq!(flips(&one).map(|found| found.p_value), flips(&other).map(|found| found.p_value));
        prop_assert_eq!(intraclass_correlation(&one).is_some(), intraclass_correlation(&other).is_some());
        prop_assert_eq!(quantile(one.values(), 0.3), quantile(other.values(), 0.3));
        let (one, other) = (seed_variance(rows).unwrap(), seed_variance(shuffled).unwrap());
        assert_close(one.standard_deviation, other.standard_deviation, 1e-9);
        assert_close(one.range, other.range, 1e-9);
    }

    #[test]
    fn a_scale_and_a_shift_are_those_of_the_interval(
        rows in rows(),
        shift in -50.0..50.0_f64,
        scale in 0.5..20.0_f64,
    ) {
        let sample = Clustered::of_rows(rows.clone());
        let moved = Clustered::of_rows(rows.into_iter().map(|(key, value)| (key, value * scale + shift)));
        for method in [stratified, cluster_t] {
            let (plain, moved) = (method(&sample, 0.9).unwrap(), method(&moved, 0.9).unwrap());
            for (plain, moved) in plain.interval.into_iter().zip(moved.interval) {
                assert_close(moved.low, plain.low * scale + shift, 1e-6);
                assert_close(moved.high, plain.high * scale + shift, 1e-6);
            }
        }
    }

    #[test]
    fn a_sign_flip_test_does_not_care_which_policy_is_first(rows in rows()) {
        let there = Clustered::of_rows(rows.clone());
        let back = Clustered::of_rows(rows.into_iter().map(|(key, value)| (key, -value)));
        let p_value = |sample| sign_flip(sample, 0, &mut Stream::named(1, "unused")).unwrap().p_value;
        let found = p_value(&there);
        prop_assert!(found > 0.0 && found <= 1.0);
        assert_close(found, p_value(&back), 1e-12);
    }

    #[test]
    fn mcnemar_is_symmetric_and_a_probability(first in 0_u64..3_000, second in 0_u64..3_000) {
        let found = mcnemar_exact(first, second).p_value;
        prop_assert!((0.0..=1.0).contains(&found));
        assert_close(found, mcnemar_exact(second, first).p_value, 1e-12);
        let further = mcnemar_exact(first.min(second), first.max(second) + 1).p_value;
        prop_assert!(further <= found + 1e-12);
    }

    #[test]
    fn adjusting_raises_p_values_and_keeps_their_order(
        p_values in prop::collection::vec(0.0..=1.0_f64, 0..30)
    ) {
        let (strict, lenient) = (holm(&p_values).unwrap(), benjamini_hochberg(&p_values).unwrap());
        for (place, p) in p_values.iter().enumerate() {
            prop_assert!(*p <= lenient[place] + 1e-15 && lenient[place] <= strict[place] + 1e-15);
            prop_assert!(strict[place] <= 1.0);
            for (other, q) in p_values.iter().enumerate() {
                if p < q {
                    prop_assert!(strict[place] <= strict[other] && lenient[place] <= lenient[other]);
                }
            }
        }
    }

    #[test]
    fn more_trials_without_an_event_lower_every_bound(n in 3_u64..100_000, level in level()) {
        prop_assert!(exact_zero_bound(n + 1, level) < exact_zero_bound(n, level));
        prop_assert!(rule_of_three(n + 1) < rule_of_three(n));
        let two_sided = clopper_pearson(0, n, 2.0 * level - 1.0);
        if let (Some(two_sided), Some(one_sided)) = (two_sided, exact_zero_bound(n, level)) {
            assert_close(two_sided.high, one_sided, 1e-12);
        }
    }

    #[test]
    fn correlated_values_are_never_worth_more_than_they_are(rows in rows()) {
        let sample = Clustered::of_rows(rows);
        if let Some(found) = design_effect(&sample) {
            prop_assert!(found.intraclass_correlation <= 1.0 + 1e-12);
            prop_assert!(found.design_effect >= 1.0);
            prop_assert!(found.effective_n <= crate::number::real(sample.n()));
        }
    }

    #[test]
    fn nothing_panics(values in prop::collection::vec((0_u8..4, prop::num::f64::ANY), 0..30), level in prop::num::f64::ANY) {
        let sample = Clustered::of_rows(values.clone());
        let bootstrap = Bootstrap { resamples: 20, level };
        let mut stream = Stream::named(1, "any");
        for found in [
            stratified(&sample, level),
            cluster_t(&sample, level),
            proportion(&sample, Question::TheseScenarios, level),
            bootstrap.clusters(&sample, &mut stream),
            bootstrap.pairs(sample.values(), &mut stream),
        ].into_iter().flatten() {
            prop_assert!(found.value.is_finite());
        }
        let _ = (design_effect(&sample), sign_flip(&sample, 20, &mut stream));
        let _ = (quantile(sample.values(), level), seed_variance(values));
        let _ = (holm(sample.values()), exact_zero_bound(7, level), wilson(3, 7, level));
        let _ = clopper_pearson(3, 7, level);
    }
}
