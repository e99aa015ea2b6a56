//! Texts against native policies, on the calls of random worlds.

use plugins::conformance::sample::World;
use plugins::conformance::{check_policy, generate, hooks_exercised};
use plugins::draws::{Draws, RolloutKey};
use plugins::facts::Counts;
use plugins::ids::{CallId, RecordId, StoreId};
use plugins::label::LabelId;
use plugins::parameters::Parameters;
use plugins::policy::{
    DenialReason, MemoryVerdict, Policy, Proposal, ProposalVerdict, Reason, RecordView, Ruling,
    VerdictKind, View,
};
use plugins::state::SavedState;
use plugins::tool::Role;
use plugins::value::Content;

use super::*;

mod gateway;
mod hooks;
mod hostile;
mod mistakes;
mod validation;

pub(crate) const RECIPIENT_GUARD: &str =
    include_str!("../../../../policies/recipient_guard/recipient_guard.cedar");
pub(crate) const TOOL_BOUNDARY: &str =
    include_str!("../../../../policies/cedar/tool_boundary.cedar");
pub(crate) const INTENT_LEDGER: &str =
    include_str!("../../../../policies/cedar/intent_ledger_v2.cedar");

const SHIPPED: [&str; 3] = [RECIPIENT_GUARD, TOOL_BOUNDARY, INTENT_LEDGER];

/// An instance of a text.
pub(crate) fn made(text: &str) -> Box<dyn Policy> {
    let loaded = load(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    (loaded.make)()
}

/// The rulings of a policy on every call of a world, each with the trace up to it.
fn rulings(policy: &mut dyn Policy, world: &World) -> Vec<Ruling<ProposalVerdict>> {
    let calls = world.trace.calls.iter().map(|call| call.id);
    calls.map(|call| decide(policy, world, call)).collect()
}

/// The ruling on one call, with the trace up to it.
pub(crate) fn decide(
    policy: &mut dyn Policy,
    world: &World,
    call: CallId,
) -> Ruling<ProposalVerdict> {
    use plugins::trace::Happening;
    let mut draws = Draws::new(RolloutKey::default());
    let mut events = world.trace.events.iter();
    let proposed = events.position(|event| event.what == Happening::Proposed { call });
    let prefix = world.prefix_of(proposed.unwrap_or_default() + 1);
    policy.on_proposal(&mut world.view_of(prefix, &mut draws), world.proposal(call))
}

/// The toy policy in Rust.
struct RecipientGuard;

impl SavedState for RecipientGuard {}

impl Policy for RecipientGuard {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let call = proposal.view();
        let mut recipients = call.with_role(Role::Recipient);
        let ruled =
            |verdict, rule, denial: DenialReason| Ruling::new(verdict, Reason::new(rule, denial));
        if !proposal.tool.high_risk() {
            return Ruling::<ProposalVerdict>::neutral();
        }
        if recipients.any(|recipient| view.tainted(recipient.label)) {
            let denial = DenialReason::TaintedPrivilegeJump;
            return ruled(ProposalVerdict::Block, "tainted_recipient", denial);
        }
        if plugins::predicate::matches(call, &view.briefing.ledger).is_none() {
            let denial = DenialReason::ConfirmationRequired;
            return ruled(ProposalVerdict::Confirm, "unlisted_action", denial);
        }
        if Counts::of_high_risk(view.prefix, view.briefing).committed >= 2 {
            let denial = DenialReason::OutsideUserGoal;
            return ruled(ProposalVerdict::Block, "too_many_commits", denial);
        }
        let denial = DenialReason::PluginFault;
        ruled(ProposalVerdict::Allow, "allow_listed_action", denial)
    }
}

fn assert_same_rulings(text: &str, native: &mut dyn Policy, least: &[(VerdictKind, usize)]) {
    use plugins::policy::Verdict;
    let mut policy = made(text);
    let mut kinds = Vec::new();
    // The first are every kind of hostile world, among others.
    let worlds = (0..24).map(generate::world);
    for world in worlds.chain((0..500).map(generate::random_world)) {
        let expected = rulings(native, &world);
        let found = rulings(&mut *policy, &world);
        assert_eq!(found, expected, "{:?}", world.briefing);
        kinds.extend(expected.iter().map(|ruling| ruling.verdict.kind()));
    }
    for (kind, least) in least {
        let found = kinds.iter().filter(|found| *found == kind).count();
        assert!(found >= *least, "{kind:?}: {found}");
    }
}

#[test]
fn the_recipient_guard_decides_as_its_native_twin() {
    let least = [
        (VerdictKind::Allow, 300),
        (VerdictKind::Block, 100),
        (VerdictKind::Confirm, 300),
    ];
    assert_same_rulings(RECIPIENT_GUARD, &mut RecipientGuard, &least);
}

