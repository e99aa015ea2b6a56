//! What is estimated, once for all tables: paired differences, divergences, bounds on what was never
//! seen.
//!
//! Every interval draws from a stream that is named for what it is about, so that it is the same in
//! each table and on any number of threads.

use std::collections::BTreeMap;

use serde::Serialize;
use statistics::{
    Bootstrap, Clustered, Estimate, FEW_CLUSTERS, Question as Asks, SignFlip, Stream, WinRate,
    clopper_pearson, sign_flip, win_rate,
};
use study::metrics::projection::FIELDS;
use study::row::Row;

use crate::claims::CONTROL;
use crate::evidence::{Evidence, Mean, Pairs, Scope, family, scenario};
use crate::metric::{COMPARED, Metric};
use crate::published::STUDIES;
use crate::work;

/// The paper's comparisons (Tables 10, 12 and 25).
const PAPERS_PAIRS: [(&str, &str); 4] = [
    ("none", "tool_boundary"),
    ("taint_only_v1", "intent_ledger_v2"),
    ("tool_boundary", "intent_ledger_v2"),
    ("intent_ledger_v2", "rollback_v2"),
];

/// Two policies that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PolicyPair<'r> {
    /// A, from which a difference is counted.
    pub first: &'r str,
    /// B.
    pub second: &'r str,
}

impl std::fmt::Display for PolicyPair<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} vs {}", self.first, self.second)
    }
}

/// The difference of a metric between two policies over their pairs (Eq. 12).
#[derive(Clone, Debug)]
pub struct Difference<'r> {
    /// Which policies.
    pub policies: PolicyPair<'r>,
    /// Which metric.
    pub metric: Metric,
    /// Over which rollouts.
    pub scope: Scope,
    /// The mean under A, over the pairs.
    pub mean_a: Mean,
    /// The mean under B, over the same.
    pub mean_b: Mean,
    /// B - A, scenarios resampled.
    pub by_scenario: Estimate,
    /// B - A, families of scenarios resampled.
    pub by_family: Estimate,
    /// B - A, pairs resampled.
    pub by_pair: Estimate,
    /// In how many pairs B is strictly better.
    pub wins: WinRate,
    /// Whether the difference is more than chance; none for metrics of which no difference is a claim.
    pub sign_flip: Option<SignFlip>,
    /// Pairs that could not be formed.
    pub dropped: u64,
}

/// How often the trajectories of two policies differ where their endpoints do not (Table 10).
#[derive(Clone, Debug)]
pub struct Divergence<'r> {
    /// Which policies.
    pub policies: PolicyPair<'r>,
    /// Over which rollouts.
    pub scope: Scope,
    /// Pairs.
    pub pairs: u64,
    /// Pairs with equal committed harm.
    pub same_endpoint: u64,
    /// Pairs in which neither committed harm.
    pub same_zero: u64,
    /// Of the pairs with equal endpoint, the share whose projection differs.
    pub trajectory: Option<Estimate>,
    /// Of the pairs with equal endpoint, how many differ in projection.
    pub trajectories: u64,
    /// Of the same, how many differ in utility.
    pub utilities: u64,
    /// Of the same, how many differ in both.
    pub both: u64,
    /// The share that differs in projection among those that also agree in utility.
    pub at_equal_utility: Option<Estimate>,
    /// The fields that differ most often, with how often.
    pub fields: Vec<(&'static str, u64)>,
    /// Pairs that could not be formed.
    pub dropped: u64,
}

/// Everything that tables of a study are made from.
#[derive(Debug)]
pub struct Analysis<'r> {
    /// The rows.
    pub evidence: Evidence<'r>,
    /// The policies compared.
    pub compared: Vec<PolicyPair<'r>>,
    /// Every paired difference, in the order of comparisons, metrics and scopes.
    pub differences: Vec<Difference<'r>>,
    /// Every divergence.
    pub divergences: Vec<Divergence<'r>>,
    /// How intervals are drawn.
    bootstrap: Bootstrap,
}

