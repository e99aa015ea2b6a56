//! The method of moments by simulation: each parameter is moved until the published number that
//! identifies it comes out, one after the other, a few times over.

use report::published::Published;
use worlds::places::place_of;

use super::simulation::Simulation;
use super::targets::{Parameter, Targets};
use crate::cli::failure::Failure;

/// How often the range of a parameter is halved.
const HALVINGS: u32 = 12;

/// A parameter is a decimal of four digits: so many millionths.
const STEP: u32 = 100;

/// A number is met when it is off by no more than this part of its tolerance.
const CLOSE: f64 = 0.05;

/// From the second sweep on a parameter is looked for within this part of its range.
const NEAR: u32 = 8;

/// A fitted parameter.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// Where it stands.
    pub(super) at: String,
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
    /// How much it moves with the parameter: the slope about the value.
    pub(super) sensitivity: f64,
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
    numbers: Vec<f64>,
}

impl Tried {
    /// How far the numbers are off, in tolerances: the sum of squares.
    fn off(&self, cells: &[Published]) -> f64 {
        let offs = self.offs(cells);
        offs.map(|off| off * off).sum()
    }

    fn offs(&self, cells: &[Published]) -> impl Iterator<Item = f64> {
        let numbers = self.numbers.iter().zip(cells);
        numbers.map(|(number, cell)| (number - cell.value) / cell.tolerance)
    }

    /// Whether every number is met as well as matters.
    fn is_met(&self, cells: &[Published]) -> bool {
        self.offs(cells).all(|off| off.abs() <= CLOSE)
    }
}

impl<'a> Fit<'a> {
    /// Begins with every free parameter in the middle of its range, whatever the profile says: the
    /// result depends on the targets only.
    pub(super) fn begin(simulation: &'a Simulation, profile: &str, targets: &Targets) -> Self {
        let mut fit = Self {
            simulation,
            text: profile.to_owned(),
        };
        for parameter in &targets.parameters {
            if let Some((low, high)) = parameter.bounds() {
                fit.set(&parameter.at, rounded(low.midpoint(high)));
            }
        }
        fit
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
        let cells = parameter.published();
        let (mut low, mut high) = parameter.bounds().expect("the targets were checked");
        let mut best = None;
        if sweep > 0 {
            let now = self.try_value(parameter, &cells, self.get(&parameter.at))?;
            let near = rounded((high - low) / NEAR).max(STEP);
            low = now.value.saturating_sub(near).max(low);
            high = (now.value + near).min(high);
            best = Some(now);
        }
        let best = match best.filter(|now| now.is_met(&cells)) {
            Some(met) => met,
            None => self.search(parameter, &cells, low, high)?,
        };
        self.set(&parameter.at, best.value);
        let moments = cells
            .iter()
            .zip(&best.numbers)
            .map(|(cell, number)| Moment {
                cell: cell.clone(),
                simulated: *number,
                sensitivity: f64::NAN,
            });
        Ok(Fitted {
            at: parameter.at.clone(),
            value: best.value,
            moments: moments.collect(),
            at_a_bound: !best.is_met(&cells) && parameter.is_bound(best.value),
        })
    }

    /// Looks between two values. One number grows or falls with its parameter, so the range is halved;
    /// several are weighed against each other, so the range is cut in thirds.
    fn search(
        &self,
        parameter: &Parameter,
        cells: &[Published],
        low: u32,
        high: u32,
    ) -> Result<Tried, Failure> {
        let mut below = self.try_value(parameter, cells, low)?;
        let mut above = self.try_value(parameter, cells, high)?;
        let mut best = better(below.clone(), above.clone(), cells);
        for _ in 0..HALVINGS {
            if best.is_met(cells) || above.value - below.value <= STEP {
                break;
            }
            if let [cell] = cells {
                if !between(cell.value, below.numbers[0], above.numbers[0]) {
                    break;
                }
                let middle =
                    self.try_value(parameter, cells, rounded(below.value.midpoint(above.value)))?;
                best = better(best, middle.clone(), cells);
                if between(cell.value, below.numbers[0], middle.numbers[0]) {
                    above = middle;
                } else {
                    below = middle;
                }
            } else {
                let third = (above.value - below.value) / 3;
                let first = self.try_value(parameter, cells, rounded(below.value + third))?;
                let second = self.try_value(parameter, cells, rounded(above.value - third))?;
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
        for (one, parameter) in fitted.iter_mut().zip(&targets.parameters) {
            let (low, high) = parameter.bounds().expect("the targets were checked");
            let near = rounded((high - low) / NEAR).max(STEP);
            let ends = [
                one.value.saturating_sub(near).max(low),
                (one.value + near).min(high),
            ];
            let width = f64::from(ends[1] - ends[0]) / 1e6;
            let [first, second] = ends.map(|value| with(&self.text, &one.at, value));
            for moment in &mut one.moments {
                let number = |profile: &str| self.simulation.number(profile, &moment.cell);
                let (first, second) = (number(&first)?, number(&second)?);
                moment.simulated = number(&self.text)?;
                moment.sensitivity = (second - first) / width;
            }
        }
        Ok(())
    }

    fn try_value(
        &self,
        parameter: &Parameter,
        cells: &[Published],
        value: u32,
    ) -> Result<Tried, Failure> {
        let text = with(&self.text, &parameter.at, value);
        let numbers = cells.iter().map(|cell| self.simulation.number(&text, cell));
        let numbers = numbers.collect::<Result<_, _>>();
        let numbers = numbers.map_err(|failure: Failure| {
            let tried = format!("while `{}` was {}", parameter.at, decimal(value));
            failure.explained(&tried, "narrow its bounds in the targets")
        })?;
        Ok(Tried { value, numbers })
    }

    fn get(&self, at: &str) -> u32 {
        let place = place_of(&self.text, at).expect("the targets were checked");
        let chance = super::targets::decimal(&self.text[place]).expect("the targets were checked");
        chance.millionths()
    }

    fn set(&mut self, at: &str, value: u32) {
        self.text = with(&self.text, at, value);
    }
}

/// A profile with one value changed, and nothing else.
fn with(text: &str, at: &str, value: u32) -> String {
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
const fn rounded(millionths: u32) -> u32 {
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
