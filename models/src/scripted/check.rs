//! Whether a script fits a world.

use plugins::briefing::Channel;
use plugins::ids::{AgentId, SourceId};
use plugins::tool::ToolSpec;
use plugins::value::Text;

use super::Script;
use super::error::suggest;
use super::file::{
    Argument, Choice, Condition, Entries, Form, Origin, OriginKind, Part, Say, Step,
};
use super::place::{Place, Places};
use super::world::World;
use crate::parser::find_argument;

/// The name of the field in which a final answer comes back.
const ANSWER_FIELD: &str = "text";

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Probably a slip; but a script may name what does not exist on purpose.
    Warning,
    /// Part of the script can never be said.
    Error,
}

/// Something in a script that the world does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// Where: the agent and the step, from 1.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What would mend it.
    pub help: String,
}

impl Script {
    /// Compares the script with a world, in file order. `text` is what the script was read from.
    #[must_use]
    pub fn check(&self, text: &str, world: &World<'_>) -> Vec<Finding> {
        let mut findings = Findings {
            places: Places::of(text),
            found: Vec::new(),
        };
        for (agent, (name, steps)) in self.agents.iter().enumerate() {
            let speaker = world.agent_named(name);
            if speaker.is_none() {
                findings.agent(agent, name, suggest(name, &world.agent_names()));
            }
            for (position, step) in steps.iter().enumerate() {
                let mut check = Check {
                    script: self,
                    world,
                    speaker,
                    agent: (agent, name),
                    step: position,
                    findings: &mut findings,
                };
                check.step(step);
            }
        }
        findings.found
    }
}

/// What was found so far.
struct Findings<'t> {
    places: Places<'t>,
    found: Vec<Finding>,
}

impl Findings<'_> {
    fn agent(&mut self, agent: usize, name: &str, help: String) {
        let (line, column) = self.places.find(Place {
            agent,
            step: None,
            word: name,
            after: None,
        });
        self.found.push(Finding {
            severity: Severity::Error,
            line,
            column,
            place: format!("agent `{name}`"),
            message: format!("the world has no agent `{name}`"),
            help,
        });
    }
}

/// One step held against the world.
struct Check<'c, 'w, 't> {
    script: &'c Script,
    world: &'c World<'w>,
    /// The agent whose step it is, if the world has it.
    speaker: Option<AgentId>,
    /// Its position in the script, and its name.
    agent: (usize, &'c Text),
    /// From 0.
    step: usize,
    findings: &'c mut Findings<'t>,
}

impl<'c> Check<'c, '_, '_> {
    fn warn(&mut self, word: &str, message: String, help: String) {
        self.warn_after(None, word, message, help);
    }

    /// Warns of the `word` that stands right after another one.
    fn warn_after(&mut self, after: Option<&str>, word: &str, message: String, help: String) {
        let (agent, name) = self.agent;
        let (line, column) = self.findings.places.find(Place {
            agent,
            step: Some(self.step),
            word,
            after,
        });
        self.findings.found.push(Finding {
            severity: Severity::Warning,
            line,
            column,
            place: format!("agent `{name}`, step {}", self.step + 1),
            message,
            help,
        });
    }

