//! Files against an evaluator that shares no code with the one that is tested: it reads the facts
//! that all outside languages share, and knows of a statement whether it holds, fails or is unknown.

use plugins::conformance::generate::world;
use plugins::conformance::random::Random;
use plugins::conformance::sample::World;
use plugins::facts::{ArgumentFacts, CallFacts, Counts};
use plugins::policy::{Ruling, View};
use plugins::tool::{RiskClass, Role};
use proptest::prelude::*;

use super::{ask, draws, policy, proposed};

/// A statement as this test understands it.
#[derive(Clone, Debug)]
enum Says {
    All(Vec<Says>),
    Any(Vec<Says>),
    Not(Box<Says>),
    Tool(u8),
    Risk(u8),
    HighRisk,
    Reads,
    /// Of the role, some argument is so.
    OfRole(u8, Is),
    /// The argument of the number is so.
    Named(u8, Is),
    LedgerMatch,
    Expanding,
    Leaking,
    WrongRecipient,
    Recorded,
    Committed(u8),
}

/// A statement of an argument.
#[derive(Clone, Copy, Debug)]
enum Is {
    Tainted,
    Given,
    Public,
    AtLeast(i8),
}

const ROLES: [(&str, Role); 3] = [
    ("Recipient", Role::Recipient),
    ("Content", Role::Content),
    ("Scope", Role::Scope),
];
const RISKS: [(&str, RiskClass); 3] = [
    ("Low", RiskClass::Low),
    ("Write", RiskClass::Write),
    ("Outbound", RiskClass::Outbound),
];

impl Says {
    fn text(&self) -> String {
        let list = |each: &[Self]| each.iter().map(Self::text).collect::<Vec<_>>().join(", ");
        match self {
            Self::All(each) => format!("All([{}])", list(each)),
            Self::Any(each) => format!("Any([{}])", list(each)),
            Self::Not(inner) => format!("Not({})", inner.text()),
            Self::Tool(number) => format!("Tool(\"tool_{number}\")"),
            Self::Risk(risk) => format!("Risk({})", RISKS[usize::from(*risk)].0),
            Self::HighRisk => "HighRisk".into(),
            Self::Reads => "Reads".into(),
            Self::OfRole(role, is) => {
                let role = ROLES[usize::from(*role)].0;
                format!("Argument(role: {role}, is: {})", is.text())
            }
            Self::Named(number, is) => {
                format!("Argument(name: \"argument_{number}\", is: {})", is.text())
            }
            Self::LedgerMatch => "LedgerMatch".into(),
            Self::Expanding => "Expanding".into(),
            Self::Leaking => "Leaking".into(),
            Self::WrongRecipient => "WrongRecipient".into(),
            Self::Recorded => "Recorded(Tainted)".into(),
            Self::Committed(least) => {
                format!("Count(what: Committed, of: HighRisk, is: AtLeast({least}))")
            }
        }
    }

