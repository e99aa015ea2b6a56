//! What is wrong with a file, where, and what would mend it.

use plugins::conformance::sample::{World, argument, tool};
use plugins::loaded::Mistake;
use plugins::tool::{RiskClass, Role};

use super::file;
use crate::{load, load_metrics, validate};

/// What is underlined, the message and the help of each mistake.
fn told(text: &str, mistakes: &[Mistake]) -> Vec<(String, String, String)> {
    mistakes
        .iter()
        .map(|mistake| {
            let place = mistake.place.clone().unwrap_or_default();
            (
                text[place].to_owned(),
                mistake.message.clone(),
                mistake.help.clone().unwrap_or_default(),
            )
        })
        .collect()
}

/// The only mistake of a file with these rules, in one line.
fn mistake(rules: &str) -> String {
    let text = file(rules);
    let mistakes = load(&text).unwrap_err();
    assert_eq!(mistakes.len(), 1, "{mistakes:#?}");
    let (place, message, help) = told(&text, &mistakes).remove(0);
    format!("[{place}] {message}; {help}")
}

#[test]
fn every_mistake_of_a_file_is_told_at_its_place() {
    let text = r#"Rules(
    schema: 1,
    sumary: "x",
    rules: [
        (rule: "Bad", at: Proposal, when: [HighRiks], then: Block, denial: OutsideUserGoal),
        (rule: "b", at: Propsal, when: [HighRisk], then: Allow),
        (rule: "c", at: Proposal, when: [Argument(rol: Recipient, is: Taintd)], then: Drop),
        (rule: "d", at: Message, when: [HighRisk], then: Pass),
        (rule: "e", at: Proposal, then: Block),
    ],
)"#;
    let mistakes = load(text).unwrap_err();
    let told = told(text, &mistakes);
    let found: Vec<(&str, &str, &str)> = told
        .iter()
        .map(|(place, message, help)| (&**place, &**message, &**help))
        .collect();
    assert_eq!(
        found,
        [
            (
                "sumary",
                "`sumary` is no entry of a file of rules",
                "did you mean `summary`?"
            ),
            (
                "\"Bad\"",
                "`Bad` is no name of a rule",
                "1 to 64 lower-case letters, digits and `_`"
            ),
            (
                "HighRiks",
                "`HighRiks` is no predicate",
                "did you mean `HighRisk`?"
            ),
            (
                "Propsal",
                "`Propsal` is no hook",
                "did you mean `Proposal`?"
            ),
            (
                "rol",
                "`rol` is no entry of an argument",
                "did you mean `role`?"
            ),
            ("Taintd", "`Taintd` is no test", "did you mean `Tainted`?"),
            (
                "Drop",
                "`Drop` is no verdict at `Proposal`",
                "there is: Allow, Block, Confirm, Hold, Abort, Simulate, Rewrite"
            ),
            (
                "HighRisk",
                "`HighRisk` means nothing at `Message`",
                "it can be asked at `Proposal`, `Commit`"
            ),
            ("(", "`when` is missing", "for example `when: [HighRisk]`"),
            (
                "(",
                "a refusal says what the agent is told",
                "for example `denial: OutsideUserGoal`"
            ),
        ]
    );
}

#[test]
fn rules_that_can_never_decide_are_mistakes() {
    let rule = |name: &str, when: &str| {
        format!("(rule: \"{name}\", at: Proposal, when: [{when}], then: Allow),")
    };
    let two = |first: &str, second: &str| mistake(&(rule("a", first) + &rule("b", second)));
    let after = "remove it, or put it before the other";
    assert_eq!(
        two("Always", "HighRisk"),
        format!("[\"b\"] `b` is never asked: `a` always hits before; {after}")
    );
    let fewer = format!(
        "[\"b\"] `b` is never asked: `a` hits before, with the same conditions or fewer; {after}"
    );
    assert_eq!(two("HighRisk, LedgerMatch", "LedgerMatch, HighRisk"), fewer);
    assert_eq!(two("HighRisk", "All([LedgerMatch, HighRisk])"), fewer);
    for (when, why) in [
        ("Reads, HighRisk", "no tool has this risk and does this"),
        (
            "Risk(Low), Risk([Write, Outbound])",
            "no tool has this risk and does this",
        ),
        (
            "Reads, Operation([Act, MemoryWrite])",
            "no tool has this risk and does this",
        ),
        (
            "Any([Risk(Outbound), Risk(Write)]), Reads",
            "no tool has this risk and does this",
        ),
        ("Tool(\"a\"), Tool([\"b\", \"c\"])", "a call is of one tool"),
        ("Agent(\"a\"), Agent(\"b\")", "it is about one agent"),
        (
            "LedgerMatch, Not(LedgerMatch)",
            "a condition and its opposite must both hold",
        ),
        ("Not(Always)", "a condition and its opposite must both hold"),
    ] {
        let help = "remove it, or one of the conditions";
        assert_eq!(
            mistake(&rule("a", when)),
            format!("[[] `a` can never hit: {why}; {help}"),
            "{when}"
        );
    }
}

