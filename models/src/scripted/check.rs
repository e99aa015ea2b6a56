//! Whether a script fits a world.

use std::collections::{BTreeMap, BTreeSet};

use plugins::briefing::Channel;
use plugins::ids::{AgentId, SourceId, ToolId};
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

/// How many findings of one severity are told; what comes after them is not compared.
const MOST_FINDINGS: usize = 50;

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
    /// After 50 findings of one severity, a last one says where the comparison stopped.
    #[must_use]
    pub fn check(&self, text: &str, world: &World<'_>) -> Vec<Finding> {
        let mut findings = Findings {
            places: Places::of(text),
            found: Vec::new(),
            is_cut: false,
        };
        let agents = world.agent_ids();
        let said = Said::of(self, world, &agents);
        for (agent, (name, steps)) in self.agents.iter().enumerate() {
            let speaker = agents.get(&**name).copied();
            if speaker.is_none() {
                if findings.is_full(Severity::Error) {
                    findings.stop(agent, None, name);
                    break;
                }
                findings.agent(agent, name, suggest(name, &world.agent_names()));
            }
            let goals = speaker.into_iter().flat_map(|agent| world.goals_of(agent));
            let goals: Vec<String> = goals.map(|goal| goal.to_lowercase()).collect();
            let mut called = BTreeSet::new();
            for (position, step) in steps.iter().enumerate() {
                if findings.is_full(Severity::Warning) {
                    findings.stop(agent, Some(position), name);
                    return findings.found;
                }
                let mut check = Check {
                    said: &said,
                    goals: &goals,
                    world,
                    speaker,
                    agent: (agent, name),
                    step: position,
                    called: &called,
                    findings: &mut findings,
                };
                check.step(step);
                if let Say::Call(tool, _) = &step.say {
                    called.extend(world.briefing.tool_named(tool));
                }
                if findings.is_cut {
                    findings.stop(agent, Some(position), name);
                    return findings.found;
                }
            }
        }
        findings.found
    }
}

/// The fields that a script puts into messages: by receiver, then by sender.
struct Said<'s>(BTreeMap<AgentId, BTreeMap<AgentId, BTreeSet<&'s str>>>);

impl<'s> Said<'s> {
    fn of(script: &'s Script, world: &World<'_>, agents: &BTreeMap<&str, AgentId>) -> Self {
        let mut said: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
        for (name, steps) in &script.agents {
            let Some(&from) = agents.get(&**name) else {
                continue;
            };
            for step in steps {
                let Say::Delegate(to, fields) = &step.say else {
                    continue;
                };
                if let Some(&to) = agents.get(&**to) {
                    let heard = said.entry(to).or_default().entry(from).or_default();
                    heard.extend(fields.0.iter().map(|(name, _)| &**name));
                }
            }
        }
        for &(from, to) in &world.answers {
            let heard = said.entry(to).or_default().entry(from).or_default();
            heard.insert(ANSWER_FIELD);
        }
        Self(said)
    }

    /// The fields of messages to this agent, from one sender or from anybody.
    fn to(&self, to: AgentId, from: Option<AgentId>) -> impl Iterator<Item = &'s str> {
        let senders = self.0.get(&to).into_iter().flatten();
        let heard = senders.filter(move |(sender, _)| from.is_none_or(|from| from == **sender));
        heard.flat_map(|(_, fields)| fields.iter().copied())
    }

    /// Whether such a message has this field.
    fn has(&self, to: AgentId, from: Option<AgentId>, field: &str) -> bool {
        let senders = self.0.get(&to).into_iter().flatten();
        let mut heard = senders.filter(|(sender, _)| from.is_none_or(|from| from == **sender));
        heard.any(|(_, fields)| fields.contains(field))
    }
}

/// What was found so far.
struct Findings<'t> {
    places: Places<'t>,
    found: Vec<Finding>,
    /// Whether part of a step was not compared, because there were enough findings.
    is_cut: bool,
}

