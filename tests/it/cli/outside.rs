//! Policies, attackers and auditors from outside the program, as a user brings them.

mod book;
mod faults;
mod identity;

use std::collections::BTreeMap;

use study::row::{Row, read_csv};

use super::{Done, Place};

/// The one policy that is written in every language.
const EVERYWHERE: &[&str] = &[
    "recipient_guard",
    "rules:policies/recipient_guard/recipient_guard.rules.ron",
    "process:policies/recipient_guard/recipient_guard.py",
    #[cfg(feature = "cedar")]
    "cedar:policies/recipient_guard/recipient_guard.cedar",
    #[cfg(feature = "wasm")]
    "wasm:policies/recipient_guard/recipient_guard.wasm",
];

/// A folder in which the files of the project lie as in the project.
fn project() -> Place {
    let place = Place::new();
    for folder in ["worlds", "policies", "examples", "models"] {
        let there = crate::support::root().join(folder);
        std::os::unix::fs::symlink(there, place.path(folder)).expect("a link to the project");
    }
    place
}

/// Runs a study under these policies, into the folder `out`.
fn study(place: &Place, name: &str, policies: &[&str], out: &str, more: &[&str]) -> Done {
    let policies = policies.join(",");
    let words = ["study", name, "--policies", &policies, "--out", out];
    place.run(&[&words[..], more].concat())
}

/// The rows of a result, in plan order.
fn rows(place: &Place, out: &str) -> Vec<Row> {
    let text = place.read(&format!("{out}/rows.csv"));
    read_csv(text.as_bytes()).expect("rows that the program wrote")
}

/// Every cell of a row but those that say which policy it is.
fn cells(row: &Row) -> BTreeMap<String, String> {
    const OF_THE_POLICY: [&str; 6] = [
        "rollout_id",
        "policy",
        "policy_hash",
        "policy_kind",
        "policy_version",
        "policy_content",
    ];
    let names = study::row::row_columns().iter();
    let names = names.map(|column| column.name().into_owned());
    let cells = row.cells().into_iter().map(|cell| cell.to_string());
    let mut cells: BTreeMap<String, String> = names.zip(cells).collect();
    cells.retain(|name, _| !OF_THE_POLICY.contains(&name.as_str()));
    cells
}

/// Fails unless the rows under all policies of a study are the same.
#[track_caller]
fn assert_same_under_all(rows: &[Row], policies: usize) {
    assert!(!rows.is_empty());
    for group in rows.chunks(policies) {
        let first = cells(&group[0]);
        for other in &group[1..] {
            let other_cells = cells(other);
            let differing = first.iter().zip(&other_cells).find(|(a, b)| a != b);
            assert_eq!(
                differing, None,
                "{} under {} and {}",
                group[0].identity.scenario_id, group[0].identity.policy, other.identity.policy
            );
        }
    }
}

/// Done means 1: the whole study, every language.
#[test]
fn one_policy_in_every_language_gives_the_same_rows_on_the_whole_study() {
    let place = project();
    study(&place, "full_main", EVERYWHERE, "all", &[]).expect(0);
    let rows = rows(&place, "all");
    assert_eq!(rows.len(), 504 * 5 * EVERYWHERE.len());
    assert_same_under_all(&rows, EVERYWHERE.len());
    let rules: std::collections::BTreeSet<String> = rows
        .iter()
        .filter_map(|row| row.metrics.endpoints.terminal_rule.as_ref())
        .map(|rule| rule.to_string())
        .collect();
    for rule in ["tainted_recipient", "unlisted_action"] {
        assert!(
            rules.contains(rule),
            "no rollout ends with {rule}: {rules:?}"
        );
    }
    let faults = rows.iter().map(|row| row.metrics.endpoints.plugin_faults);
    assert!(faults.flatten().all(|count| count == 0));
}

/// The same, decision by decision: verdict and rule on every call.
#[test]
fn one_policy_in_every_language_decides_the_same_on_every_call() {
    let place = project();
    for other in &EVERYWHERE[1..] {
        let words = ["diff", EVERYWHERE[0], other, "--study", "smoke"];
        let done = place.run(&words).expect(0);
        assert!(
            done.out.contains("verdict   differs on 0 calls"),
            "{}",
            done.out
        );
    }
}

