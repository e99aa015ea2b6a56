//! The numbers that the paper gives in its text and in no table.

use worlds::spec::Stage;

use super::spread::{Gaps, PUBLISHED};
use crate::analysis::{Analysis, Divergence};
use crate::evidence::{Evidence, Scope};
use crate::metric::{COMPLETION, FALSE_CONFIRM, HARM, PARSE_FAILURE, WRONG_RECIPIENT};
use crate::table::{Cell, Table};
use statistics::rule_of_three;

const ACTIVE: Scope = Scope::Stage(Stage::ActiveTainted);
const SECURITY: Scope = Scope::Stage(Stage::Security);
const MEMORY: Scope = Scope::Stage(Stage::MemoryRecovery);

/// Lines of quantity, number and the published numbers that it is to reproduce.
type Line = (String, Cell);

pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let mut table = Table::new(
        "text",
        "Numbers of the running text",
        &["Quantity", "Number"],
    );
    let lines = [
        counts(&analysis.evidence),
        endpoints(&analysis.evidence),
        repair(analysis),
        propagation(analysis),
    ];
    for (quantity, cell) in lines.into_iter().flatten() {
        if cell.as_number().is_some() {
            table.row([Cell::text(quantity), cell]);
        }
    }
    table
}

fn line(quantity: impl Into<String>, cell: Cell, id: &str) -> Line {
    (quantity.into(), cell.publishes(format!("txt.{id}")))
}

fn percent(share: Option<f64>, decimals: usize) -> Cell {
    Cell::number(share.map(|share| 100.0 * share), decimals)
}

fn counts(evidence: &Evidence<'_>) -> Vec<Line> {
    let rollouts = |scope| {
        evidence
            .policies()
            .map(move |policy| evidence.rows(scope, policy).count() as u64)
    };
    let clusters = |scope| evidence.most_clusters(scope).scenarios;
    let bound = |scope| percent(rule_of_three(clusters(scope)), 2);
    vec![
        line(
            "rollouts",
            Cell::count(rollouts(Scope::All).sum()),
            "rollouts",
        ),
        line(
            "rollouts of a policy",
            Cell::count(rollouts(Scope::All).max().unwrap_or_default()),
            "runs_2520",
        ),
        line("scenarios", Cell::count(clusters(Scope::All)), "clusters"),
        line(
            "upper bound over all scenarios, 3/n, percent",
            bound(Scope::All),
            "ub_all",
        ),
        line(
            "upper bound over security scenarios, 3/n, percent",
            bound(SECURITY),
            "ub_sec",
        ),
    ]
}

fn endpoints(evidence: &Evidence<'_>) -> Vec<Line> {
    let none = |metric| Cell::rate(evidence.mean(metric, SECURITY, "none").value);
    let failures: Vec<f64> = evidence
        .policies()
        .filter_map(|policy| evidence.mean(PARSE_FAILURE, Scope::All, policy).value)
        .collect();
    let (least, most) = (
        failures.iter().copied().reduce(f64::min),
        failures.iter().copied().reduce(f64::max),
    );
    vec![
        line(
            "policy violation without defence, security",
            none(HARM),
            "sec_none",
        ),
        line(
            "wrong recipient without defence, security",
            none(WRONG_RECIPIENT),
            "sec_none_wr",
        ),
        line(
            "false-positive confirm of structured_guard",
            Cell::rate(
                evidence
                    .mean(FALSE_CONFIRM, ACTIVE, "structured_guard")
                    .value,
            ),
            "sg_fp_confirm",
        ),
        line(
            "least parse failure of a policy",
            Cell::rate(least).publishes("t16.mistral_parse_low"),
            "mistral_lo",
        ),
        line(
            "greatest parse failure of a policy",
            Cell::rate(most).publishes("t16.mistral_parse_high"),
            "mistral_hi",
        ),
    ]
}

