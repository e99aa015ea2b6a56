//! Values that belong together.

use std::collections::BTreeMap;

use crate::mean::mean;
use crate::number::{count, real, sum};

/// Values grouped by cluster: rollouts, or pairs of them, by scenario or by family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clustered {
    /// Cluster after cluster.
    values: Vec<f64>,
    /// Where each cluster ends in `values`; no cluster is empty.
    ends: Vec<usize>,
}

impl Clustered {
    /// Groups rows by key. Clusters stand in the order of first appearance, values in the order
    /// given.
    pub fn of_rows<K: Ord>(rows: impl IntoIterator<Item = (K, f64)>) -> Self {
        let mut places = BTreeMap::new();
        let mut groups: Vec<Vec<f64>> = Vec::new();
        for (key, value) in rows {
            let place = *places.entry(key).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(value),
                None => groups.push(vec![value]),
            }
        }
        let mut sample = Self::default();
        for group in groups {
            sample.values.extend(group);
            sample.ends.push(sample.values.len());
        }
        sample
    }

    /// The differences second - first of pairs, grouped by key (Eq. 12).
    pub fn of_pairs<K: Ord>(pairs: impl IntoIterator<Item = (K, f64, f64)>) -> Self {
        Self::of_rows(
            pairs
                .into_iter()
                .map(|(key, first, second)| (key, second - first)),
        )
    }

    /// Every value, cluster after cluster.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values of each cluster.
    pub fn clusters(&self) -> impl Iterator<Item = &[f64]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .filter_map(|(start, end)| self.values.get(start..*end))
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of values, as an [`Estimate`](crate::Estimate) has it.
    #[must_use]
    pub fn n(&self) -> u64 {
        count(&self.values)
    }

    /// The number of clusters.
    #[must_use]
    pub fn cluster_count(&self) -> u64 {
        count(&self.ends)
    }

    /// The mean of all values, whatever cluster they are in: of clusters of unequal size, the sum of
    /// sums over the sum of sizes. None if there is no value, or one that is no finite number.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        mean(&self.values)
    }

    /// The sum and the size of each cluster.
    pub(crate) fn totals(&self) -> Vec<(f64, f64)> {
        self.clusters()
            .map(|cluster| (sum(cluster), real(count(cluster))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_stand_in_the_order_of_first_appearance() {
        let sample = Clustered::of_rows([("b", 1.0), ("a", 2.0), ("b", 3.0), ("c", 4.0)]);
        let clusters: Vec<&[f64]> = sample.clusters().collect();
        assert_eq!(clusters, [&[1.0, 3.0][..], &[2.0], &[4.0]]);
        assert_eq!(sample.values(), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!((sample.n(), sample.cluster_count()), (4, 3));
        assert_eq!(sample.totals(), [(4.0, 2.0), (2.0, 1.0), (4.0, 1.0)]);
        assert_eq!(sample.mean(), Some(2.5));
    }

    #[test]
    fn a_difference_is_the_second_minus_the_first() {
        let sample = Clustered::of_pairs([(1, 0.0, 1.0), (2, 1.0, 0.25)]);
        assert_eq!(sample.values(), [1.0, -0.75]);
    }

    #[test]
    fn nothing_has_no_mean() {
        let nothing = Clustered::of_rows::<u8>([]);
        assert!(nothing.is_empty());
        assert_eq!(nothing.mean(), None);
        assert_eq!(nothing.clusters().count(), 0);
    }
}
