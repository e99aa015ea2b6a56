//! What the tests of all policies here share.

use std::collections::BTreeMap;

use plugins::conformance::check_policy;
use plugins::conformance::sample::World;
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, CallId, NodeId};
use plugins::label::LabelId;
use plugins::policy::{Policy, ProposalVerdict, Ruling};
use plugins::registry::{CreateError, Registry};
use plugins::trace::{
    Edge, EdgeKind, Event, Happening, Node, NodeDetail, NodeKind, Prefix, Subject,
};

/// The policy called `name` with these parameters, and the defaults of the others.
pub(crate) fn make(name: &str, given: &[(&str, &str)]) -> Box<dyn Policy> {
    try_make(name, given).unwrap()
}

pub(crate) fn try_make(name: &str, given: &[(&str, &str)]) -> Result<Box<dyn Policy>, CreateError> {
    let mut registry = Registry::new();
    crate::register(&mut registry).unwrap();
    let given: BTreeMap<_, _> = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let (parameters, _) = registry.policies.resolve(name, &given)?;
    let (_, factory) = registry.policies.find(name)?;
    factory(&parameters)
}

/// That the policy keeps the laws of the contract under these parameters.
pub(crate) fn assert_keeps_the_laws(name: &str, given: &[(&str, &str)]) {
    assert_eq!(check_policy(&|| make(name, given), 24), [], "{given:?}");
}

/// How the policy rules on a call when everything in the trace has happened.
pub(crate) fn decide(
    policy: &mut dyn Policy,
    world: &World,
    call: CallId,
) -> Ruling<ProposalVerdict> {
    decide_at(policy, world, call, world.trace.prefix())
}

/// How the policy rules on a call when `prefix` has happened. The rule that it names is in the table,
/// with this verdict and denial.
pub(crate) fn decide_at(
    policy: &mut dyn Policy,
    world: &World,
    call: CallId,
    prefix: Prefix<'_>,
) -> Ruling<ProposalVerdict> {
    let mut draws = Draws::new(RolloutKey::default());
    let ruling = policy.on_proposal(&mut world.view_of(prefix, &mut draws), world.proposal(call));
    assert_in_table(&ruling);
    ruling
}

/// That the rule of a ruling is in the table and means this verdict and denial.
pub(crate) fn assert_in_table<V: plugins::policy::Verdict>(ruling: &Ruling<V>) {
    if *ruling == Ruling::new(V::neutral(), plugins::policy::Reason::default_allow()) {
        return;
    }
    let rule = crate::rules::find(&ruling.reason.rule).unwrap();
    assert_eq!(ruling.verdict.kind(), rule.verdict, "{ruling:?}");
    if let Some(denial) = rule.denial {
        assert_eq!(ruling.reason.denial, denial, "{ruling:?}");
    }
}

/// Appends an event of the first agent.
pub(crate) fn happen(world: &mut World, what: Happening) {
    let rows = |len: usize| u32::try_from(len).unwrap();
    world.trace.events.push(Event {
        tick: world.trace.events.len() as u64,
        episode: 0,
        agent: Some(AgentId(0)),
        what,
        nodes_after: rows(world.trace.nodes.len()),
        edges_after: rows(world.trace.edges.len()),
    });
}

/// Appends a node of `agent` with an edge from `from`.
pub(crate) fn node(
    world: &mut World,
    kind: NodeKind,
    agent: AgentId,
    subject: Subject,
    label: LabelId,
    from: Option<NodeId>,
) -> NodeId {
    let id = NodeId::at(world.trace.nodes.len());
    world.trace.nodes.push(Node {
        kind,
        detail: NodeDetail::Plain,
        tick: 0,
        episode: 0,
        agent: Some(agent),
        subject,
        recorded: label,
        exact: label,
    });
    world.trace.edges.extend(from.map(|from| Edge {
        from,
        to: id,
        kind: EdgeKind::Data,
        taint: true,
    }));
    id
}
