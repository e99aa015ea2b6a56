//! Ratios as two integers.

/// A ratio, never reduced: 1/2 and 2/4 are different ratios, because the counts are the result and
/// the quotient is only a view of them. The denominator is the one after clipping, so it is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio {
    numerator: u32,
    denominator: u32,
}

impl Ratio {
    /// `numerator / max(1, denominator)`: a denominator that the paper clips at one. Nothing over
    /// nothing is a real 0 and enters the mean.
    #[must_use]
    pub const fn clipped(numerator: u32, denominator: u32) -> Self {
        Self {
            numerator,
            denominator: if denominator == 0 { 1 } else { denominator },
        }
    }

    /// `numerator / denominator`, or null if the denominator is 0: the question does not apply.
    #[must_use]
    pub const fn of(numerator: u32, denominator: u32) -> Option<Self> {
        if denominator == 0 {
            None
        } else {
            Some(Self {
                numerator,
                denominator,
            })
        }
    }

    /// What was counted.
    #[must_use]
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// Out of how many, after clipping.
    #[must_use]
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// The quotient, for reading and for means.
    #[must_use]
    pub fn quotient(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_denominator_is_a_real_zero() {
        let ratio = Ratio::clipped(0, 0);
        assert_eq!((ratio.numerator(), ratio.denominator()), (0, 1));
        assert_eq!(ratio.quotient().to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn an_unclipped_denominator_of_zero_is_null() {
        assert_eq!(Ratio::of(0, 0), None);
        assert_eq!(Ratio::of(3, 4), Some(Ratio::clipped(3, 4)));
    }

    #[test]
    fn equal_quotients_are_not_equal_ratios() {
        assert_ne!(Ratio::clipped(1, 2), Ratio::clipped(2, 4));
    }
}
