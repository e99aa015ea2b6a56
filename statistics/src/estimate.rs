//! A number with how sure it is, of what, and by which method.

use serde::Serialize;

/// A range for an unknown number; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end, in the unit of the value.
    pub low: f64,
    /// The upper end, in the unit of the value.
    pub high: f64,
    /// How often such an interval holds the truth, between 0 and 1: 0.95 for 95 %.
    pub level: f64,
}

impl Interval {
    /// Whether `value` is in it.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether a difference with this interval is a tie: zero is in it, be it at an end (6.5).
    #[must_use]
    pub fn crosses_zero(&self) -> bool {
        self.contains(0.0)
    }

    /// The distance of the ends.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The part of it between 0 and 1, which is where a proportion can be.
    pub(crate) fn within_unit(self) -> Self {
        Self {
            low: self.low.clamp(0.0, 1.0),
            high: self.high.clamp(0.0, 1.0),
            level: self.level,
        }
    }

    /// Whether the ends differ by no more than rounding. An interval without width says that the
    /// sample had no spread, and nothing about the truth.
    pub(crate) fn is_degenerate(&self) -> bool {
        self.width() <= 1e-12 * self.low.abs().max(self.high.abs())
    }
}

/// What an interval is about. The same rows ask for different intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The scenarios are given; only the seeds are a sample.
    TheseScenarios,
    /// The scenarios are a sample of scenarios of their kind, and so are the seeds.
    ScenariosLikeThese,
}

impl Question {
    /// What a footer calls it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::TheseScenarios => "exactly these scenarios",
            Self::ScenariosLikeThese => "scenarios like these",
        }
    }
}

/// Where an interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A value without an interval: there are too few units, or they do not differ.
    None,
    /// Percentiles of means of pairs drawn with replacement.
    PairBootstrap,
    /// Percentiles of means of whole clusters drawn with replacement.
    ClusterBootstrap,
    /// The variance within each scenario, added up.
    Stratified,
    /// The variance between clusters, with Student's t of one degree of freedom fewer.
    ClusterT,
    /// Exact binomial, every value a trial.
    ClopperPearson,
    /// Exact binomial, every cluster a trial.
    ClusterClopperPearson,
    /// Score interval of a proportion.
    Wilson,
    /// Hybrid score interval of the difference of two independent proportions.
    Newcombe,
    /// 3/n, one-sided at 95 %.
    RuleOfThree,
    /// One-sided exact bound where nothing happened.
    ExactZeroBound,
    /// Both members of every pair are equal: [0, 0], which is an observation and no inference.
    IdenticalPairs,
}

impl Method {
    /// What a footer calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no interval",
            Self::PairBootstrap => "pair bootstrap, percentile",
            Self::ClusterBootstrap => "scenario-cluster bootstrap, percentile",
            Self::Stratified => "stratified by scenario",
            Self::ClusterT => "cluster-robust t",
            Self::ClopperPearson => "Clopper-Pearson over rollouts",
            Self::ClusterClopperPearson => "Clopper-Pearson over scenarios",
            Self::Wilson => "Wilson score",
            Self::Newcombe => "Newcombe hybrid score",
            Self::RuleOfThree => "rule of three, one-sided 95 %",
            Self::ExactZeroBound => "exact bound at zero events, one-sided",
            Self::IdenticalPairs => "identical pairs",
        }
    }
}

/// Below this many clusters an interval over clusters covers less than it says (see
/// `docs/statistics.md`).
pub const FEW_CLUSTERS: u64 = 10;

/// A value, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate itself.
    pub value: f64,
    /// How sure it is; none where the data cannot tell.
    pub interval: Option<Interval>,
    /// How the interval was made.
    pub method: Method,
    /// What the interval is about.
    pub question: Question,
    /// The number of values: rollouts or pairs.
    pub n: u64,
    /// The number of clusters, which are scenarios or families. Each value is one of its own where
    /// no clusters were given.
    pub clusters: u64,
    /// The standard error of the interval's ends due to drawing: the larger of the two, in the unit
    /// of the value. None where nothing was drawn.
    pub monte_carlo_error: Option<f64>,
}

