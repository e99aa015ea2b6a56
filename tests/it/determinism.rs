//! The same inputs give the same bytes, whatever came before, whatever else runs beside, and
//! whatever the process is told about locale and time zone.

use std::path::Path;
use std::process::{Command, Stdio};

use containment_bench::Bench;
use containment_bench::bench::setting;
use engine::Rollout;

use crate::support::{POLICIES, columns, numbers, run, scene, shipped, start};

#[test]
fn a_reused_world_equals_a_fresh_one() {
    let bench = Bench::built_in();
    let worlds = shipped();
    let mut reused: Option<Rollout> = None;
    // There and back, so that every world follows different ones.
    for (path, scene) in worlds.iter().chain(worlds.iter().rev()) {
        for policy in POLICIES {
            let setting = setting(scene, 3);
            let mut fresh = start(scene, policy, &setting);
            fresh.run();
            let plugins = bench
                .plugins(scene, &policy.into(), &"scripted".into())
                .expect("built-in plugins");
            let rollout = match &mut reused {
                Some(rollout) => {
                    rollout.restart(&scene.scenario, plugins, &setting);
                    rollout
                }
                None => reused.insert(Rollout::new(&scene.scenario, plugins, &setting)),
            };
            rollout.run();
            assert_eq!(
                rollout.snapshot().to_bytes(),
                fresh.snapshot().to_bytes(),
                "{path} under {policy}"
            );
        }
    }
}

#[test]
fn rollouts_side_by_side_equal_rollouts_alone() {
    let alone = digests();
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(digests)).collect();
    for thread in threads {
        assert_eq!(thread.join().expect("no panic"), alone);
    }
}

fn digests() -> Vec<u128> {
    let digest = |(_, scene): (String, containment_bench::Scene)| {
        let mut rollout = start(&scene, "intent_ledger_v2", &setting(&scene, 2));
        rollout.run();
        rollout.trace_digest()
    };
    shipped().into_iter().map(digest).collect()
}

/// A script may use keyed chance: seeds differ where they should, and one seed repeats.
#[test]
fn seeds_differ_where_a_script_takes_a_chance_and_only_there() {
    let plain = scene("worlds/demos/case2_partner_meeting.ron");
    let script = plain.script.replacen(
        "say: Call(\"send_invite\"",
        "name: \"invites\", when: [Chance(\"0.5\")], say: Call(\"send_invite\"",
        1,
    );
    assert_ne!(
        &*plain.script, script,
        "the script of case 2 still calls send_invite"
    );
    let chancy = containment_bench::Scene {
        script: script.into(),
        ..plain.clone()
    };
    let commits = |scene: &containment_bench::Scene, seed: u64| {
        let mut rollout = start(scene, "none", &setting(scene, seed));
        rollout.run();
        let count = rollout.trace().prefix().commits().count();
        (
            count,
            columns(&numbers(&rollout, plugins::setting::Instrumentation::PAPER)),
        )
    };
    let counts: Vec<usize> = (1..=20).map(|seed| commits(&chancy, seed).0).collect();
    assert!(counts.contains(&1) && counts.contains(&2), "{counts:?}");
    for seed in 1..=20 {
        assert_eq!(commits(&chancy, seed), commits(&chancy, seed));
        assert_eq!(
            columns(&run(&plain, "none", seed)),
            columns(&run(&plain, "none", 1)),
            "no chance, no difference"
        );
    }
}

/// The rows of the shipped study, by a process with this environment and so many workers.
fn rows(folder: &Path, workers: &str, environment: [(&str, &str); 2]) -> Vec<u8> {
    let out = folder.join(workers);
    let status = Command::new(env!("CARGO_BIN_EXE_containment"))
        .args([
            "study",
            "demos",
            "--progress",
            "none",
            "--threads",
            workers,
            "--out",
        ])
        .arg(&out)
        .envs(environment)
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    assert!(status.success(), "{workers} workers: {status}");
    std::fs::read(out.join("rows.csv")).expect("the rows of the study")
}

#[test]
fn rows_do_not_depend_on_process_workers_locale_or_time_zone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = rows(folder.path(), "1", [("LC_ALL", "C"), ("TZ", "UTC")]);
    for (workers, locale, zone) in [
        ("2", "de_DE.UTF-8", "Asia/Kathmandu"),
        ("7", "tr_TR.UTF-8", "America/St_Johns"),
    ] {
        let other = rows(folder.path(), workers, [("LC_ALL", locale), ("TZ", zone)]);
        assert!(other == first, "{workers} workers, {locale}, {zone}");
    }
}
