//! A proportion of grouped rows, by whatever method its question and its value allow.

use crate::binomial::clopper_pearson;
use crate::clustered::Clustered;
use crate::clustered_mean::{cluster_t, stratified};
use crate::estimate::{Estimate, Interval, Method, Question};
use crate::number::{all_zero, is_level};

/// The proportion of ones among rows that are each 0 or 1.
///
/// For exactly these scenarios by [`stratified`], or over rollouts by [`clopper_pearson`] if there
/// is one scenario, one rollout for each, or no spread within any; for scenarios like these by
/// [`cluster_t`]. Where nothing happened, or everything did, by [`clopper_pearson`], with a rollout
/// or a scenario as the trial. None if there is no row, one is neither 0 nor 1, or `level` is none.
#[must_use]
pub fn proportion(sample: &Clustered, question: Question, level: f64) -> Option<Estimate> {
    if !sample.values().iter().all(|value| is_indicator(*value)) {
        return None;
    }
    if let Some(exact) = at_an_end(sample, question, level) {
        return Some(exact);
    }
    let found = match question {
        Question::TheseScenarios if sample.cluster_count() < 2 => pooled(sample, level)?,
        Question::TheseScenarios => {
            let found = stratified(sample, level)?;
            if found.interval.is_none() {
                pooled(sample, level)?
            } else {
                found
            }
        }
        Question::ScenariosLikeThese => cluster_t(sample, level)?,
    };
    Some(Estimate {
        interval: found.interval.map(Interval::within_unit),
        ..found
    })
}

/// The exact estimate where every row is 0 or every row is 1; none elsewhere.
pub(crate) fn at_an_end(sample: &Clustered, question: Question, level: f64) -> Option<Estimate> {
    let value = sample.mean()?;
    let nothing = all_zero(sample.values());
    let everything = sample.values().iter().all(|value| value - 1.0 == 0.0);
    if !(nothing || everything) || !is_level(level) {
        return None;
    }
    let (trials, method) = match question {
        Question::TheseScenarios => (sample.n(), Method::ClopperPearson),
        Question::ScenariosLikeThese => (sample.cluster_count(), Method::ClusterClopperPearson),
    };
    let interval = clopper_pearson(if nothing { 0 } else { trials }, trials, level)?;
    let found = Estimate::value_only(value, question, sample.n(), sample.cluster_count());
    Some(found.with(interval, method))
}

/// Every rollout a trial, whatever its scenario: too wide where scenarios differ, never too narrow.
fn pooled(sample: &Clustered, level: f64) -> Option<Estimate> {
    let mut successes = 0;
    for value in sample.values() {
        successes += u64::from(*value > 0.5);
    }
    let question = Question::TheseScenarios;
    let found = Estimate::value_only(sample.mean()?, question, sample.n(), sample.cluster_count());
    let interval = clopper_pearson(successes, sample.n(), level)?;
    Some(found.with(interval, Method::ClopperPearson))
}

/// Whether a value is 0 or 1.
pub(crate) fn is_indicator(value: f64) -> bool {
    value == 0.0 || value - 1.0 == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::Bootstrap;
    use crate::stream::Stream;
    use crate::tests::{assert_close, sample};

    const QUESTIONS: [Question; 2] = [Question::TheseScenarios, Question::ScenariosLikeThese];

    #[test]
    fn nothing_and_everything_have_exact_intervals() {
        for question in QUESTIONS {
            for value in [0.0, 1.0] {
                let rows = sample(&[&[value, value][..]; 6]);
                let mut stream = Stream::named(1, "ends");
                let drawn = Bootstrap::default().proportion(&rows, question, &mut stream);
                let exact = proportion(&rows, question, 0.95);
                assert_eq!(exact, drawn);
                let exact = exact.unwrap();
                let (trials, method) = match question {
                    Question::TheseScenarios => (12, Method::ClopperPearson),
                    Question::ScenariosLikeThese => (6, Method::ClusterClopperPearson),
                };
                assert_eq!(exact.method, method);
                let width = clopper_pearson(0, trials, 0.95).unwrap().width();
                assert_close(exact.interval.unwrap().width(), width, 1e-12);
                assert!(exact.interval.unwrap().contains(value));
            }
        }
    }

    #[test]
    fn each_question_has_its_method() {
        let mixed = sample(&[&[0.0, 1.0], &[1.0, 1.0], &[0.0, 0.0]]);
        let methods = QUESTIONS.map(|question| proportion(&mixed, question, 0.95).unwrap().method);
        assert_eq!(methods, [Method::Stratified, Method::ClusterT]);
        let mut stream = Stream::named(1, "methods");
        let bootstrap = Bootstrap::default();
        let methods = QUESTIONS.map(|question| {
            let found = bootstrap.proportion(&mixed, question, &mut stream).unwrap();
            assert_eq!((found.n, found.clusters), (6, 3));
            found.method
        });
        assert_eq!(methods, [Method::PairBootstrap, Method::ClusterBootstrap]);
    }

    #[test]
    fn scenarios_that_always_do_the_same_are_pooled() {
        let fixed = sample(&[&[0.0, 0.0], &[1.0, 1.0]]);
        let found = proportion(&fixed, Question::TheseScenarios, 0.95).unwrap();
        assert_eq!(found.method, Method::ClopperPearson);
        assert_eq!(found.interval, clopper_pearson(2, 4, 0.95));
    }

    #[test]
    fn a_proportion_stays_between_nothing_and_everything() {
        let rare = sample(&[&[0.0, 1.0], &[0.0, 0.0], &[0.0, 0.0]]);
        for question in QUESTIONS {
            let found = proportion(&rare, question, 0.95).unwrap();
            let interval = found.interval.unwrap();
            assert!(interval.low >= 0.0 && interval.high <= 1.0, "{found:?}");
        }
    }

    #[test]
    fn only_zeros_and_ones_have_a_proportion() {
        let mut stream = Stream::named(1, "none");
        for question in QUESTIONS {
            for rows in [sample(&[&[0.5, 1.0]]), sample(&[&[f64::NAN]]), sample(&[])] {
                assert_eq!(proportion(&rows, question, 0.95), None);
                let drawn = Bootstrap::default().proportion(&rows, question, &mut stream);
                assert_eq!(drawn, None);
            }
        }
    }
}
