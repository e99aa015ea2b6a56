//! Values whose form serde does not derive: maps that keep their order, and literals.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A map in the order in which it is written. A repeated key is kept here and refused by
/// [`crate::check`], which can point at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs<V>(pub Vec<(String, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<V> {
    type Value = Pairs<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map `{\"name\": ...}`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// A value that an argument is compared with: a text, a list of texts, a whole number, or a truth
/// value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A whole number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LiteralVisitor)
    }
}

struct LiteralVisitor;

impl<'de> Visitor<'de> for LiteralVisitor {
    type Value = Literal;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text, a list of texts, a whole number, `true` or `false`")
    }

    fn visit_str<E>(self, text: &str) -> Result<Literal, E> {
        Ok(Literal::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Literal, E> {
        Ok(Literal::Boolean(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Literal, E> {
        Ok(Literal::Integer(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Literal, E> {
        i64::try_from(number)
            .map(Literal::Integer)
            .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Literal, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Literal::List(items))
    }
}