/// How tables are estimated.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The bootstrap.
    pub bootstrap: Bootstrap,
    /// Threads; the result does not depend on them.
    pub threads: usize,
}

impl<'r> Analysis<'r> {
    /// Estimates everything. `pairs` are the policies to compare; if there are none, those that the
    /// paper compares, and in a study that is not the paper's every other policy with `none` too, or without
    /// it with the first.
    #[must_use]
    pub fn new(evidence: Evidence<'r>, pairs: &[(String, String)], options: Options) -> Self {
        let compared = compared(&evidence, pairs);
        let scopes = evidence.scopes();
        let mut questions = Vec::new();
        for &policies in &compared {
            for &scope in &scopes {
                questions.push((policies, scope));
            }
        }
        let answers = work::each(options.threads, &questions, |&(policies, scope)| {
            let pairs = evidence.pairs(scope, policies.first, policies.second);
            let ask = Question {
                policies,
                scope,
                bootstrap: options.bootstrap,
            };
            let metrics = COMPARED
                .into_iter()
                .filter(|metric| metric.scopes().contains(&scope));
            let differences: Vec<_> = metrics
                .filter_map(|metric| ask.difference(metric, &pairs))
                .collect();
            (differences, ask.divergence(&pairs))
        });
        let (differences, divergences): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        Self {
            compared,
            differences: differences.into_iter().flatten().collect(),
            divergences: divergences.into_iter().flatten().collect(),
            bootstrap: options.bootstrap,
            evidence,
        }
    }

    /// Without comparisons of policies, for who only looks at means.
    #[must_use]
    pub fn without_pairs(evidence: Evidence<'r>) -> Self {
        Self {
            evidence,
            compared: Vec::new(),
            differences: Vec::new(),
            divergences: Vec::new(),
            bootstrap: Bootstrap::default(),
        }
    }

    /// The mean of a metric under one policy with an interval for scenarios like these: exact where
    /// nothing or everything happened. None if it applies to no rollout.
    #[must_use]
    pub fn estimate(&self, metric: Metric, scope: Scope, policy: &str) -> Option<Estimate> {
        let sample = self.evidence.sample(metric, scope, policy);
        let name = format!("{policy}/{}/{}", scope.name(), metric.name);
        self.mean_of(metric, &sample, &name)
    }

    /// As [`Analysis::estimate`], with families of scenarios as what is drawn: scenarios of one family
    /// are alike, so what is never seen in many of them says little of other families.
    #[must_use]
    pub fn estimate_over_families(
        &self,
        metric: Metric,
        scope: Scope,
        policy: &str,
    ) -> Option<Estimate> {
        let sample = self.evidence.sample_by_family(metric, scope, policy);
        let name = format!("{policy}/{}/{}/families", scope.name(), metric.name);
        self.mean_of(metric, &sample, &name)
    }

    fn mean_of(&self, metric: Metric, sample: &Clustered, name: &str) -> Option<Estimate> {
        let stream = || Stream::named(STREAM_SEED, name);
        let share = || {
            let question = Asks::ScenariosLikeThese;
            let share = self.bootstrap.proportion(sample, question, &mut stream())?;
            Some(self.with_few_events(share, sample))
        };
        let share = metric.is_share().then(share).flatten();
        share.or_else(|| self.bootstrap.clusters(sample, &mut stream()))
    }

