//! Writes actions as text, in the canonical form and in every form that the parser repairs.
//!
//! For simulated backends. The writer appends straight to the completion and allocates nothing of
//! its own. Whatever the form, the parser reads the same action back; only [`Syntax::CutInToolName`] is
//! never repaired.

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
    /// Where the text will be cut off, if it will be.
    cut_at: Option<usize>,
}

impl<'o> ActionWriter<'o> {
    /// Begins a call of `tool`; its arguments follow as fields.
    pub fn call(out: &'o mut String, form: Form, tool: &str) -> Self {
        let mut writer = Self::begin(out, form);
        let (before, after) = match form.keys {
            Keys::Canonical => (r#"{"action":"tool","tool":"#, r#","arguments":{"#),
            Keys::ActionTypeAsTool => (r#"{"action":"#, r#","arguments":{"#),
            Keys::Aliased => (r#"{"name":"#, r#","parameters":{"#),
            Keys::ToolBench => {
                writer.two_lines(tool, true);
                writer.open("{");
                return writer;
            }
        };
        writer.open(before);
        writer.name(tool);
        writer.open(after);
        writer
    }

    /// Begins a hand-off to `to`; what is said follows as fields.
    pub fn delegate(out: &'o mut String, form: Form, to: &str) -> Self {
        let mut writer = Self::begin(out, form);
        let (before, after) = match form.keys {
            Keys::Canonical | Keys::ActionTypeAsTool => {
                (r#"{"action":"delegate","to":"#, r#","content":{"#)
            }
            Keys::Aliased => (r#"{"type":"delegate","agent":"#, r#","message":{"#),
            Keys::ToolBench => {
                writer.two_lines("delegate", false);
                (r#"{"to":"#, r#","content":{"#)
            }
        };
        writer.open(before);
        writer.name(to);
        writer.open(after);
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
        write!(self.out, "{value}").expect("a string takes any text");
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
            cut_at: None,
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
        self.out.push_str(text);
    }

    /// Writes keys and words that are the same in every action, given in strict JSON.
    fn fixed(&mut self, strict: &str) {
        match self.form.syntax {
            Syntax::SingleQuotes => {
                let single = |letter| if letter == '"' { '\'' } else { letter };
                self.out.extend(strict.chars().map(single));
            }
            Syntax::UnquotedKeys => self.fixed_without_key_quotes(strict),
            _ => self.raw(strict),
        }
    }

    fn fixed_without_key_quotes(&mut self, strict: &str) {
        let mut pieces = strict.split('"').peekable();
        while let Some(between) = pieces.next() {
            self.raw(between);
            let Some(word) = pieces.next() else {
                return;
            };
            let is_key = pieces.peek().is_some_and(|next| next.starts_with(':'));
            let quote = if is_key { "" } else { "\"" };
            for piece in [quote, word, quote] {
                self.raw(piece);
            }
        }
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

    /// Opens an object; `strict` is what comes before its first field, in strict JSON.
    fn open(&mut self, strict: &str) {
        self.fixed(strict);
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
    fn name(&mut self, name: &str) {
        if self.form.syntax == Syntax::CutInToolName {
            self.raw("\"");
            self.escaped(first_half(name));
            self.cut_at = Some(self.out.len());
        }
        self.string([name]);
        self.is_first_field = false;
    }

    fn key(&mut self, name: &str) {
        if !self.is_first_field {
            self.out.push(',');
        }
        self.is_first_field = false;
        if self.form.syntax == Syntax::UnquotedKeys && is_identifier(name) {
            self.raw(name);
        } else {
            self.string([name]);
        }
        self.out.push(':');
    }

    fn string<'p>(&mut self, parts: impl IntoIterator<Item = &'p str>) {
        let quote = char::from(self.quote());
        self.out.push(quote);
        for part in parts {
            self.escaped(part);
        }
        self.out.push(quote);
    }

    fn quote(&self) -> u8 {
        if self.form.syntax == Syntax::SingleQuotes {
            b'\''
        } else {
            b'"'
        }
    }

    /// `text` with its quotes, backslashes and control characters escaped, in runs.
    fn escaped(&mut self, text: &str) {
        let quote = self.quote();
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
pub fn final_answer<'p>(out: &mut String, form: Form, parts: impl IntoIterator<Item = &'p str>) {
    let mut writer = ActionWriter::begin(out, form);
    let text = match form.keys {
        Keys::Canonical | Keys::ActionTypeAsTool => {
            writer.open(r#"{"action":"#);
            writer.name("final");
            "text"
        }
        Keys::Aliased => {
            writer.open(r#"{"type":"#);
            writer.name("final_answer");
            "answer"
        }
        Keys::ToolBench => {
            writer.two_lines("Finish", true);
            writer.open("{");
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
mod tests {
    use super::*;

    /// A call, a hand-off and an answer in this form.
    fn written(form: Form) -> [String; 3] {
        let mut texts = [const { String::new() }; 3];
        let [call, handed, answer] = &mut texts;
        let mut writer = ActionWriter::call(call, form, "send");
        writer.text("to", ["it's ", "\"x\"\n"]);
        writer.integer("count", -3);
        writer.finish_discarded();
        let mut writer = ActionWriter::delegate(handed, form, "worker");
        writer.list("a b", [["x"], ["y"]]);
        writer.finish();
        final_answer(answer, form, ["do", "ne"]);
        texts
    }

    #[track_caller]
    fn check(keys: Keys, syntax: Syntax, expected: [&str; 3]) {
        let form = Form {
            wrapping: Wrapping::Bare,
            keys,
            syntax,
        };
        assert_eq!(written(form), expected, "{form:?}");
    }

    #[test]
    fn every_key_is_written_in_every_syntax() {
        check(
            Keys::Canonical,
            Syntax::Strict,
            [
                r#"{"action":"tool","tool":"send","arguments":{"to":"it's \"x\"\n","count":-3},"keep_result":false}"#,
                r#"{"action":"delegate","to":"worker","content":{"a b":["x","y"]}}"#,
                r#"{"action":"final","text":"done"}"#,
            ],
        );
        check(
            Keys::Aliased,
            Syntax::SingleQuotes,
            [
                r#"{'name':'send','parameters':{'to':'it\'s "x"\n','count':-3},'keep_result':false}"#,
                "{'type':'delegate','agent':'worker','message':{'a b':['x','y']}}",
                "{'type':'final_answer','answer':'done'}",
            ],
        );
        check(
            Keys::Canonical,
            Syntax::UnquotedKeys,
            [
                r#"{action:"tool",tool:"send",arguments:{to:"it's \"x\"\n",count:-3},keep_result:false}"#,
                r#"{action:"delegate",to:"worker",content:{"a b":["x","y"]}}"#,
                r#"{action:"final",text:"done"}"#,
            ],
        );
        check(
            Keys::ActionTypeAsTool,
            Syntax::TrailingComma,
            [
                r#"{"action":"send","arguments":{"to":"it's \"x\"\n","count":-3},"keep_result":false,}"#,
                r#"{"action":"delegate","to":"worker","content":{"a b":["x","y"]},}"#,
                r#"{"action":"final","text":"done",}"#,
            ],
        );
        check(
            Keys::ToolBench,
            Syntax::UnquotedKeys,
            [
                "Action: send\nAction Input: {to:\"it's \\\"x\\\"\\n\",count:-3,keep_result:false}",
                "Action: delegate\nAction Input: {to:\"worker\",content:{\"a b\":[\"x\",\"y\"]}}",
                "Action: Finish\nAction Input: {final_answer:\"done\"}",
            ],
        );
    }

    #[test]
    fn a_text_is_cut_off_in_the_name_and_nothing_follows() {
        let cut = Syntax::CutInToolName;
        check(
            Keys::Canonical,
            cut,
            [
                r#"{"action":"tool","tool":"se"#,
                r#"{"action":"delegate","to":"wor"#,
                r#"{"action":"fi"#,
            ],
        );
        check(
            Keys::ToolBench,
            cut,
            [
                "Action: se",
                "Action: delegate\nAction Input: {\"to\":\"wor",
                "Action: Fin",
            ],
        );
    }

    #[test]
    fn what_stood_in_the_text_before_stays() {
        let mut text = "before ".to_owned();
        let form = Form {
            wrapping: Wrapping::Fenced,
            keys: Keys::Canonical,
            syntax: Syntax::CutInToolName,
        };
        final_answer(&mut text, form, ["x"]);
        assert_eq!(text, "before ```json\n{\"action\":\"fi");
    }
}
