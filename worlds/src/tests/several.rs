//! Several mistakes in one file are told in one go, and shown where they are.

use miette::{GraphicalReportHandler, GraphicalTheme};

use super::codes::BASE;
use crate::check;
use crate::diagnostic::{Code, MOST_PROBLEMS, Report};

fn codes(report: &Report) -> Vec<Code> {
    report
        .problems()
        .iter()
        .map(|problem| problem.code)
        .collect()
}

#[test]
fn misspellings_do_not_hide_what_else_is_wrong() {
    let text = BASE
        .replace("stage: MemoryRecovery", "stage: MemoryRecovry")
        .replace("channels:", "chanels:")
        .replace("\"look_up\"]", "\"look_upp\"]")
        .replace("turns: 20", "turns: 0");
    let checked = check(&text, "several.ron", "several");
    assert!(checked.scenario.is_none());
    assert_eq!(
        codes(&checked.report),
        [
            Code::UnknownVariant,
            Code::UnknownTool,
            Code::UnknownField,
            Code::AbsurdLimit
        ]
    );
    // The places are those of the text as it was given, also behind a mended misspelling.
    for (problem, wrong) in
        checked
            .report
            .problems()
            .iter()
            .zip(["MemoryRecovry", "\"look_upp\"", "chanels", "0"])
    {
        assert_eq!(&text[problem.span.clone()], wrong);
    }
}

#[test]
fn a_mistake_in_one_entry_does_not_hide_one_in_another() {
    let text = BASE
        .replace("role: MemoryKey)]),", "role: Memory)]),")
        .replace("(goal: \"Invite the partner.\")", "(aim: \"Invite\")")
        .replace(
            "(key: \"contact\", trust: Trusted",
            "(key: 5, trust: Trusted",
        )
        .replace("token: \"CANARY-plan-7\", readers", "weather: 1, readers");
    let checked = check(&text, "several.ron", "several");
    assert_eq!(
        codes(&checked.report),
        [
            // `aim` is near no field, so it is cut out; then the goal is missing.
            Code::MissingField,
            Code::UnknownField,
            Code::UnknownVariant,
            Code::WrongType,
            Code::MissingField,
            Code::UnknownField,
        ]
    );
}

#[test]
fn advice_names_what_was_probably_meant() {
    let text = BASE
        .replace(
            "to: \"writer\", latency_ticks",
            "to: \"writr\", latency_ticks",
        )
        .replace("sink: \"mail\"", "sink: \"letters\"");
    let report = check(&text, "several.ron", "several").report;
    let help: Vec<_> = report
        .problems()
        .iter()
        .map(|problem| problem.help.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(
        help,
        ["did you mean `writer`?", "there is: `mail`, `board`"]
    );
}

/// The only advice on the base of all cases with one thing changed.
fn advice_on(from: &str, to: &str) -> String {
    assert_eq!(BASE.matches(from).count(), 1, "{from}");
    let report = check(&BASE.replace(from, to), "several.ron", "several").report;
    let [problem] = report.problems() else {
        panic!("{:?}", codes(&report));
    };
    problem.help.clone().unwrap_or_default()
}

#[test]
fn a_misspelt_recipient_is_told_from_another_one() {
    let entry = |to: &str| format!("ledger: [(action: \"send_invite\", target: \"{to}\"),");
    assert_eq!(
        advice_on("ledger: [", &entry("partnr@trusted.local")),
        "did you mean `partner@trusted.local`? otherwise add the recipient to `allowed_recipients`"
    );
    assert_eq!(
        advice_on("ledger: [", &entry("other@trusted.local")),
        "add the recipient to `allowed_recipients`"
    );
}

#[test]
fn a_value_in_the_place_of_a_condition_is_shown_as_one() {
    for (value, meant) in [
        ("\"two\"", "write `Equals(\"two\")`"),
        ("2", "write `Equals(2)`"),
        ("[1, 2]", "write `OneOf([1, 2])`"),
        ("{}", ""),
    ] {
        assert_eq!(advice_on("OneOf([1, 2])", value), meant);
    }
}

#[test]
fn thousands_of_mistakes_are_counted_and_not_listed() {
    let unknown: Vec<String> = (0..3_000).map(|n| format!("\"tool_{n}\", ")).collect();
    let tools = format!("\"look_up\", {}]", unknown.concat());
    let text = BASE.replace("\"look_up\"]", &tools);
    let report = check(&text, "several.ron", "several").report;
    assert_eq!(report.problems().len(), MOST_PROBLEMS);
    assert_eq!(report.unlisted(), 3_000 - MOST_PROBLEMS);
}

#[test]
fn a_report_shows_name_line_column_and_advice() {
    let text = BASE.replace("schema: 1", "schema: 3");
    let report = check(&text, "worlds/mine.ron", "mine").report;
    assert!(report.is_unsupported_version());
    let text = BASE.replace(
        "trust: Trusted,\n            readers",
        "trust: Trustd,\n            readers",
    );
    let report = check(&text, "worlds/mine.ron", "mine").report;
    assert!(!report.is_unsupported_version());
    assert_eq!(report.to_string(), "`worlds/mine.ron` has 1 error");
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .render_report(&mut shown, &report)
        .unwrap();
    for part in [
        "W009",
        "`Trustd` is not known here",
        "worlds/mine.ron:24:20",
        "trust: Trustd,",
        "did you mean `Trusted`?",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
}
