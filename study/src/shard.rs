//! One part of a study that is run in several places: every group whose position leaves the same
//! rest.
//!
//! The scenarios of a study are of very different cost and those beside each other are alike, so
//! shards take turns instead of blocks. The manifest of every shard is that of the whole study; only
//! its circumstances say which shard it is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Most shards of one study: more than there are machines, and few enough to be named.
pub const MAX_SHARDS: u32 = 10_000;

/// A shard of a study, written `I/N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: u32,
    of: u32,
}

/// A text that names no shard. Nothing was run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// It has another form.
    #[error("write it as I/N, for example `1/3` for the first of three shards")]
    Form,
    /// No study has so many shards.
    #[error("a study has 1 to {MAX_SHARDS} shards: write a number of them after the `/`")]
    Count,
    /// There is no such shard among so many.
    #[error("the shards of {of} are `1/{of}` to `{of}/{of}`: write one of them")]
    Index {
        /// How many there are.
        of: u32,
    },
}

impl Shard {
    /// The shard at this position, from 1.
    ///
    /// # Errors
    /// When there is no such shard.
    pub const fn new(index: u32, of: u32) -> Result<Self, ShardError> {
        if of == 0 || of > MAX_SHARDS {
            return Err(ShardError::Count);
        }
        if index == 0 || index > of {
            return Err(ShardError::Index { of });
        }
        Ok(Self { index, of })
    }

    /// Which shard, from 1.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Of how many.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of
    }

    /// Whether the group at this position of the plan is run in this shard.
    #[must_use]
    pub const fn holds(self, group: usize) -> bool {
        group % self.of as usize == self.index as usize - 1
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, of) = text.split_once('/').ok_or(ShardError::Form)?;
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(index) || !is_number(of) {
            return Err(ShardError::Form);
        }
        let of = of.parse().map_err(|_| ShardError::Count)?;
        // A number too large for its type is also too large for the shards there are.
        Self::new(index.parse().unwrap_or(u32::MAX), of)
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for text in ["1/1", "1/3", "3/3", "10000/10000"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_shard_is_refused_with_what_would_be_one() {
        for text in [
            "", "1", "/", "1/", "/3", "x/y", "-1/3", "+1/3", " 1/3", "1/3/3",
        ] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Form), "{text}");
        }
        for text in ["1/0", "0/0", "1/10001", "1/99999999999999999999"] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Count), "{text}");
        }
        for text in ["0/3", "4/3", "99999999999999999999/3"] {
            let refused = Err(ShardError::Index { of: 3 });
            assert_eq!(text.parse::<Shard>(), refused, "{text}");
        }
    }

    #[test]
    fn every_group_is_in_exactly_one_shard() {
        for of in [1, 2, 3, 7, 20] {
            for group in 0..12 {
                let shards = (1..=of).map(|index| Shard::new(index, of).unwrap());
                assert_eq!(shards.filter(|shard| shard.holds(group)).count(), 1);
            }
        }
    }
}
