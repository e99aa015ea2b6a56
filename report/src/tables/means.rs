//! What every policy comes to by itself, each mean with how sure it is.

use statistics::Estimate;

use super::LOWER_BOUND;
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{
    CLEAN_COMPLETION, COMPLETION, FALSE_BLOCK, FALSE_CONFIRM, HARM, Metric, RECOVERY, SPREAD,
};
use crate::table::{Cell, Table};

/// What is told of each policy: harm, work, false alarms, recovery, spread.
const TOLD: [Metric; 7] = [
    HARM,
    COMPLETION,
    FALSE_BLOCK,
    FALSE_CONFIRM,
    CLEAN_COMPLETION,
    RECOVERY,
    SPREAD,
];

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let mut table = Table::new(
        "means",
        "Every policy by itself, by stage",
        &[
            "Metric",
            "Scope",
            "Defence",
            "N",
            "Scenarios",
            "Families",
            "Mean",
            "95 % CI (scenarios)",
            "95 % CI (families)",
            "Method",
        ],
    );
    for metric in TOLD {
        let scopes = metric.scopes().into_iter();
        for scope in scopes.filter(|scope| *scope != Scope::All && evidence.has_rows(*scope)) {
            for policy in evidence.policies() {
                let over_scenarios = analysis.estimate(metric, scope, policy);
                let over_families = analysis.estimate_over_families(metric, scope, policy);
                if let Some((scenarios, families)) = over_scenarios.zip(over_families) {
                    table.row(line(metric, scope, policy, &scenarios, &families));
                }
            }
        }
    }
    table.note(
        "For scenarios like these, and for families like these: scenarios of a family are alike, so the second is \
         the one to believe. Percentile bootstrap with 10,000 resamples; of what happened never or always the exact \
         interval, one trial for each scenario or family, and where fewer than ten have an event, or lack one, no end \
         nearer than that. Policies are compared by pairs (Table 25), not by whether \
         these intervals overlap.",
    );
    table.note(LOWER_BOUND);
    table
}

fn line(
    metric: Metric,
    scope: Scope,
    policy: &str,
    scenarios: &Estimate,
    families: &Estimate,
) -> [Cell; 10] {
    [
        Cell::text(metric.label),
        Cell::text(scope.name()),
        Cell::text(policy),
        Cell::count(scenarios.n),
        Cell::count(scenarios.clusters),
        Cell::count(families.clusters),
        Cell::rate(Some(scenarios.value)).within(scenarios.interval),
        Cell::interval(scenarios.interval),
        Cell::interval(families.interval),
        Cell::text(scenarios.method.name()),
    ]
}

#[cfg(test)]
mod tests {
    use statistics::Bootstrap;

    use super::*;
    use crate::analysis::Options;
    use crate::evidence::Evidence;
    use crate::fixture::two_scenarios;

    #[test]
    fn a_mean_that_is_zero_is_not_certain() {
        let results = two_scenarios();
        let options = Options {
            bootstrap: Bootstrap::default(),
            threads: 1,
        };
        let evidence = Evidence::by_model(&results).remove(0);
        let table = table(&Analysis::new(evidence, &[], options));
        let harm: Vec<String> = table
            .rows
            .iter()
            .filter(|row| row[0] == Cell::text(HARM.label))
            .map(|row| format!("{} {} {} {} {}", row[2], row[3], row[4], row[6], row[7]))
            .collect();
        // Two scenarios as trials: 1 - 0.025^(1/2).
        assert_eq!(
            harm,
            [
                "none 4 2 0.5000 [0.0000, 1.0000]",
                "tool_boundary 4 2 0.0000 [0.0000, 0.8419]"
            ]
        );
    }
}
