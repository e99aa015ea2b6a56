//! `containment check`: what is wrong with world files and their scripts, and how far untrusted
//! content can get at most; what is wrong with other files that a user writes.

mod policy;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plugins::briefing::Briefing;
use serde_json::{Value, json};
use study::plan::Plan;
use worlds::Checked;
use worlds::family::{self, CheckedFamily};
use worlds::flow::{Exposure, exposure};
use worlds::spec::Scenario;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::families;
use crate::cli::files::{self, MAX_SOURCE_BYTES, STDIN};
use crate::cli::problem::{Complaint, Problem};
use crate::cli::profiles;
use crate::cli::shown;
use crate::cli::study::plans::{self, Changes, LoadedPlan};
use crate::cli::terminal::Terminal;
use crate::cli::world_text::{self, Beside, Loaded, WorldText};

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Results in words; problems go to standard error as `--error-format` says
    #[default]
    Text,
    /// One JSON document with everything, problems included
    Json,
}

/// The options of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// World files, `.script.ron` files beside their worlds, family files, behaviour profiles, study files,
    /// names of shipped worlds, `-` for a world on standard input, policies in Cedar or in rules, metrics
    /// in rules; policies are held against the worlds beside them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How results are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// What was found in one file and the script beside it.
#[derive(Default)]
struct Finding {
    file: String,
    complaints: Vec<Complaint>,
    scenario: Option<Scenario>,
    script: Option<String>,
    /// Where the script would lie that is missing.
    missing_script: Option<String>,
    study: Option<String>,
    family: Option<String>,
    profile: Option<String>,
    policy: Option<String>,
    unsupported: bool,
}

/// Checks every file and tells what was found.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let findings = check_all(&args.files);
    match args.format {
        Format::Json => {
            let files: Vec<Value> = findings.iter().map(Finding::json).collect();
            let document = json!({ "schema": 1, "files": files });
            terminal.print(&format!("{document:#}"))?;
        }
        Format::Text => {
            for finding in &findings {
                terminal.complain_all(&finding.complaints);
                terminal.print(&finding.text())?;
            }
        }
    }
    let worst = |unsupported| {
        let mut wrong = findings.iter().filter(|finding| finding.has_errors());
        wrong.any(|finding| finding.unsupported == unsupported)
    };
    Ok(if worst(false) {
        Exit::Invalid
    } else if worst(true) {
        Exit::UnsupportedVersion
    } else {
        Exit::Ok
    })
}

/// Checks each file; policies after the worlds, which they are held against.
fn check_all(paths: &[PathBuf]) -> Vec<Finding> {
    let texts: Vec<_> = paths.iter().map(|path| policy::find(path)).collect();
    let mut findings: Vec<Option<Finding>> = paths
        .iter()
        .zip(&texts)
        .map(|(path, text)| text.is_none().then(|| check(path)))
        .collect();
    let worlds: Vec<(String, Briefing)> = findings
        .iter()
        .flatten()
        .filter_map(|finding| {
            let scenario = finding.scenario.as_ref()?;
            Some((finding.file.clone(), scenario.briefing.clone()))
        })
        .collect();
    for ((path, text), finding) in paths.iter().zip(&texts).zip(&mut findings) {
        if let Some(text) = text {
            *finding = Some(policy::check(files::shown(path), text, &worlds));
        }
    }
    findings.into_iter().flatten().collect()
}

fn check(path: &Path) -> Finding {
    let file = files::shown(path);
    if let Some((family, identity)) = families::member_of(path) {
        return check_member(&family, &identity, file);
    }
    let found = if path == Path::new(STDIN) {
        standard_input()
    } else {
        world_text::find(&world_of(path))
    };
    match found {
        Ok(world) if path != Path::new(STDIN) && says(&world.text, "Study") => {
            check_study(path, file)
        }
        Ok(world) if says(&world.text, "Profile") => check_profile(&world, file),
        Ok(world) if family::is_family(&world.text) => check_family(&world, file),
        Ok(world) => check_world(world, file),
        Err(problem) => Finding {
            file,
            complaints: vec![problem.into()],
            ..Finding::default()
        },
    }
}

/// Whether a file says that it holds this.
fn says(text: &str, what: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("//"));
    first.is_some_and(|line| line.starts_with(what))
}

