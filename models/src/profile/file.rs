//! What a profile file may say. The only types here that are read from text.
//!
//! Apart from `model` and `note`, which no decision reads, nothing in here is a text: a rule can name
//! no policy, no scenario and no tool.

use std::fmt;
use std::str::FromStr;

use plugins::draws::{Chance, ChanceError};
use plugins::model::{Guidance, SchemaMode};
use plugins::policy::DenialReason;
use plugins::tool::{RiskClass, Role};
use serde::Deserialize as Read;
use serde::de::{Deserialize, Deserializer, Visitor};

use crate::emit::{Keys, Syntax, Wrapping};

/// What is read of a profile of any version.
#[derive(Clone, Copy, Debug, Read)]
#[serde(rename = "Profile")]
pub(super) struct Version {
    pub(super) schema: u32,
}

/// A profile as written.
#[derive(Clone, Debug, Read)]
#[serde(deny_unknown_fields, rename = "Profile")]
pub(super) struct File {
    #[serde(rename = "schema")]
    pub(super) _schema: u32,
    pub(super) model: String,
    /// What the numbers are and where they come from.
    #[serde(default, rename = "note")]
    pub(super) _note: String,
    #[serde(default)]
    pub(super) inclinations: Inclinations,
    #[serde(default)]
    pub(super) persistence: Persistence,
    #[serde(default)]
    pub(super) broken_off: Vec<BrokenOff>,
    #[serde(default)]
    pub(super) forms: Vec<Share>,
}

/// The rules of every inclination; the first that fits counts, and without one there is none.
#[derive(Clone, Debug, Default, Read)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Inclinations {
    pub(super) follow_injection: Vec<Inclined>,
    pub(super) avoid_recipient: Vec<Inclined>,
    pub(super) check_itself: Vec<Inclined>,
    pub(super) take_arguments_from_content: Vec<Inclined>,
    pub(super) take_arguments_from_goal: Vec<Inclined>,
    pub(super) decline_task: Vec<Inclined>,
    pub(super) fill_gap: Vec<Inclined>,
    pub(super) slip_on_task: Vec<Inclined>,
}

/// How likely the model is so inclined.
#[derive(Clone, Debug, Read)]
#[serde(deny_unknown_fields, rename = "Rule")]
pub(super) struct Inclined {
    #[serde(default)]
    pub(super) when: Vec<Feature>,
    #[serde(default)]
    pub(super) share: Option<Probability>,
    pub(super) chance: Probability,
    /// How far the chance of one rollout seed may be from that of another.
    #[serde(default)]
    pub(super) seed_spread: Option<Probability>,
}

/// The rules by which a denied call is said again; without one that fits, it is not.
#[derive(Clone, Debug, Default, Read)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Persistence {
    pub(super) injected: Vec<Persists>,
    pub(super) requested: Vec<Persists>,
}

/// How likely a denied call is said once more, each time anew.
#[derive(Clone, Debug, Read)]
#[serde(deny_unknown_fields, rename = "Rule")]
pub(super) struct Persists {
    #[serde(default)]
    pub(super) when: Vec<Feature>,
    #[serde(default)]
    pub(super) share: Option<Probability>,
    pub(super) again: Probability,
    /// The most times that it is said again.
    pub(super) most: u32,
    #[serde(default)]
    pub(super) broken_off: Option<Probability>,
}

/// How likely a completion breaks off in the middle of its action.
#[derive(Clone, Debug, Read)]
#[serde(deny_unknown_fields, rename = "Rule")]
pub(super) struct BrokenOff {
    #[serde(default)]
    pub(super) when: Vec<Feature>,
    pub(super) chance: Probability,
}

/// A form of writing, and the share of completions written in it.
#[derive(Clone, Debug, Read)]
#[serde(deny_unknown_fields, rename = "Form")]
pub(super) struct Share {
    #[serde(default)]
    pub(super) wrapping: Wrapping,
    #[serde(default)]
    pub(super) keys: Keys,
    #[serde(default)]
    pub(super) syntax: Syntax,
    pub(super) share: Probability,
}

/// What a rule may ask of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[serde(rename = "feature")]
pub(super) enum Feature {
    /// The prompt shows this guidance.
    Guidance(Guidance),
    /// The prompt shows any guidance.
    AnyGuidance,
    /// The action schema is shown so.
    Schema(SchemaMode),
    /// The call was denied for this reason.
    Reason(DenialReason),
    /// The call has an argument of this role.
    Argument(Role),
    /// The call is of this risk class.
    Risk(RiskClass),
    /// Something in the context came out of memory.
    Memory,
    /// A call of the agent that has an effect has committed.
    Committed,
}

/// A decimal between 0 and 1, in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probability(pub(super) Chance);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Decimal;

        impl Visitor<'_> for Decimal {
            type Value = Chance;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal between 0 and 1 in quotes, for example \"0.25\"")
            }

            fn visit_str<E: serde::de::Error>(self, decimal: &str) -> Result<Chance, E> {
                Chance::from_str(decimal).map_err(|error: ChanceError| E::custom(error))
            }
        }

        // Whatever it is, so that a number without quotes is told what it lacks.
        deserializer.deserialize_any(Decimal).map(Self)
    }
}
