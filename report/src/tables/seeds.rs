//! Table 26: whether a result hangs on one seed.

use statistics::seed_variance;
use worlds::spec::Stage;

use super::{is_the_papers, published_policy};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{CLEAN_COMPLETION, COMPLETION, HARM, Metric, RECOVERY, SPREAD};
use crate::table::{Cell, Table};

/// What is followed over seeds, with what Table 26 calls it.
const FOLLOWED: [(Stage, &[(Metric, &str)]); 4] = [
    (
        Stage::Security,
        &[
            (HARM, "committed_policy_violation"),
            (SPREAD, "logged_taint_spread"),
        ],
    ),
    (
        Stage::MemoryRecovery,
        &[
            (RECOVERY, "recovery_success"),
            (SPREAD, "logged_taint_spread"),
        ],
    ),
    (
        Stage::ActiveTainted,
        &[
            (COMPLETION, "authorized_completion"),
            (HARM, "committed_policy_violation"),
            (SPREAD, "logged_taint_spread"),
        ],
    ),
    (Stage::Clean, &[(CLEAN_COMPLETION, "clean_utility")]),
];

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let mut table = Table::new(
        "26",
        "Means by rollout seed: how much they vary",
        &[
            "Stage", "Defence", "Metric", "Seeds", "Mean", "Std.", "Range",
        ],
    );
    for (stage, metrics) in FOLLOWED {
        for policy in evidence.policies() {
            for (metric, name) in metrics {
                let rows = evidence.rows(Scope::Stage(stage), policy);
                let values = rows.filter_map(|row| Some((row.identity.seed, metric.of(row)?)));
                let Some(variance) = seed_variance(values) else {
                    continue;
                };
                // One seed does not vary.
                let of_several = |number| (variance.seeds > 1).then_some(number);
                let id = |column: &str| {
                    format!(
                        "t26.{}.{}.{name}.{column}",
                        stage.name(),
                        published_policy(policy)
                    )
                };
                table.row([
                    Cell::text(stage.name()),
                    Cell::text(policy),
                    Cell::text(metric.label),
                    Cell::count(variance.seeds).publishes(id("seeds")),
                    Cell::rate(Some(variance.mean)).publishes(id("mean")),
                    Cell::rate(of_several(variance.standard_deviation)).publishes(id("std")),
                    Cell::rate(of_several(variance.range)).publishes(id("range")),
                ]);
            }
        }
    }
    table.note("Std. is that of the population of seeds (ddof 0).");
    if is_the_papers(analysis) {
        table.note("The paper prints dashes for some rows; here they are computed.");
    }
    table
}
