//! The numbers do not follow the enums of the contract: they are pinned.

use plugins::action::{ActionClass, ParseStatus};
use plugins::briefing::Channel;
use plugins::reason::Hooks;
use plugins::tool::{Passing, RiskClass, Role, ValueKind};
use plugins::trace::{Answer, EdgeKind, LimitKind, NodeDetail, NodeKind, RecoveryKind};

use super::*;

#[test]
fn hooks_are_numbered_as_their_bits() {
    let hooks = [
        Hook::Session,
        Hook::Prompt,
        Hook::Observation,
        Hook::Message,
        Hook::Proposal,
        Hook::MemoryWrite,
        Hook::MemoryRead,
        Hook::Commit,
        Hook::Recovery,
    ];
    for (number, hook) in (0_u32..).zip(hooks) {
        assert_eq!(hook as u32, number);
        assert_eq!(u32::from(Hooks::from(hook).bits()), 1 << number);
    }
}

#[test]
fn verdicts_and_denials_have_the_numbers_of_the_book() {
    for (number, (code, _)) in (0_u32..).zip(CODES) {
        assert_eq!(code as u32, number);
    }
    assert_eq!(verdict(VerdictKind::Abort), 6);
    assert_eq!(denial(DenialReason::PluginFault), 0);
    assert_eq!(denial(DenialReason::MemoryQuarantined), 6);
}

#[test]
fn what_is_numbered_by_position_keeps_its_number() {
    assert_eq!([RiskClass::Low as u32, RiskClass::Outbound as u32], [0, 2]);
    let roles = [
        Role::Recipient,
        Role::Document,
        Role::Visibility,
        Role::MemoryKey,
        Role::Event,
        Role::Contact,
        Role::Scope,
        Role::Content,
    ];
    assert_eq!(roles.map(|role| role as u32), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!([ValueKind::Text as u32, ValueKind::Boolean as u32], [0, 3]);
    assert_eq!([Passing::Value as u32, Passing::Reference as u32], [0, 1]);
    assert_eq!(
        [Channel::Goal as u32, Channel::PersistentMemory as u32],
        [0, 4]
    );
    assert_eq!(
        [NodeKind::Source as u32, NodeKind::SideEffect as u32],
        [0, 7]
    );
    assert_eq!([NodeDetail::Plain as u32, NodeDetail::Undo as u32], [0, 8]);
    assert_eq!([EdgeKind::Data as u32, EdgeKind::Audit as u32], [0, 4]);
    assert_eq!(
        [ActionClass::Valid as u32, ActionClass::InvalidSchema as u32],
        [0, 4]
    );
    assert_eq!(
        [
            ParseStatus::ValidStrictJson as u32,
            ParseStatus::InvalidSchema as u32
        ],
        [0, 2]
    );
    assert_eq!(
        [RecoveryKind::Scrub as u32, RecoveryKind::Undo as u32],
        [0, 4]
    );
    assert_eq!([LimitKind::Ticks as u32, LimitKind::Text as u32], [0, 5]);
    let answers = [Answer::Approved, Answer::Denied, Answer::Absent];
    assert_eq!(answers.map(|answer| answer as u32), [0, 1, 2]);
}
