//! A line of CSV, written cell by cell into a buffer.
//!
//! A study writes more than a hundred cells for each rollout, so none of them becomes a string of its
//! own first.

use std::io::Write as _;
use std::ops::Range;
use std::sync::LazyLock;

use super::cell::{CellWriter, Hash};
use crate::ratio::Ratio;

/// A line of CSV that is being written to the end of a buffer. Each cell ends with a comma, which
/// becomes the line break behind the last.
pub struct CsvLine<'a>(&'a mut Vec<u8>);

impl<'a> CsvLine<'a> {
    /// Begins a line at the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self(out)
    }

    /// Where in the buffer the cells are that `write` writes.
    pub fn place(&mut self, write: impl FnOnce(&mut Self)) -> Range<usize> {
        let begin = self.0.len();
        write(self);
        begin..self.0.len()
    }

    /// Writes the cells in this place of the buffer again; where they ended a line, they must again.
    pub fn copy(&mut self, place: Range<usize>) {
        self.0.extend_from_within(place);
    }

    fn long_integer(&mut self, number: u64) {
        let mut digits = itoa::Buffer::new();
        self.0.extend_from_slice(digits.format(number).as_bytes());
        self.null();
    }

    /// Ends the line, which has cells.
    pub fn finish(self) {
        if let Some(comma) = self.0.last_mut() {
            *comma = b'\n';
        }
    }
}

impl CellWriter for CsvLine<'_> {
    #[inline]
    fn null(&mut self) {
        self.0.push(b',');
    }

    /// Most counts have one digit.
    #[inline]
    fn integer(&mut self, number: u64) {
        match u8::try_from(number) {
            Ok(digit @ 0..10) => self.0.extend_from_slice(&[b'0' + digit, b',']),
            _ => self.long_integer(number),
        }
    }

    /// The shortest text that reads back the same.
    fn quotient(&mut self, ratio: Ratio) {
        match usual_quotient(ratio) {
            Some(text) => self.0.extend_from_slice(text.as_bytes()),
            None => write!(self.0, "{}", ratio.quotient()).expect("memory takes any bytes"),
        }
        self.null();
    }

    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if !is_plain(bytes) && bytes.iter().any(|byte| b",\"\r\n".contains(byte)) {
            quoted(bytes, self.0);
        } else {
            self.0.extend_from_slice(bytes);
        }
        self.null();
    }

    fn hash(&mut self, hash: Hash) {
        self.0.extend_from_slice(&hash.digits());
        self.null();
    }
}

/// The text of a part of a few things. Most ratios are one, and to find the shortest text of a number
/// takes longer than a whole line.
fn usual_quotient(ratio: Ratio) -> Option<&'static str> {
    static TEXTS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
        let text = |numerator, denominator| {
            Ratio::clipped(numerator, denominator)
                .quotient()
                .to_string()
        };
        let parts = |whole| (0..=whole).map(|part| text(part, whole)).collect();
        (0..=A_FEW).map(parts).collect()
    });
    let of_whole = TEXTS.get(ratio.denominator() as usize)?;
    of_whole.get(ratio.numerator() as usize).map(String::as_str)
}

/// Up to so many are a few.
const A_FEW: u32 = 32;

/// Whether all bytes come after the comma, which is the last of the special ones. Hardly a name has
/// another, and eight are looked at together.
fn is_plain(text: &[u8]) -> bool {
    let is_after = |byte: &u8| *byte > b',';
    let (eights, rest) = text.as_chunks::<8>();
    let all_after = |eight: &[u8; 8]| eight.iter().fold(true, |all, byte| all & is_after(byte));
    eights.iter().all(all_after) && rest.iter().all(is_after)
}

/// A text between quotation marks, its own doubled.
fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'"');
}
