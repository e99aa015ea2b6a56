//! What is wrong with a text, said where it stands.

use plugins::conformance::sample::World;
use plugins::conformance::sample::{argument, given, tool};
use plugins::ids::CallId;
use plugins::label::LabelId;
use plugins::policy::{DenialReason, ProposalVerdict, VerdictKind};
use plugins::tool::{RiskClass, Role};
use plugins::value::{Content, Value};

use super::{SHIPPED, decide, made};
use crate::load;

/// The messages for a text, and what stands at their places.
fn wrong(text: &str) -> Vec<(String, String)> {
    let mistakes = load(text).map(|_| ()).unwrap_err().into_iter();
    let shown = mistakes.map(|mistake| {
        let place = mistake.place.unwrap_or_default();
        (
            mistake.message,
            text.get(place).unwrap_or_default().to_owned(),
        )
    });
    shown.collect()
}

#[test]
fn syntax_errors_are_cedars_own_and_placed() {
    let found = wrong("permit(principal, action, resource) when { context.a = 1 };");
    assert!(found[0].0.contains('='), "{found:?}");
    let found = wrong("permit(principal, action, resource)\nforbid(principal, action, resource);");
    assert_eq!(found[0].1, "(", "{found:?}");
    let found = wrong("permit(principle, action, resource);");
    assert!(found[0].1.contains("principle"), "{found:?}");
    for text in [
        "permit",
        "\"",
        "@",
        "when { true }",
        "\u{0}",
        "permit(principal, action, resource) when { nope() };",
    ] {
        assert!(!wrong(text).is_empty(), "{text}");
    }
}

#[test]
fn annotations_without_a_meaning_are_refused_where_they_stand() {
    let permit = "permit(principal, action, resource);";
    let forbid = "forbid(principal, action, resource);";
    for (text, message, place) in [
        (
            format!("@rule(\"a\") {permit}"),
            "`@rule` is no annotation",
            "@rule",
        ),
        (
            format!("@id(\"default_allow\") {permit}"),
            "given by the program",
            "@id",
        ),
        (
            format!("@id(\"default_deny\") {forbid}"),
            "given by the program",
            "@id",
        ),
        (
            format!("@id(\"My Rule\") {forbid}"),
            "no name of a rule",
            "@id",
        ),
        (format!("@id(\"a+b\") {forbid}"), "no name of a rule", "@id"),
        (
            format!("@verdict(\"allow\") {forbid}"),
            "does not know `allow`",
            "@verdict",
        ),
        (
            format!("@verdict(\"hold\") {permit}"),
            "is for a forbid",
            "@verdict",
        ),
        (
            format!("@denial(\"no\") {forbid}"),
            "does not know `no`",
            "@denial",
        ),
        (format!("@neutral {forbid}"), "is for a permit", "@neutral"),
        (
            format!("@neutral(\"yes\") {permit}"),
            "takes no text",
            "@neutral",
        ),
        (
            format!("@content(\"sent\") {forbid}"),
            "only a simulation",
            "@content",
        ),
        (
            format!("@fields(\"body\") {forbid}"),
            "does not know `body`",
            "@fields",
        ),
        (
            format!("@evidence(\"proposal body\") {forbid}"),
            "does not know `body`",
            "@evidence",
        ),
    ] {
        let found = wrong(&format!("// first\n{permit}\n{text}"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.contains(message), "{found:?}");
        assert_eq!(found[0].1, place, "{found:?}");
    }
}

#[test]
fn every_mistake_of_a_text_is_said() {
    let text = "@id(\"A\") @verdict(\"b\") forbid(principal, action, resource);\n\
                @c permit(principal, action, resource);";
    assert_eq!(wrong(text).len(), 3);
}

#[test]
fn templates_and_texts_without_a_policy_are_refused() {
    let text = "permit(principal, action, resource);\n\
                forbid(principal == ?principal, action, resource in ?resource);";
    let found = wrong(text);
    assert!(found[0].0.contains("?principal and ?resource"), "{found:?}");
    assert!(found[0].1.starts_with("forbid"), "{found:?}");
    for text in ["", "// nothing\n"] {
        assert!(wrong(text)[0].0.contains("no policy"));
    }
}

#[test]
fn a_verdict_that_a_hook_does_not_have_is_refused() {
    let hook = |hook: &str, verdict: &str| {
        format!(
            "@verdict(\"{verdict}\") forbid(principal, action == Hook::Action::\"{hook}\", resource);"
        )
    };
    assert!(load(&hook("memory_read", "quarantine")).is_ok());
    assert!(load(&hook("message", "drop")).is_ok());
    for (name, verdict) in [
        ("memory_write", "hold"),
        ("observation", "block"),
        ("message", "abort"),
    ] {
        assert!(wrong(&hook(name, verdict))[0].0.contains(name));
    }
    assert!(
        wrong("@verdict(\"drop\") forbid(principal, action, resource);")[0]
            .0
            .contains("proposal")
    );
    // A policy about every action is about the hooks that another one names.
    let both = "@verdict(\"hold\") forbid(principal, action, resource);\n\
                permit(principal, action == Hook::Action::\"message\", resource);";
    assert!(wrong(both)[0].0.contains("message"));
    assert!(wrong(&hook("commit", "block"))[0].0.contains("no hook"));
}

#[test]
fn a_text_is_its_bytes() {
    let [guard, boundary, _] = SHIPPED.map(|text| load(text).unwrap());
    assert_ne!(guard.content, boundary.content);
    let spaced = load(&format!("{} ", SHIPPED[0])).unwrap();
    assert_ne!(guard.content, spaced.content);
    assert_eq!(guard.content, load(SHIPPED[0]).unwrap().content);
    assert_eq!(guard.kind, "cedar");
    assert!(
        guard.summary.starts_with("No recipient"),
        "{}",
        guard.summary
    );
}

/// A call of `send(to)`, without a ledger.
fn call() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    let mut send = tool("send", RiskClass::Outbound, "outbox");
    send.arguments = vec![argument("to", Role::Recipient)];
    let send = world.add_tool(send);
    world.add_call(send, vec![given(0, Value::text("ann"), LabelId::BOTTOM)]);
    world
}

