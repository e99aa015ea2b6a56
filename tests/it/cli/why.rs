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
