//! Recordings: a rollout with what was recorded is the rollout that was recorded, or has failed.

use std::sync::mpsc::{Receiver, channel};

use containment_bench::bench::setting;
use containment_bench::{Bench, Choice, Scene};
use engine::export::jsonl::{self, Header};
use engine::{Plugins, Rollout};
use models::recorded::{NAME, PARAMETER, Recorder, header};
use plugins::trace::Outcome;

use crate::support::{POLICIES, scene, shipped};

fn plugins(scene: &Scene, policy: &str, model: &Choice) -> Plugins {
    Bench::built_in()
        .plugins(scene, &policy.into(), model)
        .expect("built-in plugins")
}

/// A rollout that is written down, and its lines.
fn recorded(scene: &Scene, policy: &str, model: &str, seed: u64) -> (Rollout, Receiver<String>) {
    let (sender, lines) = channel();
    let plugins = plugins(scene, policy, &model.into());
    let sink = Box::new(move |line| sender.send(line).expect("the test listens"));
    let model = Box::new(Recorder::new(plugins.model, sink));
    let plugins = Plugins { model, ..plugins };
    let mut rollout = Rollout::new(&scene.scenario, plugins, &setting(scene, seed));
    rollout.run();
    (rollout, lines)
}

/// The model that plays what was written down.
fn player(scene: &Scene, lines: &Receiver<String>) -> Choice {
    let mut text = header("any", &scene.scenario.identity);
    for line in lines.try_iter() {
        text = format!("{text}\n{line}");
    }
    Choice {
        name: NAME.to_owned(),
        parameters: [(PARAMETER.to_owned(), text)].into(),
    }
}

fn played(scene: &Scene, policy: &str, model: &Choice, seed: u64) -> Rollout {
    let plugins = plugins(scene, policy, model);
    let mut rollout = Rollout::new(&scene.scenario, plugins, &setting(scene, seed));
    rollout.run();
    rollout
}

/// Everything in the trace of a rollout, under a header that names nothing.
fn trace(scene: &Scene, rollout: &Rollout) -> String {
    let header = Header {
        scenario: &scene.scenario,
        policy: "any",
        model: "any",
        setting: &setting(scene, 1),
        recipe: None,
    };
    jsonl::write(header, rollout.trace(), rollout.labels(), true)
}

/// Of scripts and of a profile, which draws the forms in which it writes.
#[test]
fn a_recorded_rollout_is_played_to_the_same_trace() {
    for (path, scene) in shipped() {
        for policy in POLICIES {
            for (model, seed) in [("scripted", 1), ("qwen2_5_7b_instruct", 2)] {
                let what = format!("{path} under {policy} with {model}");
                let alone = played(&scene, policy, &model.into(), seed);
                let (written, lines) = recorded(&scene, policy, model, seed);
                let again = played(&scene, policy, &player(&scene, &lines), seed);
                let expected = trace(&scene, &alone);
                assert!(trace(&scene, &written) == expected, "recording {what}");
                assert!(trace(&scene, &again) == expected, "playing {what}");
            }
        }
    }
}

/// `none` shows no guidance, `prompt_only` shows it in every prompt.
#[test]
fn under_a_policy_that_changes_the_context_a_recording_fails() {
    for (path, scene) in shipped() {
        let (_, lines) = recorded(&scene, "none", "scripted", 1);
        let rollout = played(&scene, "prompt_only", &player(&scene, &lines), 1);
        let Some(Outcome::Errored(why)) = rollout.outcome() else {
            panic!("{path}: {:?}", rollout.outcome());
        };
        assert!(why.contains("episode 0, turn 0: the guidance is"), "{why}");
        assert!(why.contains("record again under this policy"), "{why}");
    }
}

/// A denial is part of the context. Before it, the recording still fits.
#[test]
fn a_recording_fails_where_the_policy_decides_otherwise_and_not_before() {
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    let (written, lines) = recorded(&scene, "taint_only_v1", "scripted", 1);
    let model = player(&scene, &lines);
    let other = played(&scene, "intent_ledger_v2", &model, 1);
    let Some(Outcome::Errored(why)) = other.outcome() else {
        panic!("{:?}", other.outcome());
    };
    assert!(
        why.contains("agent `assistant`, episode 0, turn 2"),
        "{why}"
    );
    let same = played(&scene, "taint_only_v1", &model, 1);
    assert_eq!(trace(&scene, &same), trace(&scene, &written));
}

/// A file that was cut between two lines is still a recording.
#[test]
fn what_is_left_of_a_cut_recording_is_played_and_then_it_fails() {
    let scene = scene("worlds/topologies/supervisor_worker.ron");
    let (_, lines) = recorded(&scene, "none", "scripted", 1);
    let mut model = player(&scene, &lines);
    let text = model.parameters.get_mut(PARAMETER).expect("a recording");
    let cut = text.rfind('\n').expect("several lines");
    text.truncate(cut);
    let rollout = played(&scene, "none", &model, 1);
    let Some(Outcome::Errored(why)) = rollout.outcome() else {
        panic!("{:?}", rollout.outcome());
    };
    assert!(why.contains("no completion is left"), "{why}");
    assert!(!rollout.trace().events.is_empty());
}

/// The turns are counted by the model: a snapshot of any tick goes on with the right one.
#[test]
fn a_recording_goes_on_from_any_tick() {
    let scene = scene("worlds/topologies/several_episodes.ron");
    let (written, lines) = recorded(&scene, "rollback_v2", "scripted", 1);
    let model = player(&scene, &lines);
    let start = || {
        let plugins = plugins(&scene, "rollback_v2", &model);
        Rollout::new(&scene.scenario, plugins, &setting(&scene, 1))
    };
    let (mut rollout, mut other) = (start(), start());
    loop {
        let snapshot = rollout.snapshot();
        other
            .restore(&snapshot)
            .expect("a snapshot of the same rollout");
        other.run();
        assert_eq!(other.trace_digest(), written.trace_digest());
        if rollout.step().is_none() {
            break;
        }
    }
}

/// A latency beyond all time ends at a limit of the world.
#[test]
fn a_latency_beyond_all_time_does_no_harm() {
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    let (_, lines) = recorded(&scene, "none", "scripted", 1);
    let mut model = player(&scene, &lines);
    let text = model.parameters.get_mut(PARAMETER).expect("a recording");
    *text = text.replace(
        "\"latency_ticks\":1,",
        "\"latency_ticks\":18446744073709551615,",
    );
    let rollout = played(&scene, "none", &model, 1);
    assert!(rollout.outcome().is_some());
}
