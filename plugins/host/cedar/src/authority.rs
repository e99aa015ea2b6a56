//! What the ledger says of a call beside Match: how far its entries authorise it, and which fields
//! the nearest entry refuses.

use plugins::ledger::{Entry, Ledger};
use plugins::policy::DecidingField;
use plugins::predicate::CallView;
use plugins::tool::Role;

/// Which conditions of an entry count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those on arguments that name a target.
    Targets,
    /// All.
    Everything,
}

/// Whether an argument of this role names a target: recipient, document, memory key, event,
/// contact.
const fn names_a_target(role: Role) -> bool {
    matches!(
        role,
        Role::Recipient | Role::Document | Role::MemoryKey | Role::Event | Role::Contact
    )
}

/// Whether the ledger has an entry about the tool.
pub(crate) fn lists_action(call: CallView<'_>, ledger: &Ledger) -> bool {
    ledger
        .entries
        .iter()
        .any(|entry| entry.action == call.tool.name)
}

/// Whether an entry is about the tool and the target, whatever its conditions.
pub(crate) fn lists_target(call: CallView<'_>, ledger: &Ledger) -> bool {
    let target = call.target();
    let mut entries = ledger.entries.iter();
    entries.any(|entry| entry.action == call.tool.name && target == Some(&*entry.target))
}

/// The first entry that authorises tool, target and the arguments that name a target.
pub(crate) fn target_entry(call: CallView<'_>, ledger: &Ledger) -> Option<usize> {
    let mut entries = ledger.entries.iter();
    entries.position(|entry| refused(call, entry, Scope::Targets).is_empty())
}

/// The fields of a call that an entry refuses.
fn refused(call: CallView<'_>, entry: &Entry, scope: Scope) -> Vec<DecidingField> {
    if entry.action != call.tool.name {
        return vec![DecidingField::Action];
    }
    if call.target() != Some(&*entry.target) {
        return vec![DecidingField::Target];
    }
    let mut fields = Vec::new();
    for (name, condition) in &entry.conditions {
        let position = call.tool.argument(name);
        let counts = match (scope, position) {
            (Scope::Everything, _) => true,
            (Scope::Targets, Some(position)) => {
                names_a_target(call.tool.arguments[usize::from(position)].role)
            }
            (Scope::Targets, None) => false,
        };
        if counts && !condition.holds(position.and_then(|position| call.value(position))) {
            // A condition on an argument that the tool lacks is about the tool.
            fields.push(position.map_or(DecidingField::Action, DecidingField::Argument));
        }
    }
    fields
}

/// The entry that refuses least of a call, and what it refuses: an entry about the target before
/// one about the tool alone, then the fewest arguments, then the first. None if no entry is about
/// the tool.
pub(crate) fn nearest(
    call: CallView<'_>,
    ledger: &Ledger,
    scope: Scope,
) -> Option<(u32, Vec<DecidingField>)> {
    (0..)
        .zip(&ledger.entries)
        .map(|(position, entry)| (position, refused(call, entry, scope)))
        .filter(|(_, fields)| !fields.contains(&DecidingField::Action))
        .min_by_key(|(_, fields)| (fields.contains(&DecidingField::Target), fields.len()))
}
