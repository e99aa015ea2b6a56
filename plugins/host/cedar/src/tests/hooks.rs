//! Memory, messages and tool results.

use plugins::briefing::Trust;
use plugins::conformance::sample::World;
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, RecordId, StoreId};
use plugins::label::{LabelId, Readers};
use plugins::policy::{
    DenialReason, Hooks, Inflow, InflowVerdict, MemoryVerdict, RecordView, Ruling,
};
use plugins::value::Content;

use super::made;

/// A world with two agents and a label of an untrusted note.
fn world() -> (World, LabelId) {
    let mut world = World::new();
    world.add_agent("assistant");
    world.add_agent("helper");
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let label = world.label_of(&[note]);
    (world, label)
}

/// The ruling on a message from the helper to the assistant, or on a tool result.
fn inflow(text: &str, label: LabelId, from: Option<AgentId>) -> Ruling<InflowVerdict> {
    let (world, _) = world();
    let mut draws = Draws::new(RolloutKey::default());
    let inflow = Inflow {
        agent: AgentId(0),
        from,
        content: &Content::single("note", "see CANARY-1"),
        labels: &[label],
        recorded: label,
        node: None,
    };
    let view = &mut world.view(&mut draws);
    let mut policy = made(text);
    if from.is_some() {
        policy.on_message(view, inflow)
    } else {
        policy.on_observation(view, inflow)
    }
}

/// The ruling on a record that the helper stores.
fn stored(text: &str, label: LabelId) -> Ruling<MemoryVerdict> {
    let (world, _) = world();
    let mut draws = Draws::new(RolloutKey::default());
    let record = RecordView {
        record: RecordId(0),
        store: StoreId(0),
        key: "alias",
        content: &Content::single("alias", "partner"),
        labels: &[label],
        recorded: label,
        agent: Some(AgentId(1)),
        call: None,
    };
    made(text).on_memory_write(&mut world.view(&mut draws), record)
}

const HELPER: Option<AgentId> = Some(AgentId(1));

#[test]
fn a_message_has_a_sender_a_text_and_labels() {
    let (_, tainted) = world();
    for (condition, label, holds) in [
        ("context.from == \"helper\"", LabelId::BOTTOM, true),
        ("resource == Sender::\"helper\"", LabelId::BOTTOM, true),
        ("principal == Agent::\"assistant\"", LabelId::BOTTOM, true),
        ("context.text like \"*CANARY*\"", LabelId::BOTTOM, true),
        ("context.fields == [\"note\"]", LabelId::BOTTOM, true),
        ("context.labels.tainted", LabelId::BOTTOM, false),
        ("context.labels.tainted", tainted, true),
        ("context.labels.tainted_fields == [\"note\"]", tainted, true),
        (
            "context.labels.recorded_sources == [\"doc:note\"]",
            tainted,
            true,
        ),
        ("context.labels has readers", tainted, false),
    ] {
        let text = format!(
            "@id(\"a\") forbid(principal, action == Hook::Action::\"message\", resource)
             when {{ {condition} }};
             @neutral permit(principal, action == Hook::Action::\"message\", resource);"
        );
        let ruling = inflow(&text, label, HELPER);
        if holds {
            assert_eq!(ruling.verdict, InflowVerdict::Quarantine, "{condition}");
            assert_eq!(ruling.reason.rule, "a");
        } else {
            assert_eq!(ruling, Ruling::<InflowVerdict>::neutral(), "{condition}");
        }
        assert_eq!(made(&text).hooks(), Hooks::MESSAGE);
    }
}

#[test]
fn a_tool_result_has_no_sender_and_can_be_dropped() {
    let text = "@verdict(\"drop\") @id(\"a\")
        forbid(principal, action == Hook::Action::\"observation\", resource == Sender::\"(none)\")
        unless { context has from };";
    let ruling = inflow(text, LabelId::BOTTOM, None);
    assert_eq!(ruling.verdict, InflowVerdict::Drop);
    assert_eq!(made(text).hooks(), Hooks::OBSERVATION);
}

#[test]
fn a_record_has_its_key_and_what_nothing_permits_is_refused() {
    let text = "permit(principal == Agent::\"helper\", action == Hook::Action::\"memory_write\",
        resource == Record::\"alias\") unless { context.labels.recorded_tainted };";
    let (_, tainted) = world();
    let allowed = stored(text, LabelId::BOTTOM);
    assert_eq!(allowed.verdict, MemoryVerdict::Allow);
    assert_eq!(allowed.reason.rule, "policy0");
    let refused = stored(text, tainted);
    assert_eq!(refused.verdict, MemoryVerdict::Block);
    assert_eq!(refused.reason.rule, "default_deny");
    assert_eq!(refused.reason.denial, DenialReason::TargetNotAuthorized);
}

/// An empty policy would otherwise be asked about every message.
#[test]
fn a_text_about_calls_is_asked_about_calls_only() {
    let text = "permit(principal, action, resource);";
    assert_eq!(made(text).hooks(), Hooks::PROPOSAL);
}
