//! The method of moments by simulation: each parameter is moved until the published number that
//! identifies it comes out, one after the other, a few times over.

use report::published::Published;
use worlds::places::place_of;

use super::simulation::{Number, Simulation, Unmade};
use super::targets::{Parameter, Targets};
use crate::cli::failure::Failure;
use crate::cli::problem::Problem;

/// How often the range of a parameter is halved.
const HALVINGS: u32 = 12;

/// A parameter is a decimal of four digits: so many millionths.
pub(super) const STEP: u32 = 100;

/// A number is met when it is off by no more than this part of its tolerance.
const CLOSE: f64 = 0.05;

/// From the second sweep on a parameter is looked for within this part of its range.
const NEAR: u32 = 8;

/// A fitted parameter.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// What was fitted, to what, and between which bounds.
    pub(super) parameter: Parameter,
    /// What it is, in millionths.
    pub(super) value: u32,
    /// The numbers that identify it.
    pub(super) moments: Vec<Moment>,
    /// Whether what would fit best lies beyond its bounds.
    pub(super) at_a_bound: bool,
}

/// A published number that identifies a parameter.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// The number.
    pub(super) cell: Published,
    /// What it comes out as.
    pub(super) simulated: f64,
    /// How far that may be off because of the choice of study seeds.
    pub(super) seed_error: Option<f64>,
    /// How much it moves with the parameter: the slope about the value. None if it cannot be told.
    pub(super) sensitivity: Option<f64>,
    /// How much it moves from one bound to the other; only looked at where no number of the parameter
    /// moves about the value.
    pub(super) over_range: Option<f64>,
}

impl Moment {
    /// By how many tolerances the number would move over the range of its parameter, going by the slope
    /// about the value.
    pub(super) fn strength(&self, parameter: &Parameter) -> Option<f64> {
        let range = f64::from(parameter.high - parameter.low) / 1e6;
        Some((self.sensitivity? * range / self.cell.tolerance).abs())
    }

    /// Whether a number that moves by so many tolerances over the range says nothing of where in it the
    /// parameter stands: it is met anywhere.
    pub(super) fn is_nothing(strength: f64) -> bool {
        strength < 2.0 * CLOSE
    }
}

/// A profile as it is fitted.
pub(super) struct Fit<'a> {
    simulation: &'a Simulation,
    text: String,
}

/// A value of the parameter and what the numbers then are.
#[derive(Clone)]
struct Tried {
    value: u32,
    numbers: Vec<Number>,
}

impl Tried {
    /// How far the numbers are off, in tolerances: the sum of squares.
    fn off(&self, cells: &[Published]) -> f64 {
        let offs = self.offs(cells);
        offs.map(|off| off * off).sum()
    }

    fn offs(&self, cells: &[Published]) -> impl Iterator<Item = f64> {
        let numbers = self.numbers.iter().zip(cells);
        numbers.map(|(number, cell)| (number.mean() - cell.value) / cell.tolerance)
    }

    /// Whether every number is met as well as matters.
    fn is_met(&self, cells: &[Published]) -> bool {
        self.offs(cells).all(|off| off.abs() <= CLOSE)
    }

    /// The number of a parameter that has one.
    fn number(&self) -> f64 {
        self.numbers[0].mean()
    }
}

impl<'a> Fit<'a> {
    /// Begins with every free parameter in the middle of its range, whatever the profile says: the
    /// result depends on the targets only.
    pub(super) fn begin(
        simulation: &'a Simulation,
        profile: &str,
        targets: &Targets,
    ) -> Result<Self, Failure> {
        let mut fit = Self {
            simulation,
            text: profile.to_owned(),
        };
        for parameter in &targets.parameters {
            fit.set(&parameter.at, parameter.start());
        }
        fit.require_numbers(targets)?;
        Ok(fit)
    }

    /// Fails if the study does not make a number at all, before anything is looked for.
    fn require_numbers(&self, targets: &Targets) -> Result<(), Failure> {
        let cells = all_cells(targets);
        match self.simulation.numbers(&self.text, &cells) {
            Ok(_) => Ok(()),
            Err(Unmade::Failed(failure)) => Err(failure),
            Err(Unmade::Missing { index, why }) => {
                let places = targets.parameters.iter().enumerate();
                let mut places = places.flat_map(|(parameter, one)| {
                    (0..one.cells.len()).map(move |cell| (parameter, cell))
                });
                let (parameter, cell) = places.nth(index).unwrap_or_default();
                let path = format!("parameters[{parameter}].cells[{cell}]");
                let (study, id) = (&targets.study, &cells[index].id);
                let message = format!("`{study}` does not make the number `{id}`: {why}");
                let help = "fit the parameter to another number of class `target` that the scorecard compares";
                Err(targets.source.problem(&path, message).help(help).into())
            }
        }
    }

