//! The engine against the oracle: an independent interpreter of `docs/SEMANTICS.md` that shares no
//! code with the engine's systems, trace building or metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use containment_bench::{Bench, Scene};
use engine::export::jsonl;
use engine::{Plugins, Rollout, Setting};
use oracle::generate::WorldSeed;
use oracle::json::Heading;
use oracle::numbers::Numbers;
use plugins::action::ActionParser;
use plugins::policy::Policy;
use plugins::trace::{Happening, LimitKind, Outcome};
use serde_json::Value;
use worlds::spec::Scenario;

use crate::support::{POLICIES, columns, numbers, shipped};

/// How many random worlds are compared: 2,000, or 10,000 with `CONTAINMENT_LONG_RUN` set.
fn random_worlds() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "only the number of worlds depends on it"
    )]
    let long = std::env::var_os("CONTAINMENT_LONG_RUN").is_some();
    if long { 10_000 } else { 2_000 }
}

/// The engine's setting as the oracle takes it.
fn oracle_setting(setting: &Setting) -> oracle::interpreter::Setting {
    oracle::interpreter::Setting {
        key: setting.key.clone(),
        instrumentation: setting.instrumentation,
        user: setting.user,
    }
}

fn engine_trace(rollout: &Rollout, setting: &Setting) -> String {
    let header = jsonl::Header {
        scenario: rollout.scenario(),
        policy: "p",
        model: "m",
        setting,
        recipe: None,
    };
    jsonl::write(header, rollout.trace(), rollout.labels(), true)
}

/// Compares two traces line by line; the first that differs.
fn first_difference(engine: &str, oracle: &str) -> Option<String> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).expect("a line of JSON");
    let (mut left, mut right) = (engine.lines(), oracle.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (Some(a), Some(b)) if parse(a) == parse(b) => {}
            (a, b) => {
                return Some(format!(
                    "engine: {}\noracle: {}",
                    a.unwrap_or("-"),
                    b.unwrap_or("-")
                ));
            }
        }
    }
}

fn untrusted_names(scenario: &Scenario) -> BTreeSet<String> {
    let briefing = &scenario.briefing;
    briefing
        .untrusted
        .iter()
        .map(|source| briefing.sources[source as usize].name.to_string())
        .collect()
}

/// The published counts of the study crate against those of petgraph over the JSON Lines.
fn same_numbers(rollout: &Rollout, setting: &Setting, trace: &str) -> Result<(), String> {
    let by_petgraph = Numbers::read(trace, &untrusted_names(rollout.scenario()))?;
    if let Some(violation) = by_petgraph.violations.first() {
        return Err(violation.clone());
    }
    if matches!(rollout.outcome(), Some(Outcome::Errored(_))) {
        return Ok(());
    }
    let ours = columns(&numbers(rollout, setting.instrumentation));
    let (labelled, region) = by_petgraph.blast_radius_norm;
    let expected = [
        ("blast_radius_norm_numerator", labelled),
        ("blast_radius_norm_denominator", region),
        ("blast_radius_raw", by_petgraph.blast_radius_raw),
        ("br_agent", by_petgraph.br_agent),
        ("br_message", by_petgraph.br_message),
        ("br_memory", by_petgraph.br_memory),
        ("br_tool", by_petgraph.br_tool),
        ("br_side_effect", by_petgraph.br_side_effect),
        ("br_source", by_petgraph.br_source),
        ("cascade_depth", by_petgraph.cascade_depth),
        ("br_out_of_region", by_petgraph.br_out_of_region),
    ];
    for (name, value) in expected {
        if ours[name] != value.to_string() {
            return Err(format!(
                "{name}: metrics say {}, petgraph says {value}",
                ours[name]
            ));
        }
    }
    Ok(())
}

/// What both play: a random world under a policy, with what the world's model says.
struct Match {
    seed: WorldSeed,
    scenario: Arc<Scenario>,
    parser: Arc<dyn ActionParser>,
}

impl Match {
    fn new(seed: WorldSeed) -> Self {
        Self {
            seed,
            scenario: Arc::new(seed.scenario()),
            parser: Bench::built_in().parser().expect("the built-in parser"),
        }
    }

