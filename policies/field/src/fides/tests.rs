// Length: one system, one desk, and a case for each of its parameters.

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, list, tool};
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, CallId, PrincipalId, SourceId};
use plugins::label::{LabelId, Readers};
use plugins::policy::{Basis, Inflow};
use plugins::tool::{Operation, Role, Target};
use plugins::trace::Subject;
use plugins::value::{Field, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::engine::Admission;
use super::*;
use crate::desk::{assert_in_table, assert_keeps_the_laws, decide, make, node};

fn vectors() -> Json {
    serde_json::from_str(include_str!("../../vectors/fides.json")).unwrap()
}

/// Each vector says where its behaviour is published.
fn cases(of: &str) -> Vec<Json> {
    let cases = vectors()[of].as_array().unwrap().clone();
    let is_said = |case: &Json| case["source"].as_str().unwrap().ends_with('.');
    assert!(cases.iter().all(is_said));
    cases
}

fn principals(names: &Json) -> Vec<PrincipalId> {
    let known = vectors()["principals"].clone();
    let position = |name: &Json| known.as_array().unwrap().iter().position(|it| it == name);
    let names = names.as_array().unwrap().iter();
    names
        .map(|name| PrincipalId::at(position(name).unwrap()))
        .collect()
}

fn label(json: &Json) -> Label {
    let readers = match &json["readers"] {
        Json::Null => Readers::Everyone,
        names => Readers::Only(principals(names).into_iter().map(|it| it.0).collect()),
    };
    let mut label = Label::new(json["untrusted"] == true, readers);
    if let Some(level) = level(&json["level"]) {
        label.level = level;
    }
    label
}

fn level(json: &Json) -> Option<Level> {
    Some(match json.as_str()? {
        "public" => Level::Public,
        "private" => Level::Private,
        _ => Level::UserIdentity,
    })
}

fn name_of(checked: Result<(), Violation>) -> &'static str {
    match checked {
        Ok(()) => "passes",
        Err(Violation::UntrustedContext) => "untrusted_context",
        Err(Violation::UntrustedArgument) => "untrusted_argument",
        Err(Violation::Flow) => "flow",
        Err(Violation::Confidentiality) => "confidentiality",
    }
}

#[test]
fn labels_join_as_published() {
    for case in cases("join") {
        let (a, b, is) = (label(&case["a"]), label(&case["b"]), label(&case["is"]));
        let joined = a.join(&b);
        assert_eq!(joined, b.join(&a), "{case}");
        assert_eq!(
            (joined.untrusted, &joined.readers),
            (is.untrusted, &is.readers),
            "{case}"
        );
        if case["is"]["level"].is_string() {
            assert_eq!(joined.level, is.level, "{case}");
        }
        assert!(a.flows_to(&joined) && b.flows_to(&joined), "{case}");
    }
}

#[test]
fn the_policies_of_the_paper_decide_as_published() {
    for case in cases("paper") {
        let policies = match case["policies"].as_str().unwrap() {
            "both" => Policies::Both,
            "trusted_action" => Policies::TrustedAction,
            "permitted_flow" => Policies::PermittedFlow,
            _ => Policies::Either,
        };
        let audience = match &case["to"] {
            Json::Null => Audience::Anybody,
            names => Audience::Known(principals(names)),
        };
        let (context, variable) = (label(&case["context"]), label(&case["variable"]));
        let call = LabelledCall {
            context: &context,
            data: &context.join(&variable),
            untrusted_argument: variable.untrusted,
            audience: &audience,
        };
        let checked = check_paper(policies, case["trusted_arguments"] == true, call);
        assert_eq!(name_of(checked), case["is"], "{case}");
    }
}

#[test]
fn the_checks_of_the_repository_decide_as_published() {
    for case in cases("repository") {
        let context = case["context"].is_object().then(|| label(&case["context"]));
        let declaration = Declaration {
            accepts_untrusted: case["accepts_untrusted"] == true,
            most_confidential: level(&case["allows"]),
        };
        let checked = check_repository(context.as_ref(), declaration);
        assert_eq!(name_of(checked), case["is"], "{case}");
    }
}

#[test]
fn results_are_taken_in_as_published() {
    for case in cases("admission") {
        let planner = match case["planner"].as_str().unwrap() {
            "basic" => Planner::Basic,
            "variables" => Planner::Variables,
            _ => Planner::AutoHide,
        };
        let context = label(&case["context"]);
        let fields = case["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| FieldLabel {
                label: label(&field["label"]),
                endorsed: field["endorsed"] == true,
            });
        let fields: Vec<_> = fields.collect();
        let Admission { hidden, raises } = admit(planner, &context, &fields);
        let expected: Vec<bool> = serde_json::from_value(case["hidden"].clone()).unwrap();
        assert_eq!(hidden, expected, "{case}");
        assert_eq!(context.join(&raises), label(&case["then"]), "{case}");
    }
}

