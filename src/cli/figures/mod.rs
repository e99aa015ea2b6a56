//! `containment figures`: the figures of the paper, drawn from a result, a world and two traces.

mod lanes;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use report::analysis::Analysis;
use report::evidence::Evidence;
use report::figures::{self, NothingToDraw, repair, threat_model};
use study::results::Results;

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::options::Case;
use super::played::{self, Played};
use super::reports;
use super::terminal::Terminal;

/// The numbers of the figures.
const NUMBERS: RangeInclusive<u8> = 1..=7;

/// The figures that can be drawn without a result.
const OF_WORLDS: [u8; 2] = [1, 2];

/// The policies of Figure 2.
const REPAIR: [&str; 2] = ["taint_only_v1", "intent_ledger_v2"];

/// The world of Figures 1 and 2 if none is named.
pub(super) const WORLD: &str = "case2_partner_meeting";

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
    #[arg(long, value_name = "WORLD", default_value = WORLD)]
    world: PathBuf,
    /// Where the figures go, instead of the folder `figures` in that of the result
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Draws the figures and prints the names of their files.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let wanted = wanted(args)?;
    let results = args.folder.as_deref().map(reports::result).transpose()?;
    let analyses = results.as_ref().map(analyses).unwrap_or_default();
    let beside = args.folder.clone().unwrap_or_default().join(FOLDER);
    let out = args.out.clone().unwrap_or(beside);
    let case = played::case(&args.world, terminal)?;
    let mut figures = Vec::new();
    for number in wanted {
        for (name, drawn) in drawn(number, &case, &analyses)? {
            match drawn {
                Ok(svg) => figures.push((name, svg)),
                Err(why) if !args.figures.is_empty() => return Err(nothing(number, &why)),
                Err(why) => terminal.note(&format!("figure {number} is left out: {why}")),
            }
        }
    }
    reports::make_folder(&out)?;
    reports::write_all(&out, &figures)?;
    let written = figures
        .iter()
        .map(|(name, _)| files::shown(&out.join(name)));
    let written: Vec<String> = written.collect();
    terminal.print(&written.join("\n"))?;
    Ok(Exit::Ok)
}

/// Every figure of a result by the name of its file, for who has to compare.
#[derive(Debug)]
pub(super) struct Drawn(Vec<(String, String)>);

impl Drawn {
    /// Figures 1 and 2 of each of these worlds that can be read, and the others of the result.
    pub(super) fn of(
        results: &Results,
        worlds: &[PathBuf],
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let analyses = analyses(results);
        let mut all = Vec::new();
        for number in NUMBERS.filter(|number| !OF_WORLDS.contains(number)) {
            all.extend(of_study(number, &analyses));
        }
        for world in worlds {
            let Ok(case) = played::case(world, terminal) else {
                continue;
            };
            for number in OF_WORLDS {
                all.push(of_world(number, &case, &analyses)?);
            }
        }
        let drawn = all
            .into_iter()
            .filter_map(|(name, drawn)| Some((name, drawn.ok()?)));
        Ok(Self(drawn.collect()))
    }

    /// The figure of this name that says what is `said`; without one, the figure of this name.
    pub(super) fn nearest(&self, name: &str, said: &str) -> Option<&str> {
        let named = || self.0.iter().filter(|(other, _)| other == name);
        let same = named().find(|(_, svg)| svg == said);
        same.or_else(|| named().next()).map(|(_, svg)| &**svg)
    }
}

/// Whether a file is called as a figure is.
pub(super) fn is_called_so(name: &str) -> bool {
    let rest = name.strip_prefix("figure").unwrap_or_default();
    rest.starts_with(|letter: char| letter.is_ascii_digit()) && rest.ends_with(".svg")
}

fn analyses(results: &Results) -> Vec<Analysis<'_>> {
    let evidence = Evidence::by_model(results).into_iter();
    evidence.map(Analysis::without_pairs).collect()
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

/// The name of a file, and what it is to say.
type Named = (String, Result<String, NothingToDraw>);

/// A figure with the name of its file; of several models in a result, each has its own.
fn drawn(number: u8, case: &Case, analyses: &[Analysis<'_>]) -> Result<Vec<Named>, Failure> {
    if OF_WORLDS.contains(&number) {
        return Ok(vec![of_world(number, case, analyses)?]);
    }
    Ok(of_study(number, analyses))
}

/// Figures 1 and 2 are of a world, and show the numbers of the first model.
fn of_world(number: u8, case: &Case, analyses: &[Analysis<'_>]) -> Result<Named, Failure> {
    let name = format!("figure{number}.svg");
    Ok(match number {
        1 => (name, Ok(threat_model::figure(&case.scene.scenario))),
        _ => (name, repair(case, analyses.first())?),
    })
}

fn of_study(number: u8, analyses: &[Analysis<'_>]) -> Vec<Named> {
    let drawn = analyses.iter().filter_map(|analysis| {
        let name = if analyses.len() > 1 {
            format!("figure{number}_{}.svg", of_file(analysis.evidence.model))
        } else {
            format!("figure{number}.svg")
        };
        Some((name, figures::of_study(analysis, number)?))
    });
    drawn.collect()
}

/// The name of a model as part of that of a file: a result can come from anybody, and a name with a
/// folder in it would lead out of that of the figures.
fn of_file(model: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let plain = |letter| if is_plain(letter) { letter } else { '_' };
    model.chars().map(plain).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_model_leads_to_no_other_folder() {
        assert_eq!(of_file("qwen2_5-7b.x"), "qwen2_5-7b.x");
        assert_eq!(of_file("/../../etc/x y\\"), "_.._.._etc_x_y_");
    }

    #[test]
    fn figures_are_known_by_their_names() {
        for name in ["figure1.svg", "figure3_a.b.svg", "figure99.svg"] {
            assert!(is_called_so(name), "{name}");
        }
        for name in ["figure.svg", "figure1.png", "my_figure1.svg", "figures", ""] {
            assert!(!is_called_so(name), "{name}");
        }
    }
}
