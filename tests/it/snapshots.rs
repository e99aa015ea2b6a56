//! Snapshots: continue to the same bytes, in place, from bytes, in a fresh process; every column
//! matters; forks equal runs from scratch and do less.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use containment_bench::Bench;
use containment_bench::bench::setting;
use engine::fork::{self, End, ForkPoint};
use engine::{Plugins, RestoreError, Rollout, Setting, Snapshot};
use oracle::generate::WorldSeed;
use plugins::draws::Draws;
use plugins::model::{ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::SavedState;
use worlds::spec::Scenario;

use crate::support::{POLICIES, scene, shipped, start};

/// A rollout at every tick: the snapshot there, and how the rollout ends.
struct Ticks {
    snapshots: Vec<Snapshot>,
    digest: u128,
    end: Vec<u8>,
}

fn ticks(mut rollout: Rollout) -> Ticks {
    let mut snapshots = vec![rollout.snapshot()];
    while let Some(step) = rollout.step() {
        if rollout
            .next_event()
            .is_none_or(|next| next.tick > step.tick)
        {
            snapshots.push(rollout.snapshot());
        }
    }
    Ticks {
        digest: rollout.trace_digest(),
        end: rollout.snapshot().to_bytes(),
        snapshots,
    }
}

/// A random rollout that is about to begin.
fn random_rollout(seed: WorldSeed) -> (Arc<Scenario>, Setting, Rollout) {
    let scenario = Arc::new(seed.scenario());
    let oracles = seed.setting();
    let setting = Setting {
        key: oracles.key,
        instrumentation: oracles.instrumentation,
        user: oracles.user,
    };
    let rollout = Rollout::new(&scenario, random_plugins(seed), &setting);
    (scenario, setting, rollout)
}

fn random_plugins(seed: WorldSeed) -> Plugins {
    Plugins {
        policy: Box::new(seed.policy()),
        policy_hash: 1,
        model: Box::new(seed.model()),
        model_hash: 2,
        parser: Bench::built_in().parser().expect("the built-in parser"),
    }
}

/// Restores every snapshot from its bytes into `other` and expects the same end.
fn continues_from(ticks: &Ticks, other: &mut Rollout, what: &str) {
    for snapshot in &ticks.snapshots {
        let copy =
            Snapshot::from_bytes(&snapshot.to_bytes()).expect("a snapshot reads its own bytes");
        assert_eq!(
            &copy, snapshot,
            "{what}: a snapshot changes on its way through bytes"
        );
        other
            .restore(&copy)
            .expect("a snapshot of the same rollout");
        assert_eq!(
            other.snapshot().to_bytes(),
            snapshot.to_bytes(),
            "{what}: restoring is not exact"
        );
        other.run();
        assert_eq!(
            other.trace_digest(),
            ticks.digest,
            "{what}: tick {} continues otherwise",
            snapshot.tick()
        );
        assert_eq!(
            other.snapshot().to_bytes(),
            ticks.end,
            "{what}: tick {} ends otherwise",
            snapshot.tick()
        );
    }
}

/// Policies of a group go back by cutting the trace.
#[test]
fn an_event_only_adds_to_the_trace() {
    for seed in (0..200).map(WorldSeed) {
        let (.., mut rollout) = random_rollout(seed);
        let (mut trace, mut labels) = (rollout.trace().clone(), rollout.labels().labels().to_vec());
        while let Some(step) = rollout.step() {
            let after = rollout.trace();
            let what = format!("{seed:?}, {:?}", step.event);
            assert!(after.nodes.starts_with(&trace.nodes), "{what}: nodes");
            assert!(after.edges.starts_with(&trace.edges), "{what}: edges");
            assert!(after.calls.starts_with(&trace.calls), "{what}: calls");
            assert!(after.events.starts_with(&trace.events), "{what}: events");
            assert!(
                rollout.labels().labels().starts_with(&labels),
                "{what}: labels"
            );
            trace.clone_from(after);
            labels = rollout.labels().labels().to_vec();
        }
    }
}

#[test]
fn every_tick_of_every_shipped_world_continues_to_the_same_bytes() {
    for (path, scene) in shipped() {
        for policy in POLICIES {
            let setting = setting(&scene, 1);
            let ticks = ticks(start(&scene, policy, &setting));
            continues_from(
                &ticks,
                &mut start(&scene, policy, &setting),
                &format!("{path} under {policy}"),
            );
        }
    }
}

#[test]
fn every_tick_of_random_worlds_continues_to_the_same_bytes() {
    for seed in (0..150).map(WorldSeed) {
        let (.., rollout) = random_rollout(seed);
        let ticks = ticks(rollout);
        let (.., mut other) = random_rollout(seed);
        continues_from(&ticks, &mut other, &format!("{seed:?}"));
    }
}

/// The child of the test below: reads `world policy` and snapshots in hex from standard input, and
/// prints the digest that each continues to. Does nothing when the tests are run as usual.
#[test]
fn child_that_restores() {
    #[expect(
        clippy::disallowed_methods,
        reason = "tells the child of a test from an ordinary run"
    )]
    let is_child = std::env::var_os("CONTAINMENT_RESTORING_CHILD").is_some();
    if !is_child {
        return;
    }
    let input = std::io::read_to_string(std::io::stdin()).expect("the parent writes text");
    let mut out = String::new();
    let mut rollout = None;
    for line in input.lines() {
        if let Some(names) = line.strip_prefix("start ") {
            let (world, policy) = names.split_once(' ').expect("a world and a policy");
            rollout = Some(match world.strip_prefix("random:") {
                Some(seed) => random_rollout(WorldSeed(seed.parse().expect("a seed"))).2,
                None => {
                    let scene = scene(world);
                    start(&scene, policy, &setting(&scene, 1))
                }
            });
            continue;
        }
        let rollout = rollout.as_mut().expect("a start before the snapshots");
        rollout
            .restore(&Snapshot::from_bytes(&unhex(line)).expect("a snapshot"))
            .expect("its rollout");
        rollout.run();
        out.push_str(&format!("digest {:032x}\n", rollout.trace_digest()));
    }
    std::io::stdout()
        .lock()
        .write_all(out.as_bytes())
        .expect("the parent reads");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex"))
        .collect()
}

