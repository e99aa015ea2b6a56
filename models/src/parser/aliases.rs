//! An action out of an object that says it with other keys: the tool's name as the action type,
//! ToolBench and function-call keys, arguments as text, arguments beside the action.
//!
//! Two readings of one object are no reading: whatever could name a second tool, receiver, text or
//! set of arguments is an error, never a choice.

use plugins::action::{Action, Repairs, ToolCatalogue};
use plugins::ids::ToolId;
use plugins::tool::ToolSpec;
use plugins::value::Value;

use super::json::{Json, Member, read_object};
use super::keys::{ACTION_KEYS, ARGUMENT_KEYS, TOOL_KEYS, names_action};
use super::{Problem, arguments, messages};

/// Keys whose value may be the action itself, as in function calling.
const ENVELOPE_KEYS: &[&str] = &[
    "action",
    "tool",
    "function",
    "function_call",
    "tool_call",
    "tool_calls",
];

const CALL_WORDS: &[&str] = &[
    "tool_call",
    "tool_use",
    "call_tool",
    "use_tool",
    "function",
    "function_call",
    "call",
];
const DELEGATE_WORDS: &[&str] = &["handoff", "hand_off", "delegate_to"];
const FINAL_WORDS: &[&str] = &["final_answer", "finish", "Finish", "answer"];

/// What an envelope carries besides, without meaning for the action.
const ENVELOPE_EXTRAS: &[&str] = &["id", "index", "role"];

/// What a word in the place of the action type means.
enum Kind<'t> {
    Call,
    Delegate,
    Final,
    Tool(ToolId, &'t ToolSpec),
    Unknown,
}

fn kind<'t>(word: &str, catalogue: ToolCatalogue<'t>, repairs: &mut Repairs) -> Kind<'t> {
    let canonical = match word {
        "tool" => Some(Kind::Call),
        "delegate" => Some(Kind::Delegate),
        "final" => Some(Kind::Final),
        _ => None,
    };
    if let Some(kind) = canonical {
        return kind;
    }
    if let Some((id, tool)) = catalogue.find(word) {
        return Kind::Tool(id, tool);
    }
    let known = [
        (CALL_WORDS, Kind::Call),
        (DELEGATE_WORDS, Kind::Delegate),
        (FINAL_WORDS, Kind::Final),
    ];
    for (words, kind) in known {
        if words.contains(&word) {
            *repairs |= Repairs::KEY_ALIAS;
            return kind;
        }
    }
    Kind::Unknown
}

