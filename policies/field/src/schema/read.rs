//! Reads a schema.

use regex::Regex;
use serde_json::Value as Json;

use super::{Keyword, Kind, Pattern, Schema, SchemaError};

/// Keywords that say something and restrict nothing.
const ANNOTATIONS: [&str; 5] = ["title", "description", "default", "examples", "$comment"];

impl Schema {
    /// Reads a schema from JSON.
    ///
    /// # Errors
    /// When a keyword is not supported or its value is of the wrong kind.
    pub fn read(json: &Json) -> Result<Self, SchemaError> {
        match json {
            Json::Bool(true) => Ok(Self::anything()),
            Json::Bool(false) => Ok(Self::nothing()),
            Json::Object(members) => {
                let mut keywords = Vec::new();
                for (name, value) in members {
                    if ANNOTATIONS.contains(&name.as_str()) {
                        continue;
                    }
                    keywords.extend(keyword(name, value).map_err(|error| error.within(name))?);
                }
                Ok(Self(keywords))
            }
            _ => Err(SchemaError::here("a schema is an object, true or false")),
        }
    }
}

impl SchemaError {
    fn here(problem: impl Into<String>) -> Self {
        Self {
            place: String::new(),
            problem: problem.into(),
        }
    }

    fn within(mut self, step: &str) -> Self {
        self.place = format!("/{step}{}", self.place);
        self
    }
}

fn keyword(name: &str, value: &Json) -> Result<Option<Keyword>, SchemaError> {
    Ok(Some(match name {
        "type" => Keyword::Type(kinds(value)?),
        "enum" => Keyword::Enum(values(value)?),
        "const" => {
            whole(value)?;
            Keyword::Enum(vec![value.clone()])
        }
        "pattern" => Keyword::Pattern(pattern(value)?),
        "minLength" => Keyword::MinLength(count(value)?),
        "maxLength" => Keyword::MaxLength(count(value)?),
        "minimum" => Keyword::Minimum(integer(value)?),
        "maximum" => Keyword::Maximum(integer(value)?),
        "exclusiveMinimum" => {
            let least = integer(value)?.checked_add(1);
            least.map_or_else(impossible, Keyword::Minimum)
        }
        "exclusiveMaximum" => {
            let most = integer(value)?.checked_sub(1);
            most.map_or_else(impossible, Keyword::Maximum)
        }
        "multipleOf" => match integer(value)? {
            divisor @ 1.. => Keyword::MultipleOf(divisor),
            _ => return Err(SchemaError::here("a divisor is greater than 0")),
        },
        "items" => Keyword::Items(Schema::read(value)?),
        "minItems" => Keyword::MinItems(count(value)?),
        "maxItems" => Keyword::MaxItems(count(value)?),
        "uniqueItems" => match value {
            Json::Bool(true) => Keyword::UniqueItems,
            Json::Bool(false) => return Ok(None),
            _ => return Err(SchemaError::here("expected true or false")),
        },
        "contains" => Keyword::Contains(Schema::read(value)?),
        "not" => Keyword::Not(Schema::read(value)?),
        "allOf" => Keyword::AllOf(schemas(value)?),
        "anyOf" => Keyword::AnyOf(schemas(value)?),
        "oneOf" => Keyword::OneOf(schemas(value)?),
        _ => return Err(SchemaError::here("this keyword is not supported")),
    }))
}

/// The keyword that no whole number satisfies.
fn impossible() -> Keyword {
    Keyword::AllOf(vec![Schema(vec![Keyword::Minimum(1), Keyword::Maximum(0)])])
}

fn kinds(value: &Json) -> Result<Vec<Kind>, SchemaError> {
    let named = |name: &Json| match name.as_str() {
        Some("null") => Ok(Kind::Null),
        Some("boolean") => Ok(Kind::Boolean),
        Some("integer") => Ok(Kind::Integer),
        Some("number") => Ok(Kind::Number),
        Some("string") => Ok(Kind::String),
        Some("array") => Ok(Kind::Array),
        Some("object") => Ok(Kind::Object),
        _ => Err(SchemaError::here("expected the name of a type")),
    };
    match value {
        Json::Array(names) => names.iter().map(named).collect(),
        name => Ok(vec![named(name)?]),
    }
}

fn values(value: &Json) -> Result<Vec<Json>, SchemaError> {
    let Json::Array(values) = value else {
        return Err(SchemaError::here("expected a list of values"));
    };
    values.iter().try_for_each(whole)?;
    Ok(values.clone())
}

/// Refuses numbers with a fraction, also within lists: `1.0` would have to equal `1`.
fn whole(value: &Json) -> Result<(), SchemaError> {
    match value {
        Json::Number(number) if number.as_i64().is_none() => {
            Err(SchemaError::here("numbers are whole here"))
        }
        Json::Array(items) => items.iter().try_for_each(whole),
        Json::Object(members) => members.values().try_for_each(whole),
        _ => Ok(()),
    }
}

fn pattern(value: &Json) -> Result<Pattern, SchemaError> {
    let text = value
        .as_str()
        .ok_or_else(|| SchemaError::here("expected a regular expression"))?;
    Regex::new(text).map(Pattern).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim();
        SchemaError::here(format!("`{text}` cannot be used as a pattern: {last}"))
    })
}

fn count(value: &Json) -> Result<u64, SchemaError> {
    value
        .as_u64()
        .ok_or_else(|| SchemaError::here("expected a whole number from 0"))
}

fn integer(value: &Json) -> Result<i64, SchemaError> {
    value
        .as_i64()
        .ok_or_else(|| SchemaError::here("expected a whole number"))
}

fn schemas(value: &Json) -> Result<Vec<Schema>, SchemaError> {
    let Json::Array(schemas) = value else {
        return Err(SchemaError::here("expected a list of schemas"));
    };
    let numbered = schemas.iter().enumerate();
    numbered
        .map(|(number, schema)| {
            Schema::read(schema).map_err(|error| error.within(&number.to_string()))
        })
        .collect()
}
