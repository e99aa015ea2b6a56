//! Intervals of a mean of grouped values from their variance, one for each question.

use crate::clustered::Clustered;
use crate::estimate::{Estimate, Interval, Method, Question};
use crate::mean::mean;
use crate::number::{all_zero, count, is_level, real};
use crate::special::student_upper_quantile;

/// The mean of all values, for exactly these scenarios.
///
/// The clusters are strata that are always the same, so only the variance within each counts:
/// the variance of the mean is the sum of `n_c s_c^2 / N^2` (Cochran, "Sampling Techniques",
/// chapter 5). The factor is Student's t with the degrees of freedom of Satterthwaite ("An
/// approximate distribution of estimates of variance components", 1946). Without an interval if a
/// cluster has one value only, or no cluster has any spread. Where every value is exactly 0 it is
/// [0, 0], marked [`Method::IdenticalPairs`]. None if there is no value, one is no finite number, or
/// `level` is none.
#[must_use]
pub fn stratified(sample: &Clustered, level: f64) -> Option<Estimate> {
    let value = start(sample, Question::TheseScenarios, level)?;
    if all_zero(sample.values()) {
        return Some(value.identical(level));
    }
    let n = real(sample.n());
    let mut variance = 0.0;
    let mut by_degrees = 0.0;
    for cluster in sample.clusters() {
        let Some(within) = variance_of(cluster) else {
            return Some(value);
        };
        let size = real(count(cluster));
        let share = size * within / (n * n);
        variance += share;
        by_degrees += share * share / (size - 1.0);
    }
    if variance <= 0.0 {
        return Some(value);
    }
    let degrees = variance * variance / by_degrees;
    Some(around(value, variance, degrees, level, Method::Stratified))
}

/// The mean of all values, for scenarios like these.
///
/// The clusters are a sample: with `r_c` the sum of a cluster's distances from the mean, the variance
/// of the mean is G/(G-1) times the sum of `r_c^2 / N^2`, as for a regression on a constant with
/// errors correlated within clusters (Liang and Zeger, "Longitudinal data analysis using generalized
/// linear models", 1986; with the correction of Cameron and Miller, "A practitioner's guide to
/// cluster-robust inference", 2015). The factor is Student's t with G - 1 degrees of freedom. Of
/// clusters of equal size this is the t interval of their means. Below
/// [`FEW_CLUSTERS`](crate::FEW_CLUSTERS) a reader must be warned
/// ([`Estimate::has_few_clusters`]). Without an interval if there is one cluster only, or they do
/// not differ. [0, 0] and none as for [`stratified`].
#[must_use]
pub fn cluster_t(sample: &Clustered, level: f64) -> Option<Estimate> {
    let value = start(sample, Question::ScenariosLikeThese, level)?;
    if all_zero(sample.values()) {
        return Some(value.identical(level));
    }
    if value.clusters < 2 {
        return Some(value);
    }
    let degrees = real(value.clusters - 1);
    let squares = sample.totals().iter().fold(0.0, |total, (sum, size)| {
        let residual = sum - value.value * size;
        total + residual * residual
    });
    let n = real(value.n);
    let variance = (degrees + 1.0) / degrees * squares / (n * n);
    Some(around(value, variance, degrees, level, Method::ClusterT))
}

fn start(sample: &Clustered, question: Question, level: f64) -> Option<Estimate> {
    let value = sample.mean()?;
    let found = Estimate::value_only(value, question, sample.n(), sample.cluster_count());
    is_level(level).then_some(found)
}

/// `value` with the interval of Student's t to both sides.
fn around(value: Estimate, variance: f64, degrees: f64, level: f64, method: Method) -> Estimate {
    // There is at least one degree; squares of enormous or tiny values say otherwise.
    if !(variance.is_finite() && degrees.is_finite() && degrees > 0.5) {
        return value;
    }
    let half = student_upper_quantile((1.0 - level) / 2.0, degrees) * variance.sqrt();
    let interval = Interval {
        low: value.value - half,
        high: value.value + half,
        level,
    };
    value.with(interval, method)
}

/// The variance with n - 1 below; none of fewer than two values.
fn variance_of(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let degrees = count(values)
        .checked_sub(1)
        .filter(|degrees| *degrees > 0)?;
    let squares = values.iter().fold(0.0, |total, value| {
        total + (value - centre) * (value - centre)
    });
    Some(squares / real(degrees))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_close, sample};

    #[test]
    fn differences_between_scenarios_count_for_one_question_only() {
        // Each scenario has a mean of its own and next to no spread.
        let apart = sample(&[&[0.0, 0.1], &[5.0, 5.1], &[9.0, 9.1]]);
        let these = stratified(&apart, 0.95).unwrap().interval.unwrap();
        let like = cluster_t(&apart, 0.95).unwrap().interval.unwrap();
        assert!(these.width() < 0.3, "{these:?}");
        assert!(like.width() > 10.0, "{like:?}");
    }

    #[test]
    fn of_equal_clusters_it_is_the_t_interval_of_their_means() {
        let found = cluster_t(&sample(&[&[1.0, 3.0], &[4.0, 6.0], &[7.0, 11.0]]), 0.95);
        let found = found.unwrap().interval.unwrap();
        // The means are 2, 5, 9; their standard deviation is sqrt(37/3), and t(0.975; 2) is known.
        let half = 4.302_652_729_749_464 * (37.0_f64 / 3.0 / 3.0).sqrt();
        assert_close(found.low, 16.0 / 3.0 - half, 1e-12);
        assert_close(found.high, 16.0 / 3.0 + half, 1e-12);
    }

    #[test]
    fn without_spread_there_is_no_interval() {
        let one_each = sample(&[&[1.0], &[2.0]]);
        assert_eq!(stratified(&one_each, 0.95).unwrap().interval, None);
        let flat = sample(&[&[1.0, 1.0], &[2.0, 2.0]]);
        assert_eq!(stratified(&flat, 0.95).unwrap().method, Method::None);
        let alone = sample(&[&[1.0, 2.0]]);
        assert_eq!(cluster_t(&alone, 0.95).unwrap().interval, None);
        let alike = sample(&[&[1.0, 2.0], &[2.0, 1.0]]);
        assert_eq!(cluster_t(&alike, 0.95).unwrap().interval, None);
    }

    #[test]
    fn identical_pairs_are_said_to_be_so() {
        let zero = sample(&[&[0.0, 0.0], &[0.0]]);
        for found in [stratified(&zero, 0.95), cluster_t(&zero, 0.95)] {
            let found = found.unwrap();
            assert_eq!(found.method, Method::IdenticalPairs);
            assert_close(found.interval.unwrap().width(), 0.0, 1e-300);
        }
    }

    #[test]
    fn what_cannot_be_estimated_is_not() {
        let some = sample(&[&[1.0, 2.0], &[2.0, 4.0]]);
        for method in [stratified, cluster_t] {
            assert_eq!(method(&sample(&[]), 0.95), None);
            assert_eq!(method(&sample(&[&[1.0, f64::NAN]]), 0.95), None);
            assert_eq!(method(&some, 1.0), None);
            assert!(method(&some, 0.95).unwrap().interval.is_some());
        }
    }
}
