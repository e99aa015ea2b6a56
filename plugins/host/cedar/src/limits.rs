//! What is looked at before Cedar reads a text: where its policies stand, and that they are not so
//! many, so long or so deep that reading them would exhaust anything.
//!
//! Cedar turns a policy into a tree and walks it by recursion, so its depth has a bound here.

use std::ops::Range;

use plugins::loaded::Mistake;

/// The longest text, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

/// The most policies in one text.
pub const MAX_POLICIES: usize = 1_000;

/// How deep brackets may stand inside one another.
pub const MAX_NESTING: usize = 24;

/// How many operators that can form a chain (`&&`, `||`, `+`, `-`, `*`, `!`, `.`, `if`) one policy
/// may have. Each can make its tree deeper by one.
pub const MAX_CHAIN: usize = 400;

/// The place of each policy in the text, in order, from its first token up to its semicolon.
///
/// # Errors
/// When one of the limits above is exceeded. Whether the text is Cedar is not looked at.
pub(crate) fn statements(text: &str) -> Result<Vec<Range<usize>>, Mistake> {
    if text.len() > MAX_BYTES {
        let message = format!("the text has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(Mistake::new(message).help("split it into several files, and compose them"));
    }
    let mut scan = Scan::default();
    let mut rest = 0;
    while let Some(token) = next_token(text.as_bytes(), rest) {
        scan.take(text, &token)?;
        rest = token.end;
    }
    // What lacks a semicolon at the end is for Cedar to complain of.
    scan.found.extend(scan.start.map(|start| start..text.len()));
    Ok(scan.found)
}

#[derive(Default)]
struct Scan {
    found: Vec<Range<usize>>,
    start: Option<usize>,
    nesting: usize,
    chain: usize,
}

impl Scan {
    fn take(&mut self, text: &str, token: &Range<usize>) -> Result<(), Mistake> {
        self.start.get_or_insert(token.start);
        let word = text.as_bytes().get(token.clone()).unwrap_or_default();
        match word {
            b"(" | b"[" | b"{" => self.nesting += 1,
            b")" | b"]" | b"}" => self.nesting = self.nesting.saturating_sub(1),
            b"&&" | b"||" | b"+" | b"-" | b"*" | b"!" | b"." | b"if" => self.chain += 1,
            b";" => {
                let start = self.start.take().unwrap_or(token.start);
                self.found.push(start..token.end);
                self.nesting = 0;
                self.chain = 0;
            }
            _ => {}
        }
        let too_much = if self.nesting > MAX_NESTING {
            format!("brackets stand more than {MAX_NESTING} deep")
        } else if self.chain > MAX_CHAIN {
            format!("this policy has more than {MAX_CHAIN} operators")
        } else if self.found.len() > MAX_POLICIES {
            format!("the text has more than {MAX_POLICIES} policies")
        } else {
            return Ok(());
        };
        let help = "write several smaller policies; a set with `in` or `contains` is one operator";
        Err(Mistake::new(too_much).help(help).at(token.clone()))
    }
}

/// The next token at or after `from`: a text in quotes, a word, or a sign. Comments and space are
/// passed over.
fn next_token(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut start = from;
    loop {
        let rest = bytes.get(start..)?;
        match rest {
            [] => return None,
            [b'/', b'/', ..] => start += length_while(rest, |byte| byte != b'\n'),
            [byte, ..] if byte.is_ascii_whitespace() => start += 1,
            [b'"', inside @ ..] => return Some(start..start + 1 + quoted_length(inside)),
            [b'&', b'&', ..] | [b'|', b'|', ..] => return Some(start..start + 2),
            [byte, ..] if is_word(*byte) => {
                return Some(start..start + length_while(rest, is_word));
            }
            _ => return Some(start..start + 1),
        }
    }
}

/// Bytes beyond ASCII count as letters, so that no character is cut.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn length_while(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    let end = bytes.iter().position(|&byte| !holds(byte));
    end.unwrap_or(bytes.len())
}

/// How much of `bytes` belongs to a text whose opening quote stands before it.
fn quoted_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (position, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return position + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_found_whatever_stands_in_quotes_and_comments() {
        let text = "// a; b\n@id(\"x;\\\";\") permit(principal, action, resource);\n\
                    forbid(principal, action, resource) when { \"é;\" == \"//\" };  // end;\n";
        let found = statements(text).unwrap();
        let starts: Vec<&str> = found
            .iter()
            .map(|range| &text[range.clone()][..6])
            .collect();
        assert_eq!(starts, ["@id(\"x", "forbid"]);
        assert!(found.iter().all(|range| text[range.clone()].ends_with(';')));
    }

    #[test]
    fn an_unfinished_policy_is_found_too() {
        assert_eq!(
            statements("permit(").unwrap(),
            std::slice::from_ref(&(0..7))
        );
        assert!(statements("").unwrap().is_empty());
        assert_eq!(statements("\"").unwrap(), std::slice::from_ref(&(0..1)));
        assert!(statements("  // nothing").unwrap().is_empty());
    }

    #[test]
    fn every_limit_is_named_and_placed() {
        let long = " ".repeat(MAX_BYTES + 1);
        assert!(statements(&long).unwrap_err().message.contains("bytes"));
        for (text, word) in [
            ("(".repeat(MAX_NESTING + 1), "deep"),
            ("!".repeat(MAX_CHAIN + 1), "operators"),
            ("a;".repeat(MAX_POLICIES + 1), "policies"),
        ] {
            let mistake = statements(&text).unwrap_err();
            assert!(mistake.message.contains(word), "{}", mistake.message);
            assert!(mistake.place.is_some());
        }
    }
}
