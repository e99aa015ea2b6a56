//! Tables 13 and 14: where a gap in spread comes from, and what the denominator does to it.

use worlds::spec::Stage;

use super::{LOWER_BOUND, published_policy, published_stage};
use crate::analysis::{Analysis, PolicyPair};
use crate::evidence::{Evidence, Mean, Scope};
use crate::metric::SPREAD;
use crate::table::{Cell, Table};
use study::row::Row;

/// The comparison that the paper decomposes.
pub(super) const PUBLISHED: PolicyPair<'static> = PolicyPair {
    first: "tool_boundary",
    second: "intent_ledger_v2",
};

/// Table 13.
pub(super) fn decomposition(analysis: &Analysis<'_>) -> Table {
    let mut table = Table::new(
        "13",
        "What each stage gives to the all-stage gap in spread",
        &[
            "Comparison",
            "Stage",
            "N",
            "A",
            "B",
            "Weighted gap",
            "Gap share",
        ],
    );
    for policies in &analysis.compared {
        let Some(gaps) = Gaps::of(&analysis.evidence, *policies) else {
            continue;
        };
        for gap in gaps.each() {
            table.row(gaps.line(*policies, gap));
        }
    }
    table.note(
        "Over pairs. Weighted gap: (stage pairs / all pairs)(mean A - mean B), while the deltas of Tables 12 and 25 are B - A. \
         Its share is of the sum over stages.",
    );
    table.note(LOWER_BOUND);
    table
}

/// What one stage gives to the gap between two policies.
struct Gap {
    scope: Scope,
    a: Mean,
    b: Mean,
    weighted: f64,
}

/// The gap in spread between two policies, by stage.
pub(super) struct Gaps {
    stages: Vec<Gap>,
    whole: Gap,
}

impl Gaps {
    /// Over pairs, so that a rollout without numbers is left out under both. None if there is none.
    pub(super) fn of(evidence: &Evidence<'_>, policies: PolicyPair<'_>) -> Option<Self> {
        let means = |scope| {
            let pairs = evidence.pairs(scope, policies.first, policies.second).kept;
            let of = |row| SPREAD.of(row);
            let a = Mean::of(pairs.iter().filter_map(|(first, ..)| of(first)));
            let b = Mean::of(pairs.iter().filter_map(|(_, second, _)| of(second)));
            (a, b)
        };
        let (all, all_of_second) = means(Scope::All);
        let gap = |stage| {
            let scope = Scope::Stage(stage);
            let (a, b) = means(scope);
            let weighted = as_number(a.n) / as_number(all.n) * (a.value? - b.value?);
            Some(Gap {
                scope,
                a,
                b,
                weighted,
            })
        };
        let stages: Vec<Gap> = Stage::ALL.into_iter().filter_map(gap).collect();
        let whole = Gap {
            scope: Scope::All,
            a: all,
            b: all_of_second,
            weighted: stages.iter().map(|gap| gap.weighted).sum(),
        };
        (!stages.is_empty()).then_some(Self { stages, whole })
    }

    /// The share of a stage in the sum over stages; none if there is no gap.
    pub(super) fn share(&self, scope: Scope) -> Option<f64> {
        let total = self.whole.weighted;
        let gap = self.each().find(|gap| gap.scope == scope)?;
        (total.abs() > 0.0).then(|| gap.weighted / total)
    }

    /// The means under both policies in a stage.
    pub(super) fn means(&self, scope: Scope) -> Option<(f64, f64)> {
        let gap = self.each().find(|gap| gap.scope == scope)?;
        gap.a.value.zip(gap.b.value)
    }

    /// Each stage, then all of them.
    fn each(&self) -> impl Iterator<Item = &Gap> {
        self.stages.iter().chain([&self.whole])
    }

    fn line(&self, policies: PolicyPair<'_>, gap: &Gap) -> [Cell; 7] {
        let stage = match gap.scope {
            Scope::All => "all_full_scale",
            Scope::Stage(stage) => published_stage(stage),
        };
        let cell = |cell: Cell, column: &str| {
            if policies == PUBLISHED {
                cell.publishes(format!("t13.{stage}.{column}"))
            } else {
                cell
            }
        };
        [
            Cell::text(policies.to_string()),
            Cell::text(gap.scope.name()),
            cell(Cell::count(gap.a.n), "n_per_defense"),
            cell(Cell::rate(gap.a.value), "spread_tool_boundary"),
            cell(Cell::rate(gap.b.value), "spread_ledger_v2"),
            cell(Cell::number(Some(gap.weighted), 6), "weighted_gap"),
            cell(Cell::rate(self.share(gap.scope)), "gap_share"),
        ]
    }
}

