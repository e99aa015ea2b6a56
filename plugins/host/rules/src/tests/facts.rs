//! What is known, what is unknown, and what becomes of a decision that hangs on it.

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, list, tool};
use plugins::ids::CallId;
use plugins::label::{LabelId, Readers};
use plugins::policy::ProposalVerdict;
use plugins::tool::{RiskClass, Role, Target, ToolSpec, ValueKind};
use plugins::value::Value;

use super::{ask, file, policy};
use crate::logic::Truth;

/// `send(to, cc?, count?, body?)`, aimed at `to`.
fn send() -> ToolSpec {
    let mut send = tool("send", RiskClass::Outbound, "");
    let mut count = argument("count", Role::Scope);
    count.kind = ValueKind::Integer;
    send.arguments = vec![
        argument("to", Role::Recipient),
        argument("cc", Role::Recipient),
        count,
        argument("body", Role::Content),
    ];
    send.target = Target::Argument(0);
    send
}

struct Desk {
    world: World,
    tainted: LabelId,
}

impl Desk {
    fn new() -> Self {
        let mut world = World::new();
        world.add_agent("assistant");
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        world.add_source("doc:plan", Trust::Trusted, Readers::Everyone);
        world.add_tool(send());
        world.add_tool(tool("clock", RiskClass::Low, "clock"));
        let tainted = world.label_of(&[note]);
        Self { world, tainted }
    }

    /// A call of `send` with these arguments by position, the first of them tainted.
    fn call(&mut self, arguments: &[(u16, Value)]) -> CallId {
        let label = |position: u16| {
            if position == 0 {
                self.tainted
            } else {
                LabelId::BOTTOM
            }
        };
        let arguments = arguments
            .iter()
            .map(|(position, value)| given(*position, value.clone(), label(*position)))
            .collect();
        self.world.add_call(plugins::ids::ToolId(0), arguments)
    }

    /// What a predicate is of a call, read off from three decisions.
    fn truth(&self, predicate: &str, call: CallId) -> Truth {
        let rules = |when: &str| {
            file(&format!(
                "(rule: \"hit\", at: Proposal, when: [{when}], then: Allow),"
            ))
        };
        let rule = |when: &str| {
            let ruling = ask(&mut *policy(&rules(when)), &self.world, call);
            ruling.reason.rule.to_string()
        };
        let opposite = rule(&format!("Not({predicate})"));
        match (&*rule(predicate), &*opposite) {
            ("hit", "default_allow") => Truth::True,
            ("default_allow", "hit") => Truth::False,
            ("facts_missing", "facts_missing") => Truth::Unknown,
            other => panic!("{predicate}: {other:?}"),
        }
    }
}