    /// None if it is unknown.
    fn holds(&self, call: &CallFacts<'_>, counts: Counts) -> Option<bool> {
        match self {
            Self::All(each) => {
                let each: Vec<_> = each.iter().map(|one| one.holds(call, counts)).collect();
                if each.contains(&Some(false)) {
                    Some(false)
                } else if each.contains(&None) {
                    None
                } else {
                    Some(true)
                }
            }
            Self::Any(each) => {
                let each: Vec<_> = each.iter().map(|one| one.holds(call, counts)).collect();
                if each.contains(&Some(true)) {
                    Some(true)
                } else if each.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
            Self::Not(inner) => inner.holds(call, counts).map(|holds| !holds),
            Self::Tool(number) => Some(*call.tool.name == format!("tool_{number}")),
            Self::Risk(risk) => Some(call.tool.risk == RISKS[usize::from(*risk)].1),
            Self::HighRisk => Some(call.high_risk),
            Self::Reads => Some(call.tool.operation.is_read()),
            Self::OfRole(role, is) => {
                let role = ROLES[usize::from(*role)].1;
                let own: Vec<_> = call
                    .arguments
                    .iter()
                    .filter(|argument| argument.role == role)
                    .collect();
                if own.is_empty() {
                    return is.holds(None);
                }
                let each: Vec<_> = own
                    .iter()
                    .map(|argument| is.holds(Some(argument)))
                    .collect();
                if each.contains(&Some(true)) {
                    Some(true)
                } else if each.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
            Self::Named(number, is) => {
                let name = format!("argument_{number}");
                let position = call.tool.argument(&name)?;
                let mut own = call.arguments.iter();
                is.holds(own.find(|argument| argument.position == position))
            }
            Self::LedgerMatch => Some(call.ledger_entry.is_some()),
            Self::Expanding => Some(!call.expanding.is_empty()),
            Self::Leaking => Some(!call.leaking.is_empty()),
            Self::WrongRecipient => Some(call.wrong_recipient),
            Self::Recorded => Some(call.recorded.tainted),
            Self::Committed(least) => Some(counts.committed >= u64::from(*least)),
        }
    }
}

impl Is {
    fn text(self) -> String {
        match self {
            Self::Tainted => "Tainted".into(),
            Self::Given => "Given".into(),
            Self::Public => "Equals(\"public\")".into(),
            Self::AtLeast(number) => format!("AtLeast({number})"),
        }
    }

    fn holds(self, argument: Option<&ArgumentFacts<'_>>) -> Option<bool> {
        let Some(argument) = argument else {
            return Some(false);
        };
        match self {
            Self::Tainted => Some(argument.label.tainted),
            Self::Given => Some(true),
            Self::Public => Some(argument.value.strings().any(|text| text == "public")),
            Self::AtLeast(number) => match argument.value {
                plugins::value::Value::Integer(value) => Some(*value >= i64::from(number)),
                _ => None,
            },
        }
    }
}

fn statement() -> impl Strategy<Value = Says> {
    let is = prop_oneof![
        Just(Is::Tainted),
        Just(Is::Given),
        Just(Is::Public),
        (-2_i8..3).prop_map(Is::AtLeast),
    ];
    let leaf = prop_oneof![
        (0_u8..4).prop_map(Says::Tool),
        (0_u8..3).prop_map(Says::Risk),
        Just(Says::HighRisk),
        Just(Says::Reads),
        (0_u8..3, is.clone()).prop_map(|(role, is)| Says::OfRole(role, is)),
        (0_u8..3, is).prop_map(|(number, is)| Says::Named(number, is)),
        Just(Says::LedgerMatch),
        Just(Says::Expanding),
        Just(Says::Leaking),
        Just(Says::WrongRecipient),
        Just(Says::Recorded),
        (0_u8..4).prop_map(Says::Committed),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Says::All),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Says::Any),
            inner.prop_map(|inner| Says::Not(Box::new(inner))),
        ]
    })
}

const VERDICTS: [(&str, &str); 4] = [
    ("Allow", "Allow"),
    ("Block, denial: OutsideUserGoal", "Block"),
    ("Confirm, denial: ConfirmationRequired", "Confirm"),
    ("Hold", "Hold"),
];

/// The verdict and rule of rules, straight from what the grammar says of them.
fn naive(
    rules: &[(Says, usize, i64)],
    priority: bool,
    ignore: bool,
    call: &CallFacts<'_>,
    counts: Counts,
) -> (String, String) {
    let mut order: Vec<usize> = (0..rules.len()).collect();
    if priority {
        // Not by a sort of the same keys: each is put before the first that it goes before.
        let mut sorted: Vec<usize> = Vec::new();
        for rule in order {
            let goes_before = |other: &usize| {
                let (own, other) = (&rules[rule], &rules[*other]);
                own.2 < other.2 || (own.2 == other.2 && own.1 != 0 && other.1 == 0)
            };
            let at = sorted.iter().position(goes_before).unwrap_or(sorted.len());
            sorted.insert(at, rule);
        }
        order = sorted;
    }
    let mut missing = "";
    for rule in order {
        match (rules[rule].0.holds(call, counts), ignore) {
            (Some(true), _) => {
                let verdict = VERDICTS[rules[rule].1].1.to_owned();
                return (verdict, format!("r{rule}{missing}"));
            }
            (Some(false), _) => {}
            (None, true) => missing = "+facts_missing",
            (None, false) => return ("Block".into(), "facts_missing".into()),
        }
    }
    ("Allow".into(), format!("default_allow{missing}"))
}

