//! A model that says anything: valid calls, hand-offs and answers, in every form that the parser
//! repairs and in some that it does not.

use plugins::draws::Draws;
use plugins::model::{
    Derivation, Input, ModelBackend, ModelFailure, Reply, Segment, SegmentKind, Turn,
};
use plugins::state::SavedState;
use plugins::tool::{ArgumentSpec, Passing, Role, ToolSpec, ValueKind};
use plugins::value::{Text, Value};
use serde_json::{Map, Value as Json, json};

use super::digest::Digest;
use super::{ADDRESSES, FIELDS, KEYS, Random, SOURCES, WORDS};

/// What it says depends only on the turn and on its keyed draws.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomModel;

impl SavedState for RandomModel {}

impl ModelBackend for RandomModel {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        let mut random = Random::new(draws.bits("turn"), digest(&turn));
        if random.below(200) == 0 {
            return Err(ModelFailure("it does not answer".to_owned()));
        }
        let mut speaker = Speaker {
            turn,
            random,
            derivations: Vec::new(),
        };
        reply.text = speaker.say();
        let random = &mut speaker.random;
        reply.latency_ticks = random.below(4);
        reply.tag = random.small(4);
        reply.choice = random
            .chance(60)
            .then(|| (0..random.below(3)).map(|_| input(&turn, random)).collect());
        reply.derivations = speaker.derivations;
        Ok(())
    }
}

fn digest(turn: &Turn<'_>) -> u64 {
    let mut digest = Digest::new();
    digest.debug((turn.agent, turn.episode, turn.tools));
    digest.debug((turn.guidance, turn.schema_mode));
    for segment in turn.context {
        digest.debug((segment.kind, segment.marked));
        digest.content(&segment.content);
    }
    digest.value()
}

/// Something in the context; now and then nothing that is there.
fn input(turn: &Turn<'_>, random: &mut Random) -> Input {
    let segment = if random.chance(4) {
        turn.context.len() + random.size(3)
    } else {
        random.size(turn.context.len().max(1))
    };
    let fields = turn
        .context
        .get(segment)
        .map_or(0, |segment| segment.content.fields.len());
    let field = random.chance(60).then(|| {
        let beyond = usize::from(random.chance(5));
        u16::try_from(random.size(fields.max(1)) + beyond).expect("a few fields")
    });
    Input {
        segment: u32::try_from(segment).expect("a few segments"),
        field,
    }
}

struct Speaker<'a> {
    turn: Turn<'a>,
    random: Random,
    derivations: Vec<Derivation>,
}

