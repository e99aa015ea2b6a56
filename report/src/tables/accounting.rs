//! Table 3: how many rows each stage has.

use std::collections::BTreeSet;

use super::published_stage;
use crate::analysis::Analysis;
use crate::evidence::{Scope, scenario};
use crate::table::{Cell, Table};
use worlds::spec::Stage;

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let mut table = Table::new(
        "3",
        "Rows by evidence stage: scenarios times defences times seeds",
        &[
            "Stage",
            "Scenarios",
            "Families",
            "Defences",
            "Seeds",
            "Rows",
            "Errored",
            "At a limit",
        ],
    );
    let evidence = &analysis.evidence;
    for stage in Stage::ALL {
        let scope = Scope::Stage(stage);
        let rows: Vec<_> = evidence
            .policies()
            .flat_map(|policy| evidence.rows(scope, policy))
            .collect();
        if rows.is_empty() {
            continue;
        }
        let scenarios: BTreeSet<&str> = rows.iter().map(|row| scenario(row)).collect();
        let families: BTreeSet<&str> = rows.iter().map(|row| &*row.identity.family).collect();
        let policies: BTreeSet<&str> = rows.iter().map(|row| &*row.identity.policy).collect();
        let seeds: BTreeSet<u64> = rows.iter().map(|row| row.identity.seed).collect();
        let errored = rows.iter().filter(|row| row.identity.has_errored()).count();
        let limited = rows
            .iter()
            .filter(|row| row.identity.outcome.starts_with("limit_reached"));
        let id = |column: &str| format!("t3.{}.{column}", published_stage(stage));
        table.row([
            Cell::text(stage.name()),
            Cell::count(scenarios.len() as u64).publishes(id("scenarios")),
            Cell::count(families.len() as u64),
            Cell::count(policies.len() as u64).publishes(id("defenses")),
            Cell::count(seeds.len() as u64).publishes(id("seeds")),
            Cell::count(rows.len() as u64).publishes(id("rows")),
            Cell::count(errored as u64),
            Cell::count(limited.count() as u64),
        ]);
    }
    table
}
