//! What the words of a file may be: the synthetic, local and visible text of paper 3.7.
//!
//! These rules look at every text and every number of the outline, wherever it stands, so that no
//! field can be forgotten.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostic::{Code, MOST_PROBLEMS, Problem, Problems, shortened};
use crate::outline::{At, Outline, Shape};
use crate::shape::out_of_range;

mod address;
mod marker;

/// Something in a text that paper 3.7 keeps out of whatever is released: hidden text, an address that
/// somebody could own, an encoded run, active markup or an operational payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The kind.
    pub code: Code,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// What it is.
    pub what: String,
}

/// The marks in a text that is no world file, in the order of their kinds: the same lists by which
/// world files are refused.
#[must_use]
pub fn marks(text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let letters = text.char_indices();
    for (at, letter) in letters.filter(|(_, letter)| marker::is_invisible(*letter)) {
        marks.push(Mark {
            code: Code::InvisibleCharacter,
            range: at..at + letter.len_utf8(),
            what: message_of(letter),
        });
        if marks.len() == MOST_PROBLEMS {
            break;
        }
    }
    for range in address::foreign(text) {
        marks.push(Mark {
            code: Code::ForeignAddress,
            what: format!(
                "`{}` is not a local address",
                shortened(&text[range.clone()])
            ),
            range,
        });
    }
    for (code, range, what) in marker::found(text) {
        marks.push(Mark { code, range, what });
    }
    marks
}

/// Checks every text, key and number of the file.
pub(crate) fn check(outline: &Outline<'_>, problems: &mut Problems) {
    for at in outline.all() {
        refuse_repetitions(at, problems);
        if at.label_span() != at.span() && outline.text()[at.label_span()].starts_with('"') {
            words(at.label_span(), outline.text(), problems);
        }
        match at.shape() {
            Shape::Text => words(at.whole(), outline.text(), problems),
            Shape::Scalar => number(at, problems),
            _ => {}
        }
    }
}

/// Complains about characters that nobody can see, also in comments. Needs no outline.
pub(crate) fn visible(text: &str, problems: &mut Problems) {
    for (at, letter) in text.char_indices() {
        if marker::is_invisible(letter) {
            problems.push(invisible(letter, at..at + letter.len_utf8()));
        }
    }
}

fn message_of(letter: char) -> String {
    format!(
        "a character that nobody can see: U+{:04X}",
        u32::from(letter)
    )
}

fn invisible(letter: char, span: Range<usize>) -> Problem {
    let message = message_of(letter);
    let help = if letter == '\u{FEFF}' {
        "save the file without a byte order mark"
    } else {
        "remove it, or write a plain space"
    };
    Problem::new(Code::InvisibleCharacter, span, message).help(help)
}

/// A text of the file as it reads, and where it stands.
struct Quote<'t> {
    text: Cow<'t, str>,
    span: Range<usize>,
}

impl<'t> Quote<'t> {
    /// The text written at `span`; none if it has an escape that does not exist.
    fn read(span: Range<usize>, source: &'t str) -> Option<Self> {
        let written = &source[span.clone()];
        let inside = written
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|inside| !inside.contains('\\'));
        let text = match inside {
            Some(inside) => Cow::Borrowed(inside),
            None => Cow::Owned(ron::from_str(written).ok()?),
        };
        Some(Self { text, span })
    }

    /// Where a part of it stands; all of it if escapes have moved its parts.
    fn part(&self, range: Range<usize>) -> Range<usize> {
        match self.text {
            Cow::Borrowed(_) => {
                let start = self.span.start + 1;
                start + range.start..start + range.end
            }
            Cow::Owned(_) => self.span.clone(),
        }
    }
}

/// Checks one text.
fn words(span: Range<usize>, source: &str, problems: &mut Problems) {
    let Some(quote) = Quote::read(span.clone(), source) else {
        let message = "a text has an escape that does not exist";
        let help = "write `\\\\` for a backslash, or a raw text `r\"...\"`";
        problems.push(Problem::new(Code::Syntax, span, message).help(help));
        return;
    };
    if let Cow::Owned(text) = &quote.text
        && let Some(letter) = text.chars().find(|&letter| marker::is_invisible(letter))
    {
        problems.push(invisible(letter, span));
    }
    for range in address::foreign(&quote.text) {
        let address = shortened(&quote.text[range.clone()]);
        problems.push(
            Problem::new(
                Code::ForeignAddress,
                quote.part(range),
                format!("`{address}` is not a local address"),
            )
            .label("somebody could own this")
            .help("end it in `.local` or `.example`"),
        );
    }
    for (code, range, what) in marker::found(&quote.text) {
        problems.push(Problem::new(code, quote.part(range), what));
    }
}

/// Complains about numbers that are not whole or fit nothing.
fn number(at: At<'_>, problems: &mut Problems) {
    let written = at.written();
    let unsigned = written.trim_start_matches(['+', '-']);
    let has_radix = ["0x", "0b", "0o"]
        .iter()
        .any(|radix| unsigned.starts_with(radix));
    let is_number = unsigned.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    let is_fraction = is_number && !has_radix && unsigned.contains(['.', 'e', 'E']);
    let is_unreal = unsigned.starts_with("NaN") || unsigned.starts_with("inf");
    if is_fraction || is_unreal {
        let message = format!("`{}` is not a whole number", shortened(written));
        problems.push(Problem::new(Code::NotWhole, at.whole(), message).label("not whole"));
    } else if is_number && !has_radix && unsigned.replace('_', "").parse::<u64>().is_err() {
        problems.push(out_of_range(at));
    }
}

/// Complains about fields or keys that are given twice.
fn refuse_repetitions(at: At<'_>, problems: &mut Problems) {
    let mut seen: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for child in at.children() {
        let Some(label) = child.label() else {
            continue;
        };
        let span = child.label_span();
        if let Some(first) = seen.get(label) {
            let name = label.trim_matches('"');
            problems.push(
                Problem::new(
                    Code::Repeated,
                    span,
                    format!("`{}` is given twice", shortened(name)),
                )
                .label("again here")
                .also(first.clone(), "first here"),
            );
        } else {
            seen.insert(label, span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_mark_is_found_in_any_text() {
        let text = format!(
            "a{}b eve@evil.test <script> rm -rf %41%42%43%44",
            '\u{200B}'
        );
        let codes: Vec<Code> = marks(&text).into_iter().map(|mark| mark.code).collect();
        let expected = [
            Code::InvisibleCharacter,
            Code::ForeignAddress,
            Code::EncodedRun,
            Code::ActiveMarkup,
            Code::OperationalPayload,
        ];
        assert_eq!(codes, expected);
        assert_eq!(marks("Mail the plan to partner@trusted.local."), []);
    }
}
