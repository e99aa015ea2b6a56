//! Writes actions as text, in the canonical form and in every form that the parser repairs.
//!
//! For simulated backends. The writer appends straight to the completion and allocates nothing of
//! its own. Whatever the form, the parser reads the same action back; only [`Syntax::CutInToolName`] is
//! never repaired.

use plugins::value::Text;
use serde::Deserialize;

use crate::special::SPECIAL;

/// What stands around the action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Wrapping {
    /// Nothing.
    #[default]
    Bare,
    /// A code fence.
    Fenced,
    /// A sentence before it.
    Prefixed,
}

/// By which keys the action is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Keys {
    /// The canonical ones.
    #[default]
    Canonical,
    /// The action type is the tool's name. Only calls differ.
    ActionTypeAsTool,
    /// `name` and `parameters`, and likewise for hand-offs and answers.
    Aliased,
    /// The two lines of ToolBench, `Action:` and `Action Input:`.
    ToolBench,
}

/// How well-formed the JSON is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Syntax {
    /// Strict JSON.
    #[default]
    Strict,
    /// Single quotes.
    SingleQuotes,
    /// A comma before the last closing brace.
    TrailingComma,
    /// Keys without quotes.
    UnquotedKeys,
    /// The last closing brace is missing. The two lines of ToolBench keep it.
    MissingCloser,
    /// The text ends in the middle of the tool's or receiver's name, or of the word `final`.
    CutInToolName,
}

/// The form in which an action is written. The default is the canonical one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Form {
    /// What stands around the action.
    pub wrapping: Wrapping,
    /// By which keys it is said.
    pub keys: Keys,
    /// How well-formed the JSON is.
    pub syntax: Syntax,
}

/// A name or a piece of text, and whether it can be written as it is.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    text: &'w str,
    is_plain: bool,
}

impl<'w> Words<'w> {
    /// Words that are written far more often than made: `is_plain` is what [`is_plain`] said of them.
    pub(crate) fn checked(text: &'w str, is_plain: bool) -> Self {
        debug_assert_eq!(is_plain, self::is_plain(text), "{text}");
        Self { text, is_plain }
    }
}

impl<'w> From<&'w str> for Words<'w> {
    fn from(text: &'w str) -> Self {
        Self::checked(text, is_plain(text))
    }
}

impl<'w> From<&'w Text> for Words<'w> {
    fn from(text: &'w Text) -> Self {
        Self::from(&**text)
    }
}

/// Whether nothing in a text has to be escaped, whichever quotes stand around it.
pub(crate) fn is_plain(text: &str) -> bool {
    // Without a branch for each byte: most texts have nothing to escape.
    !text
        .bytes()
        .fold(false, |found, byte| found | SPECIAL[usize::from(byte)])
}

/// What is the same in every action of its kind.
struct Fixed {
    strict: &'static str,
    single_quotes: &'static str,
    unquoted_keys: &'static str,
}

impl Fixed {
    const fn new(
        strict: &'static str,
        single_quotes: &'static str,
        unquoted_keys: &'static str,
    ) -> Self {
        Self {
            strict,
            single_quotes,
            unquoted_keys,
        }
    }
}

