//! Tables and the scorecard, from results.

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
fn with_main(folder: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path(folder)).expect("a folder");
    for file in FILES {
        let bytes = std::fs::read(MAIN.path(&format!("full_main/{file}"))).expect("a file");
        place.write(&format!("{folder}/{file}"), bytes);
    }
    place
}

fn json(done: &Done) -> Value {
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
    let words = ["study", "controls", "--progress", "none", "--out", "it"];
    place.run(&words).expect(0);
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
    place
        .run(&["study", "stress", "--progress", "none", "--out", "stress"])
        .expect(0);
    let done = place.run(&["tables", "stress", "--table", "11"]).expect(2);
    assert!(done.err.contains("no rows for table 11"), "{}", done.err);
    let done = place
        .run(&["tables", "stress", "--table", "17", "--format", "json"])
        .expect(0);
    assert_eq!(json(&done)["tables"][0]["rows"][0]["N"]["value"], 240.0);
}

/// What is asked of a gate is answered whatever becomes of the tables beside it.
#[test]
fn a_table_that_cannot_be_printed_does_not_hide_a_decision() {
    let place = Place::new();
    place
        .run(&["study", "stress", "--progress", "none", "--out", "stress"])
        .expect(0);
    let words = ["tables", "stress", "--table", "11", "--fail-if"];
    let decide = |condition: &str| place.run(&[&words[..], &[condition]].concat());
    let done = decide("none.security.committed_harm > 0.1").expect(4);
    assert!(done.err.contains("no rows for table 11"), "{}", done.err);
    assert!(done.err.contains("holds under"), "{}", done.err);
    decide("none.security.committed_harm > 0.9").expect(2);
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

/// What a metric may be claimed for in the main study, and in one with positive controls.
#[test]
fn claims_need_a_positive_control() {
    let place = with_main("full_main");
    place.run(&["tables", "full_main"]).expect(0);
    let words = [
        "study",
        "controls",
        "--progress",
        "none",
        "--out",
        "controls",
    ];
    place.run(&words).expect(0);
    place.run(&["tables", "controls"]).expect(0);
    let status = |study: &str, metric: &str, scope: &str| {
        let claims: Value =
            serde_json::from_str(&place.read(&format!("{study}/claims.json"))).expect("JSON");
        let metrics = claims["models"][0]["metrics"]
            .as_array()
            .expect("metrics")
            .clone();
        let is_it = |one: &&Value| one["metric"] == metric && one["scope"] == scope;
        let found = metrics.iter().find(is_it).expect("the metric");
        found["status"].as_str().expect("a status").to_owned()
    };
    assert_eq!(
        status("full_main", "committed_harm", "security"),
        "comparative"
    );
    assert_eq!(
        status("full_main", "blast_radius_norm", "security"),
        "diagnostic"
    );
    assert_eq!(
        status("full_main", "secret_leakage", "security"),
        "instrumented"
    );
    assert_eq!(
        status("full_main", "memory_reinfection", "memory_recovery"),
        "instrumented"
    );
    // It happens there, in too few scenarios to compare policies.
    assert_eq!(
        status("controls", "secret_leakage", "active_tainted"),
        "tie"
    );
    assert_eq!(
        status("controls", "memory_reinfection", "memory_recovery"),
        "tie"
    );
}

/// The second model hardly says anything that can be read.
#[test]
fn nothing_is_claimed_of_a_model_that_is_not_understood() {
    let place = Place::new();
    let words = [
        "study",
        "second_model",
        "--progress",
        "none",
        "--out",
        "second_model",
    ];
    place.run(&words).expect(0);
    place.run(&["tables", "second_model"]).expect(0);
    let claims: Value =
        serde_json::from_str(&place.read("second_model/claims.json")).expect("JSON");
    for metric in claims["models"][0]["metrics"].as_array().expect("metrics") {
        let expected = match metric["role"].as_str() {
            Some("prerequisite") => "diagnostic",
            _ => "blocked",
        };
        assert_eq!(metric["status"], expected, "{metric}");
    }
    assert!(
        claims["models"][0]["inert_rollouts"]
            .as_u64()
            .expect("a count")
            > 0
    );
}

#[test]
fn the_scorecard_has_every_published_number() {
    let place = with_main("full_main");
    let done = place
        .run(&["scorecard", "full_main", "--format", "json"])
        .expect(0);
    let card = json(&done);
    let cells = card["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 410);
    let not_simulated = |table: &str| {
        let cells = cells.iter().filter(|cell| cell["table"] == table);
        cells.filter(|cell| cell["simulated"].is_null()).count()
    };
    for table in [
        "3", "9", "10", "11", "12", "13", "14", "15", "17", "22", "24", "25", "26",
    ] {
        assert_eq!(not_simulated(table), 0, "table {table}");
    }
    for class in ["accounting", "by construction"] {
        let tally = &card["totals"]["classes"][class];
        assert_eq!(tally["within"], tally["compared"], "{class}: {card:#}");
    }
    assert_eq!(place.read("full_main/scorecard.json"), done.out);
    assert!(
        place
            .read("full_main/scorecard.md")
            .contains("t9.none.policy_violation")
    );
}

#[test]
fn the_scorecard_is_of_the_main_study() {
    let place = Place::new();
    let words = ["study", "stress", "--progress", "none", "--out", "stress"];
    place.run(&words).expect(0);
    let done = place.run(&["scorecard", "stress"]).expect(3);
    assert!(done.err.contains("full_main"), "{}", done.err);
}

/// The study of a user has nothing to do with the paper's.
#[test]
fn another_study_is_not_shown_the_papers_own_tables() {
    let place = Place::new();
    let words = [
        "study",
        "controls",
        "--progress",
        "none",
        "--out",
        "controls",
    ];
    place.run(&words).expect(0);
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

#[test]
fn a_condition_that_holds_is_told_by_the_exit_code() {
    let place = with_main("full_main");
    let words = ["tables", "full_main", "--table", "9", "--fail-if"];
    let decide = |condition: &str| place.run(&[&words[..], &[condition]].concat());
    decide("tool_boundary.security.committed_harm.high > 0.05").expect(0);
    decide("tool_boundary.security.committed_harm.high > 0.01").expect(4);
    decide("none.security.committed_harm > 0.5").expect(0);
    let refused = decide("tool_boundary.security.secret_leakage > 0").expect(5);
    assert!(refused.err.contains("positive control"), "{}", refused.err);
    decide("tool_boundary.security.committed_harm >> 0").expect(2);
    let unknown = decide("tool_bondary.security.committed_harm > 0").expect(2);
    assert!(unknown.err.contains("tool_boundary"), "{}", unknown.err);
}

#[test]
fn an_order_is_printed_only_where_it_may_be_claimed() {
    let place = with_main("full_main");
    let done = place
        .run(&["tables", "full_main", "--table", "ranking"])
        .expect(0);
    assert!(
        done.out
            .contains("No order by secret leakage in security: instrumented."),
        "{}",
        done.out
    );
    let ranks = |policy: &str| {
        let lines = done
            .out
            .lines()
            .filter(|line| line.starts_with("authorized completion"));
        let line = lines
            .clone()
            .find(|line| line.contains(policy))
            .expect("a line")
            .to_owned();
        line.split_whitespace().nth(3).expect("a rank").to_owned()
    };
    assert_eq!(ranks(" none "), "1");
    assert_eq!(ranks(" tool_boundary "), "1");
    assert_ne!(ranks(" intent_ledger_v2 "), "1");
}

/// Scenarios of a family are alike, so nothing seen in 192 of them is nothing seen in 24 families.
#[test]
fn a_gate_over_scenarios_tells_what_it_is_over_families() {
    let place = with_main("full_main");
    let words = ["tables", "full_main", "--table", "9", "--fail-if"];
    let decide = |condition: &str| place.run(&[&words[..], &[condition]].concat());
    let over_scenarios = decide("tool_boundary.security.committed_harm.high > 0.1").expect(0);
    assert!(
        over_scenarios.err.contains("192 scenarios") && over_scenarios.err.contains("0.1425"),
        "{}",
        over_scenarios.err
    );
    let over_families = decide("tool_boundary.security.committed_harm.high_families > 0.1");
    let over_families = over_families.expect(4);
    assert!(
        over_families.err.contains("24 families") && over_families.err.contains("qwen2_5"),
        "{}",
        over_families.err
    );
}

/// One that holds weighs more than one that cannot be told.
#[test]
fn every_condition_is_decided() {
    let place = with_main("full_main");
    let words = [
        "tables",
        "full_main",
        "--table",
        "9",
        "--fail-if",
        "tool_boundary.security.secret_leakage > 0",
        "--fail-if",
        "none.security.committed_harm > 0.1",
    ];
    let done = place.run(&words).expect(4);
    assert!(
        done.err.contains("positive control") && done.err.contains("holds under"),
        "{}",
        done.err
    );
}

/// With everything logged, what taint alone decides by is another thing.
#[test]
fn the_instrumentation_is_a_factor() {
    let place = with_main("full_main");
    let words = [
        "study",
        "full_logged",
        "--progress",
        "none",
        "--out",
        "full",
    ];
    place.run(&words).expect(0);
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
    place
        .run(&[
            "study",
            "controls",
            "--progress",
            "none",
            "--out",
            "controls",
        ])
        .expect(0);
    place
        .run(&["tables", "full_main", "--against", "controls"])
        .expect(3);
}

/// Parameters and study seed are frozen in the repository; this is what they give.
#[test]
fn the_frozen_scorecard_holds() {
    let place = with_main("full_main");
    let done = place
        .run(&["scorecard", "full_main", "--format", "json"])
        .expect(0);
    let card = json(&done);
    let share = |tally: &Value| {
        tally["within"].as_f64().expect("a count") / tally["compared"].as_f64().expect("a count")
    };
    let classes = &card["totals"]["classes"];
    for (class, least) in [
        ("target", 0.98),
        ("restated", 0.98),
        ("held out", 0.95),
        ("by construction", 1.0),
        ("accounting", 1.0),
    ] {
        assert!(
            share(&classes[class]) >= least,
            "{class}: {}",
            classes[class]
        );
    }
    assert!(share(&card["totals"]["intervals"]) >= 0.95);
}

/// One seed here; the command takes as many as asked for.
#[test]
fn numbers_hold_under_a_study_seed_that_nothing_was_fitted_on() {
    let place = with_main("full_main");
    let words = ["scorecard", "full_main", "--no-files", "--fresh-seeds", "1"];
    let done = place.run(&words).expect(0);
    let (_, fresh) = done.out.split_once("other study seeds").expect("the table");
    let share = |class: &str| {
        let line = fresh
            .lines()
            .find(|line| line.starts_with(class))
            .expect("a line");
        let share = line
            .trim_start_matches(class)
            .split_whitespace()
            .next()
            .expect("a share");
        share.parse::<f64>().expect("a number")
    };
    assert!(
        share("target") >= 0.96 && share("held out") >= 0.93,
        "{fresh}"
    );
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
