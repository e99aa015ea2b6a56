//! `verify`: an untouched result passes, and each way to tamper with one is caught and named.

mod content;
mod made;

use std::sync::LazyLock;

use serde_json::Value;
use study::manifest::Manifest;
use study::results;
use study::rollout_id::hash_of_ids;
use study::row::read_csv;

use super::{Done, Place};

const MANIFEST: &str = "result/manifest.json";
const ROWS: &str = "result/rows.csv";
const SCENARIOS: &str = "result/scenarios.jsonl";

/// The result of the case studies, run once for all tests.
static DEMOS: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    study(&place, "demos", "result");
    place
});

fn study(place: &Place, name: &str, out: &str) {
    let words = ["study", name, "--progress", "none", "--out", out];
    place.run(&words).expect(0);
}

/// A place with the result of the case studies in `result`.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("result")).expect("a folder");
    for file in [MANIFEST, ROWS, SCENARIOS] {
        place.write(file, DEMOS.read(file));
    }
    place
}

/// The same with one file changed, and with every digest made anew if `sealed`.
fn changed(file: &str, change: impl FnOnce(String) -> String, sealed: bool) -> Place {
    let place = place();
    let text = place.read(file);
    let new = change(text.clone());
    assert_ne!(new, text, "the change changes nothing");
    place.write(file, new);
    if sealed {
        seal(&place);
    }
    place
}

/// Makes every digest of the manifest anew, as somebody would who covers up a change.
fn seal(place: &Place) {
    let mut manifest: Manifest =
        serde_json::from_str(&place.read(MANIFEST)).expect("a manifest, whatever its digest");
    let rows = place.read(ROWS);
    let read = read_csv(rows.as_bytes()).expect("rows");
    let circumstances = &mut manifest.circumstances;
    circumstances.rows_digest = Some(results::digest(&[rows.as_bytes()]));
    let scenarios = place.read(SCENARIOS);
    circumstances.scenarios_digest = Some(results::digest(&[scenarios.as_bytes()]));
    manifest.frozen.rollout_ids = hash_of_ids(read.iter().map(|row| row.identity.rollout_id));
    manifest.digest = manifest.frozen.digest();
    place.write(MANIFEST, manifest.to_json());
}

/// `rows.csv` with another text in one cell; rows count from 1.
fn cell(rows: &str, row: usize, column: &str, change: impl Fn(&str) -> String) -> String {
    let mut lines: Vec<String> = rows.lines().map(str::to_owned).collect();
    let header: Vec<&str> = rows.lines().next().expect("a header").split(',').collect();
    let at = header.iter().position(|name| *name == column);
    let mut cells: Vec<String> = lines[row].split(',').map(str::to_owned).collect();
    assert_eq!(cells.len(), header.len(), "a cell is quoted");
    let cell = &mut cells[at.expect("a column")];
    *cell = change(cell);
    lines[row] = cells.join(",");
    lines.join("\n") + "\n"
}

fn one_more(cell: &str) -> String {
    (cell.parse::<u64>().expect("a number") + 1).to_string()
}

fn verify(place: &Place, more: &[&str]) -> Done {
    place.run(&[&["verify", "result"], more].concat())
}

