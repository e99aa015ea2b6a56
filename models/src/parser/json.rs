//! A JSON reader that also reads what is nearly JSON, as long as there is no doubt what was meant.
//!
//! Strict JSON comes out with [`Document::mended`] unset, so one reader serves both readings. It
//! mends quotes, unquoted keys, trailing commas, raw line breaks in strings, the words of Python,
//! and closing braces missing at the end. It never completes a name, a number or a list that was
//! cut off: half an address is another address.

use std::borrow::Cow;

use super::Problem;
use crate::special::SPECIAL;

/// Objects and lists may nest this deep; an action needs three levels.
pub(super) const MAX_DEPTH: u32 = 32;
/// An object may have this many members. Bounds the search for duplicate keys.
pub(super) const MAX_MEMBERS: usize = 64;

/// A value as written. Numbers stay text: only the declared type says what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json<'a> {
    Null,
    True,
    False,
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<Member<'a>>),
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) value: Json<'a>,
}

/// An object and how it was read.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) members: Vec<Member<'a>>,
    /// The position after it.
    pub(super) end: usize,
    /// Whether anything had to be mended.
    pub(super) mended: bool,
    /// Whether the last string runs to the end of the text without a closing quote.
    pub(super) cut_text: bool,
}

/// Why no object could be read.
#[derive(Debug)]
pub(super) struct Failure {
    /// Where reading stopped.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) problem: Problem,
    /// Whether a key with its colon had been read: it was meant as an object.
    pub(super) began: bool,
}

/// Reads the object that opens at `start`.
pub(super) fn read_object(text: &str, start: usize) -> Result<Document<'_>, Failure> {
    let mut reader = Reader::new(text, start);
    match reader.object(0) {
        Ok(members) => Ok(Document {
            members,
            end: reader.position,
            mended: reader.mended,
            cut_text: reader.cut_text,
        }),
        Err(problem) => Err(Failure {
            at: reader.position,
            problem,
            began: reader.began,
        }),
    }
}

/// Reads a text that is one strict JSON list and nothing else.
pub(super) fn read_list(text: &str) -> Option<Vec<Json<'_>>> {
    let mut reader = Reader::new(text, 0);
    if reader.peek() != Some(b'[') {
        return None;
    }
    let items = reader.list(0).ok()?;
    let is_strict = !reader.mended && reader.position == text.len();
    is_strict.then_some(items)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    mended: bool,
    cut_text: bool,
    began: bool,
}

