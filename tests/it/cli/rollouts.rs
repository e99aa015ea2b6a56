//! `run`, `trace`, `step` and `pair`.

use serde_json::Value;

use super::{Place, word};

const CASE_2: &str = "case2_partner_meeting";

#[test]
fn run_prints_one_row() {
    let place = Place::new();
    let words = ["run", CASE_2, "--policy", "intent_ledger_v2", "--seed", "7"];
    let done = place.run(&words).expect(0);
    assert_eq!(done.out.lines().count(), 1);
    assert_eq!(done.err, "");
    let row = done.json();
    assert_eq!(row["schema"], 6);
    assert_eq!(row["seed"], 7);
    assert_eq!(row["scenario_id"], CASE_2);
    assert_eq!(row["authorized_tainted_action_success"], 1);
    assert_eq!(row["taint_to_commit_rate_numerator"], 2);
    assert_eq!(place.run(&words).out, done.out);
}

#[test]
fn a_row_can_be_printed_as_lines() {
    let place = Place::new();
    let words = ["run", CASE_2, "--policy", "intent_ledger_v2"];
    let json = place.run(&words).json();
    let text = [&words[..], &["--format", "text"]].concat();
    let text = place.run(&text).expect(0).out;
    let row = json.as_object().expect("a row");
    assert_eq!(text.lines().count(), row.len());
    for ((name, value), line) in row.iter().zip(text.lines()) {
        let (column, cell) = line.split_once("  ").expect("two columns");
        assert_eq!(column, name);
        let cell = cell.trim_start();
        match value.as_f64() {
            Some(number) => assert_eq!(cell.parse(), Ok(number), "{name}"),
            None => assert_eq!(cell, value.as_str().unwrap_or("null"), "{name}"),
        }
    }
}

#[test]
fn a_world_file_is_the_shipped_world_of_the_same_text() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let shipped = place.run(&["run", CASE_2, "--policy", "none"]).expect(0);
    let file = place
        .run(&["run", "case2_partner_meeting.ron", "--policy", "none"])
        .expect(0);
    assert_eq!(file.out, shipped.out);
}

#[test]
fn settings_and_parameters_reach_the_row() {
    let place = Place::new();
    let words = ["run", CASE_2, "--policy", "intent_ledger_v2"];
    let plain = place.run(&words).json();
    let more = [
        "--study-seed",
        "5",
        "--instrumentation",
        "full",
        "--user",
        "rubber_stamp",
    ];
    let row = place.run(&[&words[..], &more[..]].concat()).json();
    assert_eq!(row["study_seed"], 5);
    assert_eq!(row["instrumentation"], "full");
    assert_eq!(row["user"], "rubber_stamp");
    let set = place
        .run(&[&words[..], &["--set", "jump_rule=on_any_taint"]].concat())
        .json();
    assert_ne!(set["policy_hash"], plain["policy_hash"]);
    assert_eq!(set["authorized_tainted_action_success"], 0);
}

#[test]
fn a_trace_is_redacted_unless_revealed() {
    let place = Place::new();
    let words = ["run", CASE_2, "--policy", "taint_only_v1", "--trace"];
    place.run(&[&words[..], &["a.jsonl"]].concat()).expect(0);
    place
        .run(&[&words[..], &["b.jsonl", "--reveal"]].concat())
        .expect(0);
    let (redacted, revealed) = (place.read("a.jsonl"), place.read("b.jsonl"));
    assert!(!redacted.contains("Tuesday 10:00"));
    assert!(revealed.contains("Tuesday 10:00"));
    let header: Value =
        serde_json::from_str(redacted.lines().next().expect("a header")).expect("JSON");
    assert_eq!(header["type"], "header");
    assert_eq!(header["policy"], "taint_only_v1");
    assert_eq!(header["user"], "absent");
    assert_eq!(header["redacted"], true);
    let printed = place
        .run(&["trace", CASE_2, "--policy", "taint_only_v1"])
        .expect(0);
    assert_eq!(printed.out, redacted);
}