impl Findings<'_> {
    /// Whether there are enough of this severity.
    fn is_full(&self, severity: Severity) -> bool {
        let alike = self.found.iter().filter(|found| found.severity == severity);
        alike.count() >= MOST_FINDINGS
    }

    /// Says that the script is not compared from here on.
    fn stop(&mut self, agent: usize, step: Option<usize>, name: &str) {
        let (line, column) = self.places.find(Place {
            agent,
            step,
            word: name,
            after: None,
        });
        let place = match step {
            None => format!("agent `{name}`"),
            Some(step) => format!("agent `{name}`, step {}", step + 1),
        };
        self.found.push(Finding {
            severity: Severity::Warning,
            line,
            column,
            place,
            message: "from here on nothing was compared with the world".to_owned(),
            help: format!("mend the {MOST_FINDINGS} mistakes above first"),
        });
    }

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
    said: &'c Said<'c>,
    /// What the goals of the speaker say, in lower case.
    goals: &'c [String],
    world: &'c World<'w>,
    /// The agent whose step it is, if the world has it.
    speaker: Option<AgentId>,
    /// Its position in the script, and its name.
    agent: (usize, &'c str),
    /// From 0.
    step: usize,
    /// The tools that earlier steps of the agent call.
    called: &'c BTreeSet<ToolId>,
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

    /// Whether to compare one more thing of the step.
    fn goes_on(&mut self) -> bool {
        self.findings.is_cut |= self.findings.is_full(Severity::Warning);
        !self.findings.is_cut
    }

    fn step(&mut self, step: &'c Step) {
        // What is not said in the end is not held against the world.
        let is_said = !matches!(step.form, Some(Form::Prose(_)));
        match &step.say {
            Say::Call(tool, arguments) if is_said => {
                self.call(tool, arguments);
            }
            Say::Delegate(to, _) if is_said => self.receiver(to),
            Say::Call(..) | Say::Delegate(..) | Say::Final(_) => {}
        }
        for condition in &step.when {
            if !self.goes_on() {
                return;
            }
            self.condition(condition);
        }
        for part in parts(&step.say) {
            if !self.goes_on() {
                return;
            }
            match part {
                Part::Copy(origin, field) => self.copy(origin, field),
                Part::Goal(words) => self.goal_words(words),
                Part::Own(_) => {}
            }
        }
        if let Choice::From(origins) = &step.choice {
            for origin in origins {
                if !self.goes_on() {
                    return;
                }
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
            if !self.goes_on() {
                return;
            }
            let argument = &argument.text;
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
        let names = arguments.0.iter().map(|(name, _)| name);
        let given: BTreeSet<u16> = names
            .filter_map(|name| find_argument(tool, name).map(|(position, _)| position))
            .collect();
        for (position, argument) in (0..).zip(&tool.arguments) {
            if !self.goes_on() {
                return;
            }
            if argument.required && !given.contains(&position) {
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
            Condition::Episode(_)
            | Condition::Chance(_)
            | Condition::Guidance(_)
            | Condition::Inclined(_) => {}
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
        if !self.may_have(origin, field) {
            let message = format!("`{}` has no field `{field}`", origin.name);
            let help = suggest(field, &self.fields(origin).unwrap_or_default());
            self.warn_after(Some(&origin.name), field, message, help);
        } else if !self.may_be_read_before(origin) {
            let (agent, name) = (self.agent.1, &*origin.name);
            let message = format!("no step of `{agent}` before this one reads `{name}`");
            let help =
                "put the call that reads it first: a step that copies the unseen is passed over";
            self.warn(name, message, help.to_owned());
        }
    }

    /// Whether an earlier step can have brought it into the context, as far as only calls do.
    fn may_be_read_before(&self, origin: &Origin) -> bool {
        let world = self.world;
        let mut called = self.called.iter().map(|&tool| world.tool(tool));
        match &origin.kind {
            OriginKind::Source => {
                let source = world.briefing.source_named(&origin.name);
                source.is_none_or(|source| called.any(|tool| world.may_return(tool, source)))
            }
            OriginKind::Tool(name) => called.any(|tool| *tool.name == **name),
            OriginKind::Message | OriginKind::MessageFrom(_) | OriginKind::Goal => true,
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
            OriginKind::MessageFrom(from) => {
                let from = world.agent_named(from)?;
                self.said.to(self.speaker?, Some(from)).collect()
            }
            OriginKind::Message => {
                let injected = world.injected.iter();
                let injected = injected.filter(|(_, to)| Some(*to) == self.speaker);
                let said = self.said.to(self.speaker?, None);
                said.chain(injected.flat_map(|(source, _)| of_source(*source)))
                    .collect()
            }
            OriginKind::Tool(_) => return None,
        };
        Some(fields)
    }

    /// Whether something of this origin can have the field, as far as that is known.
    fn may_have(&self, origin: &Origin, field: &str) -> bool {
        let from = match &origin.kind {
            OriginKind::MessageFrom(from) => self.world.agent_named(from),
            _ => None,
        };
        if let Some(speaker) = self.speaker
            && matches!(
                origin.kind,
                OriginKind::Message | OriginKind::MessageFrom(_)
            )
            && self.said.has(speaker, from, field)
        {
            return true;
        }
        let known = self.fields(origin);
        known.is_none_or(|known| known.contains(&field))
    }

    /// Warns of words that are said to come from a goal and have nothing in common with any. They
    /// need not stand there as they are: a goal says `the partner note` and means `note:partner`.
    fn goal_words(&mut self, words: &str) {
        let goals = self.goals;
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
