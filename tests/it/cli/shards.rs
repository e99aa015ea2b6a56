//! A study run in several places and put together again.

use serde_json::Value;
use study::manifest::MANIFEST_SCHEMA;

use super::studies::{self, SEEDS, begun_in, ended, files, undisturbed};
use super::{Done, Place};

/// What a result holds.
const FILES: [&str; 3] = ["manifest.json", "rows.csv", "scenarios.jsonl"];

/// Runs the shipped case studies, or a shard of them, into a folder.
fn demos(place: &Place, out: &str, threads: &str, more: &[&str]) -> Done {
    let words = [
        "study",
        "demos",
        "--progress",
        "none",
        "--format",
        "json",
        "--out",
        out,
        "--threads",
    ];
    place.run(&[&words[..], &[threads], more].concat())
}

/// The three shards of the case studies in `s1`, `s2` and `s3`.
fn three(place: &Place, threads: [&str; 3]) {
    for (index, threads) in (1..).zip(threads) {
        let shard = format!("{index}/3");
        demos(place, &format!("s{index}"), threads, &["--shard", &shard]).expect(0);
    }
}

fn merge(place: &Place, words: &[&str]) -> Done {
    place.run(&[&["merge"], words].concat())
}

fn json(place: &Place, file: &str) -> Value {
    serde_json::from_str(&place.read(file)).expect("JSON")
}

/// A shard as it is, with a change to what its manifest says of it.
fn copy_with(place: &Place, from: &str, to: &str, change: impl Fn(&str) -> String) {
    std::fs::create_dir_all(place.path(to)).expect("a folder");
    for file in FILES {
        place.write(
            &format!("{to}/{file}"),
            place.read(&format!("{from}/{file}")),
        );
    }
    let manifest = format!("{to}/manifest.json");
    place.write(&manifest, change(&place.read(&manifest)));
}

#[test]
fn shards_give_the_bytes_of_the_whole_on_any_number_of_threads() {
    let place = Place::new();
    for threads in ["1", "2", "7"] {
        demos(&place, &format!("whole{threads}"), threads, &[]).expect(0);
    }
    three(&place, ["2"; 3]);
    let merged = merge(&place, &["s3", "s1", "s2", "--format", "json"]).expect(0);
    for file in FILES {
        let same = place.read(&format!("whole2/{file}"));
        assert!(
            place.read(&format!("results/demos/{file}")) == same,
            "{file}"
        );
    }
    assert_eq!(merged.err, "");
    let summary = merged.json();
    assert_eq!(summary["rollouts"], 200);
    let whole = json(&place, "whole2/manifest.json");
    assert_eq!(summary["manifest_digest"], whole["digest"]);
    assert_eq!(
        summary["rows_digest"],
        whole["circumstances"]["rows_digest"]
    );
    // Nothing is timed where nothing is run.
    assert_eq!(summary["latency_ns"], Value::Null);
    // On other threads, only the number of workers is another.
    let elsewhere = Place::new();
    three(&elsewhere, ["1", "2", "7"]);
    merge(&elsewhere, &["s1", "s2", "s3", "--out", "all"]).expect(0);
    let mut merged = json(&elsewhere, "all/manifest.json");
    assert_eq!(merged["circumstances"]["workers"], Value::Null);
    for threads in ["1", "2", "7"] {
        let mut whole = json(&place, &format!("whole{threads}/manifest.json"));
        assert_eq!(whole["circumstances"]["workers"].to_string(), threads);
        merged["circumstances"]["workers"] = whole["circumstances"]["workers"].take();
        whole["circumstances"]["workers"] = merged["circumstances"]["workers"].clone();
        assert_eq!(merged, whole);
        for file in ["rows.csv", "scenarios.jsonl"] {
            let same = place.read(&format!("whole{threads}/{file}"));
            assert!(elsewhere.read(&format!("all/{file}")) == same, "{file}");
        }
    }
    place.run(&["diff", "results/demos", "whole7"]).expect(0);
}

