//! Where the value at a path of a RON text stands, for programs that change one value and leave the
//! rest, comments included, as it is.

use std::ops::Range;

use crate::outline::outline;

/// The bytes of the value at `path`: names of fields with dots between them, each followed by the
/// positions of entries in brackets, such as `rules.first[2].chance`. None if the text is not
/// well formed or has no such value.
#[must_use]
pub fn place_of(text: &str, path: &str) -> Option<Range<usize>> {
    let outline = outline(text).ok()?;
    let mut at = outline.root();
    for part in path.split('.') {
        let (name, positions) = part.split_once('[').unwrap_or((part, ""));
        at = at.named(name)?;
        for position in positions.split('[').filter(|position| !position.is_empty()) {
            let position: usize = position.strip_suffix(']')?.parse().ok()?;
            at = at.children().nth(position)?;
        }
    }
    Some(at.whole())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Rules(first: [(a: 1), (a: 2, /* why */ b: (c: [[3, 4]]))], last: \"x\")";

    fn written(path: &str) -> Option<&'static str> {
        place_of(TEXT, path).map(|place| &TEXT[place])
    }

    #[test]
    fn a_path_leads_to_its_value() {
        assert_eq!(written("first[1].a"), Some("2"));
        assert_eq!(written("first[1].b.c[0][1]"), Some("4"));
        assert_eq!(written("last"), Some("\"x\""));
    }

    #[test]
    fn a_path_that_leads_nowhere_has_no_value() {
        for path in [
            "",
            "second",
            "first[2].a",
            "first[x].a",
            "first[0",
            "last.more",
        ] {
            assert_eq!(written(path), None, "{path}");
        }
        assert_eq!(place_of("Rules(", "first"), None);
    }
}
