//! The backend: which step is next, and how it is said.

use std::sync::Arc;

use plugins::draws::Draws;
use plugins::model::{Derivation, ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::SavedState;
use plugins::tool::{ToolSpec, ValueKind};
use plugins::value::Text;

use super::context::View;
use super::file::{Argument, Choice, Form as FileForm, Part, Reaction, Say, Step};
use super::open::{Again, Character, Dice, NoCharacter};
use super::{Script, ScriptError};
use crate::emit::{ActionWriter, Form, Keys, Syntax, Wrapping, final_answer};
use crate::parser::find_argument;

/// What an agent with nothing left to say answers.
const NOTHING_LEFT: &str = "done";

/// A model that follows a script. Keeps no state, and its clones share the script.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Arc<Script>,
    text_field: Text,
}

impl Scripted {
    /// A model that follows `script`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script: Arc::new(script),
            text_field: "text".into(),
        }
    }

    /// A model that follows the script written in `text`. What it leaves to a behaviour profile is
    /// not done, and what is open otherwise is given up.
    ///
    /// # Errors
    /// When the script is not well-formed.
    pub fn from_text(text: &str) -> Result<Self, ScriptError> {
        Script::parse(text).map(Self::new)
    }
}

impl SavedState for Scripted {}

impl ModelBackend for Scripted {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        perform(
            &self.script,
            &NoCharacter,
            &self.text_field,
            turn,
            draws,
            reply,
        )
    }
}

/// Says what comes next in a script; `character` decides what it leaves open.
pub(crate) fn perform(
    script: &Script,
    character: &dyn Character,
    text_field: &Text,
    turn: Turn<'_>,
    draws: &mut Draws,
    reply: &mut Reply,
) -> Result<(), ModelFailure> {
    let agent = turn
        .briefing
        .agents
        .get(turn.agent.index())
        .ok_or_else(|| ModelFailure("the agent is unknown".into()))?;
    let steps = script.steps(&agent.name);
    let view = View::new(turn, character);
    let next = next_step(&view, steps, draws);
    view.check_looks()?;
    let Some(next) = next else {
        reply.tag = tag(steps.len());
        say_nothing_left(text_field, reply);
        return Ok(());
    };
    let step = &steps[next.position];
    reply.tag = tag(next.position);
    reply.latency_ticks = step.latency_ticks.max(1);
    reply.choice = match &step.choice {
        Choice::FromContext => None,
        Choice::FromGoal => Some(view.goal().into_iter().collect()),
        Choice::From(origins) => Some(
            origins
                .iter()
                .filter_map(|origin| view.latest(origin))
                .collect(),
        ),
    };
    match form(&view, &next, step, draws) {
        Ok(form) => say(&view, step, form, text_field, reply),
        Err(text) => reply.text.push_str(text),
    }
    view.check_looks()
}

fn tag(position: usize) -> u32 {
    u32::try_from(position).expect("a script has far fewer steps than u32::MAX")
}

/// The step that comes now.
struct Next {
    position: usize,
    /// Whether the text breaks off in the middle of the action.
    is_broken_off: bool,
}

/// The last step again, or the next that can be said.
fn next_step(view: &View<'_>, steps: &[Step], draws: &mut Draws) -> Option<Next> {
    let mut from = 0;
    if let Some(last) = view.last_turn() {
        from = last.step.saturating_add(1);
        let denied = steps.get(last.step).zip(last.denied);
        let reaction = denied.map(|(step, reason)| step.reaction(reason));
        let is_again = |position: usize| can_be_said(view, &steps[position]);
        match reaction.unwrap_or_default() {
            Reaction::Repeat(times) if last.said <= times && is_again(last.step) => {
                return Some(Next {
                    position: last.step,
                    is_broken_off: false,
                });
            }
            Reaction::Persist(drive) if is_again(last.step) => {
                let seen = view.seen(&steps[last.step].say, last.denied);
                let again = view
                    .character
                    .again(drive, last.said, seen, &mut Dice::new(draws));
                if again != Again::GivenUp {
                    return Some(Next {
                        position: last.step,
                        is_broken_off: again == Again::BrokenOff,
                    });
                }
                from = from.max(steps.len() - 1);
            }
            Reaction::Stop | Reaction::Persist(_) => from = from.max(steps.len() - 1),
            Reaction::Repeat(_) | Reaction::Next => {}
        }
    }
    let position = (from..steps.len()).find(|&position| {
        let step = &steps[position];
        let holds = |condition| view.holds(condition, step, draws);
        step.when.iter().all(holds) && can_be_said(view, step)
    })?;
    Some(Next {
        position,
        is_broken_off: false,
    })
}

/// The form to write in, or the text to say instead.
fn form<'s>(
    view: &View<'_>,
    next: &Next,
    step: &'s Step,
    draws: &mut Draws,
) -> Result<Form, &'s str> {
    let mut form = match &step.form {
        Some(form) => written_form(form)?,
        None => view
            .character
            .form(view.seen(&step.say, None), &mut Dice::new(draws)),
    };
    if next.is_broken_off {
        form.syntax = Syntax::CutInToolName;
    }
    Ok(form)
}

