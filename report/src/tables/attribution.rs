//! Which rule ended the work: the attribution behind Table 11.

use std::collections::BTreeMap;

use worlds::spec::Stage;

use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::table::{Cell, Table};

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let mut table = Table::new(
        "attribution",
        "The last rule that stood against the work, by stage and defence",
        &["Stage", "Defence", "Rule", "Rollouts"],
    );
    for scope in evidence
        .scopes()
        .into_iter()
        .filter(|scope| *scope != Scope::All)
    {
        for policy in evidence.policies() {
            let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
            let mut rollouts = 0;
            for row in evidence.rows(scope, policy) {
                if let Some(rule) = &row.metrics.endpoints.terminal_rule {
                    *rules.entry(rule).or_default() += 1;
                    rollouts += 1;
                }
            }
            for (rule, count) in rules {
                let mut cell = Cell::part(count, rollouts);
                if let Some(id) = published(scope, policy, rule) {
                    cell = cell.publishes(id);
                }
                table.row([
                    Cell::text(scope.name()),
                    Cell::text(policy),
                    Cell::text(rule),
                    cell,
                ]);
            }
        }
    }
    table.note("`none`: the last high-risk proposal committed, or there was none.");
    table
}

/// 7.1: 368 rows of the structured guard end at a confirmation, 232 at the parser.
fn published(scope: Scope, policy: &str, rule: &str) -> Option<&'static str> {
    match (scope, policy, rule) {
        (Scope::Stage(Stage::ActiveTainted), "structured_guard", "confirm_structured_action") => {
            Some("txt.sg_confirm")
        }
        (Scope::Stage(Stage::ActiveTainted), "structured_guard", "invalid_schema") => {
            Some("txt.sg_parsefail")
        }
        _ => None,
    }
}
