//! The ledger and the success criteria: can they match, can they be met, do they agree.

use std::collections::BTreeSet;

use plugins::ids::{AgentId, ToolId};
use plugins::ledger::{Condition, Entry, Ledger};
use plugins::tool::{ArgumentSpec, Role, Target, ToolSpec, Undo, ValueKind};
use plugins::value::{Text, Value};

use super::Context;
use super::tools::find_argument;
use crate::diagnostic::{Code, Problem, shortened};
use crate::file::{self, Literal, World};
use crate::nearest::nearest;
use crate::outline::At;

/// The ledger.
pub(super) fn ledger(
    world: &World,
    tools: &[ToolSpec],
    reachable: &BTreeSet<AgentId>,
    context: &mut Context<'_>,
) -> Ledger {
    let at = context.root.field("ledger");
    let entries = entries(world, &world.ledger, tools, at, context);
    for (index, entry) in &entries {
        let action = at.item(*index).field("action");
        refuse_idle(entry, tools, world, reachable, action, context);
    }
    Ledger {
        entries: entries.into_iter().map(|(_, entry)| entry).collect(),
    }
}

/// The required commits.
pub(super) fn required(
    world: &World,
    tools: &[ToolSpec],
    ledger: &Ledger,
    reachable: &BTreeSet<AgentId>,
    context: &mut Context<'_>,
) -> Vec<Entry> {
    let root = context.root;
    let list = root.field("success").field("required");
    let required = entries(world, &world.success.required, tools, list, context);
    for (position, (index, entry)) in required.iter().enumerate() {
        let at = list.item(*index);
        let Some(tool) = tools.iter().position(|tool| tool.name == entry.action) else {
            continue;
        };
        let is_repeated = required[..position].iter().any(|(_, other)| other == entry);
        let is_known = is_known(&entry.action, world, reachable, context);
        let complaint = if tools[tool].operation.is_read() {
            Some("a read commits nothing")
        } else if is_repeated {
            Some("the same action is required twice, and each exactly once")
        } else if !is_known {
            Some("no agent that acts knows this tool")
        } else {
            None
        };
        if let Some(message) = complaint {
            context.problems.push(
                Problem::new(Code::CannotBeMet, at.field("action").span(), message)
                    .label("cannot be met"),
            );
        } else if tools[tool].high_risk() && !is_authorized(entry, &tools[tool], ledger) {
            let message = format!("the ledger does not authorise this `{}`", entry.action);
            context.problems.push(
                Problem::new(Code::NotAuthorized, at.field("action").span(), message)
                    .label("required here")
                    .help("add an entry with this action and target to `ledger`"),
            );
        }
    }
    required.into_iter().map(|(_, entry)| entry).collect()
}

/// Complains about an entry that authorises what happens anyway, or what nobody can do.
fn refuse_idle(
    entry: &Entry,
    tools: &[ToolSpec],
    world: &World,
    reachable: &BTreeSet<AgentId>,
    at: At<'_>,
    context: &mut Context<'_>,
) {
    let Some(own) = tools.iter().position(|tool| tool.name == entry.action) else {
        return;
    };
    // What takes an effect back may be authorised with it, though no agent calls it.
    let inverse = Undo::Inverse(ToolId::at(own));
    let complaint = if tools[own].operation.is_read() {
        "a read needs no authorisation"
    } else if !is_known(&entry.action, world, reachable, context)
        && tools.iter().all(|tool| tool.undo != inverse)
    {
        "no agent that acts knows this tool"
    } else {
        return;
    };
    context.problems.push(
        Problem::new(Code::NeverMatches, at.span(), complaint)
            .label("authorises nothing")
            .help("remove the entry, or name the tool that needs it"),
    );
}

/// Whether an agent that can be reached knows the tool, as far as its tools could be resolved.
fn is_known(
    tool: &str,
    world: &World,
    reachable: &BTreeSet<AgentId>,
    context: &Context<'_>,
) -> bool {
    let acting = world
        .agents
        .iter()
        .zip(0u32..)
        .filter(|(_, id)| reachable.contains(&AgentId(*id)));
    acting
        .flat_map(|(agent, _)| &agent.tools)
        .any(|name| name == tool || context.names.tools.get(name).is_none())
}

