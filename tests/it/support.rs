//! What several tests need: the shipped worlds, and a rollout with its numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use containment_bench::bench::setting;
use containment_bench::{Bench, Scene};
use engine::{Rollout, Setting};
use plugins::setting::Instrumentation;
use study::columns::{Cell, Columns};
use study::metrics::{Finished, Metrics, measure};

/// Every built-in policy.
pub(crate) const POLICIES: [&str; 8] = [
    "none",
    "prompt_only",
    "structured_guard",
    "tool_boundary",
    "taint_only_v1",
    "intent_ledger_v2",
    "rollback_v2",
    "cross_agent_taint_firewall",
];

/// The folder of the project.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The scene whose world file is `path`, relative to the project; its script lies beside it.
pub(crate) fn scene(path: &str) -> Scene {
    let path = root().join(path);
    let world = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let script = std::fs::read_to_string(path.with_extension("script.ron"))
        .expect("a script lies beside every shipped world");
    let identity = path
        .file_stem()
        .expect("a file name")
        .to_string_lossy()
        .into_owned();
    Scene::parse(&world, &script, &identity)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every shipped world: those in `worlds/demos` and `worlds/topologies`, by path.
pub(crate) fn shipped() -> Vec<(String, Scene)> {
    let mut paths = Vec::new();
    for folder in ["worlds/demos", "worlds/topologies"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("the shipped worlds") {
            let path = entry.expect("a readable folder").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            if name.ends_with(".ron") && !name.ends_with(".script.ron") {
                paths.push(Path::new(folder).join(name).to_string_lossy().into_owned());
            }
        }
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let scene = scene(&path);
            (path, scene)
        })
        .collect()
}

/// A rollout under the built-in plugins that is about to begin.
pub(crate) fn start(scene: &Scene, policy: &str, setting: &Setting) -> Rollout {
    let bench = Bench::built_in();
    let plugins = bench
        .plugins(scene, &policy.into(), &"scripted".into())
        .expect("built-in plugins");
    Rollout::new(&scene.scenario, plugins, setting)
}

/// The numbers of a rollout that has ended.
pub(crate) fn numbers(rollout: &Rollout, instrumentation: Instrumentation) -> Metrics {
    measure(&Finished {
        scenario: rollout.scenario(),
        trace: rollout.trace(),
        labels: rollout.labels(),
        instrumentation,
        outcome: rollout.outcome().expect("the rollout has ended"),
    })
}

/// Runs one rollout; its numbers.
pub(crate) fn run(scene: &Scene, policy: &str, seed: u64) -> Metrics {
    let mut rollout = start(scene, policy, &setting(scene, seed));
    rollout.run();
    numbers(&rollout, Instrumentation::PAPER)
}

/// The columns of some numbers as text, by name; null is empty.
pub(crate) fn columns(metrics: &Metrics) -> BTreeMap<String, String> {
    let (mut names, mut cells) = (Vec::new(), Vec::new());
    Metrics::columns(&mut names);
    metrics.write(&mut cells);
    names
        .iter()
        .map(|column| column.name().into_owned())
        .zip(cells.iter().map(Cell::to_string))
        .collect()
}

/// Asserts columns: `name value` pairs, a ratio as `numerator/denominator`, null as `-`.
pub(crate) fn expect(metrics: &Metrics, what: &str, expected: &str) {
    let columns = columns(metrics);
    for pair in expected
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty())
    {
        let (name, value) = pair.split_once(' ').expect("name and value");
        let get = |name: &str| {
            columns
                .get(name)
                .unwrap_or_else(|| panic!("no column {name}"))
                .clone()
        };
        let found = if value.contains('/') {
            format!(
                "{}/{}",
                get(&format!("{name}_numerator")),
                get(&format!("{name}_denominator"))
            )
        } else {
            get(name)
        };
        let found = if found.is_empty() {
            "-".to_owned()
        } else {
            found
        };
        assert_eq!(found, value, "{what}: {name}");
    }
}
