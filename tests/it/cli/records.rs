//! `study`, `replay` and `diff`: what is written down, and whether it comes out the same again.

use study::folder::Folder;
use study::manifest::MANIFEST_SCHEMA;

use serde_json::Value;

use super::Place;

pub(super) const CASE_2: &str = "case2_partner_meeting";

/// A place with the result of the shipped study in `results/demos`.
pub(super) fn place_with_result() -> Place {
    let place = Place::new();
    place
        .run(&["study", "demos", "--progress", "none"])
        .expect(0);
    place
}

#[test]
fn the_shipped_study_runs_from_anywhere() {
    let place = Place::new();
    let done = place.run(&["study", "demos"]).expect(0);
    for shown in [
        "case2_partner_meeting",
        "rollback_v2",
        "8/12",
        "3/4",
        "200 rollouts",
    ] {
        assert!(done.out.contains(shown), "{shown}: {}", done.out);
    }
    assert!(done.err.contains("200 of 200 rollouts"), "{}", done.err);
    assert!(
        !done.err.contains('\u{1b}') && !done.err.contains('\r'),
        "{}",
        done.err
    );
    for file in ["manifest.json", "rows.csv", "scenarios.jsonl"] {
        assert!(!place.read(&format!("results/demos/{file}")).is_empty());
    }
    assert_eq!(place.read("results/demos/rows.csv").lines().count(), 201);
}

#[test]
fn the_summary_of_a_study_is_one_json_object() {
    let place = Place::new();
    let words = [
        "study",
        "demos",
        "--format",
        "json",
        "--out",
        "here",
        "--progress",
    ];
    let done = place
        .run(&[&words[..], &["none", "--threads", "1"]].concat())
        .expect(0);
    assert_eq!(done.err, "");
    assert_eq!(done.out.lines().count(), 1);
    let json = done.json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["rollouts"], 200);
    assert_eq!(json["rows_by_stage"]["security"], 75);
    assert!(json["seconds"].is_object());
    for rate in ["rollouts_per_second_per_core", "events_per_second_per_core"] {
        assert!(json[rate].as_f64().is_some_and(|rate| rate > 0.0), "{rate}");
    }
    let stages = json["rows_by_stage"].as_object().expect("stages");
    let rows = stages.values().filter_map(Value::as_u64);
    assert_eq!(rows.sum::<u64>(), 200);
    // One thread ran it, so it is one core.
    let seconds = json["seconds"]["total"].as_f64().expect("seconds");
    let speed = json["rollouts_per_second_per_core"].as_f64();
    let told = speed.expect("a speed") * seconds;
    assert!((told - 200.0).abs() < 1e-6, "{told}");
    let words = [
        "study",
        "demos",
        "--format",
        "json",
        "--out",
        "again",
        "--progress",
    ];
    let lines = place
        .run(&[&words[..], &["lines", "--threads", "3"]].concat())
        .expect(0);
    assert!(
        (1..=10).contains(&lines.err.lines().count()),
        "{}",
        lines.err
    );
    for digest in ["manifest_digest", "rows_digest"] {
        assert_eq!(json[digest].as_str().map(str::len), Some(32));
        assert_eq!(lines.json()[digest], json[digest]);
    }
    let other = place
        .run(&[
            "study", "demos", "--seed", "2", "--format", "json", "--out", "there",
        ])
        .json();
    assert_ne!(other["manifest_digest"], json["manifest_digest"]);
}

/// And no time is in the result, which is the same bytes whenever it is made.
#[test]
fn a_study_says_how_long_rollouts_took() {
    let place = Place::new();
    let words = [
        "study",
        "demos",
        "--progress",
        "none",
        "--threads",
        "2",
        "--out",
    ];
    let json = place
        .run(&[&words[..], &["a", "--format", "json"]].concat())
        .expect(0)
        .json();
    let latency = json["latency_ns"].as_object().expect("an object");
    let names: Vec<&str> = latency.keys().map(|name| &**name).collect();
    assert_eq!(names, ["p50", "p90", "p99", "max"]);
    let times: Vec<u64> = latency.values().filter_map(Value::as_u64).collect();
    assert!(times[0] > 1 && times.is_sorted(), "{times:?}");
    let text = place.run(&[&words[..], &["b"]].concat()).expect(0).out;
    let line = text.lines().find(|line| line.starts_with("rollout  p50 "));
    let line = line.expect("a line with times");
    assert!([", p90 ", ", p99 ", ", max "].map(|what| line.contains(what)) == [true; 3]);
    for file in ["manifest.json", "rows.csv", "scenarios.jsonl"] {
        let [a, b] = ["a", "b"].map(|folder| place.read(&format!("{folder}/{file}")));
        assert!(a == b, "{file}");
    }
    // Nothing is timed where nothing is run.
    let again = place.run(&[&words[..], &["b", "--resume", "--format", "json"]].concat());
    assert!(again.expect(0).json()["latency_ns"].is_null());
}