/// An assistant that has read `doc:note` (untrusted and public) or `doc:plan` (trusted and for bob),
/// and `send(to, body)`.
struct Scene {
    world: World,
    note: SourceId,
    plan: SourceId,
}

impl Scene {
    fn new() -> Self {
        let mut world = World::new();
        world.add_agent("assistant");
        world.add_agent("helper");
        for name in ["ann", "bob", "eve"] {
            world.add_principal(name);
        }
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        let bob = Readers::Only([1].into_iter().collect());
        let plan = world.add_source("doc:plan", Trust::Trusted, bob);
        let mut send = tool("send", RiskClass::Outbound, "");
        send.arguments = vec![
            argument("to", Role::Recipient),
            argument("body", Role::Content),
        ];
        send.target = Target::Argument(0);
        world.add_tool(send);
        let mut read = tool("read", RiskClass::Low, "note");
        read.operation = Operation::ReturnSource(note);
        world.add_tool(read);
        Self { world, note, plan }
    }

    /// A source comes to an agent as a tool result. `policy` is asked if it declares that.
    fn observe(
        &mut self,
        policy: &mut dyn Policy,
        agent: u32,
        source: SourceId,
    ) -> Option<Content> {
        let label = self.world.label_of(&[source]);
        let agent = AgentId(agent);
        let origin = node(
            &mut self.world,
            NodeKind::Source,
            agent,
            Subject::Source(source),
            label,
            None,
        );
        let content = Content {
            fields: ["contact", "answer"]
                .into_iter()
                .zip(["eve", "yes"])
                .map(|(name, value)| Field {
                    name: name.into(),
                    value: value.into(),
                })
                .collect(),
        };
        let mut shown = Some(content.clone());
        if policy.hooks().contains(Hooks::OBSERVATION) {
            let mut draws = Draws::new(RolloutKey::default());
            let inflow = Inflow {
                agent,
                from: None,
                content: &content,
                labels: &[label, label],
                recorded: label,
                node: Some(origin),
            };
            let ruling = policy.on_observation(&mut self.world.view(&mut draws), inflow);
            assert_in_table(&ruling);
            if let InflowVerdict::Transform(content) = ruling.verdict {
                shown = Some(content);
            }
        }
        let subject = Subject::Call(CallId(0));
        let world = &mut self.world;
        let result = node(
            world,
            NodeKind::ToolResult,
            agent,
            subject,
            label,
            Some(origin),
        );
        self.enter(agent, result, label);
        shown
    }

    /// A node enters the context of an agent.
    fn enter(&mut self, agent: AgentId, origin: NodeId, label: LabelId) -> NodeId {
        let (kind, subject) = (NodeKind::AgentState, Subject::Agent(agent));
        node(&mut self.world, kind, agent, subject, label, Some(origin))
    }

    fn send(&mut self, to: &str, body: &str) -> CallId {
        let arguments = vec![
            given(0, Value::text(to), LabelId::BOTTOM),
            given(1, Value::text(body), LabelId::BOTTOM),
        ];
        self.world.add_call(plugins::ids::ToolId(0), arguments)
    }

    fn rule(&self, policy: &mut dyn Policy, call: CallId) -> String {
        decide(policy, &self.world, call).reason.rule.into_owned()
    }
}

#[test]
fn an_untrusted_result_taints_the_context_of_its_reader_and_of_nobody_else() {
    for (reader, rule) in [(0, "fides_block_untrusted_context"), (1, "fides_allow")] {
        let mut policy = make("fides", &[("planner", "basic")]);
        let mut scene = Scene::new();
        let before = scene.send("eve", "hello");
        assert_eq!(scene.rule(&mut *policy, before), "fides_allow");
        let note = scene.note;
        scene.observe(&mut *policy, reader, note);
        let call = scene.send("eve", "hello");
        assert_eq!(scene.rule(&mut *policy, call), rule);
    }
}

#[test]
fn a_message_carries_the_context_of_its_sender() {
    let mut policy = make("fides", &[("planner", "basic")]);
    let mut scene = Scene::new();
    let note = scene.note;
    scene.observe(&mut *policy, 1, note);
    let (kind, subject) = (
        NodeKind::Message,
        Subject::Message(plugins::ids::MessageId(0)),
    );
    let clean = LabelId::BOTTOM;
    let message = node(&mut scene.world, kind, AgentId(1), subject, clean, None);
    scene.enter(AgentId(0), message, clean);
    let call = scene.send("eve", "hello");
    assert_eq!(
        scene.rule(&mut *policy, call),
        "fides_block_untrusted_context"
    );
}

