//! What spread is made of (promised in 4.4 and 7.3): labelled nodes by kind, jumps and depth.

use study::row::Row;

use super::LOWER_BOUND;
use crate::analysis::Analysis;
use crate::evidence::Mean;
use crate::metric::{CASCADE_DEPTH, PRIVILEGE_JUMP, TAINT_TO_COMMIT};
use crate::table::{Cell, Table};

/// A kind of node and how many of a row are labelled.
type Part = (&'static str, fn(&Row) -> Option<u32>);

const PARTS: [Part; 7] = [
    ("Agents", |row| row.metrics.propagation.br_agent),
    ("Messages", |row| row.metrics.propagation.br_message),
    ("Memory", |row| row.metrics.propagation.br_memory),
    ("Tools", |row| row.metrics.propagation.br_tool),
    ("Side effects", |row| row.metrics.propagation.br_side_effect),
    ("Sources", |row| row.metrics.propagation.br_source),
    ("All kinds", |row| row.metrics.propagation.blast_radius_raw),
];

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let mut columns = vec!["Stage", "Defence", "N"];
    columns.extend(PARTS.map(|(heading, _)| heading));
    columns.extend([
        "Region",
        "Privilege jump",
        "Cascade depth",
        "Taint to commit",
    ]);
    let mut table = Table::new(
        "components",
        "Labelled nodes by kind, means by stage and defence",
        &columns,
    );
    for scope in evidence.scopes() {
        for policy in evidence.policies() {
            let mean = |of: fn(&Row) -> Option<u32>| {
                Mean::of(
                    evidence
                        .rows(scope, policy)
                        .filter_map(|row| of(row).map(f64::from)),
                )
            };
            let mut row = vec![
                Cell::text(scope.name()),
                Cell::text(policy),
                Cell::count(mean(PARTS[6].1).n),
            ];
            row.extend(PARTS.iter().map(|(_, of)| Cell::number(mean(*of).value, 3)));
            row.push(Cell::number(
                mean(|row| row.metrics.propagation.region_nodes).value,
                3,
            ));
            row.extend(
                [PRIVILEGE_JUMP, CASCADE_DEPTH, TAINT_TO_COMMIT]
                    .map(|metric| Cell::rate(evidence.mean(metric, scope, policy).value)),
            );
            table.row(row);
        }
    }
    table.note("Sources are counted by Eq. 4 and not among the five components of Table 23.");
    table.note(LOWER_BOUND);
    table
}