impl Speaker<'_> {
    fn say(&mut self) -> String {
        let own = |segment: &&Segment| matches!(segment.kind, SegmentKind::Own { .. });
        let taken = self.turn.context.iter().filter(own).count() as u64;
        let tools = self.turn.tools.len() as u64;
        if let Some(SegmentKind::Denied { tool, .. }) =
            self.turn.context.last().map(|last| last.kind)
            && self.random.chance(40)
        {
            let again = self.habit(&self.turn.briefing.tools[tool.index()]);
            return self.write(&again);
        }
        let action = match self.random.below(100 + 8 * taken) {
            0..3 => return self.noise(),
            3..6 => json!({"action": "tool", "tool": "no_such_tool", "arguments": {}}),
            6..20 => self.delegate(),
            20..82 if tools > 0 => {
                let tool = *self.random.pick(self.turn.tools);
                self.call(&self.turn.briefing.tools[tool.index()])
            }
            82..85 => {
                // A tool of the scenario, known to this agent or not.
                let tool = self.random.pick(&self.turn.briefing.tools);
                self.call(tool)
            }
            _ => self.answer(),
        };
        self.write(&action)
    }

    fn noise(&mut self) -> String {
        let noise = [
            "I would rather not say.",
            "",
            "{\"action\":",
            "{\"action\":\"tool\",\"tool\":\"to",
            "[1,2,3]",
            "{\"action\":\"tool\",\"tool\":7,\"arguments\":[]}",
            "Action: tool_0",
        ];
        (*self.random.pick(&noise)).to_owned()
    }

    /// A text and, usually, where it comes from: copied from the context, or a word of `pool`.
    fn words(&mut self, field: &str, pool: &[&str]) -> Text {
        let copied = self
            .random
            .chance(45)
            .then(|| input(&self.turn, &mut self.random));
        let found = copied.and_then(|input| {
            let segment = self.turn.context.get(input.segment as usize)?;
            let fields = &segment.content.fields;
            fields.get(usize::from(input.field.unwrap_or(0)))
        });
        let (text, inputs) = match found {
            Some(found) => (found.value.clone(), copied.into_iter().collect()),
            None => (self.random.text(pool), Vec::new()),
        };
        self.derive(field, inputs);
        text
    }

    fn derive(&mut self, field: &str, mut inputs: Vec<Input>) {
        for _ in 0..self.random.below(3) {
            if self.random.chance(30) {
                inputs.push(input(&self.turn, &mut self.random));
            }
        }
        if self.random.chance(85) {
            self.derivations.push(Derivation {
                field: field.into(),
                inputs: inputs.into_iter().collect(),
            });
        }
    }

    fn delegate(&mut self) -> Json {
        let agents = &self.turn.briefing.agents;
        let next = (self.turn.agent.index() + 1) % agents.len();
        let to = match self.random.below(10) {
            0 => "nobody".into(),
            1..6 => agents[next].name.clone(),
            _ => self.random.pick(agents).name.clone(),
        };
        let mut content = Map::new();
        let count = self.random.size(3);
        for &name in &FIELDS[..count] {
            let said = self.words(name, WORDS);
            content.insert(name.to_owned(), json!(&*said));
        }
        json!({"action": "delegate", "to": &*to, "content": content})
    }

    fn answer(&mut self) -> Json {
        let text = self.words("text", WORDS);
        json!({"action": "final", "text": &*text})
    }

    /// A call that this tool is often called with, so that it is made more than once.
    fn habit(&mut self, tool: &ToolSpec) -> Json {
        let mut usual = Random::new(tool.arguments.len() as u64, 0);
        let mut arguments = Map::new();
        for argument in &tool.arguments {
            let value = match argument.kind {
                ValueKind::Text => json!(&*usual.text(pool(argument))),
                ValueKind::List => json!([&*usual.text(ADDRESSES)]),
                ValueKind::Integer => json!(usual.below(3)),
                ValueKind::Boolean => json!(true),
            };
            self.derive(&argument.name, Vec::new());
            arguments.insert(argument.name.to_string(), value);
        }
        json!({"action": "tool", "tool": &*tool.name, "arguments": arguments})
    }

    fn call(&mut self, tool: &ToolSpec) -> Json {
        if self.random.chance(25) {
            return self.habit(tool);
        }
        let mut arguments = Map::new();
        for argument in &tool.arguments {
            let leaves_out = if argument.required { 2 } else { 35 };
            if !self.random.chance(leaves_out) {
                let value = self.argument(argument);
                arguments.insert(argument.name.to_string(), value);
            }
        }
        if self.random.chance(2) {
            arguments.insert("unheard_of".to_owned(), json!("x"));
        }
        let mut call = json!({"action": "tool", "tool": &*tool.name, "arguments": arguments});
        let discards = if tool.operation.is_read() { 25 } else { 4 };
        if self.random.chance(discards) {
            call["keep_result"] = json!(false);
        }
        call
    }

    fn argument(&mut self, argument: &ArgumentSpec) -> Json {
        match self.random.value(argument.kind) {
            Value::Text(_) => json!(&*self.words(&argument.name, pool(argument))),
            Value::List(items) => {
                self.derive(&argument.name, Vec::new());
                json!(items.iter().map(|item| &**item).collect::<Vec<_>>())
            }
            Value::Integer(number) => {
                self.derive(&argument.name, Vec::new());
                if self.random.chance(10) {
                    json!(number.to_string())
                } else {
                    json!(number)
                }
            }
            Value::Boolean(truth) => {
                self.derive(&argument.name, Vec::new());
                json!(truth)
            }
        }
    }

    /// Writes an action, canonical or in need of repair.
    fn write(&mut self, action: &Json) -> String {
        let canonical = action.to_string();
        match self.random.below(24) {
            0 => format!("```json\n{canonical}\n```"),
            1 => format!("Let me think about it.\n{canonical}"),
            2 => self.with_aliases(action),
            3 => format!("{},}}", &canonical[..canonical.len() - 1]),
            4 => {
                let half = canonical.len() / 2;
                let cut = (half..canonical.len()).find(|&at| canonical.is_char_boundary(at));
                canonical[..cut.unwrap_or(0)].to_owned()
            }
            5 => canonical.replace('"', "'"),
            _ => canonical,
        }
    }

    fn with_aliases(&mut self, action: &Json) -> String {
        let (Some(tool), arguments) = (action["tool"].as_str(), &action["arguments"]) else {
            return action.to_string();
        };
        let aliased = match self.random.below(5) {
            3 => {
                return action
                    .to_string()
                    .replacen("\"target\":", "\"destination\":", 1);
            }
            0 => json!({"tool_name": tool, "parameters": arguments}),
            1 => json!({"action": tool, "arguments": arguments}),
            2 => json!({"action": "tool", "tool": tool, "arguments": arguments.to_string()}),
            _ => return format!("Action: {tool}\nAction Input: {arguments}"),
        };
        aliased.to_string()
    }
}

/// Words that an argument is likely to mean something by.
fn pool(argument: &ArgumentSpec) -> &'static [&'static str] {
    match (argument.passing, argument.role) {
        (Passing::Reference, _) => &["doc:0", "doc:1", "tool:0", "store_0/k0", "store_1/k1"],
        (_, Role::Document) => SOURCES,
        (_, Role::MemoryKey) => KEYS,
        (_, Role::Recipient) => ADDRESSES,
        _ => WORDS,
    }
}