#[test]
fn a_call_is_judged_by_the_context_that_its_model_saw() {
    let mut policy = make("fides", &[("planner", "basic")]);
    let mut scene = Scene::new();
    let (clean, agent) = (LabelId::BOTTOM, AgentId(0));
    let goal = node(
        &mut scene.world,
        NodeKind::Source,
        agent,
        Subject::Agent(agent),
        clean,
        None,
    );
    let state = scene.enter(agent, goal, clean);
    let call = scene.send("eve", "hello");
    let proposed = scene.world.proposals[call.index()].unwrap();
    scene.world.trace.edges.push(plugins::trace::Edge {
        from: state,
        to: proposed,
        kind: plugins::trace::EdgeKind::Control,
        taint: false,
    });
    let note = scene.note;
    scene.observe(&mut *policy, 0, note);
    assert_eq!(scene.rule(&mut *policy, call), "fides_allow");
}

#[test]
fn variables_keep_the_context_trusted_and_calls_get_their_values() {
    let mut policy = make("fides", &[NEVER]);
    let mut scene = Scene::new();
    let note = scene.note;
    let shown = scene.observe(&mut *policy, 0, note).unwrap();
    let contact = shown.field("contact").unwrap().1.clone();
    assert_eq!(&*contact, "[var_0]");
    let call = scene.send(&contact, &format!("to {contact} and [var_9]"));
    let ruling = decide(&mut *policy, &scene.world, call);
    assert_eq!(ruling.reason.rule, "fides_expand_variables");
    let expanded = vec![
        (0, Value::text("eve")),
        (1, Value::text("to eve and [var_9]")),
    ];
    assert_eq!(ruling.verdict, ProposalVerdict::Rewrite(expanded));
    let mut strict = make("fides", &[NEVER, ("trusted_arguments", "true")]);
    let mut scene = Scene::new();
    scene.observe(&mut *strict, 0, note);
    let call = scene.send(&contact, "hello");
    let ruling = decide(&mut *strict, &scene.world, call);
    assert_eq!(ruling.reason.rule, "fides_block_untrusted_argument");
    assert_eq!(ruling.reason.fields, [DecidingField::Argument(0)]);
}

/// Nothing is taken to have been inspected.
const NEVER: (&str, &str) = ("inspect", "never");

#[test]
fn a_call_that_nobody_could_plan_was_made_after_an_inspection() {
    for (inspect, authorised, rule) in [
        ("never", None, "fides_allow"),
        ("outside_actions", None, "fides_block_untrusted_context"),
        ("outside_ledger", None, "fides_block_untrusted_context"),
        ("outside_actions", Some("bob"), "fides_allow"),
        (
            "outside_ledger",
            Some("bob"),
            "fides_block_untrusted_context",
        ),
        ("outside_ledger", Some("eve"), "fides_allow"),
    ] {
        for by_variable in [false, true] {
            let mut policy = make("fides", &[("inspect", inspect)]);
            let mut scene = Scene::new();
            if let Some(target) = authorised {
                scene.world.authorize("send", target, &[]);
            }
            let before = scene.send("eve", "hello");
            let ruling = decide(&mut *policy, &scene.world, before);
            assert_eq!(ruling.reason.rule, "fides_allow");
            assert_eq!(ruling.reason.basis, Basis::Exact);
            let note = scene.note;
            scene.observe(&mut *policy, 0, note);
            let call = scene.send(if by_variable { "[var_0]" } else { "eve" }, "hello");
            let ruling = decide(&mut *policy, &scene.world, call);
            let expected = match rule {
                "fides_allow" if by_variable => "fides_expand_variables",
                rule => rule,
            };
            assert_eq!(ruling.reason.rule, expected, "{inspect} {authorised:?}");
            let basis = if inspect == "never" {
                Basis::Exact
            } else {
                Basis::Assumed
            };
            assert_eq!(ruling.reason.basis, basis);
        }
    }
}

#[test]
fn a_hidden_value_may_go_only_to_its_readers() {
    for (to, rule) in [
        ("bob", "fides_expand_variables"),
        ("eve", "fides_block_flow"),
    ] {
        let mut policy = make("fides", &[NEVER]);
        let mut scene = Scene::new();
        let plan = scene.plan;
        let shown = scene.observe(&mut *policy, 0, plan).unwrap();
        let body = shown.field("contact").unwrap().1.clone();
        let call = scene.send(to, &body);
        assert_eq!(scene.rule(&mut *policy, call), rule, "{to}");
        let other = scene.send(to, "hello");
        assert_eq!(scene.rule(&mut *policy, other), "fides_allow", "{to}");
    }
}

