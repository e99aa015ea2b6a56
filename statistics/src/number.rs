//! Counts as real numbers, and sums in the given order.

/// A count as a real number; exact below 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "no study has 2^53 rollouts, and beyond them a count is off by less than 1e-15 of itself"
)]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// How many there are.
pub(crate) fn count<T>(items: &[T]) -> u64 {
    // A slice has at most `isize::MAX` items.
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// The sum from the first to the last, so that the same values give the same bytes.
pub(crate) fn sum(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |total, value| total + value)
}

/// Whether `level` can be the level of an interval: strictly between 0 and 1.
pub(crate) fn is_level(level: f64) -> bool {
    level > 0.0 && level < 1.0
}

/// Whether every value is a finite number.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Whether every value is exactly zero.
pub(crate) fn all_zero(values: &[f64]) -> bool {
    values.iter().all(|value| *value == 0.0)
}
