//! Texts that are meant to exhaust or to confuse.

use std::fmt::Write;

use plugins::conformance::{check_policy, generate};

use super::{decide, made};
use crate::{MAX_BYTES, MAX_CHAIN, MAX_NESTING, MAX_POLICIES, load, validate};

fn forbid(condition: &str) -> String {
    format!("forbid(principal, action, resource) when {{ {condition} }};")
}

/// Reads, validates, asks and drops a text on a stack as small as that of any worker.
fn survives(text: String) {
    let work = move || {
        let world = generate::random_world(1);
        let Ok(loaded) = load(&text) else {
            return;
        };
        let mistakes = validate(&text, &world.briefing);
        assert!(mistakes.iter().all(|mistake| !mistake.message.is_empty()));
        let mut policy = (loaded.make)();
        for call in &world.trace.calls {
            let ruling = decide(&mut *policy, &world, call.id);
            assert!(!ruling.reason.rule.is_empty());
        }
    };
    #[expect(
        clippy::disallowed_types,
        reason = "a thread is what has a small stack"
    )]
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}

#[test]
fn long_and_deep_texts_exhaust_nothing() {
    for unit in [
        "(", "[", "{", "!", "-", "a.", "if ", "\"", "permit(", "@id(\"", "é", "a::",
    ] {
        survives(forbid(&unit.repeat(MAX_BYTES / unit.len() / 2)));
        survives(unit.repeat(MAX_BYTES / unit.len()));
    }
    for (open, inner, close) in [("(", "1", ")"), ("[", "1", "]"), ("{a:", "1", "}")] {
        // One bracket is the condition's own.
        let depth = MAX_NESTING - 1;
        let deep = [open.repeat(depth), inner.to_owned(), close.repeat(depth)].concat();
        let text = forbid(&format!("{deep} == 1"));
        assert!(load(&text).is_ok(), "{text}");
        survives(text);
    }
}

#[test]
fn the_longest_chains_that_are_read_are_answered() {
    let most = MAX_CHAIN - 1;
    for (first, more) in [
        ("true", " && true"),
        ("false", " || false"),
        ("1 < 1", " + 1"),
        ("1 < 1", " - 1"),
        ("1 < 1", " * 1"),
        ("context has a", ".a"),
    ] {
        let text = forbid(&[first, &more.repeat(most)].concat());
        let text = format!("{text}@neutral permit(principal, action, resource);");
        assert!(load(&text).is_ok(), "{more}");
        let world = generate::random_world(1);
        let ruling = decide(&mut *made(&text), &world, world.trace.calls[0].id);
        // The recursion limit of the evaluator would be an error.
        assert!(!ruling.reason.rule.contains("facts_missing"), "{more}");
        survives(text);
    }
    let nested = [
        "if true then ".repeat(most),
        "true".into(),
        " else true".repeat(most),
    ]
    .concat();
    survives(forbid(&nested));
}

#[test]
fn texts_beyond_the_limits_say_so() {
    let big = format!("// {}\n", "x".repeat(1 << 20));
    assert!(load(&big).unwrap_err()[0].message.contains("bytes"));
    let one = "permit(principal, action, resource);\n";
    let many = one.repeat(MAX_POLICIES + 1);
    assert!(load(&many).unwrap_err()[0].message.contains("policies"));
    let most = one.repeat(MAX_POLICIES);
    let world = generate::random_world(1);
    let ruling = decide(&mut *made(&most), &world, world.trace.calls[0].id);
    assert!(ruling.reason.rule.starts_with("policy0+policy1+policy2+"));
}

#[test]
fn a_set_of_thousands_is_one_operator() {
    let mut set = String::from("[");
    for number in 0..5_000 {
        write!(set, "\"{number}@external.local\",").unwrap();
    }
    let text = forbid(&format!("{set}\"\"].contains(context.risk)"));
    assert!(load(&text).is_ok());
    survives(text);
}

/// Each would take hours if what is read were compared with all that was read before.
#[test]
fn thousands_of_actions_and_annotations_are_read_at_once() {
    let mut actions = String::from("permit(principal, action in [");
    for number in 0..8_000 {
        write!(actions, "A::Action::\"t__{number}\",").unwrap();
    }
    actions += "A::Action::\"t__x\"], resource is A::Gateway);";
    assert!(load(&actions).is_ok());
    let mut annotations = String::new();
    for number in 0..30_000 {
        write!(annotations, "@a{number} ").unwrap();
    }
    annotations += "permit(principal, action, resource);";
    assert_eq!(load(&annotations).unwrap_err().len(), 100);
}

#[test]
fn extension_functions_and_odd_names_are_only_values() {
    for condition in [
        "ip(\"10.0.0.1\").isInRange(ip(\"10.0.0.0/8\"))",
        "ip(context.risk).isIpv4()",
        "decimal(\"1.23456789\").lessThan(decimal(\"1.0\"))",
        "datetime(\"2024-01-01\") < datetime(context.risk)",
        "duration(\"9223372036854775807ms\").toDays() > 1",
        "principal == Agent::\"\\u{202e}\\u{0}\\u{1f600}\"",
        "action in Action::\"\\0\" || resource == Target::\"\"",
        "context[\"\\u{1f600}\"] == {\"\": [1, \"a\", {}]}",
        "\"a\" like \"*\\**\\u{0}*\"",
    ] {
        let text = format!("{}permit(principal, action, resource);", forbid(condition));
        survives(text.clone());
        if load(&text).is_ok() {
            assert_eq!(check_policy(&|| made(&text), 8), [], "{condition}");
        }
    }
    survives("permit(principal == Ágent::\"é\", action, resource);".into());
    survives("permit(principal is __cedar::Agent, action, resource);".into());
    survives("\u{feff}permit(principal, action, resource);".into());
}
