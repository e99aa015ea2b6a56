//! The node accounting of `docs/SEMANTICS.md` under `paper`, as golden tests on hand-built worlds.
//! The published counts fix these shapes only up to their means.

use plugins::briefing::{Channel, Trust};
use plugins::ids::AgentId;
use plugins::policy::{
    DenialReason, Hooks, MemoryVerdict, Policy, Proposal, ProposalVerdict, Reason, RecordView,
    RecoveryAction, RecoveryNotice, RecoveryVerdict, Ruling, View,
};
use plugins::state::SavedState;
use plugins::tool::{Operation, Passing, RiskClass, Role};
use plugins::trace::Outcome;
use worlds::spec::RecoveryOperation;

use crate::hand_built::{From, Nothing, Say, Script, World};

const NAMES: [&str; 3] = ["agent_0", "agent_1", "agent_2"];

/// A chain with an untrusted note and tools to read it, to summarise and to act.
fn note_world(hops: usize, trust: Trust) -> World {
    let mut world = World::new(hops);
    world.source("note", Channel::RetrievedDocument, trust);
    let name = &[("name", Role::Document, Passing::Value)];
    world.tool("read", Operation::ReadSource, RiskClass::Low, name);
    let text = &[("text", Role::Content, Passing::Value)];
    world.tool("summary", Operation::Act, RiskClass::Low, text);
    let arguments = &[
        ("to", Role::Recipient, Passing::Value),
        ("body", Role::Content, Passing::Value),
        ("attached", Role::Content, Passing::Reference),
    ];
    world.tool("send", Operation::Act, RiskClass::Outbound, arguments);
    let invite = &[("to", Role::Recipient, Passing::Value)];
    world.tool("invite", Operation::Act, RiskClass::Outbound, invite);
    world
}

fn read(name: &'static str) -> Say {
    Say::Call("read", vec![("name", name, From::Goal)])
}

fn summary() -> Say {
    Say::Call("summary", vec![("text", "in short", From::Read)])
}

fn invite(from: From) -> Say {
    Say::Call("invite", vec![("to", "who@there.local", from)])
}

fn send(to: From, body: From, attached: &'static str) -> Say {
    let arguments = vec![
        ("to", "who@there.local", to),
        ("body", "words", body),
        ("attached", attached, From::Goal),
    ];
    Say::Call("send", arguments)
}

/// The first agent reads, each hands on what it read, the last one acts.
fn chain(hops: usize, read: Say, acts: Vec<Say>) -> Script {
    let mut script = vec![Vec::new(); hops + 1];
    script[0].push(read);
    for hop in 0..hops {
        script[hop].push(Say::Delegate(NAMES[hop + 1], From::Read));
    }
    script[hops].extend(acts);
    script
}

fn assert_shape(
    claim: &str,
    world: &World,
    policy: &mut dyn Policy,
    script: Script,
    (tainted, region): (usize, usize),
) {
    let (history, numbers) = world.play(policy, script);
    assert_eq!(history.outcome, Outcome::Completed, "{claim}");
    assert_eq!(numbers.shape(), (tainted, region), "{claim}");
    assert_eq!(numbers.blast_radius_raw, tainted, "{claim}");
    assert_eq!(
        numbers.blast_radius_norm,
        (tainted, region.max(1)),
        "{claim}"
    );
}

/// Every shape over the note, at every number of hops.
fn assert_note_shape(claim: &str, blocks: bool, acts: &[Say], (tainted, region): (usize, usize)) {
    for hops in 0..=2 {
        let world = note_world(hops, Trust::Untrusted);
        let script = chain(hops, read("note"), acts.to_vec());
        let claim = format!("{claim}, {hops} hops");
        let shape = (tainted + 2 * hops, region + 2 * hops);
        let policy: &mut dyn Policy = if blocks { &mut Blocks } else { &mut Nothing };
        assert_shape(&claim, &world, policy, script, shape);
    }
}

#[test]
fn a_summary_alone_is_3_of_6() {
    assert_note_shape(
        "summary",
        false,
        &[summary(), Say::Final(From::Goal)],
        (3, 6),
    );
}

