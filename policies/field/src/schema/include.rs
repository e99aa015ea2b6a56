//! Whether one schema provably accepts no more than another.

use serde_json::Value as Json;

use super::{Keyword, Kind, Schema};

impl Schema {
    /// Whether everything that satisfies `self` also satisfies `other`, as far as can be shown from
    /// the text of both. `false` also means: not shown. Lists of values are decided exactly.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        if let Some(values) = self.values() {
            let mut allowed = values.iter().filter(|value| self.accepts(value));
            return allowed.all(|value| other.accepts(value));
        }
        self.is_nothing() || other.0.iter().all(|wanted| self.implies(wanted))
    }

    /// The only values that may satisfy it, if it lists them.
    fn values(&self) -> Option<&[Json]> {
        self.0.iter().find_map(|keyword| match keyword {
            Keyword::Enum(values) => Some(values.as_slice()),
            Keyword::AllOf(schemas) => schemas.iter().find_map(Self::values),
            _ => None,
        })
    }

    fn is_nothing(&self) -> bool {
        self.0.iter().any(|keyword| match keyword {
            Keyword::Not(schema) => schema.0.is_empty(),
            Keyword::AllOf(schemas) => schemas.iter().any(Self::is_nothing),
            _ => false,
        })
    }

    fn implies(&self, wanted: &Keyword) -> bool {
        match wanted {
            Keyword::AllOf(schemas) => schemas.iter().all(|schema| self.is_within(schema)),
            Keyword::AnyOf(schemas) if schemas.iter().any(|schema| self.is_within(schema)) => true,
            _ => self.0.iter().any(|keyword| keyword.implies(wanted)),
        }
    }
}

impl Keyword {
    fn implies(&self, wanted: &Self) -> bool {
        if self == wanted {
            return true;
        }
        match (self, wanted) {
            (Self::MinLength(own), Self::MinLength(least))
            | (Self::MinItems(own), Self::MinItems(least)) => own >= least,
            (Self::MaxLength(own), Self::MaxLength(most))
            | (Self::MaxItems(own), Self::MaxItems(most)) => own <= most,
            (Self::Minimum(own), Self::Minimum(least)) => own >= least,
            (Self::Maximum(own), Self::Maximum(most)) => own <= most,
            (Self::MultipleOf(own), Self::MultipleOf(divisor)) => own % divisor == 0,
            (Self::Items(own), Self::Items(wanted))
            | (Self::Contains(own), Self::Contains(wanted)) => own.is_within(wanted),
            // What is refused grows where what is accepted shrinks.
            (Self::Not(own), Self::Not(wanted)) => wanted.is_within(own),
            (Self::Type(own), Self::Type(kinds)) => own.iter().all(|kind| {
                kinds.contains(kind) || *kind == Kind::Integer && kinds.contains(&Kind::Number)
            }),
            (Self::AllOf(schemas), _) => schemas.iter().any(|schema| schema.implies(wanted)),
            (Self::AnyOf(schemas) | Self::OneOf(schemas), _) => {
                let wanted = Schema(vec![wanted.clone()]);
                schemas.iter().all(|schema| schema.is_within(&wanted))
            }
            _ => false,
        }
    }
}
