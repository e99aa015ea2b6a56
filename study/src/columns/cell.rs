//! Cells: the values of columns, written to and read from text.

use std::borrow::Cow;

use plugins::value::Text;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use worlds::spec::{Domain, Stage};

use super::{Column, Part};
use crate::ratio::Ratio;

/// The value in one column of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The question does not apply.
    Null,
    /// A count, an indicator or a seed.
    Integer(u64),
    /// The quotient of a ratio.
    Decimal(f64),
    /// A name or a hash.
    Text(String),
}

impl std::fmt::Display for Cell {
    /// As in a CSV file: null is empty, a decimal is the shortest text that reads back the same.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Integer(number) => number.fmt(f),
            Self::Decimal(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Integer(number) => serializer.serialize_u64(*number),
            Self::Decimal(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Where the cells of a row go, one call for each column, in order.
pub trait CellWriter {
    /// The question does not apply.
    fn null(&mut self);
    /// A count, an indicator or a seed.
    fn integer(&mut self, number: u64);
    /// The quotient of a ratio.
    fn quotient(&mut self, ratio: Ratio);
    /// A name.
    fn text(&mut self, text: &str);
    /// A hash.
    fn hash(&mut self, hash: Hash);
}

impl CellWriter for Vec<Cell> {
    fn null(&mut self) {
        self.push(Cell::Null);
    }

    fn integer(&mut self, number: u64) {
        self.push(Cell::Integer(number));
    }

    fn quotient(&mut self, ratio: Ratio) {
        self.push(Cell::Decimal(ratio.quotient()));
    }

    fn text(&mut self, text: &str) {
        self.push(Cell::Text(text.to_owned()));
    }

    fn hash(&mut self, hash: Hash) {
        let digits = hash
            .digits()
            .iter()
            .map(|&digit| char::from(digit))
            .collect();
        self.push(Cell::Text(digits));
    }
}

/// The numbers alone: a text or a hash is none.
impl CellWriter for Vec<Option<f64>> {
    fn null(&mut self) {
        self.push(None);
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "what is counted is far smaller; a seed is not computed with"
    )]
    fn integer(&mut self, number: u64) {
        self.push(Some(number as f64));
    }

    fn quotient(&mut self, ratio: Ratio) {
        self.push(Some(ratio.quotient()));
    }

    fn text(&mut self, _: &str) {
        self.push(None);
    }

    fn hash(&mut self, _: Hash) {
        self.push(None);
    }
}

/// A cell that does not hold what its column says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}` holds `{found}`, expected {expected}")]
pub struct BadCell {
    /// The column.
    pub column: String,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: &'static str,
}

/// The cells of one row as text, read one quantity after the other.
#[derive(Debug)]
pub struct Reader<'a> {
    columns: &'a [Column],
    texts: &'a [String],
}

impl<'a> Reader<'a> {
    /// Reads `texts`, which stand in `columns`; both have the same length.
    #[must_use]
    pub const fn new(columns: &'a [Column], texts: &'a [String]) -> Self {
        Self { columns, texts }
    }

    /// The next quantity.
    ///
    /// # Errors
    /// When its cells do not hold one.
    pub fn take<Q: Quantity>(&mut self) -> Result<Q, BadCell> {
        let width = Q::PARTS.len();
        let (texts, rest) = self.texts.split_at(width.min(self.texts.len()));
        let quantity = Q::read(texts).ok_or_else(|| BadCell {
            column: self.columns[0].name().into_owned(),
            found: texts.join(", "),
            expected: Q::EXPECTED,
        })?;
        self.texts = rest;
        self.columns = &self.columns[width..];
        Ok(quantity)
    }
}

/// A type that fills one or more columns.
pub trait Quantity: Sized {
    /// The columns it fills.
    const PARTS: &'static [Part];
    /// What its cells should hold, in words.
    const EXPECTED: &'static str;
    /// Writes one cell for each part.
    fn write(&self, out: &mut impl CellWriter);
    /// Reads it back; none if the texts do not hold it.
    fn read(texts: &[String]) -> Option<Self>;
}

/// A type that fills one cell, and never with null.
pub trait Scalar: Sized {
    /// What its cell should hold, in words.
    const WORDS: &'static str;
    /// Writes the cell.
    fn put(&self, out: &mut impl CellWriter);
    /// Reads it back; none if the text does not hold it.
    fn parse(text: &str) -> Option<Self>;
}

impl<S: Scalar> Quantity for S {
    const PARTS: &'static [Part] = &[Part::Value];
    const EXPECTED: &'static str = S::WORDS;

    fn write(&self, out: &mut impl CellWriter) {
        self.put(out);
    }