impl Estimate {
    /// A value without an interval.
    #[must_use]
    pub fn value_only(value: f64, question: Question, n: u64, clusters: u64) -> Self {
        Self {
            value,
            interval: None,
            method: Method::None,
            question,
            n,
            clusters,
            monte_carlo_error: None,
        }
    }

    /// The same value with `interval`, or without any if the interval has no width, or one that is
    /// no finite number.
    pub(crate) fn with(self, interval: Interval, method: Method) -> Self {
        if interval.is_degenerate() || !interval.width().is_finite() {
            return self;
        }
        Self {
            interval: Some(interval),
            method,
            ..self
        }
    }

    /// The same value with [0, 0]: every paired value is exactly zero.
    pub(crate) fn identical(self, level: f64) -> Self {
        Self {
            interval: Some(Interval {
                low: 0.0,
                high: 0.0,
                level,
            }),
            method: Method::IdenticalPairs,
            ..self
        }
    }

    /// Whether a reader must be warned that the interval rests on fewer than [`FEW_CLUSTERS`].
    #[must_use]
    pub fn has_few_clusters(&self) -> bool {
        self.interval.is_some()
            && self.question == Question::ScenariosLikeThese
            && self.clusters < FEW_CLUSTERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval {
            low,
            high,
            level: 0.95,
        }
    }

    #[test]
    fn the_ends_belong_to_an_interval() {
        let range = interval(0.25, 0.5);
        for inside in [0.25, 0.3, 0.5] {
            assert!(range.contains(inside));
        }
        for outside in [0.24, 0.51, f64::NAN] {
            assert!(!range.contains(outside));
        }
    }

    #[test]
    fn an_interval_that_touches_zero_is_a_tie() {
        assert!(interval(-0.1, 0.0).crosses_zero());
        assert!(interval(0.0, 0.0).crosses_zero());
        assert!(interval(-0.1, 0.1).crosses_zero());
        assert!(!interval(0.001, 0.1).crosses_zero());
        assert!(!interval(-0.1, -0.001).crosses_zero());
    }

    #[test]
    fn an_interval_without_width_is_not_shown() {
        let value = Estimate::value_only(0.3, Question::TheseScenarios, 10, 2);
        let flat = value.with(interval(0.3, 0.3), Method::Stratified);
        assert_eq!(flat.interval, None);
        assert_eq!(flat.method, Method::None);
        let wide = value.with(interval(0.2, 0.4), Method::Stratified);
        assert_eq!(wide.method, Method::Stratified);
    }

    #[test]
    fn an_estimate_is_written_with_the_names_of_its_method_and_question() {
        let estimate = Estimate::value_only(0.5, Question::ScenariosLikeThese, 10, 2)
            .with(interval(0.25, 0.75), Method::ClusterT);
        let text = serde_json::to_string(&estimate).unwrap();
        assert_eq!(
            text,
            "{\"value\":0.5,\"interval\":{\"low\":0.25,\"high\":0.75,\"level\":0.95},\
             \"method\":\"cluster_t\",\"question\":\"scenarios_like_these\",\"n\":10,\
             \"clusters\":2,\"monte_carlo_error\":null}"
        );
    }

    #[test]
    fn few_clusters_are_flagged_only_where_they_are_the_sample() {
        let of = |question, clusters| {
            Estimate::value_only(0.3, question, 100, clusters)
                .with(interval(0.2, 0.4), Method::ClusterT)
                .has_few_clusters()
        };
        assert!(of(Question::ScenariosLikeThese, 9));
        assert!(!of(Question::ScenariosLikeThese, 10));
        assert!(!of(Question::TheseScenarios, 9));
    }
}