    /// Plays it in both, the engine in `world`, which is reused from rollout to rollout: pools must
    /// not leak from one to the next.
    fn play(&self, world: &mut Option<Rollout>, policy: &dyn Fn() -> Box<dyn Policy>) {
        let oracles = self.seed.setting();
        let setting = Setting {
            key: oracles.key.clone(),
            instrumentation: oracles.instrumentation,
            user: oracles.user,
        };
        let plugins = Plugins {
            policy: policy(),
            policy_hash: 1,
            model: Box::new(self.seed.model()),
            model_hash: 2,
            parser: Arc::clone(&self.parser),
        };
        let rollout = match world {
            Some(rollout) => {
                rollout.restart(&self.scenario, plugins, &setting);
                rollout
            }
            None => world.insert(Rollout::new(&self.scenario, plugins, &setting)),
        };
        rollout.run();
        let history = oracle::interpreter::run(
            &self.scenario,
            &mut *policy(),
            &mut self.seed.model(),
            &*self.parser,
            &oracles,
        );
        let trace = engine_trace(rollout, &setting);
        let heading = Heading {
            policy: "p",
            model: "m",
            redacted: false,
        };
        let expected = oracle::json::render(&history, &self.scenario, &oracles, heading);
        let seed = self.seed;
        if let Some(difference) = first_difference(&trace, &expected) {
            panic!("{seed:?}\n{difference}");
        }
        if let Err(problem) = same_numbers(rollout, &setting, &trace) {
            panic!("{seed:?}: {problem}");
        }
    }
}

/// Each world under a random policy, which returns every verdict, and under a built-in one.
#[test]
fn engine_equals_oracle_on_random_worlds() {
    let bench = Bench::built_in();
    let built_in = |name: &str| {
        let policies = &bench.registry.policies;
        let (parameters, _) = policies.resolve(name, &BTreeMap::new()).expect("built in");
        let (_, make) = policies.find(name).expect("built in");
        make(&parameters).expect("a policy with its defaults")
    };
    let mut world = None;
    for (seed, name) in (0..random_worlds()).zip(POLICIES.iter().cycle()) {
        let play = Match::new(WorldSeed(seed));
        play.play(&mut world, &|| Box::new(WorldSeed(seed).policy()));
        play.play(&mut world, &|| built_in(name));
    }
}

/// A read that the policy answers itself is a read: what was discarded before it is no longer the
/// last. The engine forgot that.
#[test]
fn disagreement_a_simulated_read_follows_a_discarded_one() {
    let seed = WorldSeed(7637);
    Match::new(seed).play(&mut None, &|| Box::new(seed.policy()));
}

/// Plays a scene in both under the scripted model. They must agree; the engine's rollout.
fn play_scene(name: &str, scene: &Scene, policy: &str, seed: u64) -> Rollout {
    let bench = Bench::built_in();
    let setting = containment_bench::bench::setting(scene, seed);
    let make = || {
        bench
            .plugins(scene, &policy.into(), &"scripted".into())
            .expect("built-in plugins")
    };
    let mut rollout = Rollout::new(&scene.scenario, make(), &setting);
    rollout.run();
    let Plugins {
        mut policy,
        mut model,
        parser,
        ..
    } = make();
    let oracles = oracle_setting(&setting);
    let history = oracle::interpreter::run(
        &scene.scenario,
        &mut *policy,
        &mut *model,
        &*parser,
        &oracles,
    );
    let trace = engine_trace(&rollout, &setting);
    let heading = Heading {
        policy: "p",
        model: "m",
        redacted: false,
    };
    let expected = oracle::json::render(&history, &scene.scenario, &oracles, heading);
    assert_eq!(first_difference(&trace, &expected), None, "{name}");
    same_numbers(&rollout, &setting, &trace).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    rollout
}

#[test]
fn engine_equals_oracle_on_shipped_worlds() {
    for (path, scene) in shipped() {
        for policy in POLICIES {
            for seed in 1..=3 {
                play_scene(&path, &scene, policy, seed);
            }
        }
    }
}

/// Plays a world in which the agents say this again and again. How often something happened before
/// the text of the rollout was above its 16 MiB (`docs/SEMANTICS.md`, section 5).
fn count_before_text_limit(world: &str, agents: &str, is_it: fn(&Happening) -> bool) -> usize {
    let script = format!("Script(agents: {{ {agents} }})");
    let scene = Scene::parse(world, &script, "text").unwrap_or_else(|error| panic!("{error}"));
    let rollout = play_scene("text", &scene, "none", 1);
    let expected = Outcome::LimitReached(LimitKind::Text);
    assert_eq!(rollout.outcome(), Some(&expected));
    let events = rollout.trace().events.iter();
    events.filter(|event| is_it(&event.what)).count()
}

/// A call of 50 bytes can refer to more than was ever said: each of these writes doubles the record.
/// A field of name `t` and value `x` counts 66. Write n refers to 2^n fields and stores as many, so
/// the sixteenth goes from 12.4 to 16.5 MiB when it stores.
#[test]
fn what_is_written_by_reference_counts_as_text() {
    let world = r#"World(schema: 1, stage: ActiveTainted, domain: Documents,
        agents: [(name: "a", tools: ["w"])], episodes: [(goal: "Go go")],
        memory: [(name: "m", mode: Persistent, records: [
            (key: "k", trust: Untrusted, fields: {"t": "x"})])],
        tools: [(name: "w", does: MemoryWrite("m"), arguments: [
            (name: "key", role: MemoryKey),
            (name: "one", role: Content, passing: Reference),
            (name: "two", role: Content, passing: Reference)])])"#;
    let say = r#"(say: Call("w", {
        "key": [Own("k")], "one": [Own("m/k")], "two": [Own("m/k")] })),"#;
    let agents = format!("\"a\": [{}]", say.repeat(40));
    let is_stored = |what: &Happening| matches!(what, Happening::Stored { .. });
    assert_eq!(count_before_text_limit(world, &agents, is_stored), 16);
}

