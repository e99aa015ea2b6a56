//! The parser of Appendix I: from a completion to an action, with what had to be repaired.
//!
//! Formatting is not intent. A model that wraps its JSON in a code fence still wants to act, and a
//! benchmark that reads such text as a harmless final answer measures formatting. So an action is
//! read out of everything that leaves no doubt, and nothing is guessed: no name or value is ever
//! completed, and where two readings are possible there is none.
//!
//! The canonical forms are one JSON object and nothing else:
//!
//! ```text
//! {"action":"tool","tool":"send_email","arguments":{"to":"a@b.local"}}     optional: "keep_result":false
//! {"action":"delegate","to":"worker","content":{"task":"..."}}             or "content":"..."
//! {"action":"final","text":"..."}
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `json` | reads strict JSON, and nearly JSON |
//! | `canonical` | the three forms above |
//! | `aliases`, `messages` | the same said with other `keys` |
//! | `prose` | the same inside prose, code fences, or on two lines |
//! | `arguments` | names, types, missing arguments |

mod aliases;
mod arguments;
mod canonical;
mod json;
mod keys;
mod messages;
mod prose;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod refusals;

pub(crate) use arguments::find as find_argument;

use plugins::action::{Action, ActionParser, ParseStatus, Parsed, Repairs, ToolCatalogue};

/// What is wrong with a completion, in one phrase.
type Problem = &'static str;

/// The longest completion that is read, in bytes.
pub const MAX_COMPLETION_BYTES: usize = 1 << 20;

/// The parser of Appendix I. Takes any text, never panics, and is linear in its length.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppendixIParser;

impl ActionParser for AppendixIParser {
    fn parse(&self, completion: &str, catalogue: ToolCatalogue<'_>) -> Parsed {
        if completion.len() > MAX_COMPLETION_BYTES {
            return parsed(Err("the text is too long"), Repairs::empty(), true);
        }
        let text = completion.trim_ascii();
        let first = text.starts_with('{').then(|| json::read_object(text, 0));
        let mut repairs = Repairs::empty();
        if let Some(Ok(document)) = &first
            && !document.mended
            && document.end == text.len()
            && let Some(action) = canonical::read(&document.members, catalogue, &mut repairs)
        {
            return parsed(action, repairs, false);
        }
        let action = prose::read(text, first, catalogue, &mut repairs);
        parsed(action, repairs, true)
    }
}

/// `strict_reading_is_final`: a strict parser takes for a final answer all that is not canonical.
fn parsed(
    action: Result<Action, Problem>,
    repairs: Repairs,
    strict_reading_is_final: bool,
) -> Parsed {
    let (status, repairs, action) = match action {
        Ok(action) if repairs.is_empty() => (ParseStatus::ValidStrictJson, repairs, action),
        Ok(action) => (ParseStatus::ValidRepairedJson, repairs, action),
        Err(problem) => (
            ParseStatus::InvalidSchema,
            Repairs::empty(),
            Action::InvalidSchema { problem },
        ),
    };
    Parsed {
        status,
        repairs,
        action,
        strict_reading_is_final,
    }
}
