//! The intent ledger of Eq. 8: what the user authorised.

use serde::{Deserialize, Serialize};

use crate::value::{Text, Value};

/// What one argument must satisfy: a part of `phi`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Condition {
    /// Exactly this value.
    Equals(Value),
    /// One of these values.
    OneOf(Vec<Value>),
    /// The argument is not given.
    Absent,
    /// The argument is given, with any value. The ledger names the field but not its value.
    Present,
}

impl Condition {
    /// Whether `value` (none: the argument is absent) satisfies the condition.
    #[must_use]
    pub fn holds(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Self::Equals(wanted), Some(value)) => same_value(wanted, value),
            (Self::OneOf(wanted), Some(value)) => {
                wanted.iter().any(|wanted| same_value(wanted, value))
            }
            (Self::Absent, None) | (Self::Present, Some(_)) => true,
            _ => false,
        }
    }
}

/// Equality up to the form in which one recipient is given: `"a"` and `["a"]` are the same value.
fn same_value(a: &Value, b: &Value) -> bool {
    a == b
        || match (a, b) {
            (Value::Text(one), Value::List(many)) | (Value::List(many), Value::Text(one)) => {
                many.len() == 1 && many[0] == *one
            }
            _ => false,
        }
}

/// One authorised `(a, t, phi)` of Eq. 8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// The authorised action type: a tool name.
    pub action: Text,
    /// The authorised target.
    pub target: Text,
    /// The predicate over arguments and visibility: argument name and condition, all of which hold.
    pub conditions: Vec<(Text, Condition)>,
}

/// The trusted intent ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ledger {
    /// Its entries in file order.
    pub entries: Vec<Entry>,
}