/// The keys are those of docs/SEMANTICS.md, in its order.
#[test]
fn a_header_says_what_it_takes_to_run_the_rollout_again() {
    let place = Place::new();
    let words = ["trace", CASE_2, "--policy", "intent_ledger_v2"];
    let more = ["--set", "jump_rule=off", "--user", "rubber_stamp"];
    let trace = place.run(&[&words[..], &more].concat()).expect(0).out;
    let header: Value =
        serde_json::from_str(trace.lines().next().expect("a header")).expect("JSON");
    let keys: Vec<&String> = header.as_object().expect("an object").keys().collect();
    let documented = "type schema scenario scenario_hash policy model study_seed seed \
                      instrumentation redacted user policy_parameters policy_hash profile_hash";
    assert_eq!(keys, documented.split(' ').collect::<Vec<_>>());
    assert_eq!(header["user"], "rubber_stamp");
    assert_eq!(header["policy_parameters"]["jump_rule"], "off");
    let row = place
        .run(&[&["run"], &words[1..], &more].concat())
        .expect(0)
        .json();
    for hash in ["scenario_hash", "policy_hash", "profile_hash"] {
        assert_eq!(header[hash], row[hash], "{hash}");
    }
}

#[test]
fn a_trace_can_be_drawn() {
    let place = Place::new();
    let done = place.run(&["trace", CASE_2, "--format", "dot"]).expect(0);
    assert!(done.out.starts_with("digraph {"), "{}", done.out);
    assert!(done.out.contains("note:partner"), "{}", done.out);
}

#[test]
fn step_prints_one_aligned_line_for_each_event() {
    let place = Place::new();
    let done = place
        .run(&["step", CASE_2, "--policy", "none", "--script", "r"])
        .expect(0);
    let lines: Vec<&str> = done.out.lines().collect();
    let details = lines[0].find("details").expect("a header");
    let row = place.run(&["run", CASE_2, "--policy", "none"]).json();
    assert_eq!(
        lines.len() as u64 - 1,
        row["events"].as_u64().expect("a count")
    );
    for line in &lines[1..] {
        assert_eq!(line.as_bytes()[details - 1], b' ', "{line}");
        assert_ne!(line.as_bytes()[details], b' ', "{line}");
    }
    assert!(
        lines[lines.len() - 1].contains("the rollout ends: completed"),
        "{}",
        done.out
    );
}

#[test]
fn why_names_the_rule_and_the_ledger_entry() {
    let place = Place::new();
    let words = ["step", CASE_2, "--script", "n;n;t;t 3;w", "--policy"];
    let allowed = place
        .run(&[&words[..], &["intent_ledger_v2"]].concat())
        .expect(0)
        .out;
    for says in [
        "allow create_event (call 1 of assistant) at the hook `proposal`",
        "allow_ledger_match (paper)",
        "ledger entry 0: create_event on `primary`",
        "attendee (authority) from note:partner",
        "then      committed",
    ] {
        let flat = allowed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains(&says.split_whitespace().collect::<Vec<_>>().join(" ")),
            "{allowed}"
        );
    }
    let denied = place
        .run(&[&words[..], &["taint_only_v1"]].concat())
        .expect(0)
        .out;
    assert!(
        denied.contains("the agent is told `confirmation_required`"),
        "{denied}"
    );
    let blocked = place.run(&[
        "step",
        "case7_claimed_approval",
        "--policy",
        "intent_ledger_v2",
        "--script",
        "r;w",
    ]);
    assert!(
        blocked.out.contains("the ledger authorises nothing"),
        "{}",
        blocked.out
    );
    let none = place
        .run(&["step", CASE_2, "--policy", "none", "--script", "w"])
        .expect(0)
        .out;
    assert!(none.contains("there is no decision yet"), "{none}");
}

