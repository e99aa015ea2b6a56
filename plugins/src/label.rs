//! Labels: where a value came from, who may read it, and what influenced its choice.
//!
//! A label is a point of a join semilattice: `sources` and `control` grow by union,
//! `readers` shrinks by intersection, `flags` grow by union. Joining is therefore associative,
//! commutative and idempotent, and [`Label::bottom`] is its unit. Labels shrink only through the
//! audited [`Label::endorsed`] and [`Label::declassified`].

mod table;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use self::table::{LabelId, LabelTable};
use crate::ids::{PrincipalId, SourceId};

/// A set of small indices, one bit each; the first 64 need no allocation.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IndexSet(SmallVec<[u64; 1]>);

/// Mostly there is one word or none; more are copied in one piece, which the clone of a small vector
/// does not do.
impl Clone for IndexSet {
    fn clone(&self) -> Self {
        match *self.0.as_slice() {
            [] => Self::default(),
            [word] => Self(SmallVec::from_buf([word])),
            ref words => Self(SmallVec::from_slice(words)),
        }
    }
}

impl IndexSet {
    /// Adds `index`.
    pub fn insert(&mut self, index: u32) {
        let word = index as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    /// Whether `index` is a member.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        self.0
            .get(index as usize / 64)
            .is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether the two sets share a member.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether every member of `self` is a member of `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0
            .iter()
            .enumerate()
            .all(|(i, word)| word & !other.0.get(i).copied().unwrap_or(0) == 0)
    }

    /// The union.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() >= other.0.len() {
            (self, other)
        } else {
            (other, self)
        };
        let mut joined = long.clone();
        for (word, more) in joined.0.iter_mut().zip(&short.0) {
            *word |= more;
        }
        joined
    }

    /// The intersection.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect()).trimmed()
    }

    /// The members of `self` that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let words = self.0.iter().enumerate();
        Self(
            words
                .map(|(i, word)| word & !other.0.get(i).copied().unwrap_or(0))
                .collect(),
        )
        .trimmed()
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.0).flat_map(|(word_index, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| word_index * 64 + bit)
        })
    }

    /// Drops trailing empty words, so that equal sets are equal bytes.
    fn trimmed(mut self) -> Self {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }
}

impl FromIterator<u32> for IndexSet {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Self {
        let mut set = Self::default();
        for member in members {
            set.insert(member);
        }
        set
    }
}

/// A set of source instances.
pub type SourceSet = IndexSet;

/// Who may read a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Readers {
    /// Public: no restriction.
    #[default]
    Everyone,
    /// Only these principals; the empty set means nobody.
    Only(IndexSet),
}

impl Readers {
    /// Restricts to those that both sides permit.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Everyone, restricted) | (restricted, Self::Everyone) => restricted.clone(),
            (Self::Only(a), Self::Only(b)) => Self::Only(a.intersection(b)),
        }
    }

    /// Whether `principal` may read.
    #[must_use]
    pub fn permits(&self, principal: PrincipalId) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(set) => set.contains(principal.0),
        }
    }

    /// Whether everybody whom `self` permits is also permitted by `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Everyone) => true,
            (Self::Everyone, Self::Only(_)) => false,
            (Self::Only(a), Self::Only(b)) => a.is_subset(b),
        }
    }
}

bitflags::bitflags! {
    /// How a value was derived. Flags never enter a decision view except audits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub struct Flags: u16 {
        /// Passed through a memory store.
        const VIA_MEMORY = 1;
        /// Passed through a message between agents.
        const VIA_MESSAGE = 1 << 1;
        /// Written by a model from its context.
        const VIA_MODEL = 1 << 2;
        /// Readers were added by an audited declassification.
        const DECLASSIFIED = 1 << 3;
        /// Sources were removed by an audited endorsement.
        const ENDORSED = 1 << 4;
        /// Held out of use by a quarantine.
        const QUARANTINED = 1 << 5;
        /// Carried over from an earlier episode.
        const EARLIER_EPISODE = 1 << 6;
    }
}

/// One point of the label lattice.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Label {
    /// Source instances whose content flowed into the value.
    pub sources: SourceSet,
    /// Who may read the value.
    pub readers: Readers,
    /// Source instances that influenced the choice of the value rather than its content.
    pub control: SourceSet,
    /// How the value was derived.
    pub flags: Flags,
}

impl Label {
    /// The unit of the join: from nowhere, readable by everyone.
    #[must_use]
    pub fn bottom() -> Self {
        Self::default()
    }

    /// The label of a value that comes from one source instance and is public.
    #[must_use]
    pub fn of_source(source: SourceId) -> Self {
        Self {
            sources: std::iter::once(source.0).collect(),
            ..Self::default()
        }
    }

    /// The least label above both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            sources: self.sources.union(&other.sources),
            readers: self.readers.intersection(&other.readers),
            control: self.control.union(&other.control),
            flags: self.flags | other.flags,
        }
    }

    /// The order of the lattice: `self` is no more restricted than `other`.
    #[must_use]
    pub fn flows_to(&self, other: &Self) -> bool {
        self.sources.is_subset(&other.sources)
            && other.readers.is_subset(&self.readers)
            && self.control.is_subset(&other.control)
            && other.flags.contains(self.flags)
    }

    /// Whether content from a source of `mask` flowed in. With the scenario's untrusted sources as
    /// mask this is *tainted*; a policy may use a mask of its own.
    #[must_use]
    pub fn carries(&self, mask: &SourceSet) -> bool {
        self.sources.intersects(mask)
    }

    /// Whether a source of `mask` flowed in or influenced the choice.
    #[must_use]
    pub fn influenced_by(&self, mask: &SourceSet) -> bool {
        self.carries(mask) || self.control.intersects(mask)
    }

    /// The audited downgrade of integrity: removes `cleared` from the sources and marks the label.
    #[must_use]
    pub fn endorsed(&self, cleared: &SourceSet) -> Self {
        let sources = self.sources.difference(cleared);
        Self {
            sources,
            flags: self.flags | Flags::ENDORSED,
            ..self.clone()
        }
    }

    /// The audited downgrade of confidentiality: adds `added` to the readers and marks the label.
    #[must_use]
    pub fn declassified(&self, added: &IndexSet) -> Self {
        let readers = match &self.readers {
            Readers::Everyone => Readers::Everyone,
            Readers::Only(set) => Readers::Only(set.union(added)),
        };
        Self {
            readers,
            flags: self.flags | Flags::DECLASSIFIED,
            ..self.clone()
        }
    }

    /// The same label with `flags` added.
    #[must_use]
    pub fn flagged(&self, flags: Flags) -> Self {
        Self {
            flags: self.flags | flags,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests;
