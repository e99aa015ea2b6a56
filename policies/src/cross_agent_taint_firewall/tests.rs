use plugins::briefing::Trust;
use plugins::conformance::sample::World;
use plugins::ids::{AgentId, CallId, MessageId, SourceId};
use plugins::label::{LabelId, Readers};
use plugins::policy::{Basis, DEFAULT_ALLOW, DenialReason};
use plugins::tool::RiskClass;
use plugins::trace::{Edge, EdgeKind, Node, NodeDetail, Subject};

use super::*;
use crate::desk::{
    BODY, Features, ROOM, assert_label_monotone, decide, parameters, random_calls, taint_argument,
};
use crate::intent_ledger_v2::IntentLedgerV2;

const SENDER: AgentId = AgentId(1);
/// The untrusted source of [`Features::world`].
const NOTE: SourceId = SourceId(0);

fn firewall(scope: &str) -> CrossAgentTaintFirewall {
    let given = [("scope", scope)];
    CrossAgentTaintFirewall::new(&parameters(&CrossAgentTaintFirewall::parameters(), &given))
}

/// The definition, written out; `tainted` is that an argument of authority is, in the scope.
fn expected(call: Features, tainted: bool) -> (ProposalVerdict, &'static str) {
    match call {
        Features {
            class: RiskClass::Low,
            ..
        } => (ProposalVerdict::Allow, DEFAULT_ALLOW),
        _ if !tainted => (ProposalVerdict::Allow, "allow_untainted_authority"),
        Features { matched: false, .. } => (ProposalVerdict::Block, "block_tainted_unauthorized"),
        Features { leaks: true, .. } => (ProposalVerdict::Block, "block_secret_leak"),
        _ => (ProposalVerdict::Allow, "allow_tainted_match"),
    }
}

#[track_caller]
fn assert_rules(
    policy: &mut CrossAgentTaintFirewall,
    world: &World,
    expected: (ProposalVerdict, &str),
) {
    let ruling = decide(policy, world, CallId(0));
    assert_eq!(
        (ruling.verdict, &*ruling.reason.rule),
        expected,
        "{policy:?}"
    );
    assert_eq!(ruling.reason.basis, Basis::Exact);
}

/// In [`Features::world`] the room is the argument of authority that may be tainted. Without a
/// message, nothing crossed; with one that brought the note, what the note tainted did.
#[test]
fn truth_table() {
    for features in Features::all() {
        let mut world = features.world();
        let tainted = features.expands;
        assert_rules(
            &mut firewall("any_taint"),
            &world,
            expected(features, tainted),
        );
        assert_rules(
            &mut firewall("crossed_agents"),
            &world,
            expected(features, false),
        );
        deliver(&mut world, SENDER, &[NOTE]);
        for scope in ["any_taint", "crossed_agents"] {
            assert_rules(&mut firewall(scope), &world, expected(features, tainted));
        }
    }
}

#[test]
fn truth_table_on_random_worlds() {
    let mut blocked = 0;
    for (world, call) in random_calls() {
        let proposal = world.proposal(call);
        let mut arguments = proposal.arguments.iter();
        let tainted = arguments.any(|argument| {
            let spec = &proposal.tool.arguments[usize::from(argument.position)];
            let label = world.labels.get(argument.label);
            spec.role.is_authority() && label.carries(&world.briefing.untrusted)
        });
        let ruling = decide(&mut firewall("any_taint"), &world, call);
        let (verdict, rule) = expected(Features::of(&world, call), tainted);
        assert_eq!(ruling.reason.rule, rule);
        blocked += i32::from(verdict == ProposalVerdict::Block);
        assert_eq!(ruling.verdict, verdict);
    }
    assert!(blocked > 500, "{blocked}");
}

#[test]
fn more_sources_never_turn_a_refusal_into_an_allow() {
    assert_label_monotone(&mut firewall("any_taint"));
}

/// The same for the narrower scope, in worlds where messages brought every untrusted source or none.
#[test]
fn more_sources_never_turn_a_refusal_of_what_crossed_into_an_allow() {
    let mut refusals = 0;
    let mut policy = firewall("crossed_agents");
    for (mut world, call) in random_calls() {
        let nothing = decide(&mut policy, &world, call);
        assert_eq!(nothing.verdict, ProposalVerdict::Allow, "nothing crossed");
        let untrusted: Vec<_> = world.briefing.untrusted.iter().map(SourceId).collect();
        deliver(&mut world, SENDER, &untrusted);
        let any = decide(&mut firewall("any_taint"), &world, call).verdict;
        assert_eq!(decide(&mut policy, &world, call).verdict, any);
        if any == ProposalVerdict::Allow {
            continue;
        }
        refusals += 1;
        let more = world.add_source("doc:more", Trust::Untrusted, Readers::Everyone);
        let more = world.label_of(&[more]);
        for position in 0..world.trace.calls[call.index()].arguments.len() {
            taint_argument(&mut world, call, position, more);
            let after = decide(&mut policy, &world, call).verdict;
            assert_eq!(after, ProposalVerdict::Block, "argument {position}");
        }
    }
    assert!(refusals > 500, "{refusals}");
}

