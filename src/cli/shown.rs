//! Text as messages show it: nothing is very long, and nothing is obeyed by a terminal.

use std::borrow::Cow;
use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};
use worlds::diagnostic::LONGEST_SHOWN_LINE;

/// What is left of a text that is too long, in characters, at its beginning and at its end.
const KEPT: [usize; 2] = [LONGEST_SHOWN_LINE / 2, LONGEST_SHOWN_LINE / 4];

/// `text`, without its middle if it is longer than a line that is shown.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= LONGEST_SHOWN_LINE {
        return text.into();
    }
    let [first, last] = KEPT;
    let start: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(length - last).collect();
    let left_out = length - first - last;
    format!("{start} ...{left_out} characters... {end}").into()
}

/// `text` with its control characters, and those that turn the direction of writing, written as
/// JSON writes them. Line breaks and tabs stay.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_obeyed(letter) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    escaped.into()
}

/// `text` with its line breaks and tabs escaped as well, for messages of one line.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t']) {
        return text.into();
    }
    text.replace('\n', "\\u000a")
        .replace('\t', "\\u0009")
        .into()
}

/// Whether a terminal does something else with a character than to show it.
fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        other => other.is_control(),
    }
}

/// A problem of any file, and those within it, with every text shortened.
pub(crate) struct Shortened<'d> {
    message: String,
    code: Option<String>,
    severity: Option<Severity>,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    source: Option<&'d dyn SourceCode>,
    related: Vec<Self>,
}

impl<'d> Shortened<'d> {
    /// What is shown of a problem.
    pub(crate) fn of(diagnostic: &'d dyn Diagnostic) -> Self {
        let labels = diagnostic.labels().into_iter().flatten();
        let labels = labels.map(|label| {
            let text = label.label().map(|text| shortened(text).into_owned());
            LabeledSpan::new(text, label.offset(), label.len())
        });
        let related = diagnostic.related().into_iter().flatten();
        Self {
            message: shortened(&diagnostic.to_string()).into_owned(),
            code: diagnostic.code().map(|code| code.to_string()),
            severity: diagnostic.severity(),
            help: diagnostic
                .help()
                .map(|help| shortened(&help.to_string()).into_owned()),
            labels: labels.collect(),
            source: diagnostic.source_code(),
            related: related.map(Self::of).collect(),
        }
    }
}

impl fmt::Debug for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shortened<'_> {}

impl Diagnostic for Shortened<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code.as_ref()?))
    }

    fn severity(&self) -> Option<Severity> {
        self.severity
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.help.as_ref()?))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        // A problem that is told in words has no place to be drawn at.
        (!self.labels.is_empty()).then(|| -> Box<dyn Iterator<Item = LabeledSpan>> {
            Box::new(self.labels.iter().cloned())
        })
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let related = self.related.iter();
        Some(Box::new(
            related.map(|problem| -> &dyn Diagnostic { problem }),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_its_middle_and_a_short_one_nothing() {
        let most = "é".repeat(LONGEST_SHOWN_LINE);
        assert_eq!(shortened(&most), most);
        let long = format!("begin{}end", "x".repeat(1_000_000));
        let short = shortened(&long);
        assert!(short.starts_with("beginx") && short.ends_with("xend"));
        assert!(short.contains(" ...999258 characters... "), "{short}");
        assert!(short.chars().count() < LONGEST_SHOWN_LINE);
    }

    #[test]
    fn nothing_reaches_a_terminal_that_it_would_obey() {
        let hostile = "a\u{1b}[2Jb\r\u{7}\u{9b}1m\u{202e}c\u{2067}\u{0}\u{7f}";
        let told = "a\\u001b[2Jb\\u000d\\u0007\\u009b1m\\u202ec\\u2067\\u0000\\u007f";
        assert_eq!(escaped(hostile), told);
        assert_eq!(escaped("one\n\ttwo é ⚠"), "one\n\ttwo é ⚠");
    }

    #[test]
    fn escaped_json_says_the_same() {
        let value = serde_json::json!({ "text": "\u{1b}[0m\u{7f}\u{85}\u{202e}\u{2069}" });
        let escaped = escaped(&value.to_string()).into_owned();
        assert!(!escaped.contains(is_obeyed), "{escaped}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).ok(),
            Some(value)
        );
    }
}
