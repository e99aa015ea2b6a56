//! Whether targets fit their profile and ask for a fit that is worth something: everything that can be
//! known before the first rollout.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use plugins::draws::Chance;
use report::published::{self, Class, Published};
use worlds::places::place_of;

use super::fit::{STEP, decimal as written, rounded, with};
use super::targets::{Parameter, Source, Targets, Written, WrittenParameter, decimal};
use crate::cli::failure::Failure;
use crate::cli::nearest;
use crate::cli::problem::Problem;
use crate::cli::profiles;
use crate::cli::shipped;
use crate::cli::shown::on_one_line;

/// Free parameters of the largest fit; a profile of every inclination under every guidance has fewer.
const MOST_PARAMETERS: usize = 64;

/// Published numbers that one parameter is weighed between.
const MOST_CELLS: usize = 8;

/// Study seeds that a number is averaged over. With as many, chance is a sixth of that of one seed.
const MOST_SEEDS: usize = 32;

/// More sweeps never settle what these do not.
const MOST_SWEEPS: u32 = 10;

/// Characters of the longest name or path; those that exist are far shorter.
const LONGEST_NAME: usize = 128;

/// Characters of a name that messages show.
const SHOWN_NAME: usize = 60;

/// The fields of a profile that hold a probability.
const PROBABILITIES: [&str; 5] = ["chance", "share", "again", "broken_off", "seed_spread"];

/// Targets that fit their profile, or the first thing that is wrong with them.
pub(super) fn checked(file: Written, source: Source, profile: &str) -> Result<Targets, Failure> {
    check_study(&file.study, &source)?;
    check_seeds(&file, &source)?;
    if !(1..=MOST_SWEEPS).contains(&file.sweeps) {
        let message = format!("{} sweeps are no fit", file.sweeps);
        let help = format!("write from 1 to {MOST_SWEEPS} sweeps");
        return Err(source.problem("sweeps", message).help(help).into());
    }
    check_length(
        &source,
        "parameters",
        file.parameters.len(),
        MOST_PARAMETERS,
    )?;
    let published = published::cells();
    let mut checker = Checker {
        source: &source,
        profile,
        study: &file.study,
        published: &published,
        places: BTreeMap::new(),
        cells: BTreeMap::new(),
    };
    let parameters = file.parameters.iter().enumerate();
    let parameters = parameters.map(|(index, parameter)| checker.parameter(index, parameter));
    let parameters: Vec<Parameter> = parameters.collect::<Result<_, _>>()?;
    check_bounds_together(&parameters, &source, profile)?;
    Ok(Targets {
        study: file.study,
        study_seeds: file.study_seeds,
        sweeps: file.sweeps,
        parameters,
        source,
    })
}

/// A name of the user as messages show it: on one line, and no longer than it helps.
pub(super) fn shown(name: &str) -> String {
    let mut letters = name.chars();
    let start: String = letters.by_ref().take(SHOWN_NAME).collect();
    let dots = if letters.next().is_some() { "..." } else { "" };
    on_one_line(&format!("{start}{dots}")).into_owned()
}

fn is_too_long(name: &str) -> bool {
    name.chars().nth(LONGEST_NAME).is_some()
}

fn check_study(study: &str, source: &Source) -> Result<(), Problem> {
    let making = published::STUDIES;
    if making.contains(&study) {
        return Ok(());
    }
    let message = if shipped::study(study).is_some() {
        format!("the study `{study}` makes no published number")
    } else {
        format!("there is no shipped study `{}`", shown(study))
    };
    let near = Some(study).filter(|study| !is_too_long(study));
    let near = near.and_then(|study| nearest::suggestion(study, making));
    let help = near.unwrap_or_else(|| format!("write one of `{}`", making.join("`, `")));
    Err(source.problem("study", message).help(help))
}

fn check_seeds(file: &Written, source: &Source) -> Result<(), Problem> {
    let seeds = &file.study_seeds;
    check_length(source, "study_seeds", seeds.len(), MOST_SEEDS)?;
    let reported = shipped::study(&file.study)
        .and_then(|shipped| study::plan::file::load(shipped.text, shipped.name).ok())
        .map(|study| study.study_seed);
    let mut seen = BTreeSet::new();
    for (index, seed) in seeds.iter().enumerate() {
        let path = format!("study_seeds[{index}]");
        if Some(*seed) == reported {
            let message = format!(
                "`{}` is reported under study seed {seed}, so nothing would be held out from the fit",
                file.study
            );
            let help = "fit under other study seeds, such as 1001";
            return Err(source.problem(&path, message).help(help));
        }
        if !seen.insert(seed) {
            let message = format!("the study seed {seed} is given twice");
            let help = "keep one of them: the same rollouts say nothing new";
            return Err(source.problem(&path, message).help(help));
        }
    }
    Ok(())
}

