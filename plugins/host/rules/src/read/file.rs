//! Reading a file of rules.

use std::collections::BTreeSet;

use plugins::loaded::Mistake;
use plugins::policy::{DenialReason, Hook, is_rule_name};
use plugins::value::Text;

use super::{Fields, LONGEST_SUMMARY, Reader, SCHEMA};
use crate::answer::Answer;
use crate::check;
use crate::file::{HOOK_COUNT, Missing, Otherwise, Rule, Rules};
use crate::text::{Node, Place, What};
use crate::words::{DENIALS, HOOKS, Places};

/// Rules of a file.
pub const MAX_RULES: usize = 1_000;

/// Where the parts of a rule stand.
pub(crate) struct RulePlaces {
    pub(crate) name: Place,
    pub(crate) when: Place,
}

/// How the rule that decides is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Decide {
    #[default]
    FirstHit,
    Priority,
}

impl Reader {
    /// Reads a policy. It is whole only if no mistake was noted.
    pub(crate) fn rules(&mut self, root: &Node<'_>) -> Option<Rules> {
        const KNOWN: &[&str] = &[
            "schema",
            "summary",
            "decide",
            "otherwise",
            "missing",
            "rules",
        ];
        self.kind_of_file(root, "Rules")?;
        let fields = Fields::of(self, root, "a file of rules", KNOWN)?;
        self.schema(&fields)?;
        let summary = self.summary(&fields, "summary");
        let decide = self.option(&fields, "decide", "way to decide", &DECIDE);
        let missing = self.option(&fields, "missing", "answer to a missing fact", &MISSING);
        let otherwise = fields
            .take("otherwise")
            .and_then(|node| self.otherwise(node));
        let rules = fields.need(self, "rules", "[...]")?;
        let decide = decide?;
        let (rules, places) = self.list_of_rules(rules, decide)?;
        let order = order(&rules, decide);
        check::rules(&rules, &places, &order, self);
        if let Some(otherwise) = &otherwise {
            self.check_otherwise(otherwise, &rules, &fields);
        }
        Some(Rules {
            summary: summary?,
            missing: missing?,
            otherwise,
            rules,
            order,
        })
    }

    /// Refuses a file of another kind: nothing more can be said of it.
    pub(crate) fn kind_of_file(&mut self, root: &Node<'_>, wanted: &str) -> Option<()> {
        match root.what {
            What::Group(word, _) if word == wanted || word.is_empty() => Some(()),
            _ => {
                let message = format!("the file is no `{wanted}(...)` but {}", root.shown());
                self.wrong(
                    &root.place,
                    message,
                    "rules are `Rules(...)`, metrics `Metrics(...)`",
                )
            }
        }
    }

    /// Refuses another version of the grammar.
    pub(crate) fn schema(&mut self, fields: &Fields<'_, '_>) -> Option<()> {
        let node = fields.need(self, "schema", "1")?;
        match self.number(node)? {
            SCHEMA => Some(()),
            other => {
                let message = format!("version {other} of the grammar is not supported");
                let help = format!("this program reads version {SCHEMA}");
                self.wrong(&node.place, message, help)
            }
        }
    }

    /// A short text for people; empty if it is left out.
    pub(crate) fn summary(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
        let Some(node) = fields.take(name) else {
            return Some(String::new());
        };
        let text = self.text(node)?;
        if text.chars().nth(LONGEST_SUMMARY).is_some() || text.contains('\n') {
            let message = format!("`{name}` is one line of at most {LONGEST_SUMMARY} letters");
            return self.wrong(&node.place, message, "say it in one sentence");
        }
        Some(text.to_string())
    }

    /// A choice that may be left out.
    fn option<T: Copy + Default>(
        &mut self,
        fields: &Fields<'_, '_>,
        name: &str,
        what: &str,
        table: &[(&str, T)],
    ) -> Option<T> {
        match fields.take(name) {
            Some(node) => self.choice(node, what, table),
            None => Some(T::default()),
        }
    }

