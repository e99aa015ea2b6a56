//! Quantiles.

use crate::number::{all_finite, count, real};

/// The quantile of `values` at `probability`, of Hyndman and Fan's type 7: linear between order
/// statistics, with the smallest value at 0 and the largest at 1. This is what numpy and R do unless
/// told otherwise. None if there is no value, one is no finite number, or `probability` is not
/// between 0 and 1.
#[must_use]
pub fn quantile(values: &[f64], probability: f64) -> Option<f64> {
    if !all_finite(values) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, probability)
}

/// Like [`quantile`], of values that are finite and in ascending order.
pub(crate) fn quantile_of_sorted(sorted: &[f64], probability: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&probability) {
        return None;
    }
    at_rank(sorted, probability * real(count(sorted).checked_sub(1)?))
}

/// The value at `rank`, counted from 0; between two ranks the value in proportion between theirs.
/// A rank below the first or above the last is that of the first or the last.
pub(crate) fn at_rank(sorted: &[f64], rank: f64) -> Option<f64> {
    let last = count(sorted).checked_sub(1)?;
    let rank = rank.clamp(0.0, real(last));
    let below = rank.floor();
    let low = *sorted.get(position(below))?;
    let high = *sorted.get(position(rank.ceil()))?;
    Some(low + (high - low) * (rank - below))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number between 0 and the last position"
)]
fn position(rank: f64) -> usize {
    rank as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_order_statistics_it_is_linear() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[5.0], 0.3), Some(5.0));
    }

    #[test]
    fn what_has_no_quantile_has_none() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0, f64::NAN], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.1), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }
}