/// The check of this name, in JSON.
fn named(json: &Value, name: &str) -> Value {
    let checks = json["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["name"] == name);
    check.unwrap_or_else(|| panic!("no check `{name}`")).clone()
}

/// The check fails, and says each of these in one of its problems, which has a help line.
#[track_caller]
fn caught(place: &Place, check: &str, says: &[&str]) {
    caught_with(place, &["--replay", "0"], check, says);
}

#[track_caller]
fn caught_with(place: &Place, more: &[&str], check: &str, says: &[&str]) {
    let done = verify(place, &[&["--format", "json"], more].concat()).expect(4);
    let json = done.json();
    assert_eq!(json["ok"], false);
    let check = named(&json, check);
    assert_eq!(check["ok"], false, "{json:#}");
    let problems = check["problems"].as_array().expect("problems");
    let fits = |problem: &&Value| {
        let text = problem.to_string();
        says.iter().all(|wanted| text.contains(wanted)) && problem["help"] != ""
    };
    assert!(problems.iter().any(|one| fits(&one)), "{says:?}: {check:#}");
}

/// Every check but these holds.
#[track_caller]
fn all_but(place: &Place, failing: &[&str]) {
    let done = verify(place, &["--format", "json", "--replay", "0"]);
    let json = done.json();
    for check in json["checks"].as_array().expect("checks") {
        let may_fail = failing.iter().any(|name| check["name"] == *name);
        assert!(may_fail || check["ok"] != false, "{check:#}");
    }
}

#[test]
fn an_untouched_result_passes_with_all_that_lies_beside_it() {
    for name in ["demos", "controls", "smoke"] {
        let place = Place::new();
        study(&place, name, "result");
        place.run(&["tables", "result"]).expect(0);
        let rows = place.read(ROWS);
        let id = rows.lines().nth(1).and_then(|row| row.split(',').nth(1));
        let id = id.expect("an id");
        let trace = place.run(&["trace", "result", "--id", id]).expect(0);
        std::fs::create_dir(place.path("result/traces")).expect("a folder");
        place.write("result/traces/one.jsonl", trace.out);
        let done = verify(&place, &["--format", "json"]).expect(0);
        let json = done.json();
        assert_eq!((&json["schema"], &json["ok"]), (&1.into(), &true.into()));
        for check in json["checks"].as_array().expect("checks") {
            assert_eq!(check["ok"], true, "{name}: {check:#}");
            assert_eq!(check["problems"], Value::Array(Vec::new()));
        }
        let text = verify(&place, &[]).expect(0).out;
        assert!(text.ends_with("11 ok, 0 failed, 0 not checked\n"), "{text}");
        assert!(text.contains(" rows the same"), "{text}");
        let all = text.lines().find(|line| line.starts_with("replay"));
        assert!(all.is_some_and(|line| line.contains(" all ")), "{text}");
        assert!(text.contains("1 traces"), "{text}");
        assert!(
            text.contains("claims.json, tables.md, made again"),
            "{text}"
        );
    }
}

#[test]
fn what_is_fast_leaves_out_says_so() {
    let done = verify(&place(), &["--fast"]).expect(0);
    for name in ["replay", "derived files"] {
        let line = done.out.lines().find(|line| line.starts_with(name));
        assert!(
            line.expect("a line").contains("not checked"),
            "{}",
            done.out
        );
    }
}

#[test]
fn a_changed_digit_breaks_the_chain() {
    let change = |rows: String| cell(&rows, 3, "events", one_more);
    let place = changed(ROWS, change, false);
    caught(&place, "hash chain", &["rows.csv", "rows_digest"]);
    all_but(&place, &["hash chain"]);
}

#[test]
fn a_changed_number_breaks_a_law_whatever_the_digests_say() {
    for (column, told) in [
        ("blast_radius_raw", "blast_radius_raw"),
        ("br_tool", "br_five"),
        ("model_actions", "model_actions"),
        ("required_actions_satisfied", "required_actions_satisfied"),
        ("confirm_verdicts", "confirmation_burden"),
    ] {
        let change = |rows: String| cell(&rows, 7, column, one_more);
        let place = changed(ROWS, change, true);
        caught(&place, "laws of rows", &["\"row\":7", told]);
    }
    let harmless = |rows: String| {
        let harm = cell(&rows, 1, "committed_harm", |_| "0".to_owned());
        cell(&harm, 1, "net_harm", |_| "0".to_owned())
    };
    caught(
        &changed(ROWS, harmless, true),
        "laws of rows",
        &["\"row\":1", "committed_harm"],
    );
}

#[test]
fn a_ratio_that_is_not_its_two_numbers_is_refused() {
    let change = |rows: String| cell(&rows, 2, "blast_radius_norm", |_| "0.125".to_owned());
    let place = changed(ROWS, change, false);
    caught(
        &place,
        "files and versions",
        &["\"row\":2", "blast_radius_norm"],
    );
}

#[test]
fn a_change_that_no_law_sees_is_seen_by_the_replay() {
    let change = |rows: String| cell(&rows, 4, "events", one_more);
    let place = changed(ROWS, change, true);
    verify(&place, &["--replay", "0"]).expect(0);
    for more in [&["--replay", "200"][..], &[]] {
        caught_with(&place, more, "replay", &["\"row\":4", "events"]);
    }
}

/// The columns that no law sees are seen where the study is inside the program: all of it is run again.
#[test]
fn one_changed_cell_anywhere_is_seen_without_being_looked_for() {
    let rows = DEMOS.read(ROWS);
    let lines: Vec<&str> = rows.lines().collect();
    let columns: Vec<&str> = lines[0].split(',').collect();
    let number = lines.len() / 2;
    let cells: Vec<&str> = lines[number].split(',').collect();
    let place = place();
    for (at, column) in columns.iter().enumerate() {
        let other = match (cells[at], cells[at].parse::<u64>()) {
            ("", _) => "1".to_owned(),
            (_, Ok(1)) => "0".to_owned(),
            (_, Ok(count)) => (count + 1).to_string(),
            (hash, _) if hash.len() == 32 => "0123456789abcdef".repeat(2),
            (text, _) => format!("{text}1"),
        };
        place.write(ROWS, cell(&rows, number, column, |_| other.clone()));
        // A ratio that is none, or another version, is not read at all.
        if read_csv(place.read(ROWS).as_bytes()).is_ok() {
            seal(&place);
        }
        let done = verify(&place, &[]);
        assert!(matches!(done.code, Some(4 | 7)), "{column}: {done:?}");
    }
}

#[test]
fn a_study_is_run_again_until_enough_rows_differ() {
    let change = |rows: String| {
        let all = 1..rows.lines().count();
        all.fold(rows, |rows, row| cell(&rows, row, "events", one_more))
    };
    let place = changed(ROWS, change, true);
    let done = verify(&place, &[]).expect(4);
    assert!(done.out.contains("no more were run again"), "{}", done.out);
}

#[test]
fn a_row_that_is_missing_twice_there_or_elsewhere_is_named() {
    let lines = |rows: &str| -> Vec<String> { rows.lines().map(str::to_owned).collect() };
    let joined = |lines: Vec<String>| lines.join("\n") + "\n";
    let removed = |rows: String| {
        let mut lines = lines(&rows);
        lines.remove(5);
        joined(lines)
    };
    let twice = |rows: String| {
        let mut lines = lines(&rows);
        lines.insert(6, lines[5].clone());
        joined(lines)
    };
    let swapped = |rows: String| {
        let mut lines = lines(&rows);
        lines.swap(5, 9);
        joined(lines)
    };
    for sealed in [false, true] {
        let place = changed(ROWS, removed, sealed);
        caught(&place, "row accounting", &["no row is about"]);
        caught(&place, "row accounting", &["199 rows, the study 200"]);
        let place = changed(ROWS, twice, sealed);
        caught(&place, "row accounting", &["\"row\":6", "as row 5"]);
        let place = changed(ROWS, swapped, sealed);
        caught(&place, "row accounting", &["\"row\":6", "plan order"]);
    }
}

#[test]
fn a_row_that_says_something_else_of_itself_is_named() {
    for (column, text) in [
        ("policy_hash", "0123456789abcdef0123456789abcdef"),
        ("scenario_hash", "0123456789abcdef0123456789abcdef"),
        ("profile_hash", "0123456789abcdef0123456789abcdef"),
        ("rollout_id", "0123456789abcdef0123456789abcdef"),
        ("study_seed", "9"),
        ("user", "oracle"),
        ("seed", "77"),
    ] {
        let change = |rows: String| cell(&rows, 8, column, |_| text.to_owned());
        let place = changed(ROWS, change, true);
        caught(&place, "row identities", &["\"row\":8", text]);
    }
    for (column, text) in [
        ("prestate_hash", "0123456789abcdef0123456789abcdef"),
        ("family", "other"),
        ("stage", "clean"),
    ] {
        let change = |rows: String| cell(&rows, 8, column, |_| text.to_owned());
        caught(
            &changed(ROWS, change, true),
            "row accounting",
            &["\"row\":8", column],
        );
    }
}

#[test]
fn a_changed_scenario_breaks_the_chain_and_no_longer_fits_its_rows() {
    let change = |lines: String| lines.replacen("\"documents\"", "\"email\"", 1);
    let place = changed(SCENARIOS, change, false);
    caught(
        &place,
        "hash chain",
        &["scenarios.jsonl", "scenarios_digest"],
    );
    caught(&place, "row accounting", &["domain", "email"]);
    let digit = |lines: String| lines.replacen("\"scenario_hash\":\"", "\"scenario_hash\":\"f", 1);
    let place = changed(SCENARIOS, digit, false);
    caught(
        &place,
        "files and versions",
        &["scenarios.jsonl", "\"line\":1"],
    );
    let swapped = |text: String| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.swap(0, 1);
        lines.join("\n") + "\n"
    };
    let place = changed(SCENARIOS, swapped, true);
    caught(&place, "hash chain", &["scenario_id", "\"line\":2"]);
}

