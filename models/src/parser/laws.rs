//! What holds for every text, and for every action in every form.

use plugins::action::{Action, ActionParser, ParseStatus, Parsed, Repairs, ToolCatalogue};
use plugins::conformance::check_parser;
use plugins::ids::ToolId;
use plugins::value::{Field, Value};
use proptest::prelude::*;

use super::cases::{KNOWN, parse, tools};
use super::json::{Json, read_object};
use super::{AppendixIParser, MAX_COMPLETION_BYTES};
use crate::emit::{ActionWriter, Form, Keys, Syntax, Wrapping, final_answer};

/// Pieces from which nearly valid actions are put together.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "\\",
    "\\u12",
    "\\ud83d",
    "```",
    "```json\n",
    "\n",
    " ",
    "action",
    "\"action\"",
    "tool",
    "\"tool\"",
    "final",
    "\"text\":",
    "\"arguments\":",
    "\"read_note\"",
    "\"note\":\"n\"",
    "Action: read_note\n",
    "Action Input: ",
    "1",
    "-1.5e3",
    "true",
    "None",
    "é",
    "\u{1f600}",
    "\0",
];

fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for wrapping in [Wrapping::Bare, Wrapping::Fenced, Wrapping::Prefixed] {
        for keys in [
            Keys::Canonical,
            Keys::ActionTypeAsTool,
            Keys::Aliased,
            Keys::ToolBench,
        ] {
            for syntax in [
                Syntax::Strict,
                Syntax::SingleQuotes,
                Syntax::TrailingComma,
                Syntax::UnquotedKeys,
                Syntax::MissingCloser,
                Syntax::CutInToolName,
            ] {
                forms.push(Form {
                    wrapping,
                    keys,
                    syntax,
                });
            }
        }
    }
    forms
}

fn write(action: &Action, form: Form) -> String {
    let mut out = String::new();
    match action {
        Action::ToolCall {
            tool,
            arguments,
            keep_result,
        } => {
            let spec = &tools()[tool.index()];
            let mut writer = ActionWriter::call(&mut out, form, &spec.name);
            for (position, value) in arguments {
                let name = &spec.arguments[usize::from(*position)].name;
                match value {
                    Value::Text(text) => {
                        let (first, second) = text.split_at(text.floor_char_boundary(3));
                        writer.text(name, [first, second]);
                    }
                    Value::List(items) => writer.list(name, items.iter().map(|item| [&**item])),
                    Value::Integer(number) => writer.integer(name, *number),
                    Value::Boolean(truth) => writer.boolean(name, *truth),
                }
            }
            if *keep_result {
                writer.finish();
            } else {
                writer.finish_discarded();
            }
        }
        Action::Delegate { to, content } => {
            let mut writer = ActionWriter::delegate(&mut out, form, to);
            for field in content {
                writer.text(&field.name, [&*field.value]);
            }
            writer.finish();
        }
        Action::Final { text } => final_answer(&mut out, form, [&**text]),
        Action::InvalidTool { .. } | Action::InvalidSchema { .. } => {}
    }
    out
}

/// The repairs that reading `form` needs, for an action with at least one field.
fn needed(action: &Action, form: Form) -> Repairs {
    let mut repairs = Repairs::empty();
    repairs.set(Repairs::FENCE, form.wrapping == Wrapping::Fenced);
    repairs.set(Repairs::PREFIX, form.wrapping == Wrapping::Prefixed);
    let is_call = matches!(action, Action::ToolCall { .. });
    repairs.set(
        Repairs::ACTION_TYPE_AS_TOOL,
        is_call && form.keys == Keys::ActionTypeAsTool,
    );
    repairs.set(
        Repairs::KEY_ALIAS,
        matches!(form.keys, Keys::Aliased | Keys::ToolBench),
    );
    let keeps_closer = form.syntax == Syntax::MissingCloser && form.keys == Keys::ToolBench;
    repairs.set(
        Repairs::SYNTAX,
        form.syntax != Syntax::Strict && !keeps_closer,
    );
    repairs
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\"'`{}\\\\\n:,A-Za-z ]{0,20}"]
}

