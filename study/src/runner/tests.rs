use std::sync::Arc;

use worlds::spec::{Scenario, Stage};

use super::*;
use crate::fixture::{PARTNER, registry, scenario};
use crate::plan::{PlannedScenario, file};
use crate::row::write_csv;

const TEXT: &str = r#"Study(
    schema: 1, name: "tests", study_seed: 7,
    worlds: ["a.ron", "b.ron", "c.ron"],
    policies: ["none", "block", "taint"],
    seeds: [1, 2, 3, 4],
    denominator_policies: ["none", "block", "taint"],
)"#;

fn planned(identity: &str, stage: Stage, configuration: &str) -> PlannedScenario {
    let scenario = Scenario {
        identity: identity.into(),
        ..scenario(stage)
    };
    PlannedScenario {
        scenario: Arc::new(scenario),
        configuration: configuration.into(),
        group: "all".into(),
    }
}

fn plan_with(last: &str) -> Plan {
    let injected = format!("read_note note:partner\nsend_invite event-1 {PARTNER}\nfinal");
    let scenarios = vec![
        planned("a", Stage::ActiveTainted, &injected),
        planned(
            "b",
            Stage::Security,
            "flip\nflip\nshare_document doc:plan x@external.local",
        ),
        planned("c", Stage::Clean, last),
    ];
    Plan::new(
        file::load(TEXT, "tests.ron").unwrap(),
        scenarios,
        &registry(),
    )
    .unwrap()
}

fn plan() -> Plan {
    plan_with("write_summary notes\nfinal")
}

fn workers(workers: usize) -> NonZeroUsize {
    NonZeroUsize::new(workers).unwrap()
}

fn nothing(plan: &Plan) -> Segments {
    vec![None; plan.groups().len()]
}

/// Runs what is missing and collects the segments as they finish.
fn run_rest(plan: &Plan, on: usize, done: Segments) -> (Outcomes, Vec<Segment>) {
    let mut seen = Vec::new();
    let stop = AtomicBool::new(false);
    let ended = run(plan, workers(on), done, &stop, |_, segment| {
        seen.push(segment.clone());
        ControlFlow::Continue(())
    });
    match ended.unwrap() {
        Ended::Whole(outcomes) => (outcomes, seen),
        Ended::Stopped(progress) => panic!("stopped at {progress:?}"),
    }
}

fn run_on(plan: &Plan, on: usize) -> Outcomes {
    run_rest(plan, on, nothing(plan)).0
}

fn rows_on(plan: &Plan, on: usize) -> Vec<Row> {
    rows(&run_on(plan, on))
}

fn rows(outcomes: &Outcomes) -> Vec<Row> {
    outcomes.rows().into_iter().cloned().collect()
}

