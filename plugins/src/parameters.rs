//! Typed parameters of plugins, with documentation and defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::draws::Chance;

/// The type and default of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A truth value.
    Boolean(bool),
    /// A whole number within bounds, both included.
    Integer {
        /// The default.
        default: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A probability.
    Probability(Chance),
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// Free text; the default.
    Text(&'static str),
}

/// One parameter that a plugin declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence, with units.
    pub doc: &'static str,
    /// Its type and default.
    pub kind: ParameterKind,
}

/// A value given for a parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ParameterValue {
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A probability.
    Probability(Chance),
    /// A word or text.
    Text(String),
}

impl std::fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Probability(chance) => write!(
                f,
                "{}.{:06}",
                chance.millionths() / 1_000_000,
                chance.millionths() % 1_000_000
            ),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// A parameter was given wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// No such parameter.
    #[error("`{plugin}` has no parameter `{name}`; {known}")]
    Unknown {
        /// The plugin.
        plugin: String,
        /// The parameter given.
        name: String,
        /// Those it has, in words.
        known: String,
    },
    /// A value of the wrong type or out of bounds.
    #[error("parameter `{name}` of `{plugin}` must be {expected}, got `{found}`")]
    Value {
        /// The plugin.
        plugin: String,
        /// The parameter.
        name: String,
        /// What it accepts.
        expected: String,
        /// What was given.
        found: String,
    },
}

/// Checked parameters: every declared one has a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Parameters(BTreeMap<String, ParameterValue>);

impl Parameters {
    /// Checks texts given by a user against what `plugin` declares and fills in the defaults.
    ///
    /// # Errors
    /// When a name is unknown or a value does not fit.
    pub fn resolve(
        plugin: &str,
        specs: &[ParameterSpec],
        given: &BTreeMap<String, String>,
    ) -> Result<Self, ParameterError> {
        if let Some(name) = given
            .keys()
            .find(|name| !specs.iter().any(|spec| spec.name == **name))
        {
            let known: Vec<_> = specs.iter().map(|spec| spec.name).collect();
            let known = if known.is_empty() {
                "it takes none".to_owned()
            } else {
                format!("it has: {}", known.join(", "))
            };
            return Err(ParameterError::Unknown {
                plugin: plugin.to_owned(),
                name: name.clone(),
                known,
            });
        }
        let mut values = BTreeMap::new();
        for spec in specs {
            let value = match given.get(spec.name) {
                None => spec.kind.default_value(),
                Some(text) => spec.kind.parse(text).ok_or_else(|| ParameterError::Value {
                    plugin: plugin.to_owned(),
                    name: spec.name.to_owned(),
                    expected: spec.kind.expectation(),
                    found: text.clone(),
                })?,
            };
            values.insert(spec.name.to_owned(), value);
        }
        Ok(Self(values))
    }

    /// Every parameter with its value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of `name`.
    ///
    /// # Panics
    /// When the plugin did not declare `name`: a fault of the plugin, found by its conformance test.
    #[must_use]
    pub fn get(&self, name: &str) -> &ParameterValue {
        self.0
            .get(name)
            .expect("a plugin reads only parameters that it declares")
    }

    /// The truth value of `name`; false for another type.
    #[must_use]
    pub fn boolean(&self, name: &str) -> bool {
        matches!(self.get(name), ParameterValue::Boolean(true))
    }

    /// The whole number `name`; 0 for another type.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        if let ParameterValue::Integer(value) = self.get(name) {
            *value
        } else {
            0
        }
    }

    /// The probability `name`; never for another type.
    #[must_use]
    pub fn chance(&self, name: &str) -> Chance {
        if let ParameterValue::Probability(chance) = self.get(name) {
            *chance
        } else {
            Chance::NEVER
        }
    }

    /// The word or text `name`; empty for another type.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        if let ParameterValue::Text(text) = self.get(name) {
            text
        } else {
            ""
        }
    }
}

impl ParameterKind {
    /// The default as a value.
    #[must_use]
    pub fn default_value(&self) -> ParameterValue {
        match self {
            Self::Boolean(default) => ParameterValue::Boolean(*default),
            Self::Integer { default, .. } => ParameterValue::Integer(*default),
            Self::Probability(default) => ParameterValue::Probability(*default),
            Self::Choice(words) => {
                ParameterValue::Text(words.first().copied().unwrap_or_default().to_owned())
            }
            Self::Text(default) => ParameterValue::Text((*default).to_owned()),
        }
    }

    /// What a user may write, in words.
    #[must_use]
    pub fn expectation(&self) -> String {
        match self {
            Self::Boolean(_) => "true or false".to_owned(),
            Self::Integer { min, max, .. } => format!("a whole number from {min} to {max}"),
            Self::Probability(_) => "a decimal from 0 to 1 with at most six digits".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Text(_) => "text".to_owned(),
        }
    }

    fn parse(&self, text: &str) -> Option<ParameterValue> {
        match self {
            Self::Boolean(_) => text.parse().ok().map(ParameterValue::Boolean),
            Self::Integer { min, max, .. } => text
                .parse()
                .ok()
                .filter(|value| (min..=max).contains(&value))
                .map(ParameterValue::Integer),
            Self::Probability(_) => text.parse().ok().map(ParameterValue::Probability),
            Self::Choice(words) => words
                .contains(&text)
                .then(|| ParameterValue::Text(text.to_owned())),
            Self::Text(_) => Some(ParameterValue::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
