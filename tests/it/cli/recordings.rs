//! `--record` and `--recording`.

use super::Place;

const CASE_2: &str = "case2_partner_meeting";

fn recorded() -> Place {
    let place = Place::new();
    let words = ["run", CASE_2, "--policy", "taint_only_v1"];
    let plain = place.run(&words).expect(0);
    let more = ["--record", "said.jsonl", "--trace", "then.jsonl"];
    let done = place.run(&[&words[..], &more[..]].concat()).expect(0);
    assert_eq!(done.out, plain.out, "recording changes nothing");
    place
}

#[test]
fn what_run_records_is_played_by_run_step_trace_and_pair() {
    let place = recorded();
    let played = |words: &[&str]| {
        let recording = ["--model", "recorded", "--recording", "said.jsonl"];
        place.run(&[words, &recording[..]].concat())
    };
    let run = ["run", CASE_2, "--policy", "taint_only_v1"];
    let traced = [
        &run[..],
        &["--trace", "now.jsonl", "--record", "again.jsonl"],
    ]
    .concat();
    let row = played(&traced).expect(0).json();
    assert_eq!(
        (&row["model"], &row["failure"]),
        (&"recorded".into(), &().into())
    );
    let diff = place.run(&["diff", "then.jsonl", "now.jsonl"]).out;
    assert!(diff.contains("events are the same"), "{diff}");
    let [first, again] = ["said.jsonl", "again.jsonl"].map(|name| place.read(name));
    let rest = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(rest(&first), rest(&again));
    let trace = played(&["trace", CASE_2, "--policy", "taint_only_v1"]).expect(0);
    assert_eq!(trace.out, place.read("now.jsonl"));
    let back_and_forth = ["--script", "t 6;b 4;r;w"];
    let step = played(
        &[
            &["step", CASE_2, "--policy", "taint_only_v1"][..],
            &back_and_forth,
        ]
        .concat(),
    );
    step.expect(0);
    let same = played(&["pair", CASE_2, "--policies", "taint_only_v1,taint_only_v1"]).expect(0);
    assert!(same.out.contains("first divergence  none"), "{}", same.out);
}

#[test]
fn a_recording_that_does_not_fit_fails_and_says_how_to_see_it_again() {
    let place = recorded();
    let words = [
        "run",
        CASE_2,
        "--policy",
        "prompt_only",
        "--recording",
        "said.jsonl",
    ];
    place.run(&words).fails(
        5,
        &[
            "agent `assistant`, episode 0, turn 0",
            "record again under this",
            "--model recorded --recording said.jsonl",
        ],
    );
}

#[test]
fn a_wrong_recording_is_refused_before_anything_runs() {
    let place = recorded();
    let good = place.read("said.jsonl");
    let refused = |content: &[u8], code: i32, says: &[&str]| {
        place.write("wrong.jsonl", content);
        let words = ["run", CASE_2, "--policy", "none", "--error-format", "plain"];
        let wrong = ["--recording", "wrong.jsonl", "--trace", "none.jsonl"];
        let done = place
            .run(&[&words[..], &wrong[..]].concat())
            .fails(code, says);
        assert_eq!(done.out, "");
        assert!(!place.path("none.jsonl").exists());
    };
    let with = |from: &str, to: &str| good.replacen(from, to, 1).into_bytes();
    refused(b"", 3, &["wrong.jsonl:1:1: error[F004]: the line is empty"]);
    refused(
        &good.as_bytes()[..300],
        3,
        &["wrong.jsonl:2:", "the line breaks off", "--record"],
    );
    refused(b"{\"recording\":1,\xff", 3, &["F003", "not UTF-8"]);
    refused(
        &with("\"recording\":1", "\"recording\":9"),
        7,
        &["version 9", "reads 1"],
    );
    refused(
        &with("\"turn\":1", "\"turn\":0"),
        3,
        &["wrong.jsonl:3:1", "given twice"],
    );
    refused(
        &with("\"turn\":1", "\"turn\":1e400"),
        3,
        &["wrong.jsonl:3:"],
    );
    refused(
        &with("case2_partner_meeting", "trip"),
        3,
        &["of the world `trip`", "record again"],
    );
}

#[test]
fn a_recording_and_its_model_go_together() {
    let place = recorded();
    let run = |more: &[&str]| {
        let words = ["run", CASE_2, "--policy", "none"];
        place.run(&[&words[..], more].concat())
    };
    run(&["--model", "recorded"]).fails(2, &["needs a recording", "--recording FILE"]);
    run(&["--model", "scripted", "--recording", "said.jsonl"])
        .fails(2, &["is for the model `recorded`, not for `scripted`"]);
    run(&["--recording", "nowhere.jsonl"]).fails(3, &["does not exist"]);
    run(&["--record", "world.ron"]).fails(5, &["that of an input"]);
    let words = [
        "run",
        CASE_2,
        "--policy",
        "taint_only_v1",
        "--recording",
        "said.jsonl",
    ];
    place
        .run(&[&words[..], &["--trace", "now.jsonl"]].concat())
        .expect(0);
    place
        .run(&["replay", "now.jsonl"])
        .fails(2, &["--recording"]);
}
