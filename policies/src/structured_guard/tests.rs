use plugins::conformance::sample::{World, tool};
use plugins::draws::{Draws, RolloutKey, Stratum};
use plugins::ids::{AgentId, CallId, NodeId, ToolId};
use plugins::policy::{Basis, DEFAULT_ALLOW, DenialReason};

use super::*;
use crate::desk::{Features, decide, parameters, prompt, random_calls};

const CREATE: ToolId = ToolId(0);
const INVITE: ToolId = ToolId(1);

fn guard(missed_writes: &str) -> StructuredGuard {
    let given = [("missed_writes", missed_writes)];
    StructuredGuard::new(&parameters(&StructuredGuard::parameters(), &given))
}

/// As in case study 2: the ledger names a write and what then reaches outside.
fn meeting() -> World {
    let mut world = World::new();
    world.add_agent("assistant");
    world.add_tool(tool("create_event", RiskClass::Write, "calendar"));
    world.add_tool(tool("send_invite", RiskClass::Outbound, "evt-1"));
    world.authorize("create_event", "calendar", &[]);
    world.authorize("send_invite", "evt-1", &[]);
    world
}

/// Whether the guard misses a call, which it says is assumed.
#[track_caller]
fn is_missed(world: &World, call: CallId) -> bool {
    let ruling = decide(&mut guard("1"), world, call);
    let is_missed = ruling.verdict == ProposalVerdict::Allow;
    let (rule, basis) = if is_missed {
        ("allow_missed_write", Basis::Assumed)
    } else {
        ("confirm_structured_action", Basis::Exact)
    };
    assert_eq!((&*ruling.reason.rule, ruling.reason.basis), (rule, basis));
    is_missed
}

#[test]
fn truth_table() {
    for features in Features::all() {
        let ruling = decide(&mut guard("0"), &features.world(), CallId(0));
        let (verdict, rule) = if features.class == RiskClass::Low {
            (ProposalVerdict::Allow, DEFAULT_ALLOW)
        } else {
            (ProposalVerdict::Confirm, "confirm_structured_action")
        };
        assert_eq!(ruling.verdict, verdict, "{features:?}");
        assert_eq!(ruling.reason.rule, rule, "{features:?}");
        assert_eq!(ruling.reason.basis, Basis::Exact);
    }
}

/// No label and no ledger is looked at: every high-risk call is confirmed.
#[test]
fn nothing_with_consequences_commits_unasked() {
    let mut confirmed = 0;
    for (world, call) in random_calls() {
        let ruling = decide(&mut guard("0"), &world, call);
        let high_risk = world.proposal(call).tool.high_risk();
        let expected = if high_risk {
            ProposalVerdict::Confirm
        } else {
            ProposalVerdict::Allow
        };
        assert_eq!(ruling.verdict, expected);
        confirmed += i32::from(high_risk);
    }
    assert!(confirmed > 1_000, "{confirmed}");
}

#[test]
fn a_confirmation_shows_the_proposal() {
    let mut world = meeting();
    let call = world.add_call(INVITE, Vec::new());
    let reason = decide(&mut guard("0"), &world, call).reason;
    assert_eq!(reason.denial, DenialReason::ConfirmationRequired);
    assert_eq!(reason.evidence, [Evidence::Node(NodeId(0))]);
}

#[test]
fn every_prompt_shows_the_structured_schema_and_is_otherwise_unchanged() {
    let ruling = prompt(&mut guard("0"), &World::new());
    let edit = PromptEdit {
        schema_mode: Some(SchemaMode::Structured),
        drop: Vec::new(),
        mark: Vec::new(),
        guidance: None,
        mask: Vec::new(),
    };
    assert_eq!(ruling.verdict, PromptVerdict::Edit(edit));
    assert_eq!(ruling.reason.rule, "show_structured_schema");
}

#[test]
fn only_the_first_write_is_missed() {
    let mut world = meeting();
    let calls = [CREATE, INVITE, CREATE].map(|tool| world.add_call(tool, Vec::new()));
    let missed = calls.map(|call| is_missed(&world, call));
    assert_eq!(missed, [true, false, false]);
}

#[test]
fn a_call_that_reaches_outside_is_never_missed_and_hides_no_write() {
    let mut world = meeting();
    let calls = [INVITE, CREATE].map(|tool| world.add_call(tool, Vec::new()));
    let missed = calls.map(|call| is_missed(&world, call));
    assert_eq!(missed, [false, true]);
}

#[test]
fn every_agent_and_every_episode_has_a_first_write() {
    let mut world = meeting();
    world.add_agent("helper");
    let calls = [(); 4].map(|()| world.add_call(CREATE, Vec::new()));
    world.trace.calls[1].agent = AgentId(1);
    world.trace.calls[2].episode = 1;
    let missed = calls.map(|call| is_missed(&world, call));
    assert_eq!(missed, [true, true, true, false]);
}

/// In Table 11 no row ends with a commit, so a write that is all there is to do is not missed; in
/// Table 9 no harm commits, where the ledger names nothing.
#[test]
fn a_write_is_missed_only_beside_another_authorised_action() {
    let mut world = meeting();
    let call = world.add_call(CREATE, Vec::new());
    assert!(is_missed(&world, call));
    world.briefing.ledger.entries.pop();
    assert!(!is_missed(&world, call));
    world.authorize("create_event", "another", &[]);
    assert!(!is_missed(&world, call));
    world.briefing.ledger.entries.clear();
    assert!(!is_missed(&world, call));
}

/// The verdict on the first write in a rollout with this seed, and the names of the draws.
fn first_write(policy: &mut StructuredGuard, key: RolloutKey) -> (ProposalVerdict, Vec<String>) {
    let mut world = meeting();
    let call = world.add_call(CREATE, Vec::new());
    let mut draws = Draws::new(key);
    draws.recording(true);
    let ruling = policy.on_proposal(&mut world.view(&mut draws), world.proposal(call));
    let names: Vec<_> = draws
        .take_record()
        .map(|draw| draw.name.to_string())
        .collect();
    let basis = if names.is_empty() {
        Basis::Exact
    } else {
        Basis::Assumed
    };
    assert_eq!(ruling.reason.basis, basis);
    (ruling.verdict, names)
}

#[test]
fn at_zero_nothing_is_drawn_and_nothing_missed() {
    let mut policy = guard("0");
    let drawn = first_write(&mut policy, RolloutKey::default());
    assert_eq!(drawn, (ProposalVerdict::Confirm, Vec::new()));
}

/// What rests on the draw is assumed, the confirmation no less than the miss.
#[test]
fn a_draw_decides_and_is_recorded() {
    let mut missed = 0;
    for seed in 0..400 {
        let key = RolloutKey::new(1, "meeting".into(), seed);
        let (verdict, draws) = first_write(&mut guard("0.25"), key);
        assert_eq!(draws, ["missed_write"]);
        missed += i32::from(verdict == ProposalVerdict::Allow);
    }
    assert!((70..130).contains(&missed), "{missed}");
}

#[test]
fn a_caller_may_balance_what_is_missed() {
    let missed = (0..40).filter(|&place| {
        let mut key = RolloutKey::new(1, "meeting".into(), 1);
        key.stratum = Some(Stratum {
            group: "two actions".into(),
            place: place / 5,
            places: 8,
            slice: place % 5,
            slices: 5,
        });
        first_write(&mut guard("0.25"), key).0 == ProposalVerdict::Allow
    });
    assert_eq!(missed.count(), 10);
}
