//! The rows of a study, arranged so that means and pairs can be taken.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use statistics::Clustered;
use study::manifest::Manifest;
use study::paired::{self, Comparison, PairKey};
use study::ratio::Ratio;
use study::results::Results;
use study::row::Row;
use study::spread::spread_fixed_max;
use worlds::spec::Stage;

use crate::metric::Metric;

/// Which rollouts a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Those of all stages.
    All,
    /// Those of one stage.
    Stage(Stage),
}

impl Scope {
    /// All stages, then each.
    pub const EACH: [Self; 5] = [
        Self::All,
        Self::Stage(Stage::Security),
        Self::Stage(Stage::MemoryRecovery),
        Self::Stage(Stage::ActiveTainted),
        Self::Stage(Stage::Clean),
    ];

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Stage(stage) => stage.name(),
        }
    }

    fn includes(self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Stage(stage) => row.identity.stage == stage,
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A mean over the rollouts to which the question applies (Eq. 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean; none if it applies to no rollout.
    pub value: Option<f64>,
    /// To how many it applies.
    pub n: u64,
}

impl Mean {
    /// The mean of values in the order given.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let (sum, n) = values.fold((0.0, 0_u32), |(sum, n), value| (sum + value, n + 1));
        Self {
            value: (n > 0).then(|| sum / f64::from(n)),
            n: n.into(),
        }
    }
}

/// One row with the number that it does not have by itself.
#[derive(Clone, Copy, Debug)]
struct Entry<'r> {
    row: &'r Row,
    fixed_max: Option<Ratio>,
}

/// The rows of a study under one model.
#[derive(Debug)]
pub struct Evidence<'r> {
    /// What was frozen.
    pub manifest: &'r Manifest,
    /// The model.
    pub model: &'r str,
    /// For each policy, in the order of the study, its rows: one place for each scenario and seed.
    rows: BTreeMap<&'r str, Vec<Option<Entry<'r>>>>,
}