#[test]
fn labels_show_agents_and_memory() {
    let place = Place::new();
    let words = [
        "step",
        "case5_contact_memory",
        "--policy",
        "intent_ledger_v2",
        "--script",
        "r;l",
    ];
    let out = place.run(&words).expect(0).out;
    let line = |start: &str| {
        let mut lines = out.lines();
        let found = lines.find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("no line `{start}`: {out}"))
            .to_owned()
    };
    assert!(line("assistant").contains("done"), "{out}");
    assert!(line("1  ").contains("quarantined"), "{out}");
}

#[test]
fn stepping_back_and_forth_gives_the_same_lines() {
    let place = Place::new();
    for world in [CASE_2, "hub_and_eight_workers", "several_episodes"] {
        let words = |script| ["step", world, "--policy", "rollback_v2", "--script", script];
        let straight = place.run(&words("r")).expect(0).out;
        let wandering = place
            .run(&words("n 9;b 4;b;n 2;b 100;r;b 6;r"))
            .expect(0)
            .out;
        let straight: Vec<&str> = straight.lines().collect();
        let wandering: Vec<&str> = wandering.lines().collect();
        let tail = &straight[straight.len() - 6..];
        assert_eq!(&wandering[wandering.len() - 6..], tail, "{world}");
        let back = wandering
            .iter()
            .position(|line| line.contains("the start"))
            .expect("back");
        let again = &wandering[back + 1..back + straight.len()];
        assert_eq!(again, &straight[1..], "{world}");
    }
}

#[test]
fn a_snapshot_is_written_and_read_back() {
    let place = Place::new();
    let words = [
        "step",
        CASE_2,
        "--policy",
        "none",
        "--script",
        "n 5;s state.snap",
    ];
    let out = place.run(&words).expect(0).out;
    let bytes = std::fs::read(place.path("state.snap")).expect("a snapshot");
    let snapshot = engine::Snapshot::from_bytes(&bytes).expect("a snapshot");
    assert_eq!(snapshot.executed_events(), 5);
    let hash = format!("{:032x}", snapshot.policy_free_hash());
    assert!(out.contains(&hash), "{out}");
    let words = [
        "step",
        CASE_2,
        "--policy",
        "none",
        "--script",
        "s no/such/folder/x",
    ];
    place
        .run(&words)
        .fails(5, &["cannot be written", "a folder that exists"]);
}

#[test]
fn step_takes_commands_from_standard_input() {
    let place = Place::new();
    let words = ["step", CASE_2, "--policy", "none"];
    let done = place
        .run_with_input(&words, "n\nnonsense\n\nn\nq\nn\n")
        .expect(2);
    assert_eq!(done.out.lines().count(), 3, "{}", done.out);
    assert!(
        !done.out.contains('>'),
        "no prompt without a terminal: {}",
        done.out
    );
    assert!(
        done.err.contains("`nonsense` is no command"),
        "{}",
        done.err
    );
    let long = "x".repeat(5000);
    place
        .run_with_input(&words, &long)
        .fails(3, &["more than 4096 bytes"]);
}

#[test]
fn pair_parts_case_2_at_the_decision_on_create_event() {
    let place = Place::new();
    let words = [
        "pair",
        CASE_2,
        "--policies",
        "taint_only_v1,intent_ledger_v2",
    ];
    let json = place
        .run(&[&words[..], &["--format", "json"]].concat())
        .expect(0)
        .json();
    let sides = json["policies"].as_array().expect("two policies");
    assert_eq!(sides[0]["prestate_hash"], sides[1]["prestate_hash"]);
    assert_eq!(sides[0]["fork_hash"], sides[1]["fork_hash"]);
    assert!(json["events_executed"].as_u64() < json["events_from_scratch"].as_u64());
    let pair = &json["pairs"][0];
    assert_eq!(pair["same_endpoint"], true);
    assert_eq!(pair["same_utility"], false);
    assert_eq!(pair["same_trajectory"], false);
    assert!(
        pair["differing"]
            .as_array()
            .is_some_and(|fields| !fields.is_empty())
    );
    let divergence = &pair["first_divergence"];
    let verdicts = [0, 1].map(|side| divergence["events"][side]["verdict"].clone());
    assert_eq!(verdicts, ["confirm", "allow"]);
    for side in [0, 1] {
        assert_eq!(divergence["events"][side]["what"], "ruled");
        assert_eq!(divergence["events"][side]["hook"], "proposal");
        let told = divergence["told"][side].as_str().expect("words");
        assert!(told.contains("create_event"), "{told}");
    }
    let text = place.run(&words).expect(0).out;
    assert!(text.contains("endpoint    equal"), "{text}");
    assert!(text.contains("utility     differs"), "{text}");
    assert!(
        text.contains("confirm create_event (call 1): confirm_tainted_write"),
        "{text}"
    );
}