#[test]
fn a_result_that_is_replaced_is_told() {
    let place = Place::new();
    let study = |seed| {
        let words = [
            "study",
            "demos",
            "--progress",
            "none",
            "--format",
            "json",
            "--seed",
        ];
        place.run(&[&words[..], &[seed]].concat()).expect(0)
    };
    let first = study("1");
    assert_eq!(first.err, "");
    let replaced = "the earlier result in results/demos";
    let again = study("1");
    let same = format!("{replaced}, of the same manifest, was replaced\n");
    assert_eq!(again.err, same);
    let other = study("2");
    let digest = first.json()["manifest_digest"].clone();
    let digest = digest.as_str().expect("a digest");
    let told = format!("{replaced}, of manifest {digest}, was replaced\n");
    assert_eq!(other.err, told);
}

#[test]
fn a_result_that_cannot_be_written_is_incomplete() {
    let place = Place::new();
    place.write("file", "");
    let words = [
        "study",
        "demos",
        "--out",
        "file/results",
        "--progress",
        "none",
    ];
    place.run(&words).fails(5, &["file/results", "--out"]);
    let words = [
        "run",
        CASE_2,
        "--policy",
        "none",
        "--trace",
        "no/such/folder/x.jsonl",
    ];
    place
        .run(&words)
        .fails(5, &["x.jsonl", "a folder that exists"]);
}

#[test]
fn rows_replay_to_the_same_cells() {
    let place = place_with_result();
    let all = place.run(&["replay", "results/demos"]).expect(0);
    assert_eq!(all.out, "200 rows replayed: 200 the same, 0 different\n");
    let rows = place.read("results/demos/rows.csv");
    let id = rows
        .lines()
        .nth(3)
        .and_then(|line| line.split(',').nth(1))
        .expect("an id");
    let one = place
        .run(&["replay", "results/demos/rows.csv", "--id", &id[..12]])
        .expect(0);
    assert_eq!(one.out, "1 rows replayed: 1 the same, 0 different\n");
    let words = ["replay", "results/demos", "--id"];
    place
        .run(&[&words[..], &["x"]].concat())
        .fails(2, &["no row has an id"]);
    place
        .run(&[&words[..], &[""]].concat())
        .fails(2, &["200 rows have an id"]);
    let trace = place
        .run(&["trace", "results/demos", "--id", id])
        .expect(0)
        .out;
    assert!(
        trace.contains("\"scenario\":\"case1_violation_commits\""),
        "{trace}"
    );
    place.run(&["trace", "results/demos"]).fails(2, &["--id"]);
}

/// Rewrites the result so that its digests fit the changed rows.
pub(super) fn forge_rows(place: &Place, change: impl FnOnce(String) -> String) {
    let text = change(place.read("results/demos/rows.csv"));
    let manifest = study::manifest::Manifest::from_json(&place.read("results/demos/manifest.json"));
    let folder = Folder::open(&place.path("results/demos")).expect("a folder");
    let manifest = manifest.expect("a manifest");
    study::results::write(&folder, &manifest, &[], &[text.as_bytes()]).expect("written");
}

#[test]
fn a_changed_row_is_noticed_by_replay() {
    let place = place_with_result();
    let digest = |text: &str| {
        let header = text.lines().next().expect("a header");
        let column = header
            .split(',')
            .position(|name| name == "trace_digest")
            .expect("a column");
        text.lines()
            .nth(1)
            .and_then(|line| line.split(',').nth(column))
            .expect("a digest")
            .to_owned()
    };
    forge_rows(&place, |text| {
        let first = digest(&text);
        text.replacen(&first, &"0".repeat(32), 1)
    });
    let done = place
        .run(&["replay", "results/demos"])
        .fails(6, &["reproduce: containment run"]);
    assert!(done.out.contains("trace_digest"), "{}", done.out);
    assert!(
        done.out.contains("199 the same, 1 different"),
        "{}",
        done.out
    );
    let command = done
        .err
        .lines()
        .find_map(|line| line.strip_prefix("reproduce: containment "));
    let words: Vec<&str> = command.expect("a command").split(' ').collect();
    place.run(&words).expect(0);
}

