use plugins::conformance::generate;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::label::LabelId;
use plugins::ledger::Condition;
use plugins::policy::Basis;
use plugins::predicate::matches;
use plugins::tool::{Operation, RiskClass, Role, Target};
use plugins::value::Value;
use serde_json::Value as Json;

use super::*;
use crate::desk::{assert_keeps_the_laws, decide, happen, make, try_make};
use plugins::ids::SourceId;

fn vectors() -> Json {
    serde_json::from_str(include_str!("../../vectors/progent.json")).unwrap()
}

/// Each vector says where its behaviour is published.
fn cases(of: &str) -> Vec<Json> {
    let vectors = vectors();
    let cases = vectors[of].as_array().unwrap().clone();
    assert!(
        cases
            .iter()
            .all(|case| case["source"].as_str().unwrap().ends_with('.'))
    );
    cases
}

#[test]
fn the_checker_decides_as_published() {
    for case in cases("checker") {
        let rules = read_rules(&case["rules"].to_string()).unwrap();
        let call = &case["call"];
        let arguments: Arguments = serde_json::from_value(call["arguments"].clone()).unwrap();
        let decision = rules.check(call["tool"].as_str().unwrap(), &arguments);
        let name = match decision {
            Decision::Allowed(_) => "allowed",
            Decision::Forbidden(_) => "forbidden",
            Decision::Unmatched(_) => "unmatched",
            Decision::UnknownTool => "unknown_tool",
        };
        assert_eq!(name, case["decision"], "{case}");
        let fallback = decision.fallback().map(|fallback| fallback as i64);
        assert_eq!(fallback, case["fallback"].as_i64(), "{case}");
    }
}

/// `read()` and `send(to)`, both called once.
fn desk(to: &str) -> (World, CallId, CallId) {
    let mut world = World::new();
    world.add_agent("assistant");
    let mut read = tool("read", RiskClass::Low, "note");
    read.operation = Operation::ReturnSource(SourceId(0));
    let read = world.add_tool(read);
    let mut send = tool("send", RiskClass::Outbound, "");
    send.arguments = vec![
        argument("to", Role::Recipient),
        argument("room", Role::Event),
    ];
    send.target = Target::Argument(0);
    let send = world.add_tool(send);
    let read = world.add_call(read, Vec::new());
    let to = given(0, Value::text(to), LabelId::BOTTOM);
    let send = world.add_call(send, vec![to]);
    (world, read, send)
}

#[test]
fn updates_apply_as_published() {
    for case in cases("updates") {
        let narrow = case["only_allow_narrow"].to_string();
        let (rules, updates) = (case["rules"].to_string(), case["updates"].to_string());
        let mut policy = make(
            "progent",
            &[
                ("generator", "none"),
                ("profile", case["profile"].as_str().unwrap()),
                ("only_allow_narrow", &narrow),
                ("rules", &rules),
                ("updates", &updates),
            ],
        );
        let (mut world, read, send) = desk(case["to"].as_str().unwrap());
        for _ in case["results"].as_array().unwrap() {
            happen(
                &mut world,
                Happening::Observed {
                    call: read,
                    kept: true,
                },
            );
        }
        let ruling = decide(&mut *policy, &world, send);
        assert_eq!(ruling.reason.rule, case["rule"].as_str().unwrap(), "{case}");
        assert_eq!(ruling.reason.basis, Basis::Assumed, "{case}");
    }
}

const WIDER: &str = r#"[{"after": "read", "rules": {"send": [[100, 0, {}, 0]]}}]"#;

