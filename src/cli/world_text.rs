//! The text of a world or family and of its script, from a file or from inside the program, and what
//! is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use containment_bench::Scene;
use models::scripted::{Script, ScriptError, Severity, World};
use plugins::ids::SourceId;
use worlds::Checked;
use worlds::diagnostic::MOST_PROBLEMS;
use worlds::family::Member;
use worlds::spec::{AfterSending, Scenario};

use super::codes::Code;
use super::failure::Failure;
use super::files::{self, MAX_SOURCE_BYTES};
use super::nearest;
use super::problem::{Complaint, Problem};
use super::shipped::{self, ShippedWorld};

/// A world as text, with the script beside it.
#[derive(Debug)]
pub(crate) struct WorldText {
    /// What messages call it.
    pub(crate) origin: String,
    /// Its file name without ending.
    pub(crate) identity: String,
    /// The text.
    pub(crate) text: String,
    /// The script.
    pub(crate) script: Beside,
    /// Whether it is inside the program rather than in a file of the user.
    pub(crate) is_inside: bool,
}

/// The script beside a world.
#[derive(Debug)]
pub(crate) enum Beside {
    /// A script.
    Script {
        /// What messages call it.
        origin: String,
        /// The text.
        text: String,
    },
    /// There is none; the path at which it would lie.
    Missing(String),
    /// There is something that cannot be read.
    Unreadable(Problem),
}

/// The world file at `path`, or the shipped world of that name. A file comes first.
pub(crate) fn find(path: &Path) -> Result<WorldText, Problem> {
    let name = files::shown(path);
    if !path.is_file()
        && let Some(world) = shipped::world(&name)
    {
        return Ok(world.into());
    }
    let text = files::text(path, MAX_SOURCE_BYTES)
        .map_err(|problem| problem.maybe_help(suggested_world(path)))?;
    let identity = path.file_stem().unwrap_or_default();
    let identity = identity.to_string_lossy().into_owned();
    require_plain(&identity, &name)?;
    Ok(WorldText {
        origin: name,
        identity,
        text,
        script: beside(path),
        is_inside: false,
    })
}

/// Fails if the name of a world holds what no text within it may: it stands in rows, tables and figures.
fn require_plain(identity: &str, origin: &str) -> Result<(), Problem> {
    let mark = worlds::marks(identity).into_iter().next();
    let what = mark.map(|mark| mark.what).or_else(|| {
        let control = identity.chars().find(|letter| letter.is_control())?;
        Some(format!("a control character: U+{:04X}", u32::from(control)))
    });
    let Some(what) = what else {
        return Ok(());
    };
    Err(Problem::new(format!("the name of the file holds {what}"))
        .code(Code::WrongFile)
        .file(origin)
        .help("rename it: the name of a world stands in every row of it"))
}

/// A world with its script, both without errors.
pub(crate) struct Loaded {
    /// The world and the script.
    pub(crate) scene: Scene,
    /// What is suspicious about them: warnings only.
    pub(crate) warnings: Vec<Complaint>,
}

impl WorldText {
    /// Checks the world.
    pub(crate) fn check(&self) -> Checked {
        worlds::check(&self.text, &self.origin, &self.identity)
    }

    /// The world with its script, both without errors.
    pub(crate) fn load(self) -> Result<Loaded, Failure> {
        let Checked { scenario, report } = self.check();
        let Some(scenario) = scenario else {
            return Err(report.into());
        };
        let (origin, script) = match self.script {
            Beside::Script { origin, text } => (origin, text),
            Beside::Missing(path) => return Err(missing_script(&path).into()),
            Beside::Unreadable(problem) => return Err(problem.into()),
        };
        let mut problems = script_problems(&origin, &script, Some(&scenario));
        if let Some(wrong) = problems.iter().position(Problem::is_error) {
            return Err(problems.swap_remove(wrong).into());
        }
        let report = (!report.is_empty()).then(|| Complaint::from(report));
        let problems = problems.into_iter().map(Complaint::from);
        let mut warnings: Vec<Complaint> = report.into_iter().chain(problems).collect();
        if self.is_inside {
            // What is wrong there is meant, and nobody could mend it. `check` tells it.
            warnings.clear();
        }
        Ok(Loaded {
            scene: Scene {
                scenario: Arc::new(scenario),
                script: script.into(),
            },
            warnings,
        })
    }
}

impl From<&ShippedWorld> for WorldText {
    fn from(world: &ShippedWorld) -> Self {
        Self {
            origin: world.path("ron"),
            identity: world.name.to_owned(),
            text: world.world.to_owned(),
            script: match world.script {
                Some(text) => Beside::Script {
                    origin: world.path("script.ron"),
                    text: text.to_owned(),
                },
                None => Beside::Missing(world.path("script.ron")),
            },
            is_inside: true,
        }
    }
}

