//! `diff`: where two traces, or two results, differ.

use super::Place;
use super::records::{CASE_2, forge_rows, place_with_result};

#[test]
fn an_allowed_call_is_compared_without_a_denial() {
    let place = Place::new();
    for (policy, file) in [
        ("intent_ledger_v2", "a.jsonl"),
        ("taint_only_v1", "b.jsonl"),
    ] {
        place
            .run(&["run", CASE_2, "--policy", policy, "--trace", file])
            .expect(0);
    }
    let text = place.run(&["diff", "a.jsonl", "b.jsonl"]).expect(6).out;
    assert!(text.contains("confirmation_required"), "{text}");
    assert!(!text.contains("plugin_fault"), "{text}");
}

#[test]
fn results_are_compared_cell_by_cell() {
    let place = place_with_result();
    place
        .run(&["study", "demos", "--progress", "none", "--out", "again"])
        .expect(0);
    let same = place.run(&["diff", "results/demos", "again"]).expect(0);
    assert_eq!(same.out, "all 200 rows are the same\n");
    place
        .run(&["study", "demos", "--seed", "9", "--out", "other"])
        .expect(0);
    let other = place.run(&["diff", "results/demos", "other"]).expect(6).out;
    assert!(other.contains("200 rows are only in other"), "{other}");
    forge_rows(&place, |text| {
        text.replacen(",completed,", ",limit_reached:ticks,", 1)
    });
    let json = place
        .run(&["diff", "results/demos", "again", "--format", "json"])
        .expect(6)
        .json();
    let cells = json["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0]["column"], "outcome");
    assert_eq!(cells[0]["values"][1], "completed");
    let text = place.run(&["diff", "results/demos", "again"]).expect(6).out;
    assert!(text.contains("1 cells differ in 200 common rows"), "{text}");
    place
        .run(&["run", CASE_2, "--policy", "none", "--trace", "a.jsonl"])
        .expect(0);
    place
        .run(&["diff", "again", "a.jsonl"])
        .fails(2, &["cannot be compared"]);
}

/// The rows are the same, and a denominator of Table 14 is another.
#[test]
fn results_of_other_settings_are_not_the_same() {
    let place = Place::new();
    for (name, declared) in [("one", "\"none\""), ("two", "\"none\", \"prompt_only\"")] {
        let text = format!(
            "Study(schema: 1, name: \"{name}\", study_seed: 1, worlds: [\"case2_partner_meeting\"], \
             policies: [\"none\", \"prompt_only\"], seeds: [1], denominator_policies: [{declared}])"
        );
        place.write(&format!("{name}.ron"), text);
        place
            .run(&["study", &format!("{name}.ron"), "--out", name])
            .expect(0);
    }
    let text = place.run(&["diff", "one", "two"]).expect(6).out;
    assert!(
        text.contains("denominator_policies") && text.contains("all 2 rows are the same"),
        "{text}"
    );
    let json = place
        .run(&["diff", "one", "two", "--format", "json"])
        .expect(6)
        .json();
    assert_eq!(json["manifest"][0]["key"], "denominator_policies");
}
