//! The kit finds each fault that it looks for, and nothing in a plugin without one.

use std::sync::Arc;

use super::{
    Law, Violation, check_attacker, check_auditor, check_model, check_parser, check_policy,
    hooks_exercised,
};
use crate::action::{Action, ActionParser, ParseStatus, Parsed, Repairs, ToolCatalogue};
use crate::attacker::{Attacker, Feedback, Fixed, Slot};
use crate::auditor::{Auditor, ClosureAuditor, Finding};
use crate::briefing::Briefing;
use crate::draws::Draws;
use crate::ids::NodeId;
use crate::label::LabelTable;
use crate::model::{Derivation, Input, ModelBackend, ModelFailure, Reply, Turn};
use crate::policy::{
    CommitVerdict, DenialReason, Evidence, Hooks, Policy, Proposal, ProposalVerdict, Reason,
    Ruling, View,
};
use crate::state::{RestoreError, SavedState};
use crate::trace::Prefix;
use crate::value::Text;

const ROUNDS: u64 = 24;

/// What is wrong with a [`Subject`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Panics,
    ForgetsItsCount,
    RestoresOnlyWhenFresh,
    AcceptsAnyVersion,
    ChangesHooks,
    ActsWithoutDeclaring,
    NamesNoRule,
    NamesTheRuleOfNobody,
    NamesANodeThatIsNotThere,
    RewritesAnArgumentThatIsNotThere,
}

/// A policy that blocks every second proposal.
struct Subject {
    fault: Fault,
    count: u8,
}

fn subject(fault: Fault) -> Box<dyn Policy> {
    Box::new(Subject { fault, count: 0 })
}

impl SavedState for Subject {
    fn save(&self, out: &mut Vec<u8>) {
        if self.fault != Fault::ForgetsItsCount {
            out.push(self.count);
        }
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        if version != self.version() && self.fault != Fault::AcceptsAnyVersion {
            return Err(RestoreError::Version {
                found: version,
                expected: self.version(),
            });
        }
        match bytes {
            [count] if self.fault == Fault::RestoresOnlyWhenFresh && self.count > 0 => {
                self.count = self.count.max(*count);
            }
            [count] => self.count = *count,
            [] if self.fault == Fault::ForgetsItsCount => {}
            _ => return Err(RestoreError::Damaged("not one byte".into())),
        }
        Ok(())
    }
}

impl Policy for Subject {
    fn hooks(&self) -> Hooks {
        match self.fault {
            Fault::ChangesHooks if self.count > 2 => Hooks::PROPOSAL | Hooks::COMMIT,
            _ => Hooks::PROPOSAL,
        }
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        assert!(
            self.fault != Fault::Panics || proposal.arguments.len() < 3,
            "three arguments are too many"
        );
        self.count = self.count.wrapping_add(1);
        if self.count.is_multiple_of(2) {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let mut reason = Reason::new("block_every_second", DenialReason::OutsideUserGoal);
        let mut verdict = ProposalVerdict::Block;
        match self.fault {
            Fault::NamesNoRule => reason.rule = "".into(),
            Fault::NamesTheRuleOfNobody => reason.rule = "default_allow".into(),
            Fault::NamesANodeThatIsNotThere => {
                let beyond = NodeId::at(view.prefix.nodes.len());
                reason.evidence.push(Evidence::Node(beyond));
            }
            Fault::RewritesAnArgumentThatIsNotThere => {
                let value = crate::value::Value::Boolean(true);
                verdict = ProposalVerdict::Rewrite(vec![(99, value)]);
            }
            _ => {}
        }
        Ruling::new(verdict, reason)
    }

    fn on_commit(&mut self, _: &mut View<'_>, _: Proposal<'_>) -> Ruling<CommitVerdict> {
        if self.fault == Fault::ActsWithoutDeclaring {
            let reason = Reason::new("block_all", DenialReason::OutsideUserGoal);
            return Ruling::new(CommitVerdict::Block, reason);
        }
        Ruling::<CommitVerdict>::neutral()
    }
}

fn laws(violations: &[Violation]) -> Vec<Law> {
    let mut laws: Vec<_> = violations.iter().map(|violation| violation.law).collect();
    laws.sort_unstable();
    laws.dedup();
    laws
}

#[test]
fn a_sound_policy_violates_nothing() {
    assert_eq!(check_policy(&|| subject(Fault::None), ROUNDS), []);
}

#[test]
fn each_fault_of_a_policy_is_found() {
    for (fault, law) in [
        (Fault::Panics, Law::NeverPanics),
        (Fault::ForgetsItsCount, Law::Restores),
        (Fault::RestoresOnlyWhenFresh, Law::Restores),
        (Fault::AcceptsAnyVersion, Law::RefusesForeignState),
        (Fault::ChangesHooks, Law::ConstantHooks),
        (Fault::ActsWithoutDeclaring, Law::UndeclaredHookIsNeutral),
        (Fault::NamesNoRule, Law::NamesARule),
        (Fault::NamesTheRuleOfNobody, Law::NamesARule),
        (Fault::NamesANodeThatIsNotThere, Law::RefersToWhatExists),
        (
            Fault::RewritesAnArgumentThatIsNotThere,
            Law::RefersToWhatExists,
        ),
    ] {
        let found = laws(&check_policy(&|| subject(fault), ROUNDS));
        assert!(found.contains(&law), "{law:?} is not among {found:?}");
    }
}

/// A policy whose count is shared by all instances.
#[expect(
    clippy::disallowed_types,
    reason = "the fault to be found is state outside a snapshot"
)]
struct Sharing(Arc<std::sync::atomic::AtomicU32>);

