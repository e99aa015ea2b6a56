//! Texts as hosted gateways use them, unchanged.

use plugins::conformance::check_policy;
use plugins::conformance::sample::{World, argument, given, list, tool};
use plugins::ids::CallId;
use plugins::label::LabelId;
use plugins::policy::ProposalVerdict;
use plugins::tool::{RiskClass, Role, ValueKind};
use plugins::value::Value;

use super::{decide, made};
use crate::shape::Shape;
use crate::{load, read, validate};

/// Refunds up to a sum, and orders by their number.
const REFUNDS: &str = r#"
    permit(
      principal is Shop::OAuthUser,
      action == Shop::Action::"Desk__refund",
      resource == Shop::Gateway::"arn:shop:gateway/desk-1"
    ) when {
      context.input has amount && context.input.amount < 100
    };

    permit(
      principal is Shop::OAuthUser,
      action in [Shop::Action::"Desk__order", Shop::Action::"Desk__list_orders"],
      resource == Shop::Gateway::"arn:shop:gateway/desk-1"
    );
"#;

/// Mail to nobody outside, behind a target whose name is joined by three signs.
const MAIL: &str = r#"
    permit(principal, action, resource is Post::Gateway);
    @id("mail_outside")
    forbid(principal, action == Post::Action::"mail___send", resource is Post::Gateway)
    unless { ["ann@trusted.local"].containsAll(context.input.to) };
"#;

/// Who has the role may do everything. No run gives roles.
const ROLES: &str = r#"
    permit(principal is Shop::OAuthUser, action, resource == Shop::Gateway::"desk")
    when { principal.hasTag("role") && principal.getTag("role") == "clerk" };
"#;

/// `refund(amount)`, `order(number)`, `list_orders()`, `send(to)`, and a call of each.
fn desk() -> World {
    let mut world = World::new();
    world.add_agent("clerk");
    let mut refund = tool("refund", RiskClass::Write, "till");
    refund.arguments = vec![argument("amount", Role::Content)];
    refund.arguments[0].kind = ValueKind::Integer;
    let refund = world.add_tool(refund);
    let order = world.add_tool(tool("order", RiskClass::Outbound, "shop"));
    world.add_tool(tool("list_orders", RiskClass::Low, "shop"));
    let mut send = tool("send", RiskClass::Outbound, "outbox");
    send.arguments = vec![argument("to", Role::Recipient)];
    send.arguments[0].kind = ValueKind::List;
    send.arguments[0].required = true;
    let send = world.add_tool(send);
    let amount = |amount| vec![given(0, Value::Integer(amount), LabelId::BOTTOM)];
    world.add_call(refund, amount(99));
    world.add_call(refund, amount(100));
    world.add_call(refund, Vec::new());
    world.add_call(order, Vec::new());
    let to = |to| vec![given(0, to, LabelId::BOTTOM)];
    world.add_call(send, to(Value::text("ann@trusted.local")));
    world.add_call(send, to(list(&["ann@trusted.local", "eve@external.local"])));
    world
}

/// The verdict and the rule on a call.
fn ruled(text: &str, call: u32) -> (ProposalVerdict, String) {
    let ruling = decide(&mut *made(text), &desk(), CallId(call));
    (ruling.verdict, ruling.reason.rule.into_owned())
}

#[test]
fn arguments_are_the_input_and_what_nothing_permits_is_denied() {
    let allowed = |rule: &str| (ProposalVerdict::Allow, rule.to_owned());
    let denied = (ProposalVerdict::Block, "default_deny".to_owned());
    assert_eq!(ruled(REFUNDS, 0), allowed("policy0"));
    assert_eq!(ruled(REFUNDS, 1), denied);
    assert_eq!(ruled(REFUNDS, 2), denied);
    assert_eq!(ruled(REFUNDS, 3), allowed("policy1"));
    // A tool that the text does not name is an action that it does not permit.
    assert_eq!(ruled(REFUNDS, 4), denied);
}

#[test]
fn a_forbid_wins_and_one_recipient_is_a_set_too() {
    assert_eq!(ruled(MAIL, 4).0, ProposalVerdict::Allow);
    let outside = (ProposalVerdict::Block, "mail_outside".to_owned());
    assert_eq!(ruled(MAIL, 5), outside);
    assert_eq!(ruled(MAIL, 0).0, ProposalVerdict::Allow);
}

#[test]
fn a_principal_has_no_tags() {
    assert_eq!(ruled(ROLES, 0).1, "default_deny");
}

#[test]
fn texts_of_a_gateway_keep_the_contract() {
    for text in [REFUNDS, MAIL, ROLES] {
        assert_eq!(check_policy(&|| made(text), 16), []);
    }
}

#[test]
fn names_come_from_the_text() {
    let Shape::Gateway(gateway) = read(MAIL).unwrap().shape else {
        panic!("a gateway");
    };
    assert_eq!(gateway.principal.to_string(), "Post::OAuthUser");
    assert_eq!(gateway.resource.to_string(), "Post::Gateway::\"gateway\"");
    let action = |name: &str| gateway.action_of(&tool(name, RiskClass::Low, "")).0;
    assert_eq!(action("send"), "mail___send");
    assert_eq!(action("read"), "mail___read");
}

/// A call could be of either, so that a forbid of one could be passed by as the other.
#[test]
fn two_targets_with_one_tool_and_two_gateways_are_refused() {
    for (head, word) in [
        (
            "action in [A::Action::\"x__send\", A::Action::\"y___send\"], resource is A::Gateway",
            "two targets",
        ),
        (
            "action, resource in A::Gateway::\"a\") when { resource == A::Gateway::\"b\" }; forbid(principal, action, resource",
            "2 gateways",
        ),
        (
            "action in [A::Action::\"x__send\", Action::\"send\"], resource",
            "namespace",
        ),
        (
            "action == Hooks::Action::\"message\", resource",
            "no gateway",
        ),
    ] {
        let mistakes = load(&format!("permit(principal, {head});")).unwrap_err();
        assert!(mistakes[0].message.contains(word), "{mistakes:?}");
        assert!(mistakes[0].help.is_some());
    }
}

#[test]
fn a_text_of_a_gateway_is_validated_in_its_shape() {
    let briefing = desk().briefing;
    for text in [REFUNDS, MAIL, ROLES] {
        assert_eq!(validate(text, &briefing), [], "{text}");
    }
    let misspelt = REFUNDS.replace("context.input.amount", "context.input.amuont");
    let mistakes = validate(&misspelt, &briefing);
    assert!(mistakes[0].message.contains("amuont"), "{mistakes:?}");
    let place = mistakes[0].place.clone().unwrap();
    assert!(misspelt[place].contains("amuont"));
    let unknown = REFUNDS.replace("Desk__refund", "Desk__refnud");
    let mistakes = validate(&unknown, &briefing);
    assert!(mistakes[0].message.contains("Desk__refnud"), "{mistakes:?}");
}