    /// An interval of a share that is drawn though few clusters have an event, or few lack one, is far too
    /// short: a single event would even have a lower upper end than none. So its end is no nearer than
    /// the exact one of the clusters with an event: of clusters of one size, the share of rollouts with an
    /// event cannot be more than that of clusters.
    fn with_few_events(&self, share: Estimate, sample: &Clustered) -> Estimate {
        let count = |is_counted: fn(&[f64]) -> bool| {
            sample
                .clusters()
                .filter(|values| is_counted(values))
                .count() as u64
        };
        let with_any = count(|values| values.iter().any(|value| *value > 0.0));
        let with_all = count(|values| values.iter().all(|value| *value > 0.0));
        let all = sample.cluster_count();
        let exact = |events| clopper_pearson(events, all, self.bootstrap.level);
        let interval = share.interval.map(|mut interval| {
            if with_any < FEW_CLUSTERS {
                let high = exact(with_any).map_or(1.0, |exact| exact.high);
                interval.high = interval.high.max(high);
            }
            if all - with_all < FEW_CLUSTERS {
                let low = exact(with_all).map_or(0.0, |exact| exact.low);
                interval.low = interval.low.min(low);
            }
            interval
        });
        Estimate { interval, ..share }
    }

    /// The difference of a metric between two policies, whether the study compares them or not:
    /// scenarios resampled, from the same stream as in [`Analysis::differences`].
    #[must_use]
    pub fn paired(
        &self,
        policies: PolicyPair<'r>,
        metric: Metric,
        scope: Scope,
    ) -> Option<Estimate> {
        let pairs = self.evidence.pairs(scope, policies.first, policies.second);
        let ask = Question {
            policies,
            scope,
            bootstrap: self.bootstrap,
        };
        let values = both_values(metric, &pairs);
        ask.by_scenario(metric, &grouped(&values, scenario))
    }

    /// One difference.
    #[must_use]
    pub fn difference(
        &self,
        first: &str,
        second: &str,
        metric: Metric,
        scope: Scope,
    ) -> Option<&Difference<'r>> {
        self.differences.iter().find(|difference| {
            difference.policies.first == first
                && difference.policies.second == second
                && difference.metric.name == metric.name
                && difference.scope == scope
        })
    }
}

fn compared<'r>(evidence: &Evidence<'r>, asked: &[(String, String)]) -> Vec<PolicyPair<'r>> {
    let named = |name: &str| evidence.policies().find(|policy| *policy == name);
    let pair = |first: &str, second: &str| {
        Some(PolicyPair {
            first: named(first)?,
            second: named(second)?,
        })
    };
    if !asked.is_empty() {
        return asked
            .iter()
            .filter_map(|(first, second)| pair(first, second))
            .collect();
    }
    let mut pairs: Vec<PolicyPair<'r>> = PAPERS_PAIRS
        .iter()
        .filter_map(|(first, second)| pair(first, second))
        .collect();
    let is_the_papers = STUDIES.contains(&&*evidence.manifest.frozen.name);
    if is_the_papers && !pairs.is_empty() {
        return pairs;
    }
    if let Some(first) = named(CONTROL).or_else(|| evidence.policies().next()) {
        let others = evidence.policies().filter(|second| *second != first);
        let with_first = others.map(|second| PolicyPair { first, second });
        let missing: Vec<_> = with_first.filter(|pair| !pairs.contains(pair)).collect();
        pairs.extend(missing);
    }
    pairs
}

/// A pair that has the metric: the row under A, and the values under A and B.
type Both<'r> = (&'r Row, f64, f64);

fn both_values<'r>(metric: Metric, pairs: &Pairs<'r>) -> Vec<Both<'r>> {
    let both = |(first, second, _): &(&'r Row, &'r Row, _)| {
        Some((*first, metric.of(first)?, metric.of(second)?))
    };
    pairs.kept.iter().filter_map(both).collect()
}

/// The differences B - A, by what the rows of a pair have in common.
fn grouped<'r>(values: &[Both<'r>], cluster: fn(&'r Row) -> &'r str) -> Clustered {
    Clustered::of_rows(values.iter().map(|(row, a, b)| (cluster(row), b - a)))
}

/// One comparison in one scope.
struct Question<'r> {
    policies: PolicyPair<'r>,
    scope: Scope,
    bootstrap: Bootstrap,
}

