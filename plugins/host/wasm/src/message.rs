//! The writer of the flat records that a module reads.
//!
//! A message is one piece of bytes. All numbers are little-endian words of 32 bits (two for 64,
//! the lower first). A text is two words: where it begins, in bytes from the start of the message,
//! and how many bytes it has. A list is two words likewise: where it begins, and how many records.

use std::collections::BTreeMap;

use plugins::briefing::Briefing;
use plugins::label::{IndexSet, Label, LabelId, LabelTable, Readers};
use plugins::value::{Content, Value};

use crate::codes::NONE;

/// Where something is and how much of it there is.
pub(crate) type Span = [u32; 2];

/// A number as a word; what is too large for one is far beyond every limit.
pub(crate) fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A number of 64 bits as two words.
pub(crate) fn two_words(number: u64) -> [u32; 2] {
    let low = u32::try_from(number & 0xFFFF_FFFF).unwrap_or(u32::MAX);
    let high = u32::try_from(number >> 32).unwrap_or(u32::MAX);
    [low, high]
}

/// An optional id as a word.
pub(crate) fn optional(id: Option<u32>) -> u32 {
    id.unwrap_or(NONE)
}

/// Puts pieces of a record together: `N` words in all. A test pins every size, so a piece that did
/// not fit would be seen there.
pub(crate) fn record<const N: usize>(pieces: &[&[u32]]) -> [u32; N] {
    let mut words = [0; N];
    let all = pieces.iter().flat_map(|piece| piece.iter());
    for (word, &piece) in words.iter_mut().zip(all) {
        *word = piece;
    }
    words
}

/// A message being written. Its memory is kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
    /// The labels that the message speaks of, in order of first use.
    labels: Vec<LabelId>,
    /// Where each is in `labels`.
    places: BTreeMap<LabelId, u32>,
}

impl Message {
    /// The finished bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins a message whose first record has `words` words.
    pub(crate) fn begin(&mut self, words: usize) {
        self.bytes.clear();
        self.labels.clear();
        self.places.clear();
        self.bytes.resize(words * 4, 0);
    }

    /// Writes the words of the record at `at`.
    pub(crate) fn put(&mut self, at: usize, words: &[u32]) {
        let place = self.bytes[at..].chunks_exact_mut(4);
        for (bytes, word) in place.zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Appends a text.
    pub(crate) fn text(&mut self, text: &str) -> Span {
        let at = word(self.bytes.len());
        self.bytes.extend_from_slice(text.as_bytes());
        [at, word(text.len())]
    }

    /// Appends a list of records of `N` words each.
    pub(crate) fn list<T, const N: usize>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> [u32; N],
    ) -> Span {
        let count = items.len();
        let begin = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(begin + count * N * 4, 0);
        for (position, item) in items.enumerate() {
            let words = each(self, item);
            self.put(begin + position * N * 4, &words);
        }
        [word(begin), word(count)]
    }

    /// Appends a list of numbers.
    pub(crate) fn numbers(&mut self, numbers: impl Iterator<Item = u32>) -> Span {
        let begin = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(begin, 0);
        let mut count = 0;
        for number in numbers {
            self.bytes.extend_from_slice(&number.to_le_bytes());
            count += 1;
        }
        [word(begin), count]
    }

    /// Appends a list of texts.
    pub(crate) fn texts<'t>(&mut self, texts: impl ExactSizeIterator<Item = &'t str>) -> Span {
        self.list(texts, |message, text| message.text(text))
    }

    /// The number of a label in this message.
    pub(crate) fn label(&mut self, label: LabelId) -> u32 {
        let next = word(self.labels.len());
        let place = *self.places.entry(label).or_insert(next);
        if place == next {
            self.labels.push(label);
        }
        place
    }

    /// Appends the labels that the message speaks of.
    pub(crate) fn label_list(&mut self, table: &LabelTable, briefing: &Briefing) -> Span {
        let labels = std::mem::take(&mut self.labels);
        let span = self.list(labels.iter(), |message, &label| {
            message.label_record(table.get(label), briefing)
        });
        self.labels = labels;
        span
    }

    /// `cb_label`.
    pub(crate) fn label_record(&mut self, label: &Label, briefing: &Briefing) -> [u32; LABEL] {
        let sources = self.set(&label.sources);
        let control = self.set(&label.control);
        let (everyone, readers) = self.readers(&label.readers);
        let flags = label_flags(label, briefing) | everyone << 2;
        let derivation = u32::from(label.flags.bits());
        record(&[&[flags, derivation], &sources, &control, &readers])
    }

    /// The members of a set.
    pub(crate) fn set(&mut self, set: &IndexSet) -> Span {
        self.numbers(set.iter())
    }

    /// Whether everyone may read, and else who.
    pub(crate) fn readers(&mut self, readers: &Readers) -> (u32, Span) {
        match readers {
            Readers::Everyone => (1, [0, 0]),
            Readers::Only(set) => (0, self.set(set)),
        }
    }

    /// `cb_value`.
    pub(crate) fn value(&mut self, value: &Value) -> [u32; VALUE] {
        match value {
            Value::Text(text) => {
                let text = self.text(text);
                record(&[&[0, 0], &text])
            }
            Value::List(items) => {
                let items = self.texts(items.iter().map(|item| &**item));
                record(&[&[1, 0], &items])
            }
            Value::Integer(number) => record(&[&[2, 0, 0, 0], &two_words(number.cast_unsigned())]),
            Value::Boolean(truth) => record(&[&[3, 0, 0, 0], &[u32::from(*truth), 0]]),
        }
    }

    /// A list of `cb_field`, with labels as far as there are any.
    pub(crate) fn fields(
        &mut self,
        content: &Content,
        labels: &[LabelId],
        flags: &dyn Fn(LabelId) -> u32,
    ) -> Span {
        self.list(content.fields.iter().enumerate(), |message, (at, field)| {
            let label = labels.get(at).copied();
            let flags = label.map_or(0, flags);
            let label = optional(label.map(|label| message.label(label)));
            let name = message.text(&field.name);
            let value = message.text(&field.value);
            record::<FIELD>(&[&name, &value, &[label, flags]])
        })
    }
}

/// Bit 0: tainted. Bit 1: influenced.
pub(crate) fn label_flags(label: &Label, briefing: &Briefing) -> u32 {
    let tainted = label.carries(&briefing.untrusted);
    let influenced = label.influenced_by(&briefing.untrusted);
    u32::from(tainted) | u32::from(influenced) << 1
}

/// Words of `cb_label`.
pub(crate) const LABEL: usize = 8;
/// Words of `cb_value`.
pub(crate) const VALUE: usize = 6;
/// Words of `cb_field`.
pub(crate) const FIELD: usize = 6;