/// Fields and evidence included.
#[test]
fn the_tool_boundary_decides_as_the_built_in_one() {
    let parameters = policies::tool_boundary::ToolBoundary::parameters();
    let parameters = Parameters::resolve("tool_boundary", &parameters, &[].into()).unwrap();
    let mut native = policies::tool_boundary::ToolBoundary::new(&parameters);
    let least = [(VerdictKind::Allow, 300), (VerdictKind::Block, 300)];
    assert_same_rulings(TOOL_BOUNDARY, &mut native, &least);
}

/// Fields and evidence included.
#[test]
fn the_intent_ledger_decides_as_the_built_in_one() {
    let mut native = policies::intent_ledger_v2::IntentLedgerV2::new(
        policies::intent_ledger_v2::JumpRule::OnUnresolvedField,
    );
    let least = [(VerdictKind::Allow, 300), (VerdictKind::Block, 300)];
    assert_same_rulings(INTENT_LEDGER, &mut native, &least);
}

#[test]
fn the_intent_ledger_quarantines_tainted_memory_as_the_built_in_one() {
    let mut native = policies::intent_ledger_v2::IntentLedgerV2::new(
        policies::intent_ledger_v2::JumpRule::OnUnresolvedField,
    );
    let mut policy = made(INTENT_LEDGER);
    let mut quarantined = 0;
    for seed in 0..500 {
        let world = generate::random_world(seed);
        let recorded = world.trace.calls.iter().map(|call| call.recorded);
        for recorded in recorded.chain([LabelId::BOTTOM]) {
            let expected = read(&mut native, &world, recorded);
            assert_eq!(read(&mut *policy, &world, recorded), expected, "{seed}");
            quarantined += usize::from(expected.verdict == MemoryVerdict::Quarantine);
        }
    }
    assert!(quarantined > 100, "{quarantined}");
}

/// The ruling on the reading of a record with this recorded label.
fn read(policy: &mut dyn Policy, world: &World, recorded: LabelId) -> Ruling<MemoryVerdict> {
    let mut draws = Draws::new(RolloutKey::default());
    let record = RecordView {
        record: RecordId(0),
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

/// Every hook, so that the kit asks about each.
const EVERYWHERE: &str = r#"
    @id("all") @neutral permit (principal, action, resource);
    @id("no_note") forbid (principal, action == Hook::Action::"message", resource)
        when { context.text like "*CANARY*" || context.labels.tainted };
    @id("no_result") @verdict("drop") forbid (principal, action == Hook::Action::"observation", resource)
        when { context.labels.influenced };
    @id("ask_first") @verdict("confirm") forbid (principal, action in
        [Hook::Action::"memory_read", Hook::Action::"memory_write"], resource)
        when { context.labels.recorded_sources.contains("doc:0") };
    @id("no_third") @verdict("simulate") @content("sent") forbid (principal, action, resource)
        when { context has history && context.history.tool.proposed == 3 };
    @id("calm") @verdict("hold") forbid (principal, action in Action::"outbound", resource)
        when { context.arguments.argument_0 == "public" };
"#;

#[test]
fn texts_keep_the_contract() {
    for text in SHIPPED {
        assert_eq!(check_policy(&|| made(text), 40), []);
    }
}

#[test]
fn a_text_about_every_hook_keeps_the_contract_and_is_heard_at_each() {
    let text = EVERYWHERE.replace(
        "(principal, action, resource)\n        when",
        "(principal, action in Action::\"high_risk\", resource)\n        when",
    );
    assert_eq!(check_policy(&|| made(&text), 60), []);
    let all = Hooks::PROPOSAL
        | Hooks::MESSAGE
        | Hooks::OBSERVATION
        | Hooks::MEMORY_READ
        | Hooks::MEMORY_WRITE;
    assert_eq!(made(&text).hooks(), all);
    assert_eq!(hooks_exercised(&|| made(&text), 60), all);
}

/// Only what a text reads is computed; a text cannot tell.
#[test]
fn what_is_not_read_makes_no_difference() {
    for text in SHIPPED {
        // Compares the whole context, so that all of it is there.
        let all = "forbid(principal, action, resource) when { context == {nothing: 1} };";
        let mut lean = made(text);
        let mut full = made(&format!("{text}{all}"));
        for seed in 0..100 {
            let world = generate::random_world(seed);
            assert_eq!(rulings(&mut *lean, &world), rulings(&mut *full, &world));
        }
    }
}

#[test]
fn every_text_of_the_book_is_read() {
    let book = include_str!("../../../../docs/book/cedar.md");
    let texts: Vec<&str> = book
        .split("```cedar\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(texts.len() > 4, "{}", texts.len());
    for text in texts {
        assert_eq!(load(text).map(|_| ()), Ok(()), "{text}");
    }
}