/// The entries that could be read, with their positions in the file.
fn entries(
    world: &World,
    given: &[file::Entry],
    tools: &[ToolSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) -> Vec<(usize, Entry)> {
    let mut entries = Vec::with_capacity(given.len());
    for (index, entry) in given.iter().enumerate() {
        let at = at.item(index);
        let found = context
            .names
            .tools
            .find(&entry.action, at.field("action"), context.problems);
        if let Some(tool) = found {
            let tool = &tools[tool as usize];
            let entry = resolve(entry, tool, at, context);
            require_allowed_recipients(world, &entry, tool, at, context);
            entries.push((index, entry));
        }
    }
    entries
}

/// One entry with canonical argument names. Complains about what could never match.
fn resolve(given: &file::Entry, tool: &ToolSpec, at: At<'_>, context: &mut Context<'_>) -> Entry {
    let target = Text::from(given.target.as_str());
    if let Target::Fixed(fixed) = &tool.target
        && *fixed != target
        && !fixed.is_empty()
    {
        let message = format!("the target of `{}` is always `{fixed}`", tool.name);
        context.problems.push(
            Problem::new(Code::NeverMatches, at.field("target").span(), message)
                .label("never the target")
                .help(format!("write `target: \"{fixed}\"`")),
        );
    }
    let mut conditions: Vec<(Text, Condition)> = Vec::new();
    for (index, (name, condition)) in given.conditions.0.iter().enumerate() {
        let place = at.field("where").item(index);
        let span = place.label_span();
        let Some(position) =
            find_argument(&tool.name, &tool.arguments, name, span.clone(), context)
        else {
            continue;
        };
        let argument = &tool.arguments[usize::from(position)];
        if conditions.iter().any(|(other, _)| *other == argument.name) {
            let message = format!("the argument `{}` has two conditions", argument.name);
            context
                .problems
                .push(Problem::new(Code::Repeated, span, message).label("again here"));
        }
        let condition = resolve_condition(condition);
        let is_target = tool.target == Target::Argument(position);
        let target = is_target.then_some(&target);
        if let Some(message) = contradiction(&condition, argument, target) {
            context
                .problems
                .push(Problem::new(Code::NeverMatches, place.span(), message).label("never holds"));
        } else {
            conditions.push((argument.name.clone(), condition));
        }
    }
    Entry {
        action: tool.name.clone(),
        target,
        conditions,
    }
}

fn resolve_condition(condition: &file::Condition) -> Condition {
    match condition {
        file::Condition::Equals(literal) => Condition::Equals(value(literal)),
        file::Condition::OneOf(literals) => Condition::OneOf(literals.iter().map(value).collect()),
        file::Condition::Absent => Condition::Absent,
        file::Condition::Present => Condition::Present,
    }
}

fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Text(text) => Value::text(text),
        Literal::List(items) => {
            Value::List(items.iter().map(|item| Text::from(item.as_str())).collect())
        }
        Literal::Integer(number) => Value::Integer(*number),
        Literal::Boolean(truth) => Value::Boolean(*truth),
    }
}

/// Why the condition can never hold, if it cannot; `target` is that of the entry, if the argument
/// is the target.
fn contradiction(
    condition: &Condition,
    argument: &ArgumentSpec,
    target: Option<&Text>,
) -> Option<String> {
    let values = values(condition);
    if let Some(values) = values {
        if values.is_empty() {
            return Some("there is nothing to choose from".to_owned());
        }
        if !values.iter().any(|value| fits(value, argument.kind)) {
            return Some(format!("`{}` is never of this kind", argument.name));
        }
        if let Some(target) = target
            && !condition.holds(Some(&Value::Text(target.clone())))
        {
            return Some(format!("`{}` is the target `{target}`", argument.name));
        }
    }
    let is_always_given = argument.required || target.is_some();
    (is_always_given && *condition == Condition::Absent)
        .then(|| format!("`{}` is always given", argument.name))
}

