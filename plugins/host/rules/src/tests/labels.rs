//! Labels, the ledger, and the time of what happened, one statement at a time.

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::ids::{CallId, SourceId, ToolId};
use plugins::label::{Label, LabelId, Readers};
use plugins::ledger::Condition;
use plugins::policy::{ProposalVerdict, RecoveryAction, RecoveryNotice, RecoveryVerdict};
use plugins::tool::{RiskClass, Role, Target, Undo, ValueKind};
use plugins::trace::{Event, Happening, RecoveryKind};
use plugins::value::Value;

use super::{ask, draws, file, policy};

/// A tool `share(document, to, body)`, aimed at the document, and a ledger of two entries for it.
fn world() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    for name in ["ann@trusted.local", "bob@trusted.local"] {
        world.add_principal(name);
    }
    world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    world.add_source("doc:plan", Trust::Trusted, Readers::Everyone);
    let mut share = tool("share", RiskClass::Outbound, "");
    share.arguments = vec![
        argument("document", Role::Document),
        argument("to", Role::Recipient),
        argument("body", Role::Content),
    ];
    share.target = Target::Argument(0);
    share.undo = Undo::Inverse(ToolId(0));
    world.add_tool(share);
    world.add_tool(tool("clock", RiskClass::Low, "clock"));
    world.authorize("share", "other", &[]);
    let ann = Condition::Equals(Value::text("ann@trusted.local"));
    world.authorize("share", "plan", &[("to", ann)]);
    world
}

/// A call that shares `document` with Ann.
fn share(world: &mut World, document: &str, label: LabelId) -> CallId {
    let arguments = vec![
        given(0, Value::text(document), LabelId::BOTTOM),
        given(1, Value::text("ann@trusted.local"), label),
    ];
    world.add_call(ToolId(0), arguments)
}

fn holds(world: &World, call: CallId, predicate: &str) -> bool {
    let text = file(&format!(
        "(rule: \"hit\", at: Proposal, when: [{predicate}], then: Allow),"
    ));
    match &*ask(&mut *policy(&text), world, call).reason.rule {
        "hit" => true,
        "default_allow" => false,
        other => panic!("{predicate}: {other}"),
    }
}

#[test]
fn the_ledger_is_asked_by_entry_tool_and_field() {
    let mut world = world();
    let listed = share(&mut world, "plan", LabelId::BOTTOM);
    let unlisted = share(&mut world, "secret", LabelId::BOTTOM);
    let clock = world.add_call(ToolId(1), Vec::new());
    for (predicate, of_listed, of_unlisted) in [
        ("LedgerMatch", true, false),
        ("LedgerEntry(1)", true, false),
        ("LedgerEntry(0)", false, false),
        ("LedgerNamesTool", true, true),
        ("LedgerNames(\"to\")", true, false),
        ("LedgerNames(\"document\")", true, false),
        ("LedgerNames(\"body\")", false, false),
    ] {
        assert_eq!(holds(&world, listed, predicate), of_listed, "{predicate}");
        assert_eq!(
            holds(&world, unlisted, predicate),
            of_unlisted,
            "{predicate}"
        );
    }
    assert!(!holds(&world, clock, "LedgerNamesTool"));
}

#[test]
fn a_label_is_asked_for_content_influence_and_readers() {
    let mut world = world();
    let influenced = world.labels.intern(Label {
        control: std::iter::once(0).collect(),
        sources: std::iter::once(1).collect(),
        readers: Readers::Only(std::iter::once(0).collect()),
        ..Label::bottom()
    });
    let call = share(&mut world, "plan", influenced);
    for (test, wanted) in [
        ("Tainted", false),
        ("Influenced", true),
        ("From(\"doc:plan\")", true),
        ("From(\"doc:note\")", false),
        ("From([\"doc:note\", \"doc:plan\"])", true),
        ("InfluencedBy(\"doc:note\")", true),
        ("InfluencedBy(\"doc:other\")", false),
        ("ReadableBy(\"ann@trusted.local\")", true),
        (
            "ReadableBy([\"ann@trusted.local\", \"bob@trusted.local\"])",
            false,
        ),
        ("ReadableBy(\"nobody\")", false),
        ("Public", false),
    ] {
        let predicate = format!("Argument(name: \"to\", is: {test})");
        assert_eq!(holds(&world, call, &predicate), wanted, "{predicate}");
    }
    let public = "Argument(name: \"document\", is: All([Public, ReadableBy(\"nobody\")]))";
    assert!(holds(&world, call, public));
}

