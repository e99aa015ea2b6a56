//! Figure 4: committed violation against logged spread, a mark for each policy.
//!
//! Policies without a violation stand on one line, and some of them at the same place: the paper
//! says that this is why it relies on tables by stage instead. So every mark is listed with its
//! numbers, and marks at one place are drawn around each other.

use statistics::Interval;

use super::palette::{INK, Look, PAPER};
use super::svg::{Anchor, Area, Drawing, Letters, Point, Stroke, at};
use super::{MARGIN, NothingToDraw, heading, note, study_words};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::{HARM, SPREAD};
use crate::table::Cell;

const TITLE: &str = "Figure 4. Endpoint policy and logged spread";
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 496.0;
/// Where marks stand.
const AREA: Area = Area {
    left: 90.0,
    top: 56.0,
    width: 520.0,
    height: 300.0,
};
/// From the middle of a mark to its side.
const MARK: f64 = 6.0;
/// Marks that are nearer than this hide each other, in pixels.
const NEAR: f64 = 5.0;
/// From where the axes meet to the break of one that does not begin at 0.
const BREAK: f64 = 16.0;
/// How many parts an axis has at least.
const PARTS: f64 = 4.0;

/// One policy.
#[derive(Clone, Debug)]
struct Mark<'r> {
    policy: &'r str,
    look: Look,
    /// Logged spread.
    x: f64,
    x_interval: Option<Interval>,
    /// Committed violation.
    y: f64,
    y_interval: Option<Interval>,
    n: u64,
}

/// Endpoint and spread over all stages.
pub(super) fn figure(analysis: &Analysis<'_>) -> Result<String, NothingToDraw> {
    let evidence = &analysis.evidence;
    let mark = |(place, policy)| {
        let interval = |metric| analysis.estimate(metric, Scope::All, policy)?.interval;
        let spread = evidence.mean(SPREAD, Scope::All, policy);
        Some(Mark {
            policy,
            look: Look::of(place),
            x: spread.value?,
            x_interval: interval(SPREAD),
            y: evidence.mean(HARM, Scope::All, policy).value?,
            y_interval: interval(HARM),
            n: spread.n,
        })
    };
    let marks: Vec<Mark<'_>> = evidence.policies().enumerate().filter_map(mark).collect();
    if marks.is_empty() {
        return Err(NothingToDraw::because(
            "the result has no rows with numbers",
        ));
    }
    Ok(draw(&marks, &study_words(analysis)))
}