#[test]
fn the_severest_of_several_stands_and_all_are_named_in_their_order() {
    let text = "@id(\"one\") @verdict(\"confirm\") forbid(principal, action, resource);\n\
                @id(\"two\") @denial(\"outside_user_goal\") forbid(principal, action, resource);\n\
                @id(\"three\") forbid(principal, action, resource);\n\
                @id(\"one\") @verdict(\"hold\") forbid(principal, action, resource);\n\
                @id(\"four\") permit(principal, action, resource);";
    let ruling = decide(&mut *made(text), &call(), CallId(0));
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
    assert_eq!(ruling.reason.rule, "one+two+three");
    assert_eq!(ruling.reason.denial, DenialReason::OutsideUserGoal);
}

#[test]
fn each_verdict_of_a_proposal_can_be_given() {
    for (word, verdict, denial) in [
        (
            "abort",
            ProposalVerdict::Abort,
            DenialReason::TargetNotAuthorized,
        ),
        (
            "block",
            ProposalVerdict::Block,
            DenialReason::TargetNotAuthorized,
        ),
        (
            "confirm",
            ProposalVerdict::Confirm,
            DenialReason::ConfirmationRequired,
        ),
        ("hold", ProposalVerdict::Hold, DenialReason::CheckpointHold),
        (
            "simulate",
            ProposalVerdict::Simulate(Content::single("text", "done")),
            DenialReason::TargetNotAuthorized,
        ),
    ] {
        let text = format!("@id(\"a\") @verdict(\"{word}\") forbid(principal, action, resource);");
        let ruling = decide(&mut *made(&text), &call(), CallId(0));
        assert_eq!(
            (ruling.verdict, ruling.reason.denial),
            (verdict, denial),
            "{word}"
        );
    }
    assert_eq!(crate::words::VERDICTS.len(), 5 + 2);
    assert!(VerdictKind::Abort > VerdictKind::Block);
}

/// As Cedar has it: the policy is left out. That it was is said.
#[test]
fn a_policy_that_cannot_be_evaluated_is_left_out_and_said_to_be() {
    let overflow = "9223372036854775807 + context.episode + 1 > 0";
    for condition in [
        "context.arguments.cc == \"a\"",
        "principal.age > 1",
        overflow,
    ] {
        for (rest, verdict, rule) in [
            (
                "@id(\"b\") permit(principal, action, resource);",
                ProposalVerdict::Allow,
                "b+facts_missing",
            ),
            (
                "@neutral permit(principal, action, resource);",
                ProposalVerdict::Allow,
                "facts_missing",
            ),
            (
                "@id(\"b\") forbid(principal, action, resource);",
                ProposalVerdict::Block,
                "b+facts_missing",
            ),
            ("", ProposalVerdict::Block, "default_deny+facts_missing"),
        ] {
            let text = format!(
                "@id(\"a\") forbid(principal, action, resource) when {{ {condition} }};{rest}"
            );
            let ruling = decide(&mut *made(&text), &call(), CallId(0));
            assert_eq!(
                (ruling.verdict, &*ruling.reason.rule),
                (verdict, rule),
                "{text}"
            );
        }
    }
}
