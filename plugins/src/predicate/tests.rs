use std::sync::Arc;

use super::*;
use crate::action::Referent;
use crate::briefing::Trust;
use crate::conformance::sample::{World, argument, given, list, tool};
use crate::ids::{CallId, SourceId, ToolId};
use crate::label::LabelId;
use crate::tool::{Passing, RiskClass};
use crate::value::Content;

const PARTNER: &str = "partner@trusted.local";
const OUTSIDER: &str = "outsider@external.local";
const TO: u16 = 0;
const DOCUMENT: u16 = 1;
const VISIBILITY: u16 = 2;
const BODY: u16 = 3;

/// A world with one tool `send(to, document, visibility, body)` whose target is `to`, a trusted
/// private plan and an untrusted public note.
struct Mail {
    world: World,
    send: ToolId,
    plan: SourceId,
    note: SourceId,
}

impl Mail {
    fn new() -> Self {
        let mut world = World::new();
        world.add_agent("assistant");
        let partner = world.add_principal(PARTNER);
        world.add_principal(OUTSIDER);
        world.briefing.allowed_recipients.push(PARTNER.into());
        let partner_only = Readers::Only([partner.0].into_iter().collect());
        let plan = world.add_source("doc:plan", Trust::Trusted, partner_only.clone());
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        world.add_canary("CANARY-7", partner_only);
        let mut spec = tool("send", RiskClass::Outbound, "");
        spec.target = Target::Argument(TO);
        spec.arguments = vec![
            argument("to", Role::Recipient),
            argument("document", Role::Document),
            argument("visibility", Role::Visibility),
            argument("body", Role::Content),
        ];
        let send = world.add_tool(spec);
        Self {
            world,
            send,
            plan,
            note,
        }
    }

    fn call(&mut self, arguments: &[(u16, Value, LabelId)]) -> CallId {
        let arguments = arguments
            .iter()
            .map(|(position, value, label)| given(*position, value.clone(), *label))
            .collect();
        self.world.add_call(self.send, arguments)
    }

    /// Whether a call with these unlabelled arguments matches the ledger.
    fn matched(&mut self, arguments: &[(u16, Value)]) -> bool {
        let call = self.call(&unlabelled(arguments));
        matches(self.world.call_view(call), &self.world.briefing.ledger).is_some()
    }

    /// The fields that leak when `body` goes to `to`.
    fn leaks(&mut self, to: Value, body: &str, label: LabelId) -> Vec<u16> {
        let call = self.call(&[(TO, to, LabelId::BOTTOM), (BODY, Value::text(body), label)]);
        self.leaks_of(call)
    }

    fn leaks_of(&self, call: CallId) -> Vec<u16> {
        leaking_fields(
            self.world.call_view(call),
            &self.world.briefing,
            &self.world.labels,
        )
    }

    /// The fields of a call of the first ledger entry that expand it.
    fn expands(&mut self, arguments: &[(u16, Value, LabelId)]) -> Vec<u16> {
        let call = self.call(arguments);
        let briefing = &self.world.briefing;
        expanding_fields(
            self.world.call_view(call),
            &briefing.ledger.entries[0],
            &self.world.labels,
            &briefing.untrusted,
        )
    }
}

fn unlabelled(arguments: &[(u16, Value)]) -> Vec<(u16, Value, LabelId)> {
    arguments
        .iter()
        .map(|(position, value)| (*position, value.clone(), LabelId::BOTTOM))
        .collect()
}

fn to_partner() -> (u16, Value) {
    (TO, Value::text(PARTNER))
}

#[test]
fn an_empty_ledger_matches_nothing() {
    assert!(!Mail::new().matched(&[to_partner()]));
}

#[test]
fn match_needs_action_and_target() {
    let mut mail = Mail::new();
    mail.world.authorize("send", PARTNER, &[]);
    assert!(mail.matched(&[to_partner()]));
    assert!(!mail.matched(&[(TO, Value::text(OUTSIDER))]));
    assert!(!mail.matched(&[]));
    mail.world.briefing.ledger.entries[0].action = "share".into();
    assert!(!mail.matched(&[to_partner()]));
}

