//! Actions inside other text: prose, code fences, and the two-line form of ToolBench.

use plugins::action::{Action, Repairs, ToolCatalogue};

use super::json::{Document, Failure, Json, read_object};
use super::{Problem, aliases, messages};

const FENCE: &str = "```";
const ACTION_LINE: &str = "Action:";
const INPUT_LINE: &str = "Action Input:";
const NONE: Problem = "no action is found";
const CUT_TEXT: Problem = "cut off inside a text";
const SEVERAL: Problem = "more than one action";

/// The only action in `text`; `first` is the object with which it begins, if it does, as it was read.
pub(super) fn read<'t>(
    text: &'t str,
    first: Option<Result<Document<'t>, Failure>>,
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    match find_two_lines(text) {
        Some(lines) => two_lines(text, &lines, catalogue, repairs),
        None => only_object(text, first, catalogue, repairs),
    }
}

/// The only object in `text` that stands for an action.
///
/// An object that breaks off after its first key might have been the action, and what stands
/// inside it is not one: then there is no certain reading. Reading goes on where a failed attempt
/// stopped, so that the whole search is linear.
fn only_object<'t>(
    text: &'t str,
    mut first: Option<Result<Document<'t>, Failure>>,
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    let mut found = None;
    let mut position = 0;
    while let Some(start) = next_brace(text, position) {
        let read = first.take().unwrap_or_else(|| read_object(text, start));
        let document = match read {
            Ok(document) => document,
            Err(failure) if failure.began => return Err(failure.problem),
            Err(failure) => {
                position = failure.at.max(start + 1);
                continue;
            }
        };
        position = document.end;
        let mut needed = Repairs::empty();
        let Some(action) = aliases::read(&document.members, catalogue, &mut needed) else {
            continue;
        };
        let action = action?;
        around(text, start, &document, &mut needed);
        check_cut(&document, &action, needed)?;
        if found.replace(action).is_some() {
            return Err(SEVERAL);
        }
        *repairs |= needed;
    }
    found.ok_or(NONE)
}

fn next_brace(text: &str, from: usize) -> Option<usize> {
    let offset = text.as_bytes()[from..]
        .iter()
        .position(|&byte| byte == b'{')?;
    Some(from + offset)
}

/// A text that was cut off is mended only where it decides nothing: at the end of a final answer.
fn check_cut(document: &Document<'_>, action: &Action, repairs: Repairs) -> Result<(), Problem> {
    if !document.cut_text {
        return Ok(());
    }
    let ends_with_text = document.members.last().is_some_and(|last| {
        matches!(last.value, Json::Text(_)) && messages::ANSWER_KEYS.contains(&&*last.key)
    });
    if matches!(action, Action::Final { .. }) && ends_with_text && !repairs.contains(Repairs::FENCE)
    {
        Ok(())
    } else {
        Err(CUT_TEXT)
    }
}

/// Notes what the text around `document` and its own mistakes need.
fn around(text: &str, start: usize, document: &Document<'_>, repairs: &mut Repairs) {
    if document.mended {
        *repairs |= Repairs::SYNTAX;
    }
    surroundings(&text[..start], &text[document.end..], repairs);
}

fn surroundings(before: &str, after: &str, repairs: &mut Repairs) {
    let mut before = before.trim_ascii_end();
    let mut after = after.trim_ascii();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    if before[line_start..].trim_ascii_start().starts_with(FENCE) {
        *repairs |= Repairs::FENCE;
        before = before[..line_start].trim_ascii_end();
        if let Some(rest) = after.strip_prefix(FENCE) {
            after = rest.trim_ascii_start();
        } else if after.is_empty() {
            *repairs |= Repairs::SYNTAX;
        }
    }
    let is_surplus_closer = |byte: u8| matches!(byte, b'}' | b']') || byte.is_ascii_whitespace();
    if !after.is_empty() && after.bytes().all(is_surplus_closer) {
        *repairs |= Repairs::SYNTAX;
        after = "";
    }
    if !before.is_empty() || !after.is_empty() {
        *repairs |= Repairs::PREFIX;
    }
}

/// Where the two-line form stands.
struct Lines<'t> {
    /// Where its first line begins.
    start: usize,
    /// The name on that line.
    name: &'t str,
    /// Where the input begins.
    input: usize,
}

/// Finds `Action: name` followed by `Action Input:`. A name alone is no action: nobody knows
/// whether it was cut off.
fn find_two_lines(text: &str) -> Option<Lines<'_>> {
    // Most texts have no such line, and this is found out faster than line by line.
    if !text.contains(INPUT_LINE) {
        return None;
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(name) = line.strip_prefix(ACTION_LINE)
            && let Some(input) = text[end..].trim_ascii_start().strip_prefix(INPUT_LINE)
        {
            let name = name
                .trim_ascii()
                .trim_matches(|letter| matches!(letter, '"' | '\'' | '`'));
            let input = text.len() - input.trim_ascii_start().len();
            return Some(Lines { start, name, input });
        }
        start = end;
    }
    None
}

/// `Action: name`, then `Action Input: {...}`.
fn two_lines(
    text: &str,
    lines: &Lines<'_>,
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    if lines.name.is_empty() {
        return Err("no tool is named");
    }
    let (input, is_fenced) = open_fence(&text[lines.input..]);
    if !input.starts_with('{') {
        return Err("the arguments are no object");
    }
    let start = text.len() - input.len();
    let document = read_object(text, start).map_err(|failure| failure.problem)?;
    if document.cut_text {
        return Err(CUT_TEXT);
    }
    if document.mended {
        *repairs |= Repairs::SYNTAX;
    }
    let before = &text[..lines.start];
    let mut after = text[document.end..].trim_ascii_start();
    if is_fenced {
        *repairs |= Repairs::FENCE;
        after = after.strip_prefix(FENCE).unwrap_or(after);
    }
    if holds_action(before, catalogue) || holds_action(after, catalogue) {
        return Err(SEVERAL);
    }
    surroundings(before, after, repairs);
    aliases::read_named(lines.name, &document.members, catalogue, repairs)
}

/// The text inside a code fence that opens here, and whether one does.
fn open_fence(text: &str) -> (&str, bool) {
    let Some(rest) = text.strip_prefix(FENCE) else {
        return (text, false);
    };
    let body = rest
        .trim_start_matches(|letter: char| letter.is_ascii_alphanumeric())
        .trim_ascii_start();
    (body, true)
}

/// Whether `text` holds an action, or something broken that may have been one.
fn holds_action(text: &str, catalogue: ToolCatalogue<'_>) -> bool {
    find_two_lines(text).is_some()
        || only_object(text, None, catalogue, &mut Repairs::empty()) != Err(NONE)
}
