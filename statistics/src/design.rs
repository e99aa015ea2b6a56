//! How much rollouts of one scenario repeat each other.

use serde::Serialize;

use crate::clustered::Clustered;
use crate::number::{count, real};

/// How far grouped values are from independent ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DesignEffect {
    /// The correlation of two values of one cluster; see [`intraclass_correlation`].
    pub intraclass_correlation: f64,
    /// How many times larger the variance of the mean is than that of as many independent values:
    /// 1 + (m - 1) icc, with m the mean size of the cluster that a value is in (Kish, "Survey
    /// Sampling", 1965). A negative correlation counts as 0.
    pub design_effect: f64,
    /// How many independent values would tell as much.
    pub effective_n: f64,
}

/// The correlation of two values of one cluster, from a one-way analysis of variance: (`MSB` -
/// `MSW`) / (`MSB` + (n0 - 1) `MSW`), with n0 = (N - sum of squared sizes / N) / (G - 1) for clusters of unequal
/// size (Donner, "A review of inference procedures for the intraclass correlation coefficient",
/// 1986). It may be below 0 by chance. None if there are fewer than two clusters, no cluster has two
/// values, no value differs from another, or one is no finite number.
#[must_use]
pub fn intraclass_correlation(sample: &Clustered) -> Option<f64> {
    let centre = sample.mean()?;
    let (n, clusters) = (real(sample.n()), real(sample.cluster_count()));
    let (mut between, mut within, mut squared_sizes) = (0.0, 0.0, 0.0);
    for (cluster, (sum, size)) in sample.clusters().zip(sample.totals()) {
        let mean = sum / size;
        between += size * (mean - centre) * (mean - centre);
        within = cluster.iter().fold(within, |total, value| {
            total + (value - mean) * (value - mean)
        });
        squared_sizes += size * size;
    }
    if clusters < 2.0 || n <= clusters {
        return None;
    }
    let between = between / (clusters - 1.0);
    let within = within / (n - clusters);
    let size = (n - squared_sizes / n) / (clusters - 1.0);
    let correlation = (between - within) / (between + (size - 1.0) * within);
    correlation.is_finite().then_some(correlation)
}

/// The design effect of grouped values, and how many independent ones they are worth. None as for
/// [`intraclass_correlation`].
#[must_use]
pub fn design_effect(sample: &Clustered) -> Option<DesignEffect> {
    let correlation = intraclass_correlation(sample)?;
    let n = real(sample.n());
    let size = sample
        .clusters()
        .map(|cluster| real(count(cluster)))
        .fold(0.0, |total, size| total + size * size / n);
    let effect = 1.0 + (size - 1.0) * correlation.max(0.0);
    Some(DesignEffect {
        intraclass_correlation: correlation,
        design_effect: effect,
        effective_n: n / effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_close, sample};

    #[test]
    fn scenarios_that_always_do_the_same_count_once() {
        let found = design_effect(&sample(&[&[0.0; 5], &[1.0; 5], &[0.0; 5]])).unwrap();
        assert_close(found.intraclass_correlation, 1.0, 1e-12);
        assert_close(found.design_effect, 5.0, 1e-12);
        assert_close(found.effective_n, 3.0, 1e-12);
    }

    #[test]
    fn scenarios_that_are_alike_count_in_full() {
        let found = design_effect(&sample(&[&[0.0, 1.0], &[1.0, 0.0]])).unwrap();
        assert!(found.intraclass_correlation < 0.0);
        assert_close(found.design_effect, 1.0, 1e-15);
        assert_close(found.effective_n, 4.0, 1e-15);
    }

    #[test]
    fn without_pairs_in_a_scenario_there_is_no_correlation() {
        assert_eq!(intraclass_correlation(&sample(&[&[1.0], &[2.0]])), None);
        assert_eq!(intraclass_correlation(&sample(&[&[1.0, 2.0]])), None);
        assert_eq!(
            intraclass_correlation(&sample(&[&[1.0; 2], &[1.0; 2]])),
            None
        );
    }
}
