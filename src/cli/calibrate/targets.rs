//! What a profile is fitted to: a file that says, for each free parameter, which published number
//! identifies it.

use std::path::Path;

use plugins::draws::Chance;
use report::published::{self, Class, Published};
use ron::Options;
use ron::extensions::Extensions;
use serde::Deserialize;
use worlds::places::place_of;

use crate::cli::failure::Failure;
use crate::cli::files::{self, MAX_SOURCE_BYTES};
use crate::cli::nearest;
use crate::cli::problem::Problem;

/// The version of the file.
const SCHEMA: u32 = 1;

/// More sweeps never settle what these do not.
const MOST_SWEEPS: u32 = 10;

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Targets")]
pub(super) struct Targets {
    schema: u32,
    /// The shipped study that makes the numbers.
    pub(super) study: String,
    /// The study seeds over which a number is averaged. None of them is the one that the study is
    /// reported under.
    pub(super) study_seeds: Vec<u64>,
    /// How often all parameters are fitted, one after the other.
    pub(super) sweeps: u32,
    /// The free parameters, in the order in which they are fitted.
    pub(super) parameters: Vec<Parameter>,
}

/// A free parameter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Parameter")]
pub(super) struct Parameter {
    /// Where it stands in the profile.
    pub(super) at: String,
    /// The published numbers that identify it, mostly one.
    pub(super) cells: Vec<String>,
    /// Between which values it is looked for: decimals in quotes.
    pub(super) between: (String, String),
}

impl Targets {
    /// Reads the targets of a profile, and checks that they fit it.
    pub(super) fn load(path: &Path, profile: &str) -> Result<Self, Failure> {
        let text = files::text(path, MAX_SOURCE_BYTES)?;
        let origin = files::shown(path);
        let options = Options::default()
            .with_default_extension(Extensions::IMPLICIT_SOME)
            .with_recursion_limit(16);
        let targets: Self = options.from_str(&text).map_err(|error| {
            let start = error.span.start;
            Problem::new(error.code.to_string()).at(&origin, &text, start.line, start.col)
        })?;
        let refuse = |message: String, help: String| {
            Err(Failure::from(
                Problem::new(message).file(&origin).help(help),
            ))
        };
        if targets.schema != SCHEMA {
            let message = format!(
                "the targets have schema {}, this program reads {SCHEMA}",
                targets.schema
            );
            return refuse(message, "write `schema: 1`".to_owned());
        }
        if targets.study_seeds.is_empty() || !(1..=MOST_SWEEPS).contains(&targets.sweeps) {
            let help = format!("give at least one study seed, and from 1 to {MOST_SWEEPS} sweeps");
            return refuse("the targets ask for no fit".to_owned(), help);
        }
        let cells = published::cells();
        for parameter in &targets.parameters {
            if let Err((message, help)) = parameter.check(profile, &cells) {
                return refuse(format!("parameter `{}`: {message}", parameter.at), help);
            }
        }
        Ok(targets)
    }
}

impl Parameter {
    /// The published numbers, in the order given.
    pub(super) fn published(&self) -> Vec<Published> {
        let all = published::cells();
        let named = self.cells.iter();
        named
            .filter_map(|id| all.iter().find(|cell| cell.id == *id).cloned())
            .collect()
    }

    /// The bounds, in millionths; checked before.
    pub(super) fn bounds(&self) -> Option<(u32, u32)> {
        let bound = |decimal: &str| decimal.parse::<Chance>().ok().map(Chance::millionths);
        let (low, high) = (bound(&self.between.0)?, bound(&self.between.1)?);
        (low < high).then_some((low, high))
    }

    /// Whether a value is one of the bounds.
    pub(super) fn is_bound(&self, value: u32) -> bool {
        self.bounds()
            .is_some_and(|(low, high)| value == low || value == high)
    }

    fn check(&self, profile: &str, cells: &[Published]) -> Result<(), (String, String)> {
        let place = place_of(profile, &self.at).ok_or_else(|| {
            let help = "write the path to a value, such as `inclinations.fill_gap[0].chance`";
            ("the profile has no such value".to_owned(), help.to_owned())
        })?;
        if decimal(&profile[place]).is_none() {
            let help = "name a decimal in quotes between 0 and 1".to_owned();
            return Err(("the value is no probability".to_owned(), help));
        }
        if self.cells.is_empty() {
            let help = "name the published number that it is fitted to".to_owned();
            return Err(("nothing identifies it".to_owned(), help));
        }
        for id in &self.cells {
            require_target(id, cells)?;
        }
        if self.bounds().is_none() {
            let help = "write two decimals in quotes, the lower one first".to_owned();
            return Err(("the bounds are no bounds".to_owned(), help));
        }
        Ok(())
    }
}

/// Fails unless `id` is a published number that something may be fitted to.
fn require_target(id: &str, cells: &[Published]) -> Result<(), (String, String)> {
    let Some(cell) = cells.iter().find(|cell| cell.id == id) else {
        let known = cells.iter().map(|cell| cell.id.as_str());
        let help = nearest::suggestion(id, known);
        let help = help.unwrap_or_else(|| "the numbers are in the scorecard".to_owned());
        return Err((format!("there is no published number `{id}`"), help));
    };
    if cell.class == Class::Target {
        return Ok(());
    }
    let help = "a number that something is fitted to has the class `target`".to_owned();
    let message = format!("`{}` is of class `{}`", cell.id, cell.class.name());
    Err((message, help))
}

/// The decimal between quotation marks that stands in a profile.
pub(super) fn decimal(written: &str) -> Option<Chance> {
    written.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str =
        r#"Profile(schema: 1, model: "m", inclinations: (fill_gap: [(chance: "0.5")]))"#;

    fn parameter(at: &str, cell: &str, low: &str, high: &str) -> Parameter {
        Parameter {
            at: at.to_owned(),
            cells: vec![cell.to_owned()],
            between: (low.to_owned(), high.to_owned()),
        }
    }

    #[test]
    fn a_parameter_is_a_probability_of_the_profile_and_a_target() {
        let cells = published::cells();
        let at = "inclinations.fill_gap[0].chance";
        let sound = parameter(at, "t15.none.recovery", "0", "0.1");
        assert_eq!(sound.check(PROFILE, &cells), Ok(()));
        for wrong in [
            parameter(
                "inclinations.fill_gap[1].chance",
                "t15.none.recovery",
                "0",
                "1",
            ),
            parameter("model", "t15.none.recovery", "0", "1"),
            parameter(at, "t15.none.recovry", "0", "1"),
            parameter(at, "t15.taint_v1.recovery", "0", "1"),
            parameter(at, "t15.none.recovery", "1", "0"),
            parameter(at, "t15.none.recovery", "0", "2"),
        ] {
            assert!(wrong.check(PROFILE, &cells).is_err(), "{wrong:?}");
        }
    }
}
