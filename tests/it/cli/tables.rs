//! Tables, from results.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Done, Place};

/// What a result holds.
const FILES: [&str; 3] = ["manifest.json", "rows.csv", "scenarios.jsonl"];

/// The result of the main study, run once for all tests.
static MAIN: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    let words = ["study", "--progress", "none", "--out", "full_main"];
    place.run(&words).expect(0);
    place
});

/// A place with a result of the main study and nothing else.
pub(super) fn with_main(folder: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path(folder)).expect("a folder");
    for file in FILES {
        let bytes = std::fs::read(MAIN.path(&format!("full_main/{file}"))).expect("a file");
        place.write(&format!("{folder}/{file}"), bytes);
    }
    place
}

/// Runs a shipped study into a folder.
pub(super) fn run_study(place: &Place, study: &str, folder: &str) {
    let words = ["study", study, "--progress", "none", "--out", folder];
    place.run(&words).expect(0);
}

pub(super) fn json(done: &Done) -> Value {
    serde_json::from_str(&done.out).expect("one JSON document")
}

#[test]
fn tables_come_from_the_folder_alone_and_are_the_same_bytes() {
    let (here, there) = (with_main("full_main"), with_main("elsewhere"));
    let first = here.run(&["tables", "full_main"]).expect(0);
    let second = there.run(&["tables", "elsewhere"]).expect(0);
    assert_eq!(first.out, second.out);
    for file in ["tables.md", "claims.json"] {
        assert_eq!(
            here.read(&format!("full_main/{file}")),
            there.read(&format!("elsewhere/{file}")),
        );
    }
}

#[test]
fn every_format_of_a_table_prints_the_same_cells() {
    let place = with_main("full_main");
    let words = ["tables", "full_main", "--table", "11", "--format"];
    for format in ["text", "md", "tex", "csv", "json"] {
        let done = place.run(&[&words[..], &[format]].concat()).expect(0);
        for cell in ["600", "0.9958", "1.0000"] {
            assert!(
                done.out.contains(cell),
                "{format} lacks {cell}: {}",
                done.out
            );
        }
    }
    assert!(
        !place.path("full_main/tables.md").exists(),
        "one table is printed only"
    );
}

#[test]
fn what_is_not_simulated_is_said_and_is_no_zero() {
    let place = with_main("full_main");
    for table in ["18", "19", "20"] {
        let done = place
            .run(&["tables", "full_main", "--table", table])
            .expect(0);
        assert!(done.out.contains("not simulated yet"), "{}", done.out);
        assert!(!done.out.contains("0.0000"), "{}", done.out);
    }
}

/// The study has no clean stage, and one of its tables is about two stages.
#[test]
fn a_metric_of_a_stage_that_a_study_lacks_is_not_applicable() {
    let place = Place::new();
    run_study(&place, "controls", "it");
    let done = place
        .run(&["tables", "it", "--table", "11", "--format", "json"])
        .expect(0);
    let row = json(&done)["tables"][0]["rows"][0].clone();
    assert_eq!(row["Active N"]["value"], 10.0);
    assert_eq!(row["Clean completion"]["printed"], "N/A");
    assert_eq!(row["Clean completion"]["value"], Value::Null);
}

#[test]
fn a_table_that_a_result_has_no_rows_for_is_refused() {
    let place = Place::new();
    run_study(&place, "stress", "stress");
    let done = place.run(&["tables", "stress", "--table", "11"]).expect(2);
    assert!(done.err.contains("no rows for table 11"), "{}", done.err);
    let done = place
        .run(&["tables", "stress", "--table", "17", "--format", "json"])
        .expect(0);
    assert_eq!(json(&done)["tables"][0]["rows"][0]["N"]["value"], 240.0);
}

/// A page of them, of which the file has all.
#[test]
fn a_summary_is_printed_and_all_tables_are_written() {
    let place = with_main("full_main");
    let summary = place.run(&["tables", "full_main"]).expect(0);
    assert!(summary.err.contains("`--all`"), "{}", summary.err);
    assert!(summary.out.lines().count() < 100, "{}", summary.out);
    let all = place.run(&["tables", "full_main", "--all"]).expect(0);
    let written = place.read("full_main/tables.md");
    for heading in ["Table 9.", "Table 12."] {
        assert!(summary.out.contains(heading), "{heading}");
    }
    for heading in ["Table 3.", "Table 25.", "What each metric may be claimed"] {
        assert!(!summary.out.contains(heading), "{heading}");
        assert!(
            all.out.contains(heading) && written.contains(heading),
            "{heading}"
        );
    }
}