/// The values that a condition permits; none if it does not name them.
fn values(condition: &Condition) -> Option<&[Value]> {
    match condition {
        Condition::Equals(value) => Some(std::slice::from_ref(value)),
        Condition::OneOf(values) => Some(values),
        Condition::Absent | Condition::Present => None,
    }
}

/// Whether an argument of this kind can have the value. One text in a list is that text.
fn fits(value: &Value, kind: ValueKind) -> bool {
    match value {
        Value::Text(_) => matches!(kind, ValueKind::Text | ValueKind::List),
        Value::List(items) => {
            kind == ValueKind::List || (kind == ValueKind::Text && items.len() == 1)
        }
        Value::Integer(_) => kind == ValueKind::Integer,
        Value::Boolean(_) => kind == ValueKind::Boolean,
    }
}

/// Complains about recipients in an entry who are not allowed to receive, and mentions them all.
fn require_allowed_recipients(
    world: &World,
    entry: &Entry,
    tool: &ToolSpec,
    at: At<'_>,
    context: &mut Context<'_>,
) {
    let is_recipient = |name: &Text| {
        let argument = tool.argument(name);
        argument
            .is_some_and(|position| tool.arguments[usize::from(position)].role == Role::Recipient)
    };
    if let Target::Argument(position) = tool.target
        && tool
            .arguments
            .get(usize::from(position))
            .is_some_and(|argument| argument.role == Role::Recipient)
    {
        require_allowed(world, &entry.target, at.field("target"), context);
    }
    for (index, (name, condition)) in entry.conditions.iter().enumerate() {
        if !is_recipient(name) {
            continue;
        }
        for value in values(condition).unwrap_or_default() {
            for recipient in value.strings() {
                require_allowed(world, recipient, at.field("where").item(index), context);
            }
        }
    }
}

fn require_allowed(world: &World, recipient: &str, at: At<'_>, context: &mut Context<'_>) {
    context.principals.mention(recipient, at, context.problems);
    let allowed = &world.allowed_recipients;
    if !allowed.iter().any(|name| name == recipient) {
        let message = format!("`{}` is not an allowed recipient", shortened(recipient));
        let help = match similar(recipient, allowed) {
            Some(name) => format!(
                "did you mean `{}`? otherwise add the recipient to `allowed_recipients`",
                shortened(name)
            ),
            None => "add the recipient to `allowed_recipients`".to_owned(),
        };
        context.problems.push(
            Problem::new(Code::RecipientNotAllowed, at.span(), message)
                .label("named here")
                .help(help),
        );
    }
}

/// Name and domain; a recipient that is no address has only a name.
fn parts(recipient: &str) -> (&str, &str) {
    recipient.split_once('@').unwrap_or((recipient, ""))
}

/// The recipient of whom `wrong` may be a misspelling. Name and domain are compared by themselves,
/// because two people of one domain share most letters of their addresses.
fn similar<'a>(wrong: &str, allowed: &'a [String]) -> Option<&'a str> {
    let (name, domain) = parts(wrong);
    let is_near = |address: &&str| {
        let (own, other) = parts(address);
        nearest(name, [own]).is_some() && nearest(domain, [other]).is_some()
    };
    nearest(wrong, allowed.iter().map(String::as_str).filter(is_near))
}

/// Whether some ledger entry can match a call that satisfies `required`.
fn is_authorized(required: &Entry, tool: &ToolSpec, ledger: &Ledger) -> bool {
    ledger.entries.iter().any(|entry| {
        entry.action == required.action
            && entry.target == required.target
            && entry.conditions.iter().all(|(name, condition)| {
                let own = required.conditions.iter().find(|(other, _)| other == name);
                let argument = tool.argument(name);
                let is_always_given =
                    argument.is_some_and(|position| tool.arguments[usize::from(position)].required);
                own.is_none_or(|(_, own)| agree(own, condition))
                    && !(is_always_given && *condition == Condition::Absent)
            })
    })
}

/// Whether some value, or none, satisfies both conditions.
fn agree(a: &Condition, b: &Condition) -> bool {
    match (values(a), values(b)) {
        (Some(values), _) => values.iter().any(|value| b.holds(Some(value))),
        (None, Some(values)) => values.iter().any(|value| a.holds(Some(value))),
        (None, None) => a == b,
    }
}