#[cfg(feature = "cedar")]
#[test]
fn the_policies_in_cedar_decide_as_the_built_in_ones_on_every_proposal_of_the_study() {
    let place = project();
    for name in ["tool_boundary", "intent_ledger_v2"] {
        let cedar = format!("cedar:policies/cedar/{name}.cedar");
        let out = format!("under_{name}");
        study(&place, "full_main", &[name, &cedar], &out, &[]).expect(0);
        assert_same_under_all(&rows(&place, &out), 2);
        // In the shadow of no defence both are asked about calls that one of them would have stopped.
        let words = ["diff", name, &cedar, "--study", "full_main"];
        let done = place.run(&words).expect(0);
        assert!(
            done.out.contains("verdict   differs on 0 calls"),
            "{}",
            done.out
        );
    }
}

#[test]
fn two_versions_of_a_policy_are_compared_call_by_call() {
    let place = project();
    let text = place.read("policies/recipient_guard/recipient_guard.rules.ron");
    let milder = text.replace(
        "then: Block, denial: TaintedPrivilegeJump",
        "then: Confirm, denial: ConfirmationRequired",
    );
    assert_ne!(text, milder);
    place.write("old.rules.ron", &text);
    place.write("new.rules.ron", milder);
    let words = [
        "diff",
        "rules:old.rules.ron",
        "rules:new.rules.ron",
        "--study",
        "smoke",
    ];
    let out = place.run(&words).expect(6).out;
    for told in ["block tainted_recipient", "confirm tainted_recipient"] {
        assert!(out.contains(told), "{out}");
    }
    let json = place.run(&[&words[..], &["--format", "json"]].concat());
    let json = json.expect(6).json();
    assert_eq!(json["covered"][0], json["calls"]);
    let differences = json["differences"].as_array().expect("a list");
    assert!(!differences.is_empty());
    for difference in differences {
        for ruling in difference["rulings"].as_array().expect("two") {
            assert_eq!(ruling["rule"], "tainted_recipient");
        }
    }
    let same = ["diff", "none", "rules:old.rules.ron", "--study", "absent"];
    place.run(&same).fails(3, &["absent"]);
}

#[test]
fn a_shadow_has_columns_of_its_own_and_changes_no_other() {
    let place = project();
    let live = ["none", "tool_boundary", EVERYWHERE[2]];
    study(&place, "smoke", &live, "alone", &[]).expect(0);
    let shadow = ["--shadow", EVERYWHERE[1]];
    let told = study(&place, "smoke", &live, "shadowed", &shadow).expect(0);
    assert!(
        told.out.contains("shadow rules:recipient_guard"),
        "{}",
        told.out
    );
    let (alone, shadowed) = (rows(&place, "alone"), rows(&place, "shadowed"));
    assert_eq!(alone.len(), shadowed.len());
    let mut refused = 0;
    for (a, b) in alone.iter().zip(&shadowed) {
        assert_eq!((&a.identity, &a.metrics), (&b.identity, &b.metrics));
        assert_eq!(a.shadow, study::row::Shadowed::default());
        assert_eq!(b.shadow.shadow.as_deref(), Some("rules:recipient_guard"));
        assert_eq!(b.shadow.shadow_covered, b.shadow.shadow_proposals);
        refused += b.shadow.shadow_refuses.unwrap_or_default();
        if &*b.identity.policy == "process:recipient_guard" {
            assert_eq!(b.shadow.shadow_differs, Some(0), "the same policy");
        }
    }
    assert!(refused > 100, "{refused}");
    place.run(&["replay", "shadowed", "--processes"]).expect(0);
    place.run(&["verify", "shadowed", "--processes"]).expect(0);
}

/// What lacks the facts that it asks for is no evidence: the report says so before anything else.
#[test]
fn the_coverage_of_a_shadow_comes_first() {
    let place = project();
    place.write(
        "amounts.rules.ron",
        r#"Rules(schema: 1, missing: Block, rules: [
            (rule: "large_amount", at: Proposal, when: [HighRisk, Argument(name: "amount", is: AtLeast(100))], then: Block, denial: OutsideUserGoal),
        ])"#,
    );
    let done = place.run(&["study", "smoke", "--shadow", "rules:amounts.rules.ron"]);
    let out = done.expect(0).out;
    let heading = out
        .lines()
        .find(|line| line.starts_with("policy  "))
        .expect("a table");
    let words: Vec<&str> = heading.split_whitespace().take(2).collect();
    assert_eq!(words, ["policy", "coverage"]);
    let none = out.lines().rfind(|line| line.starts_with("none "));
    let coverage = none
        .and_then(|line| line.split_whitespace().nth(1))
        .expect("a share");
    let coverage: f64 = coverage.parse().expect("a number");
    assert!(coverage < 0.9, "{coverage}");
}