impl<'r> Question<'r> {
    /// The stream of a number, named for what the number is about.
    fn stream(&self, what: &str) -> Stream {
        Stream::named(
            STREAM_SEED,
            &format!("{}/{}/{what}", self.policies, self.scope.name()),
        )
    }

    fn by_scenario(&self, metric: Metric, sample: &Clustered) -> Option<Estimate> {
        let stream = &mut self.stream(metric.name);
        self.bootstrap.clusters(sample, stream)
    }

    fn difference(&self, metric: Metric, pairs: &Pairs<'r>) -> Option<Difference<'r>> {
        let values = both_values(metric, pairs);
        let sample = grouped(&values, scenario);
        Some(Difference {
            policies: self.policies,
            metric,
            scope: self.scope,
            mean_a: Mean::of(values.iter().map(|(_, a, _)| *a)),
            mean_b: Mean::of(values.iter().map(|(_, _, b)| *b)),
            by_scenario: self.by_scenario(metric, &sample)?,
            by_family: self.bootstrap.clusters(
                &grouped(&values, family),
                &mut self.stream(&format!("{}/families", metric.name)),
            )?,
            by_pair: self
                .bootstrap
                .pairs(sample.values(), &mut self.stream(metric.name))?,
            wins: win_rate(values.iter().map(|(_, a, b)| (*a, *b)), metric.better)?,
            sign_flip: metric
                .is_claimable()
                .then(|| {
                    let stream = &mut self.stream(&format!("{}/sign flip", metric.name));
                    sign_flip(&sample, SIGN_FLIPS, stream)
                })
                .flatten(),
            dropped: pairs.dropped,
        })
    }

    fn divergence(&self, pairs: &Pairs<'r>) -> Option<Divergence<'r>> {
        let same: Vec<_> = pairs
            .kept
            .iter()
            .filter(|(_, _, compared)| compared.same_endpoint)
            .collect();
        if same.is_empty() {
            return None;
        }
        let count = |condition: &dyn Fn(&(&Row, &Row, study::paired::Comparison)) -> bool| {
            same.iter().filter(|pair| condition(pair)).count() as u64
        };
        let diverges =
            |pair: &(&Row, &Row, study::paired::Comparison)| !pair.2.differing.is_empty();
        let share = |equal_utility: bool, name: &str| {
            let asked = same
                .iter()
                .filter(|pair| !equal_utility || pair.2.same_utility);
            let rows = asked.map(|pair| (scenario(pair.0), f64::from(u8::from(diverges(pair)))));
            let sample = Clustered::of_rows(rows);
            self.bootstrap
                .proportion(&sample, Asks::ScenariosLikeThese, &mut self.stream(name))
        };
        let mut fields: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (_, _, compared) in &same {
            for field in &compared.differing {
                *fields.entry(field.name()).or_default() += 1;
            }
        }
        let mut fields: Vec<_> = FIELDS
            .iter()
            .filter_map(|field| Some((field.name(), *fields.get(field.name())?)))
            .collect();
        fields.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Some(Divergence {
            policies: self.policies,
            scope: self.scope,
            pairs: pairs.kept.len() as u64,
            same_endpoint: same.len() as u64,
            same_zero: count(&|pair| pair.2.same_zero),
            trajectory: share(false, "divergence"),
            trajectories: count(&diverges),
            utilities: count(&|pair| !pair.2.same_utility),
            both: count(&|pair| diverges(pair) && !pair.2.same_utility),
            at_equal_utility: share(true, "divergence at equal utility"),
            fields,
            dropped: pairs.dropped,
        })
    }
}

/// The seed of every stream of a report. It is no study seed: resampling says nothing of what is
/// simulated.
const STREAM_SEED: u64 = 1;

/// How many choices of signs are drawn where there are too many to try each.
const SIGN_FLIPS: u32 = 10_000;

#[cfg(test)]
mod tests;
