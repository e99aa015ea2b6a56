//! A small writer of SVG: plain elements, text as text, the same bytes on every machine.
//!
//! Nothing is measured with a font: a reader's program chooses one, and letters are taken to be as
//! wide as those of a usual sans-serif face. Coordinates are in pixels from the upper left corner.

use super::palette::{self, INK};

/// The family of every letter.
const FACE: &str = "Helvetica, Arial, sans-serif";

/// How wide a letter is on average, as a share of its size; a little more than in usual faces.
const LETTER_WIDTH: f64 = 0.56;

/// A place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// From the left.
    pub(crate) x: f64,
    /// From above.
    pub(crate) y: f64,
}

/// A place from its distances.
pub(crate) const fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// A rectangle with its sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    /// The left side.
    pub(crate) left: f64,
    /// The upper side.
    pub(crate) top: f64,
    /// How wide.
    pub(crate) width: f64,
    /// How high.
    pub(crate) height: f64,
}

impl Area {
    /// The right side.
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    /// The lower side.
    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The middle from left to right.
    pub(crate) fn center(&self) -> f64 {
        self.left + self.width / 2.0
    }

    /// The middle from top to bottom.
    pub(crate) fn middle(&self) -> f64 {
        self.top + self.height / 2.0
    }
}

/// How a line looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    /// Its colour.
    pub(crate) color: &'static str,
    /// Its width.
    pub(crate) width: f64,
    /// Lengths of dashes and gaps; empty for a whole line.
    pub(crate) dashes: &'static str,
}

impl Stroke {
    /// A thin line of the ink.
    pub(crate) const THIN: Self = Self::of(INK, 1.0);
    /// A line that only guides the eye.
    pub(crate) const GUIDE: Self = Self::of(palette::FAINT, 1.0);

    /// A whole line.
    pub(crate) const fn of(color: &'static str, width: f64) -> Self {
        Self {
            color,
            width,
            dashes: "",
        }
    }

    /// A dashed line.
    pub(crate) const fn dashed(color: &'static str, width: f64) -> Self {
        Self {
            color,
            width,
            dashes: "6 4",
        }
    }

    fn attributes(self) -> String {
        let dashes = if self.dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{}\"", self.dashes)
        };
        format!(
            "stroke=\"{}\" stroke-width=\"{}\"{dashes}",
            self.color,
            number(self.width)
        )
    }
}

/// Where a text stands from its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

impl Anchor {
    const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters {
    /// The height of a letter.
    pub(crate) size: f64,
    /// Where it stands.
    pub(crate) anchor: Anchor,
    /// Whether it is bold.
    pub(crate) bold: bool,
    /// Whether it is turned to read upwards.
    pub(crate) upwards: bool,
}

impl Letters {
    /// Ordinary letters.
    pub(crate) const fn new(size: f64, anchor: Anchor) -> Self {
        Self {
            size,
            anchor,
            bold: false,
            upwards: false,
        }
    }

    /// In bold.
    pub(crate) const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Turned to read upwards.
    pub(crate) const fn upwards(mut self) -> Self {
        self.upwards = true;
        self
    }

    /// Smaller, so that `text` is no wider than `width`.
    pub(crate) fn fitting(mut self, text: &str, width: f64) -> Self {
        let needed = text_width(text, self.size);
        if needed > width {
            self.size *= width / needed;
        }
        self
    }
}

/// How wide a text is, roughly.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    f64::from(letters) * size * LETTER_WIDTH
}

/// A text in lines that are no wider than `width`, broken at blanks.
pub(crate) fn lines(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if text_width(line, size) + text_width(word, size) + size <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A drawing in the making.
#[derive(Debug)]
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    title: String,
    description: String,
    elements: String,
}