#[test]
fn policies_are_composed_on_the_command_line_and_in_a_study() {
    let place = project();
    let composed = format!("strictest(tool_boundary, {})", EVERYWHERE[1]);
    let run = ["run", "case1_violation_commits", "--policy", &composed];
    let row = place.run(&run).expect(0).json();
    assert_eq!(
        row["policy"],
        "strictest(tool_boundary,rules:recipient_guard)"
    );
    assert_eq!(row["policy_kind"], "composed");
    place.write(
        "mine.ron",
        r#"Study(schema: 1, name: "mine", study_seed: 1, worlds: ["case1_violation_commits"],
            policies: ["none", "first_hit(rules:policies/recipient_guard/recipient_guard.rules.ron, tool_boundary)",
                "priority(1: tool_boundary, 2: none)", "intent_ledger_v2(jump_rule=off)"],
            denominator_policies: ["none"],
            shadow: "process:policies/recipient_guard/recipient_guard.py", seeds: [1, 2])"#,
    );
    place.run(&["check", "mine.ron"]).expect(0);
    place.run(&["study", "mine.ron"]).expect(0);
    let rows = rows(&place, "results/mine");
    let names: Vec<&str> = rows
        .iter()
        .take(4)
        .map(|row| &*row.identity.policy)
        .collect();
    let expected = [
        "none",
        "first_hit(rules:recipient_guard,tool_boundary)",
        "priority(1:tool_boundary,2:none)",
        "intent_ledger_v2(jump_rule=off)",
    ];
    assert_eq!(names, expected);
    place
        .run(&["replay", "results/mine", "--processes"])
        .expect(0);
    place
        .run(&["verify", "results/mine", "--processes"])
        .expect(0);
}

#[test]
fn attackers_and_auditors_load_by_process_too() {
    let place = project();
    let world = "case1_violation_commits";
    let run = ["run", world, "--policy", "none"];
    let plain = place.run(&run).expect(0).json();
    let attacker = [
        "--attacker",
        "process:examples/plugins/insistent_attacker.py",
    ];
    let auditor = ["--auditor", "process:examples/plugins/tainted_effects.py"];
    let done = place
        .run(&[&run[..], &attacker, &auditor].concat())
        .expect(0);
    assert!(
        done.err.contains("process:tainted_effects: "),
        "{}",
        done.err
    );
    assert!(done.err.contains("tainted_side_effect"), "{}", done.err);
    let row = done.json();
    assert_eq!(row["committed_harm"], plain["committed_harm"]);
    // At first it says what the world says.
    assert_eq!(row["scenario_hash"], plain["scenario_hash"]);
    let fixed = ["--attacker", "fixed", "--auditor", "closure"];
    let done = place.run(&[&run[..], &fixed].concat()).expect(0);
    assert_eq!(done.json(), plain);
    assert!(done.err.contains("closure: 0 findings"), "{}", done.err);
    let wrong = ["--attacker", "rules:policies/rules/rate_limit.rules.ron"];
    place
        .run(&[&run[..], &wrong].concat())
        .fails(3, &["runs policies only"]);
}

#[test]
fn what_is_written_to_begin_with_keeps_the_contract() {
    let place = project();
    for (host, file) in [("rules", "mine.rules.ron"), ("process", "mine.py")] {
        place
            .run(&["new", "policy", &format!("--{host}"), "mine"])
            .expect(0);
        let done = place.run(&["plugin", "check", file, "--world", "case2_partner_meeting"]);
        assert!(done.expect(0).out.contains("keeps the contract"));
        place
            .run(&["new", "policy", &format!("--{host}"), "mine"])
            .fails(2, &["is there already"]);
    }
    place
        .run(&["new", "policy", "--rules", "Mine"])
        .fails(2, &["lower-case"]);
    place.run(&["new", "policy", "mine"]).fails(2, &["--rules"]);
}