/// The order that counts is that of asking, which priorities change.
#[test]
fn a_rule_of_lower_priority_is_what_is_never_asked() {
    let text = "Rules(schema: 1, decide: Priority, rules: [
        (rule: \"late\", at: Proposal, priority: 9, when: [HighRisk], then: Allow),
        (rule: \"early\", at: Proposal, priority: 1, when: [Always], then: Allow),
    ])";
    let mistakes = load(text).unwrap_err();
    assert_eq!(told(text, &mistakes)[0].0, "\"late\"");
}

/// At one hook a rule may be hidden where it is not at another, and that is a mistake all the same.
#[test]
fn rules_at_different_hooks_do_not_hide_each_other() {
    let text = file(
        "(rule: \"a\", at: Proposal, when: [Always], then: Allow),
         (rule: \"b\", at: Commit, when: [Always], then: Allow),",
    );
    assert!(load(&text).is_ok());
}

#[test]
fn single_mistakes() {
    let when = |when: &str| format!("(rule: \"a\", at: Proposal, when: {when}, then: Allow)");
    for (rules, wanted) in [
        (when("[]"), "[[] the list of conditions is empty; name a condition, or write `[Always]`"),
        (when("[Any([])]"), "[[] the list of conditions is empty; name a condition, or write `[Always]`"),
        (when("[Tool([])]"), "[[] an empty list of names fits nothing; name one at least"),
        (when("[Tool(HighRisk)]"), "[HighRisk] `HighRisk` stands where a text in quotes is expected; "),
        (when("[Tool]"), "[Tool] `Tool` is not how it is written; write it as in `Tool(\"send_mail\")`"),
        (when("[HighRisk(1)]"), "[HighRisk(] `HighRisk(...)` is not how it is written; write it as in `HighRisk`"),
        (when("[Choice(Equals(\"x\"))]"), "[Equals(] `Equals` cannot be asked of a label alone; there is: All, Any, Not, Tainted, Influenced, From, InfluencedBy, ReadableBy"),
        (when("[Argument(name: \"a\", role: Scope, is: Given)]"), "[\"a\"] an argument is meant by its name or its role; keep one of them"),
        (when("[Argument(name: \"a\", is: Contains(\"\"))]"), "[\"\"] every text has the empty text in it; write what to look for, or `Given`"),
        (when("[Count(what: Commited, is: 1)]"), "[Commited] `Commited` is no happening of calls; did you mean `Committed`?"),
        (when("[Happened(what: Committed, within: Ticks(0))]"), "[0] nothing is within 0 ticks; write 1 or more"),
        (when("[LedgerEntry(-1)]"), "[-1] -1 is less than 0; write 0 or more"),
        ("(rule: \"facts_missing\", at: Proposal, when: [Always], then: Allow)".into(), "[\"facts_missing\"] `facts_missing` is what the program itself calls a rule; choose another name"),
        ("(rule: \"a\", at: Proposal, priority: 1, when: [Always], then: Allow)".into(), "[1] where the first rule that hits decides, there is no priority; leave it out, or write `decide: Priority`"),
        ("(rule: \"a\", at: Proposal, when: [Always], then: Allow, denial: OutsideUserGoal)".into(), "[OutsideUserGoal] nobody is told of a denial here; leave `denial` out"),
        ("(rule: \"a\", at: Message, when: [Always], then: Quarantine, denial: OutsideUserGoal)".into(), "[OutsideUserGoal] nobody is told of a denial here; leave `denial` out"),
        ("(rule: \"a\", at: Proposal, when: [Always], then: Block, denial: PluginFault)".into(), "[PluginFault] `PluginFault` is no denial; there is: "),
        ("(rule: \"a\", at: [Proposal, Message], when: [Always], then: Block, denial: OutsideUserGoal)".into(), "[Block] `Block` is no verdict at `Message`, `Proposal`; no verdict is of all these hooks: write a rule for each"),
        ("(rule: \"a\", at: Prompt, when: [Always], then: Edit())".into(), "[Edit(] this edit changes nothing; name one of guidance, schema, mark, drop, mask"),
        ("(rule: \"a\", at: Session, when: [Always], then: MaskTools(tools: [LedgerMatch]))".into(), "[LedgerMatch] `LedgerMatch` is no predicate about a tool alone; it can be asked at `Proposal`, `Commit`"),
        ("(rule: \"a\", at: Session, when: [Happened(what: Committed, of: ThisTool)], then: Abort)".into(), "[ThisTool] there is no call at `Session`; count `All`, `HighRisk` or a `Tool`"),
        ("(rule: \"a\", at: Proposal, when: [HighRisk], then: Allow), (rule: \"a\", at: Proposal, when: [Reads], then: Allow)".into(), "[\"a\"] two rules are called `a`; give each a name of its own"),
    ] {
        let found = mistake(&rules);
        assert!(found.starts_with(wanted), "{found}\nwanted {wanted}");
    }
}

#[test]
fn what_is_said_of_the_whole_file() {
    for (text, wanted) in [
        ("World()", "the file is no `Rules(...)` but `World(...)`"),
        (
            "Rules(schema: 2, rules: [])",
            "version 2 of the grammar is not supported",
        ),
        ("Rules(rules: [])", "`schema` is missing"),
        ("Rules(schema: 1)", "`rules` is missing"),
        ("Rules(schema: 1, rules: [])", "there is no rule"),
        (
            "Rules(schema: 1, otherwise: Deny, rules: [(rule: \"a\", at: Proposal, when: [Always], then: Allow)])",
            "`Deny` is no answer where no rule hits",
        ),
        (
            "Rules(schema: 1, otherwise: Block(rule: \"a\", denial: OutsideUserGoal), rules: [(rule: \"a\", at: Proposal, when: [HighRisk], then: Allow)])",
            "a rule is called `a` already",
        ),
        (
            "Rules(schema: 1, otherwise: Block(rule: \"b\", denial: OutsideUserGoal), rules: [(rule: \"a\", at: Message, when: [Always], then: Pass)])",
            "this answers proposals, and no rule is at `Proposal`",
        ),
        (
            "Rules(schema: 1, decide: Priority, rules: [(rule: \"a\", at: Proposal, when: [HighRisk], then: Allow)])",
            "where the priority decides, every rule has one",
        ),
    ] {
        let mistakes = load(text).unwrap_err();
        assert_eq!(mistakes[0].message, wanted);
    }
    let metrics = "Metrics(schema: 1, metrics: [
        (name: \"a\", count: Comitted, of: [Always]),
        (name: \"b\", count: Delivered, of: [Field(is: Given)]),
        (name: \"c\", count: Stored, of: [HighRisk]),
    ])";
    let mistakes = load_metrics(metrics).unwrap_err();
    let told = told(metrics, &mistakes);
    let places: Vec<&str> = told.iter().map(|(place, ..)| &**place).collect();
    assert_eq!(places, ["Comitted", "Field(", "HighRisk"]);
    assert!(load("Metrics(schema: 1, metrics: [])").is_err());
    assert!(load_metrics("Rules(schema: 1, rules: [])").is_err());
}

#[test]
fn what_a_world_does_not_have_is_a_warning() {
    let mut world = World::new();
    world.add_agent("assistant");
    let mut send = tool("send_mail", RiskClass::Outbound, "x");
    send.arguments = vec![argument("recipient", Role::Recipient)];
    world.add_tool(send);
    let text = file(
        "(rule: \"a\", at: Proposal, when: [Tool([\"send_mail\", \"sendmail\"]), Agent(\"asistant\"),
            Argument(name: \"recipients\", is: From(\"doc:x\"))], then: Allow),
         (rule: \"b\", at: MemoryRead, when: [Store(0)], then: Allow),",
    );
    let warnings = validate(&text, &world.briefing);
    let told = told(&text, &warnings);
    let found: Vec<(&str, &str)> = told
        .iter()
        .map(|(place, message, _)| (&**place, &**message))
        .collect();
    assert_eq!(
        found,
        [
            ("\"sendmail\"", "the world has no tool `sendmail`"),
            ("\"asistant\"", "the world has no agent `asistant`"),
            (
                "\"recipients\"",
                "the world has no tool with an argument `recipients`"
            ),
            ("\"doc:x\"", "the world has no source `doc:x`"),
            ("0", "the world has no tool that uses the store `0`"),
        ]
    );
    assert_eq!(told[0].2, "did you mean `send_mail`?");
}
