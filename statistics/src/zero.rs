//! What can still be true when nothing happened.

use serde::Serialize;

use crate::binomial::clopper_pearson;
use crate::estimate::{Estimate, Interval, Method, Question};
use crate::number::{is_level, real};

/// 3/n: the usual upper bound for the chance of what did not happen once in `n` independent trials,
/// one-sided at 95 %; at most 1. (Hanley and Lippman-Hand, "If nothing goes wrong, is everything all
/// right?", 1983.) It lies above [`exact_zero_bound`], by 4 % at n = 40 and by 0.14 % in the
/// limit. None without trials.
#[must_use]
pub fn rule_of_three(n: u64) -> Option<f64> {
    (n > 0).then(|| (3.0 / real(n)).min(1.0))
}

/// The exact one-sided upper bound at `level` when nothing happened in `n` independent trials: the
/// chance p with (1 - p)^n = 1 - level. None without trials, or if `level` is none.
#[must_use]
pub fn exact_zero_bound(n: u64, level: f64) -> Option<f64> {
    (n > 0 && is_level(level)).then(|| -((-level).ln_1p() / real(n)).exp_m1())
}

/// The bounds when nothing happened, over one kind of unit.
///
/// What counts as a trial decides the bound. Rollouts of one scenario are alike, and so are the
/// scenarios of one family: as many rollouts as there are give the smallest bound, and it holds for
/// these scenarios only; clusters and families give larger ones, which hold for others like them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZeroBounds {
    /// How many units there are: rollouts, scenarios or families.
    pub units: u64,
    /// [`rule_of_three`], always at 95 %.
    pub rule_of_three: f64,
    /// [`exact_zero_bound`].
    pub one_sided: f64,
    /// The upper end of the two-sided interval of Clopper and Pearson.
    pub two_sided: f64,
    /// The level of `one_sided` and `two_sided`.
    pub level: f64,
}

impl ZeroBounds {
    /// The bounds over `units`. None without units, or if `level` is none.
    #[must_use]
    pub fn of(units: u64, level: f64) -> Option<Self> {
        Some(Self {
            units,
            rule_of_three: rule_of_three(units)?,
            one_sided: exact_zero_bound(units, level)?,
            two_sided: clopper_pearson(0, units, level)?.high,
            level,
        })
    }
}

/// The estimate 0 with its one-sided exact bound, when nothing happened in `n` rollouts of
/// `clusters` scenarios: over rollouts for exactly these scenarios, over clusters for scenarios like
/// these. None without units, or if `level` is none.
#[must_use]
pub fn zero_events(n: u64, clusters: u64, question: Question, level: f64) -> Option<Estimate> {
    let units = match question {
        Question::TheseScenarios => n,
        Question::ScenariosLikeThese => clusters,
    };
    let interval = Interval {
        low: 0.0,
        high: exact_zero_bound(units, level)?,
        level,
    };
    Some(Estimate::value_only(0.0, question, n, clusters).with(interval, Method::ExactZeroBound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_close;

    #[test]
    fn the_bounds_of_the_paper_are_three_over_scenarios() {
        // 0/2520 over 504 scenarios, and 0/960 over 192 (Table 25).
        assert_close(rule_of_three(504).unwrap(), 0.0060, 0.00005);
        assert_close(rule_of_three(192).unwrap(), 0.0156, 0.00005);
    }

    #[test]
    fn the_exact_bound_makes_nothing_as_rare_as_it_says() {
        for n in [1_u64, 7, 40, 504, 2520] {
            let bound = exact_zero_bound(n, 0.95).unwrap();
            let chance = (1.0 - bound).powi(i32::try_from(n).unwrap());
            assert_close(chance, 0.05, 1e-12);
        }
    }

    #[test]
    fn three_over_n_is_above_the_exact_bound() {
        for n in [3_u64, 10, 300, 10_000] {
            let bounds = ZeroBounds::of(n, 0.95).unwrap();
            assert!(bounds.one_sided < bounds.rule_of_three);
            assert!(bounds.one_sided < bounds.two_sided);
        }
        assert_eq!(rule_of_three(2), Some(1.0));
    }

    #[test]
    fn without_trials_there_is_no_bound() {
        assert_eq!(rule_of_three(0), None);
        assert_eq!(exact_zero_bound(0, 0.95), None);
        assert_eq!(exact_zero_bound(5, 1.0), None);
        assert_eq!(ZeroBounds::of(0, 0.95), None);
    }

    #[test]
    fn the_question_says_what_a_trial_is() {
        let over = |question| {
            let found = zero_events(2520, 504, question, 0.95).unwrap();
            assert_eq!(found.method, Method::ExactZeroBound);
            found.interval.unwrap().high
        };
        let rollouts = over(Question::TheseScenarios);
        let scenarios = over(Question::ScenariosLikeThese);
        assert_close(rollouts, exact_zero_bound(2520, 0.95).unwrap(), 1e-15);
        assert_close(scenarios, exact_zero_bound(504, 0.95).unwrap(), 1e-15);
    }
}
