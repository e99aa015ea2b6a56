//! What the parser reads, case by case.

use plugins::action::{Action, ActionParser, ParseStatus, Parsed, Repairs, ToolCatalogue};
use plugins::ids::ToolId;
use plugins::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, Target, ToolSpec, Undo, ValueKind,
};

use super::AppendixIParser;

fn argument(name: &str, aliases: &[&str], kind: ValueKind, required: bool) -> ArgumentSpec {
    ArgumentSpec {
        name: name.into(),
        aliases: aliases.iter().map(|&alias| alias.into()).collect(),
        kind,
        role: Role::Content,
        passing: Passing::Value,
        required,
    }
}

fn tool(name: &str, arguments: Vec<ArgumentSpec>) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        operation: Operation::Act,
        risk: RiskClass::Outbound,
        arguments,
        target: Target::Fixed("target".into()),
        sink: None,
        latency_ticks: 1,
        undo: Undo::Irrevocable,
        irrevocable_email: false,
    }
}

/// Four tools that the agent knows, and `delete_note`, which it does not.
pub(super) fn tools() -> Vec<ToolSpec> {
    vec![
        tool(
            "send_email",
            vec![
                argument("to", &["recipients", "address"], ValueKind::List, true),
                argument("body", &["message"], ValueKind::Text, true),
                argument("copies", &[], ValueKind::Integer, false),
                argument("urgent", &[], ValueKind::Boolean, false),
            ],
        ),
        tool(
            "read_note",
            vec![argument("note", &["id"], ValueKind::Text, true)],
        ),
        tool("list_notes", vec![]),
        tool(
            "delete_note",
            vec![argument("note", &[], ValueKind::Text, true)],
        ),
        tool(
            "add_contact",
            vec![
                argument("name", &[], ValueKind::Text, true),
                argument("input", &[], ValueKind::Text, false),
            ],
        ),
    ]
}

pub(super) const KNOWN: [ToolId; 4] = [ToolId(0), ToolId(1), ToolId(2), ToolId(4)];

pub(super) fn parse(text: &str) -> Parsed {
    let tools = tools();
    let catalogue = ToolCatalogue {
        tools: &tools,
        known: &KNOWN,
    };
    AppendixIParser.parse(text, catalogue)
}

/// One line: whether a strict parser sees an action, how it was read, what was repaired, the action.
fn show(parsed: &Parsed) -> String {
    let status = match parsed.status {
        ParseStatus::ValidStrictJson => "strict".to_owned(),
        ParseStatus::ValidRepairedJson => show_repairs(parsed.repairs),
        ParseStatus::InvalidSchema => "invalid".to_owned(),
    };
    let canonical = if parsed.strict_reading_is_final || status == "strict" {
        ""
    } else {
        "canonical "
    };
    format!("{canonical}{status}: {}", show_action(&parsed.action))
}

fn show_repairs(repairs: Repairs) -> String {
    let names: Vec<_> = repairs.iter_names().map(|(name, _)| name).collect();
    names.join("+")
}

fn show_action(action: &Action) -> String {
    match action {
        Action::ToolCall {
            tool,
            arguments,
            keep_result,
        } => {
            let spec = &tools()[tool.index()];
            let arguments: Vec<_> = arguments
                .iter()
                .map(|(position, value)| {
                    let name = &spec.arguments[usize::from(*position)].name;
                    match value {
                        plugins::value::Value::List(items) => format!("{name}={items:?}"),
                        other => format!("{name}={other}"),
                    }
                })
                .collect();
            let discarded = if *keep_result { "" } else { " discarded" };
            format!("{}({}){discarded}", spec.name, arguments.join("; "))
        }
        Action::Delegate { to, content } => {
            let fields: Vec<_> = content
                .iter()
                .map(|field| format!("{}={}", field.name, field.value))
                .collect();
            format!("delegate {to}({})", fields.join("; "))
        }
        Action::Final { text } => format!("final {text}"),
        Action::InvalidTool { name } => format!("no tool {name}"),
        Action::InvalidSchema { problem } => (*problem).to_owned(),
    }
}

#[track_caller]
pub(super) fn check(input: &str, expected: &str) {
    assert_eq!(show(&parse(input)), expected, "for {input}");
}

