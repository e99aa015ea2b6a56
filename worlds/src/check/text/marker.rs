//! The forbidden markers of paper 3.7: stealth, obfuscation, invisible text, encoding bypasses, and
//! operational payloads. These are heuristics: they keep shipped and shared worlds plain to read,
//! and are no proof that a text is harmless.

use std::ops::Range;
use std::sync::LazyLock;

use crate::diagnostic::Code;

/// Letters that show as nothing or change how their neighbours show. Control characters and spaces
/// other than the plain one are refused apart from this list.
const INVISIBLE: &[(u32, u32)] = &[
    (0x00AD, 0x00AD),     // soft hyphen
    (0x034F, 0x034F),     // grapheme joiner
    (0x061C, 0x061C),     // Arabic letter mark
    (0x115F, 0x1160),     // Hangul fillers
    (0x17B4, 0x17B5),     // Khmer inherent vowels
    (0x180B, 0x180F),     // Mongolian selectors
    (0x200B, 0x200F),     // zero width, left and right marks
    (0x202A, 0x202E),     // direction overrides
    (0x2060, 0x206F),     // joiners, invisible operators, isolates
    (0x2800, 0x2800),     // blank Braille pattern
    (0x3164, 0x3164),     // Hangul filler
    (0xE000, 0xF8FF),     // private use
    (0xFE00, 0xFE0F),     // variation selectors
    (0xFEFF, 0xFEFF),     // byte order mark
    (0xFFA0, 0xFFA0),     // half-width Hangul filler
    (0xFFF0, 0xFFFF),     // specials, also what stands for invalid UTF-8
    (0x1D173, 0x1D17A),   // musical beams
    (0xE0000, 0xE0FFF),   // tags, more variation selectors
    (0xF0000, 0x10_FFFF), // private use
];

/// Characters of the longest run of hexadecimal digits that passes.
const LONGEST_HEX: usize = 31;
/// Characters of the longest run that looks like Base64 and passes.
const LONGEST_BASE64: usize = 39;
/// The number of escapes in a row, such as `%41` or `&#65;`, that does not pass.
const ESCAPES_IN_A_ROW: usize = 4;

const MARKUP: &[&str] = &[
    "<script",
    "</script",
    "<iframe",
    "<object",
    "<embed",
    "<svg",
    "<!--",
    "javascript:",
    "vbscript:",
    "data:text/html",
    "onerror=",
    "onload=",
    "onclick=",
];

const PAYLOADS: &[&str] = &[
    "rm -rf",
    "curl http",
    "wget http",
    "powershell",
    "cmd.exe",
    "/bin/sh",
    "/bin/bash",
    "/etc/passwd",
    "/etc/shadow",
    "chmod +x",
    "nc -e",
    "base64 -d",
    "os.system(",
    "subprocess.",
    "eval(",
    "exec(",
    "drop table",
    "' or '1'='1",
    "union select",
    "; shutdown",
    "ignore previous instructions",
    "ignore all previous instructions",
    "disregard previous instructions",
    "disregard all previous instructions",
];

static MARKUP_BY_LETTER: LazyLock<ByLetter> = LazyLock::new(|| ByLetter::new(MARKUP));
static PAYLOADS_BY_LETTER: LazyLock<ByLetter> = LazyLock::new(|| ByLetter::new(PAYLOADS));

/// Whether nobody can see the letter. Line breaks and tabs are layout.
pub(super) fn is_invisible(letter: char) -> bool {
    if matches!(letter, ' '..='~' | '\n' | '\r' | '\t') {
        return false;
    }
    let code = u32::from(letter);
    letter.is_control()
        || letter.is_whitespace()
        || INVISIBLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&code))
}

/// The markers in `text`: code, place, and what it is.
pub(super) fn found(text: &str) -> Vec<(Code, Range<usize>, String)> {
    let mut found = Vec::new();
    for range in encoded_runs(text) {
        let what = "a long encoded run hides what it says".to_owned();
        found.push((Code::EncodedRun, range, what));
    }
    // Lowering ASCII only keeps every byte where it was.
    let lowered = text.to_ascii_lowercase();
    for (code, markers, what) in [
        (
            Code::ActiveMarkup,
            &MARKUP_BY_LETTER,
            "active or hidden markup",
        ),
        (
            Code::OperationalPayload,
            &PAYLOADS_BY_LETTER,
            "an operational payload",
        ),
    ] {
        if let Some((at, marker)) = markers.first_in(lowered.as_bytes()) {
            found.push((code, at..at + marker.len(), format!("{what}: `{marker}`")));
        }
    }
    found
}