    fn step(&mut self, step: &'c Step) {
        // What is not said in the end is not held against the world.
        let is_said = !matches!(step.form, Form::Prose(_));
        match &step.say {
            Say::Call(tool, arguments) if is_said => {
                self.call(tool, arguments);
            }
            Say::Delegate(to, _) if is_said => self.receiver(to),
            Say::Call(..) | Say::Delegate(..) | Say::Final(_) => {}
        }
        for condition in &step.when {
            self.condition(condition);
        }
        for part in parts(&step.say) {
            match part {
                Part::Copy(origin, field) => self.copy(origin, field),
                Part::Goal(words) => self.goal_words(words),
                Part::Own(_) => {}
            }
        }
        if let Choice::From(origins) = &step.choice {
            for origin in origins {
                self.origin(origin, &origin.name);
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &Entries<Argument>) {
        let Some(tool) = self.tool(name, name) else {
            return;
        };
        let mut all_known = true;
        for (argument, _) in &arguments.0 {
            if find_argument(tool, argument).is_none() {
                all_known = false;
                let known: Vec<&Text> = tool.arguments.iter().map(|known| &known.name).collect();
                let message = format!("the tool `{name}` has no argument `{argument}`");
                self.warn(argument, message, suggest(argument, &known));
            }
        }
        // One slip is told once: a name that is wrong is probably the one that is missing.
        if !all_known {
            return;
        }
        let given = |position: usize| {
            let mut names = arguments.0.iter().map(|(name, _)| name);
            names.any(|name| {
                find_argument(tool, name).is_some_and(|(at, _)| usize::from(at) == position)
            })
        };
        for (position, argument) in tool.arguments.iter().enumerate() {
            if argument.required && !given(position) {
                let missing = &argument.name;
                let message = format!("the call of `{name}` lacks the argument `{missing}`");
                self.warn(name, message, format!("add `\"{missing}\": [...]`"));
            }
        }
    }

    /// The tool called `name`, written as `word`. Warns unless the speaker holds it.
    fn tool(&mut self, name: &str, word: &str) -> Option<&'c ToolSpec> {
        let world = self.world;
        let Some(tool) = world.briefing.tool_named(name) else {
            let help = suggest(name, &world.tool_names());
            self.warn(word, format!("the world has no tool `{name}`"), help);
            return None;
        };
        if let Some(speaker) = self.speaker {
            let held: Vec<&str> = world.held(speaker).map(|tool| &*tool.name).collect();
            if !held.contains(&name) {
                let message = format!("`{}` does not hold the tool `{name}`", self.agent.1);
                self.warn(word, message, suggest(name, &held));
            }
        }
        Some(world.tool(tool))
    }

    /// The agent called `name`, written as `word`. Warns if there is none.
    fn other(&mut self, name: &str, word: &str) -> Option<AgentId> {
        let found = self.world.agent_named(name);
        if found.is_none() {
            let help = suggest(name, &self.world.agent_names());
            self.warn(word, format!("the world has no agent `{name}`"), help);
        }
        found
    }

    fn receiver(&mut self, name: &str) {
        let (Some(_), Some(speaker)) = (self.other(name, name), self.speaker) else {
            return;
        };
        let receivers = self.world.receivers(speaker);
        if !receivers.contains(&name) {
            let message = format!("no channel leads from `{}` to `{name}`", self.agent.1);
            let help = suggest(name, &receivers);
            self.warn(name, message, help);
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Seen(origin) | Condition::NotSeen(origin) => {
                self.origin(origin, &origin.name);
            }
            Condition::Denied(tool) | Condition::Committed(tool) => {
                self.tool(tool, tool);
            }
            Condition::MessageFrom(agent) => {
                self.sender(agent, agent);
            }
            Condition::Not(inner) => self.condition(inner),
            Condition::Episode(_) | Condition::Chance(_) | Condition::Guidance(_) => {}
        }
    }

    /// Whether the origin is something that the speaker could see; warns if it is not.
    fn origin(&mut self, origin: &Origin, word: &str) -> bool {
        match &origin.kind {
            OriginKind::Goal => self.goal(word),
            OriginKind::Message => self.message(word),
            OriginKind::MessageFrom(agent) => self.sender(agent, word),
            OriginKind::Tool(tool) => self.tool(tool, word).is_some(),
            OriginKind::Source => self.source(word),
        }
    }

    fn goal(&mut self, word: &str) -> bool {
        let Some(speaker) = self.speaker else {
            return false;
        };
        let is_given = self.world.goals_of(speaker).next().is_some();
        if !is_given {
            let message = format!("`{}` is given no goal", self.agent.1);
            self.warn(word, message, "it may see a `message`".to_owned());
        }
        is_given
    }

    fn message(&mut self, word: &str) -> bool {
        let Some(speaker) = self.speaker else {
            return false;
        };
        let can_hear = self.world.can_hear(speaker, None);
        if !can_hear {
            let message = format!("no message can reach `{}`", self.agent.1);
            self.warn(word, message, "add a channel that leads to it".to_owned());
        }
        can_hear
    }

    fn sender(&mut self, name: &str, word: &str) -> bool {
        let (Some(from), Some(speaker)) = (self.other(name, word), self.speaker) else {
            return false;
        };
        let can_hear = self.world.can_hear(speaker, Some(from));
        if !can_hear {
            let message = format!("no message from `{name}` can reach `{}`", self.agent.1);
            self.warn(word, message, "add a channel that leads to it".to_owned());
        }
        can_hear
    }

    fn source(&mut self, name: &str) -> bool {
        let world = self.world;
        let Some(source) = world.briefing.source_named(name) else {
            let help = suggest(name, &world.source_names());
            self.warn(name, format!("the world has no source `{name}`"), help);
            return false;
        };
        let seen_as = match world.briefing.sources[source.index()].channel {
            Channel::Goal => "goal",
            Channel::InterAgentMessage => "message",
            _ => return self.can_read(source, name),
        };
        let message = format!("`{name}` is a {seen_as} and is not seen under its name");
        self.warn(name, message, format!("write `{seen_as}`"));
        false
    }

    fn can_read(&mut self, source: SourceId, name: &str) -> bool {
        let Some(speaker) = self.speaker else {
            return false;
        };
        let can_read = self.world.can_read(speaker, source);
        if !can_read {
            let message = format!("`{}` holds no tool that reads `{name}`", self.agent.1);
            let help = "give it one in the world, or copy from `message`";
            self.warn(name, message, help.to_owned());
        }
        can_read
    }

    fn copy(&mut self, origin: &Origin, field: &str) {
        if !self.origin(origin, &origin.name) {
            return;
        }
        let known = self.fields(origin);
        if known.as_ref().is_some_and(|known| !known.contains(&field)) {
            let message = format!("`{}` has no field `{field}`", origin.name);
            let help = suggest(field, &known.unwrap_or_default());
            self.warn_after(Some(&origin.name), field, message, help);
        }
    }

    /// Every field that something of this origin can have, if that is known.
    fn fields(&self, origin: &Origin) -> Option<Vec<&'c str>> {
        let world = self.world;
        let of_source = |source: SourceId| {
            let fields = world.contents[source.index()].fields.iter();
            fields.map(|field| &*field.name)
        };
        let fields = match &origin.kind {
            OriginKind::Source => of_source(world.briefing.source_named(&origin.name)?).collect(),
            OriginKind::Goal => vec![ANSWER_FIELD],
            OriginKind::MessageFrom(from) => self.heard(world.agent_named(from)?),
            OriginKind::Message => {
                let agents = (0..world.briefing.agents.len()).map(AgentId::at);
                let injected = world.injected.iter();
                let injected = injected.filter(|(_, to)| Some(*to) == self.speaker);
                agents
                    .flat_map(|from| self.heard(from))
                    .chain(injected.flat_map(|(source, _)| of_source(*source)))
                    .collect()
            }
            OriginKind::Tool(_) => return None,
        };
        Some(fields)
    }

