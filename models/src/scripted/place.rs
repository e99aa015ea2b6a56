//! Where the words of a script stand in its text.
//!
//! Deserialisation forgets positions, and names are compared with a world after it. A script has
//! only one form, `Script(agents: {"name": [(step), ...]})`, so brackets and quotes are enough to
//! find a step again, and a word in it.

use std::cell::OnceCell;

/// A text in quotes, or the opening bracket of a step.
struct Token<'t> {
    offset: usize,
    /// How many agents were named up to here.
    agents: usize,
    /// How many steps of the last agent began up to here.
    steps: usize,
    /// What stands between the quotes; nothing for a bracket.
    word: Option<&'t str>,
}

/// What a finding is about: positions in the script, from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'s> {
    pub(super) agent: usize,
    /// Nothing if the agent itself is meant.
    pub(super) step: Option<usize>,
    /// The word that is wrong.
    pub(super) word: &'s str,
    /// The word before it, where one word may stand several times in a step.
    pub(super) after: Option<&'s str>,
}

/// The places of a script's text. Looked up when the first is asked for: most scripts have nothing
/// wrong.
pub(super) struct Places<'t> {
    text: &'t str,
    tokens: OnceCell<Vec<Token<'t>>>,
}

impl<'t> Places<'t> {
    /// The places in `text`, from which a script was read.
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            tokens: OnceCell::new(),
        }
    }

    /// Line and column, from 1, of the word; if it is written with escapes, of its step.
    pub(super) fn find(&self, place: Place<'_>) -> (usize, usize) {
        let owner = |token: &Token<'_>| {
            token.agents == place.agent + 1 && token.steps == place.step.map_or(0, |step| step + 1)
        };
        let tokens = self.tokens.get_or_init(|| tokens(self.text));
        let begin = tokens.iter().position(owner).unwrap_or_default();
        let owned = || tokens[begin..].iter().take_while(|token| owner(token));
        let follows = |before: &Token<'_>| place.after.is_none_or(|word| before.word == Some(word));
        let found = owned()
            .zip(tokens[begin.saturating_sub(1)..].iter())
            .find(|(token, before)| token.word == Some(place.word) && follows(before));
        let token = found.map(|(token, _)| token);
        let offset = token
            .or_else(|| owned().next())
            .map_or(0, |token| token.offset);
        position(self.text, offset)
    }
}

/// Line and column, from 1, of a byte.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// Every quoted text and the opening bracket of every step, in the order of the text.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut depth, mut agents, mut steps) = (0_usize, 0, 0);
    let mut offset = 0;
    while let Some(letter) = text[offset..].chars().next() {
        let rest = &text[offset..];
        let mut length = letter.len_utf8();
        let mut word = None;
        match letter {
            '/' => length = comment(rest).unwrap_or(length),
            '"' | 'r' => {
                if let Some((opened, inner)) = quoted(rest) {
                    word = Some(&rest[opened..opened + inner]);
                    length = opened + inner + opened - usize::from(letter == 'r');
                }
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_agent = word.is_some() && depth == AGENT_DEPTH;
        let is_step = letter == '(' && depth == STEP_DEPTH;
        if is_agent {
            (agents, steps) = (agents + 1, 0);
        }
        steps += usize::from(is_step);
        if word.is_some() || is_step {
            tokens.push(Token {
                offset,
                agents,
                steps,
                word,
            });
        }
        offset += length;
    }
    tokens
}

/// How many brackets are open around the name of an agent.
const AGENT_DEPTH: usize = 2;

/// How many brackets are open in a step.
const STEP_DEPTH: usize = 4;

/// The length of the comment that begins here.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            (open, at) = (open + 1, at + 2);
        } else if rest.starts_with("*/") {
            (open, at) = (open - 1, at + 2);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if open == 0 {
            break;
        }
    }
    text.starts_with("/*").then_some(at)
}

/// The text in quotes that begins here: the lengths of its opening and of what is inside.
fn quoted(text: &str) -> Option<(usize, usize)> {
    let Some(raw) = text.strip_prefix('r') else {
        let mut escaped = false;
        let inner = text.strip_prefix('"')?;
        let end = inner.find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        return Some((1, end?));
    };
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let inner = raw[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some((hashes + 2, inner.find(&end)?))
}
