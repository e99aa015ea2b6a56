//! What scripts must not say, and how they are told.

use super::stage::briefing;
use super::{Script, Severity};

#[track_caller]
fn check_error(script: &str, expected: &str) {
    let error = Script::parse(script).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn mistakes_have_a_line_a_column_and_a_suggestion() {
    for (script, expected) in [
        (
            "Script(\n  agent: {},\n)",
            "line 2, column 3: unknown field `agent`; did you mean `agents`?",
        ),
        (
            "Script(agents: {\n \"a\": [(say: Finale([]))] })",
            "line 2, column 14: unknown action `Finale`; did you mean `Final`?",
        ),
        (
            "Script(agents: { \"a\": [(say: Final([Quote(\"x\")]))] })",
            "line 1, column 37: unknown part of a text `Quote`; there are `Goal`, `Own`, `Copy`",
        ),
        (
            "Script(agents: { \"a\": [(say: Final([]), denied: [(OutsideUserGaol, Next)])] })",
            "line 1, column 51: unknown reason `OutsideUserGaol`; did you mean `OutsideUserGoal`?",
        ),
        (
            "Script(agents: { \"a\": [(name: \"x\")] })",
            "line 1, column 34: the field `say` is missing; add `say: ...`",
        ),
        (
            "Script(agents: { \"a\": [(say: Final([]), say: Final([]))] })",
            "line 1, column 41: the field `say` is given twice; keep one of them",
        ),
        (
            "Script(agents: { \"a\": [], \"a\": [] })",
            "line 1, column 28: `a` is given twice",
        ),
        (
            "Script(agents: {}) more",
            "line 1, column 19: something follows the end of the script; remove it",
        ),
    ] {
        check_error(script, expected);
    }
}

#[test]
fn meaningless_steps_are_refused() {
    let step = |step: &str| format!("Script(agents: {{ \"a\": [{step}] }})");
    for (written, expected) in [
        (
            r#"(say: Final([]), when: [Chance("1.5")], name: "x")"#,
            "`1.5` is not a probability",
        ),
        (
            r#"(say: Final([]), when: [Not(Chance("0.5"))])"#,
            "a step with a chance needs a `name`",
        ),
        ("(say: Final([]), keep: false)", "only a call has a result"),
        (
            r#"(say: Call("t", { "a": [Own("x"), Integer(1)] }))"#,
            "stands alone between its brackets",
        ),
        (
            r#"(say: Call("t", { "a": [Own("x")], "a": [Own("y")] }))"#,
            "`a` is given twice",
        ),
    ] {
        let message = Script::parse(&step(written)).unwrap_err().to_string();
        assert!(message.starts_with("line 1, column "), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn hostile_scripts_end_in_an_error() {
    let deep = format!(
        "Script(agents: {{ \"a\": [(say: Final([]), when: [{}Episode(0){}])] }})",
        "Not(".repeat(1000),
        ")".repeat(1000)
    );
    let long = " ".repeat(super::MAX_SCRIPT_BYTES + 1);
    for script in [
        "",
        "\0",
        "Script",
        "Script(agents: {\"",
        "((((",
        "[[[[",
        &deep,
        &long,
    ] {
        let error = Script::parse(script).unwrap_err();
        assert!(error.line >= 1 && error.column >= 1, "{error}");
    }
}

#[test]
fn a_script_is_compared_with_its_world() {
    let script = Script::parse(
        r#"Script(agents: {
            "asistant": [],
            "assistant": [
                (say: Call("send_invte", { "to": [Copy("note:partnr", "x")] })),
                (say: Delegate("boss", {}), when: [Committed("read_note"), Not(Seen("tool:x"))]),
                (say: Final([Copy("message", "x"), Copy("contacts/partner", "x")])),
            ],
        })"#,
    );
    let findings = script.unwrap().check(&briefing());
    let shown: Vec<_> = findings
        .iter()
        .map(|finding| format!("{}: {}; {}", finding.place, finding.message, finding.help))
        .collect();
    assert_eq!(
        shown,
        [
            "agent `asistant`: the world has no agent `asistant`; did you mean `assistant`?",
            "agent `assistant`, step 1: the world has no tool `send_invte`; did you mean `send_invite`?",
            "agent `assistant`, step 1: the world has no source `note:partnr`; did you mean `note:partner`?",
            "agent `assistant`, step 2: the world has no agent `boss`; there are `assistant`, `worker`",
            "agent `assistant`, step 2: the world has no tool `x`; there are `read_note`, `send_invite`",
        ]
    );
    assert_eq!(findings[0].severity, Severity::Error);
    assert!(
        findings[1..]
            .iter()
            .all(|finding| finding.severity == Severity::Warning)
    );
}