/// It blocks nothing that the ledger authorises without a leak: over-blocking is not its failure.
#[test]
fn what_the_ledger_allows_passes() {
    let mut allowed = 0;
    for (world, call) in random_calls() {
        let ledger = decide(&mut IntentLedgerV2::default(), &world, call).verdict;
        if ledger == ProposalVerdict::Allow {
            let ruling = decide(&mut firewall("any_taint"), &world, call);
            assert_eq!(ruling.verdict, ProposalVerdict::Allow);
            allowed += 1;
        }
    }
    assert!(allowed > 1_000, "{allowed}");
}

/// An unauthorised call whose room is tainted by the note.
fn tainted_world() -> World {
    features(false, false).world()
}

fn features(matched: bool, leaks: bool) -> Features {
    Features {
        class: RiskClass::Outbound,
        matched,
        leaks,
        tainted: true,
        expands: true,
    }
}

fn add_node(world: &mut World, kind: NodeKind, agent: AgentId, exact: LabelId) -> NodeId {
    let id = NodeId::at(world.trace.nodes.len());
    world.trace.nodes.push(Node {
        kind,
        detail: NodeDetail::Plain,
        tick: 0,
        episode: 0,
        agent: Some(agent),
        subject: Subject::Message(MessageId(0)),
        recorded: exact,
        exact,
    });
    id
}

/// Hands content of `sources` from `sender` to the first agent; the node of the message.
fn deliver(world: &mut World, sender: AgentId, sources: &[SourceId]) -> NodeId {
    let exact = world.label_of(sources);
    let from = add_node(world, NodeKind::Message, sender, exact);
    let to = add_node(world, NodeKind::AgentState, AgentId(0), exact);
    let (kind, taint) = (EdgeKind::Data, true);
    world.trace.edges.push(Edge {
        from,
        to,
        kind,
        taint,
    });
    from
}

fn crosses(world: &World) -> bool {
    let ruling = decide(&mut firewall("crossed_agents"), world, CallId(0));
    ruling.verdict == ProposalVerdict::Block
}

#[test]
fn taint_crosses_with_a_message_of_another_agent_that_carries_it() {
    let mut world = tainted_world();
    let other = world.add_source("doc:other", Trust::Untrusted, Readers::Everyone);
    assert!(!crosses(&world), "nothing was delivered");
    deliver(&mut world, SENDER, &[other]);
    assert!(!crosses(&world), "another source was delivered");
    deliver(&mut world, AgentId(0), &[NOTE]);
    assert!(!crosses(&world), "no other agent sent it");
    deliver(&mut world, SENDER, &[NOTE]);
    assert!(crosses(&world));
}

#[test]
fn what_another_agent_received_or_an_earlier_episode_brought_does_not_count() {
    let mut world = tainted_world();
    deliver(&mut world, SENDER, &[NOTE]);
    let state = world.trace.nodes.len() - 1;
    world.trace.nodes[state].agent = Some(SENDER);
    assert!(!crosses(&world));
    world.trace.nodes[state].agent = Some(AgentId(0));
    world.trace.calls[0].episode = 1;
    assert!(!crosses(&world));
    world.trace.nodes[state].episode = 1;
    assert!(crosses(&world));
}

#[test]
fn a_block_names_the_fields_the_sources_and_what_brought_them() {
    let mut world = tainted_world();
    let message = deliver(&mut world, SENDER, &[NOTE]);
    let proposal = Evidence::Node(NodeId(0));
    let source = Evidence::Source(NOTE);
    for (scope, evidence) in [
        ("any_taint", vec![source, proposal]),
        (
            "crossed_agents",
            vec![source, Evidence::Node(message), proposal],
        ),
    ] {
        let reason = decide(&mut firewall(scope), &world, CallId(0)).reason;
        assert_eq!(reason.fields, [DecidingField::Argument(ROOM)]);
        assert_eq!(reason.evidence, evidence, "{scope}");
        assert_eq!(reason.denial, DenialReason::TargetNotAuthorized);
    }
}

#[test]
fn an_allow_names_the_matched_entry() {
    let world = features(true, false).world();
    let reason = decide(&mut firewall("any_taint"), &world, CallId(0)).reason;
    assert_eq!(reason.evidence, [Evidence::LedgerEntry(0)]);
}

#[test]
fn a_leak_names_the_arguments_that_leak() {
    let world = features(true, true).world();
    let reason = decide(&mut firewall("any_taint"), &world, CallId(0)).reason;
    assert_eq!(reason.fields, [DecidingField::Argument(BODY)]);
}