#[test]
fn a_fresh_process_continues_to_the_same_bytes() {
    let mut input = String::new();
    let mut expected = Vec::new();
    let mut add = |name: &str, policy: &str, ticks: &Ticks| {
        input.push_str(&format!("start {name} {policy}\n"));
        for snapshot in &ticks.snapshots {
            input.push_str(&hex(&snapshot.to_bytes()));
            input.push('\n');
            expected.push(format!("digest {:032x}", ticks.digest));
        }
    };
    for (path, scene) in shipped() {
        for policy in POLICIES {
            add(
                &path,
                policy,
                &ticks(start(&scene, policy, &setting(&scene, 1))),
            );
        }
    }
    for seed in 1_000..1_040 {
        add(
            &format!("random:{seed}"),
            "random",
            &ticks(random_rollout(WorldSeed(seed)).2),
        );
    }
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "snapshots::child_that_restores", "--nocapture"])
        .env("CONTAINMENT_RESTORING_CHILD", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test runs again");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the child ends");
    writer.join().expect("the writer").expect("the child reads");
    let text = String::from_utf8(output.stdout).expect("text");
    let found: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("digest "))
        .collect();
    assert_eq!(found, expected);
}

/// A snapshot with one column as it was at the start goes another way somewhere, for every column.
#[test]
fn every_column_of_a_snapshot_matters() {
    let mut unseen: BTreeSet<&str> = Snapshot::column_names().iter().copied().collect();
    let mut consider = |ticks: &Ticks, other: &mut Rollout| {
        let first = &ticks.snapshots[0];
        unseen.retain(|column| {
            !ticks.snapshots.iter().any(|snapshot| {
                let forged = snapshot
                    .with_column_of(column, first)
                    .expect("a known column");
                if forged == *snapshot {
                    return false;
                }
                goes_another_way(other, &forged, ticks)
            })
        });
    };
    for seed in (0..40).map(WorldSeed) {
        let (.., rollout) = random_rollout(seed);
        let ticks = ticks(rollout);
        let (.., mut other) = random_rollout(seed);
        consider(&ticks, &mut other);
    }
    // No shipped model keeps state, so its column is shown to matter by a model of the test below.
    assert_eq!(unseen.into_iter().collect::<Vec<_>>(), ["model_state"]);
}

