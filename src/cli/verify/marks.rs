//! What must not stand in a file of a result: secrets, and the marks of paper 3.7 that world files are
//! refused for. Those lists are in `worlds/src/check/text/`; here are those of secrets.

use std::collections::BTreeSet;

use study::columns::Hash;
use study::row::row_columns;
use worlds::Mark;
use worlds::diagnostic::Code;

/// How keys of real services begin, and how many letters of a token follow at least. No world needs
/// one: what is secret in a world is a canary, which belongs to nobody.
const KEYS: [(&str, usize); 9] = [
    ("-----BEGIN ", 0), // private keys and certificates
    ("AKIA", 16),       // access keys of a cloud
    ("ghp_", 30),       // tokens of a code host
    ("github_pat_", 20),
    ("glpat-", 20),
    ("xoxb-", 10),      // tokens of a messenger
    ("AIza", 30),       // keys of web services
    ("sk-", 32),        // keys of model providers
    ("eyJhbGciOi", 10), // signed web tokens
];

/// How canaries begin by convention; one in a released file was not redacted, declared or not.
const CANARY: &str = "CANARY-";

/// Texts that are looked for together.
pub(super) struct Needles {
    /// By the byte with which they begin.
    by_byte: Vec<Vec<Needle>>,
}

struct Needle {
    text: String,
    /// How many letters of a token follow at least.
    then: usize,
    what: &'static str,
}

impl Needles {
    /// Keys of real services alone.
    pub(super) fn keys() -> Self {
        let mut needles = Self {
            by_byte: (0..=u8::MAX).map(|_| Vec::new()).collect(),
        };
        for (text, then) in KEYS {
            needles.add(text, then, "what looks like a key of a real service");
        }
        needles
    }

    /// Those, with the canaries and private values of the worlds.
    pub(super) fn secrets(canaries: &BTreeSet<String>, private: &BTreeSet<String>) -> Self {
        let mut needles = Self::keys();
        needles.add(CANARY, 0, "a canary");
        for token in canaries.iter().filter(|token| !token.starts_with(CANARY)) {
            needles.add(token, 0, "a canary of a world");
        }
        for value in private {
            needles.add(value, 0, "a value that not everybody in its world may read");
        }
        needles
    }

    fn add(&mut self, text: &str, then: usize, what: &'static str) {
        if let Some(&byte) = text.as_bytes().first() {
            let text = text.to_owned();
            self.by_byte[usize::from(byte)].push(Needle { text, then, what });
        }
    }

    /// What is found first in a line.
    pub(super) fn first_in(&self, line: &str) -> Option<&'static str> {
        line.bytes().enumerate().find_map(|(at, byte)| {
            let needles = self.by_byte[usize::from(byte)].iter();
            let stands_here = |needle: &&Needle| {
                let rest = &line.as_bytes()[at..];
                let Some(rest) = rest.strip_prefix(needle.text.as_bytes()) else {
                    return false;
                };
                let token = rest.iter().take(needle.then);
                token.filter(|&&byte| is_of_token(byte)).count() == needle.then
            };
            let found = { needles }.find(stands_here)?;
            Some(found.what)
        })
    }
}

const fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'/' | b'+')
}