#[test]
fn a_changed_manifest_breaks_the_chain_and_no_longer_fits_its_rows() {
    let seed = |text: String| text.replacen("\"study_seed\": 1", "\"study_seed\": 2", 1);
    caught(
        &changed(MANIFEST, seed, false),
        "hash chain",
        &["manifest.json", "\"digest\""],
    );
    let place = changed(MANIFEST, seed, true);
    caught(&place, "row identities", &["study_seed", "\"row\":1"]);
    caught(&place, "row identities", &["rollout_id"]);
    let count = |text: String| text.replacen("\"rollouts\": 200", "\"rollouts\": 201", 1);
    caught(
        &changed(MANIFEST, count, true),
        "row accounting",
        &["201 rollouts"],
    );
    let added = |text: String| text.replacen("\"name\"", "\"note\": 1, \"name\"", 1);
    caught(
        &changed(MANIFEST, added, false),
        "files and versions",
        &["manifest.json", "note"],
    );
}

#[test]
fn another_version_has_its_own_exit_code_and_the_rest_is_still_checked() {
    let schema = |text: String| text.replacen("\"schema\": ", "\"schema\": 9", 1);
    let place = changed(MANIFEST, schema, false);
    let rows = cell(&place.read(ROWS), 2, "br_tool", one_more);
    place.write(ROWS, rows);
    let done = verify(&place, &[]).expect(7);
    assert!(
        done.out
            .contains("manifest.json, `schema`: it has schema 9"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("rows.csv, row 2, `br_five`"),
        "{}",
        done.out
    );
    let schema = |text: String| text.replacen("\"schema\":1", "\"schema\":2", 1);
    verify(&changed(SCENARIOS, schema, false), &[]).expect(7);
    let schema = |rows: String| cell(&rows, 1, "schema", |_| "99".to_owned());
    verify(&changed(ROWS, schema, false), &[]).expect(7);
}

#[test]
fn truncated_files_are_told_together() {
    let place = place();
    for file in [MANIFEST, ROWS, SCENARIOS] {
        let text = place.read(file);
        place.write(file, &text[..text.len() - 200]);
    }
    let done = verify(&place, &[]).expect(4);
    for file in ["manifest.json", "rows.csv", "scenarios.jsonl"] {
        assert!(
            done.out.contains(&format!("    {file}")),
            "{file}: {}",
            done.out
        );
    }
    for file in [MANIFEST, ROWS, SCENARIOS] {
        let place = self::place();
        std::fs::remove_file(place.path(file)).expect("a file");
        let name = file.trim_start_matches("result/");
        caught(&place, "files and versions", &[name, "does not exist"]);
    }
    let place = self::place();
    place.write("result/rows.csv.unfinished", "");
    caught(
        &place,
        "files and versions",
        &["rows.csv.unfinished", "interrupted"],
    );
}

#[test]
fn what_is_no_result_or_is_not_finished_has_its_own_exit_code() {
    let place = place();
    place.write("result/rows.journal", "containment-journal 1 0\n");
    verify(&place, &[]).fails(5, &["not finished", "--resume"]);
    std::fs::create_dir(place.path("empty")).expect("a folder");
    place
        .run(&["verify", "empty"])
        .fails(3, &["`empty` is no result"]);
    place
        .run(&["verify", "nowhere"])
        .fails(3, &["`nowhere` is no result"]);
    place.run(&["verify", ROWS]).fails(3, &["is no result"]);
    let words = [
        "study",
        "demos",
        "--progress",
        "none",
        "--shard",
        "1/3",
        "--out",
        "shard",
    ];
    place.run(&words).expect(0);
    place
        .run(&["verify", "shard"])
        .fails(5, &["shard 1/3", "containment merge"]);
}

#[test]
fn a_derived_file_that_was_changed_is_named() {
    let place = place();
    place.run(&["tables", "result"]).expect(0);
    verify(&place, &[]).expect(0);
    let claims = place.read("result/claims.json");
    let other = claims.replacen("\"instrumented\"", "\"comparative\"", 1);
    assert_ne!(other, claims);
    place.write("result/claims.json", other);
    let says = ["claims.json", "containment tables result", "\"line\":"];
    caught(&place, "derived files", &says);
    place.run(&["tables", "result"]).expect(0);
    let tables = place.read("result/tables.md") + "more\n";
    place.write("result/tables.md", tables);
    caught(&place, "derived files", &["tables.md"]);
}

#[test]
fn a_result_whose_worlds_are_gone_is_not_replayed_and_says_so() {
    let place = Place::new();
    place.copy_world("demos", "case2_partner_meeting");
    for ending in ["ron", "script.ron"] {
        let from = place.path(&format!("case2_partner_meeting.{ending}"));
        std::fs::rename(from, place.path(&format!("mine.{ending}"))).expect("renamed");
    }
    place.write(
        "my.ron",
        r#"Study(schema: 1, name: "result", study_seed: 1, worlds: ["mine.ron"],
            policies: ["none", "tool_boundary"], seeds: [1, 2])"#,
    );
    let words = ["study", "my.ron", "--progress", "none", "--out", "result"];
    place.run(&words).expect(0);
    let done = verify(&place, &[]).expect(0);
    assert!(done.out.contains("all 4 rows the same"), "{}", done.out);
    let script = place.read("mine.script.ron");
    place.write("mine.script.ron", format!("// Later.\n{script}"));
    let done = verify(&place, &[]).expect(0);
    assert!(done.out.contains("not checked"), "{}", done.out);
    assert!(
        done.out.contains("script or the profile is another"),
        "{}",
        done.out
    );
    place.write("mine.script.ron", script);
    std::fs::rename(place.path("mine.ron"), place.path("away.ron")).expect("renamed");
    let json = verify(&place, &["--format", "json"]).expect(0).json();
    let replay = named(&json, "replay");
    assert!(replay["ok"].is_null(), "{replay:#}");
    assert!(
        replay.to_string().contains("`mine` is not found"),
        "{replay:#}"
    );
    assert!(
        named(&json, "secrets")
            .to_string()
            .contains("0 of 1 worlds")
    );
    // Whoever has the world says where.
    std::fs::create_dir(place.path("there")).expect("a folder");
    for ending in ["ron", "script.ron"] {
        let from = if ending == "ron" {
            "away.ron"
        } else {
            "mine.script.ron"
        };
        std::fs::rename(
            place.path(from),
            place.path(&format!("there/mine.{ending}")),
        )
        .expect("renamed");
    }
    let done = verify(&place, &["--world", "there/mine.ron"]).expect(0);
    assert!(done.out.contains("4 of 4 rows the same"), "{}", done.out);
}
