use plugins::briefing::Trust;
use plugins::conformance::sample::{World, argument, given, tool};
use plugins::ids::{RecordId, StoreId, ToolId};
use plugins::label::{LabelId, Readers};
use plugins::ledger::Condition;
use plugins::policy::{DenialReason, RecordSummary};
use plugins::tool::{Operation, RiskClass, Role, Target};
use plugins::trace::RecoveryKind;
use plugins::value::Value;

use super::*;
use crate::desk::{
    Features, assert_label_monotone, assert_passes_tainted_memory,
    assert_quarantines_tainted_memory, decide, parameters, random_calls, recover,
};

/// As the ledger policy, but for the hold.
#[test]
fn truth_table() {
    for features in Features::all() {
        let mut world = features.world();
        for irrevocable_email in [false, true] {
            world.briefing.tools[0].irrevocable_email = irrevocable_email;
            let ledger = decide(&mut IntentLedgerV2::default(), &world, CallId(0));
            let ruling = decide(&mut RollbackV2::default(), &world, CallId(0));
            let is_held =
                ledger.verdict == ProposalVerdict::Allow && irrevocable_email && features.tainted;
            if is_held {
                assert_eq!(ruling.verdict, ProposalVerdict::Hold, "{features:?}");
                assert_eq!(ruling.reason.rule, "hold_irrevocable_email");
                assert_eq!(ruling.reason.denial, DenialReason::CheckpointHold);
            } else {
                assert_eq!(ruling, ledger, "{features:?}");
            }
        }
    }
}

/// What it lets through at once, and what it never lets through, are the ledger's.
#[test]
fn it_differs_from_the_ledger_only_by_holds() {
    let mut holds = 0;
    for (world, call) in random_calls() {
        let ledger = decide(&mut IntentLedgerV2::default(), &world, call);
        let ruling = decide(&mut RollbackV2::default(), &world, call);
        if ruling.verdict == ProposalVerdict::Hold {
            assert_eq!(ledger.verdict, ProposalVerdict::Allow);
            holds += 1;
        } else {
            assert_eq!(ruling, ledger);
        }
    }
    assert!(holds > 20, "{holds}");
}

/// The engine releases the second identical call, so the policy holds it every time.
#[test]
fn a_hold_shows_entry_and_node_and_is_repeated() {
    let features = Features {
        class: RiskClass::Outbound,
        matched: true,
        leaks: false,
        tainted: true,
        expands: false,
    };
    let mut world = features.world();
    world.briefing.tools[0].irrevocable_email = true;
    let mut policy = RollbackV2::default();
    let ruling = decide(&mut policy, &world, CallId(0));
    assert_eq!(
        ruling.reason.evidence,
        [
            Evidence::LedgerEntry(0),
            Evidence::Node(plugins::ids::NodeId(0))
        ]
    );
    assert_eq!(decide(&mut policy, &world, CallId(0)), ruling);
}

#[test]
fn more_sources_never_turn_a_refusal_into_an_allow() {
    assert_label_monotone(&mut RollbackV2::default());
}

#[test]
fn tainted_memory_is_quarantined_at_retrieval() {
    assert_quarantines_tainted_memory(&mut RollbackV2::default());
}

#[test]
fn tainted_memory_passes_where_the_parameter_says_so() {
    let pass = parameters(&RollbackV2::parameters(), &[("memory", "pass")]);
    assert_passes_tainted_memory(&mut RollbackV2::of_parameters(&pass));
}

/// Without the checkpoint it decides on proposals as the ledger policy does, and still recovers.
#[test]
fn nothing_is_held_where_the_parameter_says_so() {
    let none = parameters(&RollbackV2::parameters(), &[("hold", "none")]);
    let mut policy = RollbackV2::of_parameters(&none);
    let mut holds = 0;
    for (world, call) in random_calls() {
        let ledger = decide(&mut IntentLedgerV2::default(), &world, call);
        assert_eq!(decide(&mut policy, &world, call), ledger);
        let held = decide(&mut RollbackV2::default(), &world, call);
        holds += i32::from(held.verdict == ProposalVerdict::Hold);
    }
    assert!(holds > 20, "{holds}");
    assert!(policy.hooks().contains(Hooks::RECOVERY));
}

const UPDATE: ToolId = ToolId(0);

/// As in `worlds/demos/case6_control_rollback.ron`: an update of `contact_alias` whose key and
/// content come from an untrusted note, undone by a restore of the same key.
struct Memory {
    world: World,
    note: SourceId,
    records: Vec<RecordSummary>,
}

impl Memory {
    fn new() -> Self {
        let mut world = World::new();
        world.add_agent("assistant");
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        for (name, operation) in [
            ("memory_update", Operation::MemoryUpdate(StoreId(0))),
            ("memory_restore", Operation::MemoryRestore(StoreId(0))),
        ] {
            let mut spec = tool(name, RiskClass::Write, "");
            spec.operation = operation;
            spec.arguments = vec![
                argument("key", Role::MemoryKey),
                argument("value", Role::Content),
            ];
            spec.target = Target::Argument(0);
            spec.undo = Undo::Inverse(ToolId(1));
            world.add_tool(spec);
        }
        Self {
            world,
            note,
            records: Vec::new(),
        }
    }

