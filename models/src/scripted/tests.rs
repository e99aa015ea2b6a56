//! Scripts at work on hand-built turns.

use std::sync::Arc;

use plugins::briefing::{AgentInfo, Briefing, Channel, SourceInfo, Trust};
use plugins::conformance::check_model;
use plugins::draws::{Chance, Draws, EventKey, RolloutKey, Stratum};
use plugins::ids::{AgentId, SourceId, ToolId};
use plugins::label::Label;
use plugins::model::{
    Guidance, Input, ModelBackend, OwnTurn, Reply, SchemaMode, Segment, SegmentKind, Turn,
};
use plugins::policy::DenialReason;
use plugins::registry::Registry;
use plugins::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, Target, ToolSpec, Undo, ValueKind,
};
use plugins::value::{Content, Field};

use super::{Script, Scripted, Severity};

const READ: ToolId = ToolId(0);
const INVITE: ToolId = ToolId(1);
const NOTE: SourceId = SourceId(1);
const RECORD: SourceId = SourceId(2);

fn argument(name: &str, alias: &str, kind: ValueKind) -> ArgumentSpec {
    ArgumentSpec {
        name: name.into(),
        aliases: vec![alias.into()],
        kind,
        role: Role::Content,
        passing: Passing::Value,
        required: true,
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

fn briefing() -> Briefing {
    let agent = |name: &str| AgentInfo {
        name: name.into(),
        tools: vec![READ, INVITE],
    };
    let source = |name: &str, channel| SourceInfo {
        name: name.into(),
        channel,
        trust: Trust::Trusted,
        label: Label::default(),
    };
    Briefing {
        agents: vec![agent("assistant"), agent("worker")],
        tools: vec![
            tool("read_note", vec![argument("note", "id", ValueKind::Text)]),
            tool(
                "send_invite",
                vec![
                    argument("event", "meeting", ValueKind::Text),
                    argument("recipient", "to", ValueKind::List),
                ],
            ),
        ],
        sources: vec![
            source("goal:0", Channel::Goal),
            source("note:partner", Channel::RetrievedDocument),
            source("contacts/partner", Channel::PersistentMemory),
        ],
        ..Briefing::default()
    }
}

/// An agent with its context.
struct Stage {
    briefing: Briefing,
    context: Vec<Segment>,
    episode: u32,
    guidance: Guidance,
    draws: Draws,
}

impl Stage {
    /// The assistant with its goal.
    fn new() -> Self {
        let stage = Self {
            briefing: briefing(),
            context: Vec::new(),
            episode: 0,
            guidance: Guidance::None,
            draws: Draws::new(RolloutKey::default()),
        };
        stage.with(SegmentKind::Goal, &[("text", "meet the partner")])
    }

    fn with(mut self, kind: SegmentKind, fields: &[(&str, &str)]) -> Self {
        let fields = fields.iter().map(|(name, value)| Field {
            name: (*name).into(),
            value: (*value).into(),
        });
        self.context.push(Segment {
            kind,
            content: Arc::new(Content {
                fields: fields.collect(),
            }),
            marked: false,
        });
        self
    }

    fn own(self, tag: u32) -> Self {
        let turn = OwnTurn::Call(INVITE);
        self.with(SegmentKind::Own { turn, tag }, &[])
    }

    fn denied(self, reason: DenialReason) -> Self {
        let tool = INVITE;
        self.with(SegmentKind::Denied { tool, reason }, &[])
    }

    fn observed(self, source: Option<SourceId>, fields: &[(&str, &str)]) -> Self {
        let tool = READ;
        self.with(SegmentKind::Observation { tool, source }, fields)
    }

    fn note(self) -> Self {
        self.observed(Some(NOTE), &[("topic", "tea"), ("address", "p@t.local")])
    }

    fn message(self, from: Option<AgentId>, fields: &[(&str, &str)]) -> Self {
        self.with(SegmentKind::Message { from }, fields)
    }

    /// What the assistant says next under a script of these steps.
    fn reply(&mut self, steps: &str) -> Reply {
        let text = format!("Script(agents: {{ \"assistant\": [{steps}] }})");
        let mut model = Scripted::from_text(&text).unwrap();
        let mut reply = Reply::default();
        reply.clear();
        let tools = [READ, INVITE];
        let turn = Turn {
            agent: AgentId(0),
            episode: self.episode,
            briefing: &self.briefing,
            tools: &tools,
            context: &self.context,
            guidance: self.guidance,
            schema_mode: SchemaMode::Plain,
        };
        let draws = self.draws.at(self.episode, "assistant", EventKey::ROOT);
        model.complete(turn, draws, &mut reply).unwrap();
        reply
    }

    /// The tag of what comes next; every step is called by its tag.
    #[track_caller]
    fn check_next(mut self, steps: &str, expected: u32) {
        assert_eq!(self.reply(steps).tag, expected, "{:?}", self.context);
    }
}

/// The inputs of a field of the reply, as positions of segment and field.
fn inputs(reply: &Reply, field: &str) -> Vec<(u32, Option<u16>)> {
    let derivation = reply
        .derivations
        .iter()
        .find(|derivation| &*derivation.field == field)
        .unwrap();
    positions(&derivation.inputs)
}

fn positions(inputs: &[Input]) -> Vec<(u32, Option<u16>)> {
    inputs
        .iter()
        .map(|input| (input.segment, input.field))
        .collect()
}

const READ_NOTE: &str = r#"(say: Call("read_note", { "note": [Goal("note:partner")] }))"#;
const INVITE_PARTNER: &str = r#"(
    say: Call("send_invite", {
        "meeting": [Own("evt-"), Copy("note:partner", "topic")],
        "recipient": [Copy("note:partner", "address")],
    }),
    denied: [(TaintedPrivilegeJump, Repeat(2)), (OutsideUserGoal, Stop)],
)"#;

fn case_two() -> String {
    format!(
        "{READ_NOTE}, {INVITE_PARTNER}, (say: Final([Own(\"sent\")])), (say: Final([Own(\"stopped\")]))"
    )
}

#[test]
fn the_first_step_comes_first() {
    let reply = Stage::new().reply(&case_two());
    assert_eq!(
        reply.text,
        r#"{"action":"tool","tool":"read_note","arguments":{"note":"note:partner"}}"#
    );
    assert_eq!((reply.tag, reply.latency_ticks), (0, 1));
    assert_eq!(inputs(&reply, "note"), [(0, None)]);
    assert_eq!(reply.choice, None);
}

#[test]
fn the_next_step_follows_the_last_turn() {
    let mut stage = Stage::new().own(0).note();
    let reply = stage.reply(&case_two());
    assert_eq!(
        reply.text,
        r#"{"action":"tool","tool":"send_invite","arguments":{"meeting":"evt-tea","recipient":["p@t.local"]}}"#
    );
    assert_eq!(reply.tag, 1);
}

#[test]
fn derivations_have_the_canonical_names_and_point_at_fields() {
    let mut stage = Stage::new().own(0).note();
    let reply = stage.reply(&case_two());
    assert_eq!(reply.derivations.len(), 2);
    assert_eq!(inputs(&reply, "event"), [(2, Some(0))]);
    assert_eq!(inputs(&reply, "recipient"), [(2, Some(1))]);
}

#[test]
fn the_same_input_is_noted_once() {
    let steps = r#"(say: Final([Copy("note:partner", "topic"), Goal(" for "), Copy("note:partner", "topic")]))"#;
    let reply = Stage::new().note().reply(steps);
    assert_eq!(reply.text, r#"{"action":"final","text":"tea for tea"}"#);
    assert_eq!(inputs(&reply, "text"), [(0, None), (1, Some(0))]);
}

#[test]
fn a_step_that_copies_the_unseen_is_passed_over() {
    Stage::new().own(0).check_next(&case_two(), 2);
    Stage::new()
        .own(0)
        .observed(Some(NOTE), &[("topic", "tea")])
        .check_next(&case_two(), 2);
}

#[test]
fn a_denied_step_is_repeated_as_often_as_it_says() {
    let denied = |times: usize| {
        (0..times).fold(Stage::new().own(0).note(), |stage, _| {
            stage.own(1).denied(DenialReason::TaintedPrivilegeJump)
        })
    };
    denied(1).check_next(&case_two(), 1);
    denied(2).check_next(&case_two(), 1);
    denied(3).check_next(&case_two(), 2);
}

#[test]
fn stop_goes_to_the_last_step() {
    Stage::new()
        .own(0)
        .note()
        .own(1)
        .denied(DenialReason::OutsideUserGoal)
        .check_next(&case_two(), 3);
}

#[test]
fn a_denial_without_a_rule_goes_on() {
    Stage::new()
        .own(0)
        .note()
        .own(1)
        .denied(DenialReason::ConfirmationRequired)
        .check_next(&case_two(), 2);
}

#[test]
fn any_covers_every_reason_and_the_first_rule_counts() {
    let steps = r#"(
        say: Call("read_note", {}),
        denied: [(CheckpointHold, Next), (Any, Repeat(1))],
    ), (say: Final([]))"#;
    let after = |reason| Stage::new().own(0).denied(reason);
    after(DenialReason::CheckpointHold).check_next(steps, 1);
    after(DenialReason::PluginFault).check_next(steps, 0);
}

#[test]
fn an_earlier_denial_does_not_count_again() {
    Stage::new()
        .own(0)
        .note()
        .own(1)
        .denied(DenialReason::TaintedPrivilegeJump)
        .own(1)
        .with(SegmentKind::Acknowledged { tool: INVITE }, &[])
        .check_next(&case_two(), 2);
}

#[test]
fn a_rejected_turn_is_not_said_again() {
    Stage::new()
        .own(0)
        .with(SegmentKind::Rejected, &[])
        .note()
        .check_next(&case_two(), 1);
}

#[test]
fn a_message_wakes_the_agent_at_its_next_step() {
    let steps = r#"
        (say: Delegate("worker", { "task": [Goal("book")], "who": [Copy("goal", "text")] })),
        (say: Final([Copy("message:worker", "text")])),
    "#;
    let mut stage = Stage::new();
    let reply = stage.reply(steps);
    assert_eq!(
        reply.text,
        r#"{"action":"delegate","to":"worker","content":{"task":"book","who":"meet the partner"}}"#
    );
    assert_eq!(inputs(&reply, "who"), [(0, Some(0))]);
    let reply = Stage::new()
        .own(0)
        .message(Some(AgentId(1)), &[("text", "booked")])
        .reply(steps);
    assert_eq!(reply.text, r#"{"action":"final","text":"booked"}"#);
    assert_eq!(inputs(&reply, "text"), [(2, Some(0))]);
}

#[test]
fn an_agent_with_nothing_left_is_done() {
    for mut stage in [
        Stage::new().own(3),
        Stage::new().own(4),
        Stage::new().own(u32::MAX),
    ] {
        let reply = stage.reply(&case_two());
        assert_eq!(reply.text, r#"{"action":"final","text":"done"}"#);
        assert_eq!(reply.tag, 4);
        assert_eq!(inputs(&reply, "text"), []);
    }
    assert_eq!(Stage::new().reply("").tag, 0);
}

#[test]
fn the_latest_origin_that_has_the_field_is_copied() {
    let steps = |origin: &str| format!("(say: Final([Copy(\"{origin}\", \"x\")]))");
    let stage = || {
        Stage::new()
            .observed(Some(RECORD), &[("x", "record")])
            .observed(Some(NOTE), &[("x", "note")])
            .observed(None, &[("x", "written")])
            .observed(None, &[("y", "other")])
            .message(None, &[("x", "injected")])
            .message(Some(AgentId(1)), &[("x", "worker")])
            .message(None, &[("z", "late")])
    };
    for (origin, expected) in [
        ("contacts/partner", "record"),
        ("note:partner", "note"),
        ("tool:read_note", "written"),
        ("message", "worker"),
        ("message:worker", "worker"),
    ] {
        let reply = stage().reply(&steps(origin));
        assert!(reply.text.contains(expected), "{origin}: {}", reply.text);
    }
    for unseen in [
        "note:other",
        "tool:send_invite",
        "message:assistant",
        "goal",
    ] {
        stage().check_next(&steps(unseen), 1);
    }
}

#[test]
fn conditions_look_at_the_context() {
    let steps = |condition: &str| format!("(when: [{condition}], say: Final([]))");
    let stage = || {
        Stage::new()
            .note()
            .denied(DenialReason::OutsideUserGoal)
            .with(SegmentKind::Acknowledged { tool: READ }, &[])
            .message(Some(AgentId(1)), &[])
    };
    for (holds, fails) in [
        (r#"Seen("note:partner")"#, r#"Seen("contacts/partner")"#),
        (r#"NotSeen("contacts/partner")"#, r#"NotSeen("message")"#),
        (r#"Denied("send_invite")"#, r#"Denied("read_note")"#),
        (r#"Committed("read_note")"#, r#"Committed("send_invite")"#),
        (r#"MessageFrom("worker")"#, r#"MessageFrom("assistant")"#),
        ("Episode(0)", "Episode(1)"),
        ("Guidance(None)", "Guidance(SelfCheck)"),
        ("Not(Episode(1))", "Not(Not(Episode(1)))"),
        ("", "Episode(0), Episode(1)"),
    ] {
        stage().check_next(&steps(holds), 0);
        stage().check_next(&steps(fails), 1);
    }
}

#[test]
fn a_chance_is_a_latent_variable_of_the_agent() {
    let step = r#"(name: "slip", when: [Chance("0.5")], say: Final([]))"#;
    let first = Stage::new().reply(step).tag;
    // The same at any moment, and the opposite of its opposite.
    let mut later = Stage::new().note();
    later.episode = 1;
    assert_eq!(later.reply(step).tag, first);
    let opposite = r#"(name: "slip", when: [Not(Chance("0.5"))], say: Final([]))"#;
    assert_ne!(later.reply(opposite).tag, first);
    Stage::new().check_next(&step.replace("0.5", "1"), 0);
    Stage::new().check_next(&step.replace("0.5", "0"), 1);
}

#[test]
fn a_chance_may_be_stratified_under_the_name_of_its_step() {
    let said = (0..8_u32).filter(|&rank| {
        let mut stage = Stage::new();
        stage.draws = Draws::new(RolloutKey {
            strata: vec![Stratum {
                name: "slip".into(),
                group: "all".into(),
                size: 8,
                rank,
            }],
            ..RolloutKey::default()
        });
        let step = r#"(name: "slip", when: [Chance("0.25")], say: Final([]))"#;
        stage.reply(step).tag == 0
    });
    assert_eq!(said.count(), 2);
    assert_eq!(Chance::from_millionths(250_000), "0.25".parse().unwrap());
}

#[test]
fn the_choice_is_what_the_step_says() {
    let steps = |choice: &str| format!("(say: Final([]), choice: {choice})");
    let mut stage = Stage::new().note();
    assert_eq!(stage.reply(&steps("FromContext")).choice, None);
    let goal = stage.reply(&steps("FromGoal")).choice.unwrap();
    assert_eq!(positions(&goal), [(0, None)]);
    let note = stage.reply(&steps(r#"From(["note:partner", "message"])"#));
    assert_eq!(positions(&note.choice.unwrap()), [(1, None)]);
}

#[test]
fn values_of_every_type_can_be_said() {
    let steps = r#"(say: Call("unknown_tool", {
        "list": [List([[Own("a"), Own("b")], [Copy("note:partner", "address")]])],
        "number": [Integer(-3)],
        "truth": [Boolean(true)],
        "nothing": [],
    }), keep: false, latency: 5)"#;
    let reply = Stage::new().note().reply(steps);
    assert_eq!(
        reply.text,
        r#"{"action":"tool","tool":"unknown_tool","arguments":{"list":["ab","p@t.local"],"number":-3,"truth":true,"nothing":""},"keep_result":false}"#
    );
    assert_eq!(reply.latency_ticks, 5);
    assert_eq!(inputs(&reply, "list"), [(1, Some(1))]);
    assert_eq!(inputs(&reply, "number"), []);
}

#[test]
fn every_form_can_be_written() {
    for (form, expected) in [
        (
            "Strict",
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"}}"#,
        ),
        (
            "Fenced",
            "```json\n{\"action\":\"tool\",\"tool\":\"read_note\",\"arguments\":{\"note\":\"n\"}}\n```",
        ),
        (
            "Prefixed",
            "I will take the next step now.\n{\"action\":\"tool\",\"tool\":\"read_note\",\"arguments\":{\"note\":\"n\"}}",
        ),
        (
            "ActionTypeAsTool",
            r#"{"action":"read_note","arguments":{"note":"n"}}"#,
        ),
        (
            "Aliases",
            r#"{"name":"read_note","parameters":{"note":"n"}}"#,
        ),
        (
            "FencedAliases",
            "```json\n{\"name\":\"read_note\",\"parameters\":{\"note\":\"n\"}}\n```",
        ),
        (
            "ToolBench",
            "Action: read_note\nAction Input: {\"note\":\"n\"}",
        ),
        (
            "SingleQuotes",
            "{'action':'tool','tool':'read_note','arguments':{'note':'n'}}",
        ),
        (
            "TrailingComma",
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"},}"#,
        ),
        (
            "UnquotedKeys",
            r#"{action:"tool",tool:"read_note",arguments:{note:"n"}}"#,
        ),
        (
            "MissingCloser",
            r#"{"action":"tool","tool":"read_note","arguments":{"note":"n"}"#,
        ),
        ("TruncatedInToolName", r#"{"action":"tool","tool":"read"#),
        ("Prose(\"I would rather not.\")", "I would rather not."),
    ] {
        let steps = format!(r#"(say: Call("read_note", {{"note": [Own("n")]}}), form: {form})"#);
        assert_eq!(Stage::new().reply(&steps).text, expected, "{form}");
    }
}

#[test]
fn words_of_the_goal_are_the_agents_own_without_a_goal() {
    let mut stage = Stage::new();
    stage.context.clear();
    let reply = stage.reply(r#"(say: Final([Goal("x")]), choice: FromGoal)"#);
    assert_eq!(inputs(&reply, "text"), []);
    assert!(reply.choice.unwrap().is_empty());
}

#[test]
fn the_backend_conforms() {
    let text = format!(
        r#"Script(agents: {{ "assistant": [
            (name: "slip", when: [Chance("0.5"), Not(Denied("read_note"))], say: Final([])),
            (say: Final([Copy("message", "field_0"), Copy("goal", "field_0")]), choice: FromGoal),
            {}
        ] }})"#,
        case_two()
    );
    let make = || Box::new(Scripted::from_text(&text).unwrap()) as Box<dyn ModelBackend>;
    assert_eq!(check_model(&make, 200), []);
}

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

#[test]
fn registration_names_both_and_refuses_twice() {
    let mut registry = Registry::new();
    crate::register(&mut registry).unwrap();
    assert!(crate::register(&mut registry).is_err());
    let given = std::collections::BTreeMap::new();
    let (parameters, _) = registry.models.resolve("scripted", &given).unwrap();
    let (_, factory) = registry.models.find("scripted").unwrap();
    assert!(factory(&parameters, "Script(agents: {})").is_ok());
    let message = factory(&parameters, "Script(\nagents: 3)")
        .err()
        .unwrap()
        .to_string();
    assert!(message.starts_with("line 2, column 8: "), "{message}");
    assert!(registry.parsers.find("appendix_i").is_ok());
}
