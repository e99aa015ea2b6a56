//! `step` and its command `w`: why a call was allowed or denied.

use super::Place;

const CASE_2: &str = "case2_partner_meeting";

/// What `step` prints, with single blanks so that it does not matter where lines are wrapped.
fn step(place: &Place, world: &str, options: &[&str], script: &str) -> String {
    let words = ["step", world, "--script", script, "--policy"];
    let out = place.run(&[&words[..], options].concat()).expect(0).out;
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_says(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "no `{wanted}` in {text}");
    }
}

#[test]
fn why_says_of_every_tainted_argument_whether_the_ledger_names_it() {
    let place = Place::new();
    let allowed = step(&place, CASE_2, &["intent_ledger_v2"], "r;w 1");
    assert_says(
        &allowed,
        &[
            "argument title: content from note:partner (untrusted), no authority field, so it \
             expands nothing",
            "argument attendee: \"partner@trusted.local\" comes from note:partner (untrusted), and \
             is exactly what ledger entry 0 names",
        ],
    );
    assert!(!allowed.contains("argument event"), "{allowed}");
    assert!(!allowed.contains("would have"), "{allowed}");
    let blocked = step(
        &place,
        "case7_claimed_approval",
        &["intent_ledger_v2"],
        "r;w",
    );
    assert_says(
        &blocked,
        &[
            "argument recipient: \"outsider@external.local\" comes from doc:review_comment \
             (untrusted); no ledger entry for share_document names it",
        ],
    );
    let allowed = step(&place, "case7_claimed_approval", &["none"], "r;w 2");
    assert_says(&allowed, &["no ledger entry would have allowed this call"]);
}

#[test]
fn why_says_what_the_ledger_would_have_said_where_taint_alone_decides() {
    let place = Place::new();
    for call in ["w 1", "w"] {
        let denied = step(&place, CASE_2, &["taint_only_v1"], &format!("r;{call}"));
        let entry = u8::from(call == "w");
        let would = format!("ledger entry {entry} would have allowed this call");
        let says = format!("taint alone decides here, whatever the ledger names; {would}");
        assert_says(&denied, &[&says]);
    }
}

#[test]
fn why_is_true_of_the_privilege_jump_rule_under_each_parameter() {
    let place = Place::new();
    let options = ["intent_ledger_v2", "--set", "jump_rule=on_any_taint"];
    let blocked = step(&place, CASE_2, &options, "r;w");
    assert_says(
        &blocked,
        &[
            "or, if the parameter `jump_rule` is `on_any_taint`, the proposal is tainted at all",
            "jump_rule=on_any_taint, as set for intent_ledger_v2",
            "is exactly what ledger entry 1 names",
            "ledger entry 1 would have allowed this call",
        ],
    );
}

#[test]
fn why_takes_a_call_by_number_or_by_its_tool_and_knows_reads() {
    let place = Place::new();
    let intent = ["intent_ledger_v2"];
    let by_number = step(&place, CASE_2, &intent, "r;w 1");
    let by_tool = step(&place, CASE_2, &intent, "r;w create_event");
    assert_eq!(by_tool, by_number);
    assert_says(
        &by_number,
        &[
            "proposes call 1: create_event(",
            "allow create_event (call 1): allow_ledger_match",
            "create_event (call 1) commits",
            "call 0 is a read, let through without a ruling",
        ],
    );
    let read = "call 0 (read_note) is a read and was let through without a ruling";
    for script in ["r;w 0", "r;w read_note", "n 4;w"] {
        assert_says(&step(&place, CASE_2, &intent, script), &[read]);
    }
    for (script, says) in [
        ("n 3;w", "there is no decision yet"),
        ("n 3;w 0", "there is no decision on call 0 yet"),
        ("n;w 0", "there is no call 0 yet"),
        ("r;w delete", "there is no call of `delete` yet"),
    ] {
        assert_says(&step(&place, CASE_2, &intent, script), &[says]);
    }
    let quarantined = step(&place, "case5_contact_memory", &intent, "r;w 2");
    assert_says(
        &quarantined,
        &["without a ruling; what it returns was denied: memory_quarantined"],
    );
    let several = step(&place, CASE_2, &["taint_only_v1"], "r;w send_invite");
    assert_says(&several, &["there are 3 calls of `send_invite`: 2, 3, 4"]);
}

#[test]
fn steps_of_the_agenda_and_events_of_the_trace_are_named_apart() {
    let place = Place::new();
    let words = ["step", CASE_2, "--policy", "intent_ledger_v2", "--script"];
    let run = |script| place.run(&[&words[..], &[script]].concat()).expect(0).out;
    let out = run("n 9;w;b 3;s");
    let numbers: Vec<&str> = out
        .lines()
        .take(10)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected = ["step", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    assert_eq!(numbers, expected, "{out}");
    assert_says(&out, &["event 7, tick 3: allow", "after 6 steps"]);
    assert!(!out.contains("events"), "{out}");
    let pair = ["pair", CASE_2, "--policies", "none,taint_only_v1"];
    let pair = place.run(&pair).expect(0).out;
    assert_says(
        &pair,
        &[
            "after step",
            "steps executed instead of",
            "divergence at event 7",
        ],
    );
}
