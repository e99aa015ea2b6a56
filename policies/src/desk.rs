//! Calls to decide on, for the tests of every policy: all combinations of what the equations look
//! at, and random scenarios.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugins::briefing::Trust;
use plugins::conformance::generate;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, CallId, SourceId, StoreId};
use plugins::label::{LabelId, Readers};
use plugins::ledger::Condition;
use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::{
    Hooks, MemoryVerdict, Policy, PromptVerdict, ProposalVerdict, RecordView, RecoveryNotice,
    RecoveryVerdict, Ruling,
};
use plugins::predicate::{expanding_fields, leaking_fields, matches};
use plugins::tool::{RiskClass, Role, Target};
use plugins::value::{Content, Value};

pub(crate) const PARTNER: &str = "partner@trusted.local";
pub(crate) const OUTSIDER: &str = "outsider@external.local";

/// The positions of the arguments of the tool in [`Features::world`].
pub(crate) const TO: u16 = 0;
pub(crate) const ROOM: u16 = 1;
pub(crate) const BODY: u16 = 2;

/// What Eqs. 10 and 11 look at.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one predicate of the equations, and a row of the truth table has them all"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) class: RiskClass,
    pub(crate) matched: bool,
    pub(crate) leaks: bool,
    /// The recorded label of the proposal carries untrusted content.
    pub(crate) tainted: bool,
    pub(crate) expands: bool,
}

impl Features {
    /// Every combination.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for class in [RiskClass::Low, RiskClass::Write, RiskClass::Outbound] {
            for bits in 0..16 {
                all.push(Self {
                    class,
                    matched: bits & 1 != 0,
                    leaks: bits & 2 != 0,
                    tainted: bits & 4 != 0,
                    expands: bits & 8 != 0,
                });
            }
        }
        all
    }

    /// A world in which call 0 has these features: `act(to, room, body)`, aimed at `to`, with an
    /// entry that names the target and leaves the room open.
    pub(crate) fn world(self) -> World {
        let mut world = World::new();
        world.add_agent("assistant");
        world.add_principal(PARTNER);
        let boss = world.add_principal("boss@trusted.local");
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        let boss_only = Readers::Only([boss.0].into_iter().collect());
        let plan = world.add_source("doc:plan", Trust::Trusted, boss_only);
        let mut spec = tool("act", self.class, "");
        spec.arguments = vec![
            argument("to", Role::Recipient),
            argument("room", Role::Event),
            argument("body", Role::Content),
        ];
        spec.target = Target::Argument(TO);
        let act = world.add_tool(spec);
        let target = if self.matched { PARTNER } else { OUTSIDER };
        world.authorize("act", target, &[("room", Condition::Present)]);
        let label_if = |world: &mut World, source, holds| {
            if holds {
                world.label_of(&[source])
            } else {
                LabelId::BOTTOM
            }
        };
        let room = label_if(&mut world, note, self.expands);
        let body = label_if(&mut world, plan, self.leaks);
        let recorded = label_if(&mut world, note, self.tainted);
        let arguments = vec![
            given(TO, Value::text(PARTNER), LabelId::BOTTOM),
            given(ROOM, Value::text("room 3"), room),
            given(BODY, Value::text("hello"), body),
        ];
        let call = world.add_call(act, arguments);
        world.trace.calls[call.index()].recorded = recorded;
        world
    }

    /// The features of a call, by the predicates of `plugins::ledger`.
    pub(crate) fn of(world: &World, call: CallId) -> Self {
        let proposal = world.proposal(call);
        let briefing = &world.briefing;
        let view = proposal.view();
        let entry = matches(view, &briefing.ledger);
        let expanding = entry.map(|entry| {
            let entry = &briefing.ledger.entries[entry];
            expanding_fields(view, entry, &world.labels, &briefing.untrusted)
        });
        let recorded = world.labels.get(proposal.call.recorded);
        Self {
            class: proposal.tool.risk,
            matched: entry.is_some(),
            leaks: !leaking_fields(view, briefing, &world.labels).is_empty(),
            tainted: recorded.carries(&briefing.untrusted),
            expands: expanding.is_some_and(|fields| !fields.is_empty()),
        }
    }
}

/// What a policy with these parameters is made of: those given, and the defaults of the others.
pub(crate) fn parameters(specs: &[ParameterSpec], given: &[(&str, &str)]) -> Parameters {
    let given: BTreeMap<_, _> = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Parameters::resolve("policy", specs, &given).unwrap()
}

/// The calls of many random scenarios.
pub(crate) fn random_calls() -> impl Iterator<Item = (World, CallId)> {
    (0..500).flat_map(|seed| {
        let world = generate::random_world(seed);
        let calls: Vec<_> = world.trace.calls.iter().map(|call| call.id).collect();
        calls.into_iter().map(move |call| (world.clone(), call))
    })
}

