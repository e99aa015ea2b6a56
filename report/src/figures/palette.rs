//! Colours, patterns and marks by which policies and parts of a system are told apart.
//!
//! The colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008), chosen to be told
//! apart with any common colour vision; grey stands in for their black, which is kept for the ink.
//! In print without colours the patterns and the marks still differ.

use super::svg::{Drawing, Point, Stroke, at};

/// Letters and lines.
pub(crate) const INK: &str = "#000000";
/// The background.
pub(crate) const PAPER: &str = "#ffffff";
/// What only guides the eye.
pub(crate) const FAINT: &str = "#dddddd";
/// What is trusted.
pub(crate) const BLUE: &str = "#0072b2";
/// What is not, and what is denied.
pub(crate) const VERMILLION: &str = "#d55e00";
/// What is authorised.
pub(crate) const GREEN: &str = "#009e73";

/// The colours in the order in which policies take them.
const COLORS: [&str; 8] = [
    "#999999", // grey
    "#e69f00", // orange
    "#f0e442", // yellow
    "#56b4e9", // sky blue
    "#d55e00", // vermillion
    "#009e73", // bluish green
    "#0072b2", // blue
    "#cc79a7", // reddish purple
];

/// What is drawn over the colours, each in a square of 8 by 8.
const PATTERNS: [&str; 8] = [
    "",
    "M0 8L8 0",
    "M0 4H8",
    "M4 0V8",
    "M0 0L8 8",
    "M0 4H8M4 0V8",
    "M0 0L8 8M0 8L8 0",
    "M2 2H4M6 6H8",
];

/// The colours in which arrows are drawn.
const ARROWS: [&str; 4] = [INK, BLUE, VERMILLION, GREEN];

/// How one policy looks in all figures of a study: that of its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look(usize);

impl Look {
    /// The look of the policy at this place. After eight of them looks come again; every bar and
    /// every mark is named besides.
    pub(crate) const fn of(place: usize) -> Self {
        Self(place % COLORS.len())
    }

    /// What a bar is filled with.
    pub(crate) fn fill(self) -> String {
        format!("url(#look{})", self.0)
    }

    /// Draws its mark at a place, of this size from the middle to the side.
    pub(crate) fn mark(self, drawing: &mut Drawing, center: Point, size: f64) {
        let color = COLORS[self.0];
        let Point { x, y } = center;
        let corner = |right: f64, down: f64| at(x + right * size, y + down * size);
        match self.0 {
            0 => drawing.circle(center, size, color, Stroke::THIN),
            1 => drawing.polygon(&square(&corner), color, Stroke::THIN),
            2 => {
                let corners = [corner(0.0, -1.2), corner(1.1, 0.9), corner(-1.1, 0.9)];
                drawing.polygon(&corners, color, Stroke::THIN);
            }
            3 => {
                let corners = [
                    corner(0.0, -1.3),
                    corner(1.3, 0.0),
                    corner(0.0, 1.3),
                    corner(-1.3, 0.0),
                ];
                drawing.polygon(&corners, color, Stroke::THIN);
            }
            4 => {
                let corners = [corner(0.0, 1.2), corner(1.1, -0.9), corner(-1.1, -0.9)];
                drawing.polygon(&corners, color, Stroke::THIN);
            }
            5 => {
                let thick = Stroke::of(color, 3.0);
                drawing.line(corner(-1.0, -1.0), corner(1.0, 1.0), thick);
                drawing.line(corner(-1.0, 1.0), corner(1.0, -1.0), thick);
            }
            6 => {
                let thick = Stroke::of(color, 3.0);
                drawing.line(corner(-1.3, 0.0), corner(1.3, 0.0), thick);
                drawing.line(corner(0.0, -1.3), corner(0.0, 1.3), thick);
            }
            _ => drawing.circle(center, size, "none", Stroke::of(color, 3.0)),
        }
    }
}

fn square(corner: &dyn Fn(f64, f64) -> Point) -> [Point; 4] {
    [
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ]
}

/// The name of the head of an arrow of this colour.
pub(crate) fn arrow_head(color: &str) -> String {
    format!("arrow{}", color.trim_start_matches('#'))
}

/// Patterns and heads of arrows, which elements refer to by name.
pub(crate) fn definitions() -> String {
    let looks = COLORS.iter().zip(PATTERNS).enumerate();
    let looks = looks.map(|(place, (color, lines))| {
        format!(
            "<pattern id=\"look{place}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
             <rect width=\"8\" height=\"8\" fill=\"{color}\"/>\
             <path d=\"{lines}\" stroke=\"{INK}\" stroke-width=\"1.2\" fill=\"none\"/></pattern>\n"
        )
    });
    let heads = ARROWS.iter().map(|color| {
        format!(
            "<marker id=\"{}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" \
             markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0 0L10 5L0 10z\" fill=\"{color}\"/></marker>\n",
            arrow_head(color)
        )
    });
    looks.chain(heads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_policies_look_different_in_colour_and_without() {
        for first in 0..COLORS.len() {
            for second in first + 1..COLORS.len() {
                assert_ne!(COLORS[first], COLORS[second]);
                assert_ne!(PATTERNS[first], PATTERNS[second]);
                assert_ne!(drawn(first), drawn(second));
            }
        }
    }

    fn drawn(place: usize) -> String {
        let mut drawing = Drawing::new(20.0, 20.0, "a mark", "a mark");
        Look::of(place).mark(&mut drawing, at(10.0, 10.0), 5.0);
        drawing.finish()
    }
}
