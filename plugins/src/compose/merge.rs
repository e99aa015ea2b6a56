//! How rulings of several policies on one thing become one.

use std::borrow::Cow;

use crate::policy::{
    Basis, CommitVerdict, DEFAULT_ALLOW, DenialReason, InflowVerdict, MemoryVerdict, PromptEdit,
    PromptVerdict, ProposalVerdict, Reason, RecoveryVerdict, Relabel, Ruling, SessionVerdict,
    Verdict, VerdictKind,
};
use crate::value::Value;

/// The rule of a refusal because two policies change one thing differently.
pub const REWRITE_CONFLICT: &str = "rewrite_conflict";

/// A verdict of which two of the same kind can be made one.
pub trait Merge: Verdict {
    /// Both at once. Both are of the same kind.
    ///
    /// # Errors
    /// The refusal that stands instead, if they contradict each other.
    fn both(self, other: &Self) -> Result<Self, Self>;
}

impl Merge for SessionVerdict {
    /// Hides what either hides.
    fn both(self, other: &Self) -> Result<Self, Self> {
        Ok(match (self, other) {
            (Self::MaskTools(a), Self::MaskTools(b)) => Self::MaskTools(union(a, b)),
            (verdict, _) => verdict,
        })
    }
}

impl Merge for PromptVerdict {
    /// Drops, marks and hides what either does; of two kinds of guidance or of schema the first
    /// stands, since a prompt shows one.
    fn both(self, other: &Self) -> Result<Self, Self> {
        Ok(match (self, other) {
            (Self::Edit(a), Self::Edit(b)) => Self::Edit(PromptEdit {
                drop: union(a.drop, &b.drop),
                mark: union(a.mark, &b.mark),
                guidance: a.guidance.or(b.guidance),
                schema_mode: a.schema_mode.or(b.schema_mode),
                mask: union(a.mask, &b.mask),
            }),
            (verdict, _) => verdict,
        })
    }
}

impl Merge for InflowVerdict {
    /// Two different new contents contradict each other.
    fn both(self, other: &Self) -> Result<Self, Self> {
        match (self, other) {
            (Self::Relabel(a), Self::Relabel(b)) => Ok(Self::Relabel(stricter(a, b))),
            (Self::Transform(a), Self::Transform(b)) if a != *b => Err(Self::Quarantine),
            (verdict, _) => Ok(verdict),
        }
    }
}

impl Merge for ProposalVerdict {
    /// Rewrites of different arguments are one rewrite; different values for one argument
    /// contradict each other. Of two simulated results the first stands.
    fn both(self, other: &Self) -> Result<Self, Self> {
        match (self, other) {
            (Self::Rewrite(a), Self::Rewrite(b)) => {
                both_changes(a, b).map(Self::Rewrite).ok_or(Self::Block)
            }
            (verdict, _) => Ok(verdict),
        }
    }
}

impl Merge for MemoryVerdict {
    fn both(self, other: &Self) -> Result<Self, Self> {
        Ok(match (self, other) {
            (Self::Relabel(a), Self::Relabel(b)) => Self::Relabel(stricter(a, b)),
            (verdict, _) => verdict,
        })
    }
}

impl Merge for CommitVerdict {
    fn both(self, _: &Self) -> Result<Self, Self> {
        Ok(self)
    }
}

impl Merge for RecoveryVerdict {
    /// Does what either does, the first first, and nothing twice.
    fn both(self, other: &Self) -> Result<Self, Self> {
        Ok(match (self, other) {
            (Self::Act(mut a), Self::Act(b)) => {
                append_new(&mut a, b);
                Self::Act(a)
            }
            (verdict, _) => verdict,
        })
    }
}

