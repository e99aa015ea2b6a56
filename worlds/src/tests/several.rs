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