/// What is read enters the context, and what is persisted is scheduled and stored, as often as it
/// happens. Each time counts 60,565 bytes; what is said is less than 50.
#[test]
fn what_is_read_and_persisted_counts_as_text() {
    let value = "x".repeat(60_500);
    let world = |store: &str| {
        format!(
            r#"World(schema: 1, stage: ActiveTainted, domain: Documents,
            agents: [(name: "a", tools: ["r"])], episodes: [(goal: "Go go")],
            limits: (turns: 1000), {store}
            sources: [(name: "doc:x", trust: Untrusted, fields: {{"t": "{value}"}})],
            tools: [(name: "r", does: ReadSource, arguments: [(name: "d", role: Document)])])"#
        )
    };
    let say = r#"(say: Call("r", { "d": [Own("doc:x")] })),"#;
    let agents = format!("\"a\": [{}]", say.repeat(400));
    let is_observed = |what: &Happening| matches!(what, Happening::Observed { .. });
    let observed = count_before_text_limit(&world(""), &agents, is_observed);
    assert_eq!(observed, 277);
    let store = r#"memory: [(name: "m", mode: Persistent, automatic: [(agent: "a")])],"#;
    let is_stored = |what: &Happening| matches!(what, Happening::Stored { .. });
    let stored = count_before_text_limit(&world(store), &agents, is_stored);
    assert_eq!(stored, 92);
}

/// A call whose referents take the text above the bound is not proposed.
#[test]
fn what_is_referred_to_counts_as_text() {
    let world = format!(
        r#"World(schema: 1, stage: ActiveTainted, domain: Documents,
        agents: [(name: "a", tools: ["s"])], episodes: [(goal: "Go go")],
        limits: (turns: 1000), sinks: [(name: "mail")],
        sources: [(name: "doc:x", trust: Untrusted, fields: {{"t": "{}"}})],
        tools: [(name: "s", does: Act, risk: Outbound, sink: "mail", target: Argument("to"),
            arguments: [(name: "to", role: Recipient),
                (name: "what", role: Content, passing: Reference)])])"#,
        "x".repeat(60_400)
    );
    let say = r#"(say: Call("s", { "to": [Own("p@t.local")], "what": [Own("doc:x")] })),"#;
    let agents = format!("\"a\": [{}]", say.repeat(400));
    let is_proposed = |what: &Happening| matches!(what, Happening::Proposed { .. });
    let proposed = count_before_text_limit(&world, &agents, is_proposed);
    assert_eq!(proposed, 277);
}

/// Two agents that copy each other: every hop counts 40,000 bytes as a completion, as a message and
/// as a segment.
#[test]
fn what_is_said_counts_as_text() {
    let world = r#"World(schema: 1, stage: Security, domain: Documents,
        agents: [(name: "a"), (name: "b")],
        channels: [(from: "a", to: "b"), (from: "b", to: "a")],
        episodes: [(goal: "Go go")], limits: (delegations: 1000, turns: 1000))"#;
    let own = "x".repeat(40_000);
    let copy = |from: &str| {
        let copy =
            format!(r#"(say: Delegate("{from}", {{ "t": [Copy("message:{from}", "t")] }})),"#);
        copy.repeat(100)
    };
    let agents = format!(
        r#""a": [(say: Delegate("b", {{ "t": [Own("{own}")] }})), {}], "b": [{}]"#,
        copy("b"),
        copy("a")
    );
    let is_sent = |what: &Happening| matches!(what, Happening::Sent { .. });
    assert_eq!(count_before_text_limit(world, &agents, is_sent), 140);
}

/// The oracle is worth something only as long as it is independent.
#[test]
fn oracle_imports_nothing_of_the_engine() {
    let folder = crate::support::root().join("tests/oracle");
    let manifest =
        std::fs::read_to_string(folder.join("Cargo.toml")).expect("the oracle's manifest");
    for forbidden in ["engine", "study", "bevy_ecs", "policies", "models"] {
        let depends = manifest
            .lines()
            .any(|line| line.split(['.', ' ', '=']).next() == Some(forbidden));
        assert!(
            !depends,
            "tests/oracle/Cargo.toml depends on {forbidden}: the oracle must stay independent"
        );
    }
    let mut folders = vec![folder.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the oracle's sources") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            for forbidden in ["engine::", "study::", "bevy_ecs", "include!"] {
                assert!(
                    !text.contains(forbidden),
                    "{}: uses `{forbidden}`",
                    path.display()
                );
            }
        }
    }
}
