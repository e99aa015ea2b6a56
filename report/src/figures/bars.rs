//! Bars of shares between 0 and 1, with their intervals: what Figures 3, 5 and 6 are made of.

use statistics::Interval;

use super::palette::{INK, Look, PAPER};
use super::svg::{Anchor, Area, Drawing, Letters, Stroke, at};
use crate::analysis::Analysis;
use crate::evidence::Scope;
use crate::metric::Metric;
use crate::table::Cell;

/// The room at the left of a panel for its axis.
pub(super) const AXIS_WIDTH: f64 = 62.0;
/// The room below a panel for the names of its bars.
pub(super) const NAMES_HEIGHT: f64 = 24.0;

/// What every axis of shares is divided into.
const TICKS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// The part of its place that a bar fills.
const FILLED: f64 = 0.62;
/// Letters of axes and names.
const SIZE: f64 = 11.0;

/// One bar.
#[derive(Clone, Debug)]
pub(super) struct Bar<'r> {
    /// What stands below it.
    pub(super) name: &'r str,
    /// How it is filled.
    pub(super) look: Look,
    /// How high it is; none where the question does not apply.
    pub(super) value: Option<f64>,
    /// Of how many rollouts it is the mean.
    pub(super) n: u64,
    /// How far the value may be off.
    pub(super) interval: Option<Interval>,
}

impl Bar<'_> {
    /// Its height as it is printed: as in a table.
    pub(super) fn printed(&self) -> String {
        Cell::rate(self.value).to_string()
    }
}

/// The mean of a metric under each policy of a study to which it applies.
pub(super) fn of_policies<'r>(
    analysis: &Analysis<'r>,
    metric: Metric,
    scope: Scope,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Bar<'r>> {
    let evidence = &analysis.evidence;
    let placed = evidence.policies().enumerate();
    placed
        .filter(|(_, policy)| is_wanted(policy))
        .filter(|(_, policy)| evidence.rows(scope, policy).next().is_some())
        .map(|(place, policy)| {
            let mean = evidence.mean(metric, scope, policy);
            Bar {
                name: policy,
                look: Look::of(place),
                value: mean.value,
                n: mean.n,
                interval: analysis
                    .estimate(metric, scope, policy)
                    .and_then(|estimate| estimate.interval),
            }
        })
        .collect()
}

/// Bars beside each other, with the axis by which they are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panel<'p> {
    /// Where the bars stand; axis and names are outside.
    pub(super) area: Area,
    /// What the axis measures, with its unit.
    pub(super) axis: &'p str,
    /// The bars.
    pub(super) bars: &'p [Bar<'p>],
}

impl Panel<'_> {
    /// Draws axis, bars and names.
    pub(super) fn draw(&self, drawing: &mut Drawing) {
        self.axis(drawing);
        let places = u32::try_from(self.bars.len().max(1)).unwrap_or(u32::MAX);
        let place_width = self.area.width / f64::from(places);
        let mut left = self.area.left;
        for bar in self.bars {
            let place = Area {
                left,
                width: place_width,
                ..self.area
            };
            self.bar(drawing, bar, place);
            left += place_width;
        }
        let (from, to) = (self.area.left, self.area.right());
        let bottom = self.area.bottom();
        drawing.line(at(from, bottom), at(to, bottom), Stroke::THIN);
    }

    /// How high a share stands.
    fn height_of(&self, share: f64) -> f64 {
        self.area.bottom() - share * self.area.height
    }

    fn axis(&self, drawing: &mut Drawing) {
        let Area { left, .. } = self.area;
        for tick in TICKS {
            let y = self.height_of(tick);
            drawing.line(at(left, y), at(self.area.right(), y), Stroke::GUIDE);
            let number = format!("{tick:.2}");
            let letters = Letters::new(SIZE, Anchor::End);
            drawing.text(at(left - 6.0, y + SIZE * 0.35), &number, letters);
        }
        drawing.line(
            at(left, self.area.top),
            at(left, self.area.bottom()),
            Stroke::THIN,
        );
        let letters = Letters::new(SIZE + 1.0, Anchor::Middle).upwards();
        let letters = letters.fitting(self.axis, self.area.height + 30.0);
        drawing.text(
            at(left - AXIS_WIDTH + 18.0, self.area.middle()),
            self.axis,
            letters,
        );
    }

    fn bar(&self, drawing: &mut Drawing, bar: &Bar<'_>, place: Area) {
        let center = place.center();
        let mut highest = self.area.bottom();
        if let Some(value) = bar.value {
            let top = self.height_of(value);
            let width = place.width * FILLED;
            let body = Area {
                left: center - width / 2.0,
                top,
                width,
                height: self.area.bottom() - top,
            };
            drawing.rectangle(body, 0.0, &bar.look.fill(), Stroke::THIN);
            highest = top;
        }
        if let Some(interval) = bar.interval {
            let (low, high) = (self.height_of(interval.low), self.height_of(interval.high));
            let (low_end, high_end) = (at(center, low), at(center, high));
            drawing.line(low_end, high_end, Stroke::of(PAPER, 4.0));
            drawing.line(low_end, high_end, Stroke::of(INK, 1.6));
            for end in [low, high] {
                drawing.line(at(center - 5.0, end), at(center + 5.0, end), Stroke::THIN);
            }
            highest = highest.min(high);
        }
        let letters = Letters::new(SIZE, Anchor::Middle).bold();
        drawing.text(at(center, highest - 5.0), &bar.printed(), letters);
        let letters = Letters::new(SIZE, Anchor::Middle).fitting(bar.name, place.width - 4.0);
        drawing.text(at(center, self.area.bottom() + 16.0), bar.name, letters);
    }
}

/// The bars in words, for who cannot see them.
pub(super) fn told(bars: &[Bar<'_>]) -> String {
    let told = bars.iter().map(|bar| {
        let interval = bar.interval.map_or_else(String::new, |interval| {
            format!(" ({})", Cell::interval(Some(interval)))
        });
        format!("{} {}{interval}", bar.name, bar.printed())
    });
    told.collect::<Vec<_>>().join(", ")
}
