//! Scripts at work on hand-built turns.

use plugins::action::{ActionParser, ParseStatus, ToolCatalogue};
use plugins::conformance::check_model;
use plugins::draws::{Chance, Draws, RolloutKey, Stratum};
use plugins::ids::AgentId;
use plugins::model::SegmentKind;
use plugins::policy::DenialReason;

use super::Scripted;
use super::stage::{INVITE, NOTE, READ, RECORD, Stage, inputs, positions};
use crate::parser::AppendixIParser;

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
fn a_chance_may_be_stratified() {
    let said = (0..8_u32).filter(|&place| {
        let mut stage = Stage::new();
        stage.draws = Draws::new(RolloutKey {
            stratum: Some(Stratum {
                group: "all".into(),
                place: place / 2,
                places: 4,
                slice: place % 2,
                slices: 2,
            }),
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
    assert_eq!(check_model(&Scripted::from_text(&text).unwrap(), 200), []);
}

/// As in case study 8: what a strict parser would take for a final answer is still read as meant.
#[test]
fn the_six_completions_of_case_eight() {
    let invite = |tool: &str| {
        format!(r#"say: Call("{tool}", {{ "event": [Own("e")], "to": [Own("p@t.local")] }})"#)
    };
    let steps = format!(
        r#"(say: Call("read_note", {{ "note": [Own("n")] }}), form: FencedAliases),
        ({}),
        ({}, form: TruncatedInToolName),
        ({}, form: Prefixed),
        (say: Call("read_note", {{ "note": [Own("n")] }})),
        (say: Final([Own("sent")])),"#,
        invite("delete_note"),
        invite("send_invite"),
        invite("send_invite"),
    );
    let mut stage = Stage::new();
    let mut read = Vec::new();
    for tag in 0..6 {
        let text = stage.reply(&steps).text;
        let tools = ToolCatalogue {
            tools: &stage.briefing.tools,
            known: &[READ, INVITE],
        };
        let parsed = AppendixIParser.parse(&text, tools);
        read.push((parsed.status, parsed.strict_reading_is_final));
        stage = stage.own(tag);
    }
    assert_eq!(
        read,
        [
            (ParseStatus::ValidRepairedJson, true),
            (ParseStatus::ValidStrictJson, false),
            (ParseStatus::InvalidSchema, true),
            (ParseStatus::ValidRepairedJson, true),
            (ParseStatus::ValidStrictJson, false),
            (ParseStatus::ValidStrictJson, false),
        ]
    );
}

/// A rollout would otherwise spend minutes in the searches of one turn.
#[test]
fn a_turn_looks_at_a_bounded_number_of_segments() {
    let mut stage = Stage::new();
    for _ in 0..1_000 {
        stage = stage.note();
    }
    // The goal is the oldest segment.
    let say = |copies: usize| {
        format!(
            r"(say: Final([{}]))",
            r#"Copy("goal", "text"),"#.repeat(copies)
        )
    };
    assert!(stage.try_reply(&say(10)).is_ok());
    let failure = stage.try_reply(&say(101)).unwrap_err();
    assert!(
        failure.0.contains("more than 100000 segments"),
        "{failure:?}"
    );
}
