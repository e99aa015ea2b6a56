//! What a policy may answer: one verdict enum per hook, and what a policy may do with a label.

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, CallId, RecordId, ToolId};
use crate::label::{IndexSet, Label, Readers, SourceSet};
use crate::model::{Guidance, SchemaMode};
use crate::reason::{Reason, Ruling, VerdictKind};
use crate::value::{Content, Value};

/// A verdict enum that can say its kind and has a neutral value.
pub trait Verdict: Clone + std::fmt::Debug + PartialEq {
    /// The verdict of a policy that does nothing.
    fn neutral() -> Self;
    /// The kind.
    fn kind(&self) -> VerdictKind;
}

macro_rules! verdict {
    ($name:ident, $neutral:ident, { $($pattern:pat => $kind:ident),* $(,)? }) => {
        impl Verdict for $name {
            fn neutral() -> Self {
                Self::$neutral
            }
            fn kind(&self) -> VerdictKind {
                match self {
                    Self::$neutral => VerdictKind::Allow,
                    $($pattern => VerdictKind::$kind,)*
                }
            }
        }

        impl Ruling<$name> {
            /// The ruling of a policy that does nothing.
            #[must_use]
            pub fn neutral() -> Self {
                Self::new($name::$neutral, Reason::default_allow())
            }
        }
    };
}

/// What a policy may do with a label. It can restrict freely; widening is an audited downgrade.
/// It cannot add sources: provenance is a fact, not an opinion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relabel {
    /// Only these principals may read from now on.
    NarrowReaders(IndexSet),
    /// Clears these sources. Refused (recorded, without effect) if one of them influenced the
    /// choice of the value: transparent endorsement.
    Endorse(SourceSet),
    /// Adds these readers; refused likewise.
    Declassify(IndexSet),
}

/// Verdicts of `on_session`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionVerdict {
    /// Nothing.
    Pass,
    /// Hides these tools from these agents for the episode.
    MaskTools(Vec<(AgentId, ToolId)>),
    /// Stops the rollout before it starts.
    Abort,
}
verdict!(SessionVerdict, Pass, { Self::MaskTools(_) => Edit, Self::Abort => Abort });

/// Changes to one prompt. Segments keep their labels; appended guidance is trusted text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptEdit {
    /// Positions of segments to leave out, ascending.
    pub drop: Vec<u32>,
    /// Positions of segments to mark as untrusted data, ascending.
    pub mark: Vec<u32>,
    /// Guidance to show.
    pub guidance: Option<Guidance>,
    /// How to show the action schema.
    pub schema_mode: Option<SchemaMode>,
    /// Tools to hide for this call.
    pub mask: Vec<ToolId>,
}

/// Verdicts of `on_prompt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptVerdict {
    /// Nothing.
    Pass,
    /// Changes the prompt of this call.
    Edit(PromptEdit),
}
verdict!(PromptVerdict, Pass, { Self::Edit(_) => Edit });

/// Verdicts of `on_observation` and `on_message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InflowVerdict {
    /// Lets it in.
    Pass,
    /// Lets it in under another label.
    Relabel(Relabel),
    /// Lets in this content instead, under the label of the original.
    Transform(Content),
    /// Keeps it out and records an audit.
    Quarantine,
    /// Keeps it out.
    Drop,
}
verdict!(InflowVerdict, Pass, {
    Self::Relabel(_) => Relabel,
    Self::Transform(_) => Edit,
    Self::Quarantine => Quarantine,
    Self::Drop => Drop,
});

/// Verdicts of `on_proposal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalVerdict {
    /// Let it commit.
    Allow,
    /// Refuse it.
    Block,
    /// Ask the user; commits only if approved.
    Confirm,
    /// Do not commit now. Once per tool and canonical arguments: the same call proposed again is
    /// released.
    Hold,
    /// Commit it with these argument values instead: position and value.
    Rewrite(Vec<(u16, Value)>),
    /// Execute nothing; the agent receives this content, labelled with the join of the call.
    Simulate(Content),
    /// Stop the rollout.
    Abort,
}
verdict!(ProposalVerdict, Allow, {
    Self::Block => Block,
    Self::Confirm => Confirm,
    Self::Hold => Hold,
    Self::Rewrite(_) => Rewrite,
    Self::Simulate(_) => Simulate,
    Self::Abort => Abort,
});

