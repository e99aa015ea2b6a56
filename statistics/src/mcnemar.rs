//! Whether two policies differ in what happens at all.

use serde::Serialize;

use crate::number::real;
use crate::special::binomial_lower;

/// The result of [`mcnemar_exact`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// The pairs in which it happened under the first only.
    pub only_first: u64,
    /// The pairs in which it happened under the second only.
    pub only_second: u64,
    /// The chance of a difference as large or larger if neither were likelier.
    pub p_value: f64,
}

/// The exact test of Q. `McNemar` ("Note on the sampling error of the difference between correlated
/// proportions", 1947): pairs that differ are tosses of a fair coin, two-sided. Pairs count as
/// independent, so this is for exactly these scenarios; [`sign_flip`](crate::sign_flip) is for
/// scenarios like these.
#[must_use]
pub fn mcnemar_exact(only_first: u64, only_second: u64) -> McNemar {
    let (fewer, all) = (
        real(only_first.min(only_second)),
        real(only_first) + real(only_second),
    );
    McNemar {
        only_first,
        only_second,
        p_value: (2.0 * binomial_lower(fewer, all, 0.5)).min(1.0),
    }
}

/// [`mcnemar_exact`] of pairs that say whether it happened under the first and under the second.
pub fn mcnemar_of_pairs(pairs: impl IntoIterator<Item = (bool, bool)>) -> McNemar {
    let (mut only_first, mut only_second) = (0, 0);
    for (first, second) in pairs {
        only_first += u64::from(first && !second);
        only_second += u64::from(second && !first);
    }
    mcnemar_exact(only_first, only_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_close;

    #[test]
    fn one_sided_pairs_are_as_rare_as_heads_in_a_row() {
        assert_close(mcnemar_exact(0, 5).p_value, 2.0 / 32.0, 1e-13);
        assert_close(mcnemar_exact(5, 0).p_value, 2.0 / 32.0, 1e-13);
        assert_close(mcnemar_exact(1, 3).p_value, 10.0 / 16.0, 1e-13);
    }

    #[test]
    fn pairs_that_balance_say_nothing() {
        assert_close(mcnemar_exact(0, 0).p_value, 1.0, 1e-15);
        assert_close(mcnemar_exact(4, 4).p_value, 1.0, 1e-15);
    }

    #[test]
    fn only_pairs_that_differ_count() {
        let pairs = [
            (true, true),
            (true, false),
            (false, true),
            (true, false),
            (false, false),
        ];
        assert_eq!(mcnemar_of_pairs(pairs), mcnemar_exact(2, 1));
    }
}
