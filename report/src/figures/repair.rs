//! Figure 2: what taint alone stops and the intent ledger lets through, side by side: two traces of
//! one rollout, and what the study says of both policies.

use worlds::spec::Stage;

use super::palette::{BLUE, GREEN, INK, PAPER, VERMILLION};
use super::svg::{Anchor, Area, Drawing, Letters, Stroke, at};
use super::{NothingToDraw, study_words};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{COMPLETION, HARM};
use crate::table::Cell;

const TITLE: &str = "Figure 2. Failure-driven repair: one rollout under two policies";
/// The room at the sides.
const MARGIN: f64 = 20.0;
/// The room of the axis of ticks.
const TICKS: f64 = 54.0;
/// The width of a column, and the room between both.
const LANE: f64 = 390.0;
const GAP: f64 = 24.0;
/// The height of a step.
const STEP: f64 = 26.0;
/// Where the steps begin.
const TOP: f64 = 84.0;

/// What a step of a rollout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// An agent proposes a call.
    Proposal,
    /// The policy lets it through.
    Allowed,
    /// The policy blocks it, or asks a user who is absent.
    Denied,
    /// It commits.
    Commit,
}

impl StepKind {
    const fn stroke(self) -> Stroke {
        match self {
            Self::Proposal => Stroke::of(INK, 1.0),
            Self::Allowed => Stroke::of(GREEN, 2.2),
            Self::Denied => Stroke::dashed(VERMILLION, 2.2),
            Self::Commit => Stroke::of(BLUE, 3.4),
        }
    }

    /// What tells it apart without colours.
    const fn sign(self) -> &'static str {
        match self {
            Self::Proposal => "?",
            Self::Allowed => "+",
            Self::Denied => "x",
            Self::Commit => "=",
        }
    }
}

/// A step of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub tick: u64,
    /// What it is.
    pub kind: StepKind,
    /// What happened, in words.
    pub text: String,
}

/// A rollout under one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The policy.
    pub policy: String,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

/// Two rollouts of one scenario side by side, and below them the numbers of a study, if there is
/// one.
///
/// # Errors
/// When neither rollout has a step.
pub fn figure(
    scenario: &str,
    lanes: &[Lane; 2],
    study: Option<&Analysis<'_>>,
) -> Result<String, NothingToDraw> {
    if lanes.iter().all(|lane| lane.steps.is_empty()) {
        let why = format!("no side effect is proposed in the world `{scenario}`");
        return Err(NothingToDraw::because(why));
    }
    let numbers = lanes
        .each_ref()
        .map(|lane| study.and_then(|analysis| numbers(analysis, &lane.policy)));
    let note = match study {
        Some(analysis) if numbers.iter().any(Option::is_some) => study_words(analysis),
        _ => "No study is shown with it.".to_owned(),
    };
    Ok(draw(scenario, lanes, &numbers, &note))
}

/// Completion and violations of a policy; none if the study does not have it.
fn numbers(analysis: &Analysis<'_>, policy: &str) -> Option<[String; 2]> {
    let told = |metric, scope| {
        let mean = analysis.evidence.mean(metric, scope, policy).value?;
        let interval = analysis.estimate(metric, scope, policy)?.interval;
        Some(format!(
            "{} {}",
            Cell::rate(Some(mean)),
            Cell::interval(interval)
        ))
    };
    let completed = told(COMPLETION, Scope::Stage(Stage::ActiveTainted))?;
    let harm = told(HARM, Scope::Stage(Stage::Security)).unwrap_or_else(|| "N/A".to_owned());
    Some([
        format!("authorized completion {completed}"),
        format!("committed violation, security {harm}"),
    ])
}