fn action() -> impl Strategy<Value = Action> {
    let email = (
        prop::collection::vec(text(), 0..3),
        text(),
        prop::option::of(any::<i64>()),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(to, body, copies, urgent)| {
            let to = to.iter().map(|item| item.as_str().into()).collect();
            let mut arguments = vec![(0, Value::List(to)), (1, Value::text(&body))];
            arguments.extend(copies.map(|copies| (2, Value::Integer(copies))));
            arguments.extend(urgent.map(|urgent| (3, Value::Boolean(urgent))));
            Action::ToolCall {
                tool: ToolId(0),
                arguments,
                keep_result: true,
            }
        });
    let note = (text(), any::<bool>()).prop_map(|(note, keep_result)| Action::ToolCall {
        tool: ToolId(1),
        arguments: vec![(0, Value::text(&note))],
        keep_result,
    });
    let fields = prop::collection::btree_map(text(), text(), 1..4);
    let delegate = (text(), fields).prop_map(|(to, fields)| Action::Delegate {
        to: to.as_str().into(),
        content: fields
            .iter()
            .map(|(name, value)| Field {
                name: name.as_str().into(),
                value: value.as_str().into(),
            })
            .collect(),
    });
    let answer = text().prop_map(|text| Action::Final {
        text: text.as_str().into(),
    });
    prop_oneof![email, note, delegate, answer]
}

/// What every result must satisfy, whatever was parsed.
fn assert_coherent(parsed: &Parsed) {
    let is_invalid = matches!(parsed.action, Action::InvalidSchema { .. });
    assert_eq!(is_invalid, parsed.status == ParseStatus::InvalidSchema);
    let is_strict = parsed.status == ParseStatus::ValidStrictJson;
    assert_eq!(
        is_strict,
        !is_invalid && parsed.repairs.is_empty(),
        "{parsed:?}"
    );
    assert!(!(is_strict && parsed.strict_reading_is_final), "{parsed:?}");
    if let Action::ToolCall {
        tool, arguments, ..
    } = &parsed.action
    {
        assert!(KNOWN.contains(tool));
        assert!(arguments.is_sorted_by(|a, b| a.0 < b.0));
    }
}

/// Whether some object in `json` has a key twice, which our reader refuses and others accept.
fn is_refused(problem: &str) -> bool {
    matches!(
        problem,
        "a key is given twice" | "nested too deeply" | "an object has too many members"
    )
}

fn same(ours: &Json<'_>, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Json::Null, serde_json::Value::Null)
        | (Json::True, serde_json::Value::Bool(true))
        | (Json::False, serde_json::Value::Bool(false)) => true,
        (Json::Number(ours), serde_json::Value::Number(theirs)) => {
            serde_json::from_str::<serde_json::Number>(ours).is_ok_and(|ours| ours == *theirs)
        }
        (Json::Text(ours), serde_json::Value::String(theirs)) => ours == theirs,
        (Json::List(ours), serde_json::Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same(ours, theirs))
        }
        (Json::Object(ours), serde_json::Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|member| {
                    theirs
                        .get(&*member.key)
                        .is_some_and(|theirs| same(&member.value, theirs))
                })
        }
        _ => false,
    }
}