impl SavedState for Sharing {}

impl Policy for Sharing {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(&mut self, _: &mut View<'_>, _: Proposal<'_>) -> Ruling<ProposalVerdict> {
        let before = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let reason = Reason::new("block_first", DenialReason::OutsideUserGoal);
        let verdict = if before == 0 {
            ProposalVerdict::Block
        } else {
            ProposalVerdict::Allow
        };
        Ruling::new(verdict, reason)
    }
}

#[test]
fn state_shared_between_instances_is_found() {
    let shared = Arc::default();
    let violations = check_policy(&|| Box::new(Sharing(Arc::clone(&shared))), 1);
    assert!(laws(&violations).contains(&Law::Deterministic));
}

/// Shared, but reset whenever an instance is made: only interleaving shows it.
#[test]
fn state_shared_while_running_is_found() {
    let shared = Arc::default();
    let make = || -> Box<dyn Policy> {
        let sharing = Sharing(Arc::clone(&shared));
        sharing.0.store(0, std::sync::atomic::Ordering::Relaxed);
        Box::new(sharing)
    };
    let found = laws(&check_policy(&make, 1));
    assert!(!found.contains(&Law::Deterministic));
    assert!(found.contains(&Law::Independent));
}

#[test]
fn the_number_of_violations_is_limited() {
    let violations = check_policy(&|| subject(Fault::NamesNoRule), 1_000_000);
    assert_eq!(violations.len(), super::MOST_VIOLATIONS);
}

#[test]
fn hooks_that_act_are_told_from_hooks_that_are_declared() {
    assert_eq!(
        hooks_exercised(&|| subject(Fault::None), ROUNDS),
        Hooks::PROPOSAL
    );
    assert_eq!(hooks_exercised(&|| subject(Fault::None), 0), Hooks::empty());
}

/// Changes a reading for the worse.
type ParserFault = fn(&str, ToolCatalogue<'_>, &mut Parsed);

/// A parser that takes everything for a final answer, and has a fault.
struct Reader(ParserFault);

impl ActionParser for Reader {
    fn parse(&self, completion: &str, catalogue: ToolCatalogue<'_>) -> Parsed {
        let mut parsed = Parsed {
            status: ParseStatus::ValidRepairedJson,
            repairs: Repairs::PREFIX,
            action: Action::Final {
                text: completion.into(),
            },
            strict_reading_is_final: true,
        };
        self.0(completion, catalogue, &mut parsed);
        parsed
    }
}

#[test]
fn a_sound_parser_violates_nothing() {
    assert_eq!(check_parser(&Reader(|_, _, _| {}), ROUNDS), []);
}

#[test]
fn each_fault_of_a_parser_is_found() {
    let faults: [(ParserFault, Law); 6] = [
        (
            |text, _, _| assert!(text.len() < 10_000, "too long"),
            Law::NeverPanics,
        ),
        (
            |_, _, parsed| parsed.status = ParseStatus::ValidStrictJson,
            Law::Coherent,
        ),
        (
            |_, _, parsed| parsed.repairs = Repairs::empty(),
            Law::Coherent,
        ),
        (
            |_, _, parsed| parsed.action = Action::InvalidSchema { problem: "no" },
            Law::Coherent,
        ),
        (
            |_, _, parsed| {
                parsed.action = Action::ToolCall {
                    tool: crate::ids::ToolId(99),
                    arguments: Vec::new(),
                    keep_result: true,
                };
            },
            Law::Coherent,
        ),
        (
            |_, catalogue, parsed| {
                parsed.action = Action::ToolCall {
                    tool: catalogue.known[0],
                    arguments: vec![(9, crate::value::Value::Integer(1))],
                    keep_result: true,
                };
            },
            Law::Coherent,
        ),
    ];
    for (position, (fault, law)) in faults.into_iter().enumerate() {
        let found = laws(&check_parser(&Reader(fault), ROUNDS));
        assert!(found.contains(&law), "fault {position}: {found:?}");
    }
}

/// What is wrong with a [`Speaker`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    NeedsAContext,
    ForgetsItsCount,
    PointsNowhere,
    AcceptsAnything,
}