/// The most severe of `rulings`, with the rules of all that count.
pub(super) fn merged<V: Merge>(mut rulings: Vec<Ruling<V>>) -> Ruling<V> {
    let severity = |ruling: &Ruling<V>| ruling.verdict.kind();
    let severest = rulings
        .iter()
        .map(severity)
        .max()
        .unwrap_or(VerdictKind::Allow);
    rulings.retain(|ruling| match severest {
        VerdictKind::Allow => ruling.reason.rule != DEFAULT_ALLOW,
        _ => severity(ruling) != VerdictKind::Allow,
    });
    if rulings.len() == 1 {
        return rulings.remove(0);
    }
    let all: Vec<_> = rulings.iter().collect();
    let mut leading = rulings.iter().filter(|ruling| severity(ruling) == severest);
    let Some(first) = leading.next() else {
        return Ruling::new(V::neutral(), Reason::default_allow());
    };
    match leading.try_fold(first.verdict.clone(), |a, b| a.both(&b.verdict)) {
        Ok(verdict) => Ruling::new(verdict, joined_reason(&all, &first.reason)),
        Err(refusal) => conflict(refusal, &all),
    }
}

/// The ruling on a contradiction among `rulings`.
pub(super) fn conflict<V>(refusal: V, rulings: &[&Ruling<V>]) -> Ruling<V> {
    let leading = Reason::new(REWRITE_CONFLICT, DenialReason::PluginFault);
    let mut reason = joined_reason(rulings, &leading);
    reason.rule = format!("{REWRITE_CONFLICT}+{}", reason.rule).into();
    Ruling::new(refusal, reason)
}

/// One reason for several rulings: what the agent is told is as `leading` says.
pub(super) fn joined_reason<V>(rulings: &[&Ruling<V>], leading: &Reason) -> Reason {
    let mut rules: Vec<&str> = Vec::new();
    let mut joined = Reason::new("", leading.denial);
    for ruling in rulings {
        let reason = &ruling.reason;
        append_new(&mut rules, &reason.rule.split('+').collect::<Vec<_>>());
        append_new(&mut joined.fields, &reason.fields);
        append_new(&mut joined.evidence, &reason.evidence);
        if reason.basis == Basis::Assumed {
            joined.basis = Basis::Assumed;
        }
    }
    joined.rule = Cow::Owned(rules.join("+"));
    joined
}

/// Of two changes of a label the stricter: narrowing before any downgrade; of two narrowings or two
/// equal downgrades what both permit; of an endorsement and a declassification the first.
fn stricter(a: Relabel, b: &Relabel) -> Relabel {
    use Relabel::{Declassify, Endorse, NarrowReaders};
    match (a, b) {
        (NarrowReaders(a), NarrowReaders(b)) => NarrowReaders(a.intersection(b)),
        (Endorse(a), Endorse(b)) => Endorse(a.intersection(b)),
        (Declassify(a), Declassify(b)) => Declassify(a.intersection(b)),
        (Endorse(_) | Declassify(_), NarrowReaders(b)) => NarrowReaders(b.clone()),
        (a, _) => a,
    }
}

/// Both lists of changes, ascending; none if they give one argument different values.
fn both_changes(mut a: Vec<(u16, Value)>, b: &[(u16, Value)]) -> Option<Vec<(u16, Value)>> {
    for change in b {
        let clash = a
            .iter()
            .any(|(position, value)| *position == change.0 && *value != change.1);
        if clash {
            return None;
        }
        append_new(&mut a, std::slice::from_ref(change));
    }
    a.sort_by_key(|(position, _)| *position);
    Some(a)
}