/// How the policy rules on a call.
pub(crate) fn decide(
    policy: &mut dyn Policy,
    world: &World,
    call: CallId,
) -> Ruling<ProposalVerdict> {
    let mut draws = Draws::new(RolloutKey::default());
    policy.on_proposal(&mut world.view(&mut draws), world.proposal(call))
}

/// How the policy rules on a prompt without segments.
pub(crate) fn prompt(policy: &mut dyn Policy, world: &World) -> Ruling<PromptVerdict> {
    let mut draws = Draws::new(RolloutKey::default());
    policy.on_prompt(&mut world.view(&mut draws), AgentId(0), &[])
}

/// How the policy rules on the reading of a record with this recorded label; its content's exact
/// label is bottom.
pub(crate) fn read_memory(
    policy: &mut dyn Policy,
    world: &World,
    recorded: LabelId,
) -> Ruling<MemoryVerdict> {
    let mut draws = Draws::new(RolloutKey::default());
    let record = RecordView {
        record: plugins::ids::RecordId(0),
        store: StoreId(0),
        key: "contact_alias",
        content: &Content::single("alias", "partner"),
        labels: &[LabelId::BOTTOM],
        recorded,
        agent: None,
        call: None,
    };
    policy.on_memory_read(&mut world.view(&mut draws), record)
}

/// How the policy rules on a recovery step.
pub(crate) fn recover(
    policy: &mut dyn Policy,
    world: &World,
    notice: RecoveryNotice<'_>,
) -> Ruling<RecoveryVerdict> {
    let mut draws = Draws::new(RolloutKey::default());
    policy.on_recovery(&mut world.view(&mut draws), notice)
}

/// That a policy quarantines tainted memory by its recorded label, and nothing else.
pub(crate) fn assert_quarantines_tainted_memory(policy: &mut dyn Policy) {
    let mut world = World::new();
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let plan = world.add_source("doc:plan", Trust::Trusted, Readers::Everyone);
    let both = world.label_of(&[note, plan]);
    let trusted = world.label_of(&[plan]);
    let ruling = read_memory(policy, &world, both);
    assert_eq!(ruling.verdict, MemoryVerdict::Quarantine);
    assert_eq!(ruling.reason.rule, "quarantine_tainted_memory");
    let source = plugins::policy::Evidence::Source(SourceId(note.0));
    assert_eq!(ruling.reason.evidence, [source]);
    for clean in [trusted, LabelId::BOTTOM] {
        let ruling = read_memory(policy, &world, clean);
        assert_eq!(ruling, Ruling::<MemoryVerdict>::neutral());
    }
}

/// That a policy lets tainted memory through, and does not ask to be asked.
pub(crate) fn assert_passes_tainted_memory(policy: &mut dyn Policy) {
    let mut world = World::new();
    let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
    let tainted = world.label_of(&[note]);
    let ruling = read_memory(policy, &world, tainted);
    assert_eq!(ruling, Ruling::<MemoryVerdict>::neutral());
    assert!(!policy.hooks().contains(Hooks::MEMORY_READ));
}

/// That another untrusted source in a call turns no refusal into an allow: in any argument, and in
/// the recorded label as the instrumentation `paper` would log it.
pub(crate) fn assert_label_monotone(policy: &mut dyn Policy) {
    let mut refusals = 0;
    for (mut world, call) in random_calls() {
        let before = decide(policy, &world, call).verdict;
        if before == ProposalVerdict::Allow {
            continue;
        }
        refusals += 1;
        let more = world.add_source("doc:more", Trust::Untrusted, Readers::Everyone);
        let more = world.label_of(&[more]);
        for position in 0..world.trace.calls[call.index()].arguments.len() {
            taint_argument(&mut world, call, position, more);
            let after = decide(policy, &world, call).verdict;
            assert_ne!(after, ProposalVerdict::Allow, "argument {position}");
        }
    }
    assert!(refusals > 500, "{refusals}");
}

/// Joins `more` into an argument, and into the recorded label if the argument has authority.
pub(crate) fn taint_argument(world: &mut World, call: CallId, position: usize, more: LabelId) {
    let call = &mut world.trace.calls[call.index()];
    let argument = &mut Arc::make_mut(&mut call.arguments)[position];
    argument.label = world.labels.join(argument.label, more);
    let tool = &world.briefing.tools[call.tool.index()];
    let spec = &tool.arguments[usize::from(argument.position)];
    if spec.role.is_authority() && tool.high_risk() {
        call.recorded = world.labels.join(call.recorded, argument.label);
    }
}