/// One world of a family.
fn check_member(family: &Path, identity: &str, file: String) -> Finding {
    match families::load(family, identity) {
        Ok(Loaded { scene, warnings }) => Finding {
            file,
            complaints: warnings,
            scenario: Some(Scenario::clone(&scene.scenario)),
            ..Finding::default()
        },
        Err(failure) => Finding {
            file,
            complaints: failure.complaints,
            unsupported: failure.exit == Exit::UnsupportedVersion,
            ..Finding::default()
        },
    }
}

/// A behaviour profile.
fn check_profile(text: &WorldText, file: String) -> Finding {
    let (complaint, profile) = match profiles::parse(&text.origin, &text.text) {
        Ok(profile) => (
            None,
            Some(format!(
                "profile of {}",
                shown::on_one_line(profile.model())
            )),
        ),
        Err(problem) => (Some(problem.into()), None),
    };
    Finding {
        file,
        complaints: complaint.into_iter().collect(),
        profile,
        unsupported: profiles::is_of_another_version(&text.text),
        ..Finding::default()
    }
}

fn check_study(path: &Path, file: String) -> Finding {
    match plans::load(Some(path), &Changes::default()) {
        Ok(LoadedPlan { plan, warnings, .. }) => Finding {
            file,
            complaints: warnings,
            study: Some(study_text(&plan)),
            ..Finding::default()
        },
        Err(failure) => Finding {
            file,
            complaints: failure.complaints,
            unsupported: failure.exit == Exit::UnsupportedVersion,
            ..Finding::default()
        },
    }
}

/// A family file: its members, and their scripts held against them.
fn check_family(world: &WorldText, file: String) -> Finding {
    let CheckedFamily { members, report } = family::check_family(&world.text, &world.origin);
    let unsupported = report.is_unsupported_version();
    let mut complaints = Vec::new();
    if !report.is_empty() {
        complaints.push(report.into());
    }
    let members = members.unwrap_or_default();
    let of_scripts = world_text::family_script_problems(world, &members);
    complaints.extend(of_scripts.into_iter().map(Complaint::from));
    let families: BTreeSet<&str> = members
        .iter()
        .map(|member| &*member.scenario.family)
        .collect();
    let summary = format!(
        "{} in {}",
        counted(members.len(), "world"),
        match families.len() {
            1 => "1 family".to_owned(),
            count => format!("{count} families"),
        }
    );
    Finding {
        file,
        complaints,
        family: (!members.is_empty()).then_some(summary),
        unsupported,
        ..Finding::default()
    }
}

/// How large a study is, in words.
fn study_text(plan: &Plan) -> String {
    let counts = [
        counted(plan.rollouts(), "rollout"),
        counted(plan.scenarios.len(), "world"),
        counted(plan.cast.models.len(), "model"),
        counted(plan.study.seeds.len(), "seed"),
    ];
    let policies: Vec<&str> = plan
        .cast
        .policies
        .iter()
        .map(|policy| &*policy.name)
        .collect();
    format!(
        "study {}: {}; policies {}",
        plan.study.name,
        counts.join(", "),
        policies.join(", ")
    )
}

/// The world to which a path belongs: a script is checked together with its world.
fn world_of(path: &Path) -> PathBuf {
    match path
        .to_str()
        .and_then(|text| text.strip_suffix(".script.ron"))
    {
        Some(stem) => PathBuf::from(format!("{stem}.ron")),
        None => path.to_owned(),
    }
}

fn standard_input() -> Result<WorldText, Problem> {
    Ok(WorldText {
        origin: "standard input".to_owned(),
        identity: "standard_input".to_owned(),
        text: files::text_or_stdin(Path::new(STDIN), MAX_SOURCE_BYTES)?,
        script: Beside::Missing(String::new()),
        is_inside: false,
    })
}

fn check_world(world: WorldText, file: String) -> Finding {
    let Checked { scenario, report } = world.check();
    let unsupported = report.is_unsupported_version();
    let mut complaints = Vec::new();
    if !report.is_empty() {
        complaints.push(report.into());
    }
    let mut missing_script = None;
    let script = match world.script {
        Beside::Missing(path) => {
            // A world on standard input has no place beside it.
            missing_script = Some(path).filter(|path| !path.is_empty());
            None
        }
        Beside::Unreadable(problem) => {
            complaints.push(problem.into());
            None
        }
        Beside::Script { origin, text } => {
            let problems = world_text::script_problems(&origin, &text, scenario.as_ref());
            complaints.extend(problems.into_iter().map(Complaint::from));
            Some(origin)
        }
    };
    Finding {
        file,
        complaints,
        scenario,
        script,
        missing_script,
        study: None,
        family: None,
        profile: None,
        policy: None,
        unsupported,
    }
}

