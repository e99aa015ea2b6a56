//! `containment scorecard`: every published number beside ours.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use report::published::{MAIN, STUDIES};
use report::render::{Format as Written, render};
use report::scorecard::{Scorecard, reproduced};
use report::table::Table;
use report::tables;
use study::manifest::{Frozen, Manifest};
use study::results::Results;

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::problem::Problem;
use super::reports;
use super::study::plans::{self, Changes};
use super::terminal::Terminal;

/// The files beside a result.
pub(crate) const FILES: [&str; 2] = [MARKDOWN_FILE, JSON_FILE];

/// What stands over the table that only `--fresh-seeds` adds.
pub(crate) const FRESH_HEADING: &str = "nothing fitted on them";

/// The scorecard beside a result.
const MARKDOWN_FILE: &str = "scorecard.md";

/// The same for programs.
const JSON_FILE: &str = "scorecard.json";

/// How the scorecard is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The totals and what is off
    #[default]
    Text,
    /// All of it in Markdown
    Md,
    /// One JSON document
    Json,
}

/// The options of `scorecard`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the result of the main study; those of `stress` and `second_model` are taken
    /// from the folders beside it, or simulated
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How it is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Every number, not only those that are off
    #[arg(long)]
    all: bool,
    /// Prints only: without it, `scorecard.md` and `scorecard.json` are written beside the rows
    #[arg(long)]
    no_files: bool,
    /// Simulates everything again under so many other study seeds, with the same parameters, and says
    /// how many numbers hold
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    fresh_seeds: u32,
}

/// Prints the scorecard, and writes it beside the rows.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.fresh_seeds > 0 && args.format == Format::Json {
        let message = "what other study seeds come to is no part of the JSON form";
        let help = "take `--format text` or `md` with `--fresh-seeds`";
        return Err(Failure::usage(message, Some(help.to_owned())));
    }
    let studies = studies(reports::result(&args.folder)?, &args.folder, terminal)?;
    tell_changes(&studies[0].manifest.frozen, terminal)?;
    let card = card(&studies)?;
    let mut parts = vec![
        card.totals(),
        if args.all {
            card.table()
        } else {
            card.misses()
        },
    ];
    let mut whole = whole(&card);
    if args.fresh_seeds > 0 {
        let fresh = fresh(
            args.fresh_seeds,
            studies[0].manifest.frozen.study_seed,
            terminal,
        )?;
        parts.push(fresh.clone());
        whole.push(fresh);
    }
    let markdown = render(&whole, Written::Markdown);
    let json = card.to_json();
    match args.format {
        Format::Text => terminal.print(&render(&parts, Written::Text))?,
        Format::Md => terminal.print(&markdown)?,
        Format::Json => terminal.print(&json)?,
    }
    if !args.no_files {
        reports::write_beside(&args.folder, MARKDOWN_FILE, &markdown)?;
        reports::write_beside(&args.folder, JSON_FILE, &json)?;
        let folder = files::shown(&args.folder);
        terminal.note(&format!(
            "`{MARKDOWN_FILE}` and `{JSON_FILE}` are in `{folder}`"
        ));
    }
    Ok(Exit::Ok)
}

/// The result of the main study in a folder, and those of the other studies.
fn studies(main: Results, folder: &Path, terminal: &Terminal) -> Result<Vec<Results>, Failure> {
    require_main(&main, folder)?;
    let mut studies = vec![main];
    for name in other_studies() {
        studies.push(beside(folder, name, &studies[0], terminal)?);
    }
    Ok(studies)
}

/// The studies that make published numbers besides the main one.
fn other_studies() -> impl Iterator<Item = &'static str> {
    STUDIES.into_iter().filter(|name| *name != MAIN)
}

/// The whole scorecard as tables.
fn whole(card: &Scorecard) -> Vec<Table> {
    vec![card.totals(), card.misses(), card.table()]
}

/// The files beside a result, and what they say of it without fresh seeds.
pub(crate) fn files(
    main: &Results,
    folder: &Path,
    terminal: &Terminal,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let card = card(&studies(main.clone(), folder, terminal)?)?;
    Ok(vec![
        (MARKDOWN_FILE, render(&whole(&card), Written::Markdown)),
        (JSON_FILE, card.to_json()),
    ])
}