#[test]
fn an_approval_lets_an_expanding_update_apply_and_a_denial_does_not() {
    for (answer, rule) in [
        (Answer::Approved, "progent_allow"),
        (Answer::Denied, "progent_confirm_expansion"),
        (Answer::Absent, "progent_confirm_expansion"),
    ] {
        let mut policy = make("progent", &[("updates", WIDER)]);
        let (mut world, read, send) = desk("eve");
        world.authorize("send", "ann", &[]);
        happen(
            &mut world,
            Happening::Observed {
                call: read,
                kept: true,
            },
        );
        let asked = decide(&mut *policy, &world, send);
        assert_eq!(asked.reason.rule, "progent_confirm_expansion");
        let subject = Subject::Call(send);
        happen(&mut world, Happening::Asked { subject, answer });
        let to = given(0, Value::text("eve"), LabelId::BOTTOM);
        let again = world.add_call(world.trace.calls[send.index()].tool, vec![to]);
        assert_eq!(
            decide(&mut *policy, &world, again).reason.rule,
            rule,
            "{answer:?}"
        );
    }
}

#[test]
fn what_is_waiting_and_what_was_asked_is_in_the_saved_state() {
    let mut policy = make("progent", &[("updates", WIDER)]);
    let (mut world, read, send) = desk("eve");
    world.authorize("send", "ann", &[]);
    happen(
        &mut world,
        Happening::Observed {
            call: read,
            kept: true,
        },
    );
    decide(&mut *policy, &world, send);
    let mut saved = Vec::new();
    policy.save(&mut saved);
    let (subject, answer) = (Subject::Call(send), Answer::Approved);
    happen(&mut world, Happening::Asked { subject, answer });
    let mut restored = make("progent", &[("updates", WIDER)]);
    restored.restore(&saved, restored.version()).unwrap();
    assert_eq!(
        decide(&mut *restored, &world, send).reason.rule,
        "progent_allow"
    );
}

#[test]
fn a_discarded_result_brings_no_update_about() {
    let mut policy = make("progent", &[("updates", WIDER), ("profile", "repository")]);
    let (mut world, read, send) = desk("eve");
    world.authorize("send", "ann", &[]);
    happen(
        &mut world,
        Happening::Observed {
            call: read,
            kept: false,
        },
    );
    let ruling = decide(&mut *policy, &world, send);
    assert_eq!(ruling.reason.rule, "progent_block_unmatched");
    assert_eq!(ruling.reason.fields, [DecidingField::Argument(0)]);
    assert_eq!(ruling.reason.evidence, [Evidence::LedgerEntry(0)]);
}

/// The oracle generator in random scenarios: what the ledger authorises is allowed, and what is
/// allowed beyond that leaves out an argument that the ledger wants.
#[test]
fn derived_rules_allow_what_the_ledger_authorises_and_else_only_where_an_argument_is_absent() {
    let (mut authorised, mut beyond, mut refused) = (0, 0, 0);
    for seed in 0..800 {
        let world = generate::random_world(seed);
        let mut policy = make("progent", &[]);
        for call in world.trace.calls.iter().map(|call| call.id) {
            let view = world.call_view(call);
            if !view.tool.high_risk() {
                let rule = decide(&mut *policy, &world, call).reason.rule;
                assert_eq!(rule, "progent_allow");
                continue;
            }
            let allowed = decide(&mut *policy, &world, call).verdict == ProposalVerdict::Allow;
            let ledger = &world.briefing.ledger;
            match (matches(view, ledger).is_some(), allowed) {
                (true, allowed) => {
                    assert!(allowed, "seed {seed}");
                    authorised += 1;
                }
                (false, false) => refused += 1,
                (false, true) => {
                    beyond += 1;
                    let entries = ledger.entries.iter();
                    let mut entries = entries.filter(|entry| entry.action == view.tool.name);
                    let lacks = entries.any(|entry| {
                        let wanted = entry.conditions.iter();
                        let mut wanted = wanted.filter(|(_, how)| *how != Condition::Absent);
                        let is_absent = |name: &str| {
                            let position = view.tool.argument(name);
                            position.is_none_or(|position| view.value(position).is_none())
                        };
                        wanted.any(|(name, _)| is_absent(name)) || view.target().is_none()
                    });
                    assert!(lacks, "seed {seed}");
                }
            }
        }
    }
    assert!(
        authorised > 50 && beyond > 5 && refused > 500,
        "{authorised} {beyond} {refused}"
    );
}