    /// Updates `key` with content of the note, commits, and returns the call.
    fn update(&mut self, key: &str) -> CallId {
        let label = self.world.label_of(&[self.note]);
        let arguments = vec![
            given(0, Value::text(key), label),
            given(1, Value::text("changed"), label),
        ];
        let call = self.world.add_call(UPDATE, arguments);
        self.world.commit(call);
        self.store(Some(call), label);
        call
    }

    fn store(&mut self, call: Option<CallId>, recorded: LabelId) {
        self.records.push(RecordSummary {
            record: RecordId::at(self.records.len()),
            store: StoreId(0),
            call,
            recorded,
            has_backup: true,
        });
    }

    fn authorize_restore(&mut self, key: &str, conditions: &[(&str, Condition)]) {
        self.world.authorize("memory_restore", key, conditions);
    }

    fn ruling(&self, kind: RecoveryKind, revoked: Option<SourceId>) -> Ruling<RecoveryVerdict> {
        let notice = RecoveryNotice {
            step: 0,
            kind,
            revoked,
            records: &self.records,
        };
        recover(&mut RollbackV2::default(), &self.world, notice)
    }

    /// The calls that are undone when the note is revoked.
    fn undone(&self) -> Vec<CallId> {
        match self.ruling(RecoveryKind::Revoke, Some(self.note)).verdict {
            RecoveryVerdict::Pass => Vec::new(),
            RecoveryVerdict::Act(actions) => match &actions[..] {
                [RecoveryAction::Rollback(calls)] => calls.clone(),
                other => panic!("{other:?}"),
            },
        }
    }
}

#[test]
fn what_a_revoked_source_stored_is_undone_if_the_ledger_authorises_the_undoing() {
    let mut memory = Memory::new();
    let call = memory.update("contact_alias");
    assert_eq!(memory.undone(), []);
    memory.authorize_restore("contact_note", &[]);
    assert_eq!(memory.undone(), []);
    memory.authorize_restore("contact_alias", &[]);
    assert_eq!(memory.undone(), [call]);
    let reason = memory
        .ruling(RecoveryKind::Revoke, Some(memory.note))
        .reason;
    assert_eq!(reason.rule, "rollback_revoked_source");
    assert_eq!(
        reason.evidence,
        [Evidence::Source(memory.note), Evidence::LedgerEntry(1)]
    );
}

#[test]
fn an_authorised_update_does_not_authorise_its_undoing() {
    let mut memory = Memory::new();
    memory.update("contact_alias");
    memory
        .world
        .authorize("memory_update", "contact_alias", &[]);
    assert_eq!(memory.undone(), []);
}

#[test]
fn conditions_on_arguments_do_not_apply_to_the_undoing() {
    let mut memory = Memory::new();
    let call = memory.update("contact_alias");
    memory.authorize_restore("contact_alias", &[("value", Condition::Absent)]);
    assert_eq!(memory.undone(), [call]);
}

#[test]
fn an_irrevocable_call_is_not_undone() {
    let mut memory = Memory::new();
    memory.update("contact_alias");
    memory.authorize_restore("contact_alias", &[]);
    memory.world.briefing.tools[UPDATE.index()].undo = Undo::Irrevocable;
    assert_eq!(memory.undone(), []);
}

#[test]
fn only_records_that_carry_the_revoked_source_count() {
    let mut memory = Memory::new();
    memory.update("contact_alias");
    memory.authorize_restore("contact_alias", &[]);
    let other = memory
        .world
        .add_source("doc:other", Trust::Untrusted, Readers::Everyone);
    let ruling = memory.ruling(RecoveryKind::Revoke, Some(other));
    assert_eq!(ruling, Ruling::<RecoveryVerdict>::neutral());
    memory.records[0].recorded = LabelId::BOTTOM;
    assert_eq!(memory.undone(), []);
}

#[test]
fn records_without_a_call_are_left_to_the_scenario() {
    let mut memory = Memory::new();
    memory.authorize_restore("contact_alias", &[]);
    let label = memory.world.label_of(&[memory.note]);
    memory.store(None, label);
    assert_eq!(memory.undone(), []);
}

#[test]
fn several_calls_are_undone_once_each_the_latest_first() {
    let mut memory = Memory::new();
    let first = memory.update("a");
    let second = memory.update("b");
    let label = memory.world.label_of(&[memory.note]);
    memory.store(Some(first), label);
    memory.update("not authorised");
    memory.authorize_restore("a", &[]);
    memory.authorize_restore("b", &[]);
    assert_eq!(memory.undone(), [second, first]);
}

#[test]
fn a_step_that_revokes_nothing_is_left_alone() {
    let mut memory = Memory::new();
    memory.update("contact_alias");
    memory.authorize_restore("contact_alias", &[]);
    for kind in [
        RecoveryKind::Scrub,
        RecoveryKind::Restore,
        RecoveryKind::Quarantine,
    ] {
        let ruling = memory.ruling(kind, None);
        assert_eq!(ruling, Ruling::<RecoveryVerdict>::neutral());
    }
}