#[test]
fn canonical_forms_are_strict() {
    for (input, expected) in [
        (
            r#"{"action":"tool","tool":"send_email","arguments":{"to":["a","b"],"body":"hi"}}"#,
            r#"strict: send_email(to=["a", "b"]; body=hi)"#,
        ),
        (
            "\n {\"action\" : \"tool\",\t\"tool\": \"list_notes\", \"arguments\" : { } }\r\n",
            "strict: list_notes()",
        ),
        (
            r#"{"tool":"read_note","arguments":{"note":"n"},"keep_result":false,"action":"tool"}"#,
            "strict: read_note(note=n) discarded",
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"},"keep_result":true}"#,
            "strict: read_note(note=n)",
        ),
        (
            r#"{"action":"tool","tool":"send_email","arguments":{"urgent":true,"copies":-2,"body":"b","to":[]}}"#,
            "strict: send_email(to=[]; body=b; copies=-2; urgent=true)",
        ),
        (
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}}"#,
            "strict: read_note(note=\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600})",
        ),
        (
            r#"{"action":"delegate","to":"worker","content":{"task":"t","who":"w"}}"#,
            "strict: delegate worker(task=t; who=w)",
        ),
        (
            r#"{"action":"delegate","to":"worker","content":"do it"}"#,
            "strict: delegate worker(text=do it)",
        ),
        (
            r#"{"action":"delegate","to":"worker","content":{}}"#,
            "strict: delegate worker()",
        ),
        (r#"{"action":"final","text":"done"}"#, "strict: final done"),
        (
            r#"{"action":"tool","tool":"delete_note","arguments":{"note":"n"}}"#,
            "strict: no tool delete_note",
        ),
        (
            r#"{"action":"tool","tool":"nobody","arguments":{}}"#,
            "strict: no tool nobody",
        ),
    ] {
        check(input, expected);
    }
}