/// A model whose state counts its turns: it calls nothing twice and then ends.
#[derive(Default)]
struct Counting(u8);

impl SavedState for Counting {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }

    fn restore(&mut self, bytes: &[u8], _version: u32) -> Result<(), plugins::state::RestoreError> {
        self.0 = bytes.first().copied().unwrap_or_default();
        Ok(())
    }
}

impl ModelBackend for Counting {
    fn complete(
        &mut self,
        _turn: Turn<'_>,
        _draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        self.0 += 1;
        reply.text.push_str(if self.0 < 3 {
            "no action"
        } else {
            r#"{"action":"final","text":"done"}"#
        });
        Ok(())
    }
}

#[test]
fn the_state_of_a_model_is_part_of_a_snapshot() {
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    let setting = setting(&scene, 1);
    let counting = || {
        let plugins = Bench::built_in()
            .plugins(&scene, &"none".into(), &"scripted".into())
            .expect("built-in plugins");
        Rollout::new(
            &scene.scenario,
            Plugins {
                model: Box::new(Counting::default()),
                ..plugins
            },
            &setting,
        )
    };
    let ticks = ticks(counting());
    continues_from(&ticks, &mut counting(), "a model with state");
    let first = &ticks.snapshots[0];
    let mut other = counting();
    let matters = ticks.snapshots.iter().any(|snapshot| {
        goes_another_way(
            &mut other,
            &snapshot
                .with_column_of("model_state", first)
                .expect("a known column"),
            &ticks,
        )
    });
    assert!(matters, "without its state the model says something else");
}

/// Whether a forged snapshot is refused, panics on what no longer fits, or ends otherwise.
fn goes_another_way(other: &mut Rollout, forged: &Snapshot, ticks: &Ticks) -> bool {
    let run = std::panic::AssertUnwindSafe(|| {
        if other.restore(forged).is_err() {
            return true;
        }
        other.run();
        other.trace_digest() != ticks.digest || other.snapshot().to_bytes() != ticks.end
    });
    std::panic::catch_unwind(run).unwrap_or(true)
}

