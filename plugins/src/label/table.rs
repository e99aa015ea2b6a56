//! Interned labels.

use serde::{Deserialize, Serialize};

use super::{Flags, IndexSet, Label, Readers};

/// An interned label.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LabelId(u32);

impl LabelId {
    /// [`Label::bottom`], interned first in every table.
    pub const BOTTOM: Self = Self(0);

    /// Its position in the table it comes from.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Interns labels in order of first use. Ids therefore depend on the history of one rollout and
/// never appear in output; the labels themselves do.
#[derive(Clone, Debug)]
pub struct LabelTable {
    labels: Vec<Label>,
    /// Of each label.
    fingerprints: Vec<u64>,
    /// Where each label is found by its fingerprint: its id plus one, or 0 where there is none. Twice
    /// as many places as labels at least; a taken place sends on to the next.
    places: Vec<u32>,
    /// What was made of which labels lately: a rollout makes the same of the same again and again.
    made: Vec<Made>,
}

/// A label made of others.
#[derive(Clone, Copy, Debug)]
struct Made {
    /// As [`joined`], [`with_flags`], [`written`] and [`chosen`] give it.
    how: u64,
    id: LabelId,
    /// The newest of it and of those of which it is made.
    newest: LabelId,
}

impl Made {
    /// Nothing is made so: a label is not joined with itself.
    const NOTHING: Self = Self {
        how: 0,
        id: LabelId::BOTTOM,
        newest: LabelId::BOTTOM,
    };
}

/// How many of them a table remembers; a power of two.
const MADE: usize = 128;

/// How many places a table begins with; a power of two.
const FEWEST_PLACES: usize = 64;

impl Default for LabelTable {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a label is found is no part of what a table holds.
impl PartialEq for LabelTable {
    fn eq(&self, other: &Self) -> bool {
        self.labels == other.labels
    }
}

impl Eq for LabelTable {}

impl LabelTable {
    /// A table that holds [`Label::bottom`] alone.
    #[must_use]
    pub fn new() -> Self {
        let mut table = Self {
            labels: Vec::new(),
            fingerprints: Vec::new(),
            places: vec![0; FEWEST_PLACES],
            made: vec![Made::NOTHING; MADE],
        };
        table.intern(Label::bottom());
        table
    }

    /// Rebuilds a table from [`LabelTable::labels`].
    #[must_use]
    pub fn from_labels(labels: Vec<Label>) -> Self {
        let mut table = Self::new();
        for label in labels {
            table.intern(label);
        }
        table
    }

    /// Every interned label in id order.
    #[must_use]
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// [`Label::fingerprint`] of each, in id order.
    #[must_use]
    pub fn fingerprints(&self) -> &[u64] {
        &self.fingerprints
    }

    /// Forgets every label interned after the first `count`; [`Label::bottom`] always stays.
    pub fn truncate(&mut self, count: usize) {
        let kept = count.clamp(1, self.labels.len());
        if kept < self.labels.len() {
            self.labels.truncate(kept);
            self.fingerprints.truncate(kept);
            for made in &mut self.made {
                if made.newest.0 as usize >= kept {
                    *made = Made::NOTHING;
                }
            }
            self.place_all();
        }
    }

    /// Makes the table hold exactly `labels`, as [`LabelTable::labels`] gave them.
    pub fn reset_to(&mut self, labels: &[Label]) {
        let shared = self
            .labels
            .iter()
            .zip(labels)
            .take_while(|(own, wanted)| own == wanted)
            .count();
        self.truncate(shared);
        for label in &labels[shared.min(labels.len())..] {
            self.intern(label.clone());
        }
    }

    /// The label behind `id`.
    ///
    /// # Panics
    /// When `id` comes from another table.
    #[must_use]
    pub fn get(&self, id: LabelId) -> &Label {
        &self.labels[id.0 as usize]
    }

    /// The id of `label`, if it was interned.
    #[must_use]
    pub fn find(&self, label: &Label) -> Option<LabelId> {
        self.look_up(label, label.fingerprint()).ok()
    }

    /// The id of `label`, new if it was not seen before.
    ///
    /// # Panics
    /// When there are more than `u32::MAX` labels; a trace is limited to far fewer nodes.
    pub fn intern(&mut self, label: Label) -> LabelId {
        let fingerprint = label.fingerprint();
        let place = match self.look_up(&label, fingerprint) {
            Ok(id) => return id,
            Err(place) => place,
        };
        let id = LabelId(u32::try_from(self.labels.len()).expect("fewer labels than trace nodes"));
        self.labels.push(label);
        self.fingerprints.push(fingerprint);
        self.places[place] = id.0 + 1;
        if self.labels.len() * 2 > self.places.len() {
            self.places.resize(self.places.len() * 2, 0);
            self.place_all();
        }
        id
    }