/// Markers by the byte with which they begin. Every text of every member of a family is searched for
/// all of them, in one walk.
struct ByLetter([Vec<&'static str>; 128]);

impl ByLetter {
    fn new(markers: &[&'static str]) -> Self {
        let beginning_with = |byte: usize| {
            let begins = |marker: &&&str| usize::from(marker.as_bytes()[0]) == byte;
            markers.iter().filter(begins).copied().collect()
        };
        Self(std::array::from_fn(beginning_with))
    }

    /// The marker that begins first in `text`, and where. Of several that begin there, the least.
    fn first_in(&self, text: &[u8]) -> Option<(usize, &'static str)> {
        text.iter().enumerate().find_map(|(at, &byte)| {
            let markers = self.0.get(usize::from(byte))?.iter();
            let stands_here = |marker: &&&str| text[at..].starts_with(marker.as_bytes());
            let marker = markers.filter(stands_here).min()?;
            Some((at, *marker))
        })
    }
}

fn encoded_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs = escapes(text);
    if text.len() <= LONGEST_HEX {
        return runs;
    }
    runs.extend(
        runs_of(text, |byte| byte.is_ascii_hexdigit()).filter(|run| {
            run.len() > LONGEST_HEX
                && text[run.clone()].contains(|letter: char| letter.is_ascii_digit())
        }),
    );
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    runs.extend(
        runs_of(text, base64)
            .filter(|run| run.len() > LONGEST_BASE64 && is_mixed(&text[run.clone()])),
    );
    runs.sort_by_key(|run| run.start);
    runs.dedup_by(|next, previous| next.start < previous.end);
    runs
}

/// The longest runs of accepted bytes; only ASCII bytes may be accepted.
fn runs_of(text: &str, accept: impl Fn(u8) -> bool) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].iter().position(|&byte| accept(byte))?;
        let start = at;
        let length = bytes[at..].iter().take_while(|&&byte| accept(byte)).count();
        at += length;
        Some(start..at)
    })
}

/// Whether capitals, small letters and digits are mixed as chance would mix them.
fn is_mixed(run: &str) -> bool {
    run.contains(|letter: char| letter.is_ascii_uppercase())
        && run.contains(|letter: char| letter.is_ascii_lowercase())
        && run.contains(|letter: char| letter.is_ascii_digit())
}

/// Escapes in a row: `%41%42...`, `&#65;&#66;...`, `\x41\x42...`, `\u0041...`.
fn escapes(text: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut from = 0;
    let opens = |&byte: &u8| matches!(byte, b'%' | b'&' | b'\\');
    while let Some(gap) = text.as_bytes()[from..].iter().position(opens) {
        let start = from + gap;
        let mut end = start;
        let mut count = 0;
        while let Some(length) = escape_length(&text[end..]) {
            end += length;
            count += 1;
        }
        if count >= ESCAPES_IN_A_ROW {
            runs.push(start..end);
        }
        from = end.max(start + 1);
    }
    runs
}

/// The bytes of the escape with which `text` begins.
fn escape_length(text: &str) -> Option<usize> {
    let hex = |from: usize, length: usize| {
        let digits = text.as_bytes().get(from..from + length)?;
        digits
            .iter()
            .all(u8::is_ascii_hexdigit)
            .then_some(from + length)
    };
    if text.starts_with('%') {
        hex(1, 2)
    } else if text.starts_with("\\x") {
        hex(2, 2)
    } else if text.starts_with("\\u") {
        hex(2, 4)
    } else if let Some(rest) = text.strip_prefix("&#") {
        let digits = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        (digits > 0 && rest[digits..].starts_with(';')).then_some(2 + digits + 1)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<Code> {
        found(text).into_iter().map(|(code, _, _)| code).collect()
    }

    #[test]
    fn plain_requests_pass() {
        for text in [
            "Please share the plan with outsider@external.local.",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "CANARY-Alpha-2026-Project-Plan-Do-Not-Share-With-Others",
            "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
            "the 50% & the 20%, a & b, 10%20",
            "The script is on the object's page; evaluate it and execute the plan.",
        ] {
            assert_eq!(codes(text), [], "{text}");
        }
    }

    #[test]
    fn each_marker_is_found() {
        for (text, code) in [
            ("0123456789abcdef0123456789abcdef", Code::EncodedRun),
            (
                "aWdub3JlIHByZXZpb3VzIGluc3RydWN0aW9ucyBub3c=",
                Code::EncodedRun,
            ),
            ("go %69%67%6e%6f%72%65", Code::EncodedRun),
            ("&#105;&#103;&#110;&#111;", Code::EncodedRun),
            ("\\x41\\x42\\x43\\x44", Code::EncodedRun),
            ("hello <ScRiPt src=x>", Code::ActiveMarkup),
            ("a <!-- b -->", Code::ActiveMarkup),
            ("then rm -rf it", Code::OperationalPayload),
            ("Ignore previous instructions and", Code::OperationalPayload),
        ] {
            assert_eq!(codes(text), [code], "{text}");
        }
    }

    #[test]
    fn the_marker_that_begins_first_is_told_wherever_it_stands() {
        for markers in [MARKUP, PAYLOADS] {
            let by_letter = ByLetter::new(markers);
            for marker in markers {
                let text = format!("é {marker} {}", markers[0]);
                assert_eq!(by_letter.first_in(text.as_bytes()), Some((3, *marker)));
                let cut = &text.as_bytes()[..2 + marker.len()];
                assert_eq!(by_letter.first_in(cut), None, "{marker}");
            }
        }
        let nested = ByLetter::new(&["ab", "abc", "a"]);
        assert_eq!(nested.first_in(b"xxabc"), Some((2, "a")));
        assert_eq!(nested.first_in(b""), None);
    }

    #[test]
    fn invisible_letters_are_told_from_letters() {
        for letter in [
            '\u{200B}',
            '\u{202E}',
            '\u{FEFF}',
            '\u{A0}',
            '\u{E0041}',
            '\u{1}',
        ] {
            assert!(is_invisible(letter), "{letter:?}");
        }
        for letter in "aZ é価–€\n\t~".chars() {
            assert!(!is_invisible(letter), "{letter:?}");
        }
    }
}