/// The message is labelled, its two records are not.
#[test]
fn a_self_check_adds_1_and_3() {
    for (hops, name) in NAMES.into_iter().enumerate() {
        let mut world = note_world(hops, Trust::Untrusted);
        world.channel_to_itself(hops);
        let acts = vec![
            Say::Delegate(name, From::Read),
            summary(),
            Say::Final(From::Goal),
        ];
        let script = chain(hops, read("note"), acts);
        let shape = (4 + 2 * hops, 9 + 2 * hops);
        assert_shape("self-check", &world, &mut Nothing, script, shape);
    }
}

#[test]
fn a_committed_action_is_6_of_7() {
    let acts = [invite(From::Read), Say::Final(From::Read)];
    assert_note_shape("committed", false, &acts, (6, 7));
}

#[test]
fn two_committed_actions_are_8_of_10() {
    let acts = [
        invite(From::Read),
        invite(From::Read),
        Say::Final(From::Read),
    ];
    assert_note_shape("two actions", false, &acts, (8, 10));
}

#[test]
fn a_denied_action_with_retries_is_5_plus_r_of_6_plus_2r() {
    for retries in [0, 1, 2, 5] {
        let mut acts = vec![invite(From::Read); retries + 1];
        acts.push(Say::Final(From::Read));
        assert_note_shape("denied", true, &acts, (5 + retries, 6 + 2 * retries));
    }
}

#[test]
fn a_blocked_loop_of_13_is_17_of_30() {
    let mut acts = vec![invite(From::Read); 13];
    acts.push(Say::Final(From::Read));
    assert_note_shape("loop", true, &acts, (17, 30));
}

#[test]
fn arguments_from_the_goal_are_5_of_7_by_value_and_by_reference() {
    let by_value = [
        send(From::Goal, From::Read, "nothing"),
        Say::Final(From::Read),
    ];
    assert_note_shape("by value", false, &by_value, (5, 7));
    let by_reference = [send(From::Goal, From::Goal, "note"), Say::Final(From::Read)];
    assert_note_shape("by reference", false, &by_reference, (5, 7));
}

#[test]
fn content_referred_to_and_never_read_flows_from_the_source() {
    let world = note_world(0, Trust::Untrusted);
    let script = vec![vec![
        send(From::Goal, From::Goal, "note"),
        Say::Final(From::Goal),
    ]];
    let (_, numbers) = world.play(&mut Nothing, script);
    assert_eq!(numbers.shape(), (2, 2));
    assert_eq!(numbers.cascade_depth, 1);
}

#[test]
fn the_committed_action_lies_four_edges_deep() {
    let world = note_world(0, Trust::Untrusted);
    let acts = vec![invite(From::Read), Say::Final(From::Read)];
    let (_, numbers) = world.play(&mut Nothing, chain(0, read("note"), acts));
    assert_eq!(numbers.cascade_depth, 4);
    assert_eq!(
        (numbers.br_source, numbers.br_tool, numbers.br_agent),
        (1, 2, 1)
    );
    assert_eq!((numbers.br_message, numbers.br_side_effect), (1, 1));
}

#[test]
fn a_clean_world_is_0_of_0() {
    for hops in 0..=2 {
        let world = note_world(hops, Trust::Trusted);
        let acts = vec![summary(), invite(From::Read), Say::Final(From::Read)];
        let script = chain(hops, read("note"), acts);
        assert_shape("clean", &world, &mut Nothing, script, (0, 0));
    }
}

/// A chain with a poisoned record, a scrub at the end, and automatic persistence.
fn memory_world(hops: usize, delay: u64) -> World {
    let mut world = World::new(hops);
    let records = [("contact", Trust::Trusted), ("alias", Trust::Untrusted)];
    let store = world.store(&records, &[(AgentId(0), delay)]);
    let key = &[("name", Role::MemoryKey, Passing::Value)];
    world.tool("read", Operation::MemoryRead(store), RiskClass::Low, key);
    let text = &[("text", Role::Content, Passing::Value)];
    world.tool("summary", Operation::Act, RiskClass::Low, text);
    world.scrub(40);
    world
}

#[test]
fn a_record_wiped_unread_is_1_of_2() {
    let script = vec![vec![Say::Final(From::Goal)]];
    assert_shape("wiped", &memory_world(0, 1), &mut Nothing, script, (1, 2));
}

