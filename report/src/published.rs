//! The published numbers, as data: `data/published.csv`, one line for each.

use serde::{Deserialize, Serialize};

/// The numbers of the paper.
const CELLS: &str = include_str!("../data/published.csv");

/// How a published number stands to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A parameter of a profile was fitted to it.
    Target,
    /// It is the same simulated quantity as a target, printed elsewhere.
    Restated,
    /// No parameter was fitted to it.
    HeldOut,
    /// It follows from the logic of a policy whatever the parameters.
    ByConstruction,
    /// It counts rows, pairs or scenarios.
    Accounting,
    /// It is an input of a protocol.
    Protocol,
    /// It is of a system that is not simulated here.
    NotComparable,
}

impl Class {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Target,
        Self::Restated,
        Self::HeldOut,
        Self::ByConstruction,
        Self::Accounting,
        Self::Protocol,
        Self::NotComparable,
    ];

    /// The words in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Restated => "restated",
            Self::HeldOut => "held out",
            Self::ByConstruction => "by construction",
            Self::Accounting => "accounting",
            Self::Protocol => "protocol",
            Self::NotComparable => "not comparable",
        }
    }
}

/// A published number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// Its id.
    pub id: String,
    /// The number of its table, or `text`.
    pub table: String,
    /// Where in the table it stands.
    pub row: String,
    /// Under which heading.
    pub column: String,
    /// The evidence stage that it is of; empty or another word if of several.
    pub stage: String,
    /// The number.
    pub value: f64,
    /// The lower end of its interval.
    pub ci_low: Option<f64>,
    /// The upper end of its interval.
    pub ci_high: Option<f64>,
    /// Decimals that are printed.
    pub decimals: usize,
    /// How it stands to ours.
    pub class: Class,
    /// How far ours may be off.
    pub tolerance: f64,
}

/// Every published number, in the order of the paper.
///
/// # Panics
/// Never: the data is part of the program, and a test reads it.
#[must_use]
pub fn cells() -> Vec<Published> {
    let mut reader = csv::Reader::from_reader(CELLS.as_bytes());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("a test reads it")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_410_numbers_with_different_ids() {
        let cells = cells();
        let ids: BTreeSet<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
        assert_eq!((cells.len(), ids.len()), (410, 410));
        assert_eq!(
            cells.iter().filter(|cell| cell.ci_low.is_some()).count(),
            18
        );
    }
}