impl Finding {
    fn has_errors(&self) -> bool {
        self.complaints
            .iter()
            .any(|complaint| complaint.count().0 > 0)
    }

    /// How many errors and warnings there are.
    fn counts(&self) -> (usize, usize) {
        let counts = self.complaints.iter().map(Complaint::count);
        counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
    }

    fn text(&self) -> String {
        let (errors, warnings) = self.counts();
        let found = match (errors, warnings) {
            (0, 0) => "ok".to_owned(),
            (0, _) => format!("ok, {}", counted(warnings, "warning")),
            (_, 0) => counted(errors, "error"),
            (_, _) => [counted(errors, "error"), counted(warnings, "warning")].join(", "),
        };
        let mut lines = vec![format!("{}: {found}", self.file)];
        let several = [&self.study, &self.family, &self.profile, &self.policy];
        let several = several.into_iter().flatten();
        lines.extend(several.map(|words| format!("  {words}")));
        if let Some(scenario) = &self.scenario {
            let script = self.script_text();
            let (kind, reach) = (kind(scenario), reach(scenario));
            lines.push(format!("  {kind}"));
            lines.push(format!("  untrusted content can reach at most: {reach}"));
            lines.push(format!("  script: {script}"));
        }
        lines.join("\n")
    }

    /// Which script was checked; without one, what it would be good for.
    fn script_text(&self) -> String {
        match (&self.script, &self.missing_script) {
            (Some(script), _) => script.clone(),
            (None, Some(path)) => format!("none; `run` needs `{path}`"),
            (None, None) => "none".to_owned(),
        }
    }

    fn json(&self) -> Value {
        let (errors, warnings) = self.counts();
        let problems = self.complaints.iter().flat_map(Complaint::json);
        json!({
            "file": self.file,
            "ok": errors == 0,
            "errors": errors,
            "warnings": warnings,
            "stage": self.scenario.as_ref().map(|scenario| scenario.stage.name()),
            "domain": self.scenario.as_ref().map(|scenario| scenario.domain.name()),
            "exposure": self.scenario.as_ref().map(exposure_json),
            "script": self.script,
            "study": self.study,
            "family": self.family,
            "profile": self.profile,
            "policy": self.policy,
            "diagnostics": problems.collect::<Vec<_>>(),
        })
    }
}

/// `3 errors`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// What kind of world it is, in words.
fn kind(scenario: &Scenario) -> String {
    let briefing = &scenario.briefing;
    let (stage, domain) = (scenario.stage.name(), scenario.domain.name());
    let counts = [
        counted(briefing.agents.len(), "agent"),
        counted(briefing.tools.len(), "tool"),
        counted(scenario.stores.len(), "store"),
        counted(briefing.ledger.entries.len(), "authorised action"),
    ];
    format!(
        "{stage}, {domain}, {}: {}",
        scenario.topology,
        counts.join(", ")
    )
}

/// What untrusted content can reach, in words.
fn reach(scenario: &Scenario) -> String {
    let parts: Vec<String> = reached(scenario)
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(kind, names)| format!("{kind} {}", names.join(", ")))
        .collect();
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join("; ")
    }
}

fn exposure_json(scenario: &Scenario) -> Value {
    let reached = reached(scenario).into_iter();
    reached
        .map(|(kind, names)| (kind.to_owned(), json!(names)))
        .collect()
}

/// What untrusted content can reach at most: kind and names.
fn reached(scenario: &Scenario) -> [(&'static str, Vec<&str>); 3] {
    let Exposure {
        agents,
        stores,
        sinks,
    } = exposure(scenario);
    let briefing = &scenario.briefing;
    let agents = agents.iter().map(|id| &*briefing.agents[id.index()].name);
    let stores = stores.iter().map(|id| &*scenario.stores[id.index()].name);
    let sinks = sinks.iter().map(|id| &*briefing.sinks[id.index()].name);
    [
        ("agents", agents.collect()),
        ("stores", stores.collect()),
        ("sinks", sinks.collect()),
    ]
}
