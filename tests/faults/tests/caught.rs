//! The oracle notices every fault in `faults.txt`, and nothing where there is none.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faults::export::jsonl;
use faults::fault::switch_on;
use faults::table::Fault;
use faults::{Plugins, Rollout, Setting};
use models::parser::AppendixIParser;
use oracle::generate::WorldSeed;
use oracle::interpreter;
use oracle::json::Heading;
use plugins::draws::RolloutKey;
use plugins::model::ModelBackend;
use plugins::policy::Policy;
use plugins::registry::Registry;
use plugins::setting::{Instrumentation, User};
use plugins::trace::Outcome;
use worlds::spec::Scenario;

/// How many random worlds a fault may take, before the shipped ones.
const RANDOM_WORLDS: usize = 5_000;

/// How many random worlds are compared without a fault.
const SOUND_WORLDS: u64 = 300;

const POLICIES: [&str; 5] = [
    "none",
    "tool_boundary",
    "taint_only_v1",
    "intent_ledger_v2",
    "rollback_v2",
];

type Minds = (Box<dyn Policy>, Box<dyn ModelBackend>);

/// One rollout as the oracle plays it.
struct Case {
    scenario: Arc<Scenario>,
    setting: Setting,
    minds: Box<dyn Fn() -> Minds>,
    expected: String,
    outcome: Outcome,
}

impl Case {
    fn new(
        scenario: Arc<Scenario>,
        setting: interpreter::Setting,
        minds: Box<dyn Fn() -> Minds>,
    ) -> Self {
        let (mut policy, mut model) = minds();
        let history = interpreter::run(
            &scenario,
            &mut *policy,
            &mut *model,
            &AppendixIParser,
            &setting,
        );
        let heading = Heading {
            policy: "p",
            model: "m",
            redacted: false,
        };
        let expected = oracle::json::render(&history, &scenario, &setting, heading);
        let interpreter::Setting {
            key,
            instrumentation,
            user,
        } = setting;
        Self {
            scenario,
            setting: Setting {
                key,
                instrumentation,
                user,
            },
            minds,
            expected,
            outcome: history.outcome,
        }
    }

    fn random(seed: WorldSeed) -> Self {
        let minds = move || -> Minds { (Box::new(seed.policy()), Box::new(seed.model())) };
        Self::new(Arc::new(seed.scenario()), seed.setting(), Box::new(minds))
    }

    /// Plays the case in `world`, which is reused from case to case; the first line, or the outcome,
    /// that is not the oracle's.
    fn difference(&self, world: &mut Option<Rollout>) -> Option<String> {
        let (policy, model) = (self.minds)();
        let plugins = Plugins {
            policy,
            policy_hash: 1,
            model,
            model_hash: 2,
            parser: Arc::new(AppendixIParser),
        };
        let rollout = match world {
            Some(rollout) => {
                rollout.restart(&self.scenario, plugins, &self.setting);
                rollout
            }
            None => world.insert(Rollout::new(&self.scenario, plugins, &self.setting)),
        };
        let outcome = rollout.run().clone();
        let header = jsonl::Header {
            scenario: &self.scenario,
            policy: "p",
            model: "m",
            setting: &self.setting,
            recipe: None,
        };
        let trace = jsonl::write(header, rollout.trace(), rollout.labels(), true);
        first_difference(&trace, &self.expected).or_else(|| {
            let differs = outcome != self.outcome;
            differs.then(|| format!("engine: {outcome:?}\noracle: {:?}", self.outcome))
        })
    }
}

fn first_difference(engine: &str, oracle: &str) -> Option<String> {
    let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let (mut left, mut right) = (engine.lines(), oracle.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (Some(a), Some(b)) if a == b || parse(a) == parse(b) => {}
            (a, b) => {
                let (a, b) = (a.unwrap_or("-"), b.unwrap_or("-"));
                return Some(format!("engine: {a}\noracle: {b}"));
            }
        }
    }
}

