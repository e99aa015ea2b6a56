//! Words for the variants of enums, as the trace writes them.

use serde::Serialize;
use serde_json::Value;

/// The name of a variant without fields, in `snake_case`.
pub(crate) fn snake_case(variant: &impl Serialize) -> String {
    let Ok(Value::String(name)) = serde_json::to_value(variant) else {
        return String::new();
    };
    let mut word = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use plugins::policy::{DenialReason, VerdictKind};

    use super::*;

    #[test]
    fn variants_are_in_snake_case() {
        assert_eq!(snake_case(&VerdictKind::Allow), "allow");
        assert_eq!(
            snake_case(&DenialReason::OutsideUserGoal),
            "outside_user_goal"
        );
    }
}
