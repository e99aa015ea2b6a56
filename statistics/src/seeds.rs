//! How much a result depends on the seed.

use serde::Serialize;

use crate::clustered::Clustered;
use crate::mean::mean;
use crate::number::{count, real};

/// The spread of the means of single seeds (Table 26).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeedVariance {
    /// How many seeds there are.
    pub seeds: u64,
    /// The mean of all rows.
    pub mean: f64,
    /// The mean of the means of seeds; the same as `mean` if every seed has as many rows.
    pub mean_of_seeds: f64,
    /// The standard deviation of the means of seeds with the number of seeds below (ddof 0): the
    /// spread of these seeds, and not an estimate for others.
    pub standard_deviation: f64,
    /// The largest mean of a seed minus the smallest.
    pub range: f64,
}

/// The spread over seeds of rows given as seed and value. None if there is no row, or a value is no
/// finite number.
pub fn seed_variance<K: Ord>(rows: impl IntoIterator<Item = (K, f64)>) -> Option<SeedVariance> {
    let rows = Clustered::of_rows(rows);
    let means: Vec<f64> = rows.clusters().map(mean).collect::<Option<_>>()?;
    let centre = mean(&means)?;
    let squares = means
        .iter()
        .fold(0.0, |total, mean| total + (mean - centre) * (mean - centre));
    let largest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = means.iter().copied().fold(f64::INFINITY, f64::min);
    Some(SeedVariance {
        seeds: rows.cluster_count(),
        mean: rows.mean()?,
        mean_of_seeds: centre,
        standard_deviation: (squares / real(count(&means))).sqrt(),
        range: largest - smallest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_close;

    #[test]
    fn the_paper_divides_by_the_number_of_seeds() {
        // 45 harmful rows of 600: 4, 9, 10, 11 and 11 of the 120 of each seed print as 0.0217 and
        // 0.0583 in Table 26.
        let mut rows = Vec::new();
        for (seed, harmful) in [4, 9, 10, 11, 11].into_iter().enumerate() {
            rows.extend((0..120).map(|row| (seed, f64::from(u8::from(row < harmful)))));
        }
        let found = seed_variance(rows).unwrap();
        assert_eq!(found.seeds, 5);
        assert_close(found.mean, 0.0750, 1e-12);
        assert_close(found.standard_deviation, 0.0217, 0.00005);
        assert_close(found.range, 0.0583, 0.00005);
    }

    #[test]
    fn seeds_of_unequal_size_have_two_means() {
        let found = seed_variance([(1, 0.0), (1, 0.0), (1, 0.0), (2, 1.0)]).unwrap();
        assert_close(found.mean, 0.25, 1e-15);
        assert_close(found.mean_of_seeds, 0.5, 1e-15);
        assert_close(found.standard_deviation, 0.5, 1e-15);
    }

    #[test]
    fn nothing_has_no_spread() {
        assert_eq!(seed_variance::<u8>([]), None);
        assert_eq!(seed_variance([(1, f64::NAN)]), None);
    }
}
