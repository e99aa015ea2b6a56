//! Policies in order, where an order may be claimed at all.

use statistics::{Better, Estimate, Method};

use super::say_intervals;
use crate::analysis::{Analysis, PolicyPair};
use crate::claims::{self, Status};
use crate::evidence::Scope;
use crate::metric::{COMPARED, Metric};
use crate::table::{Cell, Table};

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let mut table = Table::new(
        "ranking",
        "Policies in order, by the metrics whose order may be claimed",
        &[
            "Metric",
            "Scope",
            "Rank",
            "Defence",
            "Mean",
            "Behind by",
            "95 % CI",
        ],
    );
    let mut errors = Vec::new();
    let ranked = COMPARED.into_iter().filter(Metric::is_claimable);
    for metric in ranked {
        let stages = metric
            .scopes()
            .into_iter()
            .filter(|scope| *scope != Scope::All && evidence.has_rows(*scope));
        for scope in stages {
            match claims::standing(evidence, metric, scope) {
                Status::Comparative => rank(analysis, metric, scope, &mut table, &mut errors),
                status => table.note(format!(
                    "No order by {} in {}: {}.",
                    metric.label,
                    scope.name(),
                    status.name(),
                )),
            }
        }
    }
    if !table.rows.is_empty() {
        table.note("Means are over all rollouts of a policy, differences over pairs. Behind by: how much worse than the first policy of the rank above, or of the same rank. Equal rank: nothing shows a difference to the first of the rank; the interval of the paired difference holds zero, or there are too few scenarios to tell.");
        say_intervals(&mut table, errors.into_iter());
    }
    table
}

/// The policies from the best to the worst.
fn rank(
    analysis: &Analysis<'_>,
    metric: Metric,
    scope: Scope,
    table: &mut Table,
    errors: &mut Vec<f64>,
) {
    let evidence = &analysis.evidence;
    let mean = |policy: &str| evidence.mean(metric, scope, policy).value;
    let mut order: Vec<(&str, f64)> = evidence
        .policies()
        .filter_map(|policy| Some((policy, mean(policy)?)))
        .collect();
    order.sort_by(|(_, first), (_, second)| match metric.better {
        Better::Lower => first.total_cmp(second),
        Better::Higher => second.total_cmp(first),
    });
    let mut rank = 1;
    let mut leader: Option<&str> = None;
    for (position, (policy, mean)) in (1..).zip(order) {
        let behind = leader.and_then(|leader| {
            // In the order in which a worse policy is behind by more than zero.
            let (first, second) = match metric.better {
                Better::Lower => (leader, policy),
                Better::Higher => (policy, leader),
            };
            analysis.paired(PolicyPair { first, second }, metric, scope)
        });
        let interval = behind.as_ref().map_or_else(Cell::not_applicable, interval);
        let is_behind = behind.as_ref().map(claims::direction) == Some(Status::Comparative);
        if is_behind || leader.is_none() {
            rank = position;
            leader = Some(policy);
        }
        errors.extend(behind.as_ref().and_then(|behind| behind.monte_carlo_error));
        table.row([
            Cell::text(metric.label),
            Cell::text(scope.name()),
            Cell::count(rank),
            Cell::text(policy),
            Cell::rate(Some(mean)),
            Cell::rate(behind.map(|behind| behind.value)),
            interval,
        ]);
    }
}

/// The interval of a difference; where no pair differs it is an observation and no inference.
fn interval(difference: &Estimate) -> Cell {
    if difference.method == Method::IdenticalPairs {
        Cell::text("identical pairs")
    } else {
        Cell::interval(difference.interval)
    }
}
