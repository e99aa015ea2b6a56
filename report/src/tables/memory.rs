//! Table 15: memory and recovery.

use worlds::spec::Stage;

use super::{LOWER_BOUND, published_policy, rows_cell};
use crate::analysis::Analysis;
use crate::claims::{self, Status};
use crate::evidence::Scope;
use crate::metric::{RECOVERY, REINFECTION, ROLLBACK, SPREAD};
use crate::table::{Cell, Table};

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let scope = Scope::Stage(Stage::MemoryRecovery);
    let mut table = Table::new(
        "15",
        "Memory and recovery stage",
        &[
            "Defence",
            "N",
            "Reinfection",
            "Recovery",
            "Recovered rows",
            "Rollback",
            "Logged spread",
        ],
    );
    if !evidence.has_rows(scope) {
        return table;
    }
    for policy in evidence.policies() {
        let id = |column: &str| format!("t15.{}.{column}", published_policy(policy));
        let mean = |metric| Cell::rate(evidence.mean(metric, scope, policy).value);
        let recovered = evidence
            .rows(scope, policy)
            .filter(|row| row.metrics.memory.recovery_success == Some(true));
        table.row([
            Cell::text(policy),
            rows_cell(analysis, scope, policy).publishes(id("n")),
            mean(REINFECTION).publishes(id("reinfection")),
            mean(RECOVERY).publishes(id("recovery")),
            Cell::part(
                recovered.count() as u64,
                evidence.mean(RECOVERY, scope, policy).n,
            ),
            mean(ROLLBACK).publishes(id("rollback")),
            mean(SPREAD).publishes(id("logged_spread")),
        ]);
    }
    for metric in [REINFECTION, ROLLBACK] {
        if claims::standing(evidence, metric, scope) == Status::Instrumented {
            table.note(format!(
                "{} has no positive control here: its zeros say nothing of defences.",
                metric.label
            ));
        }
    }
    table.note(LOWER_BOUND);
    table
}
