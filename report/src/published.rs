//! The published numbers, as data: `data/published.csv`, one line for each.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::table::Table;

/// The study whose rows make a published table.
const SOURCES: [(&str, &str); 3] = [("stress", "17"), ("second_model", "22"), ("", "24")];

/// The main study, which makes all other numbers.
pub const MAIN: &str = "full_main";

/// Every study that makes published numbers.
pub const STUDIES: [&str; 3] = [MAIN, "stress", "second_model"];

/// The numbers that are held out and follow from no target by a tie or by arithmetic (docs/paper.md).
pub const INDEPENDENT: [&str; 11] = [
    "t11.ledger_v2.fp_block",
    "t14.authorized_completion_subset.tool_boundary",
    "t14.authorized_completion_subset.ledger_v2",
    "t14.all_full_scale_fixed_max_denominator.tool_boundary",
    "t14.security_only_fixed_max_denominator.ledger_v2",
    "t14.active_stage_fixed_max_denominator.ledger_v2",
    "t26.active_tainted.ledger_v2.logged_taint_spread.std",
    "t26.active_tainted.ledger_v2.logged_taint_spread.range",
    "t26.active_tainted.tool_boundary.logged_taint_spread.std",
    "t26.active_tainted.tool_boundary.logged_taint_spread.range",
    "t26.active_tainted.none.committed_policy_violation.mean",
];

/// The numbers of the paper.
const CELLS: &str = include_str!("../data/published.csv");

/// How a published number stands to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A parameter of a profile was fitted to it, or a structure chosen for it.
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

/// The study whose rows make a published number; empty for what needs none.
#[must_use]
pub fn source(id: &str) -> &'static str {
    let of_second = ["t16.mistral", "txt.mistral"]
        .iter()
        .any(|prefix| id.starts_with(prefix));
    if of_second {
        return "second_model";
    }
    if id.starts_with("txt.reparse") {
        return "";
    }
    let table = id
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_start_matches('t');
    let found = SOURCES.iter().find(|(_, source)| *source == table);
    found.map_or(MAIN, |(study, _)| study)
}

/// Leaves to the cells of a study the ids of published numbers that its rows are to reproduce.
pub fn keep_ids_of(study: &str, tables: &mut [Table]) {
    let cells = cells();
    let known: BTreeSet<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
    for cell in tables
        .iter_mut()
        .flat_map(|table| &mut table.rows)
        .flatten()
    {
        cell.published
            .retain(|id| known.contains(id.as_str()) && source(id) == study);
    }
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
    use super::*;
    use crate::table::Cell;

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

    #[test]
    fn what_follows_from_no_target_is_held_out() {
        for id in INDEPENDENT {
            let cells = cells();
            let cell = cells.iter().find(|cell| cell.id == id);
            assert_eq!(cell.map(|cell| cell.class), Some(Class::HeldOut), "{id}");
        }
    }

    #[test]
    fn every_number_has_the_study_that_makes_it() {
        for (id, study) in [
            ("t9.none.n", MAIN),
            ("t17.none.harm_attempt", "stress"),
            ("t22.none.valid_proposal", "second_model"),
            ("txt.mistral_lo", "second_model"),
            ("txt.reparse_valid", ""),
            ("t24.repaired_parses", ""),
            ("txt.union_441", MAIN),
        ] {
            assert_eq!(source(id), study, "{id}");
        }
    }

    #[test]
    fn a_cell_keeps_the_ids_that_its_study_is_to_reproduce() {
        let mut table = Table::new("9", "", &["N"]);
        let cell = Cell::count(1)
            .publishes("t9.none.n")
            .publishes("t9.my_policy.n");
        table.row([cell]);
        let kept = |study: &str| {
            let mut tables = [table.clone()];
            keep_ids_of(study, &mut tables);
            tables[0].rows[0][0].published.clone()
        };
        assert_eq!(kept(MAIN), ["t9.none.n"]);
        assert!(kept("stress").is_empty() && kept("mine").is_empty());
    }
}