    /// The profile.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Moves a parameter until its numbers are met as well as they can be. In a `sweep` after the first
    /// it is not looked for far away.
    pub(super) fn parameter(
        &mut self,
        parameter: &Parameter,
        sweep: u32,
    ) -> Result<Fitted, Failure> {
        let cells = &parameter.cells;
        let (mut low, mut high) = (parameter.low, parameter.high);
        let mut best = None;
        if sweep > 0 {
            let now = self.try_value(parameter, value_at(&self.text, &parameter.at))?;
            [low, high] = about(parameter, now.value);
            best = Some(now);
        }
        let best = match best.filter(|now| now.is_met(cells)) {
            Some(met) => met,
            None => self.search(parameter, low, high)?,
        };
        self.set(&parameter.at, best.value);
        let moments = cells
            .iter()
            .zip(&best.numbers)
            .map(|(cell, number)| Moment {
                cell: cell.clone(),
                simulated: number.mean(),
                seed_error: number.seed_error(),
                sensitivity: None,
                over_range: None,
            });
        Ok(Fitted {
            parameter: parameter.clone(),
            value: best.value,
            moments: moments.collect(),
            at_a_bound: !best.is_met(cells) && parameter.is_bound(best.value),
        })
    }

    /// Looks between two values. One number grows or falls with its parameter, so the range is halved;
    /// several are weighed against each other, so the range is cut in thirds.
    fn search(&self, parameter: &Parameter, low: u32, high: u32) -> Result<Tried, Failure> {
        let cells = &parameter.cells;
        let mut below = self.try_value(parameter, low)?;
        let mut above = self.try_value(parameter, high)?;
        let mut best = better(below.clone(), above.clone(), cells);
        for _ in 0..HALVINGS {
            if best.is_met(cells) || above.value - below.value <= STEP {
                break;
            }
            if let [cell] = &cells[..] {
                if !between(cell.value, below.number(), above.number()) {
                    break;
                }
                let middle = rounded(below.value.midpoint(above.value));
                let middle = self.try_value(parameter, middle)?;
                best = better(best, middle.clone(), cells);
                if between(cell.value, below.number(), middle.number()) {
                    above = middle;
                } else {
                    below = middle;
                }
            } else {
                let third = (above.value - below.value) / 3;
                let first = self.try_value(parameter, rounded(below.value + third))?;
                let second = self.try_value(parameter, rounded(above.value - third))?;
                best = better(better(best, first.clone(), cells), second.clone(), cells);
                if first.off(cells) <= second.off(cells) {
                    above = second;
                } else {
                    below = first;
                }
            }
        }
        Ok(best)
    }

    /// What the numbers are at the end, and how they move.
    pub(super) fn finish(&self, fitted: &mut [Fitted], targets: &Targets) -> Result<(), Failure> {
        let cells = all_cells(targets);
        let last = self.simulation.numbers(&self.text, &cells);
        let last = last.map_err(|unmade| failed(unmade, &cells, "with the fitted parameters"))?;
        let mut last = last.into_iter();
        for one in fitted {
            for (moment, now) in one.moments.iter_mut().zip(&mut last) {
                moment.simulated = now.mean();
                moment.seed_error = now.seed_error();
            }
            let parameter = &one.parameter;
            let ends = about(parameter, one.value);
            let width = f64::from(ends[1] - ends[0]) / 1e6;
            let moved = self.moved(parameter, ends)?;
            for (moment, moved) in one.moments.iter_mut().zip(moved) {
                moment.sensitivity = moved.map(|moved| moved / width);
            }
            let strengths = one.moments.iter().map(|moment| moment.strength(parameter));
            if !strengths.flatten().all(Moment::is_nothing) {
                continue;
            }
            let moved = self.moved(parameter, [parameter.low, parameter.high])?;
            for (moment, moved) in one.moments.iter_mut().zip(moved) {
                moment.over_range = moved;
            }
        }
        Ok(())
    }

