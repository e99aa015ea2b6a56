//! Boxes in columns and arrows between them: what Figures 1 and 7 are made of. Nothing is placed by
//! hand; a box stands where its column and its turn put it.

use std::cmp::Ordering;

use super::palette::{BLUE, GREEN, INK, PAPER, VERMILLION};
use super::svg::{Anchor, Area, Drawing, Letters, Point, Stroke, at, lines};

/// The room at the sides.
const MARGIN: f64 = 20.0;
/// The width of a box, and the room between columns.
const BOX: f64 = 178.0;
const GAP: f64 = 56.0;
/// Where columns begin, below their headings.
const TOP: f64 = 88.0;
/// The room between boxes of one column.
const BETWEEN: f64 = 20.0;
/// The height of a line of a box.
const LINE: f64 = 14.0;
/// How many arrows between boxes of one column are drawn beside each other before they overlap.
const LANES: u32 = 8;
/// Letters of a box.
const SIZE: f64 = 10.5;

/// What a box or an arrow stands for, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Neither of the others.
    Plain,
    /// Written by the user or the operator: blue, a thick line.
    Trusted,
    /// Written by anybody: vermillion, dashed.
    Untrusted,
    /// What allows: green, a double line.
    Authority,
}

impl Kind {
    const fn stroke(self) -> Stroke {
        match self {
            Self::Plain => Stroke::of(INK, 1.2),
            Self::Trusted => Stroke::of(BLUE, 2.2),
            Self::Untrusted => Stroke::dashed(VERMILLION, 2.2),
            Self::Authority => Stroke::of(GREEN, 2.2),
        }
    }
}

/// So many of something.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A box.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its column, from 0.
    pub(super) column: u32,
    /// What it is called.
    pub(super) name: String,
    /// What is said of it.
    pub(super) says: Vec<String>,
    /// How it looks.
    pub(super) kind: Kind,
}

/// From one box to another, by their places among the boxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: Kind,
    /// Whether it leads back as well.
    pub(super) is_both: bool,
}

/// A schematic.
#[derive(Debug, Default)]
pub(super) struct Layered {
    pub(super) title: String,
    pub(super) headings: Vec<&'static str>,
    pub(super) nodes: Vec<Node>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) note: String,
}

impl Layered {
    /// Adds a box; its place among the boxes.
    pub(super) fn add(
        &mut self,
        column: u32,
        name: impl Into<String>,
        says: &[String],
        kind: Kind,
    ) -> usize {
        self.nodes.push(Node {
            column,
            name: name.into(),
            says: says.to_vec(),
            kind,
        });
        self.nodes.len() - 1
    }

    /// Adds an arrow, if it is not there. One that leads back within its column becomes an arrow with
    /// two heads.
    pub(super) fn arrow(&mut self, from: usize, to: usize, kind: Kind) {
        let is_beside = self.nodes[from].column == self.nodes[to].column;
        for arrow in self.arrows.iter_mut().filter(|arrow| arrow.kind == kind) {
            if (arrow.from, arrow.to) == (from, to) {
                return;
            }
            if is_beside && (arrow.to, arrow.from) == (from, to) {
                arrow.is_both = true;
                return;
            }
        }
        self.arrows.push(Arrow {
            from,
            to,
            kind,
            is_both: false,
        });
    }

