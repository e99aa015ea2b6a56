//! Which policies can have a say on what: the cost of an answer grows with their number.
//!
//! A policy whose head names other actions never holds and never fails, so leaving it out changes no
//! answer.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Policy, PolicySet};
use plugins::policy::{Hook, Hooks};
use plugins::tool::RiskClass;

use crate::shape::{GROUPS, MORE_HOOKS, Reach, Shape, groups};

/// How many policies all sets together may hold. A text that needs more is asked as a whole about
/// every call.
const MOST: usize = 10_000;

const RISKS: [RiskClass; 3] = [RiskClass::Low, RiskClass::Write, RiskClass::Outbound];

/// The policies of a text by what they can be about.
#[derive(Debug)]
pub(crate) struct Sets {
    /// All of them.
    pub(crate) all: PolicySet,
    /// Those that can be about a call, by the risk of its tool and the action that it is; the
    /// empty action stands for one that the text does not name.
    calls: BTreeMap<(RiskClass, String), PolicySet>,
    /// Those that can be about another hook.
    hooks: BTreeMap<Hook, PolicySet>,
}

impl Sets {
    /// The sets of a text whose policies, in order, reach so far.
    pub(crate) fn new(
        all: PolicySet,
        ordered: &[Policy],
        reaches: &[Reach],
        shape: &Shape,
    ) -> Self {
        let mut sets = Self {
            all,
            calls: BTreeMap::new(),
            hooks: BTreeMap::new(),
        };
        let of = |holds: &dyn Fn(&Reach) -> bool| {
            let pairs = ordered.iter().zip(reaches);
            let held = pairs.filter(|(_, reach)| holds(reach));
            PolicySet::from_policies(held.map(|(policy, _)| policy.clone())).ok()
        };
        for hook in MORE_HOOKS {
            let hooks = Hooks::from(hook);
            let set = of(&|reach| reach.any || reach.named.intersects(hooks));
            sets.hooks.extend(set.map(|set| (hook, set)));
        }
        let actions: BTreeSet<&str> = reaches
            .iter()
            .flat_map(|reach| reach.actions.iter().map(String::as_str))
            .chain([""])
            .collect();
        let counted = |action: &str, risk| {
            let reaches = reaches.iter();
            reaches
                .filter(|reach| may_be_about(reach, action, risk, shape))
                .count()
        };
        let mut room = MOST;
        for action in &actions {
            for risk in RISKS {
                let Some(left) = room.checked_sub(counted(action, risk)) else {
                    sets.calls.clear();
                    return sets;
                };
                room = left;
            }
        }
        for action in actions {
            for risk in RISKS {
                let set = of(&|reach| may_be_about(reach, action, risk, shape));
                sets.calls
                    .extend(set.map(|set| ((risk, action.to_owned()), set)));
            }
        }
        sets
    }

    /// The policies that can be about a call of an action.
    pub(crate) fn of_call(&self, action: &str, risk: RiskClass) -> &PolicySet {
        let set = self.calls.get(&(risk, action.to_owned()));
        let set = set.or_else(|| self.calls.get(&(risk, String::new())));
        set.unwrap_or(&self.all)
    }

    /// The policies that can be about another hook.
    pub(crate) fn of_hook(&self, hook: Hook) -> &PolicySet {
        self.hooks.get(&hook).unwrap_or(&self.all)
    }

    /// The same, where every question is put to all policies.
    #[cfg(test)]
    pub(crate) fn undivided(self) -> Self {
        Self {
            all: self.all,
            calls: BTreeMap::new(),
            hooks: BTreeMap::new(),
        }
    }
}

/// Whether a policy can be about an action of this risk.
fn may_be_about(reach: &Reach, action: &str, risk: RiskClass, shape: &Shape) -> bool {
    reach.any
        || reach.actions.iter().any(|named| match shape {
            Shape::Native if GROUPS.contains(&named.as_str()) => {
                groups(risk).contains(&named.as_str())
            }
            Shape::Native => named == action,
            // What has no target may be one, and so a group.
            Shape::Gateway(_) => named == action || !named.contains("__"),
        })
}

#[cfg(test)]
mod tests {
    use plugins::conformance::generate;
    use plugins::draws::{Draws, RolloutKey};
    use plugins::policy::Policy as _;

    use crate::program::CedarPolicy;
    use crate::read;

    #[test]
    fn leaving_out_what_has_no_say_changes_no_answer() {
        let text = "@neutral permit(principal, action, resource);
            @id(\"a\") forbid(principal, action == Action::\"tool_0\", resource)
            when { context.high_risk };
            @id(\"b\") @verdict(\"hold\") forbid(principal, action in
                [Action::\"tool_1\", Action::\"write\"], resource)
            when { context.arguments.argument_0 == \"public\" };
            @id(\"c\") @verdict(\"confirm\") forbid(principal, action in Action::\"high_risk\", resource)
            unless { context.ledger.matched };
            @id(\"d\") forbid(principal, action == Hook::Action::\"message\", resource);
            @id(\"e\") permit(principal, action in Action::\"low\", resource);";
        let divided = CedarPolicy::new(read(text).unwrap().into());
        let mut whole = read(text).unwrap();
        whole.sets = whole.sets.undivided();
        let (mut divided, mut whole) = (divided, CedarPolicy::new(whole.into()));
        let mut rules = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let world = generate::random_world(seed);
            let mut draws = Draws::new(RolloutKey::default());
            for call in &world.trace.calls {
                let view = &mut world.view(&mut draws);
                let expected = whole.on_proposal(view, world.proposal(call.id));
                assert_eq!(divided.on_proposal(view, world.proposal(call.id)), expected);
                rules.insert(expected.reason.rule.into_owned());
            }
        }
        assert!(rules.len() > 6, "{rules:?}");
    }
}