/// Every value test on a text, a list, a number, and what is not given.
#[test]
fn tests_of_values_are_true_false_or_unknown() {
    use Truth::{False, True, Unknown};
    let mut desk = Desk::new();
    let call = desk.call(&[
        (0, list(&["a@x", "b@y"])),
        (2, Value::Integer(3)),
        (3, Value::text("hey")),
    ]);
    for (test, of_list, of_absent, of_number, of_text) in [
        ("Given", True, False, True, True),
        ("Absent", False, True, False, False),
        ("Equals(\"a@x\")", True, False, False, False),
        ("Equals([\"a@x\", \"b@y\"])", True, False, False, False),
        ("OneOf([3, \"hey\"])", False, False, True, True),
        ("Outside([\"a@x\"])", True, False, Unknown, True),
        (
            "Outside([\"a@x\", \"b@y\", \"hey\"])",
            False,
            False,
            Unknown,
            False,
        ),
        ("Every(EndsWith(\"@x\"))", False, True, Unknown, False),
        ("Every(Contains(\"@\"))", True, True, Unknown, False),
        ("StartsWith(\"b\")", True, False, Unknown, False),
        ("LongerThan(2)", True, False, Unknown, True),
        ("LongerThan(3)", False, False, Unknown, False),
        ("Texts(AtLeast(2))", True, False, Unknown, False),
        ("Texts(0)", False, True, Unknown, False),
        ("AtLeast(3)", Unknown, False, True, Unknown),
        ("More(3)", Unknown, False, False, Unknown),
        ("Less(4)", Unknown, False, True, Unknown),
        ("AtMost(2)", Unknown, False, False, Unknown),
        ("Tainted", True, False, False, False),
        ("Influenced", True, False, False, False),
        ("From(\"doc:note\")", True, False, False, False),
        ("From([\"doc:plan\"])", False, False, False, False),
        ("InfluencedBy(\"doc:note\")", True, False, False, False),
        ("Public", True, False, True, True),
        ("Expands", False, False, False, False),
        ("All([Tainted, AtLeast(1)])", Unknown, False, False, False),
        ("Any([Given, AtLeast(9)])", True, False, True, True),
    ] {
        for (name, wanted) in [
            ("to", of_list),
            ("cc", of_absent),
            ("count", of_number),
            ("body", of_text),
        ] {
            let predicate = format!("Argument(name: \"{name}\", is: {test})");
            assert_eq!(desk.truth(&predicate, call), wanted, "{predicate}");
        }
    }
}

#[test]
fn a_named_argument_that_the_tool_lacks_is_unknown_and_a_role_is_not() {
    use Truth::{False, True, Unknown};
    let mut desk = Desk::new();
    let clock = desk.world.add_call(plugins::ids::ToolId(1), Vec::new());
    for (predicate, wanted) in [
        ("Argument(name: \"to\", is: Given)", Unknown),
        ("Argument(name: \"to\", is: Absent)", Unknown),
        ("Argument(role: Recipient, is: Tainted)", False),
        ("Argument(role: [Recipient, Scope], is: Absent)", True),
        ("EveryArgument(role: Recipient, is: Given)", False),
        ("Argument(is: Given)", False),
        ("LedgerNames(\"to\")", Unknown),
        ("All([HighRisk, Argument(name: \"to\", is: Given)])", False),
        ("Any([Risk(Low), Argument(name: \"to\", is: Given)])", True),
        ("Target(Equals(\"clock\"))", True),
    ] {
        assert_eq!(desk.truth(predicate, clock), wanted, "{predicate}");
    }
}

/// The target of several is none of them; a target that was not given is known not to be there.
#[test]
fn a_target_is_known_unless_it_is_one_of_several() {
    use Truth::{False, True, Unknown};
    let mut desk = Desk::new();
    let one = desk.call(&[(0, Value::text("a"))]);
    let two = desk.call(&[(0, list(&["a", "b"]))]);
    let none = desk.call(&[]);
    for (call, equals, absent) in [
        (one, True, False),
        (two, Unknown, Unknown),
        (none, False, True),
    ] {
        assert_eq!(desk.truth("Target(Equals(\"a\"))", call), equals);
        assert_eq!(desk.truth("Target(Absent)", call), absent);
    }
    let again = "Happened(what: Proposed, of: ThisTarget)";
    assert_eq!(desk.truth(again, one), True);
    assert_eq!(desk.truth(again, two), Unknown);
}

