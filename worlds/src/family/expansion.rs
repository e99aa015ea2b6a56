//! A text that was made from parts of another, and remembers where each byte comes from.

use std::ops::Range;

use crate::diagnostic::Lines;

/// A run of bytes with one origin.
#[derive(Clone, Debug)]
struct Piece {
    /// Where it begins in the text.
    start: usize,
    /// The bytes of the family file that it stands for.
    origin: Range<usize>,
    /// Whether it is these bytes, one for one.
    is_copy: bool,
}

/// The text of a member, and where each byte of it stands in the family file.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    text: String,
    pieces: Vec<Piece>,
}

impl Expansion {
    /// What it says.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds bytes of the family file as they are.
    pub(super) fn copy(&mut self, file: &str, range: Range<usize>) {
        self.pieces.push(Piece {
            start: self.text.len(),
            origin: range.clone(),
            is_copy: true,
        });
        self.text.push_str(&file[range]);
    }

    /// Adds words that stand for these bytes of the family file.
    pub(super) fn put(&mut self, words: &str, origin: Range<usize>) {
        self.pieces.push(Piece {
            start: self.text.len(),
            origin,
            is_copy: false,
        });
        self.text.push_str(words);
    }

    /// The bytes of the family file that a range of the text stands for.
    #[must_use]
    pub fn original(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.at(range.start);
        let last = self.at(range.end.saturating_sub(1).max(range.start));
        first.start..last.end.max(first.start)
    }

    /// Line and column in the family file of a line and column of the text, all from 1.
    #[must_use]
    pub fn place(&self, file: &str, line: usize, column: usize) -> (usize, usize) {
        let byte = Lines::of(&self.text).offset(&self.text, line, column);
        Lines::of(file).line_and_column(file, self.at(byte).start)
    }

    /// The bytes that one byte of the text stands for; at its end, those of the last one.
    fn at(&self, byte: usize) -> Range<usize> {
        let after = self.pieces.partition_point(|piece| piece.start <= byte);
        let Some(piece) = after.checked_sub(1).map(|index| &self.pieces[index]) else {
            return 0..0;
        };
        if !piece.is_copy {
            return piece.origin.clone();
        }
        let at = (piece.origin.start + byte - piece.start).min(piece.origin.end);
        at..(at + 1).min(piece.origin.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_remembers_where_it_comes_from() {
        let file = "one {word} three";
        let mut expansion = Expansion::default();
        expansion.copy(file, 0..4);
        expansion.put("twenty-two", 4..10);
        expansion.copy(file, 10..16);
        assert_eq!(expansion.text(), "one twenty-two three");
        let original = |part: &str| {
            let at = expansion.text().find(part).unwrap();
            &file[expansion.original(&(at..at + part.len()))]
        };
        assert_eq!(original("one"), "one");
        assert_eq!(original("twenty"), "{word}");
        assert_eq!(original("three"), "three");
        assert_eq!(original("ne twenty-two th"), "ne {word} th");
        assert_eq!(expansion.original(&(20..20)), 16..16);
        assert_eq!(expansion.original(&(1..1)).start, 1);
        assert_eq!(Expansion::default().original(&(0..0)), 0..0);
    }
}