fn csv(rows: &[Row]) -> String {
    let mut bytes = Vec::new();
    write_csv(&mut bytes, rows).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn rows_are_the_same_bytes_for_any_number_of_workers() {
    let plan = plan();
    let one = csv(&rows_on(&plan, 1));
    for workers in [2, 7, 100] {
        assert!(csv(&rows_on(&plan, workers)) == one, "{workers} workers");
    }
}

#[test]
fn rows_are_in_plan_order_under_their_ids() {
    let plan = plan();
    let rows = rows_on(&plan, 2);
    assert_eq!(rows.len(), plan.rollouts());
    let expected = plan
        .groups()
        .flat_map(|group| (0..3).map(move |policy| (group, policy)))
        .map(|(group, policy)| plan.fields(group, policy).id());
    let expected: Vec<_> = expected.collect();
    assert_eq!(plan.ids(), expected);
    assert!(rows.iter().map(|row| row.identity.rollout_id).eq(expected));
}

/// A forked rollout is the rollout from scratch, and its row says the same but for the fork.
#[test]
fn a_row_of_a_group_is_the_row_of_the_rollout_alone() {
    let plan = plan();
    let mut rows = rows_on(&plan, 1).into_iter();
    for group in plan.groups() {
        for policy in 0..3 {
            let setting = Setting {
                key: plan.key(group),
                instrumentation: plan.study.instrumentation,
                user: plan.study.user,
            };
            let scenario = &plan.scenarios[group.scenario].scenario;
            let mut rollout = Rollout::new(scenario, plugins(&plan, group, policy), &setting);
            rollout.run();
            let origin = plan.cast.policies[policy].origin;
            let alone = row(
                &mut rollout,
                &plan.fields(group, policy),
                origin,
                None,
                None,
            );
            let mut forked = rows.next().unwrap();
            // `none` has no hooks, and those of the others fire at calls.
            let is_asked = policy > 0 && alone.metrics.parsing.valid_actions != Some(0);
            assert_eq!(forked.identity.fork_event.is_some(), is_asked);
            forked.identity.fork_event = None;
            forked.identity.fork_hash = None;
            assert_eq!(forked, alone);
        }
    }
}

#[test]
fn groups_share_what_happens_before_their_policies_part() {
    let work = run_on(&plan(), 2).work;
    assert!(work.executed < work.from_scratch, "{work:?}");
}

#[test]
fn policies_of_a_group_start_from_the_same_state_and_differ_in_what_they_stop() {
    let rows = rows_on(&plan(), 1);
    let differing = |scenario: &str| {
        let of_scenario = rows
            .iter()
            .filter(|row| *row.identity.scenario_id == *scenario);
        let [none, block, _] = of_scenario.take(3).collect::<Vec<_>>()[..] else {
            panic!("three policies");
        };
        crate::paired::compare(none, block).unwrap().differing.len()
    };
    assert!(differing("a") > 0);
    assert_eq!(differing("c"), 0);
    let blocked = |row: &Row| row.metrics.utility.opportunities_blocked.unwrap();
    assert_eq!(rows[..3].iter().map(blocked).collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn seeds_differ_where_the_model_takes_chances() {
    let rows = rows_on(&plan(), 1);
    let digests = |scenario: &str| {
        let of_none = rows.iter().filter(|row| {
            &*row.identity.policy == "none" && *row.identity.scenario_id == *scenario
        });
        let digests: std::collections::BTreeSet<_> =
            of_none.map(|row| row.identity.trace_digest).collect();
        digests.len()
    };
    assert_eq!(digests("a"), 1);
    assert!(digests("b") > 1);
}

#[test]
fn progress_counts_up_to_the_end() {
    let plan = plan();
    for on in [1, 3] {
        let mut seen = Vec::new();
        let stop = AtomicBool::new(false);
        let count = |progress, _: &Segment| {
            seen.push(progress);
            ControlFlow::Continue(())
        };
        run(&plan, workers(on), nothing(&plan), &stop, count).unwrap();
        assert_eq!(seen.len(), 12);
        let expected = (1..=12).map(|group| Progress {
            done: 3 * group,
            total: 36,
        });
        assert!(seen.into_iter().eq(expected));
    }
}

/// A failed backend is a row without numbers, and the rest of the study goes on.
#[test]
fn an_errored_rollout_is_a_row_without_numbers() {
    let plan = plan_with("write_summary notes\nfail");
    let rows = rows_on(&plan, 2);
    assert_eq!(rows.len(), 36);
    let errored: Vec<_> = rows
        .iter()
        .filter(|row| row.identity.has_errored())
        .collect();
    assert_eq!(errored.len(), 12);
    for row in errored {
        assert_eq!(&*row.identity.scenario_id, "c");
        assert_eq!(row.identity.failure.as_deref(), Some("the line broke"));
        assert_eq!(*row.metrics, crate::metrics::Metrics::default());
    }
}

#[test]
fn the_text_of_the_rows_is_that_of_each_row() {
    let outcomes = run_on(&plan(), 2);
    assert_eq!(
        String::from_utf8(outcomes.csv().concat()).unwrap(),
        csv(&rows(&outcomes))
    );
    assert_eq!(outcomes.ran, 36);
}

/// What was finished before is not run again, and the result is the same.
#[test]
fn a_study_that_goes_on_gives_the_same_rows() {
    let plan = plan();
    let whole = run_on(&plan, 1);
    let (_, segments) = run_rest(&plan, 1, nothing(&plan));
    for kept in [0, 1, 5, 12] {
        let mut done = nothing(&plan);
        for index in (0..12).rev().take(kept) {
            done[index] = Some(segments[index].clone());
        }
        let (outcomes, seen) = run_rest(&plan, 2, done);
        assert_eq!(outcomes.csv().concat(), whole.csv().concat());
        assert_eq!(outcomes.rows(), whole.rows());
        assert_eq!(outcomes.ran, 36 - 3 * kept);
        assert_eq!(seen.len(), 12 - kept);
        assert_eq!(outcomes.work.executed == 0, kept == 12);
    }
}

#[test]
fn a_study_that_is_told_to_stop_begins_no_further_group() {
    let plan = plan();
    let stopped = |ended: io::Result<Ended>| match ended.unwrap() {
        Ended::Stopped(progress) => progress.done,
        Ended::Whole(_) => panic!("it was told to stop"),
    };
    let before = AtomicBool::new(true);
    let go_on = |_, _: &Segment| ControlFlow::Continue(());
    let ended = run(&plan, workers(2), nothing(&plan), &before, go_on);
    assert_eq!(stopped(ended), 0);
    let never = AtomicBool::new(false);
    let once = |_, _: &Segment| ControlFlow::Break(());
    let ended = run(&plan, workers(2), nothing(&plan), &never, once);
    assert_eq!(stopped(ended), 3);
    let meanwhile = AtomicBool::new(false);
    let mut told = 0;
    let ended = run(&plan, workers(1), nothing(&plan), &meanwhile, |_, _| {
        meanwhile.store(true, Ordering::Relaxed);
        told += 1;
        ControlFlow::Continue(())
    });
    // The groups that were already finished are not thrown away.
    assert!((1..=12).contains(&told));
    if told < 12 {
        assert_eq!(stopped(ended), 3 * told);
    }
}

/// What was finished before is known by its rows only.
#[test]
fn every_rollout_that_is_run_has_a_time_and_every_thread_is_counted() {
    let plan = plan();
    let (whole, segments) = run_rest(&plan, 3, nothing(&plan));
    assert_eq!(whole.latencies.len(), 36);
    assert_eq!(whole.threads, 3);
    let told = whole.latencies.summary().unwrap();
    assert!(1 < told.p50 && told.p50 <= told.p90, "{told:?}");
    assert!(told.p90 <= told.p99 && told.p99 <= told.max, "{told:?}");
    let mut done = nothing(&plan);
    for segment in segments.iter().skip(2) {
        let id = segment.rows[0].identity.rollout_id;
        let group = plan
            .groups()
            .find(|group| plan.fields(*group, 0).id() == id);
        done[group.unwrap().index] = Some(segment.clone());
    }
    let (rest, _) = run_rest(&plan, 100, done);
    assert_eq!((rest.latencies.len(), rest.threads), (6, 2));
    let all = rows(&rest);
    let all = all.chunks(3).map(|rows| Some(Segment::new(rows.to_vec())));
    let (none, _) = run_rest(&plan, 2, all.collect());
    assert_eq!((none.latencies.summary(), none.threads), (None, 0));
}

/// Also where a shard has no group at all.
#[test]
fn the_shards_of_a_study_run_every_group_once() {
    let mut plan = plan();
    let whole = rows_on(&plan, 1);
    for of in [1, 5, 12, 20] {
        let mut groups: Vec<(usize, Vec<Row>)> = Vec::new();
        for index in 1..=of {
            plan.shard = Some(crate::shard::Shard::new(index, of).unwrap());
            let shard = run_on(&plan, 2);
            let shard_rows = rows(&shard);
            assert_eq!(shard_rows.len(), plan.own_rollouts());
            assert_eq!(shard.ran, shard_rows.len());
            let rows = shard_rows.chunks(3).map(<[Row]>::to_vec);
            groups.extend(plan.own_groups().map(|group| group.index).zip(rows));
        }
        groups.sort_by_key(|(index, _)| *index);
        let rows: Vec<Row> = groups.into_iter().flat_map(|(_, rows)| rows).collect();
        assert_eq!(rows, whole);
    }
}