#[test]
fn a_result_changed_by_hand_is_refused() {
    let place = place_with_result();
    let rows = place.read("results/demos/rows.csv");
    place.write("results/demos/rows.csv", rows.replacen("none", "nome", 1));
    place
        .run(&["replay", "results/demos"])
        .fails(4, &["digest", "run the study again"]);
    place.write("results/demos/rows.csv", rows);
    let manifest = place.read("results/demos/manifest.json");
    let schema = format!("\"schema\": {MANIFEST_SCHEMA},");
    place.write(
        "results/demos/manifest.json",
        manifest.replacen(&schema, "\"schema\": 999,", 1),
    );
    place
        .run(&["replay", "results/demos"])
        .fails(7, &["schema 999"]);
    std::fs::remove_file(place.path("results/demos/manifest.json")).expect("the manifest");
    place
        .run(&["diff", "results/demos", "results/demos"])
        .fails(3, &["manifest.json"]);
}

#[test]
fn traces_replay_to_the_same_events() {
    let place = Place::new();
    for (policy, more) in [
        ("none", &[][..]),
        (
            "taint_only_v1",
            &["--reveal", "--seed", "3", "--user", "oracle"][..],
        ),
        (
            "intent_ledger_v2",
            &["--set", "jump_rule=off", "--instrumentation", "full"][..],
        ),
    ] {
        let words = ["run", CASE_2, "--policy", policy, "--trace", "a.jsonl"];
        place.run(&[&words[..], more].concat()).expect(0);
        let done = place.run(&["replay", "a.jsonl"]).expect(0);
        assert!(done.out.contains("all the same"), "{}", done.out);
    }
}

#[test]
fn a_changed_event_is_named() {
    let place = Place::new();
    place
        .run(&["run", CASE_2, "--policy", "none", "--trace", "a.jsonl"])
        .expect(0);
    let trace = place.read("a.jsonl");
    place.write("b.jsonl", trace.replacen("\"tick\":3", "\"tick\":4", 1));
    let replayed = place
        .run(&["replay", "b.jsonl"])
        .fails(6, &["reproduce: containment run"]);
    assert!(
        replayed
            .out
            .starts_with("first difference at event 5, tick 4"),
        "{}",
        replayed.out
    );
    let compared = place.run(&["diff", "a.jsonl", "b.jsonl"]).expect(6);
    assert!(
        compared
            .out
            .starts_with("first difference at event 5, tick 3"),
        "{}",
        compared.out
    );
    let json = place
        .run(&["diff", "a.jsonl", "b.jsonl", "--format", "json"])
        .expect(6)
        .json();
    assert_eq!(json["first_difference"]["event"], 5);
    assert_eq!(json["same"], false);
    let cut: String = trace
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    place.write("c.jsonl", cut);
    let shorter = place.run(&["diff", "a.jsonl", "c.jsonl"]).expect(6).out;
    assert!(
        shorter.contains("the trace ends after 3 events"),
        "{shorter}"
    );
    let same = place.run(&["diff", "a.jsonl", "a.jsonl"]).expect(0).out;
    assert!(same.contains("events are the same"), "{same}");
}

#[test]
fn a_trace_of_other_inputs_is_refused() {
    let place = Place::new();
    place
        .run(&["run", CASE_2, "--policy", "none", "--trace", "a.jsonl"])
        .expect(0);
    let trace = place.read("a.jsonl");
    let hash = trace
        .split("\"scenario_hash\":\"")
        .nth(1)
        .and_then(|rest| rest.get(..32));
    place.write(
        "b.jsonl",
        trace.replace(hash.expect("a hash"), &"1".repeat(32)),
    );
    place
        .run(&["replay", "b.jsonl"])
        .fails(3, &["has changed", "--world"]);
    place.write("c.jsonl", trace.replace(CASE_2, "elsewhere"));
    place
        .run(&["replay", "c.jsonl"])
        .fails(3, &["`elsewhere` is not found"]);
    place.write(
        "d.jsonl",
        trace.replacen("\"policy\":\"none\"", "\"policy\":\"tool_boundary\"", 1),
    );
    place.run(&["replay", "d.jsonl"]).fails(3, &["policy_hash"]);
    place.write("e.jsonl", trace.replacen("\"schema\":1", "\"schema\":2", 1));
    place.run(&["replay", "e.jsonl"]).fails(7, &["schema 2"]);
    place.write("f.jsonl", "{\"what\":1}\n");
    place
        .run(&["replay", "f.jsonl"])
        .fails(3, &["F004", "no header"]);
}