    /// `Allow`, `Block(rule: ..., denial: ...)` or `Confirm(...)`; `Allow` is none.
    fn otherwise(&mut self, node: &Node<'_>) -> Option<Otherwise> {
        let answer = match node.word() {
            "Allow" => return self.alone(node, "Allow", None).flatten(),
            "Block" => Answer::Block,
            "Confirm" => Answer::Confirm,
            "" => return self.expected(node, "`Allow`, `Block(...)` or `Confirm(...)`"),
            word => {
                let known = ["Allow", "Block", "Confirm"];
                return self.unknown(&node.place, "answer where no rule hits", word, &known);
            }
        };
        let What::Group(..) = node.what else {
            let usage = format!(
                "{}(rule: \"unlisted\", denial: OutsideUserGoal)",
                node.word()
            );
            return self.misused(node, &usage);
        };
        let fields = Fields::of(self, node, "the answer", &["rule", "denial"])?;
        let rule = fields.need(self, "rule", "\"unlisted\"");
        let denial = fields.need(self, "denial", "OutsideUserGoal");
        let rule = rule.and_then(|rule| self.rule_name(rule));
        let denial = denial.and_then(|denial| self.choice(denial, "denial", &DENIALS));
        Some(Otherwise {
            answer,
            rule: rule?,
            denial: denial?,
        })
    }

    fn check_otherwise(&mut self, otherwise: &Otherwise, rules: &[Rule], fields: &Fields<'_, '_>) {
        let Some(node) = fields.take("otherwise") else {
            return;
        };
        if rules.iter().any(|rule| rule.name == otherwise.rule) {
            let message = format!("a rule is called `{}` already", otherwise.rule);
            self.wrong::<()>(&node.place, message, "choose another name");
        }
        let at_proposals = |rule: &Rule| rule.at.contains(&Hook::Proposal);
        if !rules.is_empty() && !rules.iter().any(at_proposals) {
            let message = "this answers proposals, and no rule is at `Proposal`";
            self.wrong::<()>(
                &node.place,
                message,
                "write a rule at `Proposal`, or `Allow`",
            );
        }
    }

    /// The name of a rule, which is neither reserved nor malformed.
    fn rule_name(&mut self, node: &Node<'_>) -> Option<Text> {
        let name = self.text(node)?;
        if !is_rule_name(&name) {
            let message = format!("`{}` is no name of a rule", crate::text::shortened(&name));
            let help = "1 to 64 lower-case letters, digits and `_`";
            return self.wrong(&node.place, message, help);
        }
        if plugins::loaded::OWN_RULES.contains(&&*name) {
            let message = format!("`{name}` is what the program itself calls a rule");
            return self.wrong(&node.place, message, "choose another name");
        }
        Some(name)
    }

    /// The rules that could be read, and where they stand.
    fn list_of_rules(
        &mut self,
        node: &Node<'_>,
        decide: Decide,
    ) -> Option<(Vec<Rule>, Vec<RulePlaces>)> {
        let What::List(items) = &node.what else {
            return self.expected(node, "a list of rules");
        };
        if items.is_empty() {
            return self.wrong(&node.place, "there is no rule", "write one at least");
        }
        if let Some(excess) = items.get(MAX_RULES) {
            let message = format!("the file has {} rules, more than {MAX_RULES}", items.len());
            self.note(Mistake::new(message).at(excess.place.clone()));
            return None;
        }
        let (mut rules, mut places) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for item in items {
            let Some((rule, place)) = self.rule(item, decide) else {
                continue;
            };
            if !names.insert(rule.name.clone()) {
                let message = format!("two rules are called `{}`", rule.name);
                self.wrong::<()>(&place.name, message, "give each a name of its own");
            }
            rules.push(rule);
            places.push(place);
        }
        Some((rules, places))
    }

