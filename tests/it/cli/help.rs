//! What the program says of itself: help, lists, explanations.

use worlds::diagnostic::TABLE;

use super::Place;

const COMMANDS: [&str; 21] = [
    "study",
    "merge",
    "tables",
    "scorecard",
    "verify",
    "figures",
    "cases",
    "calibrate",
    "run",
    "step",
    "pair",
    "trace",
    "check",
    "replay",
    "diff",
    "parse",
    "measure",
    "plugin",
    "new",
    "list",
    "explain",
];
const KINDS: [&str; 9] = [
    "policies",
    "models",
    "parsers",
    "attackers",
    "auditors",
    "worlds",
    "metrics",
    "rules",
    "codes",
];

#[test]
fn every_command_has_help_and_exit_codes_are_in_it() {
    let place = Place::new();
    let help = place.run(&["--help"]).expect(0);
    for command in COMMANDS {
        assert!(
            help.out.contains(&format!("\n  {command} ")),
            "{command}: {}",
            help.out
        );
        let own = place.run(&[command, "--help"]).expect(0);
        assert!(own.out.contains("Usage: containment"), "{}", own.out);
    }
    assert!(
        help.out
            .contains("7  a file is written for another version"),
        "{}",
        help.out
    );
    let step = place.run(&["step", "--help"]).expect(0);
    assert!(
        step.out.contains("tick     when, in ticks of virtual time"),
        "{}",
        step.out
    );
}

#[test]
fn a_wrong_command_line_is_told_and_nothing_is_printed() {
    let place = Place::new();
    let world = "case2_partner_meeting";
    for (words, says) in [
        (&["rnu"][..], "rnu"),
        (&["run", world][..], "--policy"),
        (
            &["run", world, "--policy", "nome"][..],
            "did you mean `none`?",
        ),
        (
            &["run", world, "--policy", "none", "--model", "script"][..],
            "scripted",
        ),
        (
            &["run", world, "--policy", "none", "--set", "a=b"][..],
            "no parameter `a`",
        ),
        (
            &["run", world, "--policy", "none", "--set", "a"][..],
            "KEY=VALUE",
        ),
        (
            &["run", world, "--policy", "none", "--seed", "x"][..],
            "--seed",
        ),
        (
            &[
                "run",
                world,
                "--policy",
                "none",
                "--instrumentation",
                "papr",
            ][..],
            "`full`",
        ),
        (
            &["run", world, "--policy", "none", "--reveal"][..],
            "--trace",
        ),
        (
            &["step", world, "--policy", "none", "--script", "n;x"][..],
            "`x` is no command",
        ),
        (&["pair", world, "--policies", "none"][..], "two policies"),
        (
            &[
                "pair",
                world,
                "--policies",
                "none,tool_boundary",
                "--at",
                "3",
            ][..],
            "--under",
        ),
        (&["explain", "W0002"][..], "did you mean"),
        (&["list", "polices"][..], "policies"),
        (
            &["parse", "-", "--world", "case8_parser_validity"][..],
            "archivist",
        ),
    ] {
        let done = place.run(words).fails(2, &[says]);
        assert_eq!(done.out, "", "{words:?}");
    }
}

/// A row says all of this itself, so an option beside it would be passed over in silence.
#[test]
fn a_row_takes_no_option_that_it_answers() {
    let place = Place::new();
    for (option, value) in [
        ("--policy", "none"),
        ("--set", "a=b"),
        ("--model", "scripted"),
        ("--seed", "1"),
        ("--study-seed", "1"),
        ("--instrumentation", "full"),
        ("--user", "oracle"),
    ] {
        let words = ["trace", "results/demos", "--id", "1", option, value];
        let done = place.run(&words).fails(2, &["cannot be used with", option]);
        assert_eq!(done.out, "", "{option}");
    }
}

