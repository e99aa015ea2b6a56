//! `containment figures`: the figures of the paper, drawn from a result, a world and two traces.

use std::fs;
use std::path::{Path, PathBuf};

use report::figures::{self, NothingToDraw};
use study::results::Results;

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::problem::Problem;
use super::reports;
use super::terminal::Terminal;

/// The numbers of the figures.
const NUMBERS: std::ops::RangeInclusive<u8> = 1..=7;

/// The folder of the figures, in that of a result.
const FOLDER: &str = "figures";

/// The options of `figures`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a result, written by `study` or `merge`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only this figure, by its number in the paper; may be given several times
    #[arg(long = "figure", value_name = "N")]
    figures: Vec<String>,
    /// Where the figures go, instead of the folder `figures` in that of the result
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Draws the figures and prints the names of their files.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let wanted = wanted(&args.figures)?;
    let results = reports::result(&args.folder)?;
    let out = args.out.clone().unwrap_or_else(|| args.folder.join(FOLDER));
    let mut written = Vec::new();
    for (name, number, drawn) in drawn(&results, &wanted) {
        match drawn {
            Ok(svg) => written.push(write(&out, &name, &svg)?),
            Err(why) if !args.figures.is_empty() => return Err(nothing(number, &why)),
            Err(why) => terminal.note(&format!("figure {number} is left out: {why}")),
        }
    }
    terminal.print(&written.join("\n"))?;
    Ok(Exit::Ok)
}

/// The numbers asked for, or all of them.
fn wanted(asked: &[String]) -> Result<Vec<u8>, Failure> {
    if asked.is_empty() {
        return Ok(NUMBERS.collect());
    }
    let number = |asked: &String| {
        let number = asked.parse().ok().filter(|number| NUMBERS.contains(number));
        number.ok_or_else(|| {
            let help = "the paper has figures 1 to 7; leave `--figure` out for all of them";
            Failure::usage(
                format!("there is no figure `{asked}`"),
                Some(help.to_owned()),
            )
        })
    };
    asked.iter().map(number).collect()
}

type Drawn = (String, u8, Result<String, NothingToDraw>);

/// The figures with the names of their files. If a result is of several models, each has its own.
fn drawn(results: &Results, wanted: &[u8]) -> Vec<Drawn> {
    let analyses = reports::analyses(results, &[]);
    let mut drawn = Vec::new();
    for &number in wanted {
        for analysis in &analyses {
            let model = if analyses.len() > 1 {
                format!("_{}", analysis.evidence.model)
            } else {
                String::new()
            };
            if let Some(made) = figures::of_rows(analysis, number) {
                drawn.push((format!("figure{number}{model}.svg"), number, made));
            }
        }
    }
    drawn
}

fn nothing(number: u8, why: &NothingToDraw) -> Failure {
    let help = "without `--figure`, all that the result has are drawn";
    Failure::usage(
        format!("figure {number} cannot be drawn: {why}"),
        Some(help.to_owned()),
    )
}

/// Writes a figure; its path as it is printed.
fn write(folder: &Path, name: &str, svg: &str) -> Result<String, Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("`{}` cannot be made: {error}", files::shown(folder));
        Failure::new(Exit::Incomplete, Problem::new(message))
    })?;
    let path = folder.join(name);
    files::write(&path, svg.as_bytes())?;
    Ok(files::shown(&path))
}
