//! Intervals of proportions of independent trials.

use crate::estimate::Interval;
use crate::number::{is_level, real};
use crate::special::{beta_quantile, normal_upper_quantile};

/// The exact interval of Clopper and Pearson ("The use of confidence or fiducial limits", 1934): the
/// chances under which neither `successes` or more nor `successes` or fewer of `trials` would be
/// rarer than half of 1 - `level`. It holds the truth at least that often. None without trials, with
/// more successes than trials, or if `level` is none.
#[must_use]
pub fn clopper_pearson(successes: u64, trials: u64, level: f64) -> Option<Interval> {
    let failures = failures(successes, trials, level)?;
    let tail = (1.0 - level) / 2.0;
    let low = match (successes, failures) {
        (0, _) => 0.0,
        (_, 0) => (tail.ln() / real(trials)).exp(),
        _ => beta_quantile(real(successes), real(failures) + 1.0, tail),
    };
    let high = match (successes, failures) {
        (_, 0) => 1.0,
        (0, _) => -(tail.ln() / real(trials)).exp_m1(),
        _ => beta_quantile(real(successes) + 1.0, real(failures), 1.0 - tail),
    };
    Some(Interval { low, high, level })
}

/// The score interval of Wilson ("Probable inference", 1927): shorter than the exact one, and right
/// on average instead of at least. None as for [`clopper_pearson`].
#[must_use]
pub fn wilson(successes: u64, trials: u64, level: f64) -> Option<Interval> {
    let failures = failures(successes, trials, level)?;
    let z = normal_upper_quantile((1.0 - level) / 2.0);
    let n = real(trials);
    let share = real(successes) / n;
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let spread = share * (1.0 - share) / n + z * z / (4.0 * n * n);
    let half = z * spread.sqrt() / scale;
    // At the ends the formula gives 0 and 1 but for rounding.
    let low = if successes == 0 { 0.0 } else { centre - half };
    let high = if failures == 0 { 1.0 } else { centre + half };
    Some(Interval { low, high, level })
}

/// The interval of the difference first - second of two independent proportions, by Newcombe's
/// hybrid of two score intervals ("Interval estimation for the difference between independent
/// proportions", 1998, method 10). Each is given as successes and trials. Not for pairs: there the
/// two are not independent. None as for [`clopper_pearson`].
#[must_use]
pub fn newcombe(first: (u64, u64), second: (u64, u64), level: f64) -> Option<Interval> {
    let one = wilson(first.0, first.1, level)?;
    let two = wilson(second.0, second.1, level)?;
    let share_one = real(first.0) / real(first.1);
    let share_two = real(second.0) / real(second.1);
    let difference = share_one - share_two;
    Some(Interval {
        low: difference - (share_one - one.low).hypot(two.high - share_two),
        high: difference + (one.high - share_one).hypot(share_two - two.low),
        level,
    })
}

/// The trials that did not succeed, if the numbers make sense.
fn failures(successes: u64, trials: u64, level: f64) -> Option<u64> {
    let failures = trials.checked_sub(successes)?;
    (trials > 0 && is_level(level)).then_some(failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_needs_trials_and_a_level() {
        for interval in [clopper_pearson, wilson] {
            assert_eq!(interval(0, 0, 0.95), None);
            assert_eq!(interval(3, 2, 0.95), None);
            for level in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
                assert_eq!(interval(1, 2, level), None);
            }
        }
        assert_eq!(newcombe((1, 2), (0, 0), 0.95), None);
        assert_eq!(newcombe((3, 2), (1, 2), 0.95), None);
    }

    #[test]
    fn no_success_and_nothing_but_success_reach_the_ends() {
        for interval in [clopper_pearson, wilson] {
            let none = interval(0, 40, 0.95).unwrap();
            assert!(none.low <= 0.0 && none.high < 0.1);
            let all = interval(40, 40, 0.95).unwrap();
            assert!(all.high >= 1.0 && all.low > 0.9);
        }
    }

    #[test]
    fn the_difference_of_two_ends_is_within_them() {
        let range = newcombe((10, 10), (0, 10), 0.95).unwrap();
        assert!(range.high >= 1.0 && range.low > 0.5 && range.low < 1.0);
    }
}
