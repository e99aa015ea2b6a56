//! `containment cases`: Table 21. The eight case studies as redacted matched traces, each with a page
//! that is made from traces, scenario and rules.

mod catalogue;
mod numbers;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use report::render::render;
use report::table::{Cell, Table};

use catalogue::{STUDIES, Study};

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::options::Case;
use super::played::{self, Played};
use super::problem::Problem;
use super::tables::Format;
use super::terminal::Terminal;

/// The page of a case study, in its folder.
const PAGE: &str = "case.md";

/// The options of `cases`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the case studies go: `case1` to `case8`, each with its traces and `case.md`; without it,
    /// only their index is printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the index is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// A world of a case study, run under its policies.
struct Group {
    case: Case,
    policies: &'static [&'static str],
    sides: Vec<Played>,
}

/// Runs the case studies, writes them, and prints their index.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut index = Table::new(
        "21",
        "All redacted case studies",
        &["Case", "Defence", "User goal", "Claim supported"],
    );
    for study in &STUDIES {
        let groups = played(study, terminal)?;
        let goals = &groups[0].case.scene.scenario.briefing.goals;
        index.row([
            Cell::text(format!("Case {}: {}", study.number, study.title)),
            Cell::text(study.defence),
            Cell::text(goals.first().map_or("", |goal| &**goal)),
            Cell::text(study.claim),
        ]);
        if let Some(out) = &args.out {
            write(&out.join(format!("case{}", study.number)), study, &groups)?;
        }
    }
    terminal.print(&render(&[index], args.format.written()))?;
    match &args.out {
        Some(out) => terminal.note(&format!("the case studies are in `{}`", files::shown(out))),
        None => terminal.note("with `--out DIR`, their traces and explanations are written there"),
    }
    Ok(Exit::Ok)
}

/// Every world of a case study under its policies.
fn played(study: &Study, terminal: &Terminal) -> Result<Vec<Group>, Failure> {
    let group = |matched: &catalogue::Matched| {
        let case = played::case(Path::new(matched.world), terminal)?;
        let sides = matched.policies.iter();
        let sides = sides.map(|policy| Played::under(&case, policy));
        Ok(Group {
            sides: sides.collect::<Result<_, Failure>>()?,
            policies: matched.policies,
            case,
        })
    };
    study.runs.iter().map(group).collect()
}

/// Writes the traces and the page of a case study.
fn write(folder: &Path, study: &Study, groups: &[Group]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("`{}` cannot be made: {error}", files::shown(folder));
        let help = "name a folder that can be made and written";
        Failure::new(Exit::Incomplete, Problem::new(message).help(help))
    })?;
    for group in groups {
        for side in &group.sides {
            let path = folder.join(trace_file(group, side));
            files::write(&path, side.jsonl.as_bytes())?;
        }
    }
    let page = page::page(study, groups);
    files::write(&folder.join(PAGE), page.as_bytes())
}

/// The file of a trace.
fn trace_file(group: &Group, side: &Played) -> String {
    format!(
        "{}.{}.jsonl",
        group.case.scene.scenario.identity, side.policy
    )
}