/// The action that `members` stand for, or none if they are not meant as one.
pub(super) fn read(
    members: &[Member<'_>],
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Option<Result<Action, Problem>> {
    match enveloped(members, repairs) {
        Ok(Some(inner)) => {
            return Some(read(inner, catalogue, repairs).unwrap_or(Err("no action is named")));
        }
        Ok(None) => {}
        Err(problem) => return Some(Err(problem)),
    }
    let tool = named_tool(members, catalogue);
    let Some((action, word)) = first_text(members, ACTION_KEYS) else {
        return tool.map(|tool| named_call(members, tool, None, catalogue, repairs));
    };
    if action != "action" {
        *repairs |= Repairs::KEY_ALIAS;
    }
    Some(match kind(word, catalogue, repairs) {
        Kind::Call => match tool.or_else(|| first_text(members, TOOL_KEYS)) {
            Some(tool) => named_call(members, tool, Some(action), catalogue, repairs),
            None => Err("no tool is named"),
        },
        Kind::Tool(id, tool) => {
            *repairs |= Repairs::ACTION_TYPE_AS_TOOL;
            call(members, &[action], id, tool, repairs)
        }
        Kind::Delegate => messages::delegate(members, &[action], repairs),
        Kind::Final => messages::final_answer(members, &[action], repairs),
        // `type` says many things: only a word that is known makes it the action.
        Kind::Unknown if action == "type" => {
            return tool.map(|tool| named_call(members, tool, None, catalogue, repairs));
        }
        Kind::Unknown if tool.is_some() => Err("the action type is unknown"),
        Kind::Unknown => {
            *repairs |= Repairs::ACTION_TYPE_AS_TOOL;
            Ok(Action::InvalidTool { name: word.into() })
        }
    })
}

/// The two-line form: a name and an object of arguments.
pub(super) fn read_named(
    name: &str,
    members: &[Member<'_>],
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    *repairs |= Repairs::KEY_ALIAS;
    match kind(name, catalogue, repairs) {
        Kind::Tool(id, tool) => call_with(members, id, tool, repairs),
        Kind::Delegate => messages::delegate(members, &[], repairs),
        Kind::Final => messages::final_answer(members, &[], repairs),
        Kind::Call | Kind::Unknown => Ok(Action::InvalidTool { name: name.into() }),
    }
}

/// The members of the one object that an envelope holds.
fn enveloped<'m, 'a>(
    members: &'m [Member<'a>],
    repairs: &mut Repairs,
) -> Result<Option<&'m [Member<'a>]>, Problem> {
    let mut inner = None;
    for member in members {
        // The kind of a value is seen faster than a key is found.
        let items = match &member.value {
            object @ Json::Object(_) => std::slice::from_ref(object),
            Json::List(items) => items.as_slice(),
            _ => continue,
        };
        if !ENVELOPE_KEYS.contains(&&*member.key) {
            continue;
        }
        let object = match items {
            [Json::Object(object)] => object,
            [] | [_] => continue,
            _ => return Err("more than one action"),
        };
        if inner.replace(object.as_slice()).is_some() {
            return Err("more than one action");
        }
    }
    if inner.is_some() {
        *repairs |= Repairs::KEY_ALIAS;
        check_envelope(members, repairs)?;
    }
    Ok(inner)
}

/// Looks at what stands beside the action in an envelope: nothing that names another one.
fn check_envelope(members: &[Member<'_>], repairs: &mut Repairs) -> Result<(), Problem> {
    for member in members {
        let key = &*member.key;
        let is_fine = match &member.value {
            Json::Object(_) | Json::List(_) if ENVELOPE_KEYS.contains(&key) => true,
            Json::Text(word) if ACTION_KEYS.contains(&key) => {
                *word == "tool" || CALL_WORDS.contains(&&**word)
            }
            value => {
                if *value != Json::Null && !ENVELOPE_EXTRAS.contains(&key) {
                    *repairs |= Repairs::DROPPED_ARGUMENT;
                }
                !names_action(key) && !ARGUMENT_KEYS.contains(&key)
            }
        };
        if !is_fine {
            return Err("more than one action");
        }
    }
    Ok(())
}

/// The tool that `members` name by a key of its own. `name` alone may be anybody's: it counts if
/// arguments stand beside it or a tool is called so.
fn named_tool<'m>(
    members: &'m [Member<'_>],
    catalogue: ToolCatalogue<'_>,
) -> Option<(&'static str, &'m str)> {
    let (key, name) = first_text(members, TOOL_KEYS)?;
    let has_arguments = || {
        members
            .iter()
            .any(|member| ARGUMENT_KEYS.contains(&&*member.key))
    };
    (key != "name" || has_arguments() || catalogue.find(name).is_some()).then_some((key, name))
}

/// The first of `keys` that has a text for its value, and the text.
fn first_text<'m>(
    members: &'m [Member<'_>],
    keys: &[&'static str],
) -> Option<(&'static str, &'m str)> {
    keys.iter()
        .find_map(|key| Some((*key, text_of(members, key)?)))
}

