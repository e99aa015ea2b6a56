//! What several benchmarks are about: the main study.

use std::fs::read_to_string;
use std::path::Path;
use std::sync::Arc;

use containment_bench::Bench;
use plugins::registry::Registry;
use plugins::value::Text;
use study::plan::file::Study;
use study::plan::{Plan, PlannedScenario, file};
use worlds::family::{Member, load_family};

/// The main study and the worlds that it names.
pub(crate) struct Subject {
    study: Study,
    scenarios: Vec<PlannedScenario>,
    registry: Registry,
}

impl Subject {
    pub(crate) fn new() -> Self {
        let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds/studies");
        let text = read_to_string(studies.join("full_main.ron")).expect("the shipped study");
        let study = file::load(&text, "full_main.ron").expect("a sound study");
        let families = study.worlds.iter().map(|world| studies.join(&**world));
        Self {
            scenarios: families.flat_map(|family| scenarios(&family)).collect(),
            registry: Bench::built_in().registry,
            study,
        }
    }

    /// A plan of which nothing was read yet.
    pub(crate) fn plan(&self) -> Plan {
        let scenarios = self.scenarios.clone();
        Plan::new(self.study.clone(), scenarios, &self.registry).expect("a sound plan")
    }
}

/// The worlds of a family file, which share their strata.
fn scenarios(family: &Path) -> Vec<PlannedScenario> {
    let group = family.file_stem().expect("a file name").to_string_lossy();
    let group: Text = (*group).into();
    let text = read_to_string(family).expect("a shipped family");
    let members = load_family(&text, &group).expect("a shipped family has no mistakes");
    let planned = |member: Member| PlannedScenario {
        group: group.clone(),
        scenario: Arc::new(member.scenario),
        configuration: member.script.expect("each has a script").text().into(),
    };
    members.into_iter().map(planned).collect()
}
