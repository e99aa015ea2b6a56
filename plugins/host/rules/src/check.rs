//! Rules that can never decide: they are mistakes of whoever wrote them.

use std::collections::{BTreeMap, BTreeSet};

use plugins::tool::RiskClass;
use plugins::value::Text;

use crate::file::{HOOK_COUNT, Rule};
use crate::logic::{Compare, Truth};
use crate::predicate::{Names, OperationKind, Predicate, RISKS};
use crate::read::Reader;
use crate::read::file::RulePlaces;

/// Notes rules that no moment can make hit, and rules before which another always hits.
pub(crate) fn rules(
    rules: &[Rule],
    places: &[RulePlaces],
    order: &[Vec<usize>; HOOK_COUNT],
    reader: &mut Reader,
) {
    let mut numbers = BTreeMap::new();
    let conditions: Vec<BTreeSet<usize>> = rules
        .iter()
        .map(|rule| {
            let flat = flat(&rule.when);
            flat.into_iter()
                .map(|predicate| {
                    let next = numbers.len();
                    *numbers.entry(predicate).or_insert(next)
                })
                .collect()
        })
        .collect();
    for (rule, place) in rules.iter().zip(places) {
        if let Some(why) = contradiction(&rule.when) {
            let message = format!("`{}` can never hit: {why}", rule.name);
            reader.wrong::<()>(&place.when, message, "remove it, or one of the conditions");
        }
    }
    let mut noted = BTreeSet::new();
    for order in order {
        for (rank, &later) in order.iter().enumerate() {
            let mut earlier = order[..rank].iter();
            let hides = |&&earlier: &&usize| conditions[earlier].is_subset(&conditions[later]);
            if let Some(&first) = earlier.find(hides)
                && noted.insert(later)
            {
                let message = if conditions[first].is_empty() {
                    let name = &rules[first].name;
                    format!(
                        "`{}` is never asked: `{name}` always hits before",
                        rules[later].name
                    )
                } else {
                    format!(
                        "`{}` is never asked: `{}` hits before, with the same conditions or fewer",
                        rules[later].name, rules[first].name
                    )
                };
                let help = "remove it, or put it before the other";
                reader.wrong::<()>(&places[later].name, message, help);
            }
        }
    }
}

/// The conditions that must all hold, without `Always` and with nested `All` opened.
fn flat(when: &[Predicate]) -> Vec<&Predicate> {
    let mut flat = Vec::new();
    let mut rest: Vec<&Predicate> = when.iter().rev().collect();
    while let Some(predicate) = rest.pop() {
        match predicate {
            Predicate::Always => {}
            Predicate::All(each) => rest.extend(each.iter().rev()),
            _ => flat.push(predicate),
        }
    }
    flat
}

/// Why conditions cannot all hold, if that can be seen.
fn contradiction(when: &[Predicate]) -> Option<&'static str> {
    let flat = flat(when);
    let all: BTreeSet<&Predicate> = flat.iter().copied().collect();
    let is_denied = |predicate: &&Predicate| match predicate {
        Predicate::Not(inner) => **inner == Predicate::Always || all.contains(&**inner),
        _ => false,
    };
    if flat.iter().any(is_denied) {
        return Some("a condition and its opposite must both hold");
    }
    if flat.iter().any(|predicate| is_below_zero(predicate)) {
        return Some("what is counted is never less than 0");
    }
    let mut kinds = RISKS.iter().flat_map(|(_, risk)| {
        let kinds = OperationKind::ALL.iter();
        kinds.map(move |(_, kind)| (*risk, *kind))
    });
    // A read is never high-risk: the check of a world refuses it.
    let fits = |(risk, kind): (RiskClass, OperationKind)| {
        let exists = !kind.is_read() || risk == RiskClass::Low;
        let truths = flat.iter().map(|one| of_tool(one, risk, kind));
        exists && Truth::all(truths) != Truth::False
    };
    if !kinds.any(fits) {
        return Some("no tool has this risk and does this");
    }
    let tools = common(&flat, |predicate| match predicate {
        Predicate::Tool(names) => Some(names),
        _ => None,
    });
    let agents = common(&flat, |predicate| match predicate {
        Predicate::Agent(names) => Some(names),
        _ => None,
    });
    if tools.is_some_and(|tools| tools.is_empty()) {
        return Some("a call is of one tool");
    }
    if agents.is_some_and(|agents| agents.is_empty()) {
        return Some("it is about one agent");
    }
    None
}

/// The names that are in every list which `pick` finds; none without a list.
fn common<'p>(
    flat: &[&'p Predicate],
    pick: impl Fn(&'p Predicate) -> Option<&'p Names>,
) -> Option<BTreeSet<&'p Text>> {
    let lists = flat.iter().filter_map(|predicate| pick(predicate));
    let sets = lists.map(|list| list.iter().collect::<BTreeSet<&Text>>());
    sets.reduce(|common, set| common.intersection(&set).copied().collect())
}

/// Whether a count, an age or a time would have to be negative.
fn is_below_zero(predicate: &Predicate) -> bool {
    let (Predicate::Count { is, .. }
    | Predicate::Age(is)
    | Predicate::Episode(is)
    | Predicate::Tick(is)) = predicate
    else {
        return false;
    };
    match is {
        Compare::Less(bound) => *bound <= 0,
        Compare::AtMost(bound) | Compare::Exactly(bound) => *bound < 0,
        Compare::AtLeast(_) | Compare::More(_) => false,
    }
}

/// What is known of a predicate from what kind of tool it is alone.
fn of_tool(predicate: &Predicate, risk: RiskClass, kind: OperationKind) -> Truth {
    match predicate {
        Predicate::Always => Truth::True,
        Predicate::All(each) => Truth::all(each.iter().map(|one| of_tool(one, risk, kind))),
        Predicate::Any(each) => Truth::any(each.iter().map(|one| of_tool(one, risk, kind))),
        Predicate::Not(inner) => of_tool(inner, risk, kind).not(),
        Predicate::Risk(risks) => Truth::of(risks.contains(&risk)),
        Predicate::HighRisk => Truth::of(risk != RiskClass::Low),
        Predicate::Reads => Truth::of(kind.is_read()),
        Predicate::Operation(kinds) => Truth::of(kinds.contains(&kind)),
        _ => Truth::Unknown,
    }
}
