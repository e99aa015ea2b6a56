//! Results made by hand, for the tests of this crate.

use std::sync::Arc;

use plugins::registry::BUILT_IN;
use study::columns::Hash;
use study::manifest::{
    Circumstances, Frozen, FrozenPolicy, FrozenScenario, Manifest, NamedHash, Versions,
};
use study::metrics::Metrics;
use study::ratio::Ratio;
use study::results::Results;
use study::row::{Identity, ROW_SCHEMA, Row, Shadowed};
use worlds::spec::{Domain, Stage};

/// The policies of a made result.
pub(crate) const POLICIES: [&str; 2] = ["none", "tool_boundary"];

/// A rollout: scenario, seed, policy, and what is set in its numbers.
pub(crate) struct Made {
    pub(crate) scenario: &'static str,
    pub(crate) seed: u64,
    pub(crate) policy: &'static str,
    pub(crate) harm: bool,
    pub(crate) labelled: u32,
    pub(crate) region: u32,
}

/// A row of the security stage.
pub(crate) fn row(made: &Made) -> Row {
    let mut metrics = Metrics::default();
    metrics.endpoints.committed_harm = Some(made.harm);
    metrics.endpoints.wrong_recipient_rate = Some(made.harm);
    metrics.endpoints.secret_leakage = Some(false);
    metrics.propagation.blast_radius_norm = Some(Ratio::clipped(made.labelled, made.region));
    metrics.propagation.blast_radius_raw = Some(made.labelled);
    metrics.propagation.region_nodes = Some(made.region);
    metrics.utility.benign_completion = Some(true);
    metrics.parsing.parse_failure_rate = Ratio::of(0, 4);
    metrics.parsing.valid_actions = Some(4);
    let hash = Hash(7);
    let identity = Identity {
        schema: ROW_SCHEMA,
        rollout_id: hash,
        scenario_id: made.scenario.into(),
        scenario_hash: hash,
        family: made.scenario.split('/').next().unwrap_or_default().into(),
        stage: Stage::Security,
        domain: Domain::Email,
        topology: "single".into(),
        memory: "none".into(),
        policy: made.policy.into(),
        policy_hash: hash,
        policy_kind: BUILT_IN.into(),
        policy_version: 1,
        policy_content: None,
        model: "scripted".into(),
        profile_hash: hash,
        instrumentation: "paper".into(),
        user: "absent".into(),
        study_seed: 1,
        seed: made.seed,
        stratum: None,
        provider_seed_status: "keyed".into(),
        prestate_hash: hash,
        fork_event: None,
        fork_hash: None,
        trace_digest: hash,
        outcome: "completed".into(),
        failure: None,
        events: 1,
        nodes: made.region,
        edges: 0,
    };
    Row {
        identity,
        metrics: Arc::new(metrics),
        shadow: Shadowed::default(),
    }
}

/// A result with these rows.
pub(crate) fn results(rows: Vec<Row>) -> Results {
    let hash = Hash(7);
    let named = |name: &str| NamedHash {
        name: name.to_owned(),
        hash,
    };
    let mut scenarios: Vec<&str> = rows.iter().map(|row| &*row.identity.scenario_id).collect();
    scenarios.dedup();
    let mut seeds: Vec<u64> = rows.iter().map(|row| row.identity.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let scenario = |id: &&str| FrozenScenario {
        id: (*id).to_owned(),
        hash,
        configuration_hash: hash,
        group: None,
    };
    let frozen = Frozen {
        name: "made".to_owned(),
        study_seed: 1,
        seeds,
        instrumentation: plugins::setting::Instrumentation::PAPER,
        user: plugins::setting::User::Absent,
        latents: study::plan::file::Latents::Independent,
        denominator_policies: POLICIES.map(str::to_owned).to_vec(),
        policies: POLICIES
            .map(|name| FrozenPolicy {
                name: name.to_owned(),
                hash,
                kind: BUILT_IN.to_owned(),
                version: 1,
                content_hash: None,
            })
            .to_vec(),
        shadow: None,
        models: vec![named("scripted")],
        parser: named("parser"),
        scenarios: scenarios.iter().map(scenario).collect(),
        rollouts: rows.len() as u64,
        rollout_ids: hash,
        versions: Versions {
            program: String::new(),
            study_schema: 1,
            row_schema: ROW_SCHEMA,
            rollout_id: 1,
        },
    };
    let manifest = Manifest {
        schema: study::manifest::MANIFEST_SCHEMA,
        digest: hash,
        frozen,
        circumstances: Circumstances::default(),
    };
    Results { manifest, rows }
}

/// Two scenarios of two families with two seeds. Without a defence the first commits harm with both
/// seeds and spreads to 6 of 8; under `tool_boundary` nothing commits, and it spreads to 4 of 8. The
/// second is the same under both.
pub(crate) fn two_scenarios() -> Results {
    let mut rows = Vec::new();
    for (scenario, is_followed) in [("obey/a", true), ("ignore/a", false)] {
        for seed in [1, 2] {
            for policy in POLICIES {
                let harm = is_followed && policy == "none";
                let labelled = match (is_followed, harm) {
                    (true, true) => 6,
                    (true, false) => 4,
                    (false, _) => 2,
                };
                rows.push(row(&Made {
                    scenario,
                    seed,
                    policy,
                    harm,
                    labelled,
                    region: 8,
                }));
            }
        }
    }
    results(rows)
}
