use super::*;
use crate::compose::stubs::{
    Drawing, Idle, Panel, alternating, block_secrets, decide, hold, saved, world,
};
use crate::draws::{Draws, RolloutKey};
use crate::ids::CallId;

#[test]
fn a_shadow_rules_as_the_live_policy_and_counts_the_other() {
    let panel = Panel::new();
    let live = panel.member("live", hold);
    let observed = panel.member("observed", block_secrets);
    let mut shadow = Shadow::new(live, observed);
    for _ in 0..3 {
        let ruling = decide(&mut shadow);
        assert_eq!(ruling.verdict, ProposalVerdict::Hold);
        assert_eq!(ruling.reason.rule, "live");
    }
    let counts: Vec<_> = shadow.log().counts().collect();
    let (sighting, count) = counts[0];
    assert_eq!(counts.len(), 1);
    assert_eq!(
        (sighting.hook, sighting.live, sighting.observed, count),
        (Hook::Proposal, VerdictKind::Hold, VerdictKind::Block, 3)
    );
    assert_eq!(sighting.rule, "observed");
    assert_eq!(shadow.log().disagreements(), 3);
}

#[test]
fn the_log_of_a_shadow_can_be_read_from_its_saved_state() {
    let mut shadow = Shadow::new(Box::new(Idle), alternating());
    for _ in 0..4 {
        decide(&mut shadow);
    }
    let log = ShadowLog::of_saved(&saved(&shadow)).unwrap();
    assert_eq!(&log, shadow.log());
    assert_eq!(log.disagreements(), 2);
    assert!(ShadowLog::of_saved(&[1, 2, 3]).is_err());
}

#[test]
fn the_draws_of_the_observed_policy_are_the_same_and_leave_no_record() {
    let record = |policy: &mut dyn Policy| {
        let world = world();
        let mut draws = Draws::new(RolloutKey::default());
        draws.recording(true);
        let view = &mut world.view(&mut draws);
        let ruling = policy.on_proposal(view, world.proposal(CallId(0)));
        (ruling, draws.take_record().count())
    };
    let (alone, drawn) = record(&mut Drawing);
    assert_eq!(drawn, 1);
    let mut shadow = Shadow::new(Box::new(Idle), Box::new(Drawing));
    assert_eq!(record(&mut shadow).1, 0);
    let (sighting, _) = shadow.log().counts().next().unwrap();
    assert_eq!(sighting.rule, alone.reason.rule);
}

#[test]
fn hooks_and_kinds_stand_at_the_place_of_their_number() {
    for (place, hook) in HOOKS.into_iter().enumerate() {
        assert_eq!(hook as usize, place);
    }
    for (place, kind) in KINDS.into_iter().enumerate() {
        assert_eq!(kind as usize, place);
    }
    let all = HOOKS.map(Hooks::from);
    let union = all.into_iter().fold(Hooks::empty(), Hooks::union);
    assert_eq!(union, Hooks::all());
}

#[test]
fn what_lacked_a_fact_or_failed_is_not_covered() {
    let seen = |rule: &str| Sighting {
        hook: Hook::Proposal,
        live: VerdictKind::Allow,
        observed: VerdictKind::Block,
        rule: rule.to_owned(),
        call: None,
    };
    assert!(seen("a+b").is_covered());
    for rule in ["a+facts_missing", "facts_missing", "plugin_fault+a"] {
        assert!(!seen(rule).is_covered(), "{rule}");
    }
}

#[test]
fn the_log_is_limited() {
    let mut log = ShadowLog::default();
    for number in 0..1_500 {
        log.note(Sighting {
            hook: Hook::Proposal,
            live: VerdictKind::Allow,
            observed: VerdictKind::Block,
            rule: format!("rule_{number}"),
            call: None,
        });
    }
    assert_eq!(log.counts().count(), 1_000);
    assert_eq!(log.dropped(), 500);
}
