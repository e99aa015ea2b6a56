//! Tools: what each does, to what, at what risk, and how it is taken back.

use std::collections::BTreeMap;
use std::ops::Range;

use plugins::ids::{SinkId, SourceId, StoreId, ToolId};
use plugins::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, SinkSpec, Target, ToolSpec, Undo, ValueKind,
};
use plugins::value::Text;

use super::Context;
use super::limits::require_ticks;
use super::names::require_valid_name;
use crate::diagnostic::{Code, Problem, shortened};
use crate::file::{self, Does, Tool, World};
use crate::nearest::advice;
use crate::outline::At;

/// The sinks.
pub(super) fn sinks(world: &World, context: &mut Context<'_>) -> Vec<SinkSpec> {
    let root = context.root;
    let all = world.sinks.iter().enumerate();
    all.map(|(index, sink)| {
        let at = root.field("sinks").item(index).field("readers");
        SinkSpec {
            name: Text::from(sink.name.as_str()),
            readers: context.principals.list(&sink.readers, at, context.problems),
        }
    })
    .collect()
}

/// The tools.
pub(super) fn tools(world: &World, context: &mut Context<'_>) -> Vec<ToolSpec> {
    let root = context.root;
    let all = world.tools.iter().enumerate();
    let tools: Vec<ToolSpec> = all
        .map(|(index, tool)| spec(tool, root.field("tools").item(index), context))
        .collect();
    for (index, tool) in tools.iter().enumerate() {
        let at = root.field("tools").item(index);
        require_fitting_undo(tool, ToolId::at(index), &tools, at, context);
    }
    tools
}

fn spec(tool: &Tool, at: At<'_>, context: &mut Context<'_>) -> ToolSpec {
    let operation = operation(&tool.does, at.field("does"), context);
    let arguments = arguments(tool, at.field("arguments"), context);
    let target = target(tool, &arguments, at, context);
    require_ticks(tool.latency_ticks, at.field("latency_ticks"), context);
    if matches!(
        operation,
        Operation::MemoryWrite(_) | Operation::MemoryUpdate(_)
    ) && !arguments
        .iter()
        .any(|argument| argument.role == Role::Content)
    {
        let message = format!("`{}` would store nothing", shortened(&tool.name));
        context.problems.push(
            Problem::new(Code::NothingToStore, at.field("arguments").span(), message)
                .label("no content")
                .help("add an argument of role `Content`"),
        );
    }
    ToolSpec {
        name: Text::from(tool.name.as_str()),
        operation,
        risk: risk(tool, operation, at, context),
        target,
        sink: sink(tool, operation, at, context),
        arguments,
        latency_ticks: tool.latency_ticks,
        undo: undo(tool, at, context),
        irrevocable_email: tool.irrevocable_email,
    }
}

fn operation(does: &Does, at: At<'_>, context: &mut Context<'_>) -> Operation {
    let place = at.item(0);
    let mut store = |name: &str| {
        let found = context.names.stores.find(name, place, context.problems);
        StoreId(found.unwrap_or_default())
    };
    match does {
        Does::ReadSource => Operation::ReadSource,
        Does::Act => Operation::Act,
        Does::MemoryRead(name) => Operation::MemoryRead(store(name)),
        Does::MemoryWrite(name) => Operation::MemoryWrite(store(name)),
        Does::MemoryUpdate(name) => Operation::MemoryUpdate(store(name)),
        Does::MemoryDelete(name) => Operation::MemoryDelete(store(name)),
        Does::MemoryRestore(name) => Operation::MemoryRestore(store(name)),
        Does::ReturnSource(name) => {
            let found = context.names.sources.find(name, place, context.problems);
            Operation::ReturnSource(SourceId(found.unwrap_or_default()))
        }
    }
}

fn risk(tool: &Tool, operation: Operation, at: At<'_>, context: &mut Context<'_>) -> RiskClass {
    let usual = if operation.is_read() {
        RiskClass::Low
    } else {
        RiskClass::Write
    };
    let Some(given) = tool.risk else {
        if operation == Operation::Act {
            let message = format!("`{}` acts but has no risk class", shortened(&tool.name));
            context.problems.push(
                Problem::new(Code::WrongRisk, at.field("name").span(), message)
                    .label("needs `risk`")
                    .help("`Low` for the task record, `Write` inside, `Outbound` to somebody"),
            );
        }
        return usual;
    };
    let is_high = given != RiskClass::Low;
    let complaint = if operation.is_read() && is_high {
        Some("a read is low-risk")
    } else if operation.written_store().is_some() && !is_high {
        Some("a tool that changes memory is high-risk")
    } else {
        None
    };
    if let Some(message) = complaint {
        context.problems.push(
            Problem::new(Code::WrongRisk, at.field("risk").span(), message)
                .label("does not fit")
                .help(format!("write `{usual:?}`, or leave it out")),
        );
    }
    given
}