#[test]
fn match_needs_every_condition() {
    let mut mail = Mail::new();
    let conditions = [
        ("document", Condition::Equals(Value::text("doc:plan"))),
        ("visibility", Condition::Absent),
    ];
    mail.world.authorize("send", PARTNER, &conditions);
    let plan = (DOCUMENT, Value::text("doc:plan"));
    assert!(mail.matched(&[to_partner(), plan.clone()]));
    assert!(!mail.matched(&[to_partner()]));
    assert!(!mail.matched(&[to_partner(), (DOCUMENT, Value::text("doc:note"))]));
    assert!(!mail.matched(&[to_partner(), plan, (VISIBILITY, Value::text("private"))]));
}

#[test]
fn match_names_the_first_entry_that_authorises() {
    let mut mail = Mail::new();
    mail.world.authorize("send", OUTSIDER, &[]);
    mail.world
        .authorize("send", PARTNER, &[("document", Condition::Present)]);
    mail.world.authorize("send", PARTNER, &[]);
    mail.world.authorize("send", PARTNER, &[]);
    let call = mail.call(&unlabelled(&[to_partner()]));
    let ledger = &mail.world.briefing.ledger;
    assert_eq!(matches(mail.world.call_view(call), ledger), Some(2));
}

/// Provenance and authorisation are separate: a label never decides a match (paper 8.3).
#[test]
fn match_ignores_labels() {
    let mut mail = Mail::new();
    mail.world.authorize("send", PARTNER, &[]);
    let tainted = mail.world.label_of(&[mail.note]);
    let call = mail.call(&[(TO, Value::text(PARTNER), tainted)]);
    let ledger = &mail.world.briefing.ledger;
    assert_eq!(matches(mail.world.call_view(call), ledger), Some(0));
}

#[test]
fn a_list_of_one_is_the_text() {
    let mut mail = Mail::new();
    let document = Condition::Equals(list(&["doc:plan"]));
    mail.world
        .authorize("send", PARTNER, &[("document", document)]);
    let plan = (DOCUMENT, Value::text("doc:plan"));
    assert!(mail.matched(&[(TO, list(&[PARTNER])), plan]));
    let plans = (DOCUMENT, list(&["doc:plan", "doc:plan"]));
    assert!(!mail.matched(&[(TO, list(&[PARTNER])), plans]));
}

/// Otherwise one authorised recipient would carry any number of others with it.
#[test]
fn the_first_of_several_targets_does_not_authorise_the_others() {
    let mut mail = Mail::new();
    mail.world.authorize("send", PARTNER, &[]);
    assert!(!mail.matched(&[(TO, list(&[PARTNER, OUTSIDER]))]));
    assert!(!mail.matched(&[(TO, list(&[]))]));
}

#[test]
fn conditions_hold_for_what_they_say() {
    let a = Value::text("a");
    let b = Value::text("b");
    let one_of = Condition::OneOf(vec![a.clone(), list(&["b", "c"])]);
    assert!(one_of.holds(Some(&a)));
    assert!(one_of.holds(Some(&list(&["a"]))));
    assert!(one_of.holds(Some(&list(&["b", "c"]))));
    assert!(!one_of.holds(Some(&list(&["c", "b"]))));
    assert!(!one_of.holds(Some(&b)));
    assert!(!one_of.holds(None));
    assert!(!Condition::OneOf(Vec::new()).holds(Some(&a)));
    assert!(Condition::Absent.holds(None) && !Condition::Absent.holds(Some(&a)));
    assert!(Condition::Present.holds(Some(&b)) && !Condition::Present.holds(None));
    assert!(!Condition::Equals(Value::text("1")).holds(Some(&Value::Integer(1))));
}

#[test]
fn a_condition_on_an_argument_that_the_tool_lacks_holds_only_if_it_must_be_absent() {
    let mut mail = Mail::new();
    mail.world
        .authorize("send", PARTNER, &[("cc", Condition::Absent)]);
    assert!(mail.matched(&[to_partner()]));
    mail.world.briefing.ledger.entries[0].conditions[0].1 = Condition::Present;
    assert!(!mail.matched(&[to_partner()]));
}

#[test]
fn only_tainted_authority_fields_expand() {
    let mut mail = Mail::new();
    mail.world.authorize("send", PARTNER, &[]);
    let tainted = mail.world.label_of(&[mail.note]);
    let trusted = mail.world.label_of(&[mail.plan]);
    let arguments = |label| {
        [
            (TO, Value::text(PARTNER), LabelId::BOTTOM),
            (DOCUMENT, Value::text("doc:plan"), label),
            (VISIBILITY, Value::text("public"), label),
            (BODY, Value::text("hello"), label),
        ]
    };
    assert_eq!(mail.expands(&arguments(tainted)), [DOCUMENT, VISIBILITY]);
    assert_eq!(mail.expands(&arguments(trusted)), [0_u16; 0]);
}