    /// The schematic as SVG.
    pub(super) fn draw(&self) -> String {
        let areas = self.areas();
        let columns = u32::try_from(self.headings.len()).unwrap_or(u32::MAX);
        let width = 2.0 * MARGIN + f64::from(columns) * (BOX + GAP) - GAP;
        let boxes_end = areas.iter().map(Area::bottom).fold(TOP, f64::max);
        let backward = self.arrows.iter().filter(|arrow| self.is_backward(arrow));
        let below = f64::from(u32::try_from(backward.count()).unwrap_or(u32::MAX));
        let note_at = boxes_end + 30.0 + 9.0 * below;
        let letters = Letters::new(11.0, Anchor::Start);
        let note_lines = lines(&self.note, letters.size, width - 2.0 * MARGIN).len();
        let note_lines = f64::from(u32::try_from(note_lines).unwrap_or(u32::MAX));
        let height = note_at + note_lines * 15.0 + 14.0;
        let mut drawing = Drawing::new(width, height, &self.title, self.told());
        let heading = Letters::new(16.0, Anchor::Start).bold();
        drawing.text(at(MARGIN, 28.0), &self.title, heading);
        let mut center = MARGIN + BOX / 2.0;
        for heading in &self.headings {
            let letters = Letters::new(12.0, Anchor::Middle)
                .bold()
                .fitting(heading, BOX + GAP);
            drawing.text(at(center, 62.0), heading, letters);
            center += BOX + GAP;
        }
        self.draw_arrows(&mut drawing, &areas, boxes_end);
        for (node, area) in self.nodes.iter().zip(&areas) {
            draw_box(&mut drawing, node, *area);
        }
        drawing.paragraph(
            at(MARGIN, note_at),
            &self.note,
            letters,
            width - 2.0 * MARGIN,
        );
        drawing.finish()
    }

    /// Where the boxes stand: each column from top to bottom, in the middle of the highest.
    fn areas(&self) -> Vec<Area> {
        let height_of = |column: u32| {
            let nodes = self.nodes.iter().filter(|node| node.column == column);
            nodes.map(|node| height(node) + BETWEEN).sum::<f64>() - BETWEEN
        };
        let columns = u32::try_from(self.headings.len()).unwrap_or(u32::MAX);
        let highest = (0..columns).map(height_of).fold(0.0, f64::max);
        let mut next: Vec<f64> = (0..columns)
            .map(|column| TOP + (highest - height_of(column)) / 2.0)
            .collect();
        let area = |node: &Node| {
            let top = &mut next[node.column as usize];
            let area = Area {
                left: MARGIN + f64::from(node.column) * (BOX + GAP),
                top: *top,
                width: BOX,
                height: height(node),
            };
            *top += area.height + BETWEEN;
            area
        };
        self.nodes.iter().map(area).collect()
    }

    fn is_backward(&self, arrow: &Arrow) -> bool {
        self.nodes[arrow.to].column < self.nodes[arrow.from].column
    }

    fn draw_arrows(&self, drawing: &mut Drawing, areas: &[Area], boxes_end: f64) {
        let mut beside = vec![0_u32; self.headings.len()];
        let mut below = boxes_end + 10.0;
        for arrow in &self.arrows {
            let (from, to) = (areas[arrow.from], areas[arrow.to]);
            let columns = (self.nodes[arrow.from].column, self.nodes[arrow.to].column);
            let path = match columns.0.cmp(&columns.1) {
                Ordering::Less => vec![at(from.right(), from.middle()), at(to.left, to.middle())],
                Ordering::Equal => {
                    let lane = &mut beside[columns.0 as usize];
                    *lane += 1;
                    around(from, to, 10.0 + 5.0 * f64::from(*lane % LANES))
                }
                Ordering::Greater => {
                    below += 9.0;
                    beneath(from, to, below)
                }
            };
            drawing.polyline(&path, arrow.kind.stroke(), true);
            if arrow.is_both {
                let back: Vec<Point> = path.into_iter().rev().collect();
                drawing.polyline(&back, arrow.kind.stroke(), true);
            }
        }
    }

    /// The schematic in words.
    fn told(&self) -> String {
        let boxes = self.nodes.iter().map(|node| {
            let heading = self.headings[node.column as usize];
            format!("{heading}: {} ({})", node.name, node.says.join("; "))
        });
        let arrows = self.arrows.iter().map(|arrow| {
            let (from, to) = (&self.nodes[arrow.from].name, &self.nodes[arrow.to].name);
            let back = if arrow.is_both { " and back" } else { "" };
            format!("{from} to {to}{back}")
        });
        let (boxes, arrows): (Vec<_>, Vec<_>) = (boxes.collect(), arrows.collect());
        format!(
            "Boxes: {}. Arrows: {}.",
            boxes.join(", "),
            arrows.join(", ")
        )
    }
}

