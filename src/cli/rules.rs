//! Every rule that a verdict of this program's policies can name.

pub(crate) use plugins::rule::{Origin, Rule};

/// All of them: those of the built-in policies, then those of the field's.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    let built_in = policies::rules::ALL.iter().copied();
    built_in.chain(field_policies::rules::RULES.iter().copied())
}

/// The rule called `id`.
pub(crate) fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}