    /// The id of the join of two interned labels.
    pub fn join(&mut self, a: LabelId, b: LabelId) -> LabelId {
        if a == b || b == LabelId::BOTTOM {
            return a;
        }
        if a == LabelId::BOTTOM {
            return b;
        }
        self.make(joined(a, b), a.max(b), |table| {
            table.get(a).join(table.get(b))
        })
    }

    /// The id of `id` with `flags` added.
    pub fn flagged(&mut self, id: LabelId, flags: Flags) -> LabelId {
        if self.get(id).flags.contains(flags) {
            id
        } else {
            self.make(with_flags(id, flags), id, |table| {
                table.get(id).flagged(flags)
            })
        }
    }

    /// The id of the label of something that was chosen because of what `choice` labels: all that flowed
    /// into the choice is its control.
    pub fn chosen_by(&mut self, choice: LabelId) -> LabelId {
        self.make(chosen(choice), choice, |table| {
            let choice = table.get(choice);
            Label {
                control: choice.sources.union(&choice.control),
                ..Label::bottom()
            }
        })
    }

    /// The id of the label of something that a model wrote: `inputs` labels what flowed into it, and
    /// `control` what it depends on without holding anything of it.
    pub fn written_by_model(&mut self, inputs: LabelId, control: LabelId) -> LabelId {
        self.make(written(inputs, control), inputs.max(control), |table| {
            let joined = table.get(inputs).join(table.get(control));
            Label {
                flags: joined.flags | Flags::VIA_MODEL,
                ..joined
            }
        })
    }

    /// The id of the label that is made so, of labels of which `newest` is the newest.
    fn make(&mut self, how: u64, newest: LabelId, label: impl FnOnce(&Self) -> Label) -> LabelId {
        let place = (mixed(0, how) >> 32) as usize & (MADE - 1);
        let made = self.made[place];
        if made.how == how {
            return made.id;
        }
        let id = self.intern(label(self));
        let newest = newest.max(id);
        self.made[place] = Made { how, id, newest };
        id
    }

    /// The id of `label`, or the place where it belongs.
    fn look_up(&self, label: &Label, fingerprint: u64) -> Result<LabelId, usize> {
        let mut place = self.first_place(fingerprint);
        loop {
            let Some(index) = self.places[place].checked_sub(1) else {
                return Err(place);
            };
            if self.fingerprints[index as usize] == fingerprint
                && self.labels[index as usize] == *label
            {
                return Ok(LabelId(index));
            }
            place = self.next_place(place);
        }
    }

    /// Finds a place for every label, after some were forgotten or the places became more.
    fn place_all(&mut self) {
        self.places.fill(0);
        for (number, &fingerprint) in (1..).zip(&self.fingerprints) {
            let mut place = self.first_place(fingerprint);
            while self.places[place] != 0 {
                place = self.next_place(place);
            }
            self.places[place] = number;
        }
    }

    /// The number of places is a power of two, so its predecessor is a mask.
    const fn first_place(&self, fingerprint: u64) -> usize {
        (fingerprint >> 32) as usize & (self.places.len() - 1)
    }

    const fn next_place(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}

// How a label is made, as a number. The two highest bits say which of the four ways it is: no table has
// so many labels that an id would reach them.

const fn joined(a: LabelId, b: LabelId) -> u64 {
    (a.0 as u64) << 32 | b.0 as u64
}

const fn written(inputs: LabelId, control: LabelId) -> u64 {
    1 << 62 | joined(inputs, control)
}

const fn with_flags(id: LabelId, flags: Flags) -> u64 {
    2 << 62 | (id.0 as u64) << 32 | flags.bits() as u64
}

const fn chosen(choice: LabelId) -> u64 {
    3 << 62 | (choice.0 as u64) << 32
}

impl Label {
    /// A number that equal labels share, and others hardly ever. The digests of traces rest on it.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let Self {
            sources,
            readers,
            control,
            flags,
        } = self;
        // From zero on, leading zeros would not count.
        let mut sum = mixed(ODD, u64::from(flags.bits()));
        sum = mixed_set(sum, sources);
        sum = mixed_set(sum, control);
        match readers {
            Readers::Everyone => sum,
            Readers::Only(readers) => mixed_set(mixed(sum, 1), readers),
        }
    }
}

fn mixed_set(sum: u64, set: &IndexSet) -> u64 {
    let length = set.0.len() as u64;
    set.0
        .iter()
        .fold(mixed(sum, length), |sum, &word| mixed(sum, word))
}

/// An odd number without a pattern.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The factor carries every bit upwards, where places are taken from.
const fn mixed(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(29) ^ word).wrapping_mul(ODD)
}