/// Our strict reading and that of `serde_json` are the same.
fn assert_same_reading(text: &str) {
    let text = text.trim_ascii();
    if !text.starts_with('{') {
        return;
    }
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (read_object(text, 0), theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert!(!ours.mended && ours.end == text.len(), "{text}");
            assert!(same(&Json::Object(ours.members), &theirs), "{text}");
        }
        (Ok(ours), Err(error)) => assert!(
            ours.mended || ours.end < text.len() || error.to_string().contains("out of range"),
            "{text}: {error}"
        ),
        (Err(failure), Ok(_)) => assert!(is_refused(failure.problem), "{text}: {failure:?}"),
        (Err(_), Err(_)) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_without_panic(text in any::<String>()) {
        assert_coherent(&parse(&text));
    }

    #[test]
    fn nearly_valid_text_is_parsed_without_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
    ) {
        assert_coherent(&parse(&pieces.concat()));
    }

    #[test]
    fn every_form_reads_back_as_the_same_action(action in action()) {
        for form in forms() {
            let text = write(&action, form);
            let parsed = parse(&text);
            assert_coherent(&parsed);
            if form.syntax == Syntax::CutInToolName {
                prop_assert_eq!(parsed.status, ParseStatus::InvalidSchema, "{}", text);
                continue;
            }
            prop_assert_eq!(&parsed.action, &action, "{:?} {}", form, text);
            prop_assert_eq!(parsed.repairs, needed(&action, form), "{:?} {}", form, text);
            prop_assert_eq!(parsed.strict_reading_is_final, !parsed.repairs.is_empty());
        }
    }

    #[test]
    fn a_strict_form_is_strict_json(action in action()) {
        let text = write(&action, Form::default());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        assert_same_reading(&text);
    }

    /// Cutting a valid action anywhere leaves no action, or the same one: never another.
    #[test]
    fn a_cut_action_is_never_another_action(action in action(), at in any::<prop::sample::Index>()) {
        for form in forms() {
            if form.syntax == Syntax::CutInToolName {
                continue;
            }
            let text = write(&action, form);
            let end = text.floor_char_boundary(at.index(text.len()));
            let parsed = parse(&text[..end]);
            assert_coherent(&parsed);
            match (&parsed.action, &action) {
                (Action::InvalidSchema { .. }, _) => {}
                (Action::Final { text: cut }, Action::Final { text: whole }) => {
                    prop_assert!(whole.starts_with(&**cut), "{:?} {}", form, &text[..end]);
                }
                (Action::ToolCall { tool: a, arguments: b, .. },
                 Action::ToolCall { tool: c, arguments: d, .. }) => {
                    prop_assert_eq!(a, c);
                    prop_assert!(d.starts_with(b), "{:?} {}", form, &text[..end]);
                }
                (Action::Delegate { to: a, content: b }, Action::Delegate { to: c, content: d }) => {
                    prop_assert_eq!(a, c);
                    prop_assert!(d.starts_with(b), "{:?} {}", form, &text[..end]);
                }
                (other, _) => prop_assert!(false, "{:?} from {}", other, &text[..end]),
            }
        }
    }

    #[test]
    fn one_changed_byte_does_not_break_the_parser(
        action in action(),
        at in any::<prop::sample::Index>(),
        piece in prop::sample::select(PIECES),
    ) {
        let mut text = write(&action, Form::default());
        let place = text.floor_char_boundary(at.index(text.len()));
        text.insert_str(place, piece);
        assert_coherent(&parse(&text));
        assert_same_reading(&text);
    }

    #[test]
    fn the_strict_reading_is_that_of_a_json_parser(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12),
    ) {
        assert_same_reading(&format!("{{{}}}", pieces.concat()));
        assert_same_reading(&format!("{{\"k\":{}}}", pieces.concat()));
    }
}

#[test]
fn the_parser_conforms() {
    assert_eq!(check_parser(&AppendixIParser, 500), []);
}

/// Megabytes of what could make a search start over and over.
#[test]
fn hostile_text_takes_linear_time() {
    let size = MAX_COMPLETION_BYTES;
    let tools = tools();
    let catalogue = ToolCatalogue {
        tools: &tools,
        known: &KNOWN,
    };
    for piece in [
        "{",
        "[",
        "{\"",
        "{'",
        "{\"a",
        "{\"a\":",
        "{\"a\":{\"b\":[",
        "{}",
        "{\"a\":1}",
        "{\"action\":\"final\"}",
        "\\",
        "```\n{",
        "Action: x\n",
        "Action: x\nAction Input: {",
        "Action:\n\n",
        "é{",
        "\"{\"x\" ",
    ] {
        let text = piece.repeat(size / piece.len());
        assert_coherent(&AppendixIParser.parse(&text, catalogue));
        let inside = format!("{{\"action\":\"final\",\"text\":\"{text}\"}}");
        assert_coherent(&AppendixIParser.parse(&inside[..size], catalogue));
    }
    let members: Vec<_> = (0..size / 24)
        .map(|key| format!(r#"{{"{key}":0}} {{"x{key}" "#))
        .collect();
    let members = members.concat();
    assert_coherent(&AppendixIParser.parse(&members[..size.min(members.len())], catalogue));
}
