//! Table 10: trajectories that differ where endpoints do not.

use super::say_intervals;
use crate::analysis::{Analysis, Divergence};
use crate::table::{Cell, Table};

/// How many of the fields that differ are named.
const NAMED_FIELDS: usize = 3;

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let mut table = Table::new(
        "10",
        "Pairs with the same committed-harm endpoint whose logged trajectory differs",
        &[
            "Comparison",
            "Scope",
            "Pairs",
            "Same zero endpoint",
            "Trajectory divergence",
            "95 % CI",
            "Utility differs",
            "Both differ",
            "Divergence at equal utility",
            "Fields that differ most",
        ],
    );
    for divergence in &analysis.divergences {
        table.row(line(divergence));
    }
    say_intervals(
        &mut table,
        analysis
            .divergences
            .iter()
            .filter_map(|divergence| divergence.trajectory.as_ref()?.monte_carlo_error),
    );
    table.note(
        "Twelve fields of 6.5; policy hashes, rules, ledger matches and versions never enter. Shares are \
         of the pairs with equal endpoint; where none or all of them differ the interval is the exact one \
         over scenarios.",
    );
    table.note(
        "Utility is what the stage asks for: completion by Eq. 6 in active_tainted, clean completion in clean, \
         benign completion elsewhere. A scope without a pair of equal endpoint has no line.",
    );
    let dropped = analysis.divergences.iter().map(|one| one.dropped).max();
    let dropped = dropped.unwrap_or_default();
    if dropped > 0 {
        table.note(format!(
            "Up to {dropped} pairs of a comparison could not be formed and are left out."
        ));
    }
    table
}

fn line(divergence: &Divergence<'_>) -> [Cell; 10] {
    let policies = divergence.policies;
    let scope = divergence.scope.name();
    let id = |column: &str| {
        format!(
            "t10.{}_vs_{}.{scope}.{column}",
            policies.first, policies.second
        )
    };
    let trajectory = divergence.trajectory.as_ref();
    let interval = trajectory.and_then(|estimate| estimate.interval);
    let equal_utility = divergence.at_equal_utility.as_ref();
    let fields = divergence.fields.iter().take(NAMED_FIELDS);
    let fields: Vec<String> = fields
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    [
        Cell::text(policies.to_string()),
        Cell::text(scope),
        Cell::count(divergence.pairs),
        Cell::part(divergence.same_zero, divergence.pairs).publishes(id("same_zero_endpoint")),
        Cell::rate(trajectory.map(|estimate| estimate.value))
            .within(interval)
            .publishes(id("trajectory_divergence")),
        Cell::interval(interval),
        Cell::part(divergence.utilities, divergence.same_endpoint),
        Cell::part(divergence.both, divergence.same_endpoint),
        Cell::rate(equal_utility.map(|estimate| estimate.value)),
        Cell::text(fields.join(", ")),
    ]
}