    /// The fields that the script puts into messages from this agent to the speaker.
    fn heard(&self, from: AgentId) -> Vec<&'c str> {
        let Some(speaker) = self.speaker else {
            return Vec::new();
        };
        let to = &self.world.agent(speaker).name;
        let steps = self.script.steps(&self.world.agent(from).name).iter();
        let said = steps.filter_map(|step| match &step.say {
            Say::Delegate(receiver, fields) if receiver == to => Some(&fields.0),
            _ => None,
        });
        let fields = said.flatten().map(|(name, _)| &**name);
        let answers = self.world.answers.contains(&(from, speaker));
        fields.chain(answers.then_some(ANSWER_FIELD)).collect()
    }

    /// Warns of words that are said to come from a goal and have nothing in common with any. They
    /// need not stand there as they are: a goal says `the partner note` and means `note:partner`.
    fn goal_words(&mut self, words: &str) {
        let Some(speaker) = self.speaker else {
            return;
        };
        let goals = self.world.goals_of(speaker).map(|goal| goal.to_lowercase());
        let goals: Vec<String> = goals.collect();
        let lower = words.to_lowercase();
        let mut parts = lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|part| !part.is_empty());
        let is_shared = parts.any(|part| goals.iter().any(|goal| goal.contains(part)));
        if !goals.is_empty() && !is_shared && lower.contains(char::is_alphanumeric) {
            let message = format!("no goal of `{}` says anything of `{words}`", self.agent.1);
            let help = "write `Own` for words that are the agent's own".to_owned();
            self.warn(words, message, help);
        }
    }
}

/// Every part of what is said.
fn parts(say: &Say) -> Vec<&Part> {
    match say {
        Say::Call(_, arguments) => arguments
            .0
            .iter()
            .flat_map(|(_, argument)| match argument {
                Argument::Text(parts) => parts.iter().collect(),
                Argument::List(items) => items.iter().flatten().collect(),
                Argument::Integer(_) | Argument::Boolean(_) => Vec::new(),
            })
            .collect(),
        Say::Delegate(_, fields) => fields.0.iter().flat_map(|(_, parts)| parts).collect(),
        Say::Final(parts) => parts.iter().collect(),
    }
}