/// Fails if a list is empty or too long.
fn check_length(source: &Source, path: &str, length: usize, most: usize) -> Result<(), Problem> {
    let list = path.rsplit('.').next().unwrap_or(path);
    let help = format!("give from 1 to {most}");
    if length == 0 {
        let message = format!("`{list}` is empty, so there is nothing to fit");
        return Err(source.problem(path, message).help(help));
    }
    if length > most {
        let message = format!("`{list}` has {length} entries, more than {most}");
        let first = format!("{path}[{most}]");
        return Err(source.problem(&first, message).help(help));
    }
    Ok(())
}

/// The parameters that were checked so far, and what they are held against.
struct Checker<'a> {
    source: &'a Source,
    profile: &'a str,
    study: &'a str,
    published: &'a [Published],
    /// Which parameter stands at a place of the profile, however its path is written.
    places: BTreeMap<usize, usize>,
    /// Which parameter a number identifies.
    cells: BTreeMap<String, usize>,
}

impl Checker<'_> {
    fn parameter(
        &mut self,
        index: usize,
        written: &WrittenParameter,
    ) -> Result<Parameter, Problem> {
        let place = self.place(index, &written.at)?;
        if let Some(first) = self.places.insert(place.start, index) {
            let message = format!("`{}` is a parameter already", shown(&written.at));
            let help =
                format!("it is entry {first} of `parameters`, counted from 0: keep one of them");
            let path = format!("parameters[{index}].at");
            return Err(self.source.problem(&path, message).help(help));
        }
        let path = format!("parameters[{index}].cells");
        check_length(self.source, &path, written.cells.len(), MOST_CELLS)?;
        let cells = written.cells.iter().enumerate();
        let cells = cells.map(|(position, id)| self.cell(index, position, id));
        let cells = cells.collect::<Result<_, _>>()?;
        let (low, high) = self.bounds(index, &written.between)?;
        Ok(Parameter {
            at: written.at.clone(),
            cells,
            low,
            high,
        })
    }

    /// Where the parameter stands in the profile.
    fn place(&self, index: usize, at: &str) -> Result<Range<usize>, Problem> {
        let path = format!("parameters[{index}].at");
        let refuse =
            |message: String, help: String| Err(self.source.problem(&path, message).help(help));
        if is_too_long(at) {
            let message = format!("`{}` is longer than any path of a profile", shown(at));
            return refuse(message, format!("write at most {LONGEST_NAME} characters"));
        }
        let Some(place) = place_of(self.profile, at) else {
            let message = format!("the profile has no value at `{}`", shown(at));
            return refuse(message, near_path(self.profile, at));
        };
        let field = at.rsplit('.').next().unwrap_or(at);
        if !PROBABILITIES.contains(&field) || decimal(&self.profile[place.clone()]).is_none() {
            let message = format!("`{}` is no probability of the profile", shown(at));
            let help = format!(
                "name a decimal in quotes between 0 and 1: a `{}`",
                PROBABILITIES.join("`, `")
            );
            return refuse(message, help);
        }
        Ok(place)
    }

    /// A published number that the parameter may be fitted to.
    fn cell(&mut self, index: usize, position: usize, id: &str) -> Result<Published, Problem> {
        let path = format!("parameters[{index}].cells[{position}]");
        let refuse =
            |message: String, help: String| Err(self.source.problem(&path, message).help(help));
        let Some(cell) = self.published.iter().find(|cell| cell.id == id) else {
            let help = self.near_cell(id);
            return refuse(
                format!("there is no published number `{}`", shown(id)),
                help,
            );
        };
        if cell.class != Class::Target {
            let message = format!("`{id}` is of class `{}`", cell.class.name());
            let help = "fit to a number of class `target`: only these are told apart from what is held out";
            return refuse(message, help.to_owned());
        }
        let made_by = published::source(id);
        if made_by != self.study {
            let message = if made_by.is_empty() {
                format!("no study makes the number `{id}`")
            } else {
                format!(
                    "`{id}` is made by the study `{made_by}`, not by `{}`",
                    self.study
                )
            };
            let help = format!(
                "name a number of `{}`, or fit through the other study",
                self.study
            );
            return refuse(message, help);
        }
        if let Some(first) = self.cells.insert(id.to_owned(), index) {
            let message = format!("the number `{id}` is given twice");
            let help = if first == index {
                "keep one of them".to_owned()
            } else {
                format!(
                    "entry {first} of `parameters` is fitted to it, and one number identifies one"
                )
            };
            return refuse(message, help);
        }
        Ok(cell.clone())
    }

    fn near_cell(&self, id: &str) -> String {
        let targets = self.published.iter();
        let targets = targets.filter(|cell| {
            cell.class == Class::Target && published::source(&cell.id) == self.study
        });
        let near = Some(id).filter(|id| !is_too_long(id));
        let near =
            near.and_then(|id| nearest::suggestion(id, targets.map(|cell| cell.id.as_str())));
        near.unwrap_or_else(|| {
            "`containment scorecard DIR --all` lists every number with its class".to_owned()
        })
    }

    /// The bounds, in millionths.
    fn bounds(&self, index: usize, between: &(String, String)) -> Result<(u32, u32), Problem> {
        let path = format!("parameters[{index}].between");
        let low = self.bound(&format!("{path}[0]"), &between.0)?;
        let high = self.bound(&format!("{path}[1]"), &between.1)?;
        if low >= high {
            let message = format!(
                "the bounds leave no room: the lower one is {}, the upper one {}",
                written(low),
                written(high)
            );
            let help = "write two different decimals, the lower one first";
            return Err(self.source.problem(&path, message).help(help));
        }
        Ok((low, high))
    }

    fn bound(&self, path: &str, text: &str) -> Result<u32, Problem> {
        let step = written(STEP);
        let Ok(chance) = text.parse::<Chance>() else {
            let message = format!("`{}` is no bound of a probability", shown(text));
            let help = format!(
                "write a decimal between 0 and 1 in quotes, a multiple of {step} such as `\"0.25\"`"
            );
            return Err(self.source.problem(path, message).help(help));
        };
        let bound = chance.millionths();
        if bound % STEP != 0 {
            let message = format!("`{text}` is no multiple of {step}, the step of the search");
            let help = format!("write `\"{}\"`", written(rounded(bound)));
            return Err(self.source.problem(path, message).help(help));
        }
        Ok(bound)
    }
}