fn draw(
    scenario: &str,
    lanes: &[Lane; 2],
    numbers: &[Option<[String; 2]>; 2],
    note: &str,
) -> String {
    let mut ticks: Vec<u64> = lanes
        .iter()
        .flat_map(|lane| lane.steps.iter().map(|step| step.tick))
        .collect();
    ticks.sort_unstable();
    ticks.dedup();
    let rows = |tick: u64| {
        let count = |lane: &Lane| lane.steps.iter().filter(|step| step.tick == tick).count();
        let most = lanes.iter().map(count).max().unwrap_or_default();
        f64::from(u32::try_from(most).unwrap_or(u32::MAX)) * STEP + 10.0
    };
    let end = TOP + ticks.iter().map(|tick| rows(*tick)).sum::<f64>();
    let width = 2.0 * MARGIN + TICKS + 2.0 * LANE + GAP;
    let mut drawing = Drawing::new(width, end + 116.0, TITLE, told(scenario, lanes, numbers));
    let heading = Letters::new(16.0, Anchor::Start).bold();
    drawing.text(at(MARGIN, 28.0), TITLE, heading);
    let lefts = [MARGIN + TICKS, MARGIN + TICKS + LANE + GAP];
    let mut top = TOP;
    for tick in &ticks {
        drawing.line(
            at(MARGIN + TICKS - 30.0, top - 5.0),
            at(width - MARGIN, top - 5.0),
            Stroke::GUIDE,
        );
        let letters = Letters::new(11.0, Anchor::End);
        drawing.text(
            at(MARGIN + TICKS - 14.0, top + 15.0),
            &tick.to_string(),
            letters,
        );
        for (lane, left) in lanes.iter().zip(lefts) {
            let mut step_top = top;
            for step in lane.steps.iter().filter(|step| step.tick == *tick) {
                draw_step(&mut drawing, step, at_area(left, step_top));
                step_top += STEP;
            }
        }
        top += rows(*tick);
    }
    let axis = Letters::new(12.0, Anchor::Middle).upwards();
    drawing.text(
        at(MARGIN + 8.0, f64::midpoint(TOP, end)),
        "Virtual time (ticks)",
        axis,
    );
    for ((lane, left), numbers) in lanes.iter().zip(lefts).zip(numbers) {
        let letters = Letters::new(13.0, Anchor::Middle).bold();
        drawing.text(at(left + LANE / 2.0, 64.0), &lane.policy, letters);
        let mut y = end + 18.0;
        for number in numbers.iter().flatten() {
            let letters = Letters::new(12.0, Anchor::Middle)
                .bold()
                .fitting(number, LANE);
            drawing.text(at(left + LANE / 2.0, y), number, letters);
            y += 18.0;
        }
    }
    let note = format!(
        "World {scenario}, the same script and seed on both sides. ? proposed, + allowed, x denied or \
         asked in vain, = committed. Numbers: mean and 95 % interval for scenarios like these. {note}"
    );
    let letters = Letters::new(11.0, Anchor::Start);
    drawing.paragraph(at(MARGIN, end + 68.0), &note, letters, width - 2.0 * MARGIN);
    drawing.finish()
}

fn at_area(left: f64, top: f64) -> Area {
    Area {
        left,
        top,
        width: LANE,
        height: STEP - 4.0,
    }
}

fn draw_step(drawing: &mut Drawing, step: &Step, area: Area) {
    drawing.rectangle(area, 3.0, PAPER, step.kind.stroke());
    let base = area.middle() + 4.0;
    let sign = Letters::new(12.0, Anchor::Middle).bold();
    drawing.text(at(area.left + 12.0, base), step.kind.sign(), sign);
    let letters = Letters::new(11.0, Anchor::Start).fitting(&step.text, LANE - 34.0);
    drawing.text(at(area.left + 26.0, base), &step.text, letters);
}

fn told(scenario: &str, lanes: &[Lane; 2], numbers: &[Option<[String; 2]>; 2]) -> String {
    let lane = |(lane, numbers): (&Lane, &Option<[String; 2]>)| {
        let steps = lane
            .steps
            .iter()
            .map(|step| format!("tick {}: {}", step.tick, step.text));
        let steps = steps.collect::<Vec<_>>().join("; ");
        let numbers: Vec<&str> = numbers.iter().flatten().map(String::as_str).collect();
        format!("{}: {steps}. {}", lane.policy, numbers.join(", "))
    };
    let told: Vec<String> = lanes.iter().zip(numbers).map(lane).collect();
    format!("World {scenario}. {}", told.join(". "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_well_formed;
    use super::*;

    #[test]
    fn both_sides_tell_their_steps_and_numbers() {
        let lane = |policy: &str, kind, text: &str| Lane {
            policy: policy.to_owned(),
            steps: vec![Step {
                tick: 4,
                kind,
                text: text.to_owned(),
            }],
        };
        let lanes = [
            lane("taint_only_v1", StepKind::Denied, "blocks send_invite"),
            lane("intent_ledger_v2", StepKind::Commit, "send_invite commits"),
        ];
        let numbers = [
            Some(["completed 0.1642", "harm 0"].map(str::to_owned)),
            None,
        ];
        let svg = draw("a world", &lanes, &numbers, "Study s.");
        assert_well_formed(&svg);
        for label in [
            "blocks send_invite",
            "send_invite commits",
            "completed 0.1642",
            "4",
        ] {
            assert!(svg.contains(&format!(">{label}</text>")), "no {label}");
        }
        assert!(svg.contains("Virtual time (ticks)</text>"));
        assert_eq!(svg, draw("a world", &lanes, &numbers, "Study s."));
    }

    #[test]
    fn without_a_side_effect_there_is_nothing_to_draw() {
        let lanes = ["taint_only_v1", "intent_ledger_v2"].map(|policy| Lane {
            policy: policy.to_owned(),
            steps: Vec::new(),
        });
        let why = figure("a world", &lanes, None).expect_err("nothing to draw");
        assert!(why.to_string().contains("`a world`"), "{why}");
    }
}
