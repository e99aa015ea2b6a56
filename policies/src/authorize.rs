//! What the policies share: what the trusted configuration authorises, and why not.

use plugins::ledger::Entry;
use plugins::policy::{DecidingField, Evidence, Proposal, Reason, View};
use plugins::predicate::{CallView, leaking_fields, matches};
use plugins::tool::Role;

use crate::rules::Rule;

/// What Match and Leak say of a call (Eqs. 10 and 11), before taint is looked at.
pub(crate) enum Authorization {
    /// Not `HighRisk`: the policies have nothing to say.
    LowRisk,
    /// No entry of the ledger authorises it.
    Unmatched,
    /// An entry authorises it, but these arguments would leak.
    Leaking(Vec<u16>),
    /// This entry of the ledger authorises it, by position.
    Matched(usize),
}

/// `HighRisk`, `Match` and `Leak` of a proposal, in the order of Eqs. 10 and 11.
pub(crate) fn authorize(view: &View<'_>, proposal: &Proposal<'_>) -> Authorization {
    if !proposal.tool.high_risk() {
        return Authorization::LowRisk;
    }
    let call = proposal.view();
    let Some(entry) = matches(call, &view.briefing.ledger) else {
        return Authorization::Unmatched;
    };
    let leaking = leaking_fields(call, view.briefing, view.labels);
    if leaking.is_empty() {
        Authorization::Matched(entry)
    } else {
        Authorization::Leaking(leaking)
    }
}

/// Which conditions of a ledger entry a policy checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// None: tool and target alone.
    ToolAndTarget,
    /// Those on arguments that name a target: recipient, document, memory key, event, contact.
    Targets,
    /// All: `Match` of Eq. 9.
    Everything,
}

impl Scope {
    fn covers(self, role: Option<Role>) -> bool {
        match self {
            Self::ToolAndTarget => false,
            Self::Targets => matches!(
                role,
                Some(
                    Role::Recipient
                        | Role::Document
                        | Role::MemoryKey
                        | Role::Event
                        | Role::Contact
                )
            ),
            Self::Everything => true,
        }
    }
}

/// The fields of `call` that `entry` refuses, of those in `scope`. Empty: the entry authorises it.
pub(crate) fn refused_fields(
    call: CallView<'_>,
    entry: &Entry,
    scope: Scope,
) -> Vec<DecidingField> {
    if entry.action != call.tool.name {
        return vec![DecidingField::Action];
    }
    if call.target() != Some(&*entry.target) {
        return vec![DecidingField::Target];
    }
    let mut refused = Vec::new();
    for (name, condition) in &entry.conditions {
        let position = call.tool.argument(name);
        let role = position.map(|position| call.tool.arguments[usize::from(position)].role);
        let holds = condition.holds(position.and_then(|position| call.value(position)));
        if scope.covers(role) && !holds {
            // A condition on an argument that the tool lacks is about the tool.
            refused.push(position.map_or(DecidingField::Action, DecidingField::Argument));
        }
    }
    refused
}

/// Why no entry of the ledger authorises the call, under `rule`: no entry is about the tool, or
/// none about the target, or the arguments that the nearest entry refuses. The nearest refuses the
/// fewest arguments; the first of several.
pub(crate) fn refusal(
    rule: &Rule,
    view: &View<'_>,
    proposal: &Proposal<'_>,
    scope: Scope,
) -> Reason {
    let call = proposal.view();
    let entries = view.briefing.ledger.entries.iter();
    let nearest = (0..)
        .zip(entries)
        .map(|(position, entry)| (position, refused_fields(call, entry, scope)))
        .filter(|(_, refused)| !refused.contains(&DecidingField::Action))
        .min_by_key(|(_, refused)| (refused.contains(&DecidingField::Target), refused.len()));
    match nearest {
        Some((position, refused)) => rule
            .reason()
            .with_fields(refused)
            .with_evidence([Evidence::LedgerEntry(position)]),
        None => rule
            .reason()
            .with_fields([DecidingField::Action])
            .with_evidence([Evidence::NoLedgerEntry]),
    }
}

/// A ledger entry as evidence.
pub(crate) fn ledger_entry(position: usize) -> Evidence {
    u32::try_from(position).map_or(Evidence::NoLedgerEntry, Evidence::LedgerEntry)
}