/// Nothing that decides what happens is guessed.
#[test]
fn a_damaged_header_is_refused_and_the_field_named() {
    let place = Place::new();
    let words = ["run", CASE_2, "--policy", "intent_ledger_v2"];
    let more = ["--set", "jump_rule=off", "--trace", "a.jsonl"];
    place.run(&[&words[..], &more].concat()).expect(0);
    let trace = place.read("a.jsonl");
    for (written, damaged, named) in [
        ("\"user\":\"absent\",", "", "`user`"),
        ("\"user\":\"absent\"", "\"user\":1", "`user`"),
        ("\"user\":\"absent\"", "\"user\":\"nobody\"", "`user`"),
        (
            "\"policy_parameters\":{\"jump_rule\":\"off\"},",
            "",
            "`policy_parameters`",
        ),
        (
            "\"jump_rule\":\"off\"",
            "\"jump_rule\":0",
            "`policy_parameters.jump_rule`",
        ),
    ] {
        assert!(trace.contains(written), "{written}");
        place.write("b.jsonl", trace.replacen(written, damaged, 1));
        let words = ["replay", "b.jsonl", "--error-format", "plain"];
        let done = place.run(&words).fails(3, &["F004", "b.jsonl", named]);
        assert_eq!(done.out, "", "{named}");
    }
}

#[test]
fn a_world_of_ones_own_is_found_beside_its_trace() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let world = place
        .read("case2_partner_meeting.ron")
        .replace("Quarterly", "Yearly");
    place.write("mine.ron", world);
    place.write(
        "mine.script.ron",
        place.read("case2_partner_meeting.script.ron"),
    );
    place
        .run(&["run", "mine.ron", "--policy", "none", "--trace", "a.jsonl"])
        .expect(0);
    place.run(&["replay", "a.jsonl"]).expect(0);
    std::fs::create_dir(place.path("moved")).expect("a folder");
    for file in ["mine.ron", "mine.script.ron"] {
        std::fs::rename(place.path(file), place.path(&format!("moved/{file}"))).expect("moved");
    }
    place
        .run(&["replay", "a.jsonl"])
        .fails(3, &["`mine` is not found"]);
    place
        .run(&["replay", "a.jsonl", "--world", "moved/mine.ron"])
        .expect(0);
}

#[test]
fn a_script_changed_since_is_named() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let world = "case2_partner_meeting.ron";
    let study = format!(
        "Study(schema: 1, name: \"mine\", study_seed: 1, worlds: [\"{world}\"], \
         policies: [\"none\"], seeds: [1], denominator_policies: [\"none\"])"
    );
    place.write("mine.ron", study);
    place
        .run(&["study", "mine.ron", "--progress", "none"])
        .expect(0);
    place
        .run(&["run", world, "--policy", "none", "--trace", "a.jsonl"])
        .expect(0);
    let script = "case2_partner_meeting.script.ron";
    place.write(script, place.read(script).replacen("evt-1", "evt-2", 1));
    let says = format!("{script}`, has changed since");
    let done = place.run(&["replay", "results/mine"]).expect(6);
    for says in ["the script beside the world, `", &says] {
        assert!(done.out.contains(says), "{}", done.out);
    }
    assert!(!done.out.contains("another build"), "{}", done.out);
    place
        .run(&["replay", "a.jsonl"])
        .fails(3, &[&says, "profile_hash"]);
}

/// Its identity is not the name of its file.
#[test]
fn a_world_of_a_family_is_found_again() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let world = place.read("case2_partner_meeting.ron");
    let world = world.replacen(
        "schema: 1,",
        "schema: 1, family: \"meetings\", variant: \"one\",",
        1,
    );
    place.write("mine.ron", world);
    let script = place.read("case2_partner_meeting.script.ron");
    place.write("mine.script.ron", script);
    place
        .run(&["run", "mine.ron", "--policy", "none", "--trace", "a.jsonl"])
        .expect(0);
    place.run(&["replay", "a.jsonl"]).expect(0);
    place
        .run(&["replay", "a.jsonl", "--world", "mine.ron"])
        .expect(0);
}

#[test]
fn a_trace_is_never_written_over_an_input_and_nothing_half_written_stays() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let world = place.read("case2_partner_meeting.ron");
    let mine = "case2_partner_meeting.ron";
    place
        .run(&["run", mine, "--policy", "none", "--trace", mine])
        .fails(5, &["that of an input"]);
    assert_eq!(place.read(mine), world);
    std::fs::create_dir(place.path("folder.jsonl")).expect("a folder");
    place
        .run(&["run", mine, "--policy", "none", "--trace", "folder.jsonl"])
        .fails(5, &["not a regular file"]);
    place
        .run(&[
            "run",
            mine,
            "--policy",
            "none",
            "--trace",
            "nowhere/a.jsonl",
        ])
        .fails(5, &["a folder that exists"]);
    let left = std::fs::read_dir(place.path(".")).expect("the folder");
    let unfinished = |name: &std::ffi::OsString| name.to_string_lossy().contains("unfinished");
    let names = left.map(|entry| entry.expect("readable").file_name());
    assert!(!names.into_iter().any(|name| unfinished(&name)));
}
