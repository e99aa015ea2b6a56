//! Hand-offs and final answers said with other keys.

use plugins::action::{Action, Repairs};
use plugins::value::Field;

use super::json::{Json, Member};
use super::keys::{ARGUMENT_KEYS, names_action};
use super::{Problem, arguments};

const RECEIVER_KEYS: &[&str] = &["to", "agent", "receiver", "recipient"];
const CONTENT_KEYS: &[&str] = &["content", "message", "text", "task"];
/// Keys of the text of a final answer.
pub(super) const ANSWER_KEYS: &[&str] = &["text", "answer", "final_answer", "content", "message"];

/// A hand-off; `used` are the keys that said so.
pub(super) fn delegate(
    members: &[Member<'_>],
    used: &[&str],
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    let members = inner_arguments(members, used, repairs)?;
    let to = only(members, RECEIVER_KEYS, repairs)?.ok_or("no receiver is named")?;
    let content = only(members, CONTENT_KEYS, repairs)?.ok_or("a hand-off says nothing")?;
    check_rest(members, used, &[to, content], repairs)?;
    let Json::Text(receiver) = &to.value else {
        return Err("the receiver is no name");
    };
    let content = match &content.value {
        Json::Object(fields) => fields
            .iter()
            .map(|member| field(&member.key, &member.value, repairs))
            .collect::<Result<_, _>>()?,
        value => vec![field("text", value, repairs)?],
    };
    Ok(Action::Delegate {
        to: (&**receiver).into(),
        content,
    })
}

/// A final answer; `used` are the keys that said so.
pub(super) fn final_answer(
    members: &[Member<'_>],
    used: &[&str],
    repairs: &mut Repairs,
) -> Result<Action, Problem> {
    let members = inner_arguments(members, used, repairs)?;
    let answer = only(members, ANSWER_KEYS, repairs)?.ok_or("a final answer has no text")?;
    check_rest(members, used, &[answer], repairs)?;
    Ok(Action::Final {
        text: (&*arguments::text(&answer.value, repairs)?).into(),
    })
}

/// The members of a hand-off or answer: as arguments if they are given so, else as they stand.
fn inner_arguments<'m, 'a>(
    members: &'m [Member<'a>],
    used: &[&str],
    repairs: &mut Repairs,
) -> Result<&'m [Member<'a>], Problem> {
    let mut others = members
        .iter()
        .filter(|member| !used.contains(&&*member.key));
    match (others.next(), others.next()) {
        (Some(only), None) if ARGUMENT_KEYS.contains(&&*only.key) => match &only.value {
            Json::Object(inner) => {
                *repairs |= Repairs::KEY_ALIAS;
                Ok(inner)
            }
            _ => Err("the arguments are no object"),
        },
        _ => Ok(members),
    }
}

/// The only member with one of `keys`, the first of which is canonical.
fn only<'m, 'a>(
    members: &'m [Member<'a>],
    keys: &[&str],
    repairs: &mut Repairs,
) -> Result<Option<&'m Member<'a>>, Problem> {
    let mut found = members.iter().filter(|member| keys.contains(&&*member.key));
    let first = found.next();
    if found.next().is_some() {
        return Err("more than one receiver or text");
    }
    if first.is_some_and(|member| member.key != keys[0]) {
        *repairs |= Repairs::KEY_ALIAS;
    }
    Ok(first)
}

/// Looks at what a hand-off or answer holds besides: a call hidden in it makes it no answer.
fn check_rest(
    members: &[Member<'_>],
    used: &[&str],
    read: &[&Member<'_>],
    repairs: &mut Repairs,
) -> Result<(), Problem> {
    for member in members {
        let key = &*member.key;
        if used.contains(&key) || read.iter().any(|read| read.key == key) {
            continue;
        }
        if names_action(key) || ARGUMENT_KEYS.contains(&key) {
            return Err("more than one action");
        }
        *repairs |= Repairs::DROPPED_ARGUMENT;
    }
    Ok(())
}

fn field(name: &str, value: &Json<'_>, repairs: &mut Repairs) -> Result<Field, Problem> {
    Ok(Field {
        name: name.into(),
        value: (&*arguments::text(value, repairs)?).into(),
    })
}
