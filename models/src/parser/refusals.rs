//! What the parser mends, and what it refuses to guess, case by case.

use super::cases::check;

#[test]
fn broken_syntax_is_mended_where_nothing_is_in_doubt() {
    for (input, expected) in [
        (
            "{'action': 'tool', 'tool': 'read_note', 'arguments': {'note': 'it\\'s \"n\"'}}",
            "SYNTAX: read_note(note=it's \"n\")",
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n",},}"#,
            "SYNTAX: read_note(note=n)",
        ),
        (
            r#"{action:"tool",tool:"read_note",arguments:{note:"n"}}"#,
            "SYNTAX: read_note(note=n)",
        ),
        (
            "{\"action\":\"tool\",\"tool\":\"read_note\",\"arguments\":{\"note\":\"one\ntwo\"}}",
            "SYNTAX: read_note(note=one\ntwo)",
        ),
        (
            r#"{"action":"tool","tool":"send_email","arguments":{"to":["a",],"body":"b","urgent":True}}"#,
            r#"SYNTAX: send_email(to=["a"]; body=b; urgent=true)"#,
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"}"#,
            "SYNTAX: read_note(note=n)",
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n""#,
            "SYNTAX: read_note(note=n)",
        ),
        (
            "```json\n{\"action\":\"tool\",\"tool\":\"send_email\",\"arguments\":{\"to\":[\"a\"],\"body\":\"b\",\"copies\":2\n```",
            r#"FENCE+SYNTAX: send_email(to=["a"]; body=b; copies=2)"#,
        ),
        (r#"{"action":"final","text":"do"#, "SYNTAX: final do"),
        (r#"{"action":"final","text":"do\"#, "SYNTAX: final do"),
    ] {
        check(input, expected);
    }
}

#[test]
fn nothing_that_was_cut_off_is_completed() {
    for (input, problem) in [
        (
            r#"{"action":"tool","tool":"send_em"#,
            "cut off inside a text",
        ),
        (r#"{"action":"send_em"#, "cut off inside a text"),
        (r#"{"action":"fin"#, "cut off inside a text"),
        (r#"{"text":"done","action":"final"#, "cut off inside a text"),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"#,
            "cut off inside a text",
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"no"#,
            "cut off inside a key",
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n","#,
            "cut off before it is complete",
        ),
        (
            r#"{"action":"tool","tool":"list_notes","arguments":{"#,
            "cut off before it is complete",
        ),
        (
            r#"{"action":"tool","tool":"list_notes","arguments":"#,
            "cut off before it is complete",
        ),
        (
            r#"{"action":"tool","tool":"send_email","arguments":{"body":"b","to":["a","b""#,
            "cut off before it is complete",
        ),
        (
            r#"{"action":"tool","tool":"send_email","arguments":{"body":"b","to":["a"],"copies":1"#,
            "cut off inside a number",
        ),
        (
            r#"{"action":"delegate","to":"worker","content":{"address":"a@b"#,
            "cut off inside a text",
        ),
        (
            "```json\n{\"action\":\"final\",\"text\":\"do\n```",
            "cut off inside a text",
        ),
        (
            r#"{"tool":"read_note","arguments":"{\"note\":\"n"}"#,
            "the arguments are no single object",
        ),
    ] {
        check(input, &format!("invalid: {problem}"));
    }
}

const NO_CERTAIN_READING: &[(&str, &str)] = &[
    ("", "no action is found"),
    ("All done, nothing to report.", "no action is found"),
    ("```\ncode\n```", "no action is found"),
    ("{}", "no action is found"),
    (r#"{"to":"a","body":"b"}"#, "no action is found"),
    (r#"{"name":"Bo"}"#, "no action is found"),
    ("Use {braces} here", "no action is found"),
    (r#"{"action":"tool","arguments":{}}"#, "no tool is named"),
    (
        r#"{"action":"tool","tool":"list_notes","tool":"read_note","arguments":{}}"#,
        "a key is given twice",
    ),
    (
        r#"{"action":"tool","tool":"read_note","arguments":{"note":"a","n\u006fte":"b"}}"#,
        "a key is given twice",
    ),
    (
        r#"{"action":"final","text":"a"} {"action":"final","text":"a"}"#,
        "more than one action",
    ),
    (
        r#"{"action":"final","text":"a","tool":"list_notes","arguments":{}}"#,
        "more than one action",
    ),
    (
        r#"{"tool_calls":[{"name":"list_notes"},{"name":"list_notes"}]}"#,
        "more than one action",
    ),
    (
        r#"{"action":"final","text":"a","function":{"name":"list_notes"}}"#,
        "more than one action",
    ),
    (
        r#"{"tool":"read_note","arguments":{"note":"a"},"args":{"note":"b"}}"#,
        "arguments are given twice",
    ),
    (
        r#"{"tool":"read_note","arguments":{"note":"a"},"note":"b"}"#,
        "arguments stand in two places",
    ),
    (
        r#"{"tool":"read_note","arguments":{"note":"a"},"name":"list_notes"}"#,
        "more than one tool is named",
    ),
    (
        r#"{"action":"perhaps","tool":"list_notes"}"#,
        "the action type is unknown",
    ),
    (
        r#"{"action":"tool","tool":"list_notes" and "arguments":{"name":"read_note","arguments":{"note":"n"}}}"#,
        "neither a comma nor a closing brace follows a value",
    ),
    (
        r#"{"action":"delegate","to":"a","recipient":"b","content":"c"}"#,
        "more than one receiver or text",
    ),
    (
        r#"{"action":"delegate","content":"c"}"#,
        "no receiver is named",
    ),
    (r#"{"action":"final"}"#, "a final answer has no text"),
    (
        r#"{"action":"final","text":"\ud800"}"#,
        "an escape stands for no character",
    ),
    (
        r#"{"action":"final","text":"\d"}"#,
        "a backslash escapes nothing",
    ),
    (r#"{"action":"final","text":01}"#, "a number is malformed"),
    (
        r#"{"action":"final","text":done}"#,
        "a bare word stands where a value is expected",
    ),
];

#[test]
fn what_has_no_certain_reading_is_invalid() {
    for (input, problem) in NO_CERTAIN_READING {
        check(input, &format!("invalid: {problem}"));
    }
}

#[test]
fn every_size_has_a_limit() {
    let deep = format!(r#"{{"action":"final","text":{}"#, "[".repeat(100));
    let members: Vec<_> = (0..100).map(|key| format!(r#""{key}":1"#)).collect();
    let wide = format!(r#"{{{},"action":"final"}}"#, members.join(","));
    let long = "x".repeat(super::MAX_COMPLETION_BYTES + 1);
    check(&deep, "invalid: nested too deeply");
    check(&wide, "invalid: an object has too many members");
    check(&long, "invalid: the text is too long");
}
