//! The backend: which step is next, and how it is said.

use plugins::draws::Draws;
use plugins::model::{Derivation, ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::SavedState;
use plugins::tool::{ToolSpec, ValueKind};
use plugins::value::Text;

use super::context::View;
use super::file::{Argument, Choice, Form as FileForm, Part, Reaction, Say, Step};
use super::{Script, ScriptError};
use crate::emit::{ActionWriter, Form, Keys, Syntax, Wrapping, final_answer};
use crate::parser::find_argument;

/// What an agent with nothing left to say answers.
const NOTHING_LEFT: &str = "done";

/// A model that follows a script. Keeps no state.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
    text_field: Text,
}

impl Scripted {
    /// A model that follows `script`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script,
            text_field: "text".into(),
        }
    }

    /// A model that follows the script written in `text`.
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
        let agent = turn
            .briefing
            .agents
            .get(turn.agent.index())
            .ok_or_else(|| ModelFailure("the agent is unknown".into()))?;
        let steps = self.script.steps(&agent.name);
        let view = View::new(turn);
        let next = next_step(&view, steps, draws);
        view.check_looks()?;
        let Some(position) = next else {
            reply.tag = tag(steps.len());
            say_nothing_left(&self.text_field, reply);
            return Ok(());
        };
        let step = &steps[position];
        reply.tag = tag(position);
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
        say(&view, step, &self.text_field, reply);
        view.check_looks()
    }
}

fn tag(position: usize) -> u32 {
    u32::try_from(position).expect("a script has far fewer steps than u32::MAX")
}

/// The step that comes now: the last one again, or the next that can be said.
fn next_step(view: &View<'_>, steps: &[Step], draws: &mut Draws) -> Option<usize> {
    let mut from = 0;
    if let Some(last) = view.last_turn() {
        from = last.step.saturating_add(1);
        let reaction = steps
            .get(last.step)
            .zip(last.denied)
            .and_then(|(step, denied)| {
                step.denied
                    .iter()
                    .find(|(reason, _)| reason.covers(denied))
                    .map(|(_, reaction)| *reaction)
            })
            .unwrap_or_default();
        match reaction {
            Reaction::Repeat(times)
                if last.said <= times && can_be_said(view, &steps[last.step]) =>
            {
                return Some(last.step);
            }
            Reaction::Stop => from = from.max(steps.len() - 1),
            Reaction::Repeat(_) | Reaction::Next => {}
        }
    }
    (from..steps.len()).find(|&position| {
        let step = &steps[position];
        let holds = |condition| view.holds(condition, step, draws);
        step.when.iter().all(holds) && can_be_said(view, step)
    })
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

fn say(view: &View<'_>, step: &Step, text_field: &Text, reply: &mut Reply) {
    let form = match written_form(&step.form) {
        Ok(form) => form,
        Err(text) => {
            reply.text.push_str(text);
            return;
        }
    };
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

/// The form to write in, or the text to say instead.
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
