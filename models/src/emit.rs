//! Writes actions as text, in the canonical form and in every form that the parser repairs.
//!
//! For simulated backends. The writer appends straight to the completion and allocates nothing of
//! its own. Whatever the form, the parser reads the same action back; only
//! [`Syntax::CutInToolName`] is never repaired.

use serde::Deserialize;

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
    /// The text has been cut off: nothing more is written.
    is_cut: bool,
}

impl<'o> ActionWriter<'o> {
    /// Begins a call of `tool`; its arguments follow as fields.
    pub fn call(out: &'o mut String, form: Form, tool: &str) -> Self {
        let mut writer = Self::begin(out, form);
        match form.keys {
            Keys::Canonical => {
                writer.open();
                writer.pair("action", "tool");
                writer.named("tool", tool);
                writer.key("arguments");
            }
            Keys::ActionTypeAsTool => {
                writer.open();
                writer.named("action", tool);
                writer.key("arguments");
            }
            Keys::Aliased => {
                writer.open();
                writer.named("name", tool);
                writer.key("parameters");
            }
            Keys::ToolBench => writer.two_lines(tool, true),
        }
        writer.open();
        writer
    }

    /// Begins a hand-off to `to`; what is said follows as fields.
    pub fn delegate(out: &'o mut String, form: Form, to: &str) -> Self {
        let mut writer = Self::begin(out, form);
        let (action, receiver, content) = match form.keys {
            Keys::Canonical | Keys::ActionTypeAsTool => ("action", "to", "content"),
            Keys::Aliased => ("type", "agent", "message"),
            Keys::ToolBench => ("", "to", "content"),
        };
        if form.keys == Keys::ToolBench {
            writer.two_lines("delegate", false);
        }
        writer.open();
        if form.keys != Keys::ToolBench {
            writer.pair(action, "delegate");
        }
        writer.named(receiver, to);
        writer.key(content);
        writer.open();
        writer
    }

    /// Writes a text field, the concatenation of `parts`.
    pub fn text<'p>(&mut self, name: &str, parts: impl IntoIterator<Item = &'p str>) {
        self.key(name);
        self.string(parts);
    }

    /// Writes a list of texts, each the concatenation of its parts.
    pub fn list<'p, P>(&mut self, name: &str, items: impl IntoIterator<Item = P>)
    where
        P: IntoIterator<Item = &'p str>,
    {
        self.key(name);
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
    pub fn integer(&mut self, name: &str, value: i64) {
        use std::fmt::Write as _;
        self.key(name);
        if !self.is_cut {
            write!(self.out, "{value}").expect("a string takes any text");
        }
    }

    /// Writes a truth value.
    pub fn boolean(&mut self, name: &str, value: bool) {
        self.key(name);
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
            is_cut: false,
        };
        writer.raw(match (form.wrapping, form.keys) {
            (Wrapping::Bare, _) => "",
            (Wrapping::Fenced, Keys::ToolBench) => "```\n",
            (Wrapping::Fenced, _) => "```json\n",
            (Wrapping::Prefixed, _) => PREFIX,
        });
        writer
    }

    fn raw(&mut self, text: &str) {
        if !self.is_cut {
            self.out.push_str(text);
        }
    }

    /// `Action: name` and the beginning of the next line.
    fn two_lines(&mut self, name: &str, may_be_cut: bool) {
        self.raw("Action: ");
        if may_be_cut && self.form.syntax == Syntax::CutInToolName {
            self.raw(first_half(name));
            self.is_cut = true;
        }
        self.raw(name);
        self.raw("\nAction Input: ");
    }

    fn open(&mut self) {
        self.raw("{");
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
    }

    /// A key of the action itself with a fixed word.
    fn pair(&mut self, key: &str, word: &str) {
        self.key(key);
        self.string([word]);
    }

    /// The key and name that say which tool, receiver or answer is meant: where a text is cut off.
    fn named(&mut self, key: &str, name: &str) {
        self.key(key);
        if self.form.syntax == Syntax::CutInToolName {
            self.raw("\"");
            self.escaped(first_half(name));
            self.is_cut = true;
        }
        self.string([name]);
    }

    fn key(&mut self, name: &str) {
        if !self.is_first_field {
            self.raw(",");
        }
        self.is_first_field = false;
        if self.form.syntax == Syntax::UnquotedKeys && is_identifier(name) {
            self.raw(name);
        } else {
            self.string([name]);
        }
        self.raw(":");
    }

    fn string<'p>(&mut self, parts: impl IntoIterator<Item = &'p str>) {
        let quote = if self.form.syntax == Syntax::SingleQuotes {
            "'"
        } else {
            "\""
        };
        self.raw(quote);
        for part in parts {
            self.escaped(part);
        }
        self.raw(quote);
    }

    /// `text` with its quotes, backslashes and control characters escaped, in runs.
    fn escaped(&mut self, text: &str) {
        let quote = if self.form.syntax == Syntax::SingleQuotes {
            b'\''
        } else {
            b'"'
        };
        let is_plain = |byte: u8| byte >= b' ' && byte != quote && byte != b'\\';
        // Without a branch for each byte: most texts have nothing to escape.
        if text
            .bytes()
            .fold(true, |plain, byte| plain & is_plain(byte))
        {
            self.raw(text);
            return;
        }
        let mut start = 0;
        for (position, &byte) in text.as_bytes().iter().enumerate() {
            if is_plain(byte) {
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
            0..b' ' if !self.is_cut => {
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
pub fn final_answer<'p>(out: &mut String, form: Form, parts: impl IntoIterator<Item = &'p str>) {
    let mut writer = ActionWriter::begin(out, form);
    let text = match form.keys {
        Keys::Canonical | Keys::ActionTypeAsTool => {
            writer.open();
            writer.named("action", "final");
            "text"
        }
        Keys::Aliased => {
            writer.open();
            writer.named("type", "final_answer");
            "answer"
        }
        Keys::ToolBench => {
            writer.two_lines("Finish", true);
            writer.open();
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