/// The digest of the manifest does not tell, because it can be written anew.
#[test]
fn rows_that_are_not_those_of_the_study_make_no_tables() {
    let place = with_main("full_main");
    let rows = place.read("full_main/rows.csv");
    let (header, _) = rows.split_once('\n').expect("a header");
    for kept in [
        format!("{header}\n"),
        rows.lines()
            .take(100)
            .fold(String::new(), |text, line| text + line + "\n"),
    ] {
        let mut manifest: Value =
            serde_json::from_str(&place.read("full_main/manifest.json")).expect("JSON");
        let digest = study::results::digest(&[kept.as_bytes()]).to_string();
        manifest["circumstances"]["rows_digest"] = digest.into();
        place.write("full_main/manifest.json", manifest.to_string());
        place.write("full_main/rows.csv", &kept);
        for command in ["tables", "scorecard", "figures"] {
            let done = place.run(&[command, "full_main"]).expect(4);
            assert!(done.err.contains("17640 rollouts"), "{}", done.err);
        }
    }
}

#[test]
fn tables_refuse_what_they_do_not_know() {
    let place = with_main("full_main");
    let done = place
        .run(&["tables", "full_main", "--table", "21b"])
        .expect(2);
    assert!(done.err.contains("there is no table `21b`"), "{}", done.err);
    let done = place
        .run(&["tables", "full_main", "--compare", "none,tool_bondary"])
        .expect(2);
    assert!(done.err.contains("tool_boundary"), "{}", done.err);
    place
        .run(&["tables", "full_main", "--compare", "none"])
        .expect(2);
    place.run(&["tables", "nowhere"]).expect(3);
}

#[test]
fn policies_that_the_paper_does_not_compare_can_be_compared() {
    let place = with_main("full_main");
    let words = [
        "tables",
        "full_main",
        "--table",
        "12",
        "--compare",
        "prompt_only,structured_guard",
    ];
    let done = place.run(&words).expect(0);
    assert!(
        done.out.contains("prompt_only vs structured_guard"),
        "{}",
        done.out
    );
    assert!(!done.out.contains("tool_boundary"), "{}", done.out);
}

/// The study of a user has nothing to do with the paper's.
#[test]
fn another_study_is_not_shown_the_papers_own_tables() {
    let place = Place::new();
    run_study(&place, "controls", "controls");
    let done = place.run(&["tables", "controls"]).expect(0);
    for table in [
        "Table 18",
        "Table 19",
        "Table 20",
        "Table 24",
        "running text",
    ] {
        assert!(!done.out.contains(table), "{table}");
    }
    place
        .run(&["tables", "controls", "--table", "18"])
        .expect(0);
}

/// With everything logged, what taint alone decides by is another thing.
#[test]
fn the_instrumentation_is_a_factor() {
    let place = with_main("full_main");
    run_study(&place, "full_logged", "full");
    let words = [
        "tables",
        "full_main",
        "--against",
        "full",
        "--format",
        "json",
    ];
    let table = json(&place.run(&words).expect(0))["tables"][0].clone();
    let differs = |metric: &str, scope: &str, policy: &str| {
        let mut rows = table["rows"].as_array().expect("rows").iter();
        rows.any(|row| {
            row["Metric"]["printed"] == metric
                && row["Scope"]["printed"] == scope
                && row["Defence"]["printed"] == policy
        })
    };
    assert!(!differs("committed policy violation", "security", "none"));
    assert!(differs("logged spread", "security", "none"));
    assert!(differs(
        "authorized completion",
        "active_tainted",
        "taint_only_v1"
    ));
    run_study(&place, "controls", "controls");
    place
        .run(&["tables", "full_main", "--against", "controls"])
        .expect(3);
}

/// A result folder of a stranger could have the tables written over a file of the user.
#[cfg(unix)]
#[test]
fn a_link_in_a_result_folder_is_not_written_through() {
    let place = with_main("full_main");
    place.write("victim", "keep");
    let link = place.path("full_main/claims.json.unfinished");
    std::os::unix::fs::symlink(place.path("victim"), link).expect("a link");
    place.run(&["tables", "full_main"]).expect(0);
    assert_eq!(place.read("victim"), "keep");
    assert!(
        place
            .path("full_main/claims.json")
            .symlink_metadata()
            .expect("a file")
            .is_file()
    );
}