fn shown<V: std::fmt::Debug>(ruling: &Ruling<V>) -> (String, String) {
    (
        format!("{:?}", ruling.verdict),
        ruling.reason.rule.to_string(),
    )
}

/// What the naive evaluator says of a call.
fn expected(
    world: &World,
    call: plugins::ids::CallId,
    rules: &[(Says, usize, i64)],
    priority: bool,
    ignore: bool,
) -> (String, String) {
    let mut draws = draws();
    let view: View<'_> = world.view_of(proposed(world, call), &mut draws);
    let proposal = world.proposal(call);
    let facts = CallFacts::of(&view, &proposal);
    let counts = Counts::of_high_risk(view.prefix, view.briefing);
    naive(rules, priority, ignore, &facts, counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_first_hit_is_that_of_a_naive_evaluator(
        rules in prop::collection::vec((statement(), 0_usize..4, 0_i64..3), 1..5),
        priority: bool,
        ignore: bool,
        seed in 0_u64..1_000,
    ) {
        let written: String = (0..).zip(&rules).map(|(number, (says, verdict, rank))| {
            let rank = if priority { format!("priority: {rank}, ") } else { String::new() };
            let (when, then) = (says.text(), VERDICTS[*verdict].0);
            format!("(rule: \"r{number}\", at: Proposal, {rank}when: [{when}], then: {then}),")
        }).collect();
        let decide = if priority { "Priority" } else { "FirstHit" };
        let missing = if ignore { "Ignore" } else { "Block" };
        let text = format!(
            "Rules(schema: 1, decide: {decide}, missing: {missing}, rules: [{written}])"
        );
        // A rule that can never decide is a mistake, and then there is nothing to compare.
        if let Err(mistakes) = crate::load(&text) {
            let never = |message: &str| message.contains("never");
            prop_assert!(mistakes.iter().all(|one| never(&one.message)), "{mistakes:?}");
            return Ok(());
        }
        let mut policy = policy(&text);
        let world = world(seed);
        for call in world.trace.calls.iter().map(|call| call.id) {
            let wanted = expected(&world, call, &rules, priority, ignore);
            prop_assert_eq!(shown(&ask(&mut *policy, &world, call)), wanted, "{}", text);
        }
    }
}

/// A rule that is refused because it can never hit does hit nowhere.
#[test]
fn what_is_said_never_to_hit_never_hits() {
    let random = &mut Random::new(7);
    let texts = [
        "Reads",
        "HighRisk",
        "Risk(Low)",
        "Risk(Write)",
        "Operation(Act)",
    ];
    let mut refused = 0;
    for _ in 0..200 {
        let mut pick = || {
            let text = texts[random.index(texts.len())];
            if random.one_in(2) {
                format!("Not({text})")
            } else {
                text.to_owned()
            }
        };
        let when = [pick(), pick(), pick()].join(", ");
        let rule = |when: &str| {
            super::file(&format!(
                "(rule: \"hit\", at: Proposal, when: [{when}], then: Allow),"
            ))
        };
        if crate::load(&rule(&when)).is_ok() {
            continue;
        }
        refused += 1;
        // The same with a condition that always holds and that the check cannot see through.
        let hidden = when
            .split(", ")
            .map(|one| format!("Any([{one}, Tool(\"no_such_tool\")])"))
            .collect::<Vec<_>>()
            .join(", ");
        let mut policy = policy(&rule(&hidden));
        for seed in 0..60 {
            let world = world(seed);
            for call in world.trace.calls.iter().map(|call| call.id) {
                let ruling = ask(&mut *policy, &world, call);
                assert_eq!(ruling.reason.rule, "default_allow", "{when}");
            }
        }
    }
    assert!(refused > 20, "{refused}");
}
