//! What a model is shown, as a recording keeps it, and how two of them differ.

use std::fmt::Debug;

use plugins::briefing::Briefing;
use plugins::model::{Guidance, OwnTurn, SchemaMode, Segment, SegmentKind, Turn};
use plugins::value::Text;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// Hexadecimal digits of the hash of a context.
pub(super) const HASH_DIGITS: usize = 32;

/// Everything that a model sees, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that says what was shown to the model"
)]
pub(super) struct Shown {
    /// The hash of the segments, in hexadecimal digits.
    pub(super) context: String,
    /// How many segments there are.
    segments: u32,
    guidance: Guidance,
    schema_mode: SchemaMode,
    /// The tools that may be called, by name.
    tools: Vec<String>,
}

impl Shown {
    pub(super) fn of(turn: Turn<'_>) -> Self {
        let tools = turn.tools.iter();
        Self {
            context: context_hash(turn),
            segments: u32::try_from(turn.context.len()).unwrap_or(u32::MAX),
            guidance: turn.guidance,
            schema_mode: turn.schema_mode,
            tools: tools
                .map(|tool| name(&turn.briefing.tools, tool.index(), |tool| &tool.name).to_owned())
                .collect(),
        }
    }

    /// What is another now than it was when it was `recorded`; nothing if all is the same.
    pub(super) fn differences_from(&self, recorded: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        if self.segments != recorded.segments {
            differences.push(format!(
                "it is shown {} segments, recorded were {}",
                self.segments, recorded.segments
            ));
        } else if self.context != recorded.context {
            differences.push(format!(
                "it is shown {} segments as recorded, but not the same ones",
                self.segments
            ));
        }
        differences.extend(difference("the guidance", self.guidance, recorded.guidance));
        let modes = [self.schema_mode, recorded.schema_mode];
        differences.extend(difference("the schema mode", modes[0], modes[1]));
        if self.tools != recorded.tools {
            differences.push(format!(
                "its tools are {}, recorded were {}",
                listed(&self.tools),
                listed(&recorded.tools)
            ));
        }
        differences
    }
}

/// In the words in which a recording has it.
fn difference<T: PartialEq + Debug>(what: &str, now: T, recorded: T) -> Option<String> {
    (now != recorded).then(|| format!("{what} is `{now:?}`, recorded was `{recorded:?}`"))
}

/// Names between backticks.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// The hash of the segments of a context. Names stand in it for numbers, so that it does not depend
/// on how a world counts its tools and agents. A tag is no part of it: no model reads one.
fn context_hash(turn: Turn<'_>) -> String {
    let mut hasher = Framed(Xxh3::new());
    for segment in turn.context {
        hash_segment(&mut hasher, turn.briefing, segment);
    }
    format!("{:032x}", hasher.0.digest128())
}

fn hash_segment(hasher: &mut Framed, briefing: &Briefing, segment: &Segment) {
    let agent = |at: usize| name(&briefing.agents, at, |agent| &agent.name);
    let tool = |at: usize| name(&briefing.tools, at, |tool| &tool.name);
    let source = |at: usize| name(&briefing.sources, at, |source| &source.name);
    match segment.kind {
        SegmentKind::Goal => hasher.words(["goal"]),
        SegmentKind::Message { from: Some(from) } => {
            hasher.words(["message from", agent(from.index())]);
        }
        SegmentKind::Message { from: None } => hasher.words(["message"]),
        SegmentKind::Own { turn, .. } => match turn {
            OwnTurn::Call(called) => hasher.words(["own call", tool(called.index())]),
            OwnTurn::Delegate(to) => hasher.words(["own hand-off", agent(to.index())]),
            OwnTurn::Final => hasher.words(["own answer"]),
            OwnTurn::Invalid => hasher.words(["own invalid"]),
        },
        SegmentKind::Observation {
            tool: read,
            source: from,
        } => {
            let from = from.map_or("", |from| source(from.index()));
            hasher.words(["observation", tool(read.index()), from]);
        }
        SegmentKind::Acknowledged { tool: called } => {
            hasher.words(["acknowledged", tool(called.index())]);
        }
        SegmentKind::Denied {
            tool: called,
            reason,
        } => hasher.words(["denied", tool(called.index()), &format!("{reason:?}")]),
        SegmentKind::Rejected => hasher.words(["rejected"]),
    }
    hasher.words([if segment.marked { "marked" } else { "plain" }]);
    hasher.number(segment.content.fields.len());
    for field in &segment.content.fields {
        hasher.words([&*field.name, &*field.value]);
    }
}

/// The name of what stands at this place in a list of the briefing.
fn name<T>(list: &[T], at: usize, of: impl Fn(&T) -> &Text) -> &str {
    list.get(at).map_or("?", |found| of(found))
}

/// A hash of parts with their lengths, so that no part runs into the next.
struct Framed(Xxh3);

impl Framed {
    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn words<const N: usize>(&mut self, words: [&str; N]) {
        self.number(N);
        for word in words {
            self.number(word.len());
            self.0.update(word.as_bytes());
        }
    }
}