/// Verdicts of `on_memory_write` and `on_memory_read`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryVerdict {
    /// Let it through.
    Allow,
    /// Refuse it.
    Block,
    /// Hold the record out of use: a read returns nothing, a write is stored but not live.
    Quarantine,
    /// Let it through under another label.
    Relabel(Relabel),
    /// Ask the user.
    Confirm,
}
verdict!(MemoryVerdict, Allow, {
    Self::Block => Block,
    Self::Quarantine => Quarantine,
    Self::Relabel(_) => Relabel,
    Self::Confirm => Confirm,
});

/// Verdicts of `on_commit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitVerdict {
    /// Let it commit.
    Allow,
    /// Refuse it after all.
    Block,
    /// Hold it, once per tool and canonical arguments.
    Hold,
}
verdict!(CommitVerdict, Allow, { Self::Block => Block, Self::Hold => Hold });

/// One thing a policy does in recovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecoveryAction {
    /// Removes these records.
    Scrub(Vec<RecordId>),
    /// Holds these records out of use.
    Quarantine(Vec<RecordId>),
    /// Puts these records back to their backups.
    Restore(Vec<RecordId>),
    /// Undoes the effects of these committed calls, by the inverse that their tool declares.
    Rollback(Vec<CallId>),
}

/// Verdicts of `on_recovery`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryVerdict {
    /// Nothing.
    Pass,
    /// These actions, in order, one tick later.
    Act(Vec<RecoveryAction>),
}
verdict!(RecoveryVerdict, Pass, { Self::Act(_) => Act });

/// The label that results from `change`, or none if the downgrade is refused because a source that
/// it would clear or reveal influenced the choice of the value.
#[must_use]
pub fn relabelled(label: &Label, change: &Relabel, untrusted: &SourceSet) -> Option<Label> {
    match change {
        Relabel::NarrowReaders(readers) => {
            let narrowed = label.readers.intersection(&Readers::Only(readers.clone()));
            Some(Label {
                readers: narrowed,
                ..label.clone()
            })
        }
        Relabel::Endorse(cleared) => {
            (!label.control.intersects(cleared)).then(|| label.endorsed(cleared))
        }
        Relabel::Declassify(added) => {
            (!label.control.intersects(untrusted)).then(|| label.declassified(added))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[u32]) -> IndexSet {
        members.iter().copied().collect()
    }

    /// From sources 1 and 2, chosen under the influence of source 3, for readers 5 and 6.
    fn label() -> Label {
        Label {
            sources: set(&[1, 2]),
            readers: Readers::Only(set(&[5, 6])),
            control: set(&[3]),
            ..Label::bottom()
        }
    }

    #[test]
    fn readers_can_always_be_narrowed() {
        let narrow = Relabel::NarrowReaders(set(&[6, 7]));
        let narrowed = relabelled(&label(), &narrow, &set(&[1, 2, 3])).unwrap();
        assert_eq!(narrowed.readers, Readers::Only(set(&[6])));
        assert!(label().flows_to(&narrowed));
    }

    #[test]
    fn a_downgrade_is_refused_where_a_source_influenced_the_choice() {
        let untrusted = set(&[1, 3]);
        let endorse = |cleared: &[u32]| {
            relabelled(&label(), &Relabel::Endorse(set(cleared)), &untrusted)
                .map(|label| label.sources)
        };
        assert_eq!(endorse(&[1]), Some(set(&[2])));
        assert_eq!(endorse(&[1, 3]), None);
        let declassify = Relabel::Declassify(set(&[9]));
        let readers = relabelled(&label(), &declassify, &set(&[1])).map(|label| label.readers);
        assert_eq!(readers, Some(Readers::Only(set(&[5, 6, 9]))));
        assert_eq!(relabelled(&label(), &declassify, &untrusted), None);
    }

    /// Provenance is a fact: whatever a policy does, no source comes to a label.
    #[test]
    fn no_relabelling_adds_a_source() {
        for change in [
            Relabel::NarrowReaders(set(&[4])),
            Relabel::Endorse(set(&[2, 4])),
            Relabel::Declassify(set(&[4])),
        ] {
            let changed = relabelled(&label(), &change, &set(&[])).unwrap();
            assert!(changed.sources.is_subset(&label().sources), "{change:?}");
            assert_eq!(changed.control, label().control, "{change:?}");
        }
    }
}