fn arguments(tool: &Tool, at: At<'_>, context: &mut Context<'_>) -> Vec<ArgumentSpec> {
    let mut seen: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    let mut specs = Vec::with_capacity(tool.arguments.len());
    for (index, argument) in tool.arguments.iter().enumerate() {
        let place = at.item(index);
        let aliases = argument.aliases.iter().enumerate();
        let aliases = aliases.map(|(index, alias)| (alias, place.field("aliases").item(index)));
        let own = std::iter::once((&argument.name, place.field("name")));
        for (name, place) in own.chain(aliases) {
            require_valid_name(name, place.span(), context.problems);
            if let Some(first) = seen.insert(name, place.span()) {
                let message = format!("the argument name `{}` is given twice", shortened(name));
                context.problems.push(
                    Problem::new(Code::DuplicateName, place.span(), message)
                        .label("again here")
                        .also(first, "first here"),
                );
            }
        }
        require_fitting_passing(argument, place, context);
        specs.push(ArgumentSpec {
            name: Text::from(argument.name.as_str()),
            aliases: argument
                .aliases
                .iter()
                .map(|alias| Text::from(alias.as_str()))
                .collect(),
            kind: argument.kind,
            role: argument.role,
            passing: argument.passing,
            required: argument.required,
        });
    }
    specs
}

fn require_fitting_passing(argument: &file::Argument, at: At<'_>, context: &mut Context<'_>) {
    let names_something = matches!(argument.kind, ValueKind::Text | ValueKind::List)
        && matches!(argument.role, Role::Content | Role::Document);
    if argument.passing == Passing::Reference && !names_something {
        let message = format!(
            "`{}` cannot be passed by reference",
            shortened(&argument.name)
        );
        context.problems.push(
            Problem::new(Code::WrongPassing, at.field("passing").span(), message)
                .label("does not fit")
                .help("only texts that carry content or name a document can"),
        );
    }
}

