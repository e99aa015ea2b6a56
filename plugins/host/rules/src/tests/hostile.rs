//! Files that somebody wrote to do harm.

use proptest::prelude::*;

use super::file;
use crate::{MAX_BYTES, MAX_RULES, load, load_metrics, validate};

fn rule(number: usize, when: &str) -> String {
    format!("(rule: \"r{number}\", at: Proposal, when: [{when}], then: Allow),")
}

#[test]
fn a_file_that_is_too_long_is_refused_unread() {
    let text = file(&"/* */".repeat(MAX_BYTES / 5));
    assert!(text.len() > MAX_BYTES);
    assert!(load(&text).unwrap_err()[0].message.contains("bytes"));
}

#[test]
fn more_rules_than_allowed_are_refused() {
    for (count, wanted) in [(1_001, "1001 rules"), (10_000, "65536 values")] {
        let rules: String = (0..count)
            .map(|number| rule(number, &format!("Tool(\"t{number}\")")))
            .collect();
        let mistakes = load(&file(&rules)).unwrap_err();
        assert!(mistakes[0].message.contains(wanted), "{mistakes:?}");
    }
}

/// All of them are compared with each other, which must not cost much.
#[test]
fn as_many_rules_as_allowed_are_read() {
    let rules: String = (0..MAX_RULES)
        .map(|number| {
            rule(
                number,
                &format!("Tool(\"t{number}\"), HighRisk, LedgerMatch"),
            )
        })
        .collect();
    assert!(load(&file(&rules)).is_ok());
}

#[test]
fn nesting_is_bounded_in_every_bracket() {
    for opening in ["Not(", "All([", "Any([", "[", "("] {
        let text = file(&rule(0, &opening.repeat(10_000)));
        let mistakes = load(&text).unwrap_err();
        assert!(mistakes[0].message.contains("nested"), "{mistakes:?}");
    }
    let deep = "Not(".repeat(50) + "HighRisk" + &")".repeat(50);
    assert!(load(&file(&rule(0, &deep))).is_ok());
}

/// A million letters of mistakes give a bounded list of them.
#[test]
fn mistakes_are_bounded() {
    let rules = "(rule: \"A\", at: Nowhere, when: [X], then: Y),".repeat(900);
    let mistakes = load(&file(&rules)).unwrap_err();
    assert_eq!(mistakes.len(), 101);
    assert!(mistakes[100].message.contains("mistakes more"));
    let one = format!("Tool(\"{}\")", "x".repeat(1_000_000));
    let text = file(&rule(0, &one));
    let world = plugins::conformance::generate::random_world(1);
    let warnings = validate(&text, &world.briefing);
    assert!(warnings[0].message.len() < 200, "{}", warnings[0].message);
}

/// Lists of many names are compared with each other, with a world, and with a call.
#[test]
fn long_lists_of_names_are_read_and_asked() {
    let names = |from: usize| -> String {
        (from..from + 30_000)
            .map(|n| format!("\"n{n}\","))
            .collect()
    };
    let when = format!("Tool([{}]), Tool([{}])", names(0), names(20_000));
    let text = file(&rule(0, &when));
    let mut policy = super::policy(&text);
    let mut world = plugins::conformance::generate::random_world(5);
    assert_eq!(validate(&text, &world.briefing).len(), 101);
    for (name, wanted) in [
        ("n25000", "r0"),
        ("n1", "default_allow"),
        ("n49999", "default_allow"),
    ] {
        let call = world.trace.calls[0].clone();
        world.briefing.tools[call.tool.index()].name = name.into();
        let ruling = super::ask(&mut *policy, &world, call.id);
        assert_eq!(ruling.reason.rule, wanted, "{name}");
    }
    let apart = format!("Tool([{}]), Tool([{}])", names(0), names(30_000));
    assert!(load(&file(&rule(0, &apart))).is_err());
}

/// A value of a word that is not closed, or of bytes that RON does not have.
#[test]
fn odd_texts_are_refused_at_a_place_in_the_text() {
    for text in [
        "",
        "R",
        "Rules",
        "Rules(",
        "()",
        "[]",
        "\"",
        "r#\"",
        "Rules(schema: 1, rules: [\u{0}])",
        "Rules(schema: 9999999999999999999999, rules: [])",
        "Rules(schema: 1.0)",
        "{}",
        "/*",
        "#![enable(implicit_some)]",
        "Rules(schema: 1, schema: 1)",
        "Rules(1, 2, 3)",
        "\u{feff}()",
    ] {
        for mistakes in [load(text).unwrap_err(), load_metrics(text).unwrap_err()] {
            assert!(!mistakes.is_empty(), "{text}");
            for place in mistakes.iter().filter_map(|mistake| mistake.place.clone()) {
                assert!(text.get(place).is_some(), "{text}");
            }
        }
    }
}

proptest! {
    /// A shipped file with a piece cut out or put elsewhere is read or refused, never a panic.
    #[test]
    fn a_damaged_file_is_read_or_refused(
        which in 0_usize..6,
        from in 0.0_f64..1.0,
        length in 0_usize..200,
        to in 0.0_f64..1.0,
        letters in "[(){}\\[\\],:\"A-Za-z0-9_ /*r#\\\\-]{0,12}",
    ) {
        let (_, text, _) = super::shipped::FILES[which];
        let bytes = text.chars().collect::<Vec<_>>();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a place in a short text"
        )]
        let place = |share: f64| (share * bytes.len() as f64) as usize;
        let (from, to) = (place(from), place(to));
        let end = (from + length).min(bytes.len());
        let mut damaged: Vec<char> = bytes[..from].iter().chain(&bytes[end..]).copied().collect();
        let to = to.min(damaged.len());
        damaged.splice(to..to, letters.chars());
        let damaged: String = damaged.into_iter().collect();
        if let Err(mistakes) = load(&damaged) {
            prop_assert!(!mistakes.is_empty());
            for place in mistakes.into_iter().filter_map(|mistake| mistake.place) {
                prop_assert!(damaged.get(place).is_some());
            }
        }
        let _ = load_metrics(&damaged);
    }
}
