//! The outline of a RON text: which value stands where.
//!
//! Deserialisation forgets positions, and meaning is checked after it. So the text is read once
//! before: a single pass that knows brackets, names, texts and commas, but no types. It is also the
//! guard in front of the deserialiser: it bounds depth and number of values.

mod scan;

use std::ops::Range;

pub(crate) use scan::{MAX_ENTRIES, outline};

/// What kind of value stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `"..."` or `r"..."`.
    Text,
    /// A number, a word such as `true` or `Untrusted`, or a character.
    Scalar,
    /// `(...)` or `Name(...)`.
    Group,
    /// `[...]`.
    List,
    /// `{...}`.
    Map,
}

/// One value of the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) shape: Shape,
    /// The whole value.
    pub(crate) span: Range<usize>,
    /// The value up to and with its opening bracket; all of it if it has none.
    head: Range<usize>,
    /// The name before its `:`, or the key.
    label: Option<Range<usize>>,
    parent: Option<u32>,
    children: Vec<u32>,
}

/// Every value of a text, outermost first.
#[derive(Debug)]
pub(crate) struct Outline<'t> {
    text: &'t str,
    nodes: Vec<Node>,
}

impl<'t> Outline<'t> {
    /// The whole file.
    pub(crate) fn root(&self) -> At<'_> {
        At {
            outline: self,
            node: 0,
        }
    }

    /// Every value.
    pub(crate) fn all(&self) -> impl Iterator<Item = At<'_>> {
        (0u32..).zip(&self.nodes).map(|(node, _)| At {
            outline: self,
            node,
        })
    }

    /// The innermost value whose extent, its label included, holds the byte.
    pub(crate) fn innermost(&self, byte: usize) -> At<'_> {
        let mut at = self.root();
        while let Some(child) = at.children().find(|child| child.extent().contains(&byte)) {
            at = child;
        }
        at
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }
}

/// A place in an outline. What does not exist is replaced by what would contain it, so that a
/// problem with something left out points at its owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'o> {
    outline: &'o Outline<'o>,
    node: u32,
}

impl<'o> At<'o> {
    fn node(self) -> &'o Node {
        &self.outline.nodes[self.node as usize]
    }

    fn at(self, node: u32) -> Self {
        Self { node, ..self }
    }

    /// Its children in the order of the text.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        self.node()
            .children
            .iter()
            .map(move |&child| self.at(child))
    }

    /// The field called `name`.
    pub(crate) fn field(self, name: &str) -> Self {
        self.named(name).unwrap_or(self)
    }

    /// The field called `name`, if it is given.
    pub(crate) fn named(self, name: &str) -> Option<Self> {
        self.children().find(|child| child.label() == Some(name))
    }

    /// The entry at `index` of a list, map or tuple; also the payload of `Word(payload)`.
    pub(crate) fn item(self, index: usize) -> Self {
        let child = self.node().children.get(index);
        child.map_or(self, |&child| self.at(child))
    }

    /// The value that contains it.
    pub(crate) fn parent(self) -> Option<Self> {
        self.node().parent.map(|parent| self.at(parent))
    }

    pub(crate) fn shape(self) -> Shape {
        self.node().shape
    }

    /// The bytes to underline: all of a text, the head of something with brackets.
    pub(crate) fn span(self) -> Range<usize> {
        self.node().head.clone()
    }

    /// All its bytes.
    pub(crate) fn whole(self) -> Range<usize> {
        self.node().span.clone()
    }

    /// All its bytes with the label before it.
    pub(crate) fn extent(self) -> Range<usize> {
        let start = self.node().label.as_ref().map(|label| label.start);
        start.unwrap_or(self.node().span.start)..self.node().span.end
    }

    /// The end of the comma after it, or of itself.
    pub(crate) fn after_comma(self) -> usize {
        let end = self.whole().end;
        let rest = &self.outline.text[end..];
        let gap = rest.len() - rest.trim_start().len();
        if rest[gap..].starts_with(',') {
            end + gap + 1
        } else {
            end
        }
    }

    /// The bytes of the name before its `:`, or of its key; without one, of itself.
    pub(crate) fn label_span(self) -> Range<usize> {
        self.node().label.clone().unwrap_or_else(|| self.span())
    }

    /// The name before its `:`, or its key as it is written.
    pub(crate) fn label(self) -> Option<&'o str> {
        let label = self.node().label.clone()?;
        let written = &self.outline.text[label];
        Some(written.strip_prefix("r#").unwrap_or(written))
    }

    /// What is written: the bytes of [`At::whole`].
    pub(crate) fn written(self) -> &'o str {
        &self.outline.text[self.whole()]
    }

    /// The word before the bracket of a group, or a scalar as it is written.
    pub(crate) fn word(self) -> &'o str {
        self.outline.text[self.span()]
            .trim_end_matches('(')
            .trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"
// A comment with a ( bracket and a " quote.
World(
    schema: 1, /* nested /* comment */ , */
    agents: [(name: "a\"b", tools: [r#"x"y"#, "z"]), (name: "c")],
    fields: {"one": "1", "two": ["2"]},
    does: ReadSource, target: Argument ("to"), r#where: -3,
)
"##;

    #[test]
    fn paths_lead_to_what_is_written_there() {
        let outline = outline(TEXT).unwrap();
        let root = outline.root();
        assert_eq!(root.word(), "World");
        assert_eq!(root.field("schema").written(), "1");
        let first = root.field("agents").item(0);
        assert_eq!(first.field("name").written(), r#""a\"b""#);
        assert_eq!(first.field("tools").item(0).written(), r##"r#"x"y"#"##);
        assert_eq!(first.field("tools").item(1).written(), "\"z\"");
        assert_eq!(
            root.field("agents").item(1).field("name").written(),
            "\"c\""
        );
        assert_eq!(root.field("fields").item(1).label(), Some("\"two\""));
        assert_eq!(root.field("fields").item(1).item(0).written(), "\"2\"");
        assert_eq!(root.field("does").word(), "ReadSource");
        assert_eq!(root.field("target").word(), "Argument");
        assert_eq!(root.field("target").item(0).written(), "\"to\"");
        assert_eq!(root.field("where").written(), "-3");
    }

    #[test]
    fn what_is_missing_leads_to_its_owner() {
        let outline = outline(TEXT).unwrap();
        let second = outline.root().field("agents").item(1);
        assert_eq!(second.field("tools").item(4).whole(), second.whole());
        assert!(second.named("tools").is_none());
    }

    #[test]
    fn the_innermost_value_is_found_from_a_byte() {
        let outline = outline(TEXT).unwrap();
        let at = outline.innermost(TEXT.find("x\"y").unwrap());
        assert_eq!(at.written(), r##"r#"x"y"#"##);
        assert_eq!(at.parent().unwrap().label(), Some("tools"));
        let key = outline.innermost(TEXT.find("two").unwrap());
        assert_eq!(key.written(), "[\"2\"]");
        assert_eq!(key.shape(), Shape::List);
    }
}