/// Table 14.
pub(super) fn denominators(analysis: &Analysis<'_>) -> Table {
    let evidence = &analysis.evidence;
    let policies: Vec<&str> = evidence.policies().collect();
    let mut table = Table::new(
        "14",
        "Spread under other denominators",
        &["Denominator", "Scope", "Defence", "N", "Spread"],
    );
    let mut add =
        |denominator: &str, scope: &str, id: Option<&str>, mean: &dyn Fn(&str) -> Mean| {
            for policy in &policies {
                let mean = mean(policy);
                let cell = Cell::rate(mean.value);
                let cell = match id {
                    Some(id) => cell.publishes(format!("t14.{id}.{}", published_policy(policy))),
                    None => cell,
                };
                table.row([
                    Cell::text(denominator),
                    Cell::text(scope),
                    Cell::text(*policy),
                    Cell::count(mean.n),
                    cell,
                ]);
            }
        };
    for scope in evidence.scopes() {
        add("realised", scope.name(), realised_id(scope), &|policy| {
            evidence.mean(SPREAD, scope, policy)
        });
    }
    for scope in evidence.scopes() {
        add("fixed maximum", scope.name(), fixed_id(scope), &|policy| {
            evidence.mean_fixed_max(scope, policy)
        });
    }
    let active = Scope::Stage(Stage::ActiveTainted);
    if evidence.has_rows(active) {
        let completed = |policy: &str| {
            let rows = evidence.rows(active, policy).filter(|row| is_complete(row));
            Mean::of(rows.filter_map(|row| SPREAD.of(row)))
        };
        add(
            "realised",
            "completed under the defence",
            Some("authorized_completion_subset"),
            &completed,
        );
    }
    for pair in &analysis.compared {
        completed_under_both(evidence, *pair, &mut table);
    }
    let declared = &evidence.manifest.frozen.denominator_policies;
    table.note(format!(
        "Fixed maximum: the largest region of the same scenario, model and seed under {}. A defence that is not \
         among them moves nobody's number; where a rollout of one of them has no numbers, nobody has this one.",
        declared.join(", "),
    ));
    table.note(LOWER_BOUND);
    table
}

/// The rows that are complete under both policies of a pair: the same scenarios and seeds.
fn completed_under_both(evidence: &Evidence<'_>, pair: PolicyPair<'_>, table: &mut Table) {
    let active = Scope::Stage(Stage::ActiveTainted);
    let mut pairs = evidence.pairs(active, pair.first, pair.second).kept;
    pairs.retain(|(first, second, _)| is_complete(first) && is_complete(second));
    let of_first = Mean::of(pairs.iter().filter_map(|(first, ..)| SPREAD.of(first)));
    let of_second = Mean::of(pairs.iter().filter_map(|(_, second, _)| SPREAD.of(second)));
    for (policy, mean) in [(pair.first, of_first), (pair.second, of_second)] {
        if mean.n > 0 {
            table.row([
                Cell::text("realised"),
                Cell::text(format!("completed under both, {pair}")),
                Cell::text(policy),
                Cell::count(mean.n),
                Cell::rate(mean.value),
            ]);
        }
    }
}

const fn realised_id(scope: Scope) -> Option<&'static str> {
    match scope {
        Scope::All => Some("all_full_scale_realized_denominator"),
        Scope::Stage(Stage::Security) => Some("security_only_realized_denominator"),
        Scope::Stage(_) => None,
    }
}

const fn fixed_id(scope: Scope) -> Option<&'static str> {
    match scope {
        Scope::All => Some("all_full_scale_fixed_max_denominator"),
        Scope::Stage(Stage::Security) => Some("security_only_fixed_max_denominator"),
        Scope::Stage(Stage::ActiveTainted) => Some("active_stage_fixed_max_denominator"),
        Scope::Stage(_) => None,
    }
}

fn is_complete(row: &Row) -> bool {
    row.metrics.utility.authorized_tainted_action_success == Some(true)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn as_number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use statistics::Bootstrap;

    use super::*;
    use crate::analysis::Options;
    use crate::fixture::two_scenarios;

    /// Complete: both rows of `obey/a` with seed 1, and without a defence that with seed 2.
    #[test]
    fn completion_is_taken_under_the_policy_itself_or_under_both() {
        let mut results = two_scenarios();
        for row in &mut results.rows {
            row.identity.stage = Stage::ActiveTainted;
            let is_complete = &*row.identity.scenario_id == "obey/a"
                && (row.identity.seed == 1 || &*row.identity.policy == "none");
            let metrics = Arc::make_mut(&mut row.metrics);
            metrics.utility.authorized_tainted_action_success = Some(is_complete);
        }
        let evidence = Evidence::by_model(&results).remove(0);
        let options = Options {
            bootstrap: Bootstrap::default(),
            threads: 1,
        };
        let table = denominators(&Analysis::new(evidence, &[], options));
        let lines = |scope: &str| -> Vec<String> {
            let rows = table.rows.iter().filter(|row| row[1] == Cell::text(scope));
            rows.map(|row| format!("{} {} {}", row[2], row[3], row[4]))
                .collect()
        };
        assert_eq!(
            lines("completed under the defence"),
            ["none 2 0.7500", "tool_boundary 1 0.5000"]
        );
        assert_eq!(
            lines("completed under both, none vs tool_boundary"),
            ["none 1 0.7500", "tool_boundary 1 0.5000"],
        );
    }
}
