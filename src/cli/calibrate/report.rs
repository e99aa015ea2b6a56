//! What a fit says of itself: what was fitted, to what, how surely, and what nothing identifies.

use report::published::{self, Class};
use report::table::{Cell, Table};
use serde_json::json;

use super::fit::{Fitted, Moment};
use super::targets::Targets;

/// What a number says of its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// Most of those that the parameter is fitted to.
    Most,
    /// Something.
    Something,
    /// Only on which side of a step it lies.
    Coarse,
    /// Nothing: it hardly moves.
    Nothing,
    /// It cannot be told, because the number does not exist nearby.
    Unknown,
}

impl Says {
    const fn name(self) -> &'static str {
        match self {
            Self::Most => "yes",
            Self::Something => "less",
            Self::Coarse => "coarsely",
            Self::Nothing => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// What each number of a parameter says of it.
fn says(fitted: &Fitted) -> Vec<Says> {
    let moments = fitted.moments.iter();
    let strengths = moments.map(|moment| moment.strength(&fitted.parameter));
    let strengths: Vec<Option<f64>> = strengths.collect();
    let most = strengths.iter().flatten().copied().fold(0.0, f64::max);
    let mut is_taken = false;
    let says = fitted.moments.iter().zip(strengths);
    let says = says.map(|(moment, strength)| match strength {
        None => Says::Unknown,
        Some(strength) if Moment::is_nothing(strength) => match moment.over_range {
            Some(moved) if !Moment::is_nothing((moved / moment.cell.tolerance).abs()) => {
                Says::Coarse
            }
            _ => Says::Nothing,
        },
        Some(strength) if strength >= most && !is_taken => {
            is_taken = true;
            Says::Most
        }
        Some(_) => Says::Something,
    });
    says.collect()
}

/// What was fitted, to what, and how surely.
pub(super) fn report(fitted: &[Fitted], targets: &Targets) -> Table {
    let mut table = Table::new(
        "calibration",
        "Fitted parameters",
        &[
            "Parameter",
            "Value",
            "Fitted to",
            "Identifies it",
            "Published",
            "Simulated",
            "Difference",
            "Seed error",
            "Sensitivity",
            "Remark",
        ],
    );
    for one in fitted {
        let says = says(one);
        let remark = remark(one, &says);
        for (moment, says) in one.moments.iter().zip(says) {
            let (cell, simulated) = (&moment.cell, moment.simulated);
            table.row([
                Cell::text(one.parameter.at.clone()),
                Cell::number(Some(f64::from(one.value) / 1e6), 4),
                Cell::text(cell.id.clone()),
                Cell::text(says.name()),
                Cell::number(Some(cell.value), cell.decimals),
                Cell::number(Some(simulated), cell.decimals),
                Cell::number(Some(simulated - cell.value), cell.decimals),
                Cell::number(moment.seed_error, 5),
                Cell::number(moment.sensitivity, 3),
                Cell::text(remark.clone()),
            ]);
        }
    }
    notes(&mut table, fitted.len(), targets);
    table
}

fn remark(one: &Fitted, says: &[Says]) -> String {
    let mut remarks = Vec::new();
    let all = |weak: &[Says]| says.iter().all(|says| weak.contains(says));
    if all(&[Says::Nothing]) {
        remarks.push("not identified");
    } else if all(&[Says::Nothing, Says::Coarse]) {
        remarks.push("identified coarsely");
    }
    if one.at_a_bound {
        remarks.push("at a bound");
    }
    remarks.join(", ")
}

fn notes(table: &mut Table, parameters: usize, targets: &Targets) {
    table.note(format!(
        "Numbers are means over the study seeds {}. Seed error: how far such a mean may be off because there \
         are only so many of them (the standard error; N/A for one). Sensitivity: how much the number moves \
         if the parameter moves by 1, from the slope about the value.",
        json!(targets.study_seeds),
    ));
    table.note(
        "Identifies it: of the numbers that a parameter is fitted to, the one that moves most with it, in \
         tolerances, has yes, others less. No: over the whole range of the parameter it would move by less \
         than a tenth of its tolerance. Coarsely: it goes in steps, moves between the bounds and not about \
         the value, so that other values nearby fit as well. A parameter that none of its numbers moves with \
         is not identified: its value says nothing.",
    );
    let cells = published::cells();
    let of = |class: Class| cells.iter().filter(|cell| cell.class == class).count();
    table.note(format!(
        "Free parameters: {parameters}. Of the published numbers {} are targets, {} are the same quantities \
         again, {} are held out, {} follow from the logic of policies and {} are counts.",
        of(Class::Target),
        of(Class::Restated),
        of(Class::HeldOut),
        of(Class::ByConstruction),
        of(Class::Accounting),
    ));
}

#[cfg(test)]
mod tests {
    use super::super::targets::Parameter;
    use super::*;

    fn fitted(sensitivities: &[Option<f64>]) -> Fitted {
        let cells = published::cells();
        let cell = cells
            .iter()
            .find(|cell| cell.id == "t22.none.parse_failure")
            .expect("a published number");
        let moment = |sensitivity: &Option<f64>| Moment {
            cell: cell.clone(),
            simulated: cell.value,
            seed_error: None,
            // In tolerances over the whole range.
            sensitivity: sensitivity.map(|strength| strength * cell.tolerance),
            over_range: None,
        };
        Fitted {
            parameter: Parameter {
                at: "broken_off[0].chance".to_owned(),
                cells: vec![cell.clone(); sensitivities.len()],
                low: 0,
                high: 1_000_000,
            },
            value: 500_000,
            moments: sensitivities.iter().map(moment).collect(),
            at_a_bound: false,
        }
    }

    #[test]
    fn the_number_that_moves_most_identifies_a_parameter() {
        let one = fitted(&[Some(1.0), Some(-3.0), Some(0.01), None]);
        let expected = [Says::Something, Says::Most, Says::Nothing, Says::Unknown];
        assert_eq!(says(&one), expected);
        assert_eq!(remark(&one, &expected), "");
    }

    #[test]
    fn a_parameter_that_moves_nothing_is_not_identified() {
        let mut one = fitted(&[Some(0.0), Some(-0.05)]);
        assert_eq!(remark(&one, &says(&one)), "not identified");
        one.moments[0].over_range = Some(-one.moments[0].cell.tolerance);
        assert_eq!(says(&one), [Says::Coarse, Says::Nothing]);
        assert_eq!(remark(&one, &says(&one)), "identified coarsely");
    }
}
