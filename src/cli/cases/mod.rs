//! `containment cases`: Table 21. The eight case studies as redacted matched traces, each with a page
//! that is made from traces, scenario and rules.

mod catalogue;
mod index;
mod numbers;
mod page;

use std::path::{Path, PathBuf};

use report::render::render;
use report::table::{Cell, Table};

use catalogue::{STUDIES, Study};

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::options::Case;
use super::played::{self, Played};
use super::reports;
use super::tables::Format;
use super::terminal::Terminal;

/// The page of a case study, in its folder.
const PAGE: &str = "case.md";

/// The options of `cases`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the case studies go: `index.md`, and `case1` to `case8`, each with its traces and
    /// `case.md`; without it, only their table is printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the table is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// The index of the pages, beside their folders.
const INDEX: &str = "index.md";

/// A world of a case study, run under its policies.
struct Group {
    case: Case,
    policies: &'static [&'static str],
    sides: Vec<Played>,
}

/// A case study that was run.
struct Told {
    study: &'static Study,
    groups: Vec<Group>,
}

/// A file by its path in the folder of the case studies.
type File = (String, String);

/// Runs the case studies, writes them, and prints their index.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let told = told(terminal)?;
    if let Some(out) = &args.out {
        write(out, &files_of(&told))?;
    }
    terminal.print(&render(&[table(&told)], args.format.written()))?;
    match &args.out {
        Some(out) => {
            let index = files::shown(&out.join(INDEX));
            terminal.note(&format!(
                "the case studies are in `{}`; begin with `{index}`",
                files::shown(out)
            ));
        }
        None => terminal.note("with `--out DIR`, their traces and explanations are written there"),
    }
    Ok(Exit::Ok)
}

/// Every file that `--out` writes, by its path there.
pub(super) fn files(terminal: &Terminal) -> Result<Vec<File>, Failure> {
    Ok(files_of(&told(terminal)?))
}

/// The index as files name it.
pub(super) fn is_index(path: &str) -> bool {
    path == INDEX
}

/// Table 21.
fn table(told: &[Told]) -> Table {
    let mut index = Table::new(
        "21",
        "All redacted case studies",
        &["Case", "Defence", "User goal", "Claim supported"],
    );
    for Told { study, groups } in told {
        let goals = &groups[0].case.scene.scenario.briefing.goals;
        index.row([
            Cell::text(format!("Case {}: {}", study.number, study.title)),
            Cell::text(study.defence),
            Cell::text(goals.first().map_or("", |goal| &**goal)),
            Cell::text(study.claim),
        ]);
    }
    index
}

/// Runs every case study.
fn told(terminal: &Terminal) -> Result<Vec<Told>, Failure> {
    let told = STUDIES.iter().map(|study| {
        let groups = played(study, terminal)?;
        Ok(Told { study, groups })
    });
    told.collect()
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

/// The folder of a case study, in that of all.
fn folder_of(study: &Study) -> String {
    format!("case{}", study.number)
}

/// The traces and the page of every case study, then the index.
fn files_of(told: &[Told]) -> Vec<File> {
    let mut files = Vec::new();
    for Told { study, groups } in told {
        let folder = folder_of(study);
        for group in groups {
            for side in &group.sides {
                let path = format!("{folder}/{}", trace_file(group, side));
                files.push((path, side.jsonl.clone()));
            }
        }
        files.push((format!("{folder}/{PAGE}"), page::page(study, groups)));
    }
    files.push((INDEX.to_owned(), index::page(told)));
    files
}

/// Writes every file. No folder is a link, or nothing is written at all; a file is whole or not
/// there; and if one cannot be written, it is said which were.
fn write(out: &Path, files: &[File]) -> Result<(), Failure> {
    reports::make_folder(out)?;
    for study in &STUDIES {
        reports::make_folder(&out.join(folder_of(study)))?;
    }
    reports::write_all(out, files)
}

/// The file of a trace.
fn trace_file(group: &Group, side: &Played) -> String {
    format!(
        "{}.{}.jsonl",
        group.case.scene.scenario.identity, side.policy
    )
}
