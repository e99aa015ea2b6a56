use std::sync::Arc;

use worlds::spec::Stage;

use super::*;
use crate::fixture::{registry, scenario};
use crate::plan::{PlannedScenario, file};

const TEXT: &str = r#"Study(
    schema: 1, name: "tests", study_seed: 7,
    worlds: ["some/where/a.ron"],
    policies: ["none", "block"],
    seeds: [1, 2],
    denominator_policies: ["none"],
)"#;

fn plan_of(text: &str, configuration: &str, change: impl Fn(&mut PlannedScenario)) -> Plan {
    let mut planned = PlannedScenario {
        scenario: Arc::new(scenario(Stage::Clean)),
        configuration: configuration.into(),
        group: "all".into(),
    };
    change(&mut planned);
    Plan::new(
        file::load(text, "tests.ron").unwrap(),
        vec![planned],
        &registry(),
    )
    .unwrap()
}

fn manifest_of(text: &str) -> Manifest {
    Manifest::freeze(&plan_of(text, "final", |_| ()))
}

fn manifest() -> Manifest {
    manifest_of(TEXT)
}

#[test]
fn a_manifest_survives_json() {
    let mut manifest = manifest();
    manifest.circumstances.study_file = Some("some/where/tests.ron".into());
    assert_eq!(Manifest::from_json(&manifest.to_json()).unwrap(), manifest);
}

#[test]
fn circumstances_are_not_part_of_the_digest() {
    let elsewhere = manifest_of(&TEXT.replace("some/where/", "else/where/"));
    assert_ne!(elsewhere.circumstances, manifest().circumstances);
    assert_eq!(elsewhere.digest, manifest().digest);
    let commented = manifest_of(&TEXT.replace("seeds:", "/* why */ seeds:"));
    assert_eq!(commented.digest, manifest().digest);
    assert!(
        !serde_json::to_string(&manifest().frozen)
            .unwrap()
            .contains("where")
    );
}

/// A result is the same whenever it is made, so nothing in it tells the time.
#[test]
fn circumstances_are_files_workers_and_the_digest_of_the_rows() {
    let json = serde_json::to_value(manifest().circumstances).unwrap();
    let names: Vec<_> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "study_file",
            "world_files",
            "model_files",
            "workers",
            "rows_digest",
            "scenarios_digest"
        ]
    );
}

#[test]
fn whatever_decides_a_row_is_part_of_the_digest() {
    let changes = [
        TEXT.replace("tests", "others"),
        TEXT.replace("study_seed: 7", "study_seed: 8"),
        TEXT.replace("[1, 2]", "[2, 1]"),
        TEXT.replace("[1, 2]", "[1, 3]"),
        TEXT.replace("[\"none\", \"block\"]", "[\"block\", \"none\"]"),
        TEXT.replace(
            "denominator_policies: [\"none\"]",
            "denominator_policies: [\"block\"]",
        ),
        TEXT.replace("seeds:", "user: Oracle, seeds:"),
        TEXT.replace("seeds:", "instrumentation: Full, seeds:"),
    ];
    let mut digests: Vec<Hash> = changes
        .iter()
        .map(|text| manifest_of(text).digest)
        .collect();
    digests.push(manifest().digest);
    digests.push(Manifest::freeze(&plan_of(TEXT, "final\nfinal", |_| ())).digest);
    let other_content = plan_of(TEXT, "final", |planned| {
        Arc::make_mut(&mut planned.scenario).content_hash = 8;
    });
    digests.push(Manifest::freeze(&other_content).digest);
    let distinct: std::collections::BTreeSet<_> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
}

#[test]
fn a_manifest_changed_by_hand_is_refused() {
    let changed = manifest()
        .to_json()
        .replace("\"study_seed\": 7", "\"study_seed\": 8");
    let error = Manifest::from_json(&changed).unwrap_err();
    assert!(matches!(error, ManifestError::Digest { .. }), "{error}");
    let other = manifest()
        .to_json()
        .replacen("\"schema\": 4", "\"schema\": 3", 1);
    let message = Manifest::from_json(&other).unwrap_err().to_string();
    assert_eq!(
        message,
        "the manifest has schema 3, this build reads schema 4"
    );
    let more = manifest()
        .to_json()
        .replacen("\"frozen\"", "\"more\": 1, \"frozen\"", 1);
    assert!(matches!(
        Manifest::from_json(&more),
        Err(ManifestError::Damaged(_))
    ));
    assert!(matches!(
        Manifest::from_json("{"),
        Err(ManifestError::Damaged(_))
    ));
}

#[test]
fn scenario_lines_say_which_and_what() {
    let lines = scenario_lines(&plan_of(TEXT, "final", |_| ()));
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].scenario_id, "fixture");
    assert_eq!(lines[0].untrusted, ["note:partner", "contact_alias"]);
    assert_eq!(lines[0].memory, "persistent");
}

/// So the shards of a study are known by one digest, and a whole result is written as ever.
#[test]
fn which_shard_it_is_is_no_part_of_the_digest() {
    let mut plan = plan_of(TEXT, "final", |_| ());
    plan.shard = Some("2/3".parse().unwrap());
    let shard = Manifest::freeze(&plan);
    assert_eq!(shard.digest, manifest().digest);
    let text = shard.to_json();
    assert!(text.contains("\"shard\": \"2/3\""), "{text}");
    assert_eq!(Manifest::from_json(&text), Ok(shard));
    assert!(!manifest().to_json().contains("shard"));
    let wrong = text.replace("2/3", "4/3");
    let refused = Manifest::from_json(&wrong);
    assert!(matches!(refused, Err(ManifestError::Damaged(_))));
}

#[test]
fn a_policy_is_found_in_compositions_and_not_in_longer_names() {
    for name in [
        "process:guard",
        "strictest(none,process:guard)",
        "priority(1:process:guard,2:none)",
    ] {
        assert!(mentions(name, "process:guard"), "{name}");
    }
    for name in [
        "process:guard_v2",
        "rules:guard",
        "strictest(process:guards,none)",
    ] {
        assert!(!mentions(name, "process:guard"), "{name}");
    }
}
