//! The canonical forms, exactly: these keys and no others, these types and no others.
//!
//! This is all that a strict parser accepts, so it also decides
//! [`plugins::action::Parsed::strict_reading_is_final`].

use plugins::action::{Action, Repairs, ToolCatalogue};
use plugins::value::Field;

use super::json::{Json, Member};
use super::{Problem, arguments};

/// The action, if `members` are one of the canonical forms.
///
/// Its arguments may still need repairs: names and types of arguments are the tool's affair.
pub(super) fn read(
    members: &[Member<'_>],
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Option<Result<Action, Problem>> {
    match text(members, "action")? {
        "tool" => tool(members, catalogue, repairs),
        "delegate" => delegate(members).map(Ok),
        "final" => final_answer(members).map(Ok),
        _ => None,
    }
}

fn tool(
    members: &[Member<'_>],
    catalogue: ToolCatalogue<'_>,
    repairs: &mut Repairs,
) -> Option<Result<Action, Problem>> {
    let name = text(members, "tool")?;
    let Json::Object(arguments) = value(members, "arguments")? else {
        return None;
    };
    let keep_result = match (members.len(), value(members, "keep_result")) {
        (3, None) | (4, Some(Json::True)) => true,
        (4, Some(Json::False)) => false,
        _ => return None,
    };
    let Some((tool, spec)) = catalogue.find(name) else {
        return Some(Ok(Action::InvalidTool { name: name.into() }));
    };
    let arguments = arguments::resolve(spec, arguments.iter(), repairs);
    Some(arguments.map(|arguments| Action::ToolCall {
        tool,
        arguments,
        keep_result,
    }))
}

fn delegate(members: &[Member<'_>]) -> Option<Action> {
    let to = text(members, "to")?;
    let content = match (members.len(), value(members, "content")?) {
        (3, Json::Text(text)) => vec![field("text", text)],
        (3, Json::Object(fields)) => fields
            .iter()
            .map(|member| match &member.value {
                Json::Text(text) => Some(field(&member.key, text)),
                _ => None,
            })
            .collect::<Option<_>>()?,
        _ => return None,
    };
    Some(Action::Delegate {
        to: to.into(),
        content,
    })
}

fn final_answer(members: &[Member<'_>]) -> Option<Action> {
    let text = text(members, "text")?;
    (members.len() == 2).then(|| Action::Final { text: text.into() })
}

fn field(name: &str, value: &str) -> Field {
    Field {
        name: name.into(),
        value: value.into(),
    }
}

fn value<'m, 'a>(members: &'m [Member<'a>], key: &str) -> Option<&'m Json<'a>> {
    let member = members.iter().find(|member| member.key == key)?;
    Some(&member.value)
}

fn text<'m>(members: &'m [Member<'_>], key: &str) -> Option<&'m str> {
    match value(members, key)? {
        Json::Text(text) => Some(text),
        _ => None,
    }
}