#[test]
fn lists_are_expanded_element_by_element() {
    let mut variables = Variables::default();
    let name = variables.hide("eve".into(), Label::default());
    let expanded = variables.expanded(&list(&["ann", &name]));
    assert_eq!(expanded, Some(list(&["ann", "eve"])));
    assert_eq!(
        variables.expanded(&list(&["ann", "[var_x]", "[var_"])),
        None
    );
    assert_eq!(variables.expanded(&Value::Integer(1)), None);
}

#[test]
fn a_truth_value_can_be_endorsed() {
    let mut policy = make("fides", &[NEVER, ("endorse", "boolean")]);
    let mut scene = Scene::new();
    let note = scene.note;
    let shown = scene.observe(&mut *policy, 0, note).unwrap();
    assert_eq!(&**shown.field("answer").unwrap().1, "yes");
    assert_eq!(&**shown.field("contact").unwrap().1, "[var_0]");
    let call = scene.send("eve", "yes");
    assert_eq!(scene.rule(&mut *policy, call), "fides_allow");
}

/// Where paper and repository differ, on the same trace.
#[test]
fn the_profiles_differ_as_documented() {
    let rule = |given: &[(&str, &str)], source: fn(&Scene) -> SourceId, to: &str| {
        let mut policy = make("fides", &[given, &[NEVER]].concat());
        let mut scene = Scene::new();
        let source = source(&scene);
        scene.observe(&mut *policy, 0, source);
        let call = scene.send(to, "hello");
        scene.rule(&mut *policy, call)
    };
    let (paper, repository) = (("profile", "paper"), ("profile", "repository"));
    let basic = ("planner", "basic");
    let (note, plan) = (|scene: &Scene| scene.note, |scene: &Scene| scene.plan);
    // Readers against levels: bob may read what bob gets.
    assert_eq!(rule(&[paper, basic], plan, "bob"), "fides_allow");
    assert_eq!(
        rule(&[repository, basic], plan, "bob"),
        "fides_block_confidentiality"
    );
    // Levels against readers: what the tool may see goes to anybody.
    let wide = ("outbound_allows", "user_identity");
    assert_eq!(rule(&[paper, basic], plan, "eve"), "fides_block_flow");
    assert_eq!(rule(&[repository, basic, wide], plan, "eve"), "fides_allow");
    // What is hidden counts for confidentiality in the repository alone; and there what is private and
    // trusted is not hidden at all.
    assert_eq!(rule(&[paper], plan, "eve"), "fides_allow");
    assert_eq!(
        rule(&[repository], plan, "eve"),
        "fides_block_confidentiality"
    );
    // Fail-open without a tracker.
    assert_eq!(
        rule(&[repository, ("tracker", "false")], note, "eve"),
        "fides_allow_unlabelled"
    );
    assert_eq!(
        rule(&[repository, basic], note, "eve"),
        "fides_block_untrusted_context"
    );
    let asks = ("approval_on_violation", "true");
    assert_eq!(
        rule(&[repository, basic, asks], note, "eve"),
        "fides_confirm_untrusted_context"
    );
    assert_eq!(
        rule(&[repository, basic, asks], plan, "eve"),
        "fides_confirm_confidentiality"
    );
}

#[test]
fn low_risk_calls_are_checked_by_the_repository_alone() {
    for (given, rule) in [
        (&[("profile", "paper")][..], "default_allow"),
        (&[("profile", "repository")], "fides_allow"),
        (
            &[("profile", "repository"), ("accepts_untrusted", "none")],
            "fides_block_untrusted_context",
        ),
    ] {
        let mut policy = make("fides", &[given, &[("planner", "basic")]].concat());
        let mut scene = Scene::new();
        let note = scene.note;
        scene.observe(&mut *policy, 0, note);
        let call = scene.world.add_call(plugins::ids::ToolId(1), Vec::new());
        assert_eq!(scene.rule(&mut *policy, call), rule, "{given:?}");
    }
}

#[test]
fn it_keeps_the_laws_under_every_setting() {
    for given in [
        &[][..],
        &[("planner", "basic")],
        &[("inspect", "outside_actions")],
        &[NEVER],
        &[("policies", "either"), ("trusted_arguments", "true")],
        &[("policies", "permitted_flow"), ("endorse", "boolean")],
        &[("profile", "repository")],
        &[("profile", "repository"), ("planner", "basic")],
        &[("profile", "repository"), ("tracker", "false")],
        &[("profile", "repository"), ("approval_on_violation", "true")],
    ] {
        assert_keeps_the_laws("fides", given);
    }
}

