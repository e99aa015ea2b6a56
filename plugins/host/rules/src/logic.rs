//! Three-valued logic, and comparison of numbers.

/// What is known of a statement: Kleene's strong logic, in the order of its values. *And* is the
/// lesser, *or* the greater, and *not* turns the order around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Truth {
    /// It does not hold.
    False,
    /// A fact that it needs does not exist.
    Unknown,
    /// It holds.
    True,
}

impl Truth {
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }

    /// Unknown if nothing is given.
    pub(crate) fn given(holds: Option<bool>) -> Self {
        holds.map_or(Self::Unknown, Self::of)
    }

    pub(crate) const fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }

    /// Whether all hold; looks no further than the first that does not.
    pub(crate) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::True;
        for truth in truths {
            if truth == Self::False {
                return truth;
            }
            all = all.min(truth);
        }
        all
    }

    /// Whether one holds; looks no further than the first that does.
    pub(crate) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Self::False;
        for truth in truths {
            if truth == Self::True {
                return truth;
            }
            any = any.max(truth);
        }
        any
    }
}

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Compare {
    Less(i64),
    AtMost(i64),
    Exactly(i64),
    AtLeast(i64),
    More(i64),
}

impl Compare {
    pub(crate) const fn holds(self, number: i64) -> bool {
        match self {
            Self::Less(bound) => number < bound,
            Self::AtMost(bound) => number <= bound,
            Self::Exactly(bound) => number == bound,
            Self::AtLeast(bound) => number >= bound,
            Self::More(bound) => number > bound,
        }
    }

    /// For a number that is never negative and larger than any bound if it does not fit.
    pub(crate) fn holds_of(self, number: u64) -> bool {
        self.holds(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// The bound. Above it by one, a larger number changes nothing.
    pub(crate) const fn bound(self) -> i64 {
        match self {
            Self::Less(bound)
            | Self::AtMost(bound)
            | Self::Exactly(bound)
            | Self::AtLeast(bound)
            | Self::More(bound) => bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn truths() -> impl Strategy<Value = Truth> {
        prop::sample::select(vec![Truth::False, Truth::Unknown, Truth::True])
    }

    fn and(a: Truth, b: Truth) -> Truth {
        Truth::all([a, b])
    }

    fn or(a: Truth, b: Truth) -> Truth {
        Truth::any([a, b])
    }

    proptest! {
        #[test]
        fn the_laws_of_kleene_hold(a in truths(), b in truths(), c in truths()) {
            prop_assert_eq!(and(a, b), and(b, a));
            prop_assert_eq!(or(a, or(b, c)), or(or(a, b), c));
            prop_assert_eq!(and(a, and(b, c)), and(and(a, b), c));
            prop_assert_eq!(and(a, or(b, c)), or(and(a, b), and(a, c)));
            prop_assert_eq!(or(a, and(a, b)), a);
            prop_assert_eq!(and(a, b).not(), or(a.not(), b.not()));
            prop_assert_eq!(a.not().not(), a);
            prop_assert_eq!(and(a, Truth::True), a);
            prop_assert_eq!(or(a, Truth::False), a);
            prop_assert_eq!(and(a, Truth::False), Truth::False);
            prop_assert_eq!(or(a, Truth::True), Truth::True);
        }

        /// To learn a fact never turns a known answer around.
        #[test]
        fn knowing_more_changes_no_known_answer(a in truths(), b in truths()) {
            for learnt in [Truth::False, Truth::True] {
                let a_then = if a == Truth::Unknown { learnt } else { a };
                for (before, after) in [
                    (and(a, b), and(a_then, b)),
                    (or(a, b), or(a_then, b)),
                    (a.not(), a_then.not()),
                ] {
                    prop_assert!(before == Truth::Unknown || before == after);
                }
            }
        }

        /// The excluded middle is not a law: it is unknown where the statement is.
        #[test]
        fn a_statement_or_its_opposite_is_as_known_as_the_statement(a in truths()) {
            prop_assert_eq!(or(a, a.not()) == Truth::Unknown, a == Truth::Unknown);
        }

        #[test]
        fn comparisons_agree_with_numbers(a in -3_i64..4, b in -3_i64..4) {
            prop_assert_eq!(Compare::Less(b).holds(a), a < b);
            prop_assert_eq!(Compare::AtMost(b).holds(a), a <= b);
            prop_assert_eq!(Compare::Exactly(b).holds(a), a == b);
            prop_assert_eq!(Compare::AtLeast(b).holds(a), a >= b);
            prop_assert_eq!(Compare::More(b).holds(a), a > b);
        }
    }
}
