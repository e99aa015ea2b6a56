//! Where the values of a study file stand.
//!
//! Deserialisation forgets positions, and meaning is checked after it. A study file is flat, so a
//! scan for fields and the entries of their lists is enough to find a place again.

use std::ops::Range;

/// A field of a study file that can be wrong in meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Schema,
    Name,
    Worlds,
    Policies,
    Seeds,
    Models,
    DenominatorPolicies,
    Shadow,
}

impl Field {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Name => "name",
            Self::Worlds => "worlds",
            Self::Policies => "policies",
            Self::Seeds => "seeds",
            Self::Models => "models",
            Self::DenominatorPolicies => "denominator_policies",
            Self::Shadow => "shadow",
        }
    }
}

/// One piece of the text: a word or number, a text in quotes, or a single other character.
struct Token {
    bytes: Range<usize>,
}

/// The bytes of entry `index` of the list in `field`; of its value if that is no list or has no such
/// entry; of nothing at the beginning if the field is not given.
pub(super) fn place_of(text: &str, field: Field, index: usize) -> Range<usize> {
    let tokens = tokens(text);
    let says = |at: usize, what: &str| {
        tokens
            .get(at)
            .is_some_and(|token| &text[token.bytes.clone()] == what)
    };
    let Some(colon) = (1..tokens.len()).find(|&at| says(at - 1, field.name()) && says(at, ":"))
    else {
        return 0..0;
    };
    let Some(value) = tokens.get(colon + 1) else {
        return 0..0;
    };
    if !says(colon + 1, "[") {
        return value.bytes.clone();
    }
    let entries = tokens[colon + 2..]
        .iter()
        .take_while(|token| &text[token.bytes.clone()] != "]");
    entries
        .filter(|token| &text[token.bytes.clone()] != ",")
        .nth(index)
        .map_or(value.bytes.clone(), |entry| entry.bytes.clone())
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if letter.is_whitespace() {
            letter.len_utf8()
        } else if let Some(comment) = comment(rest) {
            comment
        } else {
            let length = token(rest, letter);
            tokens.push(Token {
                bytes: at..at + length,
            });
            length
        };
        at += length;
    }
    tokens
}

/// The length of the comment with which the text begins.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Some(text.len())
}

/// The length of the token with which the text begins; never 0.
fn token(text: &str, first: char) -> usize {
    if let Some(raw) = raw_text(text) {
        return raw;
    }
    if first == '"' {
        return quoted(text);
    }
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let length = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    length.max(first.len_utf8())
}

fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `r"..."` or `r#"..."#`.
fn raw_text(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - body.len();
    Some(
        body.find(&end)
            .map_or(text.len(), |at| start + at + end.len()),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = r##"// policies: ["comment"]
Study(
    name: "policies: [\"quoted\"]", /* seeds: [9] /* nested */ */
    policies: ["é", r#"b"c"#, // and
        "d"],
    seeds: [1, 22,],
    worlds: [],
)"##;

    fn at(field: Field, index: usize) -> &'static str {
        &TEXT[place_of(TEXT, field, index)]
    }

    #[test]
    fn entries_are_found_past_comments_and_texts() {
        assert_eq!(at(Field::Policies, 0), "\"é\"");
        assert_eq!(at(Field::Policies, 1), "r#\"b\"c\"#");
        assert_eq!(at(Field::Policies, 2), "\"d\"");
        assert_eq!(at(Field::Seeds, 1), "22");
        assert_eq!(at(Field::Name, 0), r#""policies: [\"quoted\"]""#);
    }

    #[test]
    fn what_is_missing_leads_to_its_owner() {
        assert_eq!(at(Field::Worlds, 0), "[");
        assert_eq!(at(Field::Seeds, 2), "[");
        assert_eq!(place_of(TEXT, Field::Models, 0), 0..0);
        assert_eq!(place_of("Study(name:", Field::Name, 0), 0..0);
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(text in "[a-z\"#r/*\\\\\\[\\],:é\n ]{0,60}", index in 0_usize..4) {
            let place = place_of(&text, Field::Name, index);
            prop_assert!(text.get(place).is_some());
        }
    }
}
