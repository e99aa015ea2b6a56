//! A file of rules as it was read: typed, checked, in the order in which rules are asked.

use plugins::policy::{DenialReason, Hook, Hooks};
use plugins::value::Text;

use crate::answer::Answer;
use crate::predicate::Predicate;

/// A policy.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) summary: String,
    pub(crate) missing: Missing,
    /// What stands at a proposal where no rule hits; none is the neutral answer.
    pub(crate) otherwise: Option<Otherwise>,
    /// In the order of the file.
    pub(crate) rules: Vec<Rule>,
    /// For each hook, by its number, the positions of its rules in the order in which they are asked.
    pub(crate) order: [Vec<usize>; HOOK_COUNT],
}

/// How many hooks there are.
pub(crate) const HOOK_COUNT: usize = 9;

impl Rules {
    /// The hooks that some rule is at.
    pub(crate) fn hooks(&self) -> Hooks {
        let hooks = self.rules.iter().flat_map(|rule| &rule.at);
        hooks.map(|&hook| Hooks::from(hook)).collect()
    }

    /// The rules of a hook in the order in which they are asked.
    pub(crate) fn at(&self, hook: Hook) -> impl Iterator<Item = &Rule> {
        let order = &self.order[hook as usize];
        order.iter().map(|&position| &self.rules[position])
    }
}

/// What stands where a fact is missing on which the decision hangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The refusal of the hook.
    #[default]
    Block,
    /// The rule does not hit.
    Ignore,
}

/// What stands where no rule hits.
#[derive(Clone, Debug)]
pub(crate) struct Otherwise {
    pub(crate) answer: Answer,
    pub(crate) rule: Text,
    pub(crate) denial: DenialReason,
}

/// One rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) name: Text,
    pub(crate) at: Vec<Hook>,
    pub(crate) priority: i64,
    /// All of it must hold.
    pub(crate) when: Vec<Predicate>,
    pub(crate) then: Answer,
    pub(crate) denial: DenialReason,
}
