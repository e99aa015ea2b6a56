//! Whether a paired difference is more than chance, when scenarios are a sample.

use serde::Serialize;

use crate::clustered::Clustered;
use crate::number::{count, real, sum};
use crate::stream::Stream;

/// Up to this many clusters every choice of signs is tried.
const EXACT_CLUSTERS: usize = 20;

/// The result of a sign-flip test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SignFlip {
    /// The chance of a difference as large or larger, to either side, if none were real.
    pub p_value: f64,
    /// Whether every choice of signs was tried.
    pub exact: bool,
    /// How many choices of signs were compared.
    pub flips: u64,
    /// How many clusters have a difference; the others change nothing.
    pub clusters: u64,
    /// The standard error of `p_value` due to drawing; none if exact.
    pub monte_carlo_error: Option<f64>,
}

/// Tests whether the mean of paired differences is zero, for scenarios like these.
///
/// If neither policy were better, the differences of a scenario might as well have the other sign,
/// all at once. So the sum over all pairs is compared with the sums under other signs (Fisher, "The
/// Design of Experiments", section 21). Up to 20 clusters with a difference every choice is tried;
/// above, `flips` are drawn, and p is (b + 1)/(m + 1) with b as extreme among m drawn (Phipson and
/// Smyth, "Permutation p-values should never be zero", 2010), with the standard error of a
/// proportion. None if there is no value, one is no finite number, or no flips are asked for.
#[must_use]
pub fn sign_flip(differences: &Clustered, flips: u32, stream: &mut Stream) -> Option<SignFlip> {
    differences.mean()?;
    let mut sums: Vec<f64> = differences.clusters().map(sum).collect();
    sums.retain(|sum| *sum != 0.0);
    // What sums up differently in another order is still as extreme.
    let slack = 1e-12 * sums.iter().fold(0.0, |total, sum| total + sum.abs());
    let least = sum(&sums).abs() - slack;
    let (p_value, compared, exact) = if sums.len() <= EXACT_CLUSTERS {
        let (extreme, all) = every_choice(&sums, least);
        (real(extreme) / real(all), all, true)
    } else {
        let extreme = drawn_choices(&sums, least, flips, stream);
        let all = u64::from(flips);
        (real(extreme + 1) / real(all + 1), all, false)
    };
    if compared == 0 {
        return None;
    }
    let error = (p_value * (1.0 - p_value) / real(compared)).sqrt();
    Some(SignFlip {
        p_value,
        exact,
        flips: compared,
        clusters: count(&sums),
        monte_carlo_error: (!exact).then_some(error),
    })
}

/// How many choices of signs give a sum as large as `least`, and how many choices there are. The
/// last sign stays, because a choice and its opposite are equally extreme.
fn every_choice(sums: &[f64], least: f64) -> (u64, u64) {
    let choices = 1_u64 << sums.len().saturating_sub(1);
    let mut extreme = 0;
    for signs in 0..choices {
        extreme += u64::from(signed_sum(sums, signs).abs() >= least);
    }
    (extreme, choices)
}

fn drawn_choices(sums: &[f64], least: f64, flips: u32, stream: &mut Stream) -> u64 {
    let mut extreme = 0;
    for _ in 0..flips {
        let total = sums
            .chunks(64)
            .fold(0.0, |total, chunk| total + signed_sum(chunk, stream.word()));
        extreme += u64::from(total.abs() >= least);
    }
    extreme
}

/// The sum of up to 64 values, each negative where its bit of `signs` is set.
fn signed_sum(values: &[f64], signs: u64) -> f64 {
    let mut total = 0.0;
    for (place, value) in values.iter().enumerate() {
        total += if signs >> place & 1 == 1 {
            -value
        } else {
            *value
        };
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_close, sample};

    fn stream() -> Stream {
        Stream::named(5, "flips")
    }

    #[test]
    fn a_difference_in_every_cluster_is_as_rare_as_heads_in_a_row() {
        let rows = sample(&[&[1.0], &[2.0], &[0.5, 0.5], &[3.0]]);
        let found = sign_flip(&rows, 0, &mut stream()).unwrap();
        assert!(found.exact);
        assert_eq!((found.flips, found.clusters), (8, 4));
        assert_close(found.p_value, 1.0 / 8.0, 1e-15);
        assert_eq!(found.monte_carlo_error, None);
    }

    #[test]
    fn a_cluster_flips_as_a_whole() {
        // By rows this would be one choice in 2^5.
        let rows = sample(&[&[1.0; 3], &[1.0; 3]]);
        assert_close(
            sign_flip(&rows, 0, &mut stream()).unwrap().p_value,
            0.5,
            1e-15,
        );
    }

    #[test]
    fn clusters_without_a_difference_change_nothing() {
        let few = sample(&[&[0.3], &[0.7], &[-0.2]]);
        let more = sample(&[&[0.3], &[0.0; 2], &[0.7], &[1.0, -1.0], &[-0.2]]);
        let test = |rows| sign_flip(rows, 0, &mut stream());
        assert_eq!(test(&few), test(&more));
        let none = test(&sample(&[&[0.0], &[0.0]])).unwrap();
        assert_close(none.p_value, 1.0, 1e-15);
        assert_eq!(none.clusters, 0);
    }

    #[test]
    fn drawn_flips_agree_with_all_of_them() {
        let sums: Vec<f64> = (0..20).map(|place| f64::from(place % 7) - 2.0).collect();
        let least = sum(&sums).abs() - 1e-12;
        let (extreme, all) = every_choice(&sums, least);
        let exact = real(extreme) / real(all);
        let drawn = real(drawn_choices(&sums, least, 100_000, &mut stream())) / 1e5;
        let error = (exact * (1.0 - exact) / 1e5).sqrt();
        assert!(exact > 0.01 && exact < 0.9, "{exact}");
        assert!((drawn - exact).abs() < 4.0 * error, "{drawn} {exact}");
    }

    #[test]
    fn many_clusters_are_drawn_and_never_impossible() {
        let rows = Clustered::of_rows((0..70).map(|row| (row, 1.0 + f64::from(row % 3))));
        let found = sign_flip(&rows, 999, &mut stream()).unwrap();
        assert!(!found.exact);
        assert_close(found.p_value, 1.0 / 1000.0, 1e-15);
        assert!(found.monte_carlo_error.unwrap() > 0.0);
        assert_eq!(sign_flip(&rows, 0, &mut stream()), None);
    }

    #[test]
    fn what_has_no_mean_is_not_tested() {
        assert_eq!(sign_flip(&sample(&[]), 10, &mut stream()), None);
        assert_eq!(sign_flip(&sample(&[&[f64::NAN]]), 10, &mut stream()), None);
    }
}
