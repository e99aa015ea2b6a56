//! The text of a file as a tree of values, each with its place.
//!
//! A deserialiser stops at the first mistake and forgets where things stood. Here a text is read
//! into values first, which knows brackets, names and commas but no meaning, and meaning is read off
//! the tree, so that every mistake of a file is told at its place. What a text in quotes and a number
//! say is left to `ron`.

use std::ops::Range;

use plugins::loaded::Mistake;

/// Bytes of the largest file.
pub const MAX_BYTES: usize = 1 << 20;
/// Levels of brackets.
pub const MAX_DEPTH: usize = 64;
/// Values of a file.
pub const MAX_VALUES: usize = 65_536;

/// A place in the text, in bytes.
pub(crate) type Place = Range<usize>;

/// One value.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) what: What<'t>,
    /// What to underline: all of it, or up to its opening bracket.
    pub(crate) place: Place,
}

/// What a value is.
#[derive(Debug)]
pub(crate) enum What<'t> {
    /// `"..."`.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A word such as `Block`.
    Word(&'t str),
    /// `Word(...)`, or `(...)` with an empty word.
    Group(&'t str, Vec<Entry<'t>>),
    /// `[...]`.
    List(Vec<Node<'t>>),
}

/// One entry of a group.
#[derive(Debug)]
pub(crate) struct Entry<'t> {
    /// The name before its `:`, and where.
    pub(crate) name: Option<(&'t str, Place)>,
    pub(crate) value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The word that it begins with; empty if it begins with none.
    pub(crate) fn word(&self) -> &'t str {
        match self.what {
            What::Word(word) | What::Group(word, _) => word,
            _ => "",
        }
    }

    /// What it is called in a message.
    pub(crate) fn shown(&self) -> String {
        match &self.what {
            What::Text(_) => "a text".to_owned(),
            What::Number(number) => format!("the number {number}"),
            What::Word(word) => format!("`{}`", shortened(word)),
            What::Group("", _) => "a group in brackets".to_owned(),
            What::Group(word, _) => format!("`{}(...)`", shortened(word)),
            What::List(_) => "a list".to_owned(),
        }
    }
}

