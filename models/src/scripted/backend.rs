//! The backend: which step is next, and how it is said.

use std::sync::Arc;

use plugins::draws::Draws;
use plugins::model::{Derivation, Input, ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::SavedState;
use plugins::tool::{ToolSpec, ValueKind};
use plugins::value::Text;
use smallvec::SmallVec;

use super::context::{Found, FoundParts, LastTurn, View};
use super::file::{Argument, Choice, Form as FileForm, Reaction, Say, Step};
use super::open::{Again, Character, Dice, NoCharacter};
use super::{Script, ScriptError};
use crate::emit::{ActionWriter, Form, Keys, Syntax, Words, Wrapping, final_answer};
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
    let mut found = FoundParts::new();
    let next = next_step(&view, steps, draws, &mut found);
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
    let tool = view.tool_of(&step.say);
    match form(&view, &next, step, tool, draws) {
        Ok(form) => say(step, tool, &found, form, text_field, reply),
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

/// The last step again, or the next that can be said; what it says is put into `found`.
fn next_step<'s>(
    view: &View<'s>,
    steps: &'s [Step],
    draws: &mut Draws,
    found: &mut FoundParts<'s>,
) -> Option<Next> {
    let Some(last) = view.last_turn() else {
        return first_from(0, view, steps, draws, found);
    };
    let denied = steps.get(last.step).zip(last.denied);
    let reaction = denied
        .map(|(step, reason)| step.reaction(reason))
        .unwrap_or_default();
    let again = said_again(&last, reaction, view, steps, draws, found);
    if again.is_some() {
        return again;
    }
    let following = last.step.saturating_add(1);
    let from = match reaction {
        Reaction::Stop | Reaction::Persist(_) => following.max(steps.len() - 1),
        Reaction::Repeat(_) | Reaction::Next => following,
    };
    first_from(from, view, steps, draws, found)
}

/// The last step once more, if `reaction` says it again and it can be said.
fn said_again<'s>(
    last: &LastTurn,
    reaction: Reaction,
    view: &View<'s>,
    steps: &'s [Step],
    draws: &mut Draws,
    found: &mut FoundParts<'s>,
) -> Option<Next> {
    match reaction {
        Reaction::Repeat(times) if last.said > times => return None,
        Reaction::Stop | Reaction::Next => return None,
        Reaction::Repeat(_) | Reaction::Persist(_) => {}
    }
    let say = &steps[last.step].say;
    view.find_all(say, found)?;
    let again = match reaction {
        Reaction::Persist(drive) => {
            let seen = view.seen(view.tool_of(say), last.denied);
            let dice = &mut Dice::new(draws);
            view.character.again(drive, last.said, seen, dice)
        }
        _ => Again::Said,
    };
    (again != Again::GivenUp).then_some(Next {
        position: last.step,
        is_broken_off: again == Again::BrokenOff,
    })
}

/// The first step from this one on that can be said.
fn first_from<'s>(
    from: usize,
    view: &View<'s>,
    steps: &'s [Step],
    draws: &mut Draws,
    found: &mut FoundParts<'s>,
) -> Option<Next> {
    (from..steps.len()).find_map(|position| {
        let step = &steps[position];
        let holds = |condition| view.holds(condition, step, draws);
        if !step.when.iter().all(holds) {
            return None;
        }
        view.find_all(&step.say, found)?;
        Some(Next {
            position,
            is_broken_off: false,
        })
    })
}

/// The form to write in, or the text to say instead.
fn form<'s>(
    view: &View<'_>,
    next: &Next,
    step: &'s Step,
    tool: Option<&ToolSpec>,
    draws: &mut Draws,
) -> Result<Form, &'s str> {
    let mut form = match &step.form {
        Some(form) => written_form(form)?,
        None => {
            let seen = || view.seen(tool, None);
            let completions = || view.completions();
            view.character
                .form(&seen, &completions, &mut Dice::new(draws))
        }
    };
    if next.is_broken_off {
        form.syntax = Syntax::CutInToolName;
    }
    Ok(form)
}

fn say_nothing_left(text_field: &Text, reply: &mut Reply) {
    final_answer(&mut reply.text, Form::default(), [NOTHING_LEFT]);
    derive(text_field, &[], &mut reply.derivations);
}

/// Says a step with what was found for it; `tool` is what it calls, if that is known.
fn say(
    step: &Step,
    tool: Option<&ToolSpec>,
    found: &[Found<'_>],
    form: Form,
    text_field: &Text,
    reply: &mut Reply,
) {
    let derivations = &mut reply.derivations;
    let mut unsaid = Unsaid(found);
    match &step.say {
        Say::Call(name, arguments) => {
            let mut writer = ActionWriter::call(&mut reply.text, form, name.words());
            for (name, argument) in &arguments.0 {
                let spec = tool.and_then(|tool| find_argument(tool, name));
                let spec = spec.map(|(_, argument)| argument);
                let said = unsaid.take(argument.part_count());
                let kind = spec.map(|argument| argument.kind);
                write_argument(name.words(), argument, kind, said, &mut writer);
                // Under its canonical name.
                let field = spec.map_or(&name.text, |argument| &argument.name);
                derive(field, said, derivations);
            }
            if step.keep {
                writer.finish();
            } else {
                writer.finish_discarded();
            }
        }
        Say::Delegate(to, fields) => {
            let mut writer = ActionWriter::delegate(&mut reply.text, form, to.words());
            for (name, parts) in &fields.0 {
                let said = unsaid.take(parts.len());
                writer.text(name.words(), words(said));
                derive(&name.text, said, derivations);
            }
            writer.finish();
        }
        Say::Final(_) => {
            final_answer(&mut reply.text, form, words(found));
            derive(text_field, found, derivations);
        }
    }
}

/// What was found for a step and is still to be said.
struct Unsaid<'f, 't>(&'f [Found<'t>]);

impl<'f, 't> Unsaid<'f, 't> {
    fn take(&mut self, count: usize) -> &'f [Found<'t>] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }
}

fn words<'t>(found: &[Found<'t>]) -> impl Iterator<Item = Words<'t>> {
    found.iter().map(|part| part.words)
}

/// Writes an argument with what was found for it; `kind` is what its tool wants, if that is known.
fn write_argument(
    name: Words<'_>,
    argument: &Argument,
    kind: Option<ValueKind>,
    found: &[Found<'_>],
    writer: &mut ActionWriter<'_>,
) {
    match argument {
        // Whoever knows the schema writes a list where one is wanted.
        Argument::Text(_) if kind == Some(ValueKind::List) => writer.list(name, [words(found)]),
        Argument::Text(_) => writer.text(name, words(found)),
        Argument::List(items) => {
            let mut unsaid = Unsaid(found);
            let said = |parts: &Vec<_>| words(unsaid.take(parts.len()));
            writer.list(name, items.iter().map(said));
        }
        Argument::Integer(number) => writer.integer(name, *number),
        Argument::Boolean(truth) => writer.boolean(name, *truth),
    }
}

/// Notes what flowed into a field.
fn derive(field: &Text, said: &[Found<'_>], derivations: &mut Vec<Derivation>) {
    let mut inputs: SmallVec<[Input; 2]> = said.iter().filter_map(|part| part.input).collect();
    // Most fields are a single copy.
    if inputs.len() > 1 {
        inputs.sort_unstable();
        inputs.dedup();
    }
    derivations.push(Derivation {
        field: field.clone(),
        inputs,
    });
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