    /// How much each number of a parameter moves from one value to the other. None if one does not exist
    /// there: what was fitted is not lost for that.
    fn moved(&self, parameter: &Parameter, ends: [u32; 2]) -> Result<Vec<Option<f64>>, Failure> {
        let mut made = Vec::new();
        for end in ends {
            let text = with(&self.text, &parameter.at, end);
            match self.simulation.numbers(&text, &parameter.cells) {
                Ok(numbers) => made.push(numbers),
                Err(Unmade::Missing { .. }) => return Ok(vec![None; parameter.cells.len()]),
                Err(Unmade::Failed(failure)) => return Err(failure),
            }
        }
        let moved = made[0].iter().zip(&made[1]);
        Ok(moved
            .map(|(first, second)| Some(second.mean() - first.mean()))
            .collect())
    }

    fn try_value(&self, parameter: &Parameter, value: u32) -> Result<Tried, Failure> {
        let text = with(&self.text, &parameter.at, value);
        let numbers = self.simulation.numbers(&text, &parameter.cells);
        let numbers = numbers.map_err(|unmade| {
            let when = format!("while `{}` was {}", parameter.at, decimal(value));
            failed(unmade, &parameter.cells, &when)
        })?;
        Ok(Tried { value, numbers })
    }

    fn set(&mut self, at: &str, value: u32) {
        self.text = with(&self.text, at, value);
    }
}

/// Every number, in the order of the parameters.
fn all_cells(targets: &Targets) -> Vec<Published> {
    let parameters = targets.parameters.iter();
    parameters.flat_map(|one| one.cells.clone()).collect()
}

/// Why a number that there was at the beginning is not there now.
fn failed(unmade: Unmade, cells: &[Published], when: &str) -> Failure {
    match unmade {
        Unmade::Failed(failure) => failure,
        Unmade::Missing { index, why } => {
            let message = format!("there was no number `{}` {when}: {why}", cells[index].id);
            let help = "narrow the bounds of the parameter to values under which the number exists";
            Problem::new(message).help(help).into()
        }
    }
}

/// The values about one that are looked at in later sweeps and for the slope.
fn about(parameter: &Parameter, value: u32) -> [u32; 2] {
    let near = rounded((parameter.high - parameter.low) / NEAR).max(STEP);
    [
        value.saturating_sub(near).max(parameter.low),
        (value + near).min(parameter.high),
    ]
}

/// The value at a path that was checked, in millionths.
pub(super) fn value_at(text: &str, at: &str) -> u32 {
    let place = place_of(text, at).expect("the targets were checked");
    let chance = super::targets::decimal(&text[place]).expect("the targets were checked");
    chance.millionths()
}

/// A profile with the value at a path that was checked changed, and nothing else.
pub(super) fn with(text: &str, at: &str, value: u32) -> String {
    let place = place_of(text, at).expect("the targets were checked");
    let mut changed = text.to_owned();
    changed.replace_range(place, &format!("\"{}\"", decimal(value)));
    changed
}
/// Millionths as a decimal without idle zeros.
pub(super) fn decimal(millionths: u32) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// To four digits.
pub(super) const fn rounded(millionths: u32) -> u32 {
    (millionths + STEP / 2) / STEP * STEP
}

/// The one that is off less; the first of two that are alike.
fn better(first: Tried, second: Tried, cells: &[Published]) -> Tried {
    if second.off(cells) < first.off(cells) {
        second
    } else {
        first
    }
}

fn between(number: f64, one: f64, other: f64) -> bool {
    (one.min(other)..=one.max(other)).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_changed_and_the_comments_stay() {
        let text = "P(a: [(chance: \"0.5\")], /* why */ b: \"0.25\")";
        assert_eq!(
            with(text, "a[0].chance", 31_000),
            "P(a: [(chance: \"0.031\")], /* why */ b: \"0.25\")"
        );
    }

    #[test]
    fn millionths_are_written_as_short_decimals() {
        for (millionths, text) in [
            (0, "0"),
            (1_000_000, "1"),
            (388_000, "0.388"),
            (100, "0.0001"),
        ] {
            assert_eq!(decimal(millionths), text);
        }
        assert_eq!(rounded(388_049), 388_000);
        assert_eq!(rounded(388_050), 388_100);
    }
}