#[test]
fn a_merged_result_is_one_like_any_other() {
    let place = Place::new();
    demos(&place, "whole", "2", &[]).expect(0);
    three(&place, ["2"; 3]);
    let text = merge(&place, &["s1", "s2", "s3"]).expect(0).out;
    let whole = place
        .run(&["study", "demos", "--resume", "--progress", "none"])
        .expect(0);
    assert!(
        whole
            .err
            .contains("200 of 200 rollouts were finished before"),
        "{whole:?}"
    );
    // The table, and the lines below it, but for the time.
    let without_time = whole.out.replace(": 0.00 s\n", "\n");
    let times = |line: &&str| !line.contains(" rollouts of ");
    let lines =
        |text: &str| -> Vec<String> { text.lines().filter(times).map(str::to_owned).collect() };
    assert_eq!(lines(&text), lines(&without_time));
    assert!(text.contains("200 rollouts of 8 worlds under 5 policies, seeds 1, 2, 3, 4, 5\n"));
    let replay = place.run(&["replay", "results/demos"]).expect(0);
    assert!(
        replay.out.contains("200 the same, 0 different"),
        "{replay:?}"
    );
    // Once more, the same result may be replaced.
    merge(&place, &["s1", "s2", "s3"]).expect(0);
    assert_eq!(
        files(&place, "results/demos"),
        [&[".lock"], &FILES[..]].concat()
    );
}

