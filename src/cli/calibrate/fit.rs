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
    /// The number that identifies it.
    pub(super) cell: Published,
    /// What the number comes out as.
    pub(super) simulated: f64,
    /// How much the number moves with the parameter: the slope about the value.
    pub(super) sensitivity: f64,
    /// Whether the number lies beyond what the bounds allow.
    pub(super) at_a_bound: bool,
}

impl Fitted {
    fn new(parameter: &Parameter, cell: Published, tried: Tried, at_a_bound: bool) -> Self {
        Self {
            at: parameter.at.clone(),
            value: tried.value,
            simulated: tried.number,
            sensitivity: f64::NAN,
            at_a_bound,
            cell,
        }
    }
}

/// A profile as it is fitted.
pub(super) struct Fit<'a> {
    simulation: &'a Simulation,
    text: String,
}

/// A value of the parameter and what the number then is.
#[derive(Clone, Copy)]
struct Tried {
    value: u32,
    number: f64,
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

    /// Moves a parameter until its number is met as well as it can be. In a `sweep` after the first
    /// it is not looked for far away.
    pub(super) fn parameter(
        &mut self,
        parameter: &Parameter,
        sweep: u32,
    ) -> Result<Fitted, Failure> {
        let cell = parameter.published().expect("the targets were checked");
        let (least, most) = parameter.bounds().expect("the targets were checked");
        let (mut low, mut high) = (least, most);
        if sweep > 0 {
            let now = self.try_value(parameter, &cell, self.get(&parameter.at))?;
            if is_met(now, &cell) {
                return Ok(Fitted::new(parameter, cell, now, false));
            }
            let near = rounded((most - least) / NEAR).max(STEP);
            low = now.value.saturating_sub(near).max(least);
            high = (now.value + near).min(most);
        }
        let (mut below, mut above) = (
            self.try_value(parameter, &cell, low)?,
            self.try_value(parameter, &cell, high)?,
        );
        let mut best = better(below, above, &cell);
        let at_a_bound = !between(cell.value, below.number, above.number);
        for _ in 0..HALVINGS {
            let middle = rounded(below.value.midpoint(above.value));
            if at_a_bound || is_met(best, &cell) || middle <= below.value || middle >= above.value {
                break;
            }
            let tried = self.try_value(parameter, &cell, middle)?;
            best = better(best, tried, &cell);
            if between(cell.value, below.number, tried.number) {
                above = tried;
            } else {
                below = tried;
            }
        }
        self.set(&parameter.at, best.value);
        let is_beyond = at_a_bound && !is_met(best, &cell);
        Ok(Fitted::new(parameter, cell, best, is_beyond))
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
            let mut numbers = [0.0; 2];
            for (number, value) in numbers.iter_mut().zip(ends) {
                *number = self
                    .simulation
                    .number(&with(&self.text, &one.at, value), &one.cell)?;
            }
            let width = f64::from(ends[1] - ends[0]) / 1e6;
            one.sensitivity = (numbers[1] - numbers[0]) / width;
            one.simulated = self.simulation.number(&self.text, &one.cell)?;
        }
        Ok(())
    }

    fn try_value(
        &self,
        parameter: &Parameter,
        cell: &Published,
        value: u32,
    ) -> Result<Tried, Failure> {
        let text = with(&self.text, &parameter.at, value);
        let number = self.simulation.number(&text, cell)?;
        Ok(Tried { value, number })
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

fn better(first: Tried, second: Tried, cell: &Published) -> Tried {
    let off = |tried: Tried| (tried.number - cell.value).abs();
    if off(second) < off(first) {
        second
    } else {
        first
    }
}

fn is_met(tried: Tried, cell: &Published) -> bool {
    (tried.number - cell.value).abs() <= CLOSE * cell.tolerance
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
