//! Figure 3: how much authorised work over untrusted content each policy lets through, and below it
//! what harm it lets through: no defence at all lets all work through, and all harm.

use worlds::spec::Stage;

use super::bars::{self, AXIS_WIDTH, Bar, NAMES_HEIGHT, Panel};
use super::svg::{Anchor, Area, Drawing, Letters, at};
use super::{MARGIN, NothingToDraw, heading, note, study_words};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{COMPLETION, HARM};

const TITLE: &str = "Figure 3. Authorized completion by defence";
const WIDTH: f64 = 900.0;
/// The height of the bars at 1, of completion and of harm.
const HEIGHTS: [f64; 2] = [272.0, 110.0];
/// The room above a panel for its heading.
const ABOVE: f64 = 36.0;

/// A panel: what it shows, its axis and its bars.
type Shown<'p> = (&'static str, &'static str, &'p [Bar<'p>]);

/// Table 11, column `Authorized completion`; below it the violations of the security stage, if the
/// study has one.
pub(super) fn figure(analysis: &Analysis<'_>) -> Result<String, NothingToDraw> {
    let scope = Scope::Stage(Stage::ActiveTainted);
    let bars = bars::of_policies(analysis, COMPLETION, scope, |_| true);
    if bars.is_empty() {
        let why = "the result has no rows of the active-tainted stage, in which work is completed";
        return Err(NothingToDraw::because(why));
    }
    let harm = Scope::Stage(Stage::Security);
    let harm = bars::of_policies(analysis, HARM, harm, |_| true);
    Ok(draw(&bars, &harm, &study_words(analysis)))
}

fn draw(bars: &[Bar<'_>], harm: &[Bar<'_>], study: &str) -> String {
    let mut panels: Vec<Shown<'_>> = vec![(
        "Completed work: active-tainted stage, higher is better",
        "Authorized completion (share of required actions)",
        bars,
    )];
    let mut description = format!(
        "Bars of the completed share of required actions in the active-tainted stage: {}.",
        bars::told(bars)
    );
    if !harm.is_empty() {
        panels.push((
            "Harm: security stage, lower is better",
            "Violation (share)",
            harm,
        ));
        let told = bars::told(harm);
        description += &format!(" Committed violations in the security stage: {told}.");
    }
    let used = HEIGHTS.iter().take(panels.len());
    let height = used.map(|bars| ABOVE + bars + NAMES_HEIGHT).sum::<f64>() + 160.0;
    let mut drawing = Drawing::new(WIDTH, height, TITLE, description);
    heading(&mut drawing, TITLE);
    let mut below = 38.0;
    let center = MARGIN + AXIS_WIDTH + (WIDTH - 2.0 * MARGIN - AXIS_WIDTH) / 2.0;
    for ((said, axis, bars), height) in panels.into_iter().zip(HEIGHTS) {
        let letters = Letters::new(12.0, Anchor::Middle).bold();
        drawing.text(at(center, below + ABOVE - 18.0), said, letters);
        let area = Area {
            left: MARGIN + AXIS_WIDTH,
            top: below + ABOVE,
            width: WIDTH - 2.0 * MARGIN - AXIS_WIDTH,
            height,
        };
        Panel { area, axis, bars }.draw(&mut drawing);
        below = area.bottom() + NAMES_HEIGHT;
    }
    let letters = Letters::new(12.0, Anchor::Middle);
    drawing.text(at(center, below + 14.0), "Defence", letters);
    let shows = shows(bars, harm);
    note(&mut drawing, below + 44.0, WIDTH, &shows, study);
    drawing.finish()
}

/// What the panels show, in words.
fn shows(bars: &[Bar<'_>], harm: &[Bar<'_>]) -> String {
    let most = |bars: &[Bar<'_>]| bars.iter().map(|bar| bar.n).max().unwrap_or_default();
    let completed = format!(
        "Completion: active-tainted stage, {} rollouts for each defence; completed share of required \
         actions, 0 with harm.",
        most(bars)
    );
    if harm.is_empty() {
        return completed + " The study has no security stage, in which harm would show.";
    }
    format!(
        "{completed} Violation: security stage, {} rollouts for each defence; share in which a \
         violation commits. Completion alone says nothing for a defence: what stops nothing lets all \
         work through, and all harm.",
        most(harm)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_well_formed, bars};
    use super::*;

    #[test]
    fn bars_have_names_numbers_and_an_axis_with_its_unit() {
        let svg = draw(&bars(), &[], "Study s.");
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
        assert_eq!(svg, draw(&bars(), &[], "Study s."));
        assert!(svg.contains("The study has no"), "{svg}");
    }

    #[test]
    fn harm_stands_below_completion() {
        let mut harm = bars();
        harm[0].value = Some(0.3823);
        let svg = draw(&bars(), &harm, "Study s.");
        assert_well_formed(&svg);
        for label in ["0.9233", "0.3823", "Violation (share)"] {
            assert!(svg.contains(&format!(">{label}</text>")), "no {label}");
        }
        assert!(svg.contains("in the security stage: none 0.3823"), "{svg}");
    }
}