/// A backend that counts its turns.
#[derive(Clone)]
struct Speaker {
    defect: Defect,
    count: u8,
}

const fn speaker(defect: Defect) -> Speaker {
    Speaker { defect, count: 0 }
}

impl SavedState for Speaker {
    fn save(&self, out: &mut Vec<u8>) {
        if self.defect != Defect::ForgetsItsCount {
            out.push(self.count);
        }
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        match bytes {
            _ if self.defect == Defect::AcceptsAnything => self.count = 0,
            [count] if version == self.version() => self.count = *count,
            [] if version == self.version() && self.defect == Defect::ForgetsItsCount => {}
            _ => return Err(RestoreError::Damaged("not one byte".into())),
        }
        Ok(())
    }
}

impl ModelBackend for Speaker {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        self.count = self.count.wrapping_add(1);
        if self.defect == Defect::NeedsAContext {
            reply.tag = u32::try_from(turn.context[0].content.fields.len()).unwrap();
        }
        if self.defect == Defect::PointsNowhere {
            let beyond = Input {
                segment: u32::try_from(turn.context.len()).unwrap(),
                field: None,
            };
            reply.derivations.push(Derivation {
                field: "text".into(),
                inputs: std::iter::once(beyond).collect(),
            });
        }
        if turn.context.len() == 4 {
            return Err(ModelFailure("four is too many".into()));
        }
        reply.text = format!("{} {}", self.count, draws.below("word", 100));
        Ok(())
    }
}

#[test]
fn a_sound_backend_violates_nothing() {
    assert_eq!(check_model(&speaker(Defect::None), ROUNDS), []);
}

#[test]
fn each_fault_of_a_backend_is_found() {
    for (defect, law) in [
        (Defect::NeedsAContext, Law::NeverPanics),
        (Defect::ForgetsItsCount, Law::Restores),
        (Defect::PointsNowhere, Law::RefersToWhatExists),
        (Defect::AcceptsAnything, Law::RefusesForeignState),
    ] {
        let found = laws(&check_model(&speaker(defect), ROUNDS));
        assert!(found.contains(&law), "{law:?} is not among {found:?}");
    }
}

#[test]
fn the_built_in_attacker_and_auditor_violate_nothing() {
    assert_eq!(check_attacker(&|| Box::new(Fixed), ROUNDS), []);
    assert_eq!(check_auditor(&ClosureAuditor, ROUNDS), []);
}

/// Counts its rollouts, forgets the count on restore, and fills one slot too many.
#[derive(Default)]
struct Escalating(u8);

impl SavedState for Escalating {}

impl Attacker for Escalating {
    fn fill(&mut self, slots: &[Slot], _: Option<Feedback>, _: &mut Draws) -> Vec<Text> {
        self.0 += 1;
        vec![format!("{} times please", self.0).into(); slots.len() + 1]
    }
}

#[test]
fn each_fault_of_an_attacker_is_found() {
    let found = laws(&check_attacker(&|| Box::new(Escalating::default()), 1));
    assert_eq!(found, [Law::Restores, Law::RefersToWhatExists]);
}

/// Finds something nameless at the end of every trace.
struct Pessimist;

impl Auditor for Pessimist {
    fn audit(&self, prefix: Prefix<'_>, _: &LabelTable, _: &Briefing) -> Vec<Finding> {
        let node = NodeId::at(prefix.nodes.len());
        vec![Finding {
            node,
            finding: "".into(),
        }]
    }
}

#[test]
fn each_fault_of_an_auditor_is_found() {
    let found = laws(&check_auditor(&Pessimist, 1));
    assert_eq!(found, [Law::NamesARule, Law::RefersToWhatExists]);
}