/// Finding 1 and the 40 workflows of Finding 2.
fn repair(analysis: &Analysis<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(one) = divergence(analysis, "taint_only_v1", ACTIVE) {
        let trajectory = one.trajectory.as_ref();
        let share = trajectory.map(|estimate| estimate.value);
        let interval = trajectory.and_then(|estimate| estimate.interval);
        let union = one.trajectories + one.utilities - one.both;
        lines.push(line(
            "taint_only_v1 and intent_ledger_v2: active pairs",
            Cell::count(one.pairs),
            "matched_pairs",
        ));
        lines.push(line(
            "of them with differing trajectory, percent",
            percent(share, 1),
            "diverge_pct",
        ));
        lines.push(line(
            "the same as a share",
            Cell::rate(share).within(interval),
            "div_ci",
        ));
        lines.push(line(
            "trajectory or utility differs",
            Cell::count(union),
            "union_441",
        ));
        lines.push((
            "trajectory and utility differ".to_owned(),
            Cell::count(one.both),
        ));
    }
    if let Some(one) = analysis.difference("taint_only_v1", "intent_ledger_v2", COMPLETION, ACTIVE)
    {
        let delta = Cell::rate(Some(one.by_scenario.value)).within(one.by_scenario.interval);
        lines.push(line(
            "completion of intent_ledger_v2 over taint_only_v1",
            delta,
            "v1_gap_ci",
        ));
    }
    let pairs = analysis
        .evidence
        .pairs(ACTIVE, "tool_boundary", "intent_ledger_v2")
        .kept;
    if !pairs.is_empty() {
        let is_better = |first, second| COMPLETION.of(first) > COMPLETION.of(second);
        let better = pairs
            .iter()
            .filter(|(first, second, _)| is_better(first, second));
        let quantity = "workflows that tool_boundary completes better";
        lines.push(line(
            quantity,
            Cell::count(better.count() as u64),
            "v2_blocked",
        ));
    }
    lines
}

/// Finding 3.
fn propagation(analysis: &Analysis<'_>) -> Vec<Line> {
    let gaps = Gaps::of(&analysis.evidence, PUBLISHED);
    let share = |scope| gaps.as_ref().and_then(|gaps| gaps.share(scope));
    let difference = gaps.as_ref().and_then(|gaps| gaps.means(SECURITY));
    let diverging = |scope| {
        let one = divergence(analysis, "tool_boundary", scope)?;
        one.trajectory.as_ref().map(|estimate| estimate.value)
    };
    vec![
        line(
            "share of memory_recovery in the spread gap, percent",
            percent(share(MEMORY), 2),
            "all_share_mem",
        ),
        line(
            "share of active_tainted, percent",
            percent(share(ACTIVE), 2),
            "all_share_act",
        ),
        line(
            "share of security, percent",
            percent(share(SECURITY), 2),
            "all_share_sec",
        ),
        line(
            "difference of security means",
            Cell::rate(difference.map(|(a, b)| a - b)),
            "sec_diff",
        ),
        line(
            "tool_boundary and intent_ledger_v2: all pairs that differ, percent",
            percent(diverging(Scope::All), 2),
            "all_div",
        ),
        line(
            "security pairs that differ, percent",
            percent(diverging(SECURITY), 2),
            "sec_div",
        ),
        line(
            "memory_recovery pairs that differ, percent",
            percent(diverging(MEMORY), 2),
            "mem_div",
        ),
        line(
            "paired intervals enumerated here",
            Cell::count(analysis.differences.len() as u64),
            "intervals",
        ),
    ]
}

/// The divergence of a policy from `intent_ledger_v2`.
fn divergence<'a, 'r>(
    analysis: &'a Analysis<'r>,
    first: &str,
    scope: Scope,
) -> Option<&'a Divergence<'r>> {
    analysis.divergences.iter().find(|one| {
        one.policies.first == first
            && one.policies.second == "intent_ledger_v2"
            && one.scope == scope
    })
}