#[test]
fn an_ignored_record_is_2_of_6_at_any_number_of_hops() {
    let discard = Say::Discard("read", vec![("name", "alias", From::Goal)]);
    for hops in 0..=2 {
        let mut script = vec![Vec::new(); hops + 1];
        script[0] = vec![discard.clone(), summary()];
        for hop in 0..hops {
            script[hop].push(Say::Delegate(NAMES[hop + 1], From::Goal));
        }
        script[hops].push(Say::Final(From::Goal));
        assert_shape(
            "ignored",
            &memory_world(hops, 1),
            &mut Nothing,
            script,
            (2, 6),
        );
    }
}

#[test]
fn a_used_record_is_4_of_6_and_one_more_of_each_when_reported() {
    for hops in 0..=2 {
        for (reported, more) in [(From::Goal, 0), (From::Read, 1)] {
            let script = chain(hops, read("alias"), vec![Say::Final(reported)]);
            let shape = (4 + 2 * hops + more, 6 + 2 * hops + more);
            assert_shape("used", &memory_world(hops, 1), &mut Nothing, script, shape);
        }
    }
}

#[test]
fn a_copy_stored_after_the_scrub_stays_and_the_shape_is_the_same() {
    let script = chain(0, read("alias"), vec![Say::Final(From::Goal)]);
    assert_shape("late", &memory_world(0, 50), &mut Nothing, script, (4, 6));
}

#[test]
fn a_record_quarantined_at_retrieval_is_1_of_3() {
    let script = chain(0, read("alias"), vec![Say::Final(From::Goal)]);
    assert_shape(
        "quarantined",
        &memory_world(0, 1),
        &mut Blocks,
        script,
        (1, 3),
    );
}

#[test]
fn an_update_undone_by_a_compensating_restore_is_6_of_8() {
    let mut world = World::new(0);
    let note = world.source("note", Channel::RetrievedDocument, Trust::Untrusted);
    let store = world.store(&[("contact", Trust::Trusted)], &[]);
    let name = &[("name", Role::Document, Passing::Value)];
    world.tool("read", Operation::ReadSource, RiskClass::Low, name);
    let arguments = &[
        ("key", Role::MemoryKey, Passing::Value),
        ("body", Role::Content, Passing::Value),
    ];
    let update = Operation::MemoryUpdate(store);
    world.tool("update", update, RiskClass::Write, arguments);
    world.step(40, RecoveryOperation::Revoke(note));
    let update = Say::Call(
        "update",
        vec![("key", "contact", From::Read), ("body", "new", From::Read)],
    );
    let acts = vec![update, Say::Final(From::Goal)];
    let script = chain(0, read("note"), acts);
    assert_shape("undone", &world, &mut Blocks, script, (6, 8));
}

/// Blocks outbound calls, quarantines tainted records, and undoes what they let in.
struct Blocks;

impl SavedState for Blocks {}

impl Policy for Blocks {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL | Hooks::MEMORY_READ | Hooks::RECOVERY
    }

    fn on_proposal(
        &mut self,
        _view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let verdict = if proposal.tool.risk == RiskClass::Outbound {
            ProposalVerdict::Block
        } else {
            ProposalVerdict::Allow
        };
        let reason = Reason::new("outbound", DenialReason::TargetNotAuthorized);
        Ruling::new(verdict, reason)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let verdict = if view.tainted(record.recorded) {
            MemoryVerdict::Quarantine
        } else {
            MemoryVerdict::Allow
        };
        let reason = Reason::new("poisoned", DenialReason::MemoryQuarantined);
        Ruling::new(verdict, reason)
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        let tainted = notice
            .records
            .iter()
            .filter(|record| view.tainted(record.recorded));
        let calls: Vec<_> = tainted.filter_map(|record| record.call).collect();
        let verdict = if calls.is_empty() {
            RecoveryVerdict::Pass
        } else {
            RecoveryVerdict::Act(vec![RecoveryAction::Rollback(calls)])
        };
        let reason = Reason::new("revoked", DenialReason::OutsideUserGoal);
        Ruling::new(verdict, reason)
    }
}