#[test]
fn damaged_and_foreign_snapshots_are_refused() {
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    let mut rollout = start(&scene, "intent_ledger_v2", &setting(&scene, 1));
    rollout.step();
    let bytes = rollout.snapshot().to_bytes();
    assert!(matches!(
        Snapshot::from_bytes(b"nothing"),
        Err(RestoreError::NotASnapshot(_))
    ));
    for cut in [0, 8, 12, 40, bytes.len() - 1] {
        assert!(Snapshot::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for position in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[position] ^= 1;
        assert!(
            Snapshot::from_bytes(&changed).is_err(),
            "changed at {position}"
        );
    }
    let snapshot = Snapshot::from_bytes(&bytes).expect("whole");
    let mut other_seed = start(&scene, "intent_ledger_v2", &setting(&scene, 2));
    assert_eq!(
        other_seed.restore(&snapshot),
        Err(RestoreError::Mismatch { field: "setting" })
    );
    let mut other_policy = start(&scene, "none", &setting(&scene, 1));
    assert_eq!(
        other_policy.restore(&snapshot),
        Err(RestoreError::Mismatch { field: "policy" })
    );
}

#[test]
fn forks_equal_runs_from_scratch_and_execute_fewer_events() {
    let bench = Bench::built_in();
    for (path, scene) in shipped() {
        let setting = setting(&scene, 1);
        let make = |index: usize| {
            bench
                .plugins(&scene, &POLICIES[index].into(), &"scripted".into())
                .expect("built-in plugins")
        };
        let mut group = Rollout::new(&scene.scenario, make(0), &setting);
        let mut points: Vec<Option<Option<ForkPoint>>> = vec![None; POLICIES.len()];
        let mut prestates = BTreeSet::new();
        let work = fork::run_group(
            &mut group,
            &scene.scenario,
            &setting,
            POLICIES.len(),
            make,
            |index, forked, point| {
                let mut scratch = start(&scene, POLICIES[index], &setting);
                scratch.run();
                let what = format!("{path} under {}", POLICIES[index]);
                assert_eq!(forked.trace_digest(), scratch.trace_digest(), "{what}");
                assert_eq!(
                    forked.snapshot().to_bytes(),
                    scratch.snapshot().to_bytes(),
                    "{what}"
                );
                prestates.insert(scratch.prestate_hash());
                assert!(
                    points[index].replace(point).is_none(),
                    "{what} was run twice"
                );
            },
        );
        assert!(
            points.iter().all(Option::is_some),
            "{path}: every policy is run"
        );
        assert_eq!(prestates.len(), 1, "{path}: one pre-state for all policies");
        assert!(work.executed < work.from_scratch, "{path}: {work:?}");
    }
}

#[test]
fn random_policies_fork_to_the_same_bytes() {
    for seed in (0..100).map(WorldSeed) {
        let (scenario, setting, mut scratch) = random_rollout(seed);
        scratch.run();
        let (.., mut group) = random_rollout(seed);
        fork::run_group(
            &mut group,
            &scenario,
            &setting,
            1,
            |_| random_plugins(seed),
            |_, forked, _| {
                assert_eq!(forked.trace_digest(), scratch.trace_digest(), "{seed:?}");
            },
        );
    }
}

/// Two random policies of a group are the same and go on together to the end; two others go with
/// them for as long as they rule the same.
#[test]
fn policies_that_agree_go_on_together_to_the_bytes_of_each_from_scratch() {
    let mut left_late = 0;
    for seed in (0..100).map(WorldSeed) {
        let policies = [seed, WorldSeed(seed.0 + 1), WorldSeed(seed.0 + 2), seed];
        let make = |position: usize| Plugins {
            policy: Box::new(policies[position].policy()),
            policy_hash: position as u128,
            ..random_plugins(seed)
        };
        let (scenario, setting, mut group) = random_rollout(seed);
        let mut scratch = Rollout::new(&scenario, make(0), &setting);
        let mut ends = Vec::new();
        let finished = |position: usize, forked: &mut Rollout, point: Option<ForkPoint>| {
            scratch.restart(&scenario, make(position), &setting);
            scratch.run();
            let what = format!("{seed:?}, policy {position}");
            assert_eq!(forked.trace_digest(), scratch.trace_digest(), "{what}");
            assert_eq!(
                forked.snapshot().to_bytes(),
                scratch.snapshot().to_bytes(),
                "{what}"
            );
            ends.push((position, point));
        };
        fork::run_group(&mut group, &scenario, &setting, 4, make, finished);
        ends.sort_by_key(|(position, _)| *position);
        let points = ends.iter().map(|(_, point)| *point).collect::<Vec<_>>();
        assert_eq!(points.len(), 4, "{seed:?}: every policy is run once");
        assert_eq!(points[0], points[3], "{seed:?}: the same policy");

        let mut together = false;
        let finished = |ends: &[End], _: &mut Rollout| {
            let positions: Vec<usize> = ends.iter().map(|end| end.position).collect();
            together |= positions.starts_with(&[0]) && positions.ends_with(&[3]);
            for end in ends {
                assert_eq!(end.fork, points[end.position], "{seed:?}");
            }
            left_late += usize::from(positions.len() > 2);
        };
        fork::run_sharing(&mut group, &scenario, &setting, 4, make, finished);
        assert!(together, "{seed:?}: the same policy agrees with itself");
    }
    assert!(left_late > 0, "some policies that differ rule the same");
}

/// Where a policy leaves the shared prefix has to do with no other policy of its group.
#[test]
fn fork_points_are_those_of_a_policy_alone() {
    for seed in (0..100).map(WorldSeed) {
        let make = |position: usize| Plugins {
            policy: Box::new(WorldSeed(seed.0 + position as u64).policy()),
            ..random_plugins(seed)
        };
        let (scenario, setting, mut group) = random_rollout(seed);
        let mut points = vec![None; 3];
        let finished = |position: usize, _: &mut Rollout, point| points[position] = Some(point);
        fork::run_group(&mut group, &scenario, &setting, 3, make, finished);
        for (position, point) in points.into_iter().enumerate() {
            let mut alone = None;
            let make = |_| make(position);
            let finished = |_, _: &mut Rollout, point| alone = Some(point);
            fork::run_group(&mut group, &scenario, &setting, 1, make, finished);
            assert_eq!(alone, point, "{seed:?}, policy {position}");
        }
    }
}

/// The state there is that of a run from scratch, in whatever company the policy got there.
#[test]
fn a_fork_point_is_hashed_as_a_snapshot_of_a_run_from_scratch() {
    let bench = Bench::built_in();
    let mut events = BTreeSet::new();
    for (path, scene) in shipped() {
        let setting = setting(&scene, 1);
        let make = |index: usize| {
            bench
                .plugins(&scene, &POLICIES[index].into(), &"scripted".into())
                .expect("built-in plugins")
        };
        let mut group = Rollout::new(&scene.scenario, make(0), &setting);
        let finished = |index: usize, _: &mut Rollout, point: Option<ForkPoint>| {
            let mut scratch = start(&scene, POLICIES[index], &setting);
            let Some(point) = point else { return };
            while scratch.executed_events() < point.event {
                scratch.step().expect("the group came this far");
            }
            let hash = scratch.snapshot().policy_free_hash();
            assert_eq!(hash, point.hash, "{path}, policy {index}, {point:?}");
            events.insert(point.event);
        };
        let count = POLICIES.len();
        fork::run_group(&mut group, &scene.scenario, &setting, count, make, finished);
    }
    assert!(events.len() > 2, "policies leave at different events");
}

/// From any tick under one policy, the same policy continues exactly, and another one continues
/// from the identical trace.
#[test]
fn any_tick_continues_under_any_policy() {
    let bench = Bench::built_in();
    for (path, scene) in shipped() {
        let setting = setting(&scene, 1);
        let plugins = |policy: &str| {
            bench
                .plugins(&scene, &policy.into(), &"scripted".into())
                .expect("built-in plugins")
        };
        let ticks = ticks(start(&scene, "taint_only_v1", &setting));
        let mut other = start(&scene, "none", &setting);
        for snapshot in &ticks.snapshots {
            fork::continue_under(
                &mut other,
                snapshot,
                &scene.scenario,
                plugins("taint_only_v1"),
                &setting,
            )
            .expect("its rollout");
            other.run();
            assert_eq!(
                other.trace_digest(),
                ticks.digest,
                "{path}: the same policy at tick {}",
                snapshot.tick()
            );
            for policy in ["none", "intent_ledger_v2", "rollback_v2"] {
                fork::continue_under(
                    &mut other,
                    snapshot,
                    &scene.scenario,
                    plugins(policy),
                    &setting,
                )
                .expect("its rollout");
                let past = other.trace().clone();
                other.run();
                let whole = other.trace();
                assert!(
                    whole.events.starts_with(&past.events)
                        && whole.nodes.starts_with(&past.nodes)
                        && whole.edges.starts_with(&past.edges),
                    "{path}: {policy} keeps the past"
                );
            }
        }
    }
}
