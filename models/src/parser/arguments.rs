//! From written arguments to canonical ones: names, types, and what is missing.

use std::borrow::Cow;

use plugins::action::Repairs;
use plugins::tool::{ArgumentSpec, ToolSpec, ValueKind};
use plugins::value::Value;

use super::Problem;
use super::json::{Json, Member, read_list};

/// The arguments of a call of `tool`, by ascending position.
pub(super) fn resolve<'m>(
    tool: &ToolSpec,
    members: impl ExactSizeIterator<Item = &'m Member<'m>>,
    repairs: &mut Repairs,
) -> Result<Vec<(u16, Value)>, Problem> {
    let mut arguments: Vec<(u16, Value)> = Vec::with_capacity(members.len());
    for member in members {
        let Some((position, argument)) = find(tool, &member.key) else {
            *repairs |= Repairs::DROPPED_ARGUMENT;
            continue;
        };
        if *argument.name != *member.key {
            *repairs |= Repairs::ARGUMENT_ALIAS;
        }
        if arguments.iter().any(|(taken, _)| *taken == position) {
            return Err("an argument is given twice");
        }
        if member.value == Json::Null {
            // "Nothing" for an argument is the same as leaving it out.
            *repairs |= Repairs::COERCION;
        } else {
            arguments.push((position, convert(argument.kind, &member.value, repairs)?));
        }
    }
    arguments.sort_unstable_by_key(|(position, _)| *position);
    if lacks_required(tool, &arguments) {
        return Err("a required argument is missing");
    }
    Ok(arguments)
}

/// The argument called `name`. A canonical name wins over an alias of another argument.
pub(crate) fn find<'t>(tool: &'t ToolSpec, name: &str) -> Option<(u16, &'t ArgumentSpec)> {
    let exact = tool
        .arguments
        .iter()
        .position(|argument| &*argument.name == name)
        .and_then(|position| u16::try_from(position).ok());
    let position = exact.or_else(|| tool.argument(name))?;
    Some((position, &tool.arguments[usize::from(position)]))
}

fn lacks_required(tool: &ToolSpec, arguments: &[(u16, Value)]) -> bool {
    let mut given = arguments.iter().map(|(position, _)| usize::from(*position));
    let mut next = given.next();
    for (position, argument) in tool.arguments.iter().enumerate() {
        if next == Some(position) {
            next = given.next();
        } else if argument.required {
            return true;
        }
    }
    false
}

fn convert(kind: ValueKind, json: &Json<'_>, repairs: &mut Repairs) -> Result<Value, Problem> {
    match kind {
        ValueKind::Text => text(json, repairs).map(|text| Value::text(&text)),
        ValueKind::List => list(json, repairs),
        ValueKind::Integer => integer(json, repairs),
        ValueKind::Boolean => boolean(json, repairs).map(Value::Boolean),
    }
}

/// A text; other scalars as they are written, and lists joined as [`Value`] prints them.
pub(super) fn text<'j>(json: &'j Json<'_>, repairs: &mut Repairs) -> Result<Cow<'j, str>, Problem> {
    match json {
        Json::Text(text) => Ok(Cow::Borrowed(text)),
        Json::List(items) if !items.is_empty() => {
            let texts = items.iter().map(scalar).collect::<Result<Vec<_>, _>>()?;
            *repairs |= Repairs::COERCION;
            Ok(Cow::Owned(texts.join(", ")))
        }
        Json::True | Json::False | Json::Number(_) => {
            *repairs |= Repairs::COERCION;
            scalar(json).map(Cow::Borrowed)
        }
        Json::Null | Json::List(_) | Json::Object(_) => Err("a text is expected"),
    }
}

/// A list of texts. One text becomes its parts between commas, the inverse of how a list prints.
fn list(json: &Json<'_>, repairs: &mut Repairs) -> Result<Value, Problem> {
    let items = match json {
        Json::List(items) => {
            if !items.iter().all(|item| matches!(item, Json::Text(_))) {
                *repairs |= Repairs::COERCION;
            }
            let texts = items.iter().map(|item| scalar(item).map(Into::into));
            return texts.collect::<Result<_, _>>().map(Value::List);
        }
        Json::Text(text) => {
            if let Some(items) = read_list(text.trim_ascii()) {
                *repairs |= Repairs::COERCION;
                return list(&Json::List(items), repairs);
            }
            text.split(',')
                .map(str::trim_ascii)
                .filter(|part| !part.is_empty())
                .map(Into::into)
                .collect()
        }
        Json::True | Json::False | Json::Number(_) => vec![scalar(json)?.into()],
        Json::Null | Json::Object(_) => return Err("a list is expected"),
    };
    *repairs |= Repairs::COERCION;
    Ok(Value::List(items))
}

fn integer(json: &Json<'_>, repairs: &mut Repairs) -> Result<Value, Problem> {
    const PROBLEM: Problem = "a whole number is expected";
    let number = match single(json, repairs) {
        Json::Number(number) => number.parse().map_err(|_| PROBLEM)?,
        Json::Text(text) => {
            *repairs |= Repairs::COERCION;
            text.trim_ascii().parse().map_err(|_| PROBLEM)?
        }
        truth @ (Json::True | Json::False) => {
            *repairs |= Repairs::COERCION;
            i64::from(*truth == Json::True)
        }
        Json::Null | Json::List(_) | Json::Object(_) => return Err(PROBLEM),
    };
    Ok(Value::Integer(number))
}

/// A truth value, also as a word or as 0 and 1.
pub(super) fn boolean(json: &Json<'_>, repairs: &mut Repairs) -> Result<bool, Problem> {
    let json = single(json, repairs);
    let word = match json {
        Json::True => return Ok(true),
        Json::False => return Ok(false),
        Json::Number(number) => number,
        Json::Text(text) => text.trim_ascii(),
        Json::Null | Json::List(_) | Json::Object(_) => "",
    };
    *repairs |= Repairs::COERCION;
    let is = |words: [&str; 3]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is(["true", "yes", "1"]) {
        Ok(true)
    } else if is(["false", "no", "0"]) {
        Ok(false)
    } else {
        Err("true or false is expected")
    }
}

/// The only item of a list of one, or the value itself.
fn single<'j, 'a>(json: &'j Json<'a>, repairs: &mut Repairs) -> &'j Json<'a> {
    if let Json::List(items) = json
        && let [item] = items.as_slice()
    {
        *repairs |= Repairs::COERCION;
        return item;
    }
    json
}

fn scalar<'j>(json: &'j Json<'_>) -> Result<&'j str, Problem> {
    match json {
        Json::Text(text) => Ok(text),
        Json::Number(number) => Ok(number),
        Json::True => Ok("true"),
        Json::False => Ok("false"),
        Json::Null | Json::List(_) | Json::Object(_) => {
            Err("a list holds something else than texts")
        }
    }
}
