//! What another setting of the same study changes: two results that differ in one factor, such as the
//! instrumentation.

use std::collections::BTreeMap;

use crate::evidence::{Evidence, Mean, Scope, scenario};
use crate::metric::{
    CASCADE_DEPTH, COMPLETION, FALSE_BLOCK, HARM, Metric, PRIVILEGE_JUMP, SPREAD, TAINT_TO_COMMIT,
};
use crate::table::{Cell, Table};
use study::columns::Hash;

/// What is looked at: endpoints, which a way of logging cannot change by itself, and observables,
/// which it can.
const LOOKED_AT: [Metric; 7] = [
    HARM,
    COMPLETION,
    FALSE_BLOCK,
    SPREAD,
    PRIVILEGE_JUMP,
    CASCADE_DEPTH,
    TAINT_TO_COMMIT,
];

/// Where the means of two results differ, over the scenarios and seeds that both have, by scope and
/// defence; none if they have none in common.
#[must_use]
pub fn table(first: &Evidence<'_>, second: &Evidence<'_>) -> Option<Table> {
    let mut table = Table::new(
        "factor",
        format!(
            "The same rollouts in {} and {}",
            setting(first),
            setting(second)
        ),
        &[
            "Metric",
            "Scope",
            "Defence",
            "N",
            "First",
            "Second",
            "Difference",
            "Rows that differ",
        ],
    );
    let mut alike = 0;
    for metric in LOOKED_AT {
        for scope in metric
            .scopes()
            .into_iter()
            .filter(|scope| *scope != Scope::All)
        {
            for policy in first.policies().filter(|policy| second.has_policy(policy)) {
                match Line::of(first, second, metric, scope, policy) {
                    Some(line) if line.differing > 0 => {
                        table.row(line.cells(metric, scope, policy));
                    }
                    Some(_) => alike += 1,
                    None => {}
                }
            }
        }
    }
    if alike == 0 && table.rows.is_empty() {
        return None;
    }
    table.note(format!(
        "Over the scenarios and seeds that both have, with the same content. {alike} lines in which no row \
         differs are left out."
    ));
    table.note(
        "A policy that reads labels decides by what is logged, so a setting of the instrumentation can change \
         what it does, not only what is counted.",
    );
    Some(table)
}

/// What distinguishes a result, in words.
fn setting(evidence: &Evidence<'_>) -> String {
    let frozen = &evidence.manifest.frozen;
    format!(
        "{} (study seed {}, instrumentation {}, {})",
        frozen.name,
        frozen.study_seed,
        frozen.instrumentation.name(),
        evidence.model
    )
}

/// A metric of the same rollouts in both results.
struct Line {
    first: Mean,
    second: Mean,
    difference: f64,
    /// In how many of them it is not the same.
    differing: u64,
}

impl Line {
    /// None if the metric applies to no rollout that both have.
    fn of(
        first: &Evidence<'_>,
        second: &Evidence<'_>,
        metric: Metric,
        scope: Scope,
        policy: &str,
    ) -> Option<Self> {
        let (firsts, seconds) = (
            values(first, metric, scope, policy),
            values(second, metric, scope, policy),
        );
        let both = firsts
            .iter()
            .filter_map(|(key, first)| Some((*first, *seconds.get(key)?)));
        let both: Vec<(f64, f64)> = both.collect();
        let mean_first = Mean::of(both.iter().map(|(first, _)| *first));
        let mean_second = Mean::of(both.iter().map(|(_, second)| *second));
        let differing = both
            .iter()
            .filter(|(first, second)| first.to_bits() != second.to_bits());
        Some(Self {
            difference: mean_second.value? - mean_first.value?,
            first: mean_first,
            second: mean_second,
            differing: differing.count() as u64,
        })
    }

    fn cells(&self, metric: Metric, scope: Scope, policy: &str) -> [Cell; 8] {
        [
            Cell::text(metric.label),
            Cell::text(scope.name()),
            Cell::text(policy),
            Cell::count(self.first.n),
            Cell::rate(self.first.value),
            Cell::rate(self.second.value),
            Cell::rate(Some(self.difference)),
            Cell::part(self.differing, self.first.n),
        ]
    }
}

/// The values of a metric by scenario, its content, and seed.
fn values<'r>(
    evidence: &Evidence<'r>,
    metric: Metric,
    scope: Scope,
    policy: &str,
) -> BTreeMap<(&'r str, Hash, u64), f64> {
    let rows = evidence.rows(scope, policy);
    let values = rows.filter_map(|row| {
        let identity = &row.identity;
        let key = (scenario(row), identity.scenario_hash, identity.seed);
        Some((key, metric.of(row)?))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use study::results::Results;

    use super::*;
    use crate::fixture::two_scenarios;

    fn evidence(results: &Results) -> Evidence<'_> {
        Evidence::by_model(results).remove(0)
    }

    #[test]
    fn only_what_differs_is_told_by_scenario_seed_and_policy() {
        let first = two_scenarios();
        let mut second = first.clone();
        Arc::make_mut(&mut second.rows[0].metrics)
            .endpoints
            .committed_harm = Some(false);
        second.rows.reverse();
        let table = table(&evidence(&first), &evidence(&second)).expect("common rollouts");
        let lines: Vec<String> = table
            .rows
            .iter()
            .map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>())
            .map(|cells| cells.join(" "))
            .collect();
        assert_eq!(
            lines,
            ["committed policy violation security none 4 0.5000 0.2500 -0.2500 1/4"]
        );
    }

    #[test]
    fn rows_of_a_scenario_with_another_content_are_not_compared() {
        let first = two_scenarios();
        let mut second = first.clone();
        for row in &mut second.rows {
            row.identity.scenario_hash = Hash(8);
        }
        assert!(table(&evidence(&first), &evidence(&second)).is_none());
    }
}