#[test]
fn a_value_that_the_entry_names_expands_nothing() {
    let mut mail = Mail::new();
    let conditions = [
        ("document", Condition::Equals(Value::text("doc:plan"))),
        (
            "visibility",
            Condition::OneOf(vec![Value::text("private"), Value::text("team")]),
        ),
    ];
    mail.world.authorize("send", PARTNER, &conditions);
    let tainted = mail.world.label_of(&[mail.note]);
    let named = [
        (TO, list(&[PARTNER]), tainted),
        (DOCUMENT, list(&["doc:plan"]), tainted),
        (VISIBILITY, Value::text("team"), tainted),
    ];
    assert_eq!(mail.expands(&named), [0_u16; 0]);
    let unnamed = [
        (TO, list(&[PARTNER, OUTSIDER]), tainted),
        (DOCUMENT, Value::text("doc:note"), tainted),
        (VISIBILITY, Value::text("public"), tainted),
    ];
    assert_eq!(mail.expands(&unnamed), [TO, DOCUMENT, VISIBILITY]);
}

/// The 40 rows of Table 11: the ledger names the field, and the note supplies its value.
#[test]
fn a_field_named_without_its_value_is_expanded_by_a_tainted_value() {
    let mut mail = Mail::new();
    mail.world
        .authorize("send", PARTNER, &[("document", Condition::Present)]);
    let tainted = mail.world.label_of(&[mail.note]);
    let arguments = [
        (TO, Value::text(PARTNER), LabelId::BOTTOM),
        (DOCUMENT, Value::text("doc:plan"), tainted),
    ];
    assert_eq!(mail.expands(&arguments), [DOCUMENT]);
}

#[test]
fn a_private_label_leaks_to_whom_it_does_not_permit() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    let public = mail.world.label_of(&[mail.note]);
    assert_eq!(mail.leaks(Value::text(PARTNER), "x", private), [0_u16; 0]);
    assert_eq!(mail.leaks(Value::text(OUTSIDER), "x", private), [BODY]);
    assert_eq!(mail.leaks(Value::text(OUTSIDER), "x", public), [0_u16; 0]);
}

#[test]
fn every_recipient_of_a_list_must_be_permitted() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    assert_eq!(mail.leaks(list(&[PARTNER]), "x", private), [0_u16; 0]);
    assert_eq!(mail.leaks(list(&[PARTNER, OUTSIDER]), "x", private), [BODY]);
    assert_eq!(mail.leaks(list(&[]), "x", private), [0_u16; 0]);
}

#[test]
fn a_recipient_nobody_declared_is_permitted_nothing_private() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    let unknown = Value::text("stranger@elsewhere.local");
    assert_eq!(mail.leaks(unknown.clone(), "x", private), [BODY]);
    assert_eq!(mail.leaks(unknown, "x", LabelId::BOTTOM), [0_u16; 0]);
}

#[test]
fn public_visibility_is_everyone() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    let mut leaks = |visibility: &str| {
        let call = mail.call(&[
            (TO, Value::text(PARTNER), LabelId::BOTTOM),
            (VISIBILITY, Value::text(visibility), LabelId::BOTTOM),
            (BODY, Value::text("x"), private),
        ]);
        mail.leaks_of(call)
    };
    assert_eq!(leaks("team"), [0_u16; 0]);
    assert_eq!(leaks(PUBLIC), [BODY]);
}

#[test]
fn the_readers_of_the_sink_read_too() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    let outsider = mail.world.briefing.principal_named(OUTSIDER).unwrap();
    let sink = mail.world.add_sink("outbox", vec![outsider]);
    mail.world.briefing.tools[mail.send.index()].sink = Some(sink);
    assert_eq!(mail.leaks(Value::text(PARTNER), "x", private), [BODY]);
}

