//! Hostile files: an answer within a second, in bounded memory, without a panic.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "these tests measure how long an answer takes"
)]

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::codes::BASE;
use crate::diagnostic::{Code, Severity};
use crate::{MAX_BYTES, check, load_bytes};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 });

/// Checks `text` in time, and gives the first complaint.
fn first_complaint(text: &str) -> Option<Code> {
    // Tests share their machine, so a slow answer has a second and a third chance.
    let mut times = std::iter::repeat_with(|| time_of(text)).take(3);
    let in_time = times.any(|time| time < PATIENCE);
    assert!(in_time, "no answer in time to {} bytes", text.len());
    let checked = check(text, "hostile.ron", "hostile");
    assert_eq!(checked.scenario.is_none(), checked.report.has_errors());
    let problems = checked.report.problems();
    problems.first().map(|problem| problem.code)
}

/// How long it takes to check a text and to show what is wrong, which is bounded too.
fn time_of(text: &str) -> Duration {
    let start = Instant::now();
    let report = check(text, "hostile.ron", "hostile").report;
    let shown = format!("{:?}", miette::Report::new(report));
    assert!(shown.len() < MAX_BYTES, "{} bytes shown", shown.len());
    start.elapsed()
}

/// [`BASE`] with more in one of its lists.
fn with_more(list: &str, more: &str) -> String {
    BASE.replace(&format!("    {list}: ["), &format!("    {list}: [{more}"))
}

/// One entry after the other, each made from its number.
fn numbered(count: usize, entry: impl Fn(usize) -> String) -> String {
    (0..count).map(entry).collect::<Vec<String>>().concat()
}

/// Repetitions that just fit into a file.
fn filled_with(part: &str) -> String {
    part.repeat((MAX_BYTES - BASE.len() - 100) / part.len())
}

#[test]
fn deep_nesting_is_refused_before_it_is_followed() {
    for bracket in ["(", "[", "{\"a\":", "Some(", "(a:", "World(agents:["] {
        let deep = bracket.repeat(MAX_BYTES / bracket.len());
        assert_eq!(first_complaint(&deep), Some(Code::TooDeep), "{bracket}");
        let inside = with_more("agents", &filled_with(bracket));
        assert_eq!(first_complaint(&inside), Some(Code::TooDeep), "{bracket}");
    }
    let comments = filled_with("/*");
    assert_eq!(first_complaint(&comments), Some(Code::Syntax));
    let closed = format!("{}{}{BASE}", "/*".repeat(200_000), "*/".repeat(200_000));
    assert_eq!(first_complaint(&closed), None);
}

#[test]
fn megabytes_of_anything_are_answered() {
    for part in [
        "a",
        "\"",
        "\\",
        "\"\\",
        "'",
        "#",
        "r#",
        "r#\"",
        "b\"",
        "@",
        "a@",
        "www.",
        "://",
        "a://b@",
        ",",
        ":",
        "-",
        "1",
        "1,",
        "0x",
        "..",
        "//",
        "/",
        "\n",
        "é",
        "\u{200B}",
        "\u{10FFFF}",
        "%41",
        "&#65;",
        "<script",
        "(",
        ")",
        "[],",
        "a:",
        "a(),",
        "\"a\":\"b\",",
        "(name:\"a\"),",
    ] {
        let whole = part.repeat(MAX_BYTES / part.len());
        assert!(first_complaint(&whole).is_some(), "{part}");
        let text = BASE.replace("See you on Tuesday.", &filled_with(part));
        first_complaint(&text);
        for list in ["agents", "tools", "sources", "channels", "ledger"] {
            first_complaint(&with_more(list, &filled_with(part)));
        }
    }
}

#[test]
fn huge_counts_are_refused() {
    for (list, entry) in [
        ("agents", "(name:\"N\"),"),
        ("channels", "(from:\"reader\",to:\"writer\"),"),
        ("sources", "(name:\"N\",trust:Trusted,fields:{}),"),
        ("tools", "(name:\"N\",does:ReadSource),"),
        ("canaries", "(token:\"CANARY-N\",readers:[\"a\"]),"),
        ("ledger", "(action:\"post\",target:\"N\"),"),
        ("episodes", "(goal:\"N\"),"),
        ("allowed_recipients", "\"N\","),
    ] {
        let many = numbered(5_000, |n| entry.replace('N', &n.to_string()));
        assert_eq!(
            first_complaint(&with_more(list, &many)),
            Some(Code::TooMany),
            "{list}"
        );
        // As many as are allowed are answered too, whatever is wrong with them.
        let many = numbered(4_000, |n| entry.replace('N', &n.to_string()));
        first_complaint(&with_more(list, &many));
    }
}