    fn read(texts: &[String]) -> Option<Self> {
        S::parse(texts.first()?)
    }
}

impl<S: Scalar> Quantity for Option<S> {
    const PARTS: &'static [Part] = &[Part::Value];
    const EXPECTED: &'static str = S::WORDS;

    #[inline]
    fn write(&self, out: &mut impl CellWriter) {
        match self {
            None => out.null(),
            Some(scalar) => scalar.put(out),
        }
    }

    fn read(texts: &[String]) -> Option<Self> {
        let text = texts.first()?;
        if text.is_empty() {
            Some(None)
        } else {
            S::parse(text).map(Some)
        }
    }
}

impl Quantity for Option<Ratio> {
    const PARTS: &'static [Part] = &[Part::Value, Part::Numerator, Part::Denominator];
    const EXPECTED: &'static str = "a quotient with its numerator and denominator, or nothing";

    fn write(&self, out: &mut impl CellWriter) {
        match self {
            None => Self::PARTS.iter().for_each(|_| out.null()),
            Some(ratio) => {
                out.quotient(*ratio);
                out.integer(ratio.numerator().into());
                out.integer(ratio.denominator().into());
            }
        }
    }

    /// The two integers are the ratio; a quotient that does not fit them is damage.
    fn read(texts: &[String]) -> Option<Self> {
        let [quotient, numerator, denominator] = texts else {
            return None;
        };
        if texts.iter().all(String::is_empty) {
            return Some(None);
        }
        let ratio = Ratio::of(numerator.parse().ok()?, denominator.parse().ok()?)?;
        let written: f64 = quotient.parse().ok()?;
        (written.to_bits() == ratio.quotient().to_bits()).then_some(Some(ratio))
    }
}

impl Scalar for bool {
    const WORDS: &'static str = "0 or 1";

    #[inline]
    fn put(&self, out: &mut impl CellWriter) {
        out.integer(u64::from(*self));
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }
}

impl Scalar for u32 {
    const WORDS: &'static str = "a whole number";

    #[inline]
    fn put(&self, out: &mut impl CellWriter) {
        out.integer(u64::from(*self));
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Scalar for u64 {
    const WORDS: &'static str = "a whole number";

    #[inline]
    fn put(&self, out: &mut impl CellWriter) {
        out.integer(*self);
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Scalar for Text {
    const WORDS: &'static str = "text";

    fn put(&self, out: &mut impl CellWriter) {
        out.text(self);
    }

    fn parse(text: &str) -> Option<Self> {
        Some(text.into())
    }
}

/// One of a few words that the program has, such as the outcome of a rollout. What is read is one
/// that it had.
pub type Word = Cow<'static, str>;

impl Scalar for Word {
    const WORDS: &'static str = "text";

    fn put(&self, out: &mut impl CellWriter) {
        out.text(self);
    }

    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned().into())
    }
}

/// A 128-bit hash, written as 32 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub u128);

impl Hash {
    /// Its 32 digits.
    #[must_use]
    pub fn digits(self) -> [u8; 32] {
        let mut digits = [0; 32];
        let (pairs, _) = digits.as_chunks_mut();
        for (pair, byte) in pairs.iter_mut().zip(self.0.to_be_bytes()) {
            *pair = PAIRS[usize::from(byte)];
        }
        digits
    }
}

/// The two digits of every byte.
static PAIRS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl std::str::FromStr for Hash {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_canonical =
            text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !is_canonical {
            return Err(());
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| ())
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |()| D::Error::custom(format!("`{text}` is no hash: expected {}", Self::WORDS));
        text.parse().map_err(wrong)
    }
}

impl Scalar for Hash {
    const WORDS: &'static str = "32 lower-case hexadecimal digits";

    fn put(&self, out: &mut impl CellWriter) {
        out.hash(*self);
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// The stages by name, in table order.
pub const STAGES: [Stage; 4] = [
    Stage::Security,
    Stage::MemoryRecovery,
    Stage::ActiveTainted,
    Stage::Clean,
];

impl Scalar for Stage {
    const WORDS: &'static str = "security, memory_recovery, active_tainted or clean";

    fn put(&self, out: &mut impl CellWriter) {
        out.text(self.name());
    }

    fn parse(text: &str) -> Option<Self> {
        STAGES.into_iter().find(|stage| stage.name() == text)
    }
}

impl Scalar for Domain {
    const WORDS: &'static str = "email, documents or calendar_crm";

    fn put(&self, out: &mut impl CellWriter) {
        out.text(self.name());
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Email, Self::Documents, Self::CalendarCrm]
            .into_iter()
            .find(|domain| domain.name() == text)
    }
}
