//! Figure 6: the memory stage. What is 0 everywhere, or the same everywhere, is drawn as such: it is
//! where a stronger positive control is needed.

use worlds::spec::Stage;

use super::bars::{self, AXIS_WIDTH, Bar, NAMES_HEIGHT, Panel};
use super::svg::{Anchor, Area, Drawing, Letters, at};
use super::{MARGIN, NothingToDraw, heading, note, study_words};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{Metric, RECOVERY, REINFECTION, ROLLBACK};

const TITLE: &str = "Figure 6. Memory and recovery instrumentation";
const WIDTH: f64 = 900.0;
/// The height of the bars of a panel at 1.
const PANEL: f64 = 120.0;
/// From the top of one panel to that of the next.
const STEP: f64 = PANEL + NAMES_HEIGHT + 40.0;

/// What the panels show, from top to bottom (Table 15).
const SHOWN: [(&str, Metric); 3] = [
    ("Reinfection (share)", REINFECTION),
    ("Recovery (share)", RECOVERY),
    ("Rollback (share)", ROLLBACK),
];

/// Three panels with a bar for each policy.
pub(super) fn figure(analysis: &Analysis<'_>) -> Result<String, NothingToDraw> {
    let scope = Scope::Stage(Stage::MemoryRecovery);
    if !analysis.evidence.has_rows(scope) {
        let why = "the result has no rows of the memory and recovery stage";
        return Err(NothingToDraw::because(why));
    }
    let panels = SHOWN.map(|(axis, metric)| {
        let bars = bars::of_policies(analysis, metric, scope, |_| true);
        (axis, bars)
    });
    Ok(draw(&panels, &study_words(analysis)))
}

fn draw(panels: &[(&str, Vec<Bar<'_>>); 3], study: &str) -> String {
    let told = panels
        .iter()
        .map(|(axis, bars)| format!("{axis}: {}", bars::told(bars)));
    let told = told.collect::<Vec<_>>().join(". ");
    let height = 60.0 + 3.0 * STEP + 70.0;
    let mut drawing = Drawing::new(WIDTH, height, TITLE, format!("{told}."));
    heading(&mut drawing, TITLE);
    let mut top = 64.0;
    for (axis, bars) in panels {
        let area = Area {
            left: MARGIN + AXIS_WIDTH,
            top,
            width: WIDTH - 2.0 * MARGIN - AXIS_WIDTH,
            height: PANEL,
        };
        Panel { area, axis, bars }.draw(&mut drawing);
        top += STEP;
    }
    drawing.text(
        at(
            MARGIN + AXIS_WIDTH + (WIDTH - 2.0 * MARGIN - AXIS_WIDTH) / 2.0,
            top - 24.0,
        ),
        "Defence",
        Letters::new(12.0, Anchor::Middle),
    );
    let bars = panels.iter().flat_map(|(_, bars)| bars);
    let n = bars.map(|bar| bar.n).max().unwrap_or_default();
    let shows = format!(
        "Memory and recovery stage, shares of the rollouts to which each question applies, at most {n} \
         for each defence. What is 0 under every defence, no defence included, or the same under all, \
         supports no claim."
    );
    note(&mut drawing, top, WIDTH, &shows, study);
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_well_formed, bars};
    use super::*;

    #[test]
    fn every_panel_names_its_bars_and_a_zero_is_written() {
        let mut zero = bars();
        zero[0].value = Some(0.0);
        let panels = SHOWN.map(|(axis, _)| (axis, zero.clone()));
        let svg = draw(&panels, "Study s.");
        assert_well_formed(&svg);
        assert_eq!(svg.matches(">0.0000</text>").count(), 3);
        assert_eq!(svg.matches(">taint_only_v1</text>").count(), 3);
        for (axis, _) in SHOWN {
            assert!(svg.contains(&format!(">{axis}</text>")), "{svg}");
        }
        assert_eq!(svg, draw(&panels, "Study s."));
    }
}