#[test]
fn lists_hold_what_there_is_as_text_and_as_json() {
    let place = Place::new();
    for kind in KINDS {
        let text = place.run(&["list", kind]).expect(0).out;
        let json = place
            .run(&["list", kind, "--format", "json"])
            .expect(0)
            .json();
        let items = json["items"].as_array().expect("items");
        assert!(!items.is_empty(), "{kind}");
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{kind}: {line}");
        }
        for item in items {
            let name = ["name", "id", "code"]
                .iter()
                .find_map(|key| item[*key].as_str());
            let name = name.expect("an item has a name");
            assert!(
                text.lines().any(|line| line.starts_with(name)),
                "{kind}: {name}"
            );
        }
    }
    let policies = place.run(&["list", "policies"]).out;
    for policy in crate::support::POLICIES {
        assert!(policies.contains(policy), "{policy}");
    }
}

#[test]
fn every_code_rule_and_column_is_explained() {
    let place = Place::new();
    for kind in ["codes", "rules", "metrics"] {
        let list = place.run(&["list", kind, "--format", "json"]).json();
        let items = list["items"].as_array().expect("items");
        let names = items.iter().map(|item| {
            let mut keys = ["code", "id", "name"].iter();
            keys.find_map(|key| item[*key].as_str())
                .expect("an item has a name")
        });
        let words: Vec<&str> = ["explain"].into_iter().chain(names).collect();
        let text = place.run(&words).expect(0).out;
        for name in &words[1..] {
            assert!(text.contains(name), "{name}");
        }
    }
    let composed = place
        .run(&["explain", "block_secret_leak+block_outside_user_goal"])
        .expect(0);
    assert!(
        composed.out.contains("block_outside_user_goal (paper)"),
        "{}",
        composed.out
    );
    assert_eq!(TABLE[0].id, "W001");
    let code = place.run(&["explain", "w001"]).expect(0).out;
    assert!(code.contains("wrong:") && code.contains("right:"), "{code}");
}

#[test]
fn policies_and_headings_of_the_study_table_are_explained() {
    let place = Place::new();
    for policy in crate::support::POLICIES {
        let text = place.run(&["explain", policy]).expect(0).out;
        assert!(text.starts_with(&format!("{policy} (policy)")), "{text}");
    }
    let policy = place.run(&["explain", "intent_ledger_v2"]).expect(0).out;
    for says in ["--set jump_rule=on_unresolved_field", "allow_ledger_match"] {
        assert!(policy.contains(says), "{policy}");
    }
    let study = place
        .run(&["study", "demos", "--progress", "none"])
        .expect(0)
        .out;
    let headings = study.lines().next().expect("headings").split("  ");
    let headings = headings.map(str::trim).filter(|name| !name.is_empty());
    let of_means = ["recipient", "leak", "completed", "clean"];
    let words = ["explain"].into_iter().chain(headings).chain(of_means);
    let words: Vec<&str> = words.collect();
    assert!(words.contains(&"fp block"), "{words:?}");
    let text = place.run(&words).expect(0).out;
    for says in [
        "`tcr` in the table of a study is the column taint_to_commit_rate (ratio)",
        "`fp block` in the table of a study is the column false_positive_block_rate (ratio)",
        "`clean` in the table of a study is the column clean_benign_completion",
    ] {
        assert!(text.contains(says), "no `{says}` in {text}");
    }
}

#[test]
fn headings_metrics_and_statuses_of_tables_are_explained() {
    let place = Place::new();
    for (asked, told) in [
        ("Win rate", "strictly better"),
        ("fp block", "false_positive_block_rate"),
        ("Policy violation", "committed_harm"),
        ("logged spread", "blast_radius_norm"),
        ("confirmation burden", "confirmation_burden"),
        ("instrumented", "no positive control"),
    ] {
        let text = place.run(&["explain", asked]).expect(0).out;
        assert!(text.contains(told), "{asked}: {text}");
    }
    let done = place.run(&["explain", "win rates"]).expect(2);
    assert!(done.err.contains("Win rate"), "{}", done.err);
}

#[test]
fn what_is_known_is_explained_before_what_is_not_is_told() {
    let place = Place::new();
    let words = ["explain", "tcx", "W001", "nothing_such", "none"];
    let done = place.run(&words);
    for says in ["W001 (", "none (policy)"] {
        assert!(done.out.contains(says), "{done:#?}");
    }
    let unknown = [
        "nothing is called `tcx`",
        "nothing is called `nothing_such`",
    ];
    done.fails(2, &unknown);
}