const BRACE: Fixed = Fixed::new("{", "{", "{");
const ACTION: Fixed = Fixed::new(r#"{"action":"#, "{'action':", "{action:");
const TYPE: Fixed = Fixed::new(r#"{"type":"#, "{'type':", "{type:");
const NAME: Fixed = Fixed::new(r#"{"name":"#, "{'name':", "{name:");
const TO: Fixed = Fixed::new(r#"{"to":"#, "{'to':", "{to:");
const TOOL: Fixed = Fixed::new(
    r#"{"action":"tool","tool":"#,
    "{'action':'tool','tool':",
    r#"{action:"tool",tool:"#,
);
const DELEGATE_TO: Fixed = Fixed::new(
    r#"{"action":"delegate","to":"#,
    "{'action':'delegate','to':",
    r#"{action:"delegate",to:"#,
);
const DELEGATE_AGENT: Fixed = Fixed::new(
    r#"{"type":"delegate","agent":"#,
    "{'type':'delegate','agent':",
    r#"{type:"delegate",agent:"#,
);
const ARGUMENTS: Fixed = Fixed::new(r#","arguments":{"#, ",'arguments':{", ",arguments:{");
const PARAMETERS: Fixed = Fixed::new(r#","parameters":{"#, ",'parameters':{", ",parameters:{");
const CONTENT: Fixed = Fixed::new(r#","content":{"#, ",'content':{", ",content:{");
const MESSAGE: Fixed = Fixed::new(r#","message":{"#, ",'message':{", ",message:{");

const PREFIX: &str = "I will take the next step now.\n";

/// Writes one action. Fields come in the order in which they are given; nothing is complete before
/// `finish`.
#[derive(Debug)]
#[must_use = "an action is complete only after `finish`"]
pub struct ActionWriter<'o> {
    out: &'o mut String,
    form: Form,
    is_first_field: bool,
    /// How many objects are open.
    depth: u8,
    /// Where the text will be cut off, if it will be.
    cut_at: Option<usize>,
}

impl<'o> ActionWriter<'o> {
    /// Begins a call of `tool`; its arguments follow as fields.
    pub fn call<'n>(out: &'o mut String, form: Form, tool: impl Into<Words<'n>>) -> Self {
        let mut writer = Self::begin(out, form);
        let tool = tool.into();
        let (before, after) = match form.keys {
            Keys::Canonical => (TOOL, ARGUMENTS),
            Keys::ActionTypeAsTool => (ACTION, ARGUMENTS),
            Keys::Aliased => (NAME, PARAMETERS),
            Keys::ToolBench => {
                writer.two_lines(tool.text, true);
                writer.open(&BRACE);
                return writer;
            }
        };
        writer.open(&before);
        writer.name(tool);
        writer.open(&after);
        writer
    }

    /// Begins a hand-off to `to`; what is said follows as fields.
    pub fn delegate<'n>(out: &'o mut String, form: Form, to: impl Into<Words<'n>>) -> Self {
        let mut writer = Self::begin(out, form);
        let (before, after) = match form.keys {
            Keys::Canonical | Keys::ActionTypeAsTool => (DELEGATE_TO, CONTENT),
            Keys::Aliased => (DELEGATE_AGENT, MESSAGE),
            Keys::ToolBench => {
                writer.two_lines("delegate", false);
                (TO, CONTENT)
            }
        };
        writer.open(&before);
        writer.name(to.into());
        writer.open(&after);
        writer
    }

    /// Writes a text field, the concatenation of `parts`.
    pub fn text<'n, 'p>(
        &mut self,
        name: impl Into<Words<'n>>,
        parts: impl IntoIterator<Item = impl Into<Words<'p>>>,
    ) {
        self.key(name.into());
        self.string(parts);
    }

    /// Writes a list of texts, each the concatenation of its parts.
    pub fn list<'n, 'p, P>(
        &mut self,
        name: impl Into<Words<'n>>,
        items: impl IntoIterator<Item = P>,
    ) where
        P: IntoIterator<Item: Into<Words<'p>>>,
    {
        self.key(name.into());
        self.raw("[");
        for (index, parts) in items.into_iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.string(parts);
        }
        self.raw("]");
    }

    /// Writes a whole number.
    pub fn integer<'n>(&mut self, name: impl Into<Words<'n>>, value: i64) {
        use std::fmt::Write as _;
        self.key(name.into());
        write!(self.out, "{value}").expect("a string takes any text");
    }

    /// Writes a truth value.
    pub fn boolean<'n>(&mut self, name: impl Into<Words<'n>>, value: bool) {
        self.key(name.into());
        self.raw(if value { "true" } else { "false" });
    }

    /// Completes the action.
    pub fn finish(self) {
        self.end();
    }

    /// Completes a call whose result is not to enter the context.
    pub fn finish_discarded(mut self) {
        // The two-line form has no other place for it than among the arguments.
        if self.form.keys != Keys::ToolBench {
            self.close();
        }
        self.boolean("keep_result", false);
        self.end();
    }

    fn begin(out: &'o mut String, form: Form) -> Self {
        let mut writer = Self {
            out,
            form,
            is_first_field: true,
            depth: 0,
            cut_at: None,
        };
        match (form.wrapping, form.keys) {
            (Wrapping::Bare, _) => {}
            (Wrapping::Fenced, Keys::ToolBench) => writer.raw("```\n"),
            (Wrapping::Fenced, _) => writer.raw("```json\n"),
            (Wrapping::Prefixed, _) => writer.raw(PREFIX),
        }
        writer
    }

    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// `Action: name` and the beginning of the next line.
    fn two_lines(&mut self, name: &str, may_be_cut: bool) {
        self.raw("Action: ");
        if may_be_cut && self.form.syntax == Syntax::CutInToolName {
            self.raw(first_half(name));
            self.cut_at = Some(self.out.len());
        }
        self.raw(name);
        self.raw("\nAction Input: ");
    }

    /// Opens an object; `fixed` is what comes before its first field.
    fn open(&mut self, fixed: &Fixed) {
        self.raw(match self.form.syntax {
            Syntax::SingleQuotes => fixed.single_quotes,
            Syntax::UnquotedKeys => fixed.unquoted_keys,
            _ => fixed.strict,
        });
        self.is_first_field = true;
        self.depth += 1;
    }

    fn close(&mut self) {
        self.raw("}");
        self.is_first_field = false;
        self.depth -= 1;
    }

    /// Closes what is open, with the mistakes of the form in the last place.
    fn end(mut self) {
        while self.depth > 1 {
            self.close();
        }
        match self.form.syntax {
            Syntax::TrailingComma if !self.is_first_field => self.raw(",}"),
            Syntax::MissingCloser if self.form.keys != Keys::ToolBench => {}
            _ => self.raw("}"),
        }
        if self.form.wrapping == Wrapping::Fenced {
            self.raw("\n```");
        }
        if let Some(length) = self.cut_at {
            self.out.truncate(length);
        }
    }

    /// The name that says which tool, receiver or answer is meant: where a text is cut off.
    fn name(&mut self, name: Words<'_>) {
        if self.form.syntax == Syntax::CutInToolName {
            self.raw("\"");
            self.words(first_half(name.text).into());
            self.cut_at = Some(self.out.len());
        }
        self.string([name]);
        self.is_first_field = false;
    }

    fn key(&mut self, name: Words<'_>) {
        if !self.is_first_field {
            self.raw(",");
        }
        self.is_first_field = false;
        if self.form.syntax == Syntax::UnquotedKeys && is_identifier(name.text) {
            self.raw(name.text);
        } else {
            self.string([name]);
        }
        self.raw(":");
    }

    fn string<'p>(&mut self, parts: impl IntoIterator<Item = impl Into<Words<'p>>>) {
        let quote = self.quote();
        self.raw(quote);
        for part in parts {
            self.words(part.into());
        }
        self.raw(quote);
    }

    fn quote(&self) -> &'static str {
        if self.form.syntax == Syntax::SingleQuotes {
            "'"
        } else {
            "\""
        }
    }

    /// `words` with their quotes, backslashes and control characters escaped.
    fn words(&mut self, words: Words<'_>) {
        if words.is_plain {
            self.raw(words.text);
        } else {
            self.escaped(words.text);
        }
    }

    /// Escapes between runs of what can be copied.
    #[cold]
    fn escaped(&mut self, text: &str) {
        let quote = self.quote().as_bytes()[0];
        let is_copied = |byte: u8| byte >= b' ' && byte != quote && byte != b'\\';
        let mut start = 0;
        for (position, &byte) in text.as_bytes().iter().enumerate() {
            if is_copied(byte) {
                continue;
            }
            self.raw(&text[start..position]);
            self.escape(byte);
            start = position + 1;
        }
        self.raw(&text[start..]);
    }

    fn escape(&mut self, byte: u8) {
        use std::fmt::Write as _;
        match byte {
            b'\n' => self.raw("\\n"),
            b'\r' => self.raw("\\r"),
            b'\t' => self.raw("\\t"),
            0..b' ' => {
                write!(self.out, "\\u{byte:04x}").expect("a string takes any text");
            }
            _ => {
                self.raw("\\");
                self.raw(char::from(byte).encode_utf8(&mut [0; 4]));
            }
        }
    }
}

/// Writes a final answer, the concatenation of `parts`.
pub fn final_answer<'p>(
    out: &mut String,
    form: Form,
    parts: impl IntoIterator<Item = impl Into<Words<'p>>>,
) {
    let mut writer = ActionWriter::begin(out, form);
    let text = match form.keys {
        Keys::Canonical | Keys::ActionTypeAsTool => {
            writer.open(&ACTION);
            writer.name("final".into());
            "text"
        }
        Keys::Aliased => {
            writer.open(&TYPE);
            writer.name("final_answer".into());
            "answer"
        }
        Keys::ToolBench => {
            writer.two_lines("Finish", true);
            writer.open(&BRACE);
            "final_answer"
        }
    };
    writer.text(text, parts);
    writer.finish();
}

/// The first half of a name, never all of it.
fn first_half(name: &str) -> &str {
    let middle = name.floor_char_boundary(name.len() / 2);
    &name[..middle]
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests;
