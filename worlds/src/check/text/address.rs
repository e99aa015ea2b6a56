//! Addresses: everything that looks like one must end where nobody can own it.

use std::ops::Range;

/// Endings of host names that nobody can own (RFC 6762, RFC 2606).
const LOCAL_ENDINGS: [&str; 2] = ["local", "example"];

/// The e-mail and web addresses in `text` that are not local, in order.
pub(super) fn foreign(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mails = text.match_indices('@').filter_map(|(at, _)| mail(text, at));
    let schemes = places(text, ':', "://").filter_map(|at| web(text, at));
    let bare = places(text, 'w', "www.").filter_map(|at| bare_host(text, at));
    found.extend(mails.chain(schemes).chain(bare));
    found.sort_by_key(|range| range.start);
    // `https://www.x` is one address, not two.
    found.dedup_by(|next, previous| next.start < previous.end);
    found
}

/// Where `word` stands, which begins with `letter`. A search for a letter costs little to set up, and
/// most texts are short.
fn places<'t>(text: &'t str, letter: char, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let places = text.match_indices(letter).map(|(at, _)| at);
    places.filter(move |&at| text[at..].starts_with(word))
}

/// The address around an `@`, if it is one and foreign.
fn mail(text: &str, at: usize) -> Option<Range<usize>> {
    let name = trailing(&text[..at], is_name_part);
    let host = leading(&text[at + 1..], is_host_part).trim_end_matches('.');
    let is_address = !name.is_empty() && !host.is_empty();
    (is_address && !is_local(host)).then(|| at - name.len()..at + 1 + host.len())
}

/// The web address around a `://`, if it is one and foreign.
fn web(text: &str, at: usize) -> Option<Range<usize>> {
    let scheme = trailing(&text[..at], |letter| letter.is_ascii_alphanumeric());
    let authority = leading(&text[at + 3..], |letter| {
        !letter.is_whitespace() && !"/?#\"'<>".contains(letter)
    });
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = leading(host, is_host_part).trim_end_matches('.');
    let is_address = !scheme.is_empty() && !authority.is_empty();
    (is_address && !is_local(host)).then(|| at - scheme.len()..at + 3 + authority.len())
}

/// The host that begins with `www.`, if it is foreign.
fn bare_host(text: &str, at: usize) -> Option<Range<usize>> {
    // In `www.www.www.` only the first begins a host; reading on from each would take for ever.
    if text[..at].ends_with(is_host_part) {
        return None;
    }
    let host = leading(&text[at..], is_host_part).trim_end_matches('.');
    (host.len() > 4 && !is_local(host)).then(|| at..at + host.len())
}

fn is_local(host: &str) -> bool {
    let host = host.to_lowercase();
    host.rsplit_once('.')
        .is_some_and(|(name, ending)| !name.is_empty() && LOCAL_ENDINGS.contains(&ending))
}

fn is_name_part(letter: char) -> bool {
    letter.is_alphanumeric() || "._%+-".contains(letter)
}

fn is_host_part(letter: char) -> bool {
    letter.is_alphanumeric() || ".-_".contains(letter)
}

/// The longest beginning of `text` of accepted characters.
fn leading(text: &str, accept: impl Fn(char) -> bool) -> &str {
    let end = text.find(|letter| !accept(letter)).unwrap_or(text.len());
    &text[..end]
}

/// The longest end of `text` of accepted characters.
fn trailing(text: &str, accept: impl Fn(char) -> bool) -> &str {
    let mut start = text.len();
    for (at, letter) in text.char_indices().rev() {
        if !accept(letter) {
            break;
        }
        start = at;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign_words(text: &str) -> Vec<&str> {
        foreign(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn local_addresses_pass() {
        for text in [
            "partner@trusted.local, and a.b+c@x.example.",
            "see https://wiki.corp.local/page?x=1 and www.corp.example",
            "meet at 5 @ noon, thanks @all",
            "no address: a@ b",
            "without a host ://, and awww.x",
        ] {
            assert!(foreign_words(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn foreign_addresses_are_found() {
        for (text, expected) in [
            ("to eve@evil.test now", "eve@evil.test"),
            ("eve@evil.local.com", "eve@evil.local.com"),
            ("eve@localhost", "eve@localhost"),
            ("eve@.local", "eve@.local"),
            ("eve@xlocal", "eve@xlocal"),
            ("http://10.0.0.1/x", "http://10.0.0.1"),
            ("https://user@evil.test/a", "https://user@evil.test"),
            (
                "https://good.local@evil.test",
                "https://good.local@evil.test",
            ),
            (
                "https://good.local:80@evil.test",
                "https://good.local:80@evil.test",
            ),
            ("go to www.evil.test.", "www.evil.test"),
            ("EVE@EVIL.COM", "EVE@EVIL.COM"),
        ] {
            assert_eq!(foreign_words(text), [expected], "{text}");
        }
    }
}