/// The beginning of what somebody wrote, so that a message stays short.
pub(crate) fn shortened(text: &str) -> String {
    const LETTERS: usize = 40;
    if text.chars().nth(LETTERS).is_none() {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(LETTERS).collect();
    format!("{beginning}...")
}

/// Reads the only value of `text`.
///
/// # Errors
/// The first place where the text is not well formed, nests too deeply or has too many values.
pub(crate) fn tree(text: &str) -> Result<Node<'_>, Mistake> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(Mistake::new(message));
    }
    if let Some((at, letter)) = text.char_indices().find(|(_, letter)| is_hidden(*letter)) {
        let message = format!("the letter U+{:04X} cannot be seen", u32::from(letter));
        let mistake = Mistake::new(message).at(at..at + letter.len_utf8());
        return Err(mistake.help("remove it, or write it as `\\u{...}` in a text"));
    }
    let mut scanner = Scanner {
        text,
        at: 0,
        depth: 0,
        values: 0,
    };
    scanner.skip_blank()?;
    let node = scanner.value()?;
    scanner.skip_blank()?;
    if scanner.peek().is_some() {
        return scanner.wrong("something follows after the end of the file's only value");
    }
    Ok(node)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    values: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Mistake> {
        let length = self.peek().map_or(0, char::len_utf8);
        Err(Mistake::new(message).at(self.at..self.at + length))
    }

    /// Takes letters for as long as `accept` says.
    fn take(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|letter| !accept(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Skips white space that can be told apart from a letter, and comments.
    fn skip_blank(&mut self) -> Result<(), Mistake> {
        loop {
            self.take(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r'));
            if self.rest().starts_with("//") {
                self.take(|letter| letter != '\n');
            } else if self.rest().starts_with("/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Skips a block comment; they nest.
    fn skip_comment(&mut self) -> Result<(), Mistake> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                open += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                open -= 1;
                self.at += 2;
            } else if rest.is_empty() {
                let mistake = Mistake::new("a comment is never closed").at(start..start + 2);
                return Err(mistake.help("close it with `*/`"));
            } else {
                self.at += 1;
                self.take(|letter| letter != '/' && letter != '*');
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Node<'t>, Mistake> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return self.wrong(format!("the file has more than {MAX_VALUES} values"));
        }
        let start = self.at;
        let what = match self.peek() {
            None => return self.wrong("the file ends where a value is expected"),
            Some('"') => self.quoted(start)?,
            Some('(') => return self.group("", start),
            Some('[') => return self.list(start),
            Some('0'..='9' | '+' | '-' | '.') => self.number(start)?,
            Some('r') if is_raw(self.rest()) => self.raw(start)?,
            Some(letter) if is_word_start(letter) => return self.word_value(start),
            Some(letter) => {
                let letter = letter.escape_debug();
                return self.wrong(format!("`{letter}` stands where a value is expected"));
            }
        };
        let place = start..self.at;
        Ok(Node { what, place })
    }

    /// A word, or a word before a bracket.
    fn word_value(&mut self, start: usize) -> Result<Node<'t>, Mistake> {
        let word = self.take(is_word_part);
        let end = self.at;
        self.skip_blank()?;
        if self.peek() == Some('(') {
            return self.group(word, start);
        }
        self.at = end;
        Ok(Node {
            what: What::Word(word),
            place: start..end,
        })
    }

    fn number(&mut self, start: usize) -> Result<What<'t>, Mistake> {
        let written = self.take(|letter| letter.is_alphanumeric() || "._+-".contains(letter));
        ron::from_str(written).map(What::Number).map_err(|_| {
            let shown = shortened(written);
            Mistake::new(format!("`{shown}` is no whole number of 64 bits")).at(start..self.at)
        })
    }

    /// `"..."` with escapes.
    fn quoted(&mut self, start: usize) -> Result<What<'t>, Mistake> {
        self.at += 1;
        loop {
            self.take(|letter| letter != '"' && letter != '\\');
            match self.peek() {
                Some('\\') => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                Some(_) => {
                    self.at += 1;
                    return self.said(start);
                }
                None => return Err(never_closed("a text", start)),
            }
        }
    }

    /// `r#"..."#` with any number of `#`. The closing quote is the first with as many behind it.
    fn raw(&mut self, start: usize) -> Result<What<'t>, Mistake> {
        self.at += 1;
        let hashes = self.take(|letter| letter == '#');
        let closing = format!("\"{hashes}");
        let Some(length) = self.rest()[1..].find(&closing) else {
            return Err(never_closed("a text", start));
        };
        self.at += 1 + length + closing.len();
        self.said(start)
    }

    /// What the text in quotes that was just read says.
    fn said(&self, start: usize) -> Result<What<'t>, Mistake> {
        let written = &self.text[start..self.at];
        ron::from_str(written).map(What::Text).map_err(|error| {
            let message = format!("this text cannot be read: {}", error.code);
            Mistake::new(message).at(start..self.at)
        })
    }

    /// Enters a bracket; the cursor is at it, and what it belongs to begins at `start`.
    fn open(&mut self, start: usize) -> Result<Place, Mistake> {
        if self.depth == MAX_DEPTH {
            return self.wrong(format!("brackets are nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_blank()?;
        Ok(start..self.at)
    }

    fn group(&mut self, word: &'t str, start: usize) -> Result<Node<'t>, Mistake> {
        let opening = self.at;
        let place = self.open(start)?.start..opening + 1;
        let mut entries = Vec::new();
        while !self.closed(')', opening)? {
            let name = self.name()?;
            let value = self.value()?;
            entries.push(Entry { name, value });
            self.comma(')', opening)?;
        }
        let what = What::Group(word, entries);
        Ok(Node { what, place })
    }

    fn list(&mut self, start: usize) -> Result<Node<'t>, Mistake> {
        self.open(start)?;
        let mut items = Vec::new();
        while !self.closed(']', start)? {
            items.push(self.value()?);
            self.comma(']', start)?;
        }
        Ok(Node {
            what: What::List(items),
            place: start..start + 1,
        })
    }

    /// Whether the bracket that was opened at `opening` ends here.
    fn closed(&mut self, closing: char, opening: usize) -> Result<bool, Mistake> {
        match self.peek() {
            None => {
                let bracket = &self.text[opening..=opening];
                Err(never_closed(&format!("`{bracket}`"), opening))
            }
            Some(letter) if letter == closing => {
                self.at += 1;
                self.depth -= 1;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    /// Reads the comma after an entry, or sees that none is needed.
    fn comma(&mut self, closing: char, opening: usize) -> Result<(), Mistake> {
        self.skip_blank()?;
        match self.peek() {
            Some(',') => {
                self.at += 1;
                self.skip_blank()
            }
            Some(letter) if letter != closing => {
                let letter = letter.escape_debug();
                let line = 1 + self.text[..opening].matches('\n').count();
                self.wrong(format!(
                    "`{letter}` stands where `,` or the `{closing}` to the bracket of line {line} is expected"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Reads `name:`; nothing is read if the entry has no name.
    fn name(&mut self) -> Result<Option<(&'t str, Place)>, Mistake> {
        let start = self.at;
        if self.peek().is_some_and(is_word_start) {
            let name = self.take(is_word_part);
            let place = start..self.at;
            self.skip_blank()?;
            if self.peek() == Some(':') {
                self.at += 1;
                self.skip_blank()?;
                return Ok(Some((name, place)));
            }
        }
        self.at = start;
        Ok(None)
    }
}

fn never_closed(what: &str, start: usize) -> Mistake {
    Mistake::new(format!("{what} is never closed")).at(start..start + 1)
}

/// Letters that show as nothing or turn around how others show: what decides is what one sees.
fn is_hidden(letter: char) -> bool {
    let is_plain = matches!(letter, '\n' | '\r' | '\t');
    letter.is_control() && !is_plain
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn is_word_start(letter: char) -> bool {
    letter == '_' || letter.is_alphabetic()
}

fn is_word_part(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

/// Whether a raw text begins here.
fn is_raw(rest: &str) -> bool {
    rest[1..].trim_start_matches('#').starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> (String, Place) {
        let mistake = tree(text).unwrap_err();
        (mistake.message, mistake.place.unwrap_or_default())
    }

    #[test]
    fn a_value_knows_its_place() {
        let text =
            "/* a /* b */ */ Rules(\n  a: \"x\\\"y\", // c (\n  b: [Tool(r#\"q\"\"#), -3],\n)";
        let node = tree(text).unwrap();
        assert_eq!(&text[node.place.clone()], "Rules(");
        let What::Group("Rules", entries) = &node.what else {
            panic!("{node:?}");
        };
        assert!(matches!(&entries[0].value.what, What::Text(said) if said == "x\"y"));
        let What::List(items) = &entries[1].value.what else {
            panic!("{node:?}");
        };
        assert_eq!(&text[items[0].place.clone()], "Tool(");
        assert!(matches!(items[1].what, What::Number(-3)));
        assert_eq!(&text[items[1].place.clone()], "-3");
    }

    #[test]
    fn what_is_not_well_formed_is_told_at_its_place() {
        assert_eq!(mistake("(a: 1"), ("`(` is never closed".into(), 0..1));
        assert_eq!(mistake("(a: \"x"), ("a text is never closed".into(), 4..5));
        assert_eq!(mistake("[1 2]").1, 3..4);
        assert_eq!(mistake("[1.5]").1, 1..4);
        assert_eq!(mistake("A B").1, 2..3);
        assert_eq!(mistake("/* a").1, 0..2);
        assert_eq!(mistake("").1, 0..0);
        assert_eq!(mistake("\"\\q\"").1, 0..4);
    }

    #[test]
    fn what_cannot_be_seen_is_refused() {
        for letter in ['\u{202e}', '\u{200b}', '\u{feff}', '\0', '\u{ad}'] {
            let text = format!("[\"a{letter}\"]");
            assert!(mistake(&text).0.contains("cannot be seen"), "{letter:?}");
        }
        let node = tree("\"\\u{202e}\"").unwrap();
        assert!(matches!(&node.what, What::Text(said) if said == "\u{202e}"));
    }

    #[test]
    fn deep_nesting_is_refused_before_it_costs_stack() {
        let text = "[".repeat(100_000);
        assert_eq!(mistake(&text).1, MAX_DEPTH..MAX_DEPTH + 1);
        let text = "Not(".repeat(100_000);
        assert_eq!(mistake(&text).1.start, 4 * MAX_DEPTH + 3);
        let many = format!("[{}]", "1,".repeat(MAX_VALUES));
        assert!(mistake(&many).0.contains("values"));
    }

    /// What is read here as well formed, `ron` reads too: a file is RON and no dialect of it.
    #[test]
    fn every_shipped_form_is_ron() {
        let text = "Rules(a: [Tool(\"x\"), Not(HighRisk)], /* c */ b: (c: -1, d: r#\"e\"#),)";
        tree(text).unwrap();
        ron::from_str::<ron::Value>(text).unwrap();
    }
}
