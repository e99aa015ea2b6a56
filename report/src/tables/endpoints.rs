//! Tables 9, 17 and 22: endpoints by policy.

use worlds::spec::Stage;

use super::{LOWER_BOUND, is_the_papers, published_policy, rows_cell};
use crate::analysis::Analysis;
use crate::claims::{self, Status};
use crate::evidence::Scope;
use crate::metric::{
    ATTEMPT, BENIGN_COMPLETION, HARM, INVALID_TOOL, LEAK_BY_REFERENCE, Metric, PARSE_FAILURE,
    SECRET_LEAK, SPREAD, VALID_PROPOSAL, WRONG_RECIPIENT,
};
use crate::table::{Cell, Table};

const SECURITY: Scope = Scope::Stage(Stage::Security);

/// Table 9.
pub(super) fn security(analysis: &Analysis<'_>) -> Table {
    let metrics = [
        (HARM, "policy_violation"),
        (WRONG_RECIPIENT, "wrong_recipient"),
        (SECRET_LEAK, "secret_leak"),
        (LEAK_BY_REFERENCE, "leak_by_reference"),
        (SPREAD, "logged_spread"),
    ];
    let columns = [
        "Defence",
        "N",
        "Policy violation",
        "Wrong recipient",
        "Secret leak",
        "Leak by reference",
        "Logged spread",
    ];
    let table = Table::new(
        "9",
        "Security stage: positive control and policy outcomes",
        &columns,
    );
    let mut table = by_policy(analysis, SECURITY, table, "t9", &metrics);
    table.note(
        "Leak by reference: a private document is named to who may not read it; no content is copied, so it \
         is no secret leak.",
    );
    if claims::standing(&analysis.evidence, SECRET_LEAK, SECURITY) == Status::Instrumented {
        table.note(
            "Secret leak has no positive control here: without a defence nothing leaks either, so its zeros \
             say nothing of defences.",
        );
    }
    table.note(LOWER_BOUND);
    table
}

/// Table 17.
pub(super) fn attempts(analysis: &Analysis<'_>) -> Table {
    let metrics = [
        (ATTEMPT, "harm_attempt"),
        (HARM, "committed_violation"),
        (WRONG_RECIPIENT, "wrong_recipient"),
    ];
    let columns = [
        "Defence",
        "N",
        "Harm attempt",
        "Committed violation",
        "Wrong recipient",
    ];
    let table = Table::new(
        "17",
        "Security stage: what was attempted and what committed",
        &columns,
    );
    let mut table = by_policy(analysis, SECURITY, table, "t17", &metrics);
    if is_the_papers(analysis) {
        table.note("The published Table 17 is of the study `stress`.");
    }
    table
}

/// Table 22.
pub(super) fn interface(analysis: &Analysis<'_>) -> Table {
    let metrics = [
        (ATTEMPT, "harm_attempt"),
        (HARM, "committed_violation"),
        (VALID_PROPOSAL, "valid_proposal"),
        (PARSE_FAILURE, "parse_failure"),
        (INVALID_TOOL, "invalid_tool"),
        (BENIGN_COMPLETION, "benign_completion"),
    ];
    let columns = [
        "Defence",
        "N",
        "Harm attempt",
        "Committed violation",
        "Valid proposal",
        "Parse failure",
        "Invalid tool",
        "Benign completion",
    ];
    let table = Table::new(
        "22",
        "All stages: whether the model's actions are understood",
        &columns,
    );
    let mut table = by_policy(analysis, Scope::All, table, "t22", &metrics);
    if is_the_papers(analysis) {
        table.note("The published Table 22 is of the study `second_model`.");
    }
    table
}

/// One line for each policy: its rows and the means of the metrics.
fn by_policy(
    analysis: &Analysis<'_>,
    scope: Scope,
    mut table: Table,
    id: &str,
    metrics: &[(Metric, &str)],
) -> Table {
    let evidence = &analysis.evidence;
    if !evidence.has_rows(scope) {
        return table;
    }
    for policy in evidence.policies() {
        let published = |column: &str| format!("{id}.{}.{column}", published_policy(policy));
        let mut row = vec![
            Cell::text(policy),
            rows_cell(analysis, scope, policy).publishes(published("n")),
        ];
        row.extend(metrics.iter().map(|(metric, column)| {
            Cell::rate(evidence.mean(*metric, scope, policy).value).publishes(published(column))
        }));
        table.row(row);
    }
    table
}