/// How far the profile follows a path that leads nowhere.
fn near_path(profile: &str, at: &str) -> String {
    let ends = at.match_indices(['.', '[']).map(|(end, _)| end);
    let prefixes = ends
        .map(|end| &at[..end])
        .filter(|prefix| !prefix.is_empty());
    let known = prefixes
        .take_while(|prefix| place_of(profile, prefix).is_some())
        .last();
    let example = "write the path to a value, such as `inclinations.fill_gap[0].chance`";
    match known {
        Some(known) => format!(
            "`{}` is there, what comes after it is not; entries are counted from 0",
            shown(known)
        ),
        None => example.to_owned(),
    }
}

/// Fails if a profile with parameters at their bounds is none: shares that exceed 1 together, or a
/// spread that takes a chance below 0.
fn check_bounds_together(
    parameters: &[Parameter],
    source: &Source,
    profile: &str,
) -> Result<(), Problem> {
    let all = |bound: fn(&Parameter) -> u32| {
        let set = |text: String, one: &Parameter| with(&text, &one.at, bound(one));
        parameters.iter().fold(profile.to_owned(), set)
    };
    let (lowest, highest) = (all(|one| one.low), all(|one| one.high));
    let wrong = |text: &str| {
        let parsed = profiles::parse("the profile", text);
        parsed.err().map(|problem| Failure::from(problem).message())
    };
    let help = "narrow the bounds, so that every value between them may be tried";
    let mut corners = vec![all(Parameter::start), lowest.clone(), highest.clone()];
    for one in parameters {
        corners.push(with(&lowest, &one.at, one.high));
        corners.push(with(&highest, &one.at, one.low));
    }
    let Some(why) = corners.iter().find_map(|corner| wrong(corner)) else {
        return Ok(());
    };
    // One that is wrong by itself has the blame; else it is that of several together.
    for (index, one) in parameters.iter().enumerate() {
        for value in [one.low, one.high, one.start()] {
            if let Some(why) = wrong(&with(profile, &one.at, value)) {
                let (at, value) = (&one.at, written(value));
                let message = format!("the profile is not valid if `{at}` is {value}: {why}");
                let path = format!("parameters[{index}].between");
                return Err(source.problem(&path, message).help(help));
            }
        }
    }
    let message = format!("the profile is not valid under every mixture of the bounds: {why}");
    Err(source.problem("parameters", message).help(help))
}
