//! Progent's rule checker: a pure function of rules, tool and arguments.
//!
//! Written from what is published of Progent (arXiv 2504.11703) and of the repository
//! `sunblaze-ucb/progent` at 8a8eb89, which has no licence: nothing of it is copied.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::schema::Schema;

/// What a rule does with a call that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// 0: lets it pass.
    Allow,
    /// 1: refuses it.
    Forbid,
}

/// What happens to a call that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fallback {
    /// 0: the agent is told.
    Message,
    /// 1: the run is stopped.
    Terminate,
    /// 2: the user is asked.
    Confirm,
}

/// One rule about one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The smallest number is looked at first. Rules of people stand below
    /// [`Rule::GENERATED`], those of the generator at it.
    pub priority: i64,
    /// What it does.
    pub effect: Effect,
    /// What each argument, by name, must satisfy. An argument that the call lacks satisfies it.
    pub restrictions: BTreeMap<String, Schema>,
    /// What happens if it refuses, or if it is the last and none matches.
    pub fallback: Fallback,
    /// The entry of the ledger that it was derived from, by position.
    pub entry: Option<u32>,
}

impl Rule {
    /// The priority of generated rules.
    pub const GENERATED: i64 = 100;

    /// Whether every restricted argument that is given satisfies its restriction.
    #[must_use]
    pub fn matches(&self, arguments: &Arguments) -> bool {
        self.refused(arguments).next().is_none()
    }

    /// The arguments that do not satisfy their restriction, by name.
    pub fn refused<'a>(&'a self, arguments: &'a Arguments) -> impl Iterator<Item = &'a str> {
        self.restrictions.iter().filter_map(|(name, schema)| {
            let value = arguments.get(name.as_str())?;
            (!schema.accepts(value)).then_some(name.as_str())
        })
    }
}

/// The arguments of a call by name.
pub type Arguments = BTreeMap<String, Json>;

/// The rules of each tool, in the order in which they are looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleMap(BTreeMap<String, Vec<Rule>>);

/// What the checker says of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision<'a> {
    /// The first rule that matches allows it.
    Allowed(&'a Rule),
    /// The first rule that matches forbids it.
    Forbidden(&'a Rule),
    /// No rule of the tool matches; the last one says what happens then. None: the tool is named
    /// without any rule.
    Unmatched(Option<&'a Rule>),
    /// The tool has no rules.
    UnknownTool,
}

impl Decision<'_> {
    /// Whether the call passes.
    #[must_use]
    pub const fn allows(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }

    /// What happens to a call that does not pass; none if it does.
    #[must_use]
    pub fn fallback(&self) -> Option<Fallback> {
        match self {
            Self::Allowed(_) => None,
            Self::Forbidden(rule) | Self::Unmatched(Some(rule)) => Some(rule.fallback),
            Self::Unmatched(None) | Self::UnknownTool => Some(Fallback::Message),
        }
    }
}

impl RuleMap {
    /// Adds rules of a tool. At equal priority a forbidding rule stands before an allowing one, and
    /// otherwise what was added first.
    pub fn add(&mut self, tool: &str, rules: impl IntoIterator<Item = Rule>) {
        let own = self.0.entry(tool.to_owned()).or_default();
        own.extend(rules);
        own.sort_by_key(|rule| (rule.priority, std::cmp::Reverse(rule.effect)));
    }

    /// The rules of a tool in order; none if it has no entry.
    #[must_use]
    pub fn rules(&self, tool: &str) -> Option<&[Rule]> {
        self.0.get(tool).map(Vec::as_slice)
    }

    /// Every tool with its rules, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Rule])> {
        self.0
            .iter()
            .map(|(tool, rules)| (tool.as_str(), rules.as_slice()))
    }

    /// What the rules say of a call.
    #[must_use]
    pub fn check(&self, tool: &str, arguments: &Arguments) -> Decision<'_> {
        let Some(rules) = self.rules(tool) else {
            return Decision::UnknownTool;
        };
        match rules.iter().find(|rule| rule.matches(arguments)) {
            None => Decision::Unmatched(rules.last()),
            Some(rule) if rule.effect == Effect::Allow => Decision::Allowed(rule),
            Some(rule) => Decision::Forbidden(rule),
        }
    }

    /// The map after the generator has written `update`: it replaces the generated rules of each
    /// tool that it names. The rules of people stay.
    #[must_use]
    pub fn updated(&self, update: &Self) -> Self {
        let mut map = self.clone();
        for (tool, rules) in update.iter() {
            if let Some(own) = map.0.get_mut(tool) {
                own.retain(|rule| rule.priority < Rule::GENERATED);
            }
            map.add(tool, rules.iter().cloned());
        }
        map
    }

    /// Whether every call that `self` allows is allowed by `wider`, as far as can be shown. `false`
    /// also means: not shown.
    #[must_use]
    pub fn is_within(&self, wider: &Self) -> bool {
        self.iter().all(|(tool, rules)| {
            let wider = wider.rules(tool).unwrap_or_default();
            let allowing = (0..rules.len()).filter(|&at| rules[at].effect == Effect::Allow);
            let mut allowing = allowing.map(|at| (&rules[at], &rules[..at]));
            allowing.all(|(rule, before)| is_covered(rule, before, wider))
        })
    }
}

/// Whether a rule of `wider` allows whatever `rule` allows, and each rule that forbids something
/// before it stands also before `rule`.
fn is_covered(rule: &Rule, before: &[Rule], wider: &[Rule]) -> bool {
    let forbids_likewise = |wanted: &Rule| {
        let mut own = before.iter().filter(|rule| rule.effect == Effect::Forbid);
        own.any(|own| restricts_no_more(own, wanted))
    };
    let mut forbidden = true;
    for wide in wider {
        match wide.effect {
            Effect::Allow if forbidden && restricts_no_more(wide, rule) => return true,
            Effect::Allow => {}
            Effect::Forbid => forbidden &= forbids_likewise(wide),
        }
    }
    false
}

/// Whether `wide` matches whatever `narrow` matches. An absent argument satisfies every restriction,
/// so that only the restrictions of `wide` count, and each needs one of `narrow` on the same argument.
fn restricts_no_more(wide: &Rule, narrow: &Rule) -> bool {
    wide.restrictions.iter().all(|(name, schema)| {
        let own = narrow.restrictions.get(name);
        own.map_or_else(
            || Schema::anything().is_within(schema),
            |own| own.is_within(schema),
        )
    })
}