impl<'r> Evidence<'r> {
    /// The rows of a study, for each of its models.
    #[must_use]
    pub fn by_model(results: &'r Results) -> Vec<Self> {
        let frozen = &results.manifest.frozen;
        let fixed = spread_fixed_max(&results.rows, &frozen.denominator_policies);
        let mut places: BTreeMap<PairKey<'_>, usize> = BTreeMap::new();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: Vec<(usize, Entry<'r>)> = Vec::new();
        for (row, fixed_max) in results.rows.iter().zip(fixed) {
            let count = counts.entry(&row.identity.model).or_default();
            let place = *places.entry(PairKey::of(&row.identity)).or_insert_with(|| {
                *count += 1;
                *count - 1
            });
            found.push((place, Entry { row, fixed_max }));
        }
        let of_model = |(model, places): (&&'r str, &usize)| {
            let of_policy = |policy: &'r str| {
                let mut rows = vec![None; *places];
                let is_one = |(_, entry): &&(usize, Entry<'_>)| {
                    *entry.row.identity.model == **model && *entry.row.identity.policy == *policy
                };
                for (place, entry) in found.iter().filter(is_one) {
                    rows[*place] = Some(*entry);
                }
                (policy, rows)
            };
            let policies = frozen.policies.iter();
            Self {
                manifest: &results.manifest,
                model,
                rows: policies.map(|policy| of_policy(&policy.name)).collect(),
            }
        };
        counts.iter().map(of_model).collect()
    }

    /// The policies in the order of the study.
    pub fn policies(&self) -> impl Iterator<Item = &'r str> + use<'r> {
        self.manifest
            .frozen
            .policies
            .iter()
            .map(|policy| policy.name.as_str())
    }

    /// Whether the study has a policy.
    #[must_use]
    pub fn has_policy(&self, policy: &str) -> bool {
        self.rows.contains_key(policy)
    }

    /// Whether there are rows of a scope.
    #[must_use]
    pub fn has_rows(&self, scope: Scope) -> bool {
        self.policies()
            .any(|policy| self.rows(scope, policy).next().is_some())
    }

    /// The scopes that have rows; all stages together only if there are several.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        let stages: Vec<Scope> = Scope::EACH[1..]
            .iter()
            .copied()
            .filter(|scope| self.has_rows(*scope))
            .collect();
        let all = (stages.len() > 1).then_some(Scope::All);
        all.into_iter().chain(stages).collect()
    }

    fn entries(&self, policy: &str) -> impl Iterator<Item = Entry<'r>> {
        self.rows
            .get(policy)
            .into_iter()
            .flatten()
            .flatten()
            .copied()
    }

    /// The rows of a policy in plan order.
    pub fn rows(&self, scope: Scope, policy: &str) -> impl Iterator<Item = &'r Row> {
        let rows = self.entries(policy).map(|entry| entry.row);
        rows.filter(move |row| scope.includes(row))
    }

    /// The mean of a metric.
    #[must_use]
    pub fn mean(&self, metric: Metric, scope: Scope, policy: &str) -> Mean {
        Mean::of(self.rows(scope, policy).filter_map(|row| metric.of(row)))
    }

    /// The values of a metric, grouped by scenario.
    #[must_use]
    pub fn sample(&self, metric: Metric, scope: Scope, policy: &str) -> Clustered {
        let rows = self.rows(scope, policy);
        Clustered::of_rows(rows.filter_map(|row| Some((scenario(row), metric.of(row)?))))
    }

    /// The values of a metric, grouped by family of scenarios.
    #[must_use]
    pub fn sample_by_family(&self, metric: Metric, scope: Scope, policy: &str) -> Clustered {
        let rows = self.rows(scope, policy);
        Clustered::of_rows(rows.filter_map(|row| Some((family(row), metric.of(row)?))))
    }

    /// The mean spread under the largest region of any declared policy (Table 14).
    #[must_use]
    pub fn mean_fixed_max(&self, scope: Scope, policy: &str) -> Mean {
        let entries = self
            .entries(policy)
            .filter(|entry| scope.includes(entry.row));
        Mean::of(entries.filter_map(|entry| entry.fixed_max.map(Ratio::quotient)))
    }

    /// The scenarios and the families of a scope that have numbers under a policy.
    #[must_use]
    pub fn clusters(&self, scope: Scope, policy: &str) -> Clusters {
        let rows = self.rows(scope, policy);
        let rows = rows.filter(|row| !row.identity.has_errored());
        let (scenarios, families): (BTreeSet<&str>, BTreeSet<&str>) = rows
            .map(|row| (scenario(row), &*row.identity.family))
            .unzip();
        Clusters {
            scenarios: scenarios.len() as u64,
            families: families.len() as u64,
        }
    }

    /// The scenarios and families of a scope, under the policy that has most of them.
    #[must_use]
    pub fn most_clusters(&self, scope: Scope) -> Clusters {
        let each = self.policies().map(|policy| self.clusters(scope, policy));
        let none = Clusters {
            scenarios: 0,
            families: 0,
        };
        each.max_by_key(|clusters| clusters.scenarios)
            .unwrap_or(none)
    }

    /// How many rollouts have no numbers because their backend failed.
    #[must_use]
    pub fn errored(&self) -> u64 {
        let rows = self
            .policies()
            .flat_map(|policy| self.rows(Scope::All, policy));
        rows.filter(|row| row.identity.has_errored()).count() as u64
    }

    /// The rows of two policies that are pairs, and how many are none: one is missing, its backend
    /// failed, or they did not start from the same state.
    #[must_use]
    pub fn pairs(&self, scope: Scope, first: &str, second: &str) -> Pairs<'r> {
        let mut pairs = Pairs::default();
        let (Some(firsts), Some(seconds)) = (self.rows.get(first), self.rows.get(second)) else {
            return pairs;
        };
        for (first, second) in firsts.iter().zip(seconds) {
            let is_in =
                |entry: &Option<Entry<'_>>| entry.is_some_and(|one| scope.includes(one.row));
            if !is_in(first) && !is_in(second) {
                continue;
            }
            let pair = first.zip(*second).and_then(|(first, second)| {
                let compared = paired::compare(first.row, second.row).ok()?;
                Some((first.row, second.row, compared))
            });
            match pair {
                Some(pair) => pairs.kept.push(pair),
                None => pairs.dropped += 1,
            }
        }
        pairs
    }
}