#[test]
fn canonical_objects_with_repaired_arguments_are_not_final_for_a_strict_parser() {
    for (arguments, expected) in [
        (
            r#"{"recipients":["a"],"body":"b"}"#,
            r#"canonical ARGUMENT_ALIAS: send_email(to=["a"]; body=b)"#,
        ),
        (
            r#"{"to":"a","body":"b"}"#,
            r#"canonical COERCION: send_email(to=["a"]; body=b)"#,
        ),
        (
            r#"{"to":["a"],"body":"b","cc":"c"}"#,
            r#"canonical DROPPED_ARGUMENT: send_email(to=["a"]; body=b)"#,
        ),
        (
            r#"{"to":["a"]}"#,
            "canonical invalid: a required argument is missing",
        ),
        (
            r#"{"to":["a"],"address":["a"],"body":"b"}"#,
            "canonical invalid: an argument is given twice",
        ),
    ] {
        let input = format!(r#"{{"action":"tool","tool":"send_email","arguments":{arguments}}}"#);
        check(&input, expected);
    }
}

#[test]
fn values_are_converted_to_the_declared_type() {
    for (arguments, expected) in [
        (r#""to":"a, b,","body":"b""#, r#"(to=["a", "b"]; body=b)"#),
        (
            r#""to":"[\"a, b\"]","body":"b""#,
            r#"(to=["a, b"]; body=b)"#,
        ),
        (r#""to":"[a","body":"b""#, r#"(to=["[a"]; body=b)"#),
        (
            r#""to":[1,true],"body":"b""#,
            r#"(to=["1", "true"]; body=b)"#,
        ),
        (r#""to":7,"body":"b""#, r#"(to=["7"]; body=b)"#),
        (r#""to":["a"],"body":["b","c"]"#, r#"(to=["a"]; body=b, c)"#),
        (r#""to":["a"],"body":1.50"#, r#"(to=["a"]; body=1.50)"#),
        (r#""to":["a"],"body":false"#, r#"(to=["a"]; body=false)"#),
        (
            r#""to":["a"],"body":"b","copies":" 3 ""#,
            r#"(to=["a"]; body=b; copies=3)"#,
        ),
        (
            r#""to":["a"],"body":"b","copies":[3]"#,
            r#"(to=["a"]; body=b; copies=3)"#,
        ),
        (
            r#""to":["a"],"body":"b","copies":true"#,
            r#"(to=["a"]; body=b; copies=1)"#,
        ),
        (
            r#""to":["a"],"body":"b","urgent":"Yes""#,
            r#"(to=["a"]; body=b; urgent=true)"#,
        ),
        (
            r#""to":["a"],"body":"b","urgent":0"#,
            r#"(to=["a"]; body=b; urgent=false)"#,
        ),
        (
            r#""to":["a"],"body":"b","urgent":null"#,
            r#"(to=["a"]; body=b)"#,
        ),
    ] {
        let input =
            format!(r#"{{"action":"tool","tool":"send_email","arguments":{{{arguments}}}}}"#);
        check(&input, &format!("canonical COERCION: send_email{expected}"));
    }
}

#[test]
fn values_without_a_sensible_conversion_are_invalid() {
    for (arguments, problem) in [
        (r#""to":{"a":1},"body":"b""#, "a list is expected"),
        (
            r#""to":[{"a":1}],"body":"b""#,
            "a list holds something else than texts",
        ),
        (r#""to":null,"body":"b""#, "a required argument is missing"),
        (r#""to":["a"],"body":[]"#, "a text is expected"),
        (r#""to":["a"],"body":{}"#, "a text is expected"),
        (
            r#""to":["a"],"body":"b","copies":1.0"#,
            "a whole number is expected",
        ),
        (
            r#""to":["a"],"body":"b","copies":99999999999999999999"#,
            "a whole number is expected",
        ),
        (
            r#""to":["a"],"body":"b","urgent":"maybe""#,
            "true or false is expected",
        ),
        (
            r#""to":["a"],"body":"b","urgent":[true,false]"#,
            "true or false is expected",
        ),
    ] {
        let input =
            format!(r#"{{"action":"tool","tool":"send_email","arguments":{{{arguments}}}}}"#);
        check(&input, &format!("canonical invalid: {problem}"));
    }
}

const READ: &str = r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"}}"#;

#[test]
fn fences_and_prose_are_taken_off() {
    for (before, after, repairs) in [
        ("```json\n", "\n```", "FENCE"),
        ("```\n", "```", "FENCE"),
        ("``` ", "\n```\n", "FENCE"),
        ("```json\n", "", "FENCE+SYNTAX"),
        ("I read it first.\n```json\n", "\n```", "FENCE+PREFIX"),
        ("```json\n", "\n```\nThat is all.", "FENCE+PREFIX"),
        ("Sure! ", "", "PREFIX"),
        ("", "\nThat is all.", "PREFIX"),
        ("Use {braces} or {{nothing}} or {\"x\"}: ", "", "PREFIX"),
        ("Thought: {\"plan\":\"read\"}\nAction: ", "", "PREFIX"),
        ("<tool_call>", "</tool_call>", "PREFIX"),
        ("", "}", "SYNTAX"),
        ("[", "]", "PREFIX+SYNTAX"),
    ] {
        check(
            &format!("{before}{READ}{after}"),
            &format!("{repairs}: read_note(note=n)"),
        );
    }
}

#[test]
fn the_action_type_may_name_the_tool() {
    for (input, expected) in [
        (
            r#"{"action":"read_note","arguments":{"note":"n"}}"#,
            "ACTION_TYPE_AS_TOOL: read_note(note=n)",
        ),
        (
            r#"{"action":"read_note","note":"n","keep_result":false}"#,
            "ACTION_TYPE_AS_TOOL: read_note(note=n) discarded",
        ),
        (
            r#"{"action":"list_notes"}"#,
            "ACTION_TYPE_AS_TOOL: list_notes()",
        ),
        (
            r#"{"action":"add_contact","name":"Bo","input":"i"}"#,
            "ACTION_TYPE_AS_TOOL: add_contact(name=Bo; input=i)",
        ),
        (
            r#"{"type":"read_note","args":{"id":"n"}}"#,
            "ACTION_TYPE_AS_TOOL+KEY_ALIAS+ARGUMENT_ALIAS: read_note(note=n)",
        ),
        (
            r#"{"Action":"read_note","Action Input":{"note":"n"}}"#,
            "ACTION_TYPE_AS_TOOL+KEY_ALIAS: read_note(note=n)",
        ),
        (
            r#"{"action":"delete_note","note":"n"}"#,
            "ACTION_TYPE_AS_TOOL: no tool delete_note",
        ),
        (
            r#"{"action":"read_note","tool":"list_notes"}"#,
            "invalid: more than one tool is named",
        ),
    ] {
        check(input, expected);
    }
}

const OTHER_KEYS: &[(&str, &str)] = &[
    (
        r#"{"tool":"read_note","arguments":{"note":"n"}}"#,
        "KEY_ALIAS: read_note(note=n)",
    ),
    (
        r#"{"action":"tool","tool":"read_note","note":"n"}"#,
        "KEY_ALIAS: read_note(note=n)",
    ),
    (
        r#"{"name":"read_note","parameters":{"note":"n"}}"#,
        "KEY_ALIAS: read_note(note=n)",
    ),
    (r#"{"name":"list_notes"}"#, "KEY_ALIAS: list_notes()"),
    (
        r#"{"type":"tool_call","name":"list_notes","args":null}"#,
        "KEY_ALIAS+COERCION: list_notes()",
    ),
    (
        r#"{"tool_name":"read_note","action_input":"{\"note\":\"n\"}"}"#,
        "KEY_ALIAS+STRINGIFIED_ARGUMENTS: read_note(note=n)",
    ),
    (
        r#"{"tool":"read_note","input":"{'note':'n'}"}"#,
        "KEY_ALIAS+SYNTAX+STRINGIFIED_ARGUMENTS: read_note(note=n)",
    ),
    (
        r#"{"id":"c1","type":"function","function":{"name":"read_note","arguments":"{\"id\":\"n\"}"}}"#,
        "KEY_ALIAS+ARGUMENT_ALIAS+STRINGIFIED_ARGUMENTS: read_note(note=n)",
    ),
    (
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"list_notes","arguments":"{}"}}]}"#,
        "KEY_ALIAS+STRINGIFIED_ARGUMENTS: list_notes()",
    ),
    (
        r#"{"thought":"t","action":{"tool":"read_note","arguments":{"note":"n"}}}"#,
        "KEY_ALIAS+DROPPED_ARGUMENT: read_note(note=n)",
    ),
    (
        r#"{"thought":"t","action":"tool","tool":"read_note","arguments":{"note":"n"}}"#,
        "DROPPED_ARGUMENT: read_note(note=n)",
    ),
    (
        r#"{"action":"tool","tool":"nobody"}"#,
        "KEY_ALIAS: no tool nobody",
    ),
    (
        r#"{"name":"nobody","arguments":{}}"#,
        "KEY_ALIAS: no tool nobody",
    ),
    (
        r#"{"action":"handoff","agent":"worker","message":"m"}"#,
        "KEY_ALIAS: delegate worker(text=m)",
    ),
    (
        r#"{"action":"delegate","to":"worker","content":{"n":3,"l":["a","b"]}}"#,
        "COERCION: delegate worker(n=3; l=a, b)",
    ),
    (
        r#"{"action":"delegate","arguments":{"to":"worker","content":"c"}}"#,
        "KEY_ALIAS: delegate worker(text=c)",
    ),
    (
        r#"{"action":"final_answer","answer":"a"}"#,
        "KEY_ALIAS: final a",
    ),
    (r#"{"type":"final","text":"a"}"#, "KEY_ALIAS: final a"),
    (r#"{"action":"final","text":3}"#, "COERCION: final 3"),
    (
        r#"{"action":"final","text":"a","mood":"good"}"#,
        "DROPPED_ARGUMENT: final a",
    ),
];

#[test]
fn other_keys_are_understood() {
    for (input, expected) in OTHER_KEYS {
        check(input, expected);
    }
}

#[test]
fn the_two_line_form_is_understood() {
    for (input, expected) in [
        (
            "Action: read_note\nAction Input: {\"note\":\"n\"}",
            "KEY_ALIAS: read_note(note=n)",
        ),
        (
            "Thought: first this\nAction: `read_note`\n\nAction Input: {'id': 'n',}\nObservation:",
            "PREFIX+KEY_ALIAS+ARGUMENT_ALIAS+SYNTAX: read_note(note=n)",
        ),
        (
            "Action: read_note\nAction Input:\n```json\n{\"note\":\"n\",\"keep_result\":false}\n```",
            "FENCE+KEY_ALIAS: read_note(note=n) discarded",
        ),
        (
            "```\nAction: list_notes\nAction Input: {}\n```",
            "FENCE+KEY_ALIAS: list_notes()",
        ),
        (
            "Action: Finish\nAction Input: {\"final_answer\":\"a\"}",
            "KEY_ALIAS: final a",
        ),
        (
            "Action: delegate\nAction Input: {\"to\":\"worker\",\"content\":\"c\"}",
            "KEY_ALIAS: delegate worker(text=c)",
        ),
        (
            "Action: nobody\nAction Input: {}",
            "KEY_ALIAS: no tool nobody",
        ),
        ("Action: read_no", "invalid: no action is found"),
        ("Action: list_notes\n", "invalid: no action is found"),
        ("Action:\nAction Input: {}", "invalid: no tool is named"),
        (
            "Action: list_notes\nAction Input: none",
            "invalid: the arguments are no object",
        ),
        (
            "Action: list_notes\nAction Input: {}\nAction: read_note\nAction Input: {\"note\":\"n\"}",
            "invalid: more than one action",
        ),
        (
            "{\"note\":\"x\"} Action: {\"name\":\"list_notes\"}\nAction: list_notes\nAction Input: {}",
            "invalid: more than one action",
        ),
        (
            "Action: read_note\nAction Input: {\"note\":\"n",
            "invalid: cut off inside a text",
        ),
    ] {
        check(input, expected);
    }
}
