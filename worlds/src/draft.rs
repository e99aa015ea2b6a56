//! A text under correction.
//!
//! Deserialisation stops at the first mistake. To find the next one, the mistake is mended in a
//! copy, or cut out of it. The draft remembers its edits, so that every place in it can be told as
//! a place in what the user wrote.

use std::borrow::Cow;
use std::ops::Range;

/// One edit: at this byte of the text so far, so many bytes became so many.
#[derive(Clone, Copy, Debug)]
struct Edit {
    at: usize,
    before: usize,
    after: usize,
}

/// A text with the edits that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'t> {
    text: Cow<'t, str>,
    edits: Vec<Edit>,
}

impl<'t> Draft<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            edits: Vec::new(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing was edited.
    pub(crate) const fn is_original(&self) -> bool {
        self.edits.is_empty()
    }

    /// Puts `with` in the place of `range`.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: &str) {
        self.edits.push(Edit {
            at: range.start,
            before: range.len(),
            after: with.len(),
        });
        self.text.to_mut().replace_range(range, with);
    }

    /// Where the bytes of `range` were in the original.
    pub(crate) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.original_byte(range.start);
        start..self.original_byte(range.end).max(start)
    }

    fn original_byte(&self, byte: usize) -> usize {
        self.edits.iter().rev().fold(byte, |byte, edit| {
            if byte >= edit.at + edit.after {
                byte - edit.after + edit.before
            } else {
                // A byte within the new text belongs to the beginning of the old.
                byte.min(edit.at)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_the_original() {
        let original = "one too three four";
        let mut draft = Draft::new(original);
        draft.replace(4..7, "twenty");
        draft.replace(0..3, "1");
        assert_eq!(draft.text(), "1 twenty three four");
        let place = |word: &str| {
            let at = draft.text().find(word).unwrap();
            &original[draft.original(&(at..at + word.len()))]
        };
        assert_eq!(place("1"), "one");
        assert_eq!(place("twenty"), "too");
        assert_eq!(place("three"), "three");
        assert_eq!(place("four"), "four");
    }

    #[test]
    fn what_was_cut_out_is_stepped_over() {
        let mut draft = Draft::new("a, b, c");
        draft.replace(3..6, "");
        assert_eq!(draft.text(), "a, c");
        assert_eq!(draft.original(&(3..4)), 6..7);
        assert_eq!(draft.original(&(0..1)), 0..1);
    }
}
