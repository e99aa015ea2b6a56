//! Argument values and labelled content.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Shared immutable text.
pub type Text = Arc<str>;

/// The value of one tool argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Value {
    /// A string.
    Text(Text),
    /// Several strings, for example recipients.
    List(Vec<Text>),
    /// A whole number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
}

impl Value {
    /// A text value.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// The strings inside: one for a text, each element of a list, none for other kinds.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        let slice = match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(items) => items.as_slice(),
            Self::Integer(_) | Self::Boolean(_) => &[],
        };
        slice.iter().map(AsRef::as_ref)
    }

    /// The text of a text value.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    /// Canonical text: a list is joined by `, `.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::List(items) => f.write_str(&items.join(", ")),
            Self::Integer(number) => number.fmt(f),
            Self::Boolean(truth) => truth.fmt(f),
        }
    }
}

/// One named piece of content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The name by which a model can copy the field.
    pub name: Text,
    /// What it says.
    pub value: Text,
}

/// What a document, a message, a memory record or a tool result says, as named fields in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Content {
    /// The fields.
    pub fields: Vec<Field>,
}

impl Content {
    /// Content of a single field.
    #[must_use]
    pub fn single(name: &str, value: &str) -> Self {
        Self {
            fields: vec![Field {
                name: name.into(),
                value: value.into(),
            }],
        }
    }

    /// The position and value of the field called `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<(usize, &Text)> {
        self.fields
            .iter()
            .enumerate()
            .find(|(_, field)| &*field.name == name)
            .map(|(i, field)| (i, &field.value))
    }
}