fn text_of<'m>(members: &'m [Member<'_>], key: &str) -> Option<&'m str> {
    let member = members.iter().find(|member| member.key == key)?;
    match &member.value {
        Json::Text(text) => Some(text),
        _ => None,
    }
}

fn named_call(
    members: &[Member<'_>],
    (tool_key, name): (&'static str, &str),
    action_key: Option<&'static str>,
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    if tool_key != "tool" || action_key != Some("action") {
        *repairs |= Repairs::KEY_ALIAS;
    }
    let used = [tool_key, action_key.unwrap_or(tool_key)];
    if let Some((id, tool)) = catalogue.find(name) {
        return call(members, &used, id, tool, repairs);
    }
    note_unread(members, &used, repairs);
    Ok(Action::InvalidTool { name: name.into() })
}

/// Notes what is not canonical about the arguments of a tool that nobody knows.
fn note_unread(members: &[Member<'_>], used: &[&str], repairs: &mut Repairs) {
    let mut has_arguments = false;
    for member in members {
        match (&*member.key, &member.value) {
            ("arguments", Json::Object(_)) => has_arguments = true,
            ("keep_result", Json::True | Json::False) => {}
            (key, _) if used.contains(&key) => {}
            _ => *repairs |= Repairs::DROPPED_ARGUMENT,
        }
    }
    if !has_arguments {
        *repairs |= Repairs::KEY_ALIAS;
    }
}

/// A call of a known tool; `used` are the keys that named it.
fn call(
    members: &[Member<'_>],
    used: &[&str],
    id: ToolId,
    tool: &ToolSpec,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    let mut keep_result = true;
    let mut container = None;
    let mut beside = Vec::new();
    for member in members {
        let key = &*member.key;
        if used.contains(&key) {
            continue;
        }
        let is_argument = arguments::find(tool, key).is_some();
        if key == "keep_result" && !is_argument {
            keep_result = arguments::boolean(&member.value, repairs)?;
        } else if ARGUMENT_KEYS.contains(&key)
            && (!is_argument || matches!(member.value, Json::Object(_)))
        {
            if container.replace(member).is_some() {
                return Err("arguments are given twice");
            }
        } else if is_argument {
            beside.push(member);
        } else if names_action(key) {
            return Err("more than one tool is named");
        } else {
            *repairs |= Repairs::DROPPED_ARGUMENT;
        }
    }
    let arguments = match container {
        Some(_) if !beside.is_empty() => return Err("arguments stand in two places"),
        Some(container) => contained(container, tool, repairs)?,
        None => {
            if !repairs.contains(Repairs::ACTION_TYPE_AS_TOOL) {
                *repairs |= Repairs::KEY_ALIAS;
            }
            arguments::resolve(tool, beside.into_iter(), repairs)?
        }
    };
    Ok(Action::ToolCall {
        tool: id,
        arguments,
        keep_result,
    })
}

/// Arguments in a member of their own: an object, or a text that holds one.
fn contained(
    container: &Member<'_>,
    tool: &ToolSpec,
    repairs: &mut Repairs,
) -> Result<Vec<(u16, Value)>, Problem> {
    if container.key != "arguments" {
        *repairs |= Repairs::KEY_ALIAS;
    }
    match &container.value {
        Json::Object(members) => arguments::resolve(tool, members.iter(), repairs),
        Json::Null => {
            *repairs |= Repairs::COERCION;
            arguments::resolve(tool, [].iter(), repairs)
        }
        Json::Text(text) => {
            *repairs |= Repairs::STRINGIFIED_ARGUMENTS;
            let text = text.trim_ascii();
            if !text.starts_with('{') {
                return Err("the arguments are no object");
            }
            let document = read_object(text, 0).map_err(|failure| failure.problem)?;
            if document.cut_text || document.end != text.len() {
                return Err("the arguments are no single object");
            }
            if document.mended {
                *repairs |= Repairs::SYNTAX;
            }
            arguments::resolve(tool, document.members.iter(), repairs)
        }
        Json::True | Json::False | Json::Number(_) | Json::List(_) => {
            Err("the arguments are no object")
        }
    }
}

/// A call whose arguments are `members`; `keep_result` may stand among them, for lack of another
/// place.
fn call_with(
    members: &[Member<'_>],
    id: ToolId,
    tool: &ToolSpec,
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    let mut keep_result = true;
    let mut given = Vec::with_capacity(members.len());
    for member in members {
        if member.key == "keep_result" && arguments::find(tool, "keep_result").is_none() {
            keep_result = arguments::boolean(&member.value, repairs)?;
        } else {
            given.push(member);
        }
    }
    Ok(Action::ToolCall {
        tool: id,
        arguments: arguments::resolve(tool, given.into_iter(), repairs)?,
        keep_result,
    })
}
