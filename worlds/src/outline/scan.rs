//! The pass over the text.

use std::ops::Range;

use super::{Node, Outline, Shape};
use crate::diagnostic::{Code, Problem};

/// Levels of brackets.
pub(crate) const MAX_DEPTH: usize = 32;
/// Entries of one list, map or struct.
pub(crate) const MAX_ENTRIES: usize = 4_096;
/// Values of a file.
pub(crate) const MAX_VALUES: usize = 65_536;

/// Reads the outline of `text`.
///
/// # Errors
/// The first place where the text is not well formed, nests too deeply or has too many values.
pub(crate) fn outline(text: &str) -> Result<Outline<'_>, Problem> {
    let mut scanner = Scanner {
        text,
        at: 0,
        depth: 0,
        nodes: Vec::new(),
    };
    scanner.skip_blank()?;
    if scanner.peek() == Some('#') {
        let span = scanner.here();
        return Err(Problem::new(
            Code::Syntax,
            span,
            "extensions of RON are not used in world files",
        )
        .help("remove the `#![enable(...)]` line"));
    }
    scanner.value(None, None)?;
    scanner.skip_blank()?;
    if scanner.peek().is_some() {
        let span = scanner.here();
        return Err(Problem::new(
            Code::Syntax,
            span,
            "something follows after the end of the file's only value",
        )
        .label("not expected"));
    }
    Ok(Outline {
        text,
        nodes: scanner.nodes,
    })
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    nodes: Vec<Node>,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The bytes of the next character; nothing at the end.
    fn here(&self) -> Range<usize> {
        self.at..self.at + self.peek().map_or(0, char::len_utf8)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Problem> {
        Err(Problem::new(Code::Syntax, self.here(), message).label("not expected"))
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|letter| !accept(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) -> Result<(), Problem> {
        loop {
            self.take_while(is_blank);
            if self.rest().starts_with("//") {
                self.take_while(|letter| letter != '\n');
            } else if self.rest().starts_with("/*") {
                self.skip_block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Block comments nest.
    fn skip_block_comment(&mut self) -> Result<(), Problem> {
        let start = self.at;
        let mut level = 0;
        loop {
            self.take_while(|letter| letter != '/' && letter != '*');
            if self.rest().starts_with("/*") {
                level += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                level -= 1;
                self.at += 2;
            } else if self.rest().is_empty() {
                let problem =
                    Problem::new(Code::Syntax, start..start + 2, "a comment is never closed");
                return Err(problem.label("opened here").help("close it with `*/`"));
            } else {
                self.at += 1;
            }
            if level == 0 {
                return Ok(());
            }
        }
    }

    /// Reads one value and gives its index.
    fn value(&mut self, label: Option<Range<usize>>, parent: Option<u32>) -> Result<u32, Problem> {
        let start = self.at;
        match self.peek() {
            None => self.wrong("the file ends where a value is expected"),
            Some('"') => {
                self.quoted('"')?;
                self.leaf(Shape::Text, start, label, parent)
            }
            Some('\'') => {
                self.quoted('\'')?;
                self.leaf(Shape::Scalar, start, label, parent)
            }
            Some('(' | '[' | '{') => self.bracket(start, label, parent),
            Some('0'..='9' | '+' | '-' | '.') => {
                self.take_while(|letter| letter.is_alphanumeric() || "._+-".contains(letter));
                self.leaf(Shape::Scalar, start, label, parent)
            }
            Some(letter) if is_word_start(letter) => self.word_value(start, label, parent),
            Some(letter) => self.wrong(format!(
                "`{}` stands where a value is expected",
                letter.escape_debug()
            )),
        }
    }

    /// A value that begins with a letter: a prefixed text, a word, or a word before a bracket.
    fn word_value(
        &mut self,
        start: usize,
        label: Option<Range<usize>>,
        parent: Option<u32>,
    ) -> Result<u32, Problem> {
        let prefix = self.take_while(|letter| matches!(letter, 'b' | 'r'));
        if matches!(prefix, "r" | "br") && self.raw_text()? {
            let is_text = prefix == "r";
            let shape = if is_text { Shape::Text } else { Shape::Scalar };
            return self.leaf(shape, start, label, parent);
        }
        if let ("b", Some(quote @ ('"' | '\''))) = (prefix, self.peek()) {
            self.quoted(quote)?;
            return self.leaf(Shape::Scalar, start, label, parent);
        }
        self.at = start;
        self.word()?;
        let end = self.at;
        self.skip_blank()?;
        if self.peek() == Some('(') {
            return self.bracket(start, label, parent);
        }
        self.at = end;
        self.leaf(Shape::Scalar, start, label, parent)
    }

    /// Reads a word; `r#word` is one too.
    fn word(&mut self) -> Result<Range<usize>, Problem> {
        let start = self.at;
        if self.rest().starts_with("r#") {
            self.at += 2;
        }
        if !self.peek().is_some_and(is_word_start) {
            return self.wrong("a name is expected here");
        }
        self.take_while(is_word_part);
        Ok(start..self.at)
    }

    /// Reads `"..."` or `'...'` with escapes.
    fn quoted(&mut self, quote: char) -> Result<(), Problem> {
        let start = self.at;
        self.at += 1;
        loop {
            self.take_while(|letter| letter != quote && letter != '\\');
            match self.peek() {
                Some('\\') => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(());
                }
                None => return Err(unclosed_text(start)),
            }
        }
    }

    /// Reads `#"..."#` with any number of `#`. False, and nothing read, if it is none.
    fn raw_text(&mut self) -> Result<bool, Problem> {
        let start = self.at;
        let hashes = self.take_while(|letter| letter == '#');
        if self.peek() != Some('"') {
            self.at = start;
            return Ok(false);
        }
        self.at += 1;
        let mut from = self.at;
        // The closing quote is the first that is followed by as many `#`.
        while let Some(quote) = self.text[from..].find('"') {
            from += quote + 1;
            if self.text[from..].starts_with(hashes) {
                self.at = from + hashes.len();
                return Ok(true);
            }
        }
        Err(unclosed_text(start))
    }

    fn leaf(
        &mut self,
        shape: Shape,
        start: usize,
        label: Option<Range<usize>>,
        parent: Option<u32>,
    ) -> Result<u32, Problem> {
        let span = start..self.at;
        self.push(Node {
            shape,
            head: span.clone(),
            span,
            label,
            parent,
            children: Vec::new(),
        })
    }

    fn push(&mut self, node: Node) -> Result<u32, Problem> {
        if self.nodes.len() >= MAX_VALUES {
            return Err(Problem::new(
                Code::TooMany,
                node.head,
                format!("the file has more than {MAX_VALUES} values"),
            )
            .label("one too many"));
        }
        let index = u32::try_from(self.nodes.len()).expect("fewer values than MAX_VALUES");
        self.nodes.push(node);
        Ok(index)
    }

    /// Reads something in brackets; the cursor is at the opening one, and `start` is where the word
    /// before it begins.
    fn bracket(
        &mut self,
        start: usize,
        label: Option<Range<usize>>,
        parent: Option<u32>,
    ) -> Result<u32, Problem> {
        let opening = self.at;
        let (shape, closing) = match self.peek() {
            Some('(') => (Shape::Group, ')'),
            Some('[') => (Shape::List, ']'),
            _ => (Shape::Map, '}'),
        };
        if self.depth == MAX_DEPTH {
            return Err(Problem::new(
                Code::TooDeep,
                self.here(),
                format!("brackets are nested more than {MAX_DEPTH} deep"),
            )
            .label("too deep"));
        }
        self.depth += 1;
        self.at += 1;
        let node = self.push(Node {
            shape,
            span: start..self.at,
            head: start..self.at,
            label,
            parent,
            children: Vec::new(),
        })?;
        self.entries(node, closing, opening)?;
        self.depth -= 1;
        self.nodes[node as usize].span = start..self.at;
        Ok(node)
    }

    /// Reads the entries of `node` up to and with the closing bracket.
    fn entries(&mut self, node: u32, closing: char, opening: usize) -> Result<(), Problem> {
        let shape = self.nodes[node as usize].shape;
        loop {
            self.skip_blank()?;
            if self.peek() == Some(closing) {
                break;
            }
            self.refuse_end(opening)?;
            let label = match shape {
                Shape::Map => Some(self.key()?),
                Shape::Group => self.field_name()?,
                _ => None,
            };
            let child = self.value(label, Some(node))?;
            let children = &mut self.nodes[node as usize].children;
            children.push(child);
            let too_many = children.len() > MAX_ENTRIES;
            if too_many {
                return Err(Problem::new(
                    Code::TooMany,
                    self.nodes[child as usize].head.clone(),
                    format!("more than {MAX_ENTRIES} entries"),
                )
                .label("one too many")
                .also(opening..opening + 1, "opened here"));
            }
            self.comma(closing, opening)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the comma after an entry, or sees that none is needed.
    fn comma(&mut self, closing: char, opening: usize) -> Result<(), Problem> {
        self.skip_blank()?;
        match self.peek() {
            Some(',') => self.at += 1,
            Some(letter) if letter == closing => {}
            None => self.refuse_end(opening)?,
            Some(letter) => {
                let message = format!(
                    "`{}` stands where `,` or `{closing}` is expected",
                    letter.escape_debug()
                );
                let problem = Problem::new(Code::Syntax, self.here(), message)
                    .label("not expected")
                    .also(opening..opening + 1, "to close this");
                return Err(problem);
            }
        }
        Ok(())
    }

    fn refuse_end(&self, opening: usize) -> Result<(), Problem> {
        if self.peek().is_some() {
            return Ok(());
        }
        let bracket = &self.text[opening..=opening];
        Err(Problem::new(
            Code::Syntax,
            opening..opening + 1,
            format!("`{bracket}` is never closed"),
        )
        .label("opened here"))
    }

    /// Reads `"key":`.
    fn key(&mut self) -> Result<Range<usize>, Problem> {
        let start = self.at;
        if self.peek() != Some('"') {
            return self.wrong("a key in double quotes is expected here");
        }
        self.quoted('"')?;
        let key = start..self.at;
        self.skip_blank()?;
        if self.peek() != Some(':') {
            return self.wrong("`:` is expected after a key");
        }
        self.at += 1;
        self.skip_blank()?;
        Ok(key)
    }

    /// Reads `name:`; nothing is read if the entry has no name.
    fn field_name(&mut self) -> Result<Option<Range<usize>>, Problem> {
        let start = self.at;
        if self.peek().is_some_and(is_word_start)
            && let Ok(name) = self.word()
        {
            self.skip_blank()?;
            if self.peek() == Some(':') {
                self.at += 1;
                self.skip_blank()?;
                return Ok(Some(name));
            }
        }
        self.at = start;
        Ok(None)
    }
}

fn unclosed_text(start: usize) -> Problem {
    Problem::new(Code::Syntax, start..start + 1, "a text is never closed").label("opened here")
}

/// What RON takes for white space. Some of it is invisible and refused elsewhere.
fn is_blank(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t'
            | '\n'
            | '\r'
            | '\u{B}'
            | '\u{C}'
            | '\u{85}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2028}'
            | '\u{2029}'
    )
}

fn is_word_start(letter: char) -> bool {
    letter == '_' || letter.is_alphabetic()
}

fn is_word_part(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}
