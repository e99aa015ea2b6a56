//! What another setting of the same study changes: two results that differ in one factor, such as the
//! instrumentation.

use std::collections::BTreeMap;

use crate::evidence::{Evidence, Mean, Scope, scenario};
use crate::metric::{
    CASCADE_DEPTH, COMPLETION, FALSE_BLOCK, HARM, Metric, PRIVILEGE_JUMP, SPREAD, TAINT_TO_COMMIT,
};
use crate::table::{Cell, Table};

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

/// The means of two results over the scenarios and seeds that both have, by scope and defence.
#[must_use]
pub fn table(first: &Evidence<'_>, second: &Evidence<'_>) -> Table {
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
    for metric in LOOKED_AT {
        for scope in metric
            .scopes()
            .into_iter()
            .filter(|scope| *scope != Scope::All)
        {
            for policy in first.policies().filter(|policy| second.has_policy(policy)) {
                table
                    .rows
                    .extend(line(first, second, metric, scope, policy));
            }
        }
    }
    table.note(
        "Over the scenarios and seeds that both have. A policy that reads labels decides by what is logged, \
         so a setting of the instrumentation can change what it does, not only what is counted.",
    );
    table
}

/// What distinguishes a result, in words.
fn setting(evidence: &Evidence<'_>) -> String {
    let frozen = &evidence.manifest.frozen;
    format!(
        "{} (instrumentation {}, {})",
        frozen.name,
        frozen.instrumentation.name(),
        evidence.model
    )
}

fn line(
    first: &Evidence<'_>,
    second: &Evidence<'_>,
    metric: Metric,
    scope: Scope,
    policy: &str,
) -> Option<Vec<Cell>> {
    let values = |evidence: &Evidence<'_>| -> BTreeMap<(String, u64), f64> {
        let rows = evidence.rows(scope, policy);
        let values = rows.filter_map(|row| {
            Some((
                (scenario(row).to_owned(), row.identity.seed),
                metric.of(row)?,
            ))
        });
        values.collect()
    };
    let (firsts, seconds) = (values(first), values(second));
    let both = firsts
        .iter()
        .filter_map(|(key, first)| Some((*first, *seconds.get(key)?)));
    let both: Vec<(f64, f64)> = both.collect();
    let mean_first = Mean::of(both.iter().map(|(first, _)| *first));
    let mean_second = Mean::of(both.iter().map(|(_, second)| *second));
    let differing = both
        .iter()
        .filter(|(first, second)| first.to_bits() != second.to_bits());
    let difference = mean_second.value? - mean_first.value?;
    Some(vec![
        Cell::text(metric.label),
        Cell::text(scope.name()),
        Cell::text(policy),
        Cell::count(mean_first.n),
        Cell::rate(mean_first.value),
        Cell::rate(mean_second.value),
        Cell::rate(Some(difference)),
        Cell::part(differing.count() as u64, mean_first.n),
    ])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fixture::two_scenarios;

    #[test]
    fn rows_are_compared_by_scenario_seed_and_policy() {
        let first = two_scenarios();
        let mut second = first.clone();
        Arc::make_mut(&mut second.rows[0].metrics)
            .endpoints
            .committed_harm = Some(false);
        second.rows.reverse();
        let evidence = |results| Evidence::by_model(results).remove(0);
        let table = table(&evidence(&first), &evidence(&second));
        let harm = |policy: &str| {
            let row = table
                .rows
                .iter()
                .find(|row| row[2] == Cell::text(policy) && row[0] == Cell::text(HARM.label));
            row.expect("a line")
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()[3..]
                .join(" ")
        };
        assert_eq!(harm("none"), "4 0.5000 0.2500 -0.2500 1/4");
        assert_eq!(harm("tool_boundary"), "4 0.0000 0.0000 0.0000 0/4");
    }
}
