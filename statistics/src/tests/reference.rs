//! The same numbers as scipy, statsmodels and numpy, from `tests/reference/values.json`.

use serde_json::Value;

use super::assert_close;
use crate::special::{normal_upper_quantile, student_upper_quantile};
use crate::{
    Bootstrap, Clustered, Estimate, Interval, Stream, benjamini_hochberg, clopper_pearson,
    cluster_t, holm, intraclass_correlation, mcnemar_exact, newcombe, quantile, seed_variance,
    sign_flip, stratified, wilson,
};

/// How close an exact method must come, of a value above 1 relative to it.
const EXACT: f64 = 1e-9;

fn values() -> Value {
    serde_json::from_str(include_str!("../../tests/reference/values.json")).unwrap()
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn list(value: &Value) -> &[Value] {
    let list = value.as_array().unwrap();
    assert!(!list.is_empty());
    list
}

fn reals(value: &Value) -> Vec<f64> {
    list(value).iter().map(real).collect()
}

fn clustered(clusters: &Value) -> Clustered {
    let clusters = list(clusters).iter().enumerate();
    Clustered::of_rows(
        clusters.flat_map(|(key, values)| reals(values).into_iter().map(move |value| (key, value))),
    )
}

fn samples(values: &Value) -> impl Iterator<Item = (&Value, Clustered)> {
    let samples = values["samples"].as_object().unwrap();
    assert_eq!(samples.len(), 5);
    samples
        .values()
        .map(|sample| (sample, clustered(&sample["clusters"])))
}

#[track_caller]
fn assert_ends(found: Option<Interval>, wanted: &Value, slack: f64) {
    let found = found.unwrap();
    assert_close(found.low, real(&wanted[0]), slack);
    assert_close(found.high, real(&wanted[1]), slack);
}

/// Also where a value is far below 1.
#[track_caller]
fn assert_same_digits(found: f64, wanted: f64) {
    let gap = (found - wanted).abs();
    assert!(gap <= EXACT * wanted.abs(), "{found} is not {wanted}");
}

#[test]
fn quantiles_of_distributions_are_those_of_scipy() {
    let values = values();
    for case in list(&values["quantiles"]["student"]) {
        let t = student_upper_quantile(real(&case["upper"]), real(&case["degrees"]));
        assert_same_digits(t, real(&case["value"]));
    }
    for case in list(&values["quantiles"]["normal"]) {
        let z = normal_upper_quantile(real(&case["upper"]));
        assert_same_digits(z, real(&case["value"]));
    }
}

#[test]
fn quantiles_of_values_are_those_of_numpy() {
    let case = &values()["quantiles"]["type_7"];
    let sample = reals(&case["values"]);
    let wanted = reals(&case["quantiles"]);
    for (probability, wanted) in reals(&case["probabilities"]).into_iter().zip(wanted) {
        assert_close(quantile(&sample, probability).unwrap(), wanted, 1e-14);
    }
}

#[test]
fn intervals_of_a_proportion_are_those_of_scipy_and_statsmodels() {
    for case in list(&values()["intervals"]) {
        let (successes, trials) = (whole(&case["successes"]), whole(&case["trials"]));
        let level = real(&case["level"]);
        let exact = clopper_pearson(successes, trials, level).unwrap();
        assert_same_digits(exact.low, real(&case["clopper_pearson"][0]));
        assert_same_digits(exact.high, real(&case["clopper_pearson"][1]));
        assert_ends(wilson(successes, trials, level), &case["wilson"], EXACT);
    }
}

#[test]
fn the_difference_of_proportions_is_that_of_statsmodels() {
    for case in list(&values()["newcombe"]) {
        let pair = |key: &str| (whole(&case[key][0]), whole(&case[key][1]));
        let found = newcombe(pair("first"), pair("second"), 0.95);
        assert_ends(found, &case["interval"], EXACT);
    }
}

#[test]
fn mcnemar_is_that_of_statsmodels() {
    for case in list(&values()["mcnemar"]) {
        let found = mcnemar_exact(whole(&case["only_first"]), whole(&case["only_second"]));
        assert_same_digits(found.p_value, real(&case["p_value"]));
    }
}

#[test]
fn sign_flips_are_those_of_scipy() {
    for (case, sample) in samples(&values()) {
        let found = sign_flip(&sample, 0, &mut Stream::named(1, "unused")).unwrap();
        assert!(found.exact);
        assert_close(found.p_value, real(&case["sign_flip"]), EXACT);
    }
}

#[test]
fn the_cluster_robust_interval_is_that_of_a_regression_in_statsmodels() {
    for (case, sample) in samples(&values()) {
        for case in list(&case["cluster_t"]) {
            let found = cluster_t(&sample, real(&case["level"])).unwrap();
            assert_ends(found.interval, &case["interval"], EXACT);
        }
    }
}

#[test]
fn the_stratified_interval_is_its_formula_in_numpy() {
    for (case, sample) in samples(&values()) {
        for case in list(&case["stratified"]) {
            let found = stratified(&sample, real(&case["level"])).unwrap();
            assert_ends(found.interval, &case["interval"], EXACT);
        }
    }
}

#[test]
fn two_strata_are_the_unequal_variances_of_statsmodels() {
    let case = &values()["two_strata"];
    let found = stratified(&clustered(&case["clusters"]), 0.95).unwrap();
    assert_ends(found.interval, &case["interval"], EXACT);
}

#[test]
fn the_intraclass_correlation_is_that_of_an_analysis_of_variance() {
    for (case, sample) in samples(&values()) {
        let found = intraclass_correlation(&sample).unwrap();
        assert_close(found, real(&case["intraclass_correlation"]), EXACT);
    }
}

#[test]
fn means_and_spreads_are_those_of_numpy() {
    for (case, sample) in samples(&values()) {
        assert_close(sample.mean().unwrap(), real(&case["mean"]), 1e-14);
        let clusters = sample.clusters().enumerate();
        let rows = clusters.flat_map(|(seed, values)| values.iter().map(move |v| (seed, *v)));
        let found = seed_variance(rows).unwrap();
        let wanted = |key: &str| real(&case["seeds"][key]);
        assert_close(found.mean_of_seeds, wanted("mean_of_seeds"), EXACT);
        assert_close(
            found.standard_deviation,
            wanted("standard_deviation"),
            EXACT,
        );
        assert_close(found.range, wanted("range"), EXACT);
    }
}

#[test]
fn adjusted_p_values_are_those_of_statsmodels() {
    let case = &values()["adjusted"];
    let p_values = reals(&case["p_values"]);
    let adjusted = [holm(&p_values), benjamini_hochberg(&p_values)];
    for (found, key) in adjusted.into_iter().zip(["holm", "benjamini_hochberg"]) {
        for (found, wanted) in found.unwrap().into_iter().zip(reals(&case[key])) {
            assert_close(found, wanted, EXACT);
        }
    }
}

#[test]
fn bootstraps_are_those_of_scipy_within_their_own_error() {
    let values = values();
    for (case, sample) in samples(&values).filter(|(_, sample)| sample.cluster_count() > 4) {
        for case in list(&case["bootstrap"]) {
            let bootstrap = Bootstrap {
                level: real(&case["level"]),
                ..Bootstrap::default()
            };
            let mut stream = Stream::named(11, "scipy");
            let found = bootstrap.clusters(&sample, &mut stream).unwrap();
            assert_drawn(&sample, found, &case["interval"]["clusters"]);
            let found = bootstrap.pairs(sample.values(), &mut stream).unwrap();
            assert_drawn(&sample, found, &case["interval"]["pairs"]);
        }
    }
}

/// Four errors of either side, and one step of a mean that takes few values only: a quantile near a
/// jump of such a distribution falls to either side of it.
#[track_caller]
fn assert_drawn(sample: &Clustered, found: Estimate, wanted: &Value) {
    let all_whole = sample.values().iter().all(|value| value.fract() == 0.0);
    let step = if all_whole {
        1.0 / crate::number::real(found.n)
    } else {
        0.0
    };
    let slack = 4.0 * found.monte_carlo_error.unwrap() + step + 1e-12;
    let interval = found.interval.unwrap();
    assert!(
        slack < interval.width() / 3.0,
        "{found:?} would fit anything"
    );
    for (found, wanted) in [(interval.low, &wanted[0]), (interval.high, &wanted[1])] {
        assert!(
            (found - real(wanted)).abs() <= slack,
            "{found} is not {wanted}"
        );
    }
}