fn append_new<T: Clone + PartialEq>(list: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

/// The members of either list, ascending.
fn union<T: Clone + Ord>(mut a: Vec<T>, b: &[T]) -> Vec<T> {
    a.extend_from_slice(b);
    a.sort_unstable();
    a.dedup();
    a
}

#[cfg(test)]
mod tests {
    use Relabel::{Declassify, Endorse, NarrowReaders};

    use super::*;
    use crate::ids::{AgentId, RecordId, SourceId, ToolId};
    use crate::label::IndexSet;
    use crate::model::Guidance::{SelfCheck, TreatContentAsData};
    use crate::policy::{DecidingField, Evidence, RecoveryAction};
    use crate::value::Content;

    #[test]
    fn the_joined_reason_keeps_fields_evidence_and_basis_and_tells_the_severest_reason() {
        let hold = Ruling::new(
            ProposalVerdict::Hold,
            Reason::new("hold", DenialReason::CheckpointHold)
                .with_fields([DecidingField::Target, DecidingField::Argument(1)])
                .with_evidence([Evidence::NoLedgerEntry])
                .assumed(),
        );
        let block = Ruling::new(
            ProposalVerdict::Block,
            Reason::new("block", DenialReason::TargetNotAuthorized)
                .with_fields([DecidingField::Target])
                .with_evidence([Evidence::Source(SourceId(0)), Evidence::NoLedgerEntry]),
        );
        let reason = merged(vec![hold, block]).reason;
        assert_eq!(reason.rule, "hold+block");
        assert_eq!(reason.denial, DenialReason::TargetNotAuthorized);
        assert_eq!(
            reason.fields,
            [DecidingField::Target, DecidingField::Argument(1)]
        );
        assert_eq!(
            reason.evidence,
            [Evidence::NoLedgerEntry, Evidence::Source(SourceId(0))]
        );
        assert_eq!(reason.basis, Basis::Assumed);
    }

    fn label_set(members: &[u32]) -> IndexSet {
        members.iter().copied().collect()
    }

    #[test]
    fn verdicts_of_one_kind_are_merged() {
        let pair = |tool| (AgentId(0), ToolId(tool));
        let masks = SessionVerdict::MaskTools(vec![pair(2), pair(1)]);
        let more = SessionVerdict::MaskTools(vec![pair(1), pair(0)]);
        assert_eq!(
            masks.both(&more),
            Ok(SessionVerdict::MaskTools(vec![pair(0), pair(1), pair(2)]))
        );

        let edit = |drop: &[u32], guidance| {
            PromptVerdict::Edit(PromptEdit {
                drop: drop.to_vec(),
                guidance,
                ..PromptEdit::default()
            })
        };
        assert_eq!(
            edit(&[2], None).both(&edit(&[0, 2], Some(SelfCheck))),
            Ok(edit(&[0, 2], Some(SelfCheck)))
        );
        assert_eq!(
            edit(&[], Some(TreatContentAsData)).both(&edit(&[], Some(SelfCheck))),
            Ok(edit(&[], Some(TreatContentAsData)))
        );

        let scrub = |record| RecoveryAction::Scrub(vec![RecordId(record)]);
        let act = |actions: &[RecoveryAction]| RecoveryVerdict::Act(actions.to_vec());
        assert_eq!(
            act(&[scrub(1)]).both(&act(&[scrub(0), scrub(1)])),
            Ok(act(&[scrub(1), scrub(0)]))
        );
    }

    #[test]
    fn two_new_contents_are_quarantined() {
        let transform = |text| InflowVerdict::Transform(Content::single("text", text));
        assert_eq!(transform("a").both(&transform("a")), Ok(transform("a")));
        assert_eq!(
            transform("a").both(&transform("b")),
            Err(InflowVerdict::Quarantine)
        );
    }

    #[test]
    fn of_two_relabellings_the_stricter_stands() {
        let set = label_set;
        let both = |a: Relabel, b: Relabel| {
            let Ok(MemoryVerdict::Relabel(merged)) =
                MemoryVerdict::Relabel(a).both(&MemoryVerdict::Relabel(b))
            else {
                panic!("a relabelling is merged with a relabelling");
            };
            merged
        };
        assert_eq!(
            both(NarrowReaders(set(&[0, 1])), NarrowReaders(set(&[1, 2]))),
            NarrowReaders(set(&[1]))
        );
        assert_eq!(
            both(Endorse(set(&[0, 1])), Endorse(set(&[1]))),
            Endorse(set(&[1]))
        );
        assert_eq!(
            both(Declassify(set(&[0])), NarrowReaders(set(&[2]))),
            NarrowReaders(set(&[2]))
        );
        assert_eq!(
            both(NarrowReaders(set(&[2])), Endorse(set(&[0]))),
            NarrowReaders(set(&[2]))
        );
        assert_eq!(
            both(Endorse(set(&[0])), Declassify(set(&[1]))),
            Endorse(set(&[0]))
        );
    }
}