#[test]
fn a_world_as_large_as_it_may_be_is_loaded() {
    let agents = numbered(4_000, |n| format!("(name:\"a{n}\"),"));
    let chain = numbered(3_999, |n| format!("(from:\"a{n}\",to:\"a{}\"),", n + 1));
    let start = "(from:\"writer\",to:\"a0\"),";
    let text = BASE.replace(
        "\n    ],\n    channels",
        &format!("{agents}],\n    channels"),
    );
    let text = text.replace("channels: [", &format!("channels: [{chain}{start}"));
    assert_eq!(first_complaint(&text), None);
    let looped = text.replace(start, &format!("{start}(from:\"a3999\",to:\"reader\"),"));
    assert_eq!(first_complaint(&looped), Some(Code::UnboundedCycle));
    let fields = numbered(4_000, |n| format!("\"f{n}\":\"x\","));
    let text = BASE.replace(
        "fields: {\"text\": \"Hello.\"}",
        &format!("fields: {{{fields}}}"),
    );
    assert_eq!(first_complaint(&text), None);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for bytes in [
        &b"\xFF\xFE\x00W"[..],
        b"World(\xC3",
        b"World(\xED\xA0\x80",
        &[0x80; 4096],
    ] {
        let report = load_bytes(bytes, "hostile.ron", "hostile").unwrap_err();
        assert_eq!(report.problems()[0].code, Code::InvalidUtf8);
    }
    let report = load_bytes(&vec![0; 5 << 20], "hostile.ron", "hostile").unwrap_err();
    assert_eq!(report.problems()[0].code, Code::TooLarge);
    let report = load_bytes(&[0; 1000], "hostile.ron", "hostile").unwrap_err();
    assert!(report.has_errors());
    assert!(load_bytes(b"", "hostile.ron", "hostile").is_err());
    assert!(load_bytes(BASE.as_bytes(), "base.ron", "base").is_ok());
}

/// Pieces of which hostile files are made.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "#",
    "r#\"",
    "\"#",
    "b'",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "1",
    "-1",
    "1.5",
    "NaN",
    "inf",
    "18446744073709551616",
    "true",
    "None",
    "Some(",
    "name",
    "schema",
    "agents",
    "Untrusted",
    "Equals(",
    "Argument(\"to\")",
    "é",
    "\u{202E}",
    "@",
    "a@b.local",
    "a@b.c",
    "://",
    "..",
    "0x",
    "0xZZ",
    "1_",
    "_",
    "r#name",
    "\\u{41}",
    "\\xFF",
    "\"reader\"",
    "\"\"",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(PIECES).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_pieces_are_answered(pieces in prop::collection::vec(piece(), 0..60)) {
        first_complaint(&pieces.concat());
        first_complaint(&format!("World({})", pieces.concat()));
    }

    #[test]
    fn a_world_with_pieces_put_in_is_answered(
        edits in prop::collection::vec((0usize..10_000, 0usize..30, piece()), 1..6)
    ) {
        let mut text = BASE.to_owned();
        for (at, length, piece) in edits {
            let mut letters: Vec<char> = text.chars().collect();
            let start = at % letters.len();
            let end = (start + length).min(letters.len());
            letters.splice(start..end, piece.chars());
            text = letters.into_iter().collect();
        }
        first_complaint(&text);
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = load_bytes(&bytes, "hostile.ron", "hostile");
    }
}

/// No limit of a rollout stops recovery, so a world may not have any number of steps.
#[test]
fn recovery_steps_are_bounded() {
    let steps = |count: usize| {
        let more = "(episode: 1, after_ticks: 50, operation: Scrub(store: \"book\")),";
        let first = format!("recovery: [\n{}", more.repeat(count));
        let text = BASE.replace("recovery: [\n", &first);
        assert_ne!(text, BASE);
        let report = check(&text, "steps.ron", "steps").report;
        let errors = report.problems().iter();
        errors
            .filter(|problem| problem.code.severity() == Severity::Error)
            .map(|problem| (problem.code, problem.message.clone()))
            .collect::<Vec<_>>()
    };
    // The base has three.
    assert_eq!(steps(29), []);
    let expected = (Code::AbsurdLimit, "33 recovery steps".to_owned());
    assert_eq!(steps(30), [expected]);
}