fn any_readers() -> impl Strategy<Value = Readers> {
    prop_oneof![
        Just(Readers::Everyone),
        proptest::collection::vec(0..3_u32, 0..3)
            .prop_map(|members| Readers::Only(members.into_iter().collect())),
    ]
}

fn any_label() -> impl Strategy<Value = Label> {
    (any::<bool>(), any_readers()).prop_map(|(untrusted, readers)| Label::new(untrusted, readers))
}

fn any_audience() -> impl Strategy<Value = Audience> {
    prop_oneof![
        Just(Audience::Anybody),
        proptest::collection::vec((0..3_u32).prop_map(PrincipalId), 0..3).prop_map(Audience::Known),
    ]
}

proptest! {
    /// Whatever else comes in, untrusted or private, no refusal becomes an allow.
    #[test]
    fn the_checks_are_label_monotone(
        context in any_label(),
        variable in any_label(),
        more in any_label(),
        audience in any_audience(),
        trusted_arguments: bool,
        accepts_untrusted: bool,
        most in proptest::sample::select(vec![Level::Public, Level::Private, Level::UserIdentity]),
    ) {
        let raised = context.join(&more);
        for policies in [
            Policies::Both,
            Policies::TrustedAction,
            Policies::PermittedFlow,
            Policies::Either,
        ] {
            let check = |context: &Label, variable: &Label| {
                let call = LabelledCall {
                    context,
                    data: &context.join(variable),
                    untrusted_argument: variable.untrusted,
                    audience: &audience,
                };
                check_paper(policies, trusted_arguments, call)
            };
            let before = check(&context, &variable);
            for after in [check(&raised, &variable), check(&context, &variable.join(&more))] {
                prop_assert!(before.is_ok() || after.is_err(), "{policies:?}");
            }
        }
        let declaration = Declaration { accepts_untrusted, most_confidential: Some(most) };
        let before = check_repository(Some(&context), declaration);
        let after = check_repository(Some(&raised), declaration);
        prop_assert!(before.is_ok() || after.is_err());
    }

    /// The paper's planner never raises the label of a context, and the basic one raises it to all
    /// that came.
    #[test]
    fn planners_raise_what_they_say(
        context in any_label(),
        fields in proptest::collection::vec(any_label(), 0..4),
    ) {
        let known: Vec<_> = fields
            .iter()
            .map(|label| FieldLabel { label: label.clone(), endorsed: false })
            .collect();
        let hiding = admit(Planner::Variables, &context, &known);
        let kept = context.join(&hiding.raises);
        prop_assert!(kept.flows_to(&context));
        let basic = context.join(&admit(Planner::Basic, &context, &known).raises);
        prop_assert!(fields.iter().all(|label| label.flows_to(&basic)));
        let product = context.join(&admit(Planner::AutoHide, &context, &known).raises);
        prop_assert_eq!(product.level, basic.level);
        prop_assert_eq!(product.untrusted, context.untrusted);
    }

    /// The same over traces: another untrusted source that the caller sees, or that a message brings,
    /// turns no refusal into an allow.
    #[test]
    fn the_policy_is_label_monotone(
        first in proptest::collection::vec((0..2_u32, 0..2_u32), 0..4),
        more in 0..2_u32,
        repository: bool,
        basic: bool,
        inspect in proptest::sample::select(vec!["outside_ledger", "outside_actions", "never"]),
        authorised: bool,
        to in proptest::sample::select(vec!["ann", "bob", "eve"]),
    ) {
        let profile = ("profile", if repository { "repository" } else { "paper" });
        let planner = ("planner", if basic { "basic" } else { "variables" });
        let inspects = ("inspect", inspect);
        let refused = |with_more: bool| {
            let mut policy = make("fides", &[profile, planner, inspects]);
            let mut scene = Scene::new();
            if authorised {
                scene.world.authorize("send", "bob", &[]);
            }
            let sources = [scene.note, scene.plan];
            for &(agent, source) in &first {
                scene.observe(&mut *policy, agent, sources[source as usize]);
            }
            if with_more {
                let note = scene.note;
                scene.observe(&mut *policy, more, note);
            }
            let call = scene.send(to, "hello");
            let rule = scene.rule(&mut *policy, call);
            rule.contains("block")
        };
        prop_assert!(!refused(false) || refused(true));
    }
}