/// How many independent things there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// Scenarios.
    pub scenarios: u64,
    /// Families of scenarios.
    pub families: u64,
}

/// Pairs of rows, and how many could not be paired.
#[derive(Debug, Default)]
pub struct Pairs<'r> {
    /// Both rows, and what differs between them.
    pub kept: Vec<(&'r Row, &'r Row, Comparison)>,
    /// How many there should be besides.
    pub dropped: u64,
}

/// The family of a row's scenario, the coarser cluster.
pub(crate) fn family(row: &Row) -> &str {
    &row.identity.family
}

/// What a cluster is: the scenario.
pub(crate) fn scenario(row: &Row) -> &str {
    &row.identity.scenario_id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, two_scenarios};
    use crate::metric::{COMPLETION, HARM, SPREAD};

    fn evidence(results: &Results) -> Evidence<'_> {
        Evidence::by_model(results).remove(0)
    }

    #[test]
    fn a_mean_is_over_the_rows_to_which_the_question_applies() {
        let results = two_scenarios();
        let evidence = evidence(&results);
        assert_eq!(
            evidence.mean(HARM, Scope::All, "none"),
            Mean {
                value: Some(0.5),
                n: 4
            }
        );
        assert_eq!(evidence.mean(SPREAD, Scope::All, "none").value, Some(0.5));
        assert_eq!(
            evidence.mean(COMPLETION, Scope::All, "none"),
            Mean { value: None, n: 0 }
        );
        assert_eq!(evidence.mean(HARM, Scope::Stage(Stage::Clean), "none").n, 0);
        assert_eq!(evidence.mean(HARM, Scope::All, "unknown").n, 0);
    }

    #[test]
    fn an_errored_row_enters_no_mean_and_no_pair() {
        let mut results = two_scenarios();
        results.rows[0].identity.outcome = study::row::ERRORED.into();
        results.rows[0].metrics = std::sync::Arc::default();
        let evidence = evidence(&results);
        assert_eq!(evidence.mean(HARM, Scope::All, "none").n, 3);
        let pairs = evidence.pairs(Scope::All, "none", "tool_boundary");
        assert_eq!((pairs.kept.len(), pairs.dropped), (3, 1));
    }

    #[test]
    fn rows_that_did_not_start_alike_are_no_pair() {
        let mut results = two_scenarios();
        results.rows[1].identity.prestate_hash = study::columns::Hash(8);
        let pairs = evidence(&results).pairs(Scope::All, "none", "tool_boundary");
        assert_eq!((pairs.kept.len(), pairs.dropped), (3, 1));
    }

    #[test]
    fn pairs_do_not_depend_on_the_order_of_rows() {
        let results = two_scenarios();
        let mut reversed = results.rows.clone();
        reversed.reverse();
        let reversed = fixture::results(reversed);
        let count = |results: &Results| {
            let pairs = evidence(results)
                .pairs(Scope::All, "none", "tool_boundary")
                .kept;
            pairs
                .iter()
                .filter(|(_, _, compared)| compared.same_endpoint)
                .count()
        };
        assert_eq!(count(&results), 2);
        assert_eq!(count(&reversed), 2);
    }

    #[test]
    fn scenarios_and_families_are_counted_once() {
        let results = two_scenarios();
        let clusters = evidence(&results).clusters(Scope::All, "none");
        assert_eq!(
            clusters,
            Clusters {
                scenarios: 2,
                families: 2
            }
        );
    }
}
