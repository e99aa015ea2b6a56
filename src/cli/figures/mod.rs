//! `containment figures`: the figures of the paper, drawn from a result, a world and two traces.

mod lanes;

use std::fs;
use std::path::{Path, PathBuf};

use report::analysis::Analysis;
use report::evidence::Evidence;
use report::figures::{self, NothingToDraw, repair, threat_model};

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::options::Case;
use super::played::{self, Played};
use super::problem::Problem;
use super::reports;
use super::terminal::Terminal;

/// The numbers of the figures.
const NUMBERS: std::ops::RangeInclusive<u8> = 1..=7;

/// The figures that can be drawn without a result.
const OF_WORLDS: [u8; 2] = [1, 2];

/// The policies of Figure 2.
const REPAIR: [&str; 2] = ["taint_only_v1", "intent_ledger_v2"];

/// The folder of the figures, in that of a result.
const FOLDER: &str = "figures";

/// The options of `figures`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a result, written by `study` or `merge`; without it, Figures 1 and 2 are drawn,
    /// which need a world only
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Only this figure, by its number in the paper; may be given several times
    #[arg(long = "figure", value_name = "N")]
    figures: Vec<String>,
    /// The world of Figures 1 and 2: a world file, or the name of a shipped world
    #[arg(long, value_name = "WORLD", default_value = "case2_partner_meeting")]
    world: PathBuf,
    /// Where the figures go, instead of the folder `figures` in that of the result
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Draws the figures and prints the names of their files.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let wanted = wanted(args)?;
    let results = args.folder.as_deref().map(reports::result).transpose()?;
    let evidence = results.as_ref().map(Evidence::by_model);
    let evidence = evidence.unwrap_or_default().into_iter();
    let analyses: Vec<Analysis<'_>> = evidence.map(Analysis::without_pairs).collect();
    let beside = args.folder.clone().unwrap_or_default().join(FOLDER);
    let out = args.out.clone().unwrap_or(beside);
    let case = played::case(&args.world, terminal)?;
    let mut written = Vec::new();
    for number in wanted {
        for (name, drawn) in drawn(number, &case, &analyses)? {
            match drawn {
                Ok(svg) => written.push(write(&out, &name, &svg)?),
                Err(why) if !args.figures.is_empty() => return Err(nothing(number, &why)),
                Err(why) => terminal.note(&format!("figure {number} is left out: {why}")),
            }
        }
    }
    terminal.print(&written.join("\n"))?;
    Ok(Exit::Ok)
}

/// The numbers asked for, or all that can be drawn.
fn wanted(args: &Args) -> Result<Vec<u8>, Failure> {
    let of_worlds = args.folder.is_none();
    if args.figures.is_empty() {
        let all = NUMBERS.filter(|number| !of_worlds || OF_WORLDS.contains(number));
        return Ok(all.collect());
    }
    let number = |asked: &String| {
        let number = asked.parse().ok().filter(|number| NUMBERS.contains(number));
        let number = number.ok_or_else(|| {
            let help = "the paper has figures 1 to 7; leave `--figure` out for all of them";
            Failure::usage(
                format!("there is no figure `{asked}`"),
                Some(help.to_owned()),
            )
        })?;
        if of_worlds && !OF_WORLDS.contains(&number) {
            let message = format!("figure {number} is drawn from a result, and none is named");
            let help = "name a folder that `containment study` wrote";
            return Err(Failure::usage(message, Some(help.to_owned())));
        }
        Ok(number)
    };
    args.figures.iter().map(number).collect()
}

type Drawn = (String, Result<String, NothingToDraw>);

/// A figure with the name of its file. Of several models in a result, each has its own; Figures 1 and
/// 2 are of a world, and show the numbers of the first.
fn drawn(number: u8, case: &Case, analyses: &[Analysis<'_>]) -> Result<Vec<Drawn>, Failure> {
    let name = format!("figure{number}.svg");
    match number {
        1 => Ok(vec![(name, Ok(threat_model::figure(&case.scene.scenario)))]),
        2 => Ok(vec![(name, repair(case, analyses.first())?)]),
        _ => {
            let drawn = analyses.iter().filter_map(|analysis| {
                let name = if analyses.len() > 1 {
                    format!("figure{number}_{}.svg", analysis.evidence.model)
                } else {
                    name.clone()
                };
                Some((name, figures::of_study(analysis, number)?))
            });
            Ok(drawn.collect())
        }
    }
}

/// Figure 2: the world under both policies.
fn repair(
    case: &Case,
    study: Option<&Analysis<'_>>,
) -> Result<Result<String, NothingToDraw>, Failure> {
    let [first, second] = REPAIR.map(|policy| Played::under(case, policy));
    let lanes = [first?, second?].map(|played| lanes::lane(case, &played));
    let scenario = &case.scene.scenario.identity;
    Ok(repair::figure(scenario, &lanes, study))
}

fn nothing(number: u8, why: &NothingToDraw) -> Failure {
    let help = "without `--figure`, all that can be drawn are";
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