/// Whether the agent has seen everything that the step copies.
fn can_be_said(view: &View<'_>, step: &Step) -> bool {
    let is_known = |part: &Part| view.part(part).is_some();
    match &step.say {
        Say::Call(_, arguments) => arguments.0.iter().all(|(_, argument)| match argument {
            Argument::Text(parts) => parts.iter().all(is_known),
            Argument::List(items) => items.iter().flatten().all(is_known),
            Argument::Integer(_) | Argument::Boolean(_) => true,
        }),
        Say::Delegate(_, fields) => fields.0.iter().all(|(_, parts)| parts.iter().all(is_known)),
        Say::Final(parts) => parts.iter().all(is_known),
    }
}

fn say_nothing_left(text_field: &Text, reply: &mut Reply) {
    final_answer(&mut reply.text, Form::default(), [NOTHING_LEFT]);
    derive(text_field, [].iter(), None, &mut reply.derivations);
}

fn say(view: &View<'_>, step: &Step, form: Form, text_field: &Text, reply: &mut Reply) {
    match &step.say {
        Say::Call(tool, arguments) => {
            let spec = view
                .turn
                .briefing
                .tool_named(tool)
                .map(|id| &view.turn.briefing.tools[id.index()]);
            let mut writer = ActionWriter::call(&mut reply.text, form, tool);
            for (name, argument) in &arguments.0 {
                write_argument(view, spec, name, argument, &mut writer);
                derive_argument(view, spec, name, argument, &mut reply.derivations);
            }
            if step.keep {
                writer.finish();
            } else {
                writer.finish_discarded();
            }
        }
        Say::Delegate(to, fields) => {
            let mut writer = ActionWriter::delegate(&mut reply.text, form, to);
            for (name, parts) in &fields.0 {
                writer.text(name, words(view, parts));
                derive(name, parts.iter(), Some(view), &mut reply.derivations);
            }
            writer.finish();
        }
        Say::Final(parts) => {
            final_answer(&mut reply.text, form, words(view, parts));
            derive(text_field, parts.iter(), Some(view), &mut reply.derivations);
        }
    }
}

/// The words of parts that are known to be sayable.
fn words<'v>(view: &View<'v>, parts: &'v [Part]) -> impl Iterator<Item = &'v str> {
    parts
        .iter()
        .filter_map(|part| view.part(part))
        .map(|(words, _)| words)
}

fn write_argument(
    view: &View<'_>,
    spec: Option<&ToolSpec>,
    name: &str,
    argument: &Argument,
    writer: &mut ActionWriter<'_>,
) {
    let kind = spec
        .and_then(|spec| find_argument(spec, name))
        .map(|(_, argument)| argument.kind);
    match argument {
        // Whoever knows the schema writes a list where one is wanted.
        Argument::Text(parts) if kind == Some(ValueKind::List) => {
            writer.list(name, [words(view, parts)]);
        }
        Argument::Text(parts) => writer.text(name, words(view, parts)),
        Argument::List(items) => writer.list(name, items.iter().map(|parts| words(view, parts))),
        Argument::Integer(number) => writer.integer(name, *number),
        Argument::Boolean(truth) => writer.boolean(name, *truth),
    }
}

/// Notes what flowed into an argument, under its canonical name.
fn derive_argument(
    view: &View<'_>,
    spec: Option<&ToolSpec>,
    name: &Text,
    argument: &Argument,
    derivations: &mut Vec<Derivation>,
) {
    let name = spec
        .and_then(|spec| find_argument(spec, name))
        .map_or(name, |(_, argument)| &argument.name);
    match argument {
        Argument::Text(parts) => derive(name, parts.iter(), Some(view), derivations),
        Argument::List(items) => derive(name, items.iter().flatten(), Some(view), derivations),
        Argument::Integer(_) | Argument::Boolean(_) => {
            derive(name, [].iter(), Some(view), derivations);
        }
    }
}

fn derive<'p>(
    field: &Text,
    parts: impl Iterator<Item = &'p Part>,
    view: Option<&View<'p>>,
    derivations: &mut Vec<Derivation>,
) {
    let mut derivation = Derivation {
        field: field.clone(),
        inputs: parts.filter_map(|part| view?.part(part)?.1).collect(),
    };
    derivation.inputs.sort_unstable();
    derivation.inputs.dedup();
    derivations.push(derivation);
}

/// The form that a script names, or the text to say instead.
fn written_form(form: &FileForm) -> Result<Form, &str> {
    let wrapped = |wrapping| Form {
        wrapping,
        ..Form::default()
    };
    let keyed = |keys| Form {
        keys,
        ..Form::default()
    };
    let broken = |syntax| Form {
        syntax,
        ..Form::default()
    };
    Ok(match form {
        FileForm::Strict => Form::default(),
        FileForm::Fenced => wrapped(Wrapping::Fenced),
        FileForm::Prefixed => wrapped(Wrapping::Prefixed),
        FileForm::ActionTypeAsTool => keyed(Keys::ActionTypeAsTool),
        FileForm::Aliases => keyed(Keys::Aliased),
        FileForm::FencedAliases => Form {
            wrapping: Wrapping::Fenced,
            ..keyed(Keys::Aliased)
        },
        FileForm::ToolBench => keyed(Keys::ToolBench),
        FileForm::SingleQuotes => broken(Syntax::SingleQuotes),
        FileForm::TrailingComma => broken(Syntax::TrailingComma),
        FileForm::UnquotedKeys => broken(Syntax::UnquotedKeys),
        FileForm::MissingCloser => broken(Syntax::MissingCloser),
        FileForm::TruncatedInToolName => broken(Syntax::CutInToolName),
        FileForm::Prose(text) => return Err(text),
    })
}
