use worlds::spec::Stage;

use super::*;
use crate::fixture::{registry, scenario};

const TEXT: &str = r#"Study(
    schema: 1, name: "tests", study_seed: 7,
    worlds: ["a.ron", "b.ron"],
    policies: ["none", "block"],
    seeds: [5, 3, 4],
    denominator_policies: ["none"],
)"#;

fn planned(identity: &str, configuration: &str) -> PlannedScenario {
    let mut scenario = scenario(Stage::Clean);
    scenario.identity = identity.into();
    PlannedScenario {
        scenario: Arc::new(scenario),
        configuration: configuration.into(),
        group: "all".into(),
    }
}

fn plan_of(text: &str, scenarios: Vec<PlannedScenario>) -> Result<Plan, PlanError> {
    Plan::new(
        file::load(text, "tests.ron").unwrap(),
        scenarios,
        &registry(),
    )
}

fn plan() -> Plan {
    plan_of(TEXT, vec![planned("a", ""), planned("b", "final")]).unwrap()
}

#[test]
fn the_order_is_scenario_then_seed_then_policy() {
    let plan = plan();
    let groups: Vec<_> = plan
        .groups()
        .map(|group| (group.scenario, group.seed))
        .collect();
    assert_eq!(groups, [(0, 5), (0, 3), (0, 4), (1, 5), (1, 3), (1, 4)]);
    assert!(plan.groups().map(|group| group.index).eq(0..6));
    assert_eq!(plan.rollouts(), 12);
    let fields = plan.fields(plan.groups().nth(4).unwrap(), 1);
    assert_eq!(
        (&*fields.scenario, &*fields.policy, fields.seed),
        ("b", "block", 3)
    );
    assert_eq!(
        &*plan.key(plan.groups().nth(4).unwrap()).scenario_identity,
        "b"
    );
}

#[test]
fn models_come_between_scenarios_and_seeds() {
    let models = TEXT.replace("seeds:", "models: [\"understudy\", \"scripted\"], seeds:");
    let plan = plan_of(&models, vec![planned("a", ""), planned("b", "")]).unwrap();
    assert_eq!(plan.rollouts(), 24);
    let told: Vec<_> = plan
        .groups()
        .skip(2)
        .take(5)
        .map(|group| {
            let fields = plan.fields(group, 0);
            (fields.scenario, fields.model, fields.seed)
        })
        .collect();
    let expected = [
        ("a", "understudy", 4),
        ("a", "scripted", 5),
        ("a", "scripted", 3),
        ("a", "scripted", 4),
        ("b", "understudy", 5),
    ];
    let expected = expected.map(|(scenario, model, seed)| (scenario.into(), model.into(), seed));
    assert_eq!(told, expected);
}

/// The script is part of what the model is, and its hash part of the rollout's identity.
#[test]
fn another_script_is_another_rollout() {
    let id = |configuration: &str| {
        let scenarios = vec![planned("a", configuration), planned("b", "")];
        let plan = plan_of(TEXT, scenarios).unwrap();
        let group = plan.groups().next().unwrap();
        plan.fields(group, 0).id()
    };
    assert_eq!(id("final"), id("final"));
    assert_ne!(id("final"), id("final later"));
}

#[test]
fn unknown_plugins_are_told_at_their_place() {
    let text = TEXT
        .replace("\"block\"", "\"blok\"")
        .replace("seeds:", "models: [\"x\"], seeds:");
    let error = plan_of(&text, vec![planned("a", ""), planned("b", "")]).unwrap_err();
    let PlanError::File(report) = error else {
        panic!("{error}");
    };
    let told: Vec<_> = report
        .problems()
        .iter()
        .map(|problem| {
            (
                problem.code.id(),
                problem.line,
                problem.column,
                &*problem.message,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("S014", 4, 24, "no policy is called `blok`"),
            ("S015", 5, 14, "no model is called `x`"),
        ]
    );
    assert_eq!(
        report.problems()[0].help.as_deref(),
        Some("did you mean `block`?")
    );
    assert_eq!(
        report.problems()[1].help.as_deref(),
        Some("there is: `scripted`, `understudy`")
    );
}

#[test]
fn a_registry_without_parser_is_told() {
    let mut registry = registry();
    registry.parsers = Registry::new().parsers;
    let study = file::load(TEXT, "tests.ron").unwrap();
    let error = Plan::new(study, vec![planned("a", ""), planned("b", "")], &registry).unwrap_err();
    assert!(matches!(error, PlanError::File(report) if report.problems()[0].code.id() == "S016"));
}

#[test]
fn a_script_that_the_model_refuses_is_told_with_its_scenario() {
    let error = plan_of(TEXT, vec![planned("a", ""), planned("b", "broken")]).unwrap_err();
    let expected = "model `scripted` cannot play `b`: 1:1: the script is broken";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn two_rollouts_of_one_id_are_refused() {
    assert!(require_different(&[Hash(3), Hash(1), Hash(2)]).is_ok());
    let error = require_different(&[Hash(3), Hash(1), Hash(2), Hash(1)]).unwrap_err();
    assert!(matches!(error, PlanError::SameRollout(Hash(1))), "{error}");
}

#[test]
fn two_scenarios_of_one_name_are_refused() {
    let error = plan_of(TEXT, vec![planned("a", ""), planned("a", "final")]).unwrap_err();
    let expected =
        "two worlds of the study are called `a`: name it once, or rename one of the files";
    assert_eq!(error.to_string(), expected);
}

/// A family is one name in the file and many worlds.
#[test]
fn a_study_of_too_many_worlds_is_refused() {
    let rollouts_of_one = plan_of(TEXT, vec![planned("a", "")]).unwrap().rollouts();
    let count = MAX_ROLLOUTS / rollouts_of_one + 1;
    let worlds = (0..count).map(|world| planned(&format!("a{world}"), ""));
    let error = plan_of(TEXT, worlds.collect()).unwrap_err();
    assert!(matches!(error, PlanError::TooLarge(_)), "{error}");
}

#[test]
fn a_report_renders_with_its_source() {
    let report = file::load(&TEXT.replace("schema: 1", "schema: 9"), "tests.ron").unwrap_err();
    let shown = format!("{:?}", miette::Report::new(report));
    assert!(shown.contains("tests.ron"), "{shown}");
    assert!(
        shown.contains("version 9 of the grammar is not supported"),
        "{shown}"
    );
}

#[test]
fn strata_cover_the_scenarios_of_a_file_with_every_seed() {
    let text = TEXT.replace("seeds:", "latents: Stratified, seeds:");
    let mut other = planned("b", "");
    other.group = "alone".into();
    let scenarios = vec![planned("a", ""), other, planned("c", "")];
    let plan = plan_of(&text, scenarios.clone()).unwrap();
    let written: Vec<String> = plan
        .groups()
        .map(|group| plan.key(group).stratum.unwrap().to_string())
        .collect();
    let expected = [
        "all:0/2:0/3",
        "all:0/2:1/3",
        "all:0/2:2/3",
        "alone:0/1:0/3",
        "alone:0/1:1/3",
        "alone:0/1:2/3",
        "all:1/2:0/3",
        "all:1/2:1/3",
        "all:1/2:2/3",
    ];
    assert_eq!(written, expected);
    // The place is part of the id; without strata there is none.
    let plain = plan_of(TEXT, scenarios).unwrap();
    let group = plain.groups().next().unwrap();
    assert_eq!(plain.key(group).stratum, None);
    assert_ne!(plan.fields(group, 0).id(), plain.fields(group, 0).id());
}