impl<'a> Reader<'a> {
    const fn new(text: &'a str, position: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            position,
            mended: false,
            cut_text: false,
            began: false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.position += 1;
        }
    }

    /// Whether the text ends here, or the code fence around it does.
    fn at_end(&self) -> bool {
        let rest = &self.bytes[self.position..];
        rest.is_empty() || rest.starts_with(b"```")
    }

    /// `problem`, unless the text simply ends here.
    fn unless_cut(&self, problem: Problem) -> Problem {
        if self.at_end() {
            "cut off before it is complete"
        } else {
            problem
        }
    }

    fn object(&mut self, depth: u32) -> Result<Vec<Member<'a>>, Problem> {
        self.position += 1;
        let mut members: Vec<Member<'a>> = Vec::with_capacity(4);
        self.skip_space();
        if self.accept(b'}') {
            return Ok(members);
        }
        loop {
            let key = self.key()?;
            if members.iter().any(|member| member.key == key) {
                return Err("a key is given twice");
            }
            if members.len() == MAX_MEMBERS {
                return Err("an object has too many members");
            }
            let value = self.value(depth)?;
            members.push(Member { key, value });
            self.skip_space();
            if self.accept(b',') {
                self.skip_space();
                if self.accept(b'}') {
                    self.mended = true;
                    return Ok(members);
                }
            } else if self.accept(b'}') {
                return Ok(members);
            } else if self.at_end() {
                self.mended = true;
                return Ok(members);
            } else {
                return Err("neither a comma nor a closing brace follows a value");
            }
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Cow<'a, str>, Problem> {
        let key = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.string(quote)?,
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.mended = true;
                Cow::Borrowed(self.word())
            }
            _ => return Err(self.unless_cut("a key is expected")),
        };
        if self.cut_text {
            return Err("cut off inside a key");
        }
        self.skip_space();
        if !self.accept(b':') {
            return Err(self.unless_cut("no colon follows a key"));
        }
        self.began = true;
        Ok(key)
    }

    fn value(&mut self, depth: u32) -> Result<Json<'a>, Problem> {
        self.skip_space();
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.string(quote).map(Json::Text),
            Some(b'{' | b'[') if depth == MAX_DEPTH => Err("nested too deeply"),
            Some(b'{') => self.object(depth + 1).map(Json::Object),
            Some(b'[') => self.list(depth + 1).map(Json::List),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(byte) if byte.is_ascii_alphabetic() => self.keyword(),
            _ => Err(self.unless_cut("a value is expected")),
        }
    }

    fn list(&mut self, depth: u32) -> Result<Vec<Json<'a>>, Problem> {
        self.position += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.accept(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            if self.accept(b',') {
                self.skip_space();
                if self.accept(b']') {
                    self.mended = true;
                    return Ok(items);
                }
            } else if self.accept(b']') {
                return Ok(items);
            } else {
                return Err(
                    self.unless_cut("neither a comma nor a closing bracket follows an item")
                );
            }
        }
    }

    fn number(&mut self) -> Result<&'a str, Problem> {
        let start = self.position;
        self.accept(b'-');
        let leads_with_zero = self.peek() == Some(b'0');
        let whole_digits = self.digits();
        let mut is_number = whole_digits == 1 || (whole_digits > 1 && !leads_with_zero);
        if self.accept(b'.') {
            is_number &= self.digits() > 0;
        }
        if self.accept(b'e') || self.accept(b'E') {
            if !self.accept(b'+') {
                self.accept(b'-');
            }
            is_number &= self.digits() > 0;
        }
        if self.position == self.bytes.len() {
            return Err("cut off inside a number");
        }
        if is_number {
            Ok(&self.text[start..self.position])
        } else {
            Err("a number is malformed")
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.position;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
        self.position - start
    }

    fn word(&mut self) -> &'a str {
        let start = self.position;
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        {
            self.position += 1;
        }
        &self.text[start..self.position]
    }

    fn keyword(&mut self) -> Result<Json<'a>, Problem> {
        let word = self.word();
        let (value, is_json) = match word {
            "true" => (Json::True, true),
            "false" => (Json::False, true),
            "null" => (Json::Null, true),
            "True" => (Json::True, false),
            "False" => (Json::False, false),
            "None" => (Json::Null, false),
            _ => return Err("a bare word stands where a value is expected"),
        };
        self.mended |= !is_json;
        Ok(value)
    }

    /// A string in `quote`s. Borrowed unless it has escapes. One without a closing quote runs to
    /// the end of the text and sets `cut_text`.
    fn string(&mut self, quote: u8) -> Result<Cow<'a, str>, Problem> {
        self.mended |= quote != b'"';
        self.position += 1;
        let plain = self.plain(quote);
        if self.accept(quote) {
            return Ok(Cow::Borrowed(plain));
        }
        self.decoded(plain, quote).map(Cow::Owned)
    }

    /// A string that does not end after its first `plain` part.
    #[cold]
    fn decoded(&mut self, plain: &str, quote: u8) -> Result<String, Problem> {
        let mut decoded = String::from(plain);
        while self.accept(b'\\') {
            self.escape(&mut decoded)?;
            decoded.push_str(self.plain(quote));
        }
        if !self.accept(quote) {
            self.mended = true;
            self.cut_text = true;
        }
        Ok(decoded)
    }

    /// The text up to the next `quote` or backslash.
    #[inline]
    fn plain(&mut self, quote: u8) -> &'a str {
        let start = self.position;
        loop {
            let rest = &self.bytes[self.position..];
            let run = rest.iter().position(|&byte| SPECIAL[usize::from(byte)]);
            self.position += run.unwrap_or(rest.len());
            match self.peek() {
                Some(byte) if byte != quote && byte != b'\\' => {
                    self.mended |= byte < b' ';
                    self.position += 1;
                }
                _ => return &self.text[start..self.position],
            }
        }
    }

    /// What follows a backslash. An escape that the end of the text cuts off leaves nothing.
    fn escape(&mut self, decoded: &mut String) -> Result<(), Problem> {
        let Some(byte) = self.peek() else {
            return Ok(());
        };
        let letter = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'\'' => {
                self.mended = true;
                '\''
            }
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.position += 1;
                decoded.extend(self.unicode_escape()?);
                return Ok(());
            }
            _ => return Err("a backslash escapes nothing"),
        };
        self.position += 1;
        decoded.push(letter);
        Ok(())
    }

    /// The character of `\uXXXX`, or of two of them that form a surrogate pair; none if the end of
    /// the text cuts it off.
    fn unicode_escape(&mut self) -> Result<Option<char>, Problem> {
        const PROBLEM: Problem = "an escape stands for no character";
        let Some(first) = self.four_hex_digits()? else {
            return Ok(None);
        };
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).map(Some).ok_or(PROBLEM);
        }
        if self.position == self.bytes.len() {
            return Ok(None);
        }
        if !(self.accept(b'\\') && self.accept(b'u')) {
            return Err(PROBLEM);
        }
        let Some(second) = self.four_hex_digits()? else {
            return Ok(None);
        };
        if !(0xDC00..0xE000).contains(&second) {
            return Err(PROBLEM);
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            .map(Some)
            .ok_or(PROBLEM)
    }

    fn four_hex_digits(&mut self) -> Result<Option<u32>, Problem> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else {
                return Ok(None);
            };
            let digit = char::from(byte)
                .to_digit(16)
                .ok_or("an escape stands for no character")?;
            code = code * 16 + digit;
            self.position += 1;
        }
        Ok(Some(code))
    }
}