    fn rule(&mut self, node: &Node<'_>, decide: Decide) -> Option<(Rule, RulePlaces)> {
        const KNOWN: &[&str] = &["rule", "at", "priority", "when", "then", "denial"];
        let fields = Fields::of(self, node, "a rule", KNOWN)?;
        let name_node = fields.need(self, "rule", "\"tainted_recipient\"");
        let name = name_node.and_then(|name| self.rule_name(name));
        let at = fields.need(self, "at", "Proposal");
        let at = at.and_then(|at| self.hooks(at));
        let priority = self.priority(&fields, node, decide);
        let when_node = fields.need(self, "when", "[HighRisk]");
        let then_node = fields.need(self, "then", "Block");
        // Without the hook it cannot be said what means something there.
        let at = at?;
        let everywhere = at
            .iter()
            .map(|&hook| Places::at(hook))
            .reduce(Places::and)?;
        let when = when_node.and_then(|when| self.predicates(when, everywhere));
        let then = then_node.and_then(|then| self.answer(then, everywhere));
        let then = then?;
        let denial = self.denial(&fields, node, &then, everywhere);
        let places = RulePlaces {
            name: name_node?.place.clone(),
            when: when_node?.place.clone(),
        };
        let rule = Rule {
            name: name?,
            at,
            priority: priority?,
            when: when?,
            then,
            denial: denial?,
        };
        Some((rule, places))
    }

    fn hooks(&mut self, node: &Node<'_>) -> Option<Vec<Hook>> {
        let mut hooks = self.some(node, "hooks", |reader, node| {
            reader.choice(node, "hook", &HOOKS)
        })?;
        hooks.sort_unstable();
        let count = hooks.len();
        hooks.dedup();
        if hooks.len() < count {
            return self.wrong(&node.place, "a hook is named twice", "name each once");
        }
        Some(hooks)
    }

    fn priority(
        &mut self,
        fields: &Fields<'_, '_>,
        rule: &Node<'_>,
        decide: Decide,
    ) -> Option<i64> {
        match (fields.take("priority"), decide) {
            (Some(node), Decide::Priority) => self.number(node),
            (None, Decide::FirstHit) => Some(0),
            (Some(node), Decide::FirstHit) => {
                let message = "where the first rule that hits decides, there is no priority";
                let help = "leave it out, or write `decide: Priority`";
                self.wrong(&node.place, message, help)
            }
            (None, Decide::Priority) => {
                let message = "where the priority decides, every rule has one";
                self.wrong(&rule.place, message, "for example `priority: 10`")
            }
        }
    }

    /// What the agent is told. A refusal of a call says it, and nothing else can.
    fn denial(
        &mut self,
        fields: &Fields<'_, '_>,
        rule: &Node<'_>,
        then: &Answer,
        at: Places,
    ) -> Option<DenialReason> {
        let tells = then.denies() && Places::CALL.and(Places::MEMORY).contains(at);
        let usual = match then {
            Answer::Hold => Some(DenialReason::CheckpointHold),
            Answer::Quarantine => Some(DenialReason::MemoryQuarantined),
            Answer::Block | Answer::Confirm => None,
            // Never read.
            _ => Some(DenialReason::PluginFault),
        };
        match (fields.take("denial"), usual) {
            (Some(node), _) if tells => self.choice(node, "denial", &DENIALS),
            (Some(node), _) => {
                let message = "nobody is told of a denial here";
                self.wrong(&node.place, message, "leave `denial` out")
            }
            (None, Some(usual)) => Some(usual),
            (None, None) => {
                let message = "a refusal says what the agent is told";
                self.wrong(
                    &rule.place,
                    message,
                    "for example `denial: OutsideUserGoal`",
                )
            }
        }
    }
}

const DECIDE: [(&str, Decide); 2] = [
    ("FirstHit", Decide::FirstHit),
    ("Priority", Decide::Priority),
];

const MISSING: [(&str, Missing); 2] = [("Block", Missing::Block), ("Ignore", Missing::Ignore)];

/// For each hook the positions of its rules: by priority, at equal priorities what changes something
/// before what lets pass, and then as in the file. Where the first hit decides all priorities are
/// equal, and the order of the file is all that counts.
fn order(rules: &[Rule], decide: Decide) -> [Vec<usize>; HOOK_COUNT] {
    std::array::from_fn(|hook| {
        let mut order: Vec<usize> = (0..rules.len())
            .filter(|&at| rules[at].at.iter().any(|&own| own as usize == hook))
            .collect();
        if decide == Decide::Priority {
            order.sort_by_key(|&at| (rules[at].priority, rules[at].then == Answer::Allow));
        }
        order
    })
}
