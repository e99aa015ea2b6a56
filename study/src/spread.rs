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

#[cfg(test)]
mod tests;