/// What is wrong with a script; compared with its world if there is one.
pub(crate) fn script_problems(
    origin: &str,
    text: &str,
    scenario: Option<&Scenario>,
) -> Vec<Problem> {
    let found = script_findings(&Script::parse(text), text, scenario);
    found
        .into_iter()
        .map(|found| found.problem.at(origin, text, found.line, found.column))
        .collect()
}

/// What is wrong with the scripts of a family, at its places in the family file: what several members
/// have in common once.
pub(crate) fn family_script_problems(family: &WorldText, members: &[Member]) -> Vec<Problem> {
    let (origin, text) = (&family.origin, &family.text);
    let mut told = BTreeSet::new();
    let mut problems = Vec::new();
    // Many members differ in their worlds alone.
    let mut scripts = BTreeMap::new();
    for member in members {
        let Some(script) = &member.script else {
            continue;
        };
        let parsed = scripts
            .entry(script.text())
            .or_insert_with(|| Script::parse(script.text()));
        for found in script_findings(parsed, script.text(), Some(&member.scenario)) {
            let (line, column) = script.place(text, found.line, found.column);
            if told.len() < MOST_PROBLEMS && told.insert((line, column)) {
                problems.push(found.problem.at(origin, text, line, column));
            }
        }
    }
    problems
}

/// A problem of a script, and where in its text.
struct ScriptFinding {
    problem: Problem,
    line: usize,
    column: usize,
}

fn script_findings(
    parsed: &Result<Script, ScriptError>,
    text: &str,
    scenario: Option<&Scenario>,
) -> Vec<ScriptFinding> {
    let script = match parsed {
        Ok(script) => script,
        Err(error) => {
            let problem = Problem::new(error.message.clone()).code(Code::ScriptSyntax);
            return vec![ScriptFinding {
                problem: problem.maybe_help(error.help.clone()),
                line: error.line,
                column: error.column,
            }];
        }
    };
    let findings = scenario.map(|scenario| script.check(text, &surroundings(scenario)));
    let findings = findings.into_iter().flatten();
    findings
        .map(|finding| {
            let problem = Problem::new(format!("{}: {}", finding.place, finding.message))
                .code(Code::ScriptNames)
                .help(finding.help);
            ScriptFinding {
                problem: match finding.severity {
                    Severity::Error => problem,
                    Severity::Warning => problem.warning(),
                },
                line: finding.line,
                column: finding.column,
            }
        })
        .collect()
}

/// The parts of a scenario that a script may name.
fn surroundings(scenario: &Scenario) -> World<'_> {
    let channels = scenario.channels.iter();
    let answering = channels
        .clone()
        .filter(|channel| channel.after == AfterSending::AwaitReply);
    let sources = scenario.sources.iter();
    World {
        briefing: &scenario.briefing,
        contents: sources.clone().map(|source| &*source.content).collect(),
        goals: scenario
            .episodes
            .iter()
            .map(|episode| episode.agent)
            .collect(),
        channels: channels.map(|channel| (channel.from, channel.to)).collect(),
        answers: answering
            .map(|channel| (channel.to, channel.from))
            .collect(),
        injected: sources
            .enumerate()
            .filter_map(|(id, source)| Some((SourceId::at(id), source.arrival?.to)))
            .collect(),
    }
}

/// The script beside the world at `path`.
fn beside(path: &Path) -> Beside {
    let path: PathBuf = path.with_extension("script.ron");
    let origin = files::shown(&path);
    if std::fs::symlink_metadata(&path).is_err() {
        return Beside::Missing(origin);
    }
    match files::text(&path, MAX_SOURCE_BYTES) {
        Ok(text) => Beside::Script { origin, text },
        Err(problem) => Beside::Unreadable(problem),
    }
}

fn missing_script(path: &str) -> Problem {
    Problem::new(format!("the script `{path}` does not exist"))
        .code(Code::Unreadable)
        .file(path)
        .help("it says what the agents do; with `Script(agents: {})` in it they only answer `done`")
}

/// A help line if `path` is the name of a world that does not exist, rather than a path.
fn suggested_world(path: &Path) -> Option<String> {
    let name = files::shown(path);
    if path.exists() || name.contains(['/', '.']) {
        return None;
    }
    let known = || shipped::WORLDS.iter().map(|world| world.name);
    let begun: Vec<&str> = known().filter(|known| known.starts_with(&name)).collect();
    if let [only] = begun.as_slice() {
        return Some(format!("did you mean `{only}`?"));
    }
    let general = "write the path of a world file, or a name from `containment list worlds`";
    nearest::suggestion(&name, known()).or_else(|| Some(general.to_owned()))
}