/// Fails if a result is of another study than the published one.
fn require_main(results: &Results, folder: &Path) -> Result<(), Failure> {
    let name = &results.manifest.frozen.name;
    if name == MAIN {
        return Ok(());
    }
    let message = format!(
        "`{}` is a result of the study `{name}`",
        files::shown(folder)
    );
    let help = format!(
        "the published numbers are of `{MAIN}`: run `containment study`, and name its result"
    );
    Err(Failure::from(Problem::new(message).help(help)))
}

/// Tells if a study of that name is another than the shipped one: its numbers are compared all the same,
/// because who changes a profile or a policy wants to know what that does.
fn tell_changes(frozen: &Frozen, terminal: &Terminal) -> Result<(), Failure> {
    let shipped =
        Manifest::freeze(&plans::load_shipped(MAIN, &Changes::of_seed(frozen.study_seed))?.plan)
            .frozen;
    let changes = [
        ("scenarios", frozen.scenario_set() != shipped.scenario_set()),
        ("policies", frozen.policies != shipped.policies),
        ("models", frozen.models != shipped.models),
        ("seeds", frozen.seeds != shipped.seeds),
        (
            "instrumentation",
            frozen.instrumentation != shipped.instrumentation,
        ),
    ];
    let changes = changes.iter().filter(|(_, differs)| *differs);
    let changes: Vec<&str> = changes.map(|(what, _)| *what).collect();
    if !changes.is_empty() {
        terminal.note(&format!(
            "this `{MAIN}` is not the shipped one: it has other {}",
            changes.join(", ")
        ));
    }
    Ok(())
}

/// The result of another study that makes published numbers.
fn beside(
    folder: &Path,
    name: &str,
    main: &Results,
    terminal: &Terminal,
) -> Result<Results, Failure> {
    let path = folder.join("..").join(name);
    let seed = main.manifest.frozen.study_seed;
    if path.join(study::folder::MANIFEST).is_file() {
        let results = reports::result(&path)?;
        let frozen = &results.manifest.frozen;
        if frozen.name == name && frozen.study_seed == seed {
            return Ok(results);
        }
    }
    terminal.note(&format!(
        "no result of `{name}` under study seed {seed} lies beside: it is simulated"
    ));
    reports::simulated(name, seed)
}

/// The scorecard of the results of all studies.
fn card(studies: &[Results]) -> Result<Scorecard, Failure> {
    let mut made: Vec<(String, Vec<Table>)> = Vec::new();
    for results in studies {
        let analyses = reports::analyses(results, &[]);
        let tables = analyses.iter().flat_map(tables::all).collect();
        made.push((results.manifest.frozen.name.clone(), tables));
    }
    made.push((
        String::new(),
        vec![tables::parser::table(&reports::parser_counts()?)],
    ));
    let made = made
        .iter()
        .map(|(name, tables)| (name.as_str(), tables.as_slice()));
    Ok(Scorecard::new(&reproduced(made)))
}

/// The study seeds that parameters were fitted under: no fresh ones.
const FITTED: RangeInclusive<u64> = 1001..=1008;

/// How many numbers hold under study seeds that nothing was fitted on.
fn fresh(seeds: u32, frozen: u64, terminal: &Terminal) -> Result<Table, Failure> {
    let mut cards = Vec::new();
    let others = (1..).map(|step| frozen.wrapping_add(step));
    let others = others.filter(|seed| !FITTED.contains(seed));
    for seed in others.take(seeds as usize) {
        let mut studies = vec![reports::simulated(MAIN, seed)?];
        for name in other_studies() {
            studies.push(reports::simulated(name, seed)?);
        }
        cards.push((seed, card(&studies)?));
        terminal.note(&format!("study seed {seed}: {} of {seeds}", cards.len()));
    }
    Ok(report::scorecard::fresh_seeds(&cards))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shipped_parameter_is_fitted_under_a_fresh_seed() {
        for targets in [
            include_str!("../../models/profiles/qwen2_5_7b_instruct.targets.ron"),
            include_str!("../../models/profiles/mistral_7b_instruct_v0_2.targets.ron"),
        ] {
            let (_, seeds) = targets.split_once("study_seeds: [").expect("study seeds");
            let (seeds, _) = seeds.split_once(']').expect("their end");
            for seed in seeds.split(", ") {
                assert!(FITTED.contains(&seed.parse().expect("a seed")), "{seed}");
            }
        }
    }
}