#[test]
fn history_is_counted_by_kind_and_time() {
    use Truth::{False, True};
    let mut desk = Desk::new();
    let first = desk.call(&[(0, Value::text("a"))]);
    desk.world.commit(first);
    desk.world.add_call(plugins::ids::ToolId(1), Vec::new());
    let second = desk.call(&[(0, Value::text("b"))]);
    for (predicate, wanted) in [
        ("Count(what: Committed, is: 1)", True),
        ("Count(what: Proposed, is: 3)", True),
        ("Count(what: Proposed, of: HighRisk, is: AtMost(1))", False),
        ("Count(what: Proposed, of: ThisTool, is: Exactly(2))", True),
        ("Count(what: Proposed, of: ThisTarget, is: Less(2))", True),
        (
            "Count(what: Proposed, of: ThisAgent, within: Episode, is: More(2))",
            True,
        ),
        (
            "Count(what: Proposed, of: Tool([\"clock\", \"x\"]), is: 1)",
            True,
        ),
        ("Happened(what: Committed, of: Tool(\"clock\"))", False),
        ("Happened(what: Denied)", False),
        ("Happened(what: Committed, within: Ticks(1))", False),
        ("Happened(what: Committed, within: Ticks(100))", True),
        ("Tick(More(0))", True),
        ("Episode(0)", True),
        ("Agent([\"helper\", \"assistant\"])", True),
        ("Operation([Act, MemoryRead])", True),
        ("Choice(Tainted)", False),
        ("Recorded(Tainted)", True),
    ] {
        assert_eq!(desk.truth(predicate, second), wanted, "{predicate}");
    }
}

/// `missing: Block` refuses; `Ignore` goes on and says so in the rule.
#[test]
fn a_decision_that_hangs_on_an_unknown_is_refused_unless_told_otherwise() {
    use ProposalVerdict::{Allow, Block, Confirm};

    let mut desk = Desk::new();
    let clock = desk.world.add_call(plugins::ids::ToolId(1), Vec::new());
    let unknown =
        "(rule: \"first\", at: Proposal, when: [Argument(name: \"to\", is: Given)], then: Allow),";
    let second = "(rule: \"second\", at: Proposal, when: [Risk(Low)], then: Confirm, denial: ConfirmationRequired),";
    let decide = |settings: &str, rules: &str| {
        let text = format!("Rules(schema: 1, {settings} rules: [{rules}])");
        let ruling = ask(&mut *policy(&text), &desk.world, clock);
        (ruling.verdict, ruling.reason.rule.to_string())
    };
    let both = format!("{unknown}{second}");
    let turned = format!("{second}{unknown}");
    let otherwise = "otherwise: Block(rule: \"unlisted\", denial: OutsideUserGoal),";
    for (settings, rules, verdict, rule) in [
        ("", &*both, Block, "facts_missing"),
        ("missing: Ignore,", &both, Confirm, "second+facts_missing"),
        (
            "missing: Ignore,",
            unknown,
            Allow,
            "default_allow+facts_missing",
        ),
        ("", &turned, Confirm, "second"),
        (otherwise, unknown, Block, "facts_missing"),
        (
            &format!("missing: Ignore, {otherwise}"),
            unknown,
            Block,
            "unlisted+facts_missing",
        ),
    ] {
        assert_eq!(
            decide(settings, rules),
            (verdict, rule.to_owned()),
            "{settings} {rules}"
        );
    }
}

/// By priority, and at equal priorities a denial before an allow.
#[test]
fn a_lower_number_decides_and_a_denial_stands_first_among_equals() {
    let mut desk = Desk::new();
    let call = desk.call(&[(0, Value::text("a"))]);
    let decide = |rules: &str| {
        let text = format!("Rules(schema: 1, decide: Priority, rules: [{rules}])");
        ask(&mut *policy(&text), &desk.world, call)
            .reason
            .rule
            .to_string()
    };
    let allow = |priority: i32| {
        format!(
            "(rule: \"allow\", at: Proposal, priority: {priority}, when: [HighRisk], then: Allow),"
        )
    };
    let block = "(rule: \"block\", at: Proposal, priority: 5, when: [Risk(Outbound)], then: Block, denial: OutsideUserGoal),";
    assert_eq!(decide(&format!("{}{block}", allow(5))), "block");
    assert_eq!(decide(&format!("{}{block}", allow(4))), "allow");
    assert_eq!(decide(&format!("{}{block}", allow(-6))), "allow");
    assert_eq!(decide(&format!("{}{block}", allow(6))), "block");
}