fn target(
    tool: &Tool,
    arguments: &[ArgumentSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) -> Target {
    match &tool.target {
        Some(file::Target::Fixed(name)) => {
            require_valid_name(name, at.field("target").item(0).span(), context.problems);
            Target::Fixed(Text::from(name.as_str()))
        }
        Some(file::Target::Argument(name)) => {
            let place = at.field("target").item(0);
            let position = find_argument(&tool.name, arguments, name, place.span(), context);
            position.map_or_else(unknown_target, |position| {
                target_in(position, arguments, place, context)
            })
        }
        None => usual_target(tool, arguments, at, context),
    }
}

/// The position of the argument called `name`, or by an alias, which must exist.
pub(super) fn find_argument(
    tool: &str,
    arguments: &[ArgumentSpec],
    name: &str,
    span: Range<usize>,
    context: &mut Context<'_>,
) -> Option<u16> {
    let is_called = |argument: &ArgumentSpec| {
        &*argument.name == name || argument.aliases.iter().any(|alias| &**alias == name)
    };
    let Some(position) = arguments.iter().position(is_called) else {
        let message = format!(
            "the tool `{}` has no argument `{}`",
            shortened(tool),
            shortened(name)
        );
        let help = advice(name, arguments.iter().map(|argument| &*argument.name));
        context.problems.push(
            Problem::new(Code::UnknownArgument, span, message)
                .label("not known")
                .maybe_help(help),
        );
        return None;
    };
    Some(u16::try_from(position).expect("an outline has fewer entries"))
}

/// The stand-in for a target that could not be made out: the name that no target has.
fn unknown_target() -> Target {
    Target::Fixed(Text::from(""))
}

/// The target in the argument at `position`, which must be a name that every call gives.
fn target_in(
    position: u16,
    arguments: &[ArgumentSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) -> Target {
    let argument = &arguments[usize::from(position)];
    let is_name = matches!(argument.kind, ValueKind::Text | ValueKind::List);
    if is_name && argument.required {
        return Target::Argument(position);
    }
    let message = format!("`{}` cannot be a target", shortened(&argument.name));
    let help = if is_name {
        "make the argument required"
    } else {
        "a target is a text or a list of texts"
    };
    context.problems.push(
        Problem::new(Code::UnfitTarget, at.span(), message)
            .label("does not fit")
            .help(help),
    );
    unknown_target()
}

/// The target of a tool that does not say.
fn usual_target(
    tool: &Tool,
    arguments: &[ArgumentSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) -> Target {
    let role = match &tool.does {
        Does::ReturnSource(source) => return Target::Fixed(Text::from(source.as_str())),
        Does::ReadSource => Some(Role::Document),
        Does::Act => None,
        _ => Some(Role::MemoryKey),
    };
    let mut fitting = (0u16..)
        .zip(arguments)
        .filter(|(_, argument)| Some(argument.role) == role);
    if let (Some((position, _)), None) = (fitting.next(), fitting.next()) {
        return target_in(position, arguments, at.field("arguments"), context);
    }
    let message = format!(
        "`{}` does not say what its target is",
        shortened(&tool.name)
    );
    let help = match role {
        Some(role) => format!("give it one argument of role `{role:?}`, or say `target`"),
        None => "write `target: Argument(\"...\")` or `target: Fixed(\"...\")`".to_owned(),
    };
    context.problems.push(
        Problem::new(Code::NoTarget, at.field("name").span(), message)
            .label("needs `target`")
            .help(help),
    );
    unknown_target()
}

fn sink(
    tool: &Tool,
    operation: Operation,
    at: At<'_>,
    context: &mut Context<'_>,
) -> Option<SinkId> {
    let acts = operation == Operation::Act;
    let place = at.field("sink");
    match &tool.sink {
        Some(name) if acts => {
            let found = context.names.sinks.find(name, place, context.problems);
            return found.map(SinkId);
        }
        Some(_) => {
            let message = "only a tool that acts has a sink";
            context.problems.push(
                Problem::new(Code::WrongSink, place.span(), message)
                    .label("does not fit")
                    .help("remove it, or write `does: Act`"),
            );
        }
        None if acts => {
            let message = format!("`{}` acts but has no sink", shortened(&tool.name));
            context.problems.push(
                Problem::new(Code::WrongSink, at.field("name").span(), message)
                    .label("needs `sink`"),
            );
        }
        None => {}
    }
    let recipient = |argument: &file::Argument| argument.role == Role::Recipient;
    if let (false, Some(position)) = (acts, tool.arguments.iter().position(recipient)) {
        let message = "a tool without a sink has no recipients";
        let place = at.field("arguments").item(position).field("role");
        context
            .problems
            .push(Problem::new(Code::WrongSink, place.span(), message).label("a recipient"));
    }
    None
}

fn undo(tool: &Tool, at: At<'_>, context: &mut Context<'_>) -> Undo {
    match &tool.undo {
        file::Undo::Irrevocable => Undo::Irrevocable,
        file::Undo::Inverse(name) => {
            let place = at.field("undo").item(0);
            let found = context.names.tools.find(name, place, context.problems);
            found.map_or(Undo::Irrevocable, |id| Undo::Inverse(ToolId(id)))
        }
    }
}

fn require_fitting_undo(
    tool: &ToolSpec,
    own: ToolId,
    tools: &[ToolSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) {
    let is_act = tool.operation == Operation::Act;
    let complaint = match tool.undo {
        Undo::Inverse(_) if tool.operation.is_read() => Some("a read has nothing to undo"),
        Undo::Inverse(_) if tool.irrevocable_email => {
            Some("an e-mail that cannot be taken back has no inverse")
        }
        Undo::Inverse(inverse) if inverse == own => Some("a tool is not its own inverse"),
        Undo::Inverse(inverse) => {
            let other = &tools[inverse.index()].operation;
            let fits = other.written_store() == tool.operation.written_store();
            (other.is_read() || !fits).then_some("the inverse changes something else")
        }
        Undo::Irrevocable if tool.irrevocable_email && !is_act => {
            Some("only a tool that acts sends e-mail")
        }
        Undo::Irrevocable => None,
    };
    if let Some(message) = complaint {
        let field = at.named("undo").unwrap_or(at.field("irrevocable_email"));
        context
            .problems
            .push(Problem::new(Code::WrongUndo, field.span(), message).label("does not fit"));
    }
}
