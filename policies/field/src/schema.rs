//! The part of JSON Schema that restricts one argument: text in, checked schema out.
//!
//! Supported: `true`, `false`, `type`, `enum`, `const`, `pattern`, `minLength`, `maxLength`,
//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `items`, `minItems`,
//! `maxItems`, `uniqueItems`, `contains`, `not`, `allOf`, `anyOf`, `oneOf`, and the annotations
//! `title`, `description`, `default`, `examples` and `$comment`, which restrict nothing. Numbers are
//! whole, because the arguments of a world are. A keyword that is not listed is refused: JSON Schema
//! ignores what it does not know, and then a misspelt restriction would restrict nothing.
//!
//! `pattern` is searched for anywhere in the text, as JSON Schema says. Its syntax is that of the
//! crate `regex`: what needs look-around or back-references is refused.

use regex::Regex;
use serde_json::Value as Json;

mod include;
mod read;

/// What a value must satisfy: all of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema(Vec<Keyword>);

/// A kind of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Integer,
    /// Whole numbers included.
    Number,
    String,
    Array,
    Object,
}

/// One restriction.
#[derive(Clone, Debug, PartialEq)]
enum Keyword {
    Type(Vec<Kind>),
    Enum(Vec<Json>),
    Pattern(Pattern),
    MinLength(u64),
    MaxLength(u64),
    Minimum(i64),
    Maximum(i64),
    MultipleOf(i64),
    Items(Schema),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    Contains(Schema),
    Not(Schema),
    AllOf(Vec<Schema>),
    AnyOf(Vec<Schema>),
    OneOf(Vec<Schema>),
}

/// A regular expression; two are equal if their texts are.
#[derive(Clone, Debug)]
struct Pattern(Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at `{place}`: {problem}")]
pub struct SchemaError {
    /// Where, as a JSON pointer within the schema; empty for the whole of it.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

impl Schema {
    /// The schema that everything satisfies.
    #[must_use]
    pub const fn anything() -> Self {
        Self(Vec::new())
    }

    /// The schema that nothing satisfies.
    #[must_use]
    pub fn nothing() -> Self {
        Self(vec![Keyword::Not(Self::anything())])
    }

    /// The schema that exactly these values satisfy.
    #[must_use]
    pub fn one_of(values: Vec<Json>) -> Self {
        Self(vec![Keyword::Enum(values)])
    }

    /// The schema of what satisfies both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Whether `value` satisfies it.
    #[must_use]
    pub fn accepts(&self, value: &Json) -> bool {
        self.0.iter().all(|keyword| keyword.accepts(value))
    }
}

impl Kind {
    fn fits(self, value: &Json) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

impl Keyword {
    /// A keyword about one kind of value is satisfied by every value of another kind.
    fn accepts(&self, value: &Json) -> bool {
        match self {
            Self::Type(kinds) => kinds.iter().any(|kind| kind.fits(value)),
            Self::Enum(values) => values.contains(value),
            Self::Not(schema) => !schema.accepts(value),
            Self::AllOf(schemas) => schemas.iter().all(|schema| schema.accepts(value)),
            Self::AnyOf(schemas) => schemas.iter().any(|schema| schema.accepts(value)),
            Self::OneOf(schemas) => {
                let accepting = schemas.iter().filter(|schema| schema.accepts(value));
                accepting.count() == 1
            }
            _ => match value {
                Json::String(text) => self.accepts_text(text),
                Json::Number(number) => number.as_i64().is_none_or(|it| self.accepts_integer(it)),
                Json::Array(items) => self.accepts_items(items),
                _ => true,
            },
        }
    }

    /// Lengths are in characters.
    fn accepts_text(&self, text: &str) -> bool {
        let length = || text.chars().count() as u64;
        match self {
            Self::Pattern(pattern) => pattern.0.is_match(text),
            Self::MinLength(least) => length() >= *least,
            Self::MaxLength(most) => length() <= *most,
            _ => true,
        }
    }

    fn accepts_integer(&self, number: i64) -> bool {
        match self {
            Self::Minimum(least) => number >= *least,
            Self::Maximum(most) => number <= *most,
            Self::MultipleOf(divisor) => number.checked_rem(*divisor) == Some(0),
            _ => true,
        }
    }

    fn accepts_items(&self, items: &[Json]) -> bool {
        let length = items.len() as u64;
        match self {
            Self::Items(schema) => items.iter().all(|item| schema.accepts(item)),
            Self::MinItems(least) => length >= *least,
            Self::MaxItems(most) => length <= *most,
            Self::UniqueItems => (1..items.len()).all(|end| !items[..end].contains(&items[end])),
            Self::Contains(schema) => items.iter().any(|item| schema.accepts(item)),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
