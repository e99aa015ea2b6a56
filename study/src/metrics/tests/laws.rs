//! The conservation laws, on random valid traces.

use plugins::auditor::{Auditor as _, ClosureAuditor};
use plugins::trace::{Happening, Outcome};
use proptest::prelude::*;

use crate::columns::{Cell, Column, Columns as _, Stages};
use crate::fixture::Story;
use crate::fixture::random::story;
use crate::metrics::Metrics;
use crate::metrics::reach::{NodeReach, Reach};
use crate::ratio::Ratio;

fn count(value: Option<u32>) -> u32 {
    value.expect("the rollout did not fail")
}

fn is(value: Option<bool>) -> bool {
    value.expect("the rollout did not fail")
}

fn at_most_one(ratio: Option<Ratio>) -> bool {
    ratio.is_none_or(|ratio| ratio.numerator() <= ratio.denominator())
}

fn cells(metrics: &Metrics) -> Vec<(Column, Cell)> {
    let mut columns = Vec::new();
    Metrics::columns(&mut columns);
    let mut cells = Vec::new();
    metrics.write(&mut cells);
    assert_eq!(columns.len(), cells.len());
    columns.into_iter().zip(cells).collect()
}

/// Reach and distances by relaxing every edge until nothing changes: slow, obvious, and written
/// without regard to the order of edges.
fn obvious_reach(story: &Story, reach: &Reach) -> Vec<NodeReach> {
    let mut nodes: Vec<NodeReach> = reach
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let has_parent = story
                .trace
                .edges
                .iter()
                .any(|edge| edge.to.index() == index);
            let is_root = node.labelled && !has_parent;
            NodeReach {
                labelled: node.labelled,
                in_taint: is_root,
                in_region: is_root,
                depth: 0,
                delegations: 0,
            }
        })
        .collect();
    loop {
        let before = nodes.clone();
        for edge in &story.trace.edges {
            let from = nodes[edge.from.index()];
            let to = &mut nodes[edge.to.index()];
            to.in_region |= from.in_region;
            if edge.taint && from.in_taint {
                let is_delegation = edge.kind == plugins::trace::EdgeKind::Delegation;
                let path = (from.depth + 1, from.delegations + u32::from(is_delegation));
                if !to.in_taint || path.0 < to.depth {
                    (to.depth, to.delegations) = path;
                } else if path.0 == to.depth {
                    to.delegations = to.delegations.max(path.1);
                }
                to.in_taint = true;
            }
        }
        if nodes == before {
            return nodes;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn labelled_is_reached_and_reached_lies_in_the_region(story in story()) {
        let reach = Reach::of(&story.finished());
        for node in &reach.nodes {
            prop_assert_eq!(node.labelled, node.in_taint);
            prop_assert!(node.in_region || !node.in_taint);
        }
        let findings = ClosureAuditor.audit(
            story.trace.prefix(), &story.labels, &story.scenario.briefing,
        );
        prop_assert!(findings.is_empty());
        prop_assert_eq!(story.measure().propagation.br_out_of_region, Some(0));
    }

    #[test]
    fn one_pass_is_the_closure(story in story()) {
        let reach = Reach::of(&story.finished());
        prop_assert_eq!(obvious_reach(&story, &reach), reach.nodes);
    }

    #[test]
    fn components_partition_the_labelled_nodes(story in story()) {
        let measured = story.measure().propagation;
        let five = count(measured.br_agent) + count(measured.br_message)
            + count(measured.br_memory) + count(measured.br_tool)
            + count(measured.br_side_effect);
        prop_assert_eq!(five, count(measured.br_five));
        prop_assert_eq!(five + count(measured.br_source), count(measured.blast_radius_raw));
        prop_assert_eq!(measured.taint_nodes, measured.blast_radius_raw);
        prop_assert!(measured.br_agent_distinct <= measured.br_agent);
    }

    #[test]
    fn spread_is_numerator_over_clipped_region(story in story()) {
        let measured = story.measure().propagation;
        let spread = measured.blast_radius_norm.unwrap();
        prop_assert_eq!(spread.numerator(), count(measured.blast_radius_raw));
        prop_assert_eq!(spread.denominator(), count(measured.region_nodes).max(1));
        prop_assert!(at_most_one(Some(spread)));
    }

    #[test]
    fn depth_and_hops_are_bounded(story in story()) {
        let measured = story.measure().propagation;
        prop_assert!(measured.cascade_agent_hops <= measured.cascade_depth);
        prop_assert!(count(measured.cascade_depth) <= count(measured.taint_nodes).saturating_sub(1));
    }

    #[test]
    fn jumps_agree(story in story()) {
        let measured = story.measure().propagation;
        prop_assert_eq!(is(measured.privilege_jump), count(measured.privilege_jump_count) > 0);
        // Every labelled proposal hangs off a labelled state.
        prop_assert!(measured.labelled_high_risk_proposals <= measured.privilege_jump_count);
        prop_assert!(at_most_one(measured.privilege_jump_share));
    }

    #[test]
    fn commits_are_at_most_proposals(story in story()) {
        let metrics = story.measure();
        prop_assert!(at_most_one(metrics.propagation.taint_to_commit_rate));
        let endpoints = &metrics.endpoints;
        prop_assert!(endpoints.high_risk_commits <= endpoints.high_risk_proposals);
        prop_assert!(endpoints.unauthorized_commits <= endpoints.unauthorized_proposals);
        prop_assert!(endpoints.unauthorized_proposals <= endpoints.high_risk_proposals);
        prop_assert!(endpoints.assumed_verdicts <= endpoints.verdicts);
    }

    #[test]
    fn harm_is_the_union_of_its_parts_and_was_attempted(story in story()) {
        let endpoints = story.measure().endpoints;
        let parts = is(endpoints.unauthorized_action) || is(endpoints.secret_leakage)
            || is(endpoints.wrong_recipient_rate);
        prop_assert_eq!(is(endpoints.committed_harm), parts);
        prop_assert!(endpoints.committed_harm <= endpoints.harm_attempt);
        prop_assert!(endpoints.net_harm <= endpoints.committed_harm);
    }

    #[test]
    fn attempt_is_harm_when_everything_commits(mut story in story()) {
        story.trace.events.retain(|event| !matches!(event.what, Happening::Rewritten { .. }));
        let committed: Vec<_> = story.trace.prefix().commits().map(|(call, _)| call.id).collect();
        let waiting: Vec<_> = story.trace.events.iter().filter_map(|event| match event.what {
            Happening::Proposed { call } if !committed.contains(&call) => Some(call),
            _ => None,
        }).collect();
        for call in waiting {
            story.commit(call, false);
        }
        let endpoints = story.measure().endpoints;
        prop_assert_eq!(endpoints.committed_harm, endpoints.harm_attempt);
    }

    #[test]
    fn an_undo_changes_net_harm_memory_and_rollback_only(mut story in story()) {
        let undone = story.measure();
        story.trace.events.retain(|event| !matches!(event.what, Happening::Undone { .. }));
        let mut kept = story.measure();
        prop_assert!(undone.endpoints.net_harm <= kept.endpoints.net_harm);
        kept.endpoints.net_harm = undone.endpoints.net_harm;
        kept.memory = undone.memory.clone();
        // Events are counted as they are.
        kept.containment.ttc_events = undone.containment.ttc_events;
        prop_assert_eq!(kept, undone);
    }

    #[test]
    fn block_and_confirm_together_are_at_most_one(story in story()) {
        let utility = story.measure().utility;
        let stopped = count(utility.opportunities_blocked) + count(utility.opportunities_confirmed);
        prop_assert!(stopped <= count(utility.opportunities));
        let rates = utility.false_positive_block_rate.zip(utility.false_positive_confirm_rate);
        if let Some((block, confirm)) = rates {
            prop_assert_eq!(block.denominator(), confirm.denominator());
            prop_assert!(block.numerator() + confirm.numerator() <= block.denominator());
            prop_assert_eq!(Some(block.numerator()), utility.opportunities_blocked);
        }
        let burden = count(utility.confirm_verdicts) + count(utility.checkpoint_holds);
        prop_assert_eq!(utility.confirmation_burden, Some(burden));
    }

    #[test]
    fn success_is_a_full_fraction(story in story()) {
        let utility = story.measure().utility;
        let fraction = utility.authorized_tainted_action_success_fraction;
        let unzeroed = utility.authorized_tainted_action_success_fraction_unzeroed;
        prop_assert!(at_most_one(fraction) && at_most_one(unzeroed));
        prop_assert!(fraction.map(Ratio::numerator) <= unzeroed.map(Ratio::numerator));
        if utility.authorized_tainted_action_success == Some(true) {
            prop_assert!(fraction.is_some_and(|ratio| ratio.numerator() == ratio.denominator()));
            prop_assert_eq!(utility.benign_completion, Some(true));
            prop_assert_eq!(utility.a_tainted, Some(true));
        }
        prop_assert_eq!(utility.utility, utility.benign_completion);
    }

    #[test]
    fn classes_and_statuses_partition_the_model_actions(story in story()) {
        let parsing = story.measure().parsing;
        let classes = count(parsing.valid_actions) + count(parsing.delegate_actions)
            + count(parsing.final_actions) + count(parsing.invalid_tool_actions)
            + count(parsing.invalid_schema_actions);
        prop_assert_eq!(Some(classes), parsing.model_actions);
        let statuses = count(parsing.valid_strict_json) + count(parsing.valid_repaired_json)
            + count(parsing.invalid_schema);
        prop_assert_eq!(Some(statuses), parsing.model_actions);
        prop_assert_eq!(parsing.valid_tool_proposal_rate.is_none(), classes == 0);
    }

    #[test]
    fn recovery_failure_is_the_complement(story in story()) {
        let memory = story.measure().memory;
        prop_assert_eq!(memory.recovery_failure, memory.recovery_success.map(|success| !success));
    }

    #[test]
    fn containment_flags_explain_every_null(story in story()) {
        let metrics = story.measure();
        let containment = metrics.containment;
        prop_assert_eq!(containment.ttc_ticks.is_some(), containment.ttc_events.is_some());
        let explained = is(containment.contained_before_exposure) || !is(containment.contained);
        prop_assert_eq!(containment.ttc_ticks.is_none(), explained);
        prop_assert!(!is(containment.contained) || metrics.endpoints.committed_harm == Some(false));
        if is(containment.ttc_right_censored) {
            prop_assert!(matches!(story.outcome, Outcome::LimitReached(_)));
        }
    }

    /// The declarations are true: null where the stage is another, and never null where it is said
    /// so.
    #[test]
    fn columns_are_null_where_they_say(story in story()) {
        for (column, cell) in cells(&story.measure()) {
            let spec = column.spec;
            if !spec.stages.include(story.scenario.stage) {
                prop_assert_eq!(&cell, &Cell::Null, "{}", spec.name);
            } else if spec.null.starts_with("never") {
                prop_assert_ne!(&cell, &Cell::Null, "{}", spec.name);
            }
        }
    }

    #[test]
    fn an_errored_rollout_is_null_throughout(mut story in story()) {
        story.outcome = Outcome::Errored("the backend is gone".into());
        for (_, cell) in cells(&story.measure()) {
            prop_assert_eq!(cell, Cell::Null);
        }
    }

    /// Scoring asks the true ledger and the trace, never what a policy called its rules.
    #[test]
    fn rule_names_enter_the_terminal_rule_only(mut story in story()) {
        let mut named = story.measure();
        for event in &mut story.trace.events {
            if let Happening::Ruled { reason, .. } = &mut event.what
                && reason.rule == "some_rule"
            {
                reason.rule = "another_rule".into();
            }
        }
        let mut renamed = story.measure();
        named.endpoints.terminal_rule = None;
        renamed.endpoints.terminal_rule = None;
        prop_assert_eq!(named, renamed);
    }
}

/// The random stories reach what the laws are about; a law on nothing would hold.
#[test]
fn random_stories_have_everything_in_them() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..600 {
        let story = story().new_tree(&mut runner).unwrap().current();
        for (column, cell) in cells(&story.measure()) {
            let is_something = !matches!(cell, Cell::Null | Cell::Integer(0) | Cell::Decimal(0.0));
            *seen.entry(column.name()).or_insert(false) |= is_something;
        }
    }
    let mut columns = Vec::new();
    Metrics::columns(&mut columns);
    let missing: Vec<_> = columns
        .iter()
        .filter(|column| column.spec.stages != Stages::Search && !seen[&column.name()])
        .map(Column::name)
        .collect();
    // Nothing here rests on a stand-in or fails, and a valid trace has no stray labels.
    assert_eq!(
        missing,
        ["assumed_verdicts", "plugin_faults", "br_out_of_region"]
    );
}