#[test]
fn policies_that_do_the_same_for_other_reasons_do_not_part() {
    let place = Place::new();
    let words = [
        "pair",
        CASE_2,
        "--policies",
        "none,tool_boundary,intent_ledger_v2",
    ];
    let json = place
        .run(&[&words[..], &["--format", "json"]].concat())
        .expect(0)
        .json();
    let pairs = json["pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 3);
    assert!(
        pairs.iter().all(|pair| pair["first_divergence"].is_null()),
        "{json}"
    );
}

#[test]
fn policies_can_be_continued_from_any_tick() {
    let place = Place::new();
    let words = [
        "pair",
        CASE_2,
        "--policies",
        "none,taint_only_v1,intent_ledger_v2",
        "--at",
        "5",
    ];
    let words = [&words[..], &["--under", "none", "--format", "json"]].concat();
    let json = place.run(&words).expect(0).json();
    assert_eq!(json["at"]["tick"], 5);
    let sides = json["policies"].as_array().expect("policies");
    assert!(
        sides
            .iter()
            .all(|side| side["fork_hash"] == sides[0]["fork_hash"])
    );
    let scratch = place.run(&["run", CASE_2, "--policy", "none"]).json();
    assert_eq!(sides[0]["trace_digest"], scratch["trace_digest"]);
    // The event was created under `none` before, so only the invitation is blocked.
    let divergence = &json["pairs"][0]["first_divergence"];
    assert_eq!(divergence["tick"], 5);
    assert_eq!(divergence["events"][1]["verdict"], "block");
    let late = [
        "pair",
        CASE_2,
        "--policies",
        "none,tool_boundary",
        "--at",
        "99",
        "--under",
        "none",
    ];
    place
        .run(&late)
        .fails(2, &["nothing happens under `none` at tick 99"]);
}

#[test]
fn parameters_of_a_pair_are_given_by_policy() {
    let place = Place::new();
    let words = [
        "pair",
        CASE_2,
        "--policies",
        "none,intent_ledger_v2",
        "--format",
        "json",
        "--set",
    ];
    let set = "intent_ledger_v2.jump_rule=on_any_taint";
    let json = place.run(&[&words[..], &[set]].concat()).expect(0).json();
    assert_eq!(json["pairs"][0]["same_utility"], false);
    place
        .run(&[&words[..], &["rollback_v2.x=y"]].concat())
        .fails(2, &["is not run"]);
}

#[test]
fn output_does_not_depend_on_locale_time_zone_or_folder() {
    let commands: [&[&str]; 4] = [
        &[
            "step",
            CASE_2,
            "--policy",
            "rollback_v2",
            "--script",
            "r;l;w;s",
        ],
        &["pair", CASE_2, "--policies", "none,taint_only_v1"],
        &["trace", "four_channels", "--reveal"],
        &["list", "metrics"],
    ];
    for words in commands {
        let here = Place::new();
        let there = Place::new();
        let first = super::finished(
            here.command(words)
                .env("LC_ALL", "C")
                .env("TZ", "UTC")
                .env("COLUMNS", "40"),
            words,
        );
        let second = super::finished(
            there
                .command(words)
                .env("LC_ALL", "tr_TR.UTF-8")
                .env("TZ", "Pacific/Chatham"),
            words,
        );
        assert_eq!(
            first.expect(0).out,
            second.expect(0).out,
            "{}",
            word(&there.path(""))
        );
    }
}
