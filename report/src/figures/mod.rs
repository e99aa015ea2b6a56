//! The paper's Figures 1 to 7 as SVG, each made anew from what it is about: rows, a manifest, a
//! world, or two traces. One file for each figure; a figure is a function from data to text.
//!
//! Plots are plain elements of our own (`svg`) rather than those of a plotting crate: the same
//! writer draws the schematics, which no such crate does, and it names patterns, titles and
//! descriptions, which none of the light ones can.

mod bars;
mod completion;
mod layered;
mod memory;
mod operating_points;
mod palette;
mod pipeline;
pub mod repair;
mod strong_baseline;
mod svg;
pub mod threat_model;

use std::fmt;

use crate::analysis::Analysis;
use svg::{Anchor, Drawing, Letters, at};

/// The figures that are drawn from a study alone, by their number in the paper.
const OF_STUDIES: [(u8, Maker); 5] = [
    (3, completion::figure),
    (4, operating_points::figure),
    (5, strong_baseline::figure),
    (6, memory::figure),
    (7, |analysis| Ok(pipeline::figure(analysis))),
];

type Maker = fn(&Analysis<'_>) -> Result<String, NothingToDraw>;

/// Why there is no figure: what it would be drawn from is not there. The others can be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NothingToDraw(String);

impl NothingToDraw {
    fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for NothingToDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A figure that is drawn from a study alone, as SVG, or why it cannot be; none if the figure of
/// this number is drawn from something else.
#[must_use]
pub fn of_study(analysis: &Analysis<'_>, number: u8) -> Option<Result<String, NothingToDraw>> {
    let (_, make) = OF_STUDIES.iter().find(|(other, _)| *other == number)?;
    Some(make(analysis))
}

/// The room at the sides of a plot.
const MARGIN: f64 = 20.0;

/// Writes the title of a plot above it.
fn heading(drawing: &mut Drawing, title: &str) {
    let letters = Letters::new(16.0, Anchor::Start).bold();
    drawing.text(at(MARGIN, 28.0), title, letters);
}

/// Writes below a plot of this width what it shows, what its lines are, and of which study it is.
fn note(drawing: &mut Drawing, top: f64, width: f64, shows: &str, study: &str) {
    let text = format!("{shows} {INTERVALS} {study}");
    let letters = Letters::new(11.0, Anchor::Start);
    drawing.paragraph(at(MARGIN, top), &text, letters, width - 2.0 * MARGIN);
}

/// What a study is called below its figures.
fn study_words(analysis: &Analysis<'_>) -> String {
    let frozen = &analysis.evidence.manifest.frozen;
    format!(
        "Study {}, model {}, {} scenarios, {} seeds.",
        frozen.name,
        analysis.evidence.model,
        frozen.scenarios.len(),
        frozen.seeds.len(),
    )
}

/// What the lines on bars and marks are.
const INTERVALS: &str = "Lines: 95 % intervals for scenarios like these, by percentile bootstrap over scenarios with all \
     their seeds; where nothing or everything happened, the exact interval over scenarios, and where \
     few scenarios have an event, or lack one, no end nearer than that.";

#[cfg(test)]
mod tests;