/// Every shipped world under every policy.
fn shipped() -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in ["demos", "topologies"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../worlds")
            .join(folder);
        let entries = fs::read_dir(&folder).expect("the shipped worlds");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("a readable folder").path())
            .filter(|path| path.to_string_lossy().ends_with(".script.ron"))
            .collect();
        paths.sort();
        for path in paths {
            cases.extend(POLICIES.map(|policy| case_of(&path, policy)));
        }
    }
    cases
}

/// The case of the world beside `script`.
fn case_of(script: &Path, policy: &'static str) -> Case {
    let identity = script.file_name().expect("a name").to_string_lossy();
    let identity = identity.trim_end_matches(".script.ron");
    let file = format!("{identity}.ron");
    let world = fs::read_to_string(script.with_file_name(&file)).expect("a world beside a script");
    let scenario = worlds::load(&world, &file, identity).expect("a shipped world");
    let script = fs::read_to_string(script).expect("a script");
    let mut registry = Registry::new();
    policies::register(&mut registry).expect("their names are distinct");
    models::register(&mut registry).expect("their names are distinct");
    let minds = move || -> Minds {
        let none = BTreeMap::new();
        let (parameters, _) = registry.policies.resolve(policy, &none).expect("built in");
        let (_, make) = registry.policies.find(policy).expect("built in");
        let policy = make(&parameters).expect("a policy with its defaults");
        let (parameters, _) = registry
            .models
            .resolve("scripted", &none)
            .expect("built in");
        let (_, prepare) = registry.models.find("scripted").expect("built in");
        let model = prepare(&parameters, &script).expect("a sound script");
        (policy, model.make())
    };
    let setting = interpreter::Setting {
        key: RolloutKey::new(1, scenario.identity.clone(), 1),
        instrumentation: Instrumentation::PAPER,
        user: User::Absent,
    };
    Case::new(Arc::new(scenario), setting, Box::new(minds))
}

/// Random worlds, then the shipped ones, as far as some fault has needed them.
#[derive(Default)]
struct Cases {
    random: Vec<Case>,
    shipped: Vec<Case>,
}

impl Cases {
    fn at(&mut self, position: usize) -> Option<&Case> {
        if position < RANDOM_WORLDS {
            if position == self.random.len() {
                self.random.push(Case::random(WorldSeed(position as u64)));
            }
            return self.random.get(position);
        }
        if self.shipped.is_empty() {
            self.shipped = shipped();
        }
        self.shipped.get(position - RANDOM_WORLDS)
    }
}

#[test]
fn without_a_fault_it_is_the_engine() {
    switch_on(0);
    let mut world = None;
    for seed in (0..SOUND_WORLDS).map(WorldSeed) {
        let difference = Case::random(seed).difference(&mut world);
        assert_eq!(difference, None, "{seed:?}");
    }
    for case in shipped() {
        let difference = case.difference(&mut world);
        assert_eq!(difference, None, "{}", case.scenario.identity);
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "how long each took is worth seeing")]
fn every_fault_is_caught() {
    let mut cases = Cases::default();
    let mut world = None;
    let mut survivors = Vec::new();
    for Fault { number, name, .. } in faults::table::read(include_str!("../faults.txt")) {
        let mut position = 0;
        let caught = loop {
            let Some(case) = cases.at(position) else {
                break false;
            };
            switch_on(number);
            let is_noticed = case.difference(&mut world).is_some();
            switch_on(0);
            if is_noticed {
                let without = case.difference(&mut world);
                assert_eq!(without, None, "case {position} differs without `{name}`");
                break true;
            }
            position += 1;
        };
        if caught {
            println!("{number:>3}  case {position:>4}  {name}");
        } else {
            survivors.push(name);
        }
    }
    assert!(
        survivors.is_empty(),
        "the oracle does not notice:\n{}",
        survivors.join("\n")
    );
}