/// What expands and what leaks is one argument and not another.
#[test]
fn expanding_and_leaking_are_asked_of_arguments() {
    let mut world = world();
    world.authorize("share", "draft", &[]);
    let tainted = world.label_of(&[SourceId(0)]);
    let secret = world.labels.intern(Label {
        readers: Readers::Only(std::iter::once(1).collect()),
        ..Label::bottom()
    });
    let arguments = vec![
        given(0, Value::text("draft"), LabelId::BOTTOM),
        given(1, Value::text("ann@trusted.local"), tainted),
        given(2, Value::text("numbers"), secret),
    ];
    let call = world.add_call(ToolId(0), arguments);
    for (predicate, wanted) in [
        ("Expanding", true),
        ("Leaking", true),
        ("Argument(role: Recipient, is: Expands)", true),
        ("Argument(role: Document, is: Expands)", false),
        ("Argument(role: Content, is: Leaks)", true),
        ("Argument(role: Recipient, is: Leaks)", false),
        ("EveryArgument(is: Expands)", false),
        ("WrongRecipient", true),
    ] {
        assert_eq!(holds(&world, call, predicate), wanted, "{predicate}");
    }
}

/// A commit at tick 1 of episode 0; the call under decision is at tick 3 of episode 1.
#[test]
fn history_forgets_by_ticks_and_by_episodes() {
    let mut world = world();
    let first = share(&mut world, "plan", LabelId::BOTTOM);
    world.commit(first);
    let call = share(&mut world, "plan", LabelId::BOTTOM);
    let rule = |predicate: &str| {
        let text = file(&format!(
            "(rule: \"hit\", at: Proposal, when: [{predicate}], then: Allow),"
        ));
        let mut draws = draws();
        let mut view = world.view(&mut draws);
        (view.tick, view.episode) = (3, 1);
        let ruling = policy(&text).on_proposal(&mut view, world.proposal(call));
        ruling.reason.rule == "hit"
    };
    for (within, wanted) in [
        ("Rollout", true),
        ("Episode", false),
        ("Ticks(2)", false),
        ("Ticks(3)", true),
    ] {
        let predicate = format!("Happened(what: Committed, within: {within})");
        assert_eq!(rule(&predicate), wanted, "{predicate}");
    }
    assert!(rule("Episode(1), Tick(3)"));
}

/// What was undone is not undone again, and what came last goes first.
#[test]
fn rollbacks_go_backwards_and_happen_once() {
    let mut world = world();
    for _ in 0..3 {
        let call = share(&mut world, "plan", LabelId::BOTTOM);
        world.commit(call);
    }
    let clock = world.add_call(ToolId(1), Vec::new());
    world.commit(clock);
    let undone = Happening::Undone {
        call: CallId(1),
        node: plugins::ids::NodeId(0),
    };
    let last = world.trace.events.last().unwrap().clone();
    world.trace.events.push(Event {
        what: undone,
        ..last
    });
    let text =
        file("(rule: \"r\", at: Recovery, when: [Always], then: Act([Rollback(Everything)])),");
    let mut draws = draws();
    let notice = RecoveryNotice {
        step: 0,
        kind: RecoveryKind::Revoke,
        revoked: None,
        records: &[],
    };
    let ruling = policy(&text).on_recovery(&mut world.view(&mut draws), notice);
    assert_eq!(
        ruling.verdict,
        RecoveryVerdict::Act(vec![RecoveryAction::Rollback(vec![CallId(2), CallId(0)])])
    );
}

/// One recipient is a list of one where the tool takes a list.
#[test]
fn a_text_is_rewritten_into_a_list_where_the_tool_takes_one() {
    let mut world = world();
    world.briefing.tools[0].arguments[1].kind = ValueKind::List;
    let call = share(&mut world, "plan", LabelId::BOTTOM);
    let text = file(
        "(rule: \"r\", at: Proposal, when: [Always], then: Rewrite([(argument: \"to\", to: \"bob@trusted.local\")])),",
    );
    let list = plugins::conformance::sample::list(&["bob@trusted.local"]);
    assert_eq!(
        ask(&mut *policy(&text), &world, call).verdict,
        ProposalVerdict::Rewrite(vec![(1, list)])
    );
}

/// A metric sees the arguments as they were when it happened.
#[test]
fn a_metric_sees_a_call_as_it_was_rewritten() {
    let mut world = world();
    let call = share(&mut world, "plan", LabelId::BOTTOM);
    let last = world.trace.events.last().unwrap().clone();
    let bob = given(1, Value::text("bob@trusted.local"), LabelId::BOTTOM);
    world.trace.events.push(Event {
        what: Happening::Rewritten {
            call,
            arguments: vec![bob].into(),
        },
        ..last
    });
    world.commit(call);
    let metrics = crate::load_metrics(
        "Metrics(schema: 1, metrics: [
            (name: \"before\", count: Proposed, of: [Argument(name: \"to\", is: Equals(\"ann@trusted.local\"))]),
            (name: \"after\", count: Committed, of: [Argument(name: \"to\", is: Equals(\"bob@trusted.local\"))]),
        ])",
    )
    .unwrap();
    let measured = metrics.measure(world.trace.prefix(), &world.labels, &world.briefing);
    assert!(measured.iter().all(|one| one.count == 1), "{measured:?}");
}
