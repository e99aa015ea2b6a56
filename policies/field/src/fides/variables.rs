//! Variables: names that stand for hidden values.

use plugins::value::{Text, Value};
use serde::{Deserialize, Serialize};

use super::engine::Label;

/// A hidden value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Variable {
    text: Text,
    label: Label,
}

/// The hidden values of a rollout, by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Variables(Vec<Variable>);

impl Variables {
    /// Hides a value; what to show instead.
    pub(super) fn hide(&mut self, text: Text, label: Label) -> Text {
        let name = format!("[var_{}]", self.0.len());
        self.0.push(Variable { text, label });
        name.into()
    }

    /// The label of everything hidden; none if nothing is.
    pub(super) fn all(&self) -> Option<Label> {
        let labels = self.0.iter().map(|variable| variable.label.clone());
        labels.reduce(|sum, label| sum.join(&label))
    }

    /// The label of all that a value names; none if it names no variable.
    pub(super) fn named(&self, value: &Value) -> Option<Label> {
        let names = value.strings().flat_map(|text| self.names(text));
        let labels = names.map(|(_, _, variable)| variable.label.clone());
        labels.reduce(|sum, label| sum.join(&label))
    }

    /// The value with what its variables stand for; none if it names none.
    pub(super) fn expanded(&self, value: &Value) -> Option<Value> {
        self.named(value)?;
        match value {
            Value::Text(text) => Some(Value::Text(self.expand(text))),
            Value::List(items) => {
                let items = items.iter().map(|item| self.expand(item));
                Some(Value::List(items.collect()))
            }
            Value::Integer(_) | Value::Boolean(_) => None,
        }
    }

    fn expand(&self, text: &str) -> Text {
        let mut expanded = String::new();
        let mut rest = 0;
        for (start, end, variable) in self.names(text) {
            expanded.push_str(&text[rest..start]);
            expanded.push_str(&variable.text);
            rest = end;
        }
        expanded.push_str(&text[rest..]);
        expanded.into()
    }

    /// Where names of variables stand in a text: start, end and which.
    fn names<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, usize, &'a Variable)> {
        const OPENING: &str = "[var_";
        text.match_indices(OPENING).filter_map(|(start, _)| {
            let digits = start + OPENING.len();
            let length = text[digits..].find(']')?;
            let number: usize = text[digits..digits + length].parse().ok()?;
            Some((start, digits + length + 1, self.0.get(number)?))
        })
    }
}