/// The canaries in a text that begin as canaries do.
pub(super) fn canaries(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(CANARY).map(|(at, _)| {
        let rest = &text[at..];
        let is_of_canary = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let end = rest.find(|letter| !is_of_canary(letter));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// What a line of a file is part of, which decides where a hash may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `rows.csv`.
    Rows,
    /// JSON, or lines of JSON.
    Json,
    /// Anything else.
    Text,
}

/// The marks in a line, but for hashes of ours where hashes stand, and paths.
pub(super) fn marks(line: &str, kind: Kind, known: &BTreeSet<Hash>) -> Vec<Mark> {
    let mut marks = worlds::marks(line);
    marks.retain(|mark| {
        let run = &line[mark.range.clone()];
        mark.code != Code::EncodedRun || !(is_hash(line, mark, kind, known) || is_path(run))
    });
    marks
}

/// Whether an encoded run is a hash in a place for hashes.
fn is_hash(line: &str, mark: &Mark, kind: Kind, known: &BTreeSet<Hash>) -> bool {
    let Ok(hash) = line[mark.range.clone()].parse::<Hash>() else {
        return false;
    };
    let before = &line[..mark.range.start];
    match kind {
        Kind::Rows => before.contains('"') || column(before).is_some_and(|over| over == "hash"),
        Kind::Json => key(before).is_some_and(|key| {
            // The last three are those of recorded answers.
            let known = ["rollout_ids", "key", "sum", "policy_content"];
            key.ends_with("hash") || key.ends_with("digest") || known.contains(&key)
        }),
        Kind::Text => known.contains(&hash),
    }
}

/// What the column holds that begins after these cells.
fn column(before: &str) -> Option<&'static str> {
    let column = row_columns().get(before.matches(',').count())?;
    before.ends_with(',').then_some(column.spec.over)
}

/// The key of the JSON text that begins after `before`.
fn key(before: &str) -> Option<&str> {
    let before = before.strip_suffix('"')?.trim_end();
    let before = before.strip_suffix(':')?.trim_end().strip_suffix('"')?;
    before.rsplit('"').next()
}

/// Whether a run that looks like Base64 is a path of short names.
fn is_path(run: &str) -> bool {
    const LONGEST_NAME: usize = 39;
    let is_short = |name: &str| name.len() <= LONGEST_NAME;
    run.contains('/') && !run.contains(['+', '=']) && run.split('/').all(is_short)
}

/// A line of JSON with the escapes of its texts replaced by what they stand for; none if it has none.
pub(super) fn unescaped(line: &str) -> Option<String> {
    let mut letters = line.chars();
    let mut text = String::with_capacity(line.len());
    let mut units: Vec<u16> = Vec::new();
    let mut has_escape = false;
    while let Some(letter) = letters.next() {
        let escape = (letter == '\\').then(|| letters.next()).flatten();
        has_escape |= escape.is_some();
        if escape == Some('u') {
            let digits: String = letters.clone().take(4).collect();
            let is_whole = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some(unit) = u16::from_str_radix(&digits, 16).ok().filter(|_| is_whole) {
                units.push(unit);
                letters.nth(3);
                continue;
            }
        }
        text.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        text.push(match escape {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(other) => other,
            None => letter,
        });
    }
    text.push_str(&String::from_utf16_lossy(&units));
    has_escape.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_clean(line: &str, kind: Kind) -> bool {
        marks(line, kind, &BTreeSet::from([Hash(7)])).is_empty()
    }

    #[test]
    fn a_hash_passes_where_hashes_stand_and_nowhere_else() {
        let hash = "0123456789abcdef0123456789abcdef";
        assert!(is_clean(
            &format!("{{\"scenario_hash\":\"{hash}\"}}"),
            Kind::Json
        ));
        assert!(is_clean(&format!("  \"digest\": \"{hash}\""), Kind::Json));
        assert!(!is_clean(&format!("{{\"family\":\"{hash}\"}}"), Kind::Json));
        assert!(!is_clean(
            &format!("{{\"digest\":\"{hash}0\"}}"),
            Kind::Json
        ));
        assert!(is_clean(&format!("4,{hash},a"), Kind::Rows));
        assert!(!is_clean(&format!("4,a,{hash},b"), Kind::Rows));
        assert!(!is_clean(hash, Kind::Text));
        assert!(is_clean(&format!("manifest {}", Hash(7)), Kind::Text));
    }

    #[test]
    fn a_path_of_short_names_is_no_payload() {
        let path = "Users/Ada/Projects1/containment/worlds/families/clean";
        assert!(is_clean(path, Kind::Json));
        assert!(!is_clean(&path.replace('/', "7"), Kind::Json));
    }

    #[test]
    fn secrets_are_found_with_and_without_worlds() {
        let set = |text: &str| BTreeSet::from([text.to_owned()]);
        let needles = Needles::secrets(&set("zebra-17"), &set("meet at the dam"));
        for secret in [
            "x CANARY-plan",
            "zebra-17",
            "a meet at the dam",
            "-----BEGIN A",
        ] {
            assert!(needles.first_in(secret).is_some(), "{secret}");
        }
        let key = format!("AKIA{}", "A7".repeat(8));
        assert!(Needles::keys().first_in(&key).is_some());
        for plain in ["AKIA is short", "a task-force", "zebra-1", "é", ""] {
            assert!(needles.first_in(plain).is_none(), "{plain}");
        }
        let found: Vec<_> = canaries("(CANARY-a-1), CANARY-b.").collect();
        assert_eq!(found, ["CANARY-a-1", "CANARY-b"]);
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(unescaped("plain"), None);
        assert_eq!(
            unescaped("a\\u0062\\n\\\"\\\\").as_deref(),
            Some("ab\n\"\\")
        );
        assert_eq!(unescaped("\\ud83d\\ude00").as_deref(), Some("\u{1F600}"));
        assert_eq!(unescaped("\\u12").as_deref(), Some("u12"));
        assert_eq!(unescaped("\\").as_deref(), None);
    }
}