#[test]
fn a_shard_says_so_and_is_no_whole_result() {
    let place = Place::new();
    let words = ["study", "demos", "--shard", "2/3", "--progress", "none"];
    let text = place.run(&words).expect(0).out;
    let folder = "results/demos-shard-2-of-3";
    for shown in [
        "65 of 200 rollouts of 8 worlds",
        "shard    2/3",
        "`containment merge`",
        folder,
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let manifest = json(&place, &format!("{folder}/manifest.json"));
    assert_eq!(manifest["circumstances"]["shard"], "2/3");
    let summary = demos(&place, "other", "1", &["--shard", "3/3"]).json();
    assert_eq!(
        (&summary["shard"], &summary["rollouts"]),
        (&"3/3".into(), &65.into())
    );
    assert_eq!(summary["manifest_digest"], manifest["digest"]);
    let diff = place.run(&["diff", folder, "other"]);
    diff.fails(5, &["shard 2/3 of the study `demos`", "containment merge"]);
    // Each row of it is as good as any.
    let replay = place.run(&["replay", folder]).expect(0);
    assert!(
        replay.out.contains("65 the same, 0 different"),
        "{replay:?}"
    );
}

#[test]
fn what_names_no_shard_is_a_wrong_command_line() {
    let place = Place::new();
    for (shard, says) in [
        ("0/3", "`1/3` to `3/3`"),
        ("4/3", "`1/3` to `3/3`"),
        ("x/y", "I/N"),
        ("3", "I/N"),
        ("", "I/N"),
        ("1/0", "1 to 10000 shards"),
        ("1/10001", "1 to 10000 shards"),
        ("1/99999999999999999999", "1 to 10000 shards"),
    ] {
        let done = place
            .run(&["study", "demos", "--shard", shard])
            .fails(2, &[says]);
        assert_eq!(done.out, "");
    }
    assert!(!place.path("results").exists());
}

/// Two groups of two rollouts.
#[test]
fn more_shards_than_groups_are_allowed() {
    let place = studies::place(2);
    let mut folders = Vec::new();
    for index in 1..=4 {
        let (shard, out) = (format!("{index}/4"), format!("s{index}"));
        let words = studies::words("2", &["--format", "json", "--shard", &shard, "--out", &out]);
        let summary = place.run(&words).expect(0).json();
        let rollouts = if index <= 2 { 2 } else { 0 };
        assert_eq!(summary["rollouts"], rollouts);
        assert_eq!(summary["latency_ns"].is_null(), rollouts == 0);
        assert_eq!(summary["events_per_second_per_core"] == 0.0, rollouts == 0);
        let empty = studies::words("2", &["--shard", &shard, "--out", &out, "--resume"]);
        let resumed = place.run(&empty).expect(0);
        let finished = format!("{rollouts} of {rollouts} rollouts were finished before");
        assert!(resumed.err.contains(&finished), "{resumed:?}");
        folders.push(out);
    }
    let folders: Vec<&str> = folders.iter().map(|folder| &**folder).collect();
    merge(&place, &folders).expect(0);
    assert_eq!(place.read("results/long/rows.csv"), undisturbed(&place));
}

#[test]
fn a_killed_shard_goes_on_and_is_merged() {
    let place = studies::place(SEEDS);
    let first = ["--shard", "1/2", "--out", "s1"];
    let mut child = begun_in("s1", &place, &first);
    child.kill().expect("it is killed");
    ended(child);
    let second = studies::words("2", &["--shard", "2/2", "--out", "s2"]);
    place.run(&second).expect(0);
    let both = ["s1", "s2", "--out", "all"];
    merge(&place, &both).fails(5, &["`s1` holds", "not finished", "--resume"]);
    assert!(!place.path("all").exists());
    // Nobody else goes on with it.
    for other in [&["--shard", "2/2"][..], &["--shard", "1/3"], &[]] {
        let more = [other, &["--out", "s1", "--resume"]].concat();
        let refused = place.run(&studies::words("1", &more));
        refused.fails(5, &["of shard 1/2 of this study", "--out"]);
    }
    let resumed = place
        .run(&studies::words("2", &[&first[..], &["--resume"]].concat()))
        .expect(0);
    assert!(resumed.err.contains("were finished before"), "{resumed:?}");
    merge(&place, &both).expect(0);
    assert_eq!(place.read("all/rows.csv"), undisturbed(&place));
}

#[test]
fn what_is_not_all_shards_of_one_study_is_refused() {
    let place = Place::new();
    three(&place, ["2"; 3]);
    demos(&place, "of4", "2", &["--shard", "3/4"]).expect(0);
    demos(&place, "seed2", "2", &["--shard", "3/3", "--seed", "2"]).expect(0);
    demos(&place, "whole", "2", &[]).expect(0);
    let schema = format!("\"schema\": {MANIFEST_SCHEMA},");
    let newer = |text: &str| text.replacen(&schema, "\"schema\": 999,", 1);
    copy_with(&place, "s3", "newer", newer);
    let other = studies::place(1);
    let words = studies::words("1", &["--shard", "3/3", "--out"]);
    let there = place.path("other").display().to_string();
    other.run(&[&words[..], &[&there]].concat()).expect(0);
    for (folders, code, says) in [
        (
            &["s1", "s3"][..],
            5,
            &["shard 2/3 is missing", "--shard"][..],
        ),
        (&["s1"], 5, &["shards 2/3, 3/3 are missing"]),
        (&["s1", "s2", "s2", "s3"], 2, &["both shard 2/3", "once"]),
        (
            &["s1", "s2", "of4"],
            2,
            &["shard 1/3", "shard 3/4", "same N"],
        ),
        (
            &["s1", "s2", "seed2"],
            2,
            &["different forms of the study", "seed"],
        ),
        (&["s1", "s2", "other"], 2, &["study `demos`", "`long`"]),
        (
            &["s1", "s2", "whole"],
            2,
            &["`whole` is no shard", "--shard"],
        ),
        (&["s1", "s2", "newer"], 7, &["schema 999"]),
        (&["s1", "s2", "nowhere"], 3, &["nowhere"]),
        (&[], 2, &["DIR"]),
    ] {
        let done = merge(&place, &[folders, &["--out", "all"]].concat()).fails(code, says);
        assert_eq!(done.out, "", "{folders:?}");
        assert!(!place.path("all").exists(), "{folders:?}");
    }
}

#[test]
fn a_shard_that_was_changed_is_refused() {
    let place = Place::new();
    three(&place, ["2"; 3]);
    let is_refused = |folder: &str, says: &[&str]| {
        let folders = ["s1", "s2", folder, "--out", "all"];
        merge(&place, &folders).fails(4, says);
        assert!(!place.path("all").exists());
    };
    // A row was changed, or the manifest, or which shard it is.
    copy_with(&place, "s3", "rows", str::to_owned);
    let rows = place
        .read("s3/rows.csv")
        .replacen(",completed,", ",errored,", 1);
    place.write("rows/rows.csv", rows);
    is_refused("rows", &["`rows.csv` has digest", "run the study again"]);
    copy_with(&place, "s3", "manifest", |text| {
        text.replace("\"study_seed\": 1", "\"study_seed\": 2")
    });
    is_refused("manifest", &["changed by hand"]);
    copy_with(&place, "s2", "posing", |text| {
        text.replace("\"2/3\"", "\"3/3\"")
    });
    is_refused("posing", &["not those of the study", "run the shard again"]);
    copy_with(&place, "s1", "longer", |text| {
        text.replace("\"1/3\"", "\"3/3\"")
    });
    is_refused("longer", &["70 rows, but shard 3/3 has 65"]);
}

/// Neither by another part of the study nor by what is put together.
#[test]
fn another_result_is_not_replaced() {
    let place = Place::new();
    three(&place, ["2"; 3]);
    demos(&place, "whole", "2", &[]).expect(0);
    demos(&place, "whole2", "2", &["--seed", "2"]).expect(0);
    let rows = place.read("s1/rows.csv");
    for (out, shard, says) in [
        (
            "s1",
            &["--shard", "2/3"][..],
            "holds shard 1/3 of this study",
        ),
        ("s1", &[], "holds shard 1/3 of this study"),
        (
            "whole",
            &["--shard", "1/3"],
            "holds the whole result of this study",
        ),
    ] {
        demos(&place, out, "1", shard).fails(5, &[says, "--out"]);
        demos(&place, out, "1", &[shard, &["--resume"]].concat()).fails(5, &[says, "--out"]);
    }
    std::fs::create_dir(place.path("damaged")).expect("a folder");
    place.write("damaged/manifest.json", "{}");
    std::fs::create_dir(place.path("begun")).expect("a folder");
    place.write("begun/rows.journal", "containment-journal 1 0\n");
    let other = place.read("whole/manifest.json");
    std::fs::create_dir(place.path("file")).expect("a folder");
    place.write("file/name", other);
    for (out, says) in [
        ("s1", "holds shard 1/3 of this study"),
        ("whole2", "holds a result of this study with manifest"),
        ("damaged", "holds a result that this program cannot read"),
        ("begun", "not finished"),
        ("file/name", "file/name"),
    ] {
        merge(&place, &["s1", "s2", "s3", "--out", out]).fails(5, &[says, "--out"]);
    }
    assert_eq!(place.read("s1/rows.csv"), rows);
    // The same shard may be run again, and the same whole be put together again.
    demos(&place, "s1", "1", &["--shard", "1/3"]).expect(0);
    merge(&place, &["s1", "s2", "s3", "--out", "whole"]).expect(0);
    assert_eq!(place.read("s1/rows.csv"), rows);
}

/// The rows of a result are read back, so no result is made that is too large for that.
#[test]
fn shards_that_are_too_large_together_are_refused_at_once() {
    let place = Place::new();
    three(&place, ["2"; 3]);
    for folder in ["s2", "s3"] {
        let rows = std::fs::File::options()
            .write(true)
            .open(place.path(&format!("{folder}/rows.csv")));
        let made = rows.and_then(|rows| rows.set_len(600 << 20));
        made.expect("a file with a hole");
    }
    merge(&place, &["s1", "s2", "s3"]).fails(3, &["bytes of rows, more than 1073741824"]);
    assert!(!place.path("results").exists());
}
