//! Two policies on the same scenarios and seeds.

use serde::Serialize;

use crate::number::real;

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better, as of harm.
    Lower,
    /// More is better, as of utility.
    Higher,
}

impl Better {
    /// Whether `second` is strictly better than `first`.
    #[must_use]
    pub fn is_win(self, first: f64, second: f64) -> bool {
        match self {
            Self::Lower => second < first,
            Self::Higher => second > first,
        }
    }
}

/// How often the second of two policies is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WinRate {
    /// Pairs in which the second is strictly better.
    pub wins: u64,
    /// Pairs in which both are equal.
    pub ties: u64,
    /// All pairs, with ties and losses.
    pub pairs: u64,
    /// `wins` over `pairs`.
    pub rate: f64,
}

/// The share of pairs (first, second) in which the second is strictly better, of all pairs (Table
/// 25: 0.1456 where 0.1456 of the rows went from harm to none). None if there is no pair, or a value
/// is not a number.
pub fn win_rate(pairs: impl IntoIterator<Item = (f64, f64)>, better: Better) -> Option<WinRate> {
    let (mut wins, mut ties, mut all) = (0, 0, 0);
    for (first, second) in pairs {
        let order = first.partial_cmp(&second)?;
        wins += u64::from(better.is_win(first, second));
        ties += u64::from(order.is_eq());
        all += 1;
    }
    (all > 0).then(|| WinRate {
        wins,
        ties,
        pairs: all,
        rate: real(wins) / real(all),
    })
}

/// The differences second - first of pairs, in the order given (Eq. 12).
pub fn paired_differences(pairs: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
    pairs
        .into_iter()
        .map(|(first, second)| second - first)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_strictly_better_wins() {
        let pairs = [(1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (1.0, 0.5)];
        let lower = win_rate(pairs, Better::Lower).unwrap();
        assert_eq!((lower.wins, lower.ties, lower.pairs), (2, 1, 4));
        let higher = win_rate(pairs, Better::Higher).unwrap();
        assert_eq!((higher.wins, higher.ties, higher.pairs), (1, 1, 4));
        assert!((lower.rate - 0.5).abs() < 1e-15);
    }

    #[test]
    fn without_pairs_or_numbers_there_is_no_rate() {
        assert_eq!(win_rate([], Better::Lower), None);
        assert_eq!(win_rate([(1.0, f64::NAN)], Better::Lower), None);
    }

    #[test]
    fn a_difference_is_the_second_minus_the_first() {
        assert_eq!(paired_differences([(1.0, 0.25), (0.0, 2.0)]), [-0.75, 2.0]);
    }
}
