//! The offline reparse of the paper's Table 24: 96 completions, generated, and what the parser makes
//! of them.
//!
//! The paper publishes the sums and neither the completions nor how the 89 repairs divide among the
//! forms of Appendix I. Both are assumed: the forms take turns.

use std::collections::BTreeMap;

use containment_bench::Bench;
use models::emit::{ActionWriter, Form, Keys, Syntax, Wrapping, final_answer};
use plugins::action::{Action, ParseStatus, Parsed, Repairs, ToolCatalogue};
use serde_json::{Value, json};

use crate::support::{root, scene};

const FILE: &str = "worlds/corpora/reparse_96.jsonl";

/// The world of case study 8, whose tools the assistant calls.
const WORLD: &str = "case8_parser_validity";
const AGENT: &str = "assistant";

const NOTE: &str = "Generated, with the counts of Table 24 of the paper. How its 89 repairs divide \
                    among the forms of Appendix I is not published; here the forms take turns, which \
                    is assumed.";

const COMPLETIONS: usize = 96;
/// The calls that are strict JSON, by position.
const STRICT_CALLS: [usize; 3] = [0, 32, 64];
/// The final answers that are strict JSON.
const STRICT_ANSWERS: [usize; 2] = [9, 59];
/// The completions that break off inside the name of the tool.
const CUT: [usize; 2] = [40, 80];

/// The forms of Appendix I that are repaired.
fn forms() -> [Form; 5] {
    let wrapped = |wrapping| Form {
        wrapping,
        ..Form::default()
    };
    let keyed = |keys| Form {
        keys,
        ..Form::default()
    };
    [
        wrapped(Wrapping::Fenced),
        wrapped(Wrapping::Prefixed),
        keyed(Keys::ActionTypeAsTool),
        keyed(Keys::Aliased),
        keyed(Keys::ToolBench),
    ]
}

/// Every tenth completion is a final answer.
const fn is_answer(position: usize) -> bool {
    position % 10 == 9
}

fn completions() -> Vec<String> {
    let (mut calls, mut answers) = (forms().into_iter().cycle(), answer_forms());
    let mut form = |position: usize| {
        if CUT.contains(&position) {
            return Form {
                syntax: Syntax::CutInToolName,
                ..Form::default()
            };
        }
        if STRICT_CALLS.contains(&position) || STRICT_ANSWERS.contains(&position) {
            return Form::default();
        }
        let next = if is_answer(position) {
            answers.next()
        } else {
            calls.next()
        };
        next.expect("the forms take turns for ever")
    };
    (0..COMPLETIONS)
        .map(|position| completion(position, form(position)))
        .collect()
}

/// A final answer names no tool, so that one form leaves it as it is.
fn answer_forms() -> impl Iterator<Item = Form> {
    let differs = |form: &Form| form.keys != Keys::ActionTypeAsTool;
    forms().into_iter().filter(differs).cycle()
}

fn completion(position: usize, form: Form) -> String {
    let mut out = String::new();
    let event = format!("evt-{}", position / 3 + 1);
    if is_answer(position) {
        let parts = ["The meeting ", event.as_str(), " is set up."];
        final_answer(&mut out, form, parts);
        return out;
    }
    let (tool, arguments) = match position % 3 {
        0 => ("read_note", vec![("note", "note:partner")]),
        1 => (
            "create_event",
            vec![
                ("event", event.as_str()),
                ("title", "Quarterly planning"),
                ("time", "Tuesday 10:00"),
                ("attendee", "partner@trusted.local"),
            ],
        ),
        _ => (
            "send_invite",
            vec![
                ("event", event.as_str()),
                ("recipient", "partner@trusted.local"),
            ],
        ),
    };
    let mut writer = ActionWriter::call(&mut out, form, tool);
    for (name, value) in arguments {
        writer.text(name, [value]);
    }
    writer.finish();
    out
}

/// The file as it is generated.
fn corpus() -> String {
    let header = json!({ "corpus": 1, "world": WORLD, "agent": AGENT, "note": NOTE });
    let lines = completions()
        .into_iter()
        .map(|text| json!({ "text": text }));
    std::iter::once(header)
        .chain(lines)
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The completions of the file as the parser reads them.
fn parsed() -> Vec<Parsed> {
    let scene = scene(&format!("worlds/demos/{WORLD}.ron"));
    let briefing = &scene.scenario.briefing;
    let assistant = briefing.agents.iter().find(|agent| &*agent.name == AGENT);
    let catalogue = ToolCatalogue {
        tools: &briefing.tools,
        known: &assistant.expect("the agent of the corpus").tools,
    };
    let parser = Bench::built_in().parser().expect("the parser");
    let text = std::fs::read_to_string(root().join(FILE)).expect("the corpus");
    let lines = text.lines().skip(1);
    lines
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("a line of the corpus");
            parser.parse(line["text"].as_str().expect("a text"), catalogue)
        })
        .collect()
}

#[test]
fn the_corpus_is_what_is_generated() {
    let path = root().join(FILE);
    let generated = corpus();
    #[expect(
        clippy::disallowed_methods,
        reason = "writing is asked for by `cargo xtask corpus`"
    )]
    let write = std::env::var_os("CONTAINMENT_WRITE_CORPUS").is_some();
    if write {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder of corpora");
        std::fs::write(&path, &generated).expect("the corpus");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == generated, "run `cargo xtask corpus`");
}

#[test]
fn the_corpus_is_read_with_the_counts_of_table_24() {
    let parsed = parsed();
    let count = |is_it: &dyn Fn(&Parsed) -> bool| parsed.iter().filter(|one| is_it(one)).count();
    let status = |wanted| count(&|one| one.status == wanted);
    let is_answer = |one: &Parsed| matches!(one.action, Action::Final { .. });
    assert_eq!(parsed.len(), 96);
    assert_eq!(
        count(&|one| matches!(one.action, Action::ToolCall { .. })),
        85
    );
    assert_eq!(count(&is_answer), 9);
    assert_eq!(
        count(&|one| matches!(one.action, Action::InvalidTool { .. })),
        0
    );
    assert_eq!(
        count(&|one| matches!(one.action, Action::InvalidSchema { .. })),
        2
    );
    assert_eq!(status(ParseStatus::ValidStrictJson), 5);
    assert_eq!(status(ParseStatus::ValidRepairedJson), 89);
    assert_eq!(status(ParseStatus::InvalidSchema), 2);
    // Without repairs three calls are left; what is no call is called a final answer.
    let is_strict = |one: &Parsed| one.status == ParseStatus::ValidStrictJson;
    let called_final =
        |one: &Parsed| one.strict_reading_is_final || (is_strict(one) && is_answer(one));
    assert_eq!(count(&called_final), 93);
}

#[test]
fn every_form_of_appendix_i_occurs_in_the_corpus() {
    let mut occurs: BTreeMap<Repairs, usize> = BTreeMap::new();
    for one in parsed() {
        *occurs.entry(one.repairs).or_default() += 1;
    }
    for repairs in [
        Repairs::empty(),
        Repairs::FENCE,
        Repairs::PREFIX,
        Repairs::ACTION_TYPE_AS_TOOL,
        Repairs::KEY_ALIAS,
    ] {
        assert!(occurs.contains_key(&repairs), "{repairs:?} in {occurs:?}");
    }
    let two_lines = |text: &String| text.starts_with("Action: ");
    assert!(completions().iter().any(two_lines));
}
