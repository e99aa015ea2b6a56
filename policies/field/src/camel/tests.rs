use std::sync::Arc as Shared;

use plugins::briefing::Trust;
use plugins::conformance::generate;
use plugins::conformance::sample::{World, argument, given, list, tool};
use plugins::ids::{CallId, StoreId};
use plugins::label::{Label, LabelId};
use plugins::policy::Basis;
use plugins::tool::{Operation, RiskClass, Role, Target, ToolSpec};
use plugins::value::Value;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::engine::{Check, fits};
use super::*;
use crate::desk::{assert_keeps_the_laws, decide, make, try_make};

fn vectors() -> Json {
    serde_json::from_str(include_str!("../../vectors/camel.json")).unwrap()
}

/// Each vector says where its behaviour is published.
fn cases(of: &str) -> Vec<Json> {
    let cases = vectors()[of].as_array().unwrap().clone();
    let is_said = |case: &Json| case["source"].as_str().unwrap().ends_with('.');
    assert!(cases.iter().all(is_said));
    cases
}

fn texts(json: &Json) -> Vec<String> {
    let texts = json.as_array().into_iter().flatten();
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// A value of a vector: without sources, from the user; without readers, public.
fn value(values: &mut Values, json: &Json) -> ValueId {
    let tool = |inner: &[Inner]| Source::Tool {
        name: "tool".to_owned(),
        inner: inner.iter().cloned().collect(),
    };
    let mut sources = BTreeSet::new();
    for name in texts(&json["sources"]) {
        sources.insert(match name.as_str() {
            "user" => Source::User,
            "empty_tool" => tool(&[]),
            "trusted_tool" => tool(&[Inner::Trusted, Inner::User]),
            _ => tool(&[Inner::Trusted, Inner::Named("eve".to_owned())]),
        });
    }
    if sources.is_empty() {
        sources.insert(Source::User);
    }
    let readers = match &json["readers"] {
        Json::Null => Readers::Public,
        names => Readers::Only(texts(names).into_iter().collect()),
    };
    let own = values.add(Capabilities { sources, readers });
    if json["depends"].is_object() {
        let on = value(values, &json["depends"]);
        values.depend(own, on);
        // Circles end.
        values.depend(on, own);
    }
    own
}

#[test]
fn the_engine_decides_as_published() {
    let policies = text::read_policies(&vectors()["policies"].to_string());
    let policies = policies.unwrap().unwrap();
    for case in cases("engine") {
        let mut values = Values::default();
        let mut arguments = Arguments::new();
        for (name, json) in case["values"].as_object().unwrap() {
            let given = Argument {
                value: value(&mut values, json),
                texts: texts(&json["texts"]),
                object: json["object"]
                    .is_object()
                    .then(|| value(&mut values, &json["object"])),
            };
            arguments.insert(name.clone(), given);
        }
        let control = case["control"].as_array().into_iter().flatten();
        let control: Vec<_> = control.map(|json| value(&mut values, json)).collect();
        let engine = Engine {
            policies: policies.clone(),
            bugcompat: case["bugcompat"] == true,
        };
        let has_side_effect = case["side_effect"] != false;
        let tool = case["tool"].as_str().unwrap();
        let is = match engine.check(&values, tool, has_side_effect, &arguments, &control) {
            Ok(()) => "allowed",
            Err(Refusal::ControlDependency(_)) => "control_dependency",
            Err(Refusal::NoPolicy) => "no_policy",
            Err(Refusal::Untrusted(_)) => "untrusted",
            Err(Refusal::Unreadable(_)) => "unreadable",
            Err(Refusal::NotPublic(_)) => "not_public",
            Err(Refusal::Absent(_)) => "absent",
            Err(Refusal::Trusted(_)) => "trusted",
        };
        assert_eq!(is, case["is"], "{case}");
    }
}

#[test]
fn patterns_fit_as_those_of_fnmatch() {
    for case in cases("patterns") {
        let pattern = case["pattern"].as_str().unwrap();
        for name in texts(&case["fits"]) {
            assert!(fits(pattern, &name), "{pattern} {name}");
        }
        for name in texts(&case["not"]) {
            assert!(!fits(pattern, &name), "{pattern} {name}");
        }
    }
}

/// `act` with these arguments, and what it does.
fn spec(operation: Operation, roles: &[(&str, Role)]) -> ToolSpec {
    let mut spec = tool("act", RiskClass::Outbound, "");
    spec.operation = operation;
    spec.arguments = roles
        .iter()
        .map(|(name, role)| argument(name, *role))
        .collect();
    spec.target = Target::Argument(0);
    spec
}

/// A world with `act` and one call of it, in which `doc:note` is untrusted and public and `doc:plan`
/// trusted and for bob. `labels` of the call's arguments, in order, are names of sources.
struct Scene {
    world: World,
    call: CallId,
}

impl Scene {
    fn new(spec: ToolSpec, arguments: &[(Value, &str)]) -> Self {
        let mut world = World::new();
        world.add_agent("assistant");
        for name in ["ann", "bob", "eve"] {
            world.add_principal(name);
        }
        let bob = label::Readers::Only([1].into_iter().collect());
        world.add_source("doc:note", Trust::Untrusted, label::Readers::Everyone);
        world.add_source("doc:plan", Trust::Trusted, bob);
        let tool = world.add_tool(spec);
        let arguments = (0..).zip(arguments).map(|(position, (value, source))| {
            let source = world.briefing.source_named(source);
            let label = source.map_or(LabelId::BOTTOM, |source| world.label_of(&[source]));
            given(position, value.clone(), label)
        });
        let arguments = arguments.collect();
        let call = world.add_call(tool, arguments);
        Self { world, call }
    }

    fn send(to: &[&str], to_from: &str, body_from: &str) -> Self {
        let roles = [("to", Role::Recipient), ("body", Role::Content)];
        let body = (Value::text("hello"), body_from);
        Self::new(spec(Operation::Act, &roles), &[(list(to), to_from), body])
    }

    /// The ruling with `plan` none unless another is given.
    fn ruling(&self, parameters: &[(&str, &str)]) -> Ruling<ProposalVerdict> {
        let parameters = [parameters, &[("plan", "none")]].concat();
        let mut first: Vec<(&str, &str)> = Vec::new();
        for (name, value) in parameters {
            if !first.iter().any(|(known, _)| *known == name) {
                first.push((name, value));
            }
        }
        decide(&mut *make("camel", &first), &self.world, self.call)
    }

    fn rule(&self, parameters: &[(&str, &str)]) -> String {
        self.ruling(parameters).reason.rule.into_owned()
    }

    /// The call was chosen under the influence of a source.
    fn chosen_by(&mut self, source: &str) {
        let source = self.world.briefing.source_named(source).unwrap();
        let label = self.world.label_of(&[source]);
        self.world.trace.calls[self.call.index()].choice = label;
    }
}

#[test]
fn a_message_may_go_to_whom_the_user_named_or_who_may_read_it() {
    for (to, to_from, body_from, rule) in [
        (&["eve"][..], "", "doc:plan", "camel_allow_policy"),
        (&["eve"], "doc:note", "", "camel_allow_policy"),
        (&["bob"], "doc:note", "doc:plan", "camel_allow_policy"),
        (
            &["bob", "eve"],
            "doc:note",
            "doc:plan",
            "camel_block_unreadable_argument",
        ),
        (
            &["nobody"],
            "doc:note",
            "doc:plan",
            "camel_block_unreadable_argument",
        ),
    ] {
        let scene = Scene::send(to, to_from, body_from);
        let ruling = scene.ruling(&[]);
        assert_eq!(ruling.reason.rule, rule, "{to:?}");
        assert_eq!(ruling.reason.basis, Basis::Exact);
        if rule.contains("block") {
            assert_eq!(ruling.reason.fields, [DecidingField::Argument(1)]);
        }
    }
}

#[test]
fn what_a_private_source_decided_is_denied() {
    let mut scene = Scene::send(&["bob"], "", "");
    scene.chosen_by("doc:note");
    let choice = &[("control", "choice")];
    assert_eq!(scene.rule(choice), "camel_allow_policy");
    scene.chosen_by("doc:plan");
    let ruling = scene.ruling(choice);
    assert_eq!(ruling.reason.rule, "camel_block_control_dependency");
    assert_eq!(ruling.reason.evidence, [Evidence::Source(SourceId(1))]);
    assert_eq!(scene.rule(&[]), "camel_allow_policy");
}

#[test]
fn only_strict_mode_counts_what_decided_a_value() {
    let mut scene = Scene::send(&["eve"], "", "doc:plan");
    let control = Label {
        control: [0].into_iter().collect(),
        ..Label::bottom()
    };
    let control = scene.world.labels.intern(control);
    let call = &mut scene.world.trace.calls[scene.call.index()];
    Shared::make_mut(&mut call.arguments)[0].label = control;
    assert_eq!(scene.rule(&[("mode", "normal")]), "camel_allow_policy");
    assert_eq!(
        scene.rule(&[("mode", "strict")]),
        "camel_block_unreadable_argument"
    );
}

#[test]
fn the_plan_is_the_ledger_or_its_actions() {
    let mut scene = Scene::send(&["eve"], "", "");
    let (matching, action) = (&[("plan", "match")], &[("plan", "action")]);
    let ruling = scene.ruling(matching);
    assert_eq!(ruling.reason.rule, "camel_block_outside_plan");
    assert_eq!(ruling.reason.evidence, [Evidence::NoLedgerEntry]);
    assert_eq!(scene.rule(action), "camel_block_outside_plan");
    scene.world.authorize("act", "bob", &[]);
    let ruling = scene.ruling(matching);
    assert_eq!(ruling.reason.rule, "camel_block_outside_plan");
    assert_eq!(ruling.reason.evidence, []);
    assert_eq!(scene.rule(action), "camel_allow_policy");
    scene.world.authorize("act", "eve", &[]);
    let ruling = scene.ruling(matching);
    assert_eq!(ruling.reason.rule, "camel_allow_policy");
    assert_eq!(ruling.reason.evidence, [Evidence::LedgerEntry(1)]);
    assert_eq!(ruling.reason.basis, Basis::Assumed);
}

#[test]
fn each_tool_gets_the_policy_of_what_it_does() {
    let delete = Operation::MemoryDelete(StoreId(0));
    let write = Operation::MemoryWrite(StoreId(0));
    let act = Operation::Act;
    let (to, document) = (("to", Role::Recipient), ("file", Role::Document));
    let (body, key) = (("body", Role::Content), ("key", Role::MemoryKey));
    let note = |text: &str| (Value::text(text), "doc:note");
    let plan = |text: &str| (Value::text(text), "doc:plan");
    for (operation, roles, arguments, rule) in [
        (
            delete,
            vec![key],
            vec![note("k")],
            "camel_block_untrusted_argument",
        ),
        (delete, vec![key], vec![plan("k")], "camel_allow_policy"),
        (
            write,
            vec![key, body],
            vec![note("k"), plan("b")],
            "camel_allow_policy",
        ),
        (
            act,
            vec![document, to],
            vec![note("f"), note("eve")],
            "camel_block_untrusted_argument",
        ),
        (
            act,
            vec![document, to],
            vec![note("f"), plan("eve")],
            "camel_allow_policy",
        ),
        (
            act,
            vec![key],
            vec![note("event")],
            "camel_block_untrusted_argument",
        ),
        (act, vec![body], vec![plan("b")], "camel_block_not_public"),
        (act, vec![body], vec![note("b")], "camel_allow_policy"),
    ] {
        let scene = Scene::new(spec(operation, &roles), &arguments);
        assert_eq!(scene.rule(&[]), rule, "{operation:?} {roles:?}");
    }
    let mut required = spec(act, &[key]);
    required.arguments[0].required = true;
    let scene = Scene::new(required, &[]);
    assert_eq!(scene.rule(&[]), "camel_block_absent_argument");
    let mut low = spec(act, &[key]);
    low.risk = RiskClass::Low;
    let scene = Scene::new(low, &[note("event")]);
    assert_eq!(scene.rule(&[]), "camel_allow_no_side_effect");
}

#[test]
fn bugcompat_inverts_deleting_and_nothing_else() {
    let delete = spec(
        Operation::MemoryDelete(StoreId(0)),
        &[("key", Role::MemoryKey)],
    );
    let bug = &[("bugcompat", "true")];
    for (source, rule) in [
        ("", "camel_block_trusted_argument"),
        ("doc:note", "camel_allow_policy"),
    ] {
        let scene = Scene::new(delete.clone(), &[(Value::text("k"), source)]);
        assert_eq!(scene.rule(bug), rule);
    }
    let scene = Scene::send(&["eve"], "doc:note", "doc:plan");
    assert_eq!(scene.rule(bug), scene.rule(&[]));
}

#[test]
fn given_policies_take_the_place_of_derived_ones() {
    let scene = Scene::send(&["eve"], "doc:note", "");
    for (text, rule) in [
        (r"[]", "camel_block_no_policy"),
        (r#"[["a*", {"check": "nothing"}]]"#, "camel_allow_policy"),
        (
            r#"[["a*", {"check": "trusted", "fields": ["to"]}]]"#,
            "camel_block_untrusted_argument",
        ),
    ] {
        assert_eq!(scene.rule(&[("policies", text)]), rule);
    }
    for (text, says) in [
        ("[", "line 1"),
        ("{}", "at ``"),
        (r#"[["a", {"check": "maybe"}]]"#, "/0/1/check"),
        (r#"[["a", {"check": "trusted"}]]"#, "/0/1/fields"),
        (
            r#"[["a", {"check": "nothing", "fields": []}]]"#,
            "/0/1/fields",
        ),
        (
            r#"[["a", {"check": "delete", "fields": ["a", "b"]}]]"#,
            "/0/1/fields",
        ),
    ] {
        let Err(error) = try_make("camel", &[("policies", text)]) else {
            panic!("{text} is accepted");
        };
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn names_of_tools_are_no_patterns() {
    let mut world = World::new();
    world.add_tool(tool("a*[b]?", RiskClass::Write, ""));
    let policies = derived_policies(&world.briefing);
    assert!(fits(&policies[0].pattern, "a*[b]?"));
    assert!(!fits(&policies[0].pattern, "axbx"));
    assert_eq!(policies[0].check, Check::Public(Vec::new()));
}

#[test]
fn it_keeps_the_laws_under_every_setting() {
    for given in [
        &[][..],
        &[("plan", "none"), ("mode", "strict")],
        &[("plan", "action"), ("control", "choice")],
        &[("plan", "none"), ("bugcompat", "true")],
        &[
            ("plan", "none"),
            ("policies", r#"[["tool_*", {"check": "nothing"}]]"#),
        ],
    ] {
        assert_keeps_the_laws("camel", given);
    }
}

/// The refusals that another untrusted source in an argument or in the choice turned into an allow, in
/// random scenarios, and how many refusals there were.
fn overturned(parameters: &[(&str, &str)]) -> (usize, usize) {
    let mut policy = make("camel", parameters);
    let (mut overturned, mut refusals) = (0, 0);
    for seed in 0..400 {
        let mut world = generate::random_world(seed);
        let more = world.add_source("doc:more", Trust::Untrusted, label::Readers::Everyone);
        let more = world.label_of(&[more]);
        for call in 0..world.trace.calls.len() {
            let id = world.trace.calls[call].id;
            if decide(&mut *policy, &world, id).verdict == ProposalVerdict::Allow {
                continue;
            }
            refusals += 1;
            let before = world.trace.calls[call].clone();
            for position in 0..=before.arguments.len() {
                let changed = &mut world.trace.calls[call];
                match Shared::make_mut(&mut changed.arguments).get_mut(position) {
                    Some(argument) => argument.label = world.labels.join(argument.label, more),
                    None => changed.choice = world.labels.join(changed.choice, more),
                }
                let after = decide(&mut *policy, &world, id).verdict;
                overturned += usize::from(after == ProposalVerdict::Allow);
                world.trace.calls[call] = before.clone();
            }
        }
    }
    (overturned, refusals)
}

#[test]
fn another_untrusted_source_turns_no_refusal_into_an_allow() {
    for mode in ["normal", "strict"] {
        for plan in ["none", "action", "match"] {
            for control in ["none", "choice"] {
                let setting = [("mode", mode), ("plan", plan), ("control", control)];
                let (overturned, refusals) = overturned(&setting);
                assert_eq!(overturned, 0, "{setting:?}");
                assert!(refusals > 100, "{setting:?}: {refusals}");
            }
        }
    }
}

/// The property above catches the mistake of the repository.
#[test]
fn bugcompat_violates_monotonicity() {
    let (overturned, _) = overturned(&[("bugcompat", "true"), ("plan", "none")]);
    assert!(overturned > 0);
}

proptest! {
    /// The same of the engine alone: more sources, fewer readers, more dependencies.
    #[test]
    fn the_engine_is_label_monotone(
        untrusted: bool,
        readers in proptest::option::of(proptest::collection::btree_set("[abc]", 0..3)),
        to in proptest::collection::vec("[abc]", 0..3),
        more_readers in proptest::option::of(proptest::collection::btree_set("[abc]", 0..3)),
        on_recipient: bool,
        kind in 0..5_usize,
    ) {
        let field = |name: &str| engine::Field { name: name.to_owned(), required: true };
        let (recipients, data) = (vec![field("to")], vec![field("body")]);
        let check = match kind {
            0 => Check::Trusted(recipients),
            1 => Check::TrustedOrReadable { recipients, data },
            2 => Check::TrustedAndReadable { recipients, data },
            3 => Check::Public(data),
            _ => Check::Delete(field("to")),
        };
        let policies = vec![engine::ToolPolicy { pattern: "*".to_owned(), check }];
        let engine = Engine { policies, bugcompat: false };
        let named = |name: &str| Source::Tool {
            name: "tool".to_owned(),
            inner: BTreeSet::from([Inner::Named(name.to_owned())]),
        };
        let passes = |with_more: bool| {
            let mut values = Values::default();
            let source = if untrusted { named("a") } else { Source::User };
            let readers = readers.clone().map_or(Readers::Public, Readers::Only);
            let recipient = values.add(Capabilities {
                sources: BTreeSet::from([source]),
                readers: Readers::Public,
            });
            let body = values.add(Capabilities {
                sources: BTreeSet::from([Source::Camel]),
                readers,
            });
            if with_more {
                let readers = more_readers.clone().map_or(Readers::Public, Readers::Only);
                let sources = BTreeSet::from([named("b")]);
                let more = values.add(Capabilities { sources, readers });
                values.depend(if on_recipient { recipient } else { body }, more);
            }
            let argument = |value, texts: &[String]| Argument {
                value,
                texts: texts.to_vec(),
                object: None,
            };
            let arguments = Arguments::from([
                ("to".to_owned(), argument(recipient, &to)),
                ("body".to_owned(), argument(body, &[])),
            ]);
            engine.check(&values, "act", true, &arguments, &[]).is_ok()
        };
        prop_assert!(passes(false) || !passes(true));
    }
}