#[test]
fn without_a_generator_the_text_alone_decides() {
    let (mut world, read, send) = desk("ann");
    world.authorize("send", "ann", &[]);
    let mut nobody = make("progent", &[("generator", "none")]);
    let rule = decide(&mut *nobody, &world, read).reason.rule;
    assert_eq!(rule, "progent_block_unknown_tool");
    let text = r#"{"send": [[1, 1, {"to": {"const": "ann"}}, 2]]}"#;
    let mut people = make("progent", &[("generator", "none"), ("rules", text)]);
    let ruling = decide(&mut *people, &world, send);
    assert_eq!(ruling.reason.rule, "progent_confirm_forbidden");
    assert_eq!(ruling.reason.basis, Basis::Exact);
    // Beside the derived rules, a rule of a person is looked at first.
    let mut both = make("progent", &[("rules", text)]);
    assert_eq!(
        decide(&mut *both, &world, send).verdict,
        ProposalVerdict::Confirm
    );
    let mut derived = make("progent", &[]);
    assert_eq!(
        decide(&mut *derived, &world, send).verdict,
        ProposalVerdict::Allow
    );
}

#[test]
fn every_fallback_has_its_verdict() {
    let (world, _, send) = desk("ann");
    for (effect, fallback, rule) in [
        (0, 0, "progent_block_unmatched"),
        (0, 1, "progent_abort_unmatched"),
        (0, 2, "progent_confirm_unmatched"),
        (1, 0, "progent_block_forbidden"),
        (1, 1, "progent_abort_forbidden"),
        (1, 2, "progent_confirm_forbidden"),
    ] {
        let schema = if effect == 0 { "false" } else { "true" };
        let text = format!(r#"{{"send": [[1, {effect}, {{"to": {schema}}}, {fallback}]]}}"#);
        let mut policy = make("progent", &[("generator", "none"), ("rules", &text)]);
        assert_eq!(decide(&mut *policy, &world, send).reason.rule, rule);
    }
}

#[test]
fn a_wrong_text_is_refused_with_its_place() {
    for (parameter, text, says) in [
        ("rules", "{\n  \"send\": [[1, 0, {}, 0],]\n}", "line 2"),
        ("rules", r#"{"send": [[1, 2, {}, 0]]}"#, "/send/0/1"),
        (
            "rules",
            r#"{"send": [[1, 0, {"to": {"emun": []}}, 0]]}"#,
            "/send/0/2/to/emun",
        ),
        ("rules", r#"{"send": [[1, 0, {}]]}"#, "/send/0"),
        ("rules", r#"{"send": [[1, 0, {}, 0, {}]]}"#, "updates"),
        ("rules", r#"{"send": [[1, 0, {}, 3]]}"#, "/send/0/3"),
        ("rules", r#"{"send": {}}"#, "/send"),
        ("updates", r#"[{"after": "read"}]"#, "/0"),
        (
            "updates",
            r#"[{"after": "read", "rules": {"send": [[1, 0, {}, 0]]}}]"#,
            "/0/rules/send",
        ),
    ] {
        let Err(error) = try_make("progent", &[(parameter, text)]) else {
            panic!("{text} is accepted");
        };
        let error = error.to_string();
        assert!(error.contains(says) && error.contains(parameter), "{error}");
    }
}

#[test]
fn it_keeps_the_laws_under_every_setting() {
    let rules = r#"{"tool_1": [[1, 1, {"argument_0": {"pattern": "@external"}}, 2]]}"#;
    let updates = r#"[{"after": "tool_0", "rules": {"tool_1": [[100, 0, {}, 0]]}}]"#;
    for profile in ["paper", "repository"] {
        for generator in ["ledger", "none"] {
            for narrow in ["true", "false"] {
                assert_keeps_the_laws(
                    "progent",
                    &[
                        ("profile", profile),
                        ("generator", generator),
                        ("only_allow_narrow", narrow),
                        ("rules", rules),
                        ("updates", updates),
                    ],
                );
            }
        }
    }
}