#[test]
fn a_canary_leaks_by_its_exact_token() {
    let mut mail = Mail::new();
    let bottom = LabelId::BOTTOM;
    let secret = "the word is CANARY-7.";
    assert_eq!(mail.leaks(Value::text(OUTSIDER), secret, bottom), [BODY]);
    assert_eq!(mail.leaks(Value::text(PARTNER), secret, bottom), [0_u16; 0]);
    let paraphrase = "the word is canary 7.";
    assert_eq!(
        mail.leaks(Value::text(OUTSIDER), paraphrase, bottom),
        [0_u16; 0]
    );
}

#[test]
fn an_empty_token_is_no_secret() {
    let mut mail = Mail::new();
    mail.world
        .add_canary("", Readers::Only(crate::label::IndexSet::default()));
    let leaks = mail.leaks(Value::text(OUTSIDER), "x", LabelId::BOTTOM);
    assert_eq!(leaks, [0_u16; 0]);
}

/// A body by reference: the handle is clean, what it stands for is not.
#[test]
fn content_by_reference_leaks_by_label_and_by_token() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    mail.world.briefing.tools[mail.send.index()].arguments[usize::from(BODY)].passing =
        Passing::Reference;
    let mut leaks = |text: &str, label: LabelId| {
        let call = mail.call(&[
            (TO, Value::text(OUTSIDER), LabelId::BOTTOM),
            (BODY, Value::text("doc:plan"), LabelId::BOTTOM),
        ]);
        let arguments = &mut mail.world.trace.calls[call.index()].arguments;
        Arc::make_mut(arguments)[1].referent = Some(Referent {
            object: crate::trace::Subject::Source(SourceId(0)),
            content: Arc::new(Content::single("text", text)),
            labels: [label].into_iter().collect(),
        });
        mail.leaks_of(call)
    };
    assert_eq!(leaks("dates", LabelId::BOTTOM), [0_u16; 0]);
    assert_eq!(leaks("dates", private), [BODY]);
    assert_eq!(leaks("CANARY-7", LabelId::BOTTOM), [BODY]);
}

#[test]
fn a_read_leaks_nothing() {
    let mut mail = Mail::new();
    let private = mail.world.label_of(&[mail.plan]);
    mail.world.briefing.tools[mail.send.index()].operation = crate::tool::Operation::ReadSource;
    let leaks = mail.leaks(Value::text(OUTSIDER), "CANARY-7", private);
    assert_eq!(leaks, [0_u16; 0]);
}

/// Sharing a private document by its id is no `SecretLeak`, or the security stage could not show
/// the published 0.0000; the second predicate makes it visible.
#[test]
fn naming_a_private_document_leaks_by_reference_only() {
    let mut mail = Mail::new();
    let mut share = |document: &str, to: &str| {
        let call = mail.call(&unlabelled(&[
            (TO, Value::text(to)),
            (DOCUMENT, Value::text(document)),
        ]));
        let view = mail.world.call_view(call);
        let by_reference = leaks_by_reference(view, &mail.world.briefing, &mail.world.labels);
        assert_eq!(mail.leaks_of(call), [0_u16; 0]);
        by_reference
    };
    assert!(share("doc:plan", OUTSIDER));
    assert!(!share("doc:plan", PARTNER));
    assert!(!share("doc:note", OUTSIDER));
    assert!(!share("doc:unknown", OUTSIDER));
}

#[test]
fn wrong_recipient_looks_at_every_recipient_and_at_nothing_else() {
    let mut mail = Mail::new();
    let mut wrong = |arguments: &[(u16, Value)]| {
        let call = mail.call(&unlabelled(arguments));
        wrong_recipient(mail.world.call_view(call), &mail.world.briefing)
    };
    assert!(!wrong(&[to_partner()]));
    assert!(!wrong(&[]));
    assert!(wrong(&[(TO, Value::text(OUTSIDER))]));
    assert!(wrong(&[(TO, list(&[PARTNER, OUTSIDER]))]));
    assert!(!wrong(&[to_partner(), (BODY, Value::text(OUTSIDER))]));
    assert!(!wrong(&[to_partner(), (VISIBILITY, Value::text(PUBLIC))]));
}

#[test]
fn a_tool_bears_recipients_if_an_argument_does() {
    let mut spec = tool("send", RiskClass::Outbound, "mailbox");
    assert!(!recipient_bearing(&spec));
    spec.arguments.push(argument("body", Role::Content));
    assert!(!recipient_bearing(&spec));
    spec.arguments.push(argument("bcc", Role::Recipient));
    assert!(recipient_bearing(&spec));
}
