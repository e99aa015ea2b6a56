use super::shadow::Shadow;
use super::stubs::{
    BODY, CC, Decide, Idle, Member, Panel, Recoverer, TO, abort, allow, alternating, block,
    block_redacted, confirm, confirm_secrets, decide, hold, lengthen, readdress,
    readdress_otherwise, redact, says, simulate, simulate_redacted, world,
};
use super::*;
use crate::conformance::check_policy;
use crate::conformance::sample::World;
use crate::draws::{Draws, RolloutKey};
use crate::ids::CallId;
use crate::policy::DenialReason;

/// The verdict and rule of the strictest of these; the rules of the members are `a`, `b`, `c`.
fn strictest(decides: &[Decide]) -> (ProposalVerdict, String) {
    let panel = Panel::new();
    let members = ["a", "b", "c"].iter().zip(decides);
    let members = members.map(|(rule, decide)| panel.member(rule, *decide));
    let ruling = decide(&mut Composition::strictest(members.collect()));
    (ruling.verdict, ruling.reason.rule.into_owned())
}

#[test]
fn the_most_severe_verdict_wins_and_every_refusing_rule_is_kept() {
    use ProposalVerdict::{Abort, Allow, Block, Confirm, Hold};
    let cases: [(&[Decide], ProposalVerdict, &str); 9] = [
        (&[], Allow, "default_allow"),
        (&[allow], Allow, "a"),
        (&[allow, allow], Allow, "a+b"),
        (&[allow, block], Block, "b"),
        (&[block, allow, block], Block, "a+c"),
        (&[confirm, block], Block, "a+b"),
        (&[hold, confirm], Confirm, "a+b"),
        (&[hold, allow, simulate], Hold, "a+c"),
        (&[block, abort, confirm], Abort, "a+b+c"),
    ];
    for (members, verdict, rule) in cases {
        assert_eq!(strictest(members), (verdict, rule.to_owned()));
    }
}

#[test]
fn a_neutral_allow_leaves_no_rule() {
    assert_eq!(
        decide(&mut Composition::strictest(vec![
            Box::new(Idle),
            Box::new(Idle)
        ])),
        Ruling::<ProposalVerdict>::neutral()
    );
}

#[test]
fn first_hit_asks_nobody_after_the_first_refusal() {
    let panel = Panel::new();
    let mut composition = Composition::first_hit(vec![
        panel.member("a", allow),
        panel.member("b", hold),
        panel.member("c", abort),
    ]);
    let ruling = decide(&mut composition);
    assert_eq!(ruling.verdict, ProposalVerdict::Hold);
    assert_eq!(ruling.reason.rule, "b");
    assert_eq!(panel.asked(), ["a", "b"]);
}

#[test]
fn first_hit_goes_on_after_an_allow() {
    let panel = Panel::new();
    let members = vec![panel.member("a", allow), panel.member("b", allow)];
    let ruling = decide(&mut Composition::first_hit(members));
    assert_eq!(ruling.verdict, ProposalVerdict::Allow);
    assert_eq!(ruling.reason.rule, "a+b");
}

#[test]
fn priority_takes_the_first_match_be_it_an_allow() {
    let panel = Panel::new();
    let ruling = decide(&mut Composition::priority(vec![
        (5, panel.member("late", block)),
        (-1, panel.member("early", allow)),
    ]));
    assert_eq!(ruling.verdict, ProposalVerdict::Allow);
    assert_eq!(ruling.reason.rule, "early");
    assert_eq!(panel.asked(), ["early"]);
}

#[test]
fn a_neutral_allow_is_no_match() {
    let panel = Panel::new();
    let ruling = decide(&mut Composition::priority(vec![
        (0, Box::new(Idle)),
        (1, panel.member("late", block)),
    ]));
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
}

#[test]
fn at_equal_priority_a_refusal_stands_before_an_allow() {
    let panel = Panel::new();
    let ruling = decide(&mut Composition::priority(vec![
        (1, panel.member("allow", allow)),
        (1, panel.member("confirm", confirm)),
        (1, panel.member("block", block)),
        (2, panel.member("abort", abort)),
    ]));
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
    assert_eq!(panel.asked(), ["allow", "confirm", "block"]);
}

#[test]
fn a_member_is_asked_only_on_its_own_hooks() {
    let panel = Panel::new();
    let mut composition =
        Composition::strictest(vec![panel.member("a", block), Box::new(Recoverer(1))]);
    assert_eq!(composition.hooks(), Hooks::PROPOSAL | Hooks::RECOVERY);
    let world = world();
    let mut draws = Draws::new(RolloutKey::default());
    let view = &mut world.view(&mut draws);
    let ruling = composition.on_commit(view, world.proposal(CallId(0)));
    assert_eq!(ruling, Ruling::<CommitVerdict>::neutral());
    assert_eq!(panel.asked(), [""; 0]);
}

#[test]
fn a_rewrite_is_shown_to_everybody_once_more() {
    let panel = Panel::new();
    let mut composition = Composition::strictest(vec![
        panel.member("redact", redact),
        panel.member("objector", allow),
    ]);
    let ruling = decide(&mut composition);
    assert_eq!(ruling.verdict, redact(&[]));
    assert_eq!(ruling.reason.rule, "redact");
    let asked: Vec<_> = panel.asked.try_iter().collect();
    let rules: Vec<_> = asked.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, ["redact", "objector", "redact", "objector"]);
    assert!(says(&asked[1].1, BODY, "secret"));
    assert!(says(&asked[3].1, BODY, "[redacted]"));
    assert_eq!(asked[3].1[0], asked[1].1[0]);
    assert_eq!(asked[3].1[1].label, asked[1].1[1].label);
}

