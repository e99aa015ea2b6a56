//! What a script file may say. The only types here that are read from text.
//!
//! Mistakes are found while reading, so that each has a line and a column.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use plugins::draws::Chance;
use plugins::model::Guidance as Shown;
use plugins::policy::DenialReason;
use plugins::value::Text;
use serde::Deserialize;

use super::open::{Drive, Inclination};
use crate::emit::{Words, is_plain};
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// A script: what each agent says, in order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename = "Script")]
pub(super) struct File {
    pub(super) agents: Entries<Vec<Step>>,
}

/// A map in file order whose keys are all different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entries<V>(pub(super) Vec<(Literal, V)>);

/// A name or words that the script itself gives.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Text")]
pub(super) struct Literal {
    pub(super) text: Text,
    /// Whether it is written as it is: found out once, since it is written at every turn.
    is_plain: bool,
}

impl Literal {
    /// As an action is written with it.
    pub(super) fn words(&self) -> Words<'_> {
        Words::checked(&self.text, self.is_plain)
    }
}

impl From<Text> for Literal {
    fn from(text: Text) -> Self {
        Self {
            is_plain: is_plain(&text),
            text,
        }
    }
}

impl Deref for Literal {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Collect<V> {
            type Value = Entries<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<V>, A::Error> {
                let mut entries: Vec<(Literal, V)> = Vec::new();
                let mut taken = BTreeSet::new();
                while let Some(name) = map.next_key::<Text>()? {
                    if !taken.insert(name.clone()) {
                        return Err(A::Error::custom(format!("`{name}` is given twice")));
                    }
                    entries.push((name.into(), map.next_value()?));
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Collect(PhantomData))
    }
}

/// One thing that an agent may say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenStep")]
pub(super) struct Step {
    pub(super) name: Text,
    pub(super) say: Say,
    pub(super) when: Vec<Condition>,
    pub(super) denied: Vec<(Reason, Reaction)>,
    pub(super) latency_ticks: u64,
    /// None: as the model writes.
    pub(super) form: Option<Form>,
    pub(super) keep: bool,
    pub(super) choice: Choice,
}

impl Step {
    /// What the agent does once the step was denied for this reason.
    pub(super) fn reaction(&self, reason: DenialReason) -> Reaction {
        let fits = |(covered, _): &&(Reason, Reaction)| covered.covers(reason);
        let reaction = self.denied.iter().find(fits);
        reaction.map(|(_, reaction)| *reaction).unwrap_or_default()
    }

    /// Whether a behaviour profile decides something of it.
    pub(super) fn is_open(&self) -> bool {
        let persists =
            |(_, reaction): &(Reason, Reaction)| matches!(reaction, Reaction::Persist(_));
        self.when.iter().any(Condition::is_open) || self.denied.iter().any(persists)
    }
}

/// A step as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Step")]
struct WrittenStep {
    say: Say,
    name: Option<Text>,
    #[serde(default)]
    when: Vec<Condition>,
    #[serde(default)]
    denied: Vec<(Reason, Reaction)>,
    latency: Option<u64>,
    form: Option<Form>,
    keep: Option<bool>,
    #[serde(default)]
    choice: Choice,
}

impl TryFrom<WrittenStep> for Step {
    type Error = &'static str;

    fn try_from(step: WrittenStep) -> Result<Self, Self::Error> {
        let has_chance = step.when.iter().any(Condition::has_chance);
        if has_chance && step.name.is_none() {
            return Err("a step with a chance needs a `name`: its draw is known by it");
        }
        if step.keep.is_some() && !matches!(step.say, Say::Call(..)) {
            return Err("only a call has a result to `keep`");
        }
        Ok(Self {
            name: step.name.unwrap_or_default(),
            say: step.say,
            when: step.when,
            denied: step.denied,
            latency_ticks: step.latency.unwrap_or(1),
            form: step.form,
            keep: step.keep.unwrap_or(true),
            choice: step.choice,
        })
    }
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "action")]
pub(super) enum Say {
    /// A call: the tool and its arguments.
    Call(Literal, Entries<Argument>),
    /// A hand-off: the receiver and what is said.
    Delegate(Literal, Entries<Vec<Part>>),
    /// The final answer.
    Final(Vec<Part>),
}

/// A piece of a text, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "part of a text")]
pub(super) enum Part {
    /// These words, taken from the goal.
    Goal(Literal),
    /// These words, the agent's own.
    Own(Literal),
    /// A field of something that the agent has seen.
    Copy(Origin, Text),
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<WrittenPart>")]
pub(super) enum Argument {
    Text(Vec<Part>),
    List(Vec<Vec<Part>>),
    Integer(i64),
    Boolean(bool),
}

impl Argument {
    /// How many parts its texts have together.
    pub(super) fn part_count(&self) -> usize {
        match self {
            Self::Text(parts) => parts.len(),
            Self::List(items) => items.iter().map(Vec::len).sum(),
            Self::Integer(_) | Self::Boolean(_) => 0,
        }
    }
}

/// What may stand between the brackets of an argument: parts of a text, or one value of another
/// type alone.
#[derive(Deserialize)]
#[serde(rename = "part of an argument")]
enum WrittenPart {
    Goal(Literal),
    Own(Literal),
    Copy(Origin, Text),
    List(Vec<Vec<Part>>),
    Integer(i64),
    Boolean(bool),
}

impl TryFrom<Vec<WrittenPart>> for Argument {
    type Error = &'static str;