fn draw(marks: &[Mark<'_>], study: &str) -> String {
    let told = marks.iter().map(|mark| {
        format!(
            "{} {} and {}",
            mark.policy,
            printed(mark.y),
            printed(mark.x)
        )
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let description = format!("Committed violation and logged spread over all stages: {told}.");
    let mut drawing = Drawing::new(WIDTH, HEIGHT, TITLE, description);
    heading(&mut drawing, TITLE);
    let x = Axis::around(marks.iter().map(|mark| (mark.x, mark.x_interval)));
    let y = Axis::around(marks.iter().map(|mark| (mark.y, mark.y_interval)));
    draw_axes(&mut drawing, &x, &y);
    draw_marks(&mut drawing, marks, &x, &y);
    draw_list(&mut drawing, marks);
    let n = marks.iter().map(|mark| mark.n).max().unwrap_or_default();
    let shows = format!(
        "All stages, {n} rollouts for each defence. Marks at one place are drawn around each other. \
         Spread counts what the instrumentation logged, over stages in which it means different \
         things: diagnostic only."
    );
    note(&mut drawing, HEIGHT - 58.0, WIDTH, &shows, study);
    drawing.finish()
}

fn printed(number: f64) -> String {
    Cell::rate(Some(number)).to_string()
}

/// The numbers of an axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    from: f64,
    /// The distance of two ticks.
    step: f64,
    /// How many steps there are.
    steps: u32,
}

impl Axis {
    /// An axis that holds all values with their intervals, its ticks at multiples of 1, 2 or 5.
    fn around(values: impl Iterator<Item = (f64, Option<Interval>)>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (value, interval) in values {
            low = low.min(interval.map_or(value, |interval| interval.low));
            high = high.max(interval.map_or(value, |interval| interval.high));
        }
        let step = step_of((high - low).max(0.01) / PARTS);
        let from = (low / step).floor() * step;
        let mut steps = 1;
        while from + step * f64::from(steps) < high {
            steps += 1;
        }
        Self { from, step, steps }
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        (0..=self.steps).map(move |tick| self.from + self.step * f64::from(tick))
    }

    /// Where a value is, from 0 to 1.
    fn part(self, value: f64) -> f64 {
        (value - self.from) / (self.step * f64::from(self.steps))
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is no larger than `rough`, at least 0.001.
fn step_of(rough: f64) -> f64 {
    let steps = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002];
    let fitting = steps.into_iter().find(|step| *step <= rough);
    fitting.unwrap_or(0.001)
}

fn draw_axes(drawing: &mut Drawing, x: &Axis, y: &Axis) {
    let letters = Letters::new(11.0, Anchor::Middle);
    for tick in x.ticks() {
        let place = AREA.left + x.part(tick) * AREA.width;
        drawing.line(at(place, AREA.top), at(place, AREA.bottom()), Stroke::GUIDE);
        let tick = format!("{tick:.3}");
        drawing.text(at(place, AREA.bottom() + 18.0), &tick, letters);
    }
    let letters = Letters::new(11.0, Anchor::End);
    for tick in y.ticks() {
        let place = AREA.bottom() - y.part(tick) * AREA.height;
        drawing.line(at(AREA.left, place), at(AREA.right(), place), Stroke::GUIDE);
        let tick = format!("{tick:.3}");
        drawing.text(at(AREA.left - 8.0, place + 4.0), &tick, letters);
    }
    let corner = at(AREA.left, AREA.bottom());
    drawing.line(at(AREA.left, AREA.top), corner, Stroke::THIN);
    drawing.line(corner, at(AREA.right(), AREA.bottom()), Stroke::THIN);
    let letters = Letters::new(12.0, Anchor::Middle);
    drawing.text(
        at(AREA.center(), AREA.bottom() + 40.0),
        "Logged taint spread, all stages (share of reachable nodes)",
        letters,
    );
    if x.from > 0.0 {
        let after = at(AREA.left + BREAK, AREA.bottom());
        broken(drawing, after, at(3.0, 7.0));
        let said = format!(
            "// This axis is broken: it begins at {:.3}, not at 0.",
            x.from
        );
        let letters = Letters::new(11.0, Anchor::Middle).bold();
        drawing.text(at(AREA.center(), AREA.bottom() + 56.0), &said, letters);
    }
    if y.from > 0.0 {
        let above = at(AREA.left, AREA.bottom() - BREAK);
        broken(drawing, above, at(7.0, 3.0));
        let said = format!("= begins at {:.3}, not at 0", y.from);
        let letters = Letters::new(11.0, Anchor::Start).bold();
        drawing.text(
            at(AREA.left + 14.0, AREA.bottom() - BREAK + 4.0),
            &said,
            letters,
        );
    }
    let letters = Letters::new(12.0, Anchor::Middle);
    drawing.text(
        at(34.0, AREA.middle()),
        "Committed policy violation (share of rollouts)",
        letters.upwards(),
    );
}

/// Interrupts an axis there: two lines across it that lean so far, with nothing between them.
fn broken(drawing: &mut Drawing, place: Point, lean: Point) {
    let (across, along) = (lean.y > lean.x, 3.0);
    let offset = |by: f64| {
        if across {
            at(place.x + by, place.y)
        } else {
            at(place.x, place.y + by)
        }
    };
    drawing.line(offset(-along), offset(along), Stroke::of(PAPER, 4.0));
    for by in [-along, along] {
        let middle = offset(by);
        let from = at(middle.x - lean.x, middle.y + lean.y);
        let to = at(middle.x + lean.x, middle.y - lean.y);
        drawing.line(from, to, Stroke::of(INK, 1.6));
    }
}

fn draw_marks(drawing: &mut Drawing, marks: &[Mark<'_>], x: &Axis, y: &Axis) {
    let place = |mark: &Mark<'_>| {
        at(
            AREA.left + x.part(mark.x) * AREA.width,
            AREA.bottom() - y.part(mark.y) * AREA.height,
        )
    };
    for mark in marks {
        let center = place(mark);
        let gray = Stroke::of("#777777", 1.2);
        if let Some(interval) = mark.x_interval {
            let end = |share: f64| at(AREA.left + x.part(share) * AREA.width, center.y);
            drawing.line(end(interval.low), end(interval.high), gray);
        }
        if let Some(interval) = mark.y_interval {
            let end = |share: f64| at(center.x, AREA.bottom() - y.part(share) * AREA.height);
            drawing.line(end(interval.low), end(interval.high), gray);
        }
    }
    // The outermost first, so that those within stay visible.
    for (index, mark) in marks.iter().enumerate().rev() {
        let center = place(mark);
        let is_near = |other: &&Mark<'_>| {
            let other = place(other);
            (other.x - center.x).abs() < NEAR && (other.y - center.y).abs() < NEAR
        };
        let before = marks[..index].iter().filter(is_near).count();
        let around = f64::from(u32::try_from(before).unwrap_or(u32::MAX));
        mark.look.mark(drawing, center, MARK + 4.0 * around);
    }
}

/// Every mark with its policy and numbers.
fn draw_list(drawing: &mut Drawing, marks: &[Mark<'_>]) {
    let left = AREA.right() + 36.0;
    let heading = Letters::new(11.0, Anchor::Start).bold();
    let ends = [left + 220.0, WIDTH - MARGIN];
    drawing.text(at(left, AREA.top + 4.0), "Defence", heading);
    for (end, heading) in ends.iter().zip(["Violation", "Spread"]) {
        let letters = Letters::new(11.0, Anchor::End).bold();
        drawing.text(at(*end, AREA.top + 4.0), heading, letters);
    }
    let mut y = AREA.top + 30.0;
    for mark in marks {
        mark.look.mark(drawing, at(left + 7.0, y - 4.0), MARK);
        let name = Letters::new(11.0, Anchor::Start).fitting(mark.policy, 130.0);
        drawing.text(at(left + 24.0, y), mark.policy, name);
        for (end, number) in ends.iter().zip([mark.y, mark.x]) {
            let letters = Letters::new(11.0, Anchor::End);
            drawing.text(at(*end, y), &printed(number), letters);
        }
        y += 26.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_well_formed;
    use super::*;

    fn marks() -> Vec<Mark<'static>> {
        let mark = |place, policy, x, y| Mark {
            policy,
            look: Look::of(place),
            x,
            x_interval: Some(Interval {
                low: x - 0.01,
                high: x + 0.01,
                level: 0.95,
            }),
            y,
            y_interval: None,
            n: 2520,
        };
        vec![
            mark(0, "none", 0.5832, 0.1183),
            mark(3, "tool_boundary", 0.5528, 0.0),
            mark(5, "intent_ledger_v2", 0.5528, 0.0),
        ]
    }

    #[test]
    fn every_policy_is_listed_with_its_numbers() {
        let svg = draw(&marks(), "Study s.");
        assert_well_formed(&svg);
        for label in ["none", "0.1183", "0.5832", "intent_ledger_v2", "0.0000"] {
            assert!(svg.contains(&format!(">{label}</text>")), "no {label}");
        }
        assert!(svg.contains("Committed policy violation (share of rollouts)</text>"));
        assert!(svg.contains("Logged taint spread, all stages (share of reachable nodes)</text>"));
        assert_eq!(svg, draw(&marks(), "Study s."));
    }

    /// The mark of the third policy stands around that of the second.
    #[test]
    fn marks_at_one_place_are_both_seen() {
        let mut apart = marks();
        apart[2].x = 0.6;
        assert_ne!(draw(&marks(), "").len(), draw(&apart, "").len());
        let x = Axis::around(marks().iter().map(|mark| (mark.x, None)));
        let y = Axis::around(marks().iter().map(|mark| (mark.y, None)));
        let mut drawing = Drawing::new(WIDTH, HEIGHT, "", "");
        draw_marks(&mut drawing, &marks()[1..], &x, &y);
        let mut alone = Drawing::new(WIDTH, HEIGHT, "", "");
        draw_marks(&mut alone, &marks()[2..], &x, &y);
        let last = |svg: String| {
            let lines = svg
                .lines()
                .filter(|line| line.contains("stroke-width=\"3\""));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_ne!(last(drawing.finish()), last(alone.finish()));
    }

    #[test]
    fn an_axis_that_does_not_begin_at_zero_says_so() {
        let svg = draw(&marks(), "");
        assert!(
            svg.contains("This axis is broken: it begins at 0."),
            "{svg}"
        );
        let mut whole = marks();
        for mark in &mut whole {
            (mark.x, mark.x_interval) = (mark.x - 0.5528, None);
        }
        assert!(!draw(&whole, "").contains("begins at"));
        for mark in &mut whole {
            mark.y += 0.5;
        }
        let svg = draw(&whole, "");
        assert_well_formed(&svg);
        assert!(svg.contains("= begins at 0.5"), "{svg}");
    }

    #[test]
    fn an_axis_holds_what_it_is_for_at_round_numbers() {
        let axis = Axis::around([(0.5528, None), (0.5832, None)].into_iter());
        assert!(axis.from <= 0.5528);
        assert!(axis.ticks().last().expect("a tick") >= 0.5832);
        assert!(axis.ticks().count() >= 4);
        let flat = Axis::around([(0.0, None)].into_iter());
        assert!(flat.steps >= 1);
    }
}
