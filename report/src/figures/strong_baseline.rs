//! Figure 5: the strong boundary baseline beside the intent ledger, over what the paper keeps apart:
//! endpoint, utility and logged spread.

use worlds::spec::Stage;

use super::bars::{self, AXIS_WIDTH, Bar, NAMES_HEIGHT, Panel};
use super::svg::{Anchor, Area, Drawing, Letters, at};
use super::{MARGIN, NothingToDraw, heading, note, study_words};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{COMPLETION, HARM, Metric, SPREAD};

const TITLE: &str = "Figure 5. Strong-baseline operating points";
/// The two that are compared (7.2).
const POLICIES: [&str; 2] = ["tool_boundary", "intent_ledger_v2"];
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 450.0;

/// What a panel shows, and where.
struct Observable {
    heading: &'static str,
    better: &'static str,
    axis: &'static str,
    metric: Metric,
    scope: Scope,
}

const OBSERVABLES: [Observable; 3] = [
    Observable {
        heading: "Endpoint",
        better: "all stages; lower is better",
        axis: "Committed violation (share of rollouts)",
        metric: HARM,
        scope: Scope::All,
    },
    Observable {
        heading: "Utility",
        better: "active-tainted stage; higher is better",
        axis: "Authorized completion (share of actions)",
        metric: COMPLETION,
        scope: Scope::Stage(Stage::ActiveTainted),
    },
    Observable {
        heading: "Logged spread",
        better: "all stages; diagnostic",
        axis: "Logged spread (share of reachable nodes)",
        metric: SPREAD,
        scope: Scope::All,
    },
];

/// Three panels of two bars.
pub(super) fn figure(analysis: &Analysis<'_>) -> Result<String, NothingToDraw> {
    for policy in POLICIES {
        if !analysis.evidence.has_policy(policy) {
            let why =
                format!("the study has no policy `{policy}`, which is one of the two compared");
            return Err(NothingToDraw::because(why));
        }
    }
    let panels: Vec<(&Observable, Vec<Bar<'_>>)> = OBSERVABLES
        .iter()
        .map(|shown| {
            let is_wanted = |policy: &str| POLICIES.contains(&policy);
            let bars = bars::of_policies(analysis, shown.metric, shown.scope, is_wanted);
            (shown, bars)
        })
        .filter(|(_, bars)| !bars.is_empty())
        .collect();
    if panels.is_empty() {
        return Err(NothingToDraw::because(
            "the result has no rows of the two policies compared",
        ));
    }
    Ok(draw(&panels, &study_words(analysis)))
}

fn draw(panels: &[(&Observable, Vec<Bar<'_>>)], study: &str) -> String {
    let told = panels
        .iter()
        .map(|(shown, bars)| format!("{}: {}", shown.axis, bars::told(bars)));
    let told = told.collect::<Vec<_>>().join(". ");
    let mut drawing = Drawing::new(WIDTH, HEIGHT, TITLE, format!("{told}."));
    heading(&mut drawing, TITLE);
    let places = u32::try_from(panels.len()).unwrap_or(u32::MAX);
    let width = (WIDTH - 2.0 * MARGIN) / f64::from(places);
    let mut left = MARGIN;
    let mut below = 0.0;
    for (shown, bars) in panels {
        let area = Area {
            left: left + AXIS_WIDTH,
            top: 100.0,
            width: width - AXIS_WIDTH - 10.0,
            height: 240.0,
        };
        let bold = Letters::new(13.0, Anchor::Middle).bold();
        drawing.text(at(area.center(), 56.0), shown.heading, bold);
        let better = Letters::new(11.0, Anchor::Middle);
        drawing.text(at(area.center(), 72.0), shown.better, better);
        Panel {
            area,
            axis: shown.axis,
            bars,
        }
        .draw(&mut drawing);
        below = area.bottom() + NAMES_HEIGHT;
        left += width;
    }
    let shows = "Three observables that answer different questions: no sum of them is meant.";
    note(&mut drawing, below + 26.0, WIDTH, shows, study);
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_well_formed, bars};
    use super::*;

    #[test]
    fn each_observable_has_an_axis_of_its_own() {
        let panels: Vec<_> = OBSERVABLES.iter().map(|shown| (shown, bars())).collect();
        let svg = draw(&panels, "Study s.");
        assert_well_formed(&svg);
        for shown in &OBSERVABLES {
            assert!(svg.contains(&format!(">{}</text>", shown.axis)), "{svg}");
        }
        assert_eq!(svg.matches(">0.9233</text>").count(), 3);
        assert_eq!(svg, draw(&panels, "Study s."));
    }
}
