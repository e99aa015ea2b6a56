//! Figure 3: how much authorised work over untrusted content each policy lets through.

use worlds::spec::Stage;

use super::bars::{self, AXIS_WIDTH, Bar, NAMES_HEIGHT, Panel};
use super::svg::{Anchor, Area, Drawing, Letters, at};
use super::{INTERVALS, NothingToDraw, study_words};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::COMPLETION;

const TITLE: &str = "Figure 3. Authorized completion by defence";
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 470.0;
/// The room at the sides.
const MARGIN: f64 = 20.0;

/// Table 11, column `Authorized completion`.
pub(super) fn figure(analysis: &Analysis<'_>) -> Result<String, NothingToDraw> {
    let scope = Scope::Stage(Stage::ActiveTainted);
    let bars = bars::of_policies(analysis, COMPLETION, scope, |_| true);
    if bars.is_empty() {
        let why = "the result has no rows of the active-tainted stage, in which work is completed";
        return Err(NothingToDraw::because(why));
    }
    Ok(draw(&bars, &study_words(analysis)))
}

fn draw(bars: &[Bar<'_>], study: &str) -> String {
    let description = format!(
        "Bars of the completed share of required actions in the active-tainted stage: {}.",
        bars::told(bars)
    );
    let mut drawing = Drawing::new(WIDTH, HEIGHT, TITLE, description);
    drawing.text(
        at(MARGIN, 28.0),
        TITLE,
        Letters::new(16.0, Anchor::Start).bold(),
    );
    let area = Area {
        left: MARGIN + AXIS_WIDTH,
        top: 62.0,
        width: WIDTH - 2.0 * MARGIN - AXIS_WIDTH,
        height: 290.0,
    };
    Panel {
        area,
        axis: "Authorized completion (share of required actions)",
        bars,
    }
    .draw(&mut drawing);
    let below = area.bottom() + NAMES_HEIGHT;
    drawing.text(
        at(area.center(), below + 14.0),
        "Defence",
        Letters::new(12.0, Anchor::Middle),
    );
    let n = bars.iter().map(|bar| bar.n).max().unwrap_or_default();
    let note = format!(
        "Active-tainted stage, {n} rollouts for each defence. Completed share of required actions, 0 \
         with harm. {INTERVALS} {study}"
    );
    let letters = Letters::new(11.0, Anchor::Start);
    drawing.paragraph(
        at(MARGIN, below + 44.0),
        &note,
        letters,
        WIDTH - 2.0 * MARGIN,
    );
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_well_formed, bars};
    use super::*;

    #[test]
    fn bars_have_names_numbers_and_an_axis_with_its_unit() {
        let svg = draw(&bars(), "Study s.");
        assert_well_formed(&svg);
        for label in [
            "taint_only_v1",
            "0.1642",
            "0.9233",
            "N/A",
            "Authorized completion (share of required actions)",
            "Defence",
        ] {
            assert!(svg.contains(&format!(">{label}</text>")), "no {label}");
        }
        assert!(svg.contains("none 0.9233 ([0.9000, 0.9500])"), "{svg}");
        assert_eq!(svg, draw(&bars(), "Study s."));
    }
}
