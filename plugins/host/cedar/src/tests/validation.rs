//! Texts held against worlds.

use plugins::conformance::generate;
use plugins::conformance::sample::{World, argument, tool};
use plugins::tool::{RiskClass, Role, ValueKind};

use super::{EVERYWHERE, SHIPPED};
use crate::{schema, validate};

fn desk() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    world.add_tool(tool("read_note", RiskClass::Low, "notes"));
    let mut send = tool("send_mail", RiskClass::Outbound, "outbox");
    send.arguments = vec![
        argument("to", Role::Recipient),
        argument("body", Role::Content),
    ];
    send.arguments[0].kind = ValueKind::List;
    send.arguments[0].required = true;
    world.add_tool(send);
    world
}

/// What validation says of a forbid of `send_mail` with this condition: message and place.
fn said(condition: &str) -> Vec<(String, String)> {
    let text = format!(
        "forbid (principal is Agent, action == Action::\"send_mail\", resource is Target)\n\
         when {{ {condition} }};"
    );
    let found = validate(&text, &desk().briefing).into_iter();
    let shown = found.map(|mistake| {
        let place = mistake.place.unwrap_or_default();
        (mistake.message, text[place].to_owned())
    });
    shown.collect()
}

#[test]
fn what_the_context_has_is_valid() {
    for condition in [
        "context.arguments.to.contains(\"eve@external.local\")",
        "context.arguments has body && context.arguments.body like \"*secret*\"",
        "context.ledger has entry && context.ledger.entry == 0",
        "context has target && context.target == \"outbox\" && context.risk == \"outbound\"",
        "context.labels has readers && context.labels.readers.contains(\"ann\")",
        "context.labels.tainted_memory_keys.isEmpty() && context.labels.choice_tainted",
        "context.history.tool.approved < context.history.total.asked",
        "context.high_risk && !context.read && context.episode == 0",
        "action in Action::\"high_risk\" && action in Action::\"outbound\"",
    ] {
        assert_eq!(said(condition), [], "{condition}");
    }
}

#[test]
fn a_misspelt_attribute_and_a_wrong_type_are_found_where_they_stand() {
    for (condition, word, at) in [
        ("context.ledgr.matched", "ledgr", "context.ledgr"),
        (
            "context.labels.tainted_reciepients.isEmpty()",
            "tainted_reciepients",
            "tainted_reciepients",
        ),
        (
            "context.arguments.too == [\"a\"]",
            "too",
            "context.arguments.too",
        ),
        (
            "context.arguments.body == \"\"",
            "body",
            "context.arguments.body",
        ),
        ("context.history.total.committed == \"2\"", "type", "2"),
    ] {
        let said = said(condition);
        assert_eq!(said.len(), 1, "{condition}: {said:?}");
        assert!(said[0].0.contains(word), "{said:?}");
        assert!(said[0].1.contains(at), "{said:?}");
    }
}

#[test]
fn a_tool_that_the_world_lacks_is_found_where_it_stands() {
    let text = "permit (principal, action == Action::\"send_mial\", resource);";
    let mistakes = validate(text, &desk().briefing);
    assert!(mistakes[0].message.contains("send_mial"), "{mistakes:?}");
    let place = mistakes[0].place.clone().unwrap();
    assert!(text[place].contains("send_mial"));
}

#[test]
fn a_mistake_is_said_once_however_many_tools_it_is_about() {
    let mut world = desk();
    for name in ["share", "publish", "invite"] {
        world.add_tool(tool(name, RiskClass::Outbound, ""));
    }
    let text = "permit (principal, action in Action::\"high_risk\", resource)\n\
                when { context.ledgr.matched && context.arguments.to == [\"a\"] };";
    let mistakes = validate(text, &world.briefing);
    let shown = mistakes.iter().map(|mistake| mistake.message.as_str());
    let shown: Vec<&str> = shown.collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(
        shown[0].contains("ledgr") && shown[1].contains("to"),
        "{shown:?}"
    );
}

#[test]
fn shipped_texts_are_valid_in_every_world() {
    for round in 0..60 {
        let briefing = generate::world(round).briefing;
        for text in SHIPPED {
            assert_eq!(
                validate(text, &briefing),
                [],
                "{round}\n{}",
                schema(&briefing)
            );
        }
    }
}

#[test]
fn hooks_are_in_the_schema_and_shared_attributes_too() {
    let text = EVERYWHERE.replace("context.arguments.argument_0", "context.risk");
    let head = "(principal, action in Action::\"high_risk\", resource)\n        when";
    let text = text.replace("(principal, action, resource)\n        when", head);
    let mistakes = validate(&text, &desk().briefing);
    assert_eq!(mistakes, []);
}

/// The policy would be a permit of everything.
#[test]
fn a_tool_called_like_a_group_is_not_the_group() {
    let mut world = desk();
    for name in ["write", "a \"quoted\"\n\u{202e}\u{1f600}name", ""] {
        world.add_tool(tool(name, RiskClass::Outbound, ""));
    }
    let text = "forbid (principal, action == Action::\"tool:write\", resource);";
    assert_eq!(validate(text, &world.briefing), []);
}
