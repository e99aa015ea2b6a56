//! Spread under denominators that one row does not have (Table 14).

use std::collections::{BTreeMap, BTreeSet};

use crate::paired::PairKey;
use crate::ratio::Ratio;
use crate::row::Row;

/// `spread_fixed_max` of each row, in the order given.
///
/// Numerator: labelled nodes of the row. Denominator: max(1, the largest region over the rows of the
/// same scenario, model and seed whose policy is one of `denominator_policies`). Null: the row
/// errored, or the group lacks a declared policy or its row errored, for then the denominator would
/// not be the declared one. Origin: P (Table 14); the declared set O. A policy that is not declared
/// gets a value and moves nobody else's; its value can exceed 1.
#[must_use]
pub fn spread_fixed_max(rows: &[Row], denominator_policies: &[String]) -> Vec<Option<Ratio>> {
    let declared: BTreeSet<&str> = denominator_policies.iter().map(String::as_str).collect();
    let mut regions: BTreeMap<PairKey<'_>, BTreeMap<&str, u32>> = BTreeMap::new();
    for row in rows {
        if let Some(&policy) = declared.get(&*row.identity.policy)
            && let Some(region) = row.metrics.propagation.region_nodes
        {
            let group = regions.entry(PairKey::of(&row.identity)).or_default();
            group.insert(policy, region);
        }
    }
    rows.iter()
        .map(|row| {
            let group = regions.get(&PairKey::of(&row.identity))?;
            let largest = group
                .values()
                .max()
                .filter(|_| group.len() == declared.len())?;
            let labelled = row.metrics.propagation.blast_radius_raw?;
            Some(Ratio::clipped(labelled, *largest))
        })
        .collect()
}

/// `spread_completed` of one policy: `blast_radius_norm` of its rows whose
/// `authorized_tainted_action_success` is 1, in the order given.
///
/// Stages: `active_tainted`. Null rows and rows that did not succeed are left out. Origin: P
/// (Table 14).
#[must_use]
pub fn spread_completed(rows: &[Row], policy: &str) -> Vec<Ratio> {
    rows.iter()
        .filter(|row| *row.identity.policy == *policy && is_complete(row))
        .filter_map(|row| row.metrics.propagation.blast_radius_norm)
        .collect()
}

/// The same over the pairs that are complete under both policies: the two spreads of each pair, in
/// the order of the first policy's rows. Origin: O.
#[must_use]
pub fn spread_completed_by_both(rows: &[Row], first: &str, second: &str) -> Vec<(Ratio, Ratio)> {
    let spread = |row: &Row| row.metrics.propagation.blast_radius_norm;
    let of_second: BTreeMap<PairKey<'_>, Ratio> = rows
        .iter()
        .filter(|row| *row.identity.policy == *second && is_complete(row))
        .filter_map(|row| Some((PairKey::of(&row.identity), spread(row)?)))
        .collect();
    rows.iter()
        .filter(|row| *row.identity.policy == *first && is_complete(row))
        .filter_map(|row| {
            let other = of_second.get(&PairKey::of(&row.identity))?;
            Some((spread(row)?, *other))
        })
        .collect()
}

fn is_complete(row: &Row) -> bool {
    row.metrics.utility.authorized_tainted_action_success == Some(true)
}

#[cfg(test)]
mod tests;