/// Between boxes of one column, along its left side.
fn around(from: Area, to: Area, beside: f64) -> Vec<Point> {
    let x = from.left - beside;
    vec![
        at(from.left, from.middle()),
        at(x, from.middle()),
        at(x, to.middle()),
        at(to.left, to.middle()),
    ]
}

/// Back to an earlier column, beneath all boxes.
fn beneath(from: Area, to: Area, y: f64) -> Vec<Point> {
    let (out, back) = (from.right() + 8.0, to.right() + 8.0);
    vec![
        at(from.right(), from.middle() + 6.0),
        at(out, from.middle() + 6.0),
        at(out, y),
        at(back, y),
        at(back, to.middle() + 6.0),
        at(to.right(), to.middle() + 6.0),
    ]
}

fn wrapped(says: &[String]) -> impl Iterator<Item = String> {
    says.iter().flat_map(|text| lines(text, SIZE, BOX - 16.0))
}

fn height(node: &Node) -> f64 {
    let count = u32::try_from(wrapped(&node.says).count()).unwrap_or(u32::MAX);
    28.0 + LINE * f64::from(count)
}

fn draw_box(drawing: &mut Drawing, node: &Node, area: Area) {
    drawing.rectangle(area, 5.0, PAPER, node.kind.stroke());
    if node.kind == Kind::Authority {
        let within = Area {
            left: area.left + 3.0,
            top: area.top + 3.0,
            width: area.width - 6.0,
            height: area.height - 6.0,
        };
        drawing.rectangle(within, 3.0, PAPER, Stroke::of(GREEN, 1.0));
    }
    let letters = Letters::new(12.0, Anchor::Middle).bold();
    let letters = letters.fitting(&node.name, BOX - 14.0);
    let mut y = area.top + 18.0;
    drawing.text(at(area.center(), y), &node.name, letters);
    for line in wrapped(&node.says) {
        y += LINE;
        let letters = Letters::new(SIZE, Anchor::Middle).fitting(&line, BOX - 12.0);
        drawing.text(at(area.center(), y), &line, letters);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_well_formed;
    use super::*;

    #[test]
    fn no_two_boxes_of_a_column_overlap() {
        let mut schematic = Layered {
            title: "Boxes".to_owned(),
            headings: vec!["left", "right"],
            note: "A note.".to_owned(),
            ..Layered::default()
        };
        let first = schematic.add(0, "first", &["says much".repeat(9)], Kind::Trusted);
        let second = schematic.add(0, "second", &[], Kind::Untrusted);
        let third = schematic.add(1, "third", &["a".to_owned()], Kind::Authority);
        schematic.arrow(first, third, Kind::Plain);
        schematic.arrow(third, second, Kind::Untrusted);
        schematic.arrow(second, first, Kind::Authority);
        let areas = schematic.areas();
        assert!(areas[0].bottom() < areas[1].top);
        assert!(areas[0].right() < areas[2].left);
        let svg = schematic.draw();
        assert_well_formed(&svg);
        assert!(svg.contains(">first</text>"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert_eq!(svg, schematic.draw());
    }

    #[test]
    fn an_arrow_there_and_back_is_one_with_two_heads() {
        let mut schematic = Layered {
            headings: vec!["left", "right"],
            ..Layered::default()
        };
        let places = [0, 0, 1].map(|column| schematic.add(column, "box", &[], Kind::Plain));
        for (from, to) in [(0, 1), (1, 0), (0, 1), (0, 2), (2, 0)] {
            schematic.arrow(places[from], places[to], Kind::Plain);
        }
        let heads: Vec<bool> = schematic.arrows.iter().map(|arrow| arrow.is_both).collect();
        assert_eq!(heads, [true, false, false]);
        assert_eq!(schematic.draw().matches("<polyline").count(), 4);
    }
}
