//! Which parts of the context a text looks at. What no policy can see is not computed.

use std::collections::BTreeSet;

use serde_json::Value;

/// The parts of the context that the text names, each as a path of one or two attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The context itself is used as a value, for example compared.
    everything: bool,
    groups: BTreeSet<String>,
    parts: BTreeSet<(String, String)>,
}

impl Needs {
    /// Adds what a policy, in Cedar's JSON form, looks at.
    pub(crate) fn add(&mut self, policy: &Value) {
        if let Some(path) = path_of(policy) {
            self.take(&path);
            return;
        }
        match policy {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.add(field)),
            _ => {}
        }
    }

    fn take(&mut self, path: &[&str]) {
        match path {
            [] => self.everything = true,
            [group] => {
                self.groups.insert((*group).to_owned());
            }
            [group, part, ..] => {
                self.parts.insert(((*group).to_owned(), (*part).to_owned()));
            }
        }
    }

    /// Whether an attribute of the context is looked at.
    pub(crate) fn group(&self, group: &str) -> bool {
        self.whole(group) || self.parts.iter().any(|(name, _)| name == group)
    }

    /// Whether an attribute of a record in the context is looked at.
    pub(crate) fn part(&self, group: &str, part: &str) -> bool {
        self.whole(group) || self.parts.iter().any(|(a, b)| a == group && b == part)
    }

    fn whole(&self, group: &str) -> bool {
        self.everything || self.groups.contains(group)
    }
}

/// The attributes that an expression reads, one after another, from the context; none if it is
/// another expression.
pub(crate) fn path_of(expression: &Value) -> Option<Vec<&str>> {
    let fields = expression.as_object().filter(|fields| fields.len() == 1)?;
    let (operator, operand) = fields.iter().next()?;
    match operator.as_str() {
        "Var" if operand == "context" => Some(Vec::new()),
        "." | "has" => {
            let mut path = path_of(operand.get("left")?)?;
            // A `has` over several attributes gives no text here: then all before it is needed.
            path.extend(operand.get("attr")?.as_str());
            Some(path)
        }
        _ => None,
    }
}

/// The types that a policy, in Cedar's JSON form, asks of `variable` by `is`, in order.
pub(crate) fn asked_types<'a>(policy: &'a Value, variable: &str, found: &mut Vec<&'a str>) {
    match policy {
        Value::Array(items) => {
            for item in items {
                asked_types(item, variable, found);
            }
        }
        Value::Object(fields) => {
            if let Some(test) = fields.get("is")
                && test
                    .pointer("/left/Var")
                    .is_some_and(|name| name == variable)
            {
                found.extend(test.get("entity_type").and_then(Value::as_str));
            }
            for field in fields.values() {
                asked_types(field, variable, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cedar_policy::Policy;

    fn needs(condition: &str) -> Needs {
        let text = format!("permit(principal, action, resource) when {{ {condition} }};");
        let policy = Policy::parse(None, text).unwrap();
        let mut needs = Needs::default();
        needs.add(&policy.to_json().unwrap());
        needs
    }

    #[test]
    fn what_is_named_is_needed_and_nothing_else() {
        let needs = needs("context.ledger.matched && context has target && 1 < context.episode");
        assert!(needs.part("ledger", "matched") && needs.group("ledger"));
        assert!(needs.group("target") && needs.group("episode"));
        assert!(!needs.part("ledger", "leaking") && !needs.group("labels"));
    }

    #[test]
    fn a_record_as_a_value_is_needed_as_a_whole() {
        for condition in [
            "context.labels == {}",
            "context has labels",
            "[context.labels] == []",
        ] {
            let needs = needs(condition);
            assert!(needs.part("labels", "sources"), "{condition}");
            assert!(!needs.group("ledger"), "{condition}");
        }
        for condition in [
            "context == {}",
            "{a: context}.a.labels == 1",
            "context has labels.sources",
        ] {
            assert!(needs(condition).group("labels"), "{condition}");
        }
    }

    #[test]
    fn an_attribute_in_escapes_is_the_same_attribute() {
        assert!(needs("context[\"la\\u{62}els\"][\"sources\"] == 1").part("labels", "sources"));
    }
}