    fn try_from(mut written: Vec<WrittenPart>) -> Result<Self, Self::Error> {
        match written.as_slice() {
            [WrittenPart::Integer(number)] => return Ok(Self::Integer(*number)),
            [WrittenPart::Boolean(truth)] => return Ok(Self::Boolean(*truth)),
            _ => {}
        }
        if let [WrittenPart::List(items)] = written.as_mut_slice() {
            return Ok(Self::List(std::mem::take(items)));
        }
        let parts = written.into_iter().map(|part| match part {
            WrittenPart::Goal(words) => Ok(Part::Goal(words)),
            WrittenPart::Own(words) => Ok(Part::Own(words)),
            WrittenPart::Copy(origin, field) => Ok(Part::Copy(origin, field)),
            WrittenPart::List(_) | WrittenPart::Integer(_) | WrittenPart::Boolean(_) => {
                Err("a list, a number or a truth value stands alone between its brackets")
            }
        });
        parts.collect::<Result<_, _>>().map(Self::Text)
    }
}

/// Something in the agent's context, by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Text")]
pub(super) struct Origin {
    /// As written: the name of a source, or `store/key` for a record from before the rollout.
    pub(super) name: Text,
    /// What else it may mean.
    pub(super) kind: OriginKind,
}

/// What the beginning of an origin's name may mean besides the name of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OriginKind {
    /// Nothing.
    Source,
    /// `goal`: the goal of the episode.
    Goal,
    /// `message`: any message.
    Message,
    /// `message:NAME`: a message from that agent.
    MessageFrom(Text),
    /// `tool:NAME`: what that tool returned.
    Tool(Text),
}

impl From<Text> for Origin {
    fn from(name: Text) -> Self {
        let kind = match (&*name, name.split_once(':')) {
            ("goal", _) => OriginKind::Goal,
            ("message", _) => OriginKind::Message,
            (_, Some(("message", agent))) => OriginKind::MessageFrom(agent.into()),
            (_, Some(("tool", tool))) => OriginKind::Tool(tool.into()),
            _ => OriginKind::Source,
        };
        Self { name, kind }
    }
}

/// What must hold for a step to be said.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "condition")]
pub(super) enum Condition {
    /// The context holds this.
    Seen(Origin),
    /// It does not.
    NotSeen(Origin),
    /// A call of this tool was denied.
    Denied(Text),
    /// A call of this tool committed, or read nothing.
    Committed(Text),
    /// A message came from this agent.
    MessageFrom(Text),
    /// The episode, from 0.
    Episode(u32),
    /// With this chance, drawn once per rollout, agent and step name.
    Chance(Probability),
    /// The policy shows this guidance.
    Guidance(Shown),
    /// The behaviour profile says that the model is so inclined.
    Inclined(Inclination),
    /// The opposite of another condition.
    Not(Box<Self>),
}

impl Condition {
    fn has_chance(&self) -> bool {
        match self {
            Self::Chance(_) => true,
            Self::Not(inner) => inner.has_chance(),
            _ => false,
        }
    }

    fn is_open(&self) -> bool {
        match self {
            Self::Inclined(_) => true,
            Self::Not(inner) => inner.is_open(),
            _ => false,
        }
    }
}

/// A decimal between 0 and 1, in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Probability(pub(super) Chance);

impl TryFrom<String> for Probability {
    type Error = plugins::draws::ChanceError;

    fn try_from(decimal: String) -> Result<Self, Self::Error> {
        decimal.parse().map(Self)
    }
}

/// Why a call was denied, as a script names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "reason")]
pub(super) enum Reason {
    Any,
    TargetNotAuthorized,
    OutsideUserGoal,
    TaintedPrivilegeJump,
    ConfirmationRequired,
    CheckpointHold,
    MemoryQuarantined,
    PluginFault,
}

impl Reason {
    pub(super) fn covers(self, reason: DenialReason) -> bool {
        self == Self::Any || self == Self::from(reason)
    }
}

impl From<DenialReason> for Reason {
    fn from(reason: DenialReason) -> Self {
        match reason {
            DenialReason::TargetNotAuthorized => Self::TargetNotAuthorized,
            DenialReason::OutsideUserGoal => Self::OutsideUserGoal,
            DenialReason::TaintedPrivilegeJump => Self::TaintedPrivilegeJump,
            DenialReason::ConfirmationRequired => Self::ConfirmationRequired,
            DenialReason::CheckpointHold => Self::CheckpointHold,
            DenialReason::MemoryQuarantined => Self::MemoryQuarantined,
            DenialReason::PluginFault => Self::PluginFault,
        }
    }
}

/// What an agent does once a call was denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "reaction")]
pub(super) enum Reaction {
    /// Goes on with the next step.
    #[default]
    Next,
    /// Says it again, up to so many more times, then goes on.
    Repeat(u32),
    /// Goes on with the last step.
    Stop,
    /// Says it again as long as the behaviour profile says, then goes on with the last step.
    Persist(Drive),
}

/// What influenced the choice of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "choice")]
pub(super) enum Choice {
    /// All of the context.
    #[default]
    FromContext,
    /// The goal.
    FromGoal,
    /// Of these what the context holds.
    From(Vec<Origin>),
}

/// In which form a step is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "form")]
pub(super) enum Form {
    #[default]
    Strict,
    Fenced,
    Prefixed,
    ActionTypeAsTool,
    Aliases,
    FencedAliases,
    ToolBench,
    SingleQuotes,
    TrailingComma,
    UnquotedKeys,
    MissingCloser,
    TruncatedInToolName,
    /// This text instead.
    Prose(Text),
}
