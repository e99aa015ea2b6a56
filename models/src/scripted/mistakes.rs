//! What scripts must not say, and how they are told.

use super::stage::{briefing, contents, world};
use super::{Finding, Script, Severity};

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

/// Line, column, message and help of everything that is found in a script.
#[track_caller]
fn check_findings(script: &str, expected: &[&str]) {
    let briefing = briefing();
    let contents = contents();
    let findings = Script::parse(script)
        .unwrap()
        .check(script, &world(&briefing, &contents));
    let shown: Vec<_> = findings
        .iter()
        .map(|finding| {
            let (line, column) = (finding.line, finding.column);
            format!("{line}:{column}: {}; {}", finding.message, finding.help)
        })
        .collect();
    assert_eq!(shown, expected);
    let is_error = |finding: &Finding| finding.message.contains("has no agent `asistant`");
    for finding in &findings {
        let is_error = is_error(finding);
        assert_eq!(finding.severity == Severity::Error, is_error, "{finding:?}");
    }
}

#[test]
fn a_script_is_compared_with_its_world() {
    check_findings(
        r#"Script(agents: {
    "asistant": [],
    "assistant": [
        // (say: Call("send_invte", "in a comment")
        (say: Call("send_invte", { "to": [Copy("note:partnr", "x")] })),
        (say: Delegate("boss", {}), when: [Committed("read_note"), Not(Seen("tool:x"))]),
        (say: Final([Copy("contacts/partner", "phone")])),
    ],
})"#,
        &[
            "2:5: the world has no agent `asistant`; did you mean `assistant`?",
            "5:20: the world has no tool `send_invte`; did you mean `send_invite`?",
            "5:48: the world has no source `note:partnr`; did you mean `note:partner`?",
            "6:24: the world has no agent `boss`; there are `assistant`, `worker`",
            "6:77: the world has no tool `x`; there are `read_note`, `send_invite`, `read_contact`",
            "7:27: no step of `assistant` before this one reads `contacts/partner`; put the call that reads it first: a step that copies the unseen is passed over",
        ],
    );
}

/// Steps are said in order, and one that was passed over is not tried again.
#[test]
fn a_copy_of_what_no_earlier_step_reads_is_told() {
    check_findings(
        r#"Script(agents: {
    "assistant": [
        (say: Final([Copy("note:partner", "address"), Copy("tool:read_note", "address")])),
        (say: Call("read_note", { "note": [Own("note:partner")] })),
        (say: Final([Copy("note:partner", "address"), Copy("tool:read_note", "address")])),
        (say: Final([Copy("contacts/partner", "phone")])),
    ],
})"#,
        &[
            "3:27: no step of `assistant` before this one reads `note:partner`; put the call that reads it first: a step that copies the unseen is passed over",
            "3:60: no step of `assistant` before this one reads `tool:read_note`; put the call that reads it first: a step that copies the unseen is passed over",
            "6:27: no step of `assistant` before this one reads `contacts/partner`; put the call that reads it first: a step that copies the unseen is passed over",
        ],
    );
}

#[test]
fn a_call_is_compared_with_its_tool() {
    check_findings(
        r##"Script(agents: {
    "assistant": [
        (say: Call("send_invite", { "meeting": [Own("e")], "recipent": [Own("p")] })),
        (say: Call("send_invite", { "meeting": [Own(r#"to"#)] })),
        (say: Call("send_invite", {}), form: Prose("no")),
    ],
    "worker": [
        (say: Call("send_invite", { "event": [Own("\"")], "to": [Own("p")] })),
    ],
})"##,
        &[
            "3:60: the tool `send_invite` has no argument `recipent`; did you mean `recipient`?",
            "4:20: the call of `send_invite` lacks the argument `recipient`; add `\"recipient\": [...]`",
            "8:20: `worker` does not hold the tool `send_invite`; there are `read_note`",
        ],
    );
}

#[test]
fn what_an_agent_can_never_see_is_told() {
    check_findings(
        r#"Script(agents: {
    "assistant": [
        (say: Final([Copy("note:partner", "adress"), Copy("contacts/partner", "phon")])),
        (say: Delegate("worker", { "task": [Goal("the partner's tea"), Goal("coffee")] })),
        (say: Final([Copy("message:worker", "text"), Copy("message", "txt")])),
        (say: Final([Copy("note:mail", "text"), Copy("goal", "text")])),
    ],
    "worker": [
        (say: Final([Copy("message", "task"), Copy("message:assistant", "tsk")])),
        (say: Delegate("assistant", { "a": [Copy("contacts/partner", "phone")] })),
        (say: Final([Goal("anything")]), when: [MessageFrom("worker"), Seen("goal")]),
    ],
})"#,
        &[
            "3:43: `note:partner` has no field `adress`; did you mean `address`?",
            "3:79: `contacts/partner` has no field `phon`; did you mean `phone`?",
            "4:77: no goal of `assistant` says anything of `coffee`; write `Own` for words that are the agent's own",
            "5:70: `message` has no field `txt`; did you mean `text`?",
            "6:27: `note:mail` is a message and is not seen under its name; write `message`",
            "9:73: `message:assistant` has no field `tsk`; did you mean `task`?",
            "10:24: no channel leads from `worker` to `assistant`; there are none",
            "10:50: `worker` holds no tool that reads `contacts/partner`; give it one in the world, or copy from `message`",
            "11:61: no message from `worker` can reach `worker`; add a channel that leads to it",
            "11:77: `worker` is given no goal; it may see a `message`",
        ],
    );
}

#[test]
fn a_script_of_mistakes_is_compared_up_to_the_fiftieth() {
    let briefing = briefing();
    let contents = contents();
    let compare = |script: &str| {
        let parsed = Script::parse(script).unwrap();
        parsed.check(script, &world(&briefing, &contents))
    };
    let step = r#"(say: Call("send_invte", {})),"#;
    let steps = |count: usize| {
        let steps = step.repeat(count);
        compare(&format!("Script(agents: {{ \"assistant\": [{steps}] }})"))
    };
    assert_eq!(steps(50).len(), 50);
    let found = steps(20_000);
    assert_eq!(found.len(), 51);
    assert_eq!(found[50].place, "agent `assistant`, step 51");
    assert!(found[50].message.contains("nothing was compared"));
    let conditions = r#"Seen("tool:x"),"#.repeat(20_000);
    let found = compare(&format!(
        "Script(agents: {{ \"assistant\": [(say: Final([]), when: [{conditions}])] }})"
    ));
    assert_eq!(found.len(), 51);
    assert_eq!(found[50].place, "agent `assistant`, step 1");
    let agents: String = (0..20_000)
        .map(|agent| format!("\"x{agent}\": [],"))
        .collect();
    let found = compare(&format!("Script(agents: {{ {agents} }})"));
    assert_eq!(found.len(), 51);
    assert_eq!(found[50].place, "agent `x50`");
    assert_eq!(found[49].severity, Severity::Error);
}