impl Drawing {
    /// An empty drawing. Who cannot see it is told its title and its description.
    pub(crate) fn new(
        width: f64,
        height: f64,
        title: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            width,
            height,
            title: title.into(),
            description: description.into(),
            elements: String::new(),
        }
    }

    fn element(&mut self, element: &str) {
        self.elements.push_str(element);
        self.elements.push('\n');
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.element(&format!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>",
            number(from.x),
            number(from.y),
            number(to.x),
            number(to.y),
            stroke.attributes(),
        ));
    }

    /// A line through points, which ends in the head of an arrow if asked.
    pub(crate) fn polyline(&mut self, through: &[Point], stroke: Stroke, arrow: bool) {
        let head = if arrow {
            format!(
                " marker-end=\"url(#{})\"",
                palette::arrow_head(stroke.color)
            )
        } else {
            String::new()
        };
        self.element(&format!(
            "<polyline points=\"{}\" fill=\"none\" {}{head}/>",
            points(through),
            stroke.attributes(),
        ));
    }

    /// A filled shape with these corners.
    pub(crate) fn polygon(&mut self, corners: &[Point], fill: &str, stroke: Stroke) {
        self.element(&format!(
            "<polygon points=\"{}\" fill=\"{fill}\" {}/>",
            points(corners),
            stroke.attributes(),
        ));
    }

    /// A rectangle, its corners rounded by so many pixels.
    pub(crate) fn rectangle(&mut self, area: Area, rounding: f64, fill: &str, stroke: Stroke) {
        self.element(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{fill}\" {}/>",
            number(area.left),
            number(area.top),
            number(area.width),
            number(area.height),
            number(rounding),
            stroke.attributes(),
        ));
    }

    /// A circle.
    pub(crate) fn circle(&mut self, center: Point, radius: f64, fill: &str, stroke: Stroke) {
        self.element(&format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" {}/>",
            number(center.x),
            number(center.y),
            number(radius),
            stroke.attributes(),
        ));
    }

    /// A text on one line; `place` is on its base line.
    pub(crate) fn text(&mut self, place: Point, text: &str, letters: Letters) {
        let (x, y) = (number(place.x), number(place.y));
        let bold = if letters.bold {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let turned = if letters.upwards {
            format!(" transform=\"rotate(-90 {x} {y})\"")
        } else {
            String::new()
        };
        self.element(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{}\"{bold}{turned}>{}</text>",
            number(letters.size),
            letters.anchor.name(),
            escaped(text),
        ));
    }

    /// A text in lines no wider than `width`; where the next line would be.
    pub(crate) fn paragraph(
        &mut self,
        place: Point,
        text: &str,
        letters: Letters,
        width: f64,
    ) -> Point {
        let mut line_at = place;
        for line in lines(text, letters.size, width) {
            self.text(line_at, &line, letters);
            line_at.y += letters.size * 1.35;
        }
        line_at
    }

    /// The drawing as a file.
    pub(crate) fn finish(self) -> String {
        let (width, height) = (number(self.width), number(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title desc\" \
             font-family=\"{FACE}\" fill=\"{INK}\">\n\
             <title id=\"title\">{}</title>\n\
             <desc id=\"desc\">{}</desc>\n\
             <defs>\n{}</defs>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n\
             {}</svg>\n",
            escaped(&self.title),
            escaped(&self.description),
            palette::definitions(),
            palette::PAPER,
            self.elements,
        )
    }
}

fn points(points: &[Point]) -> String {
    let pairs = points
        .iter()
        .map(|point| format!("{},{}", number(point.x), number(point.y)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// A coordinate with at most two decimals, which is finer than anybody sees, and no sign before a
/// zero.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Text that is no markup. What XML cannot hold at all, control characters, is shown as `?`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => out.push('?'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_zero_has_no_sign() {
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(12.0), "12");
        assert_eq!(number(1.0 / 3.0), "0.33");
        assert_eq!(number(-2.5), "-2.5");
    }

    #[test]
    fn names_are_text_and_never_markup() {
        let mut drawing = Drawing::new(100.0, 50.0, "<a> & \"b\"", "</svg>");
        let letters = Letters::new(12.0, Anchor::Start);
        drawing.text(at(0.0, 12.0), "</text><script>\u{1b}", letters);
        let svg = drawing.finish();
        super::super::tests::assert_well_formed(&svg);
        assert!(!svg.contains("<script"), "{svg}");
        assert!(svg.contains("&lt;/text&gt;&lt;script&gt;?"), "{svg}");
    }

    #[test]
    fn text_is_broken_at_blanks_and_made_to_fit() {
        assert_eq!(lines("one two three", 10.0, 60.0), ["one two", "three"]);
        let letters = Letters::new(12.0, Anchor::Middle);
        let fitting = letters.fitting("intent_ledger_v2", 50.0);
        assert!(text_width("intent_ledger_v2", fitting.size) <= 50.001);
        assert!((letters.fitting("none", 50.0).size - 12.0).abs() < 1e-9);
    }
}