#[test]
fn without_a_rewrite_everybody_is_asked_once() {
    let panel = Panel::new();
    decide(&mut Composition::strictest(vec![
        panel.member("a", hold),
        panel.member("b", allow),
    ]));
    assert_eq!(panel.asked(), ["a", "b"]);
}

#[test]
fn a_call_that_cannot_take_effect_is_not_rewritten() {
    let panel = Panel::new();
    for refuse in [block as Decide, simulate, abort] {
        let ruling = decide(&mut Composition::strictest(vec![
            panel.member("a", redact),
            panel.member("b", refuse),
        ]));
        assert_eq!(ruling.verdict, refuse(&[]));
        assert_eq!(ruling.reason.rule, "a+b");
        assert_eq!(panel.asked(), ["a", "b"]);
    }
}

#[test]
fn what_objects_only_to_the_first_form_is_content_with_the_rewritten_one() {
    assert_eq!(
        strictest(&[redact, confirm_secrets]),
        (redact(&[]), "a".to_owned())
    );
}

#[test]
fn an_objection_to_the_rewritten_form_stands() {
    let conflict = || (ProposalVerdict::Block, "rewrite_conflict+a+b".to_owned());
    let cases: [(&[Decide], (ProposalVerdict, String)); 4] = [
        (
            &[redact, block_redacted],
            (ProposalVerdict::Block, "a+b".to_owned()),
        ),
        (
            &[redact, simulate_redacted],
            (simulate(&[]), "a+b".to_owned()),
        ),
        (&[redact, hold], conflict()),
        (&[redact, confirm], conflict()),
    ];
    for (members, expected) in cases {
        assert_eq!(strictest(members), expected);
    }
}

#[test]
fn a_second_rewrite_is_a_conflict() {
    assert_eq!(
        strictest(&[lengthen]),
        (ProposalVerdict::Block, "rewrite_conflict+a".to_owned())
    );
}

#[test]
fn rewrites_conflict_only_over_the_same_argument() {
    let both = ProposalVerdict::Rewrite(vec![
        (TO, Value::text("partner")),
        (BODY, Value::text("[redacted]")),
    ]);
    assert_eq!(strictest(&[redact, readdress]), (both, "a+b".to_owned()));
    assert_eq!(
        strictest(&[readdress, readdress]),
        (readdress(&[]), "a+b".to_owned())
    );
    assert_eq!(
        strictest(&[readdress, readdress_otherwise]),
        (ProposalVerdict::Block, "rewrite_conflict+a+b".to_owned())
    );
}

#[test]
fn a_conflict_is_told_as_a_fault_of_the_plugins() {
    let panel = Panel::new();
    let ruling = decide(&mut Composition::strictest(vec![
        panel.member("a", readdress),
        panel.member("b", readdress_otherwise),
    ]));
    assert_eq!(ruling.reason.denial, DenialReason::PluginFault);
}

/// In a list the first hit rewrites, and then the whole list is asked about the rewritten call.
#[test]
fn first_hit_and_priority_ask_again_after_a_rewrite() {
    let panel = Panel::new();
    let members = || {
        vec![
            panel.member("guard", block_redacted),
            panel.member("redact", redact),
            panel.member("never", abort),
        ]
    };
    let ruling = decide(&mut Composition::first_hit(members()));
    assert_eq!(ruling.verdict, ProposalVerdict::Block);
    assert_eq!(ruling.reason.rule, "redact+guard");
    assert_eq!(panel.asked(), ["guard", "redact", "guard"]);
    let ruling = decide(&mut Composition::priority((0..).zip(members()).collect()));
    assert_eq!(ruling.verdict, ProposalVerdict::Allow, "the guard matched");
    assert_eq!(panel.asked(), ["guard"]);
}

fn rewritten_by(changes: &[(u16, Value)]) -> (World, Vec<Argument>) {
    let world = world();
    let mut draws = Draws::new(RolloutKey::default());
    let arguments = {
        let view = world.view(&mut draws);
        rewritten(&world.proposal(CallId(0)), changes, &view)
    };
    (world, arguments)
}

#[test]
fn an_added_argument_is_tainted_if_the_call_is() {
    let (world, arguments) = rewritten_by(&[(CC, Value::text("boss"))]);
    assert_eq!(arguments.len(), 3);
    assert_eq!(arguments[2].position, CC);
    let label = world.labels.get(arguments[2].label);
    assert!(label.carries(&world.briefing.untrusted));
}

#[test]
fn a_position_that_the_tool_lacks_is_ignored() {
    let (world, arguments) = rewritten_by(&[(99, Value::text("boss"))]);
    assert_eq!(arguments, *world.trace.calls[0].arguments);
}

#[test]
fn every_operator_keeps_the_laws_with_members_that_have_state() {
    let quiet = |rule, decide| -> Box<dyn Policy> {
        let told = None;
        Box::new(Member { rule, decide, told })
    };
    let members = move || vec![alternating(), quiet("redact", redact), alternating()];
    let compositions: [&dyn Fn() -> Box<dyn Policy>; 5] = [
        &|| {
            Box::new(Composition::strictest(vec![
                alternating(),
                Box::new(Idle),
                alternating(),
            ]))
        },
        &|| Box::new(Composition::first_hit(vec![alternating(), alternating()])),
        &|| {
            Box::new(Composition::priority(vec![
                (0, alternating()),
                (0, alternating()),
            ]))
        },
        &|| {
            Box::new(Shadow::new(
                alternating(),
                Box::new(Composition::first_hit(members())),
            ))
        },
        &|| {
            let inner = Composition::strictest(vec![alternating()]);
            Box::new(Composition::first_hit(vec![Box::new(inner), alternating()]))
        },
    ];
    for make in compositions {
        assert_eq!(check_policy(make, 24), []);
    }
}
