//! Means, with how many values they are of.

use serde::Serialize;

use crate::number::{all_finite, count, real, sum};

/// The mean of `values`, summed in the given order. None if there is no value, or one that is no
/// finite number.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    let mean = sum(values) / real(count(values));
    mean.is_finite().then_some(mean)
}

/// A mean over the rows to which a metric applies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ApplicableMean {
    /// The mean of the values that there are (Eq. 7).
    pub value: f64,
    /// How many these are.
    pub applicable: u64,
    /// How many rows there were, with those to which the metric does not apply.
    pub rows: u64,
}

/// The mean of the rows that have a value. None if none has, or one is no finite number: a metric
/// that applies nowhere is left out, and is not zero.
pub fn applicable_mean(rows: impl IntoIterator<Item = Option<f64>>) -> Option<ApplicableMean> {
    let mut present = Vec::new();
    let mut rows_seen = 0;
    for row in rows {
        rows_seen += 1;
        present.extend(row);
    }
    Some(ApplicableMean {
        value: mean(&present)?,
        applicable: count(&present),
        rows: rows_seen,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_leaves_out_where_the_metric_does_not_apply() {
        let found = applicable_mean([Some(1.0), None, Some(0.0), None, Some(0.5)]);
        let expected = ApplicableMean {
            value: 0.5,
            applicable: 3,
            rows: 5,
        };
        assert_eq!(found, Some(expected));
        assert_eq!(applicable_mean([None, None]), None);
    }

    #[test]
    fn what_is_no_number_has_no_mean() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, f64::NAN]), None);
        assert_eq!(mean(&[1.0, f64::INFINITY]), None);
        assert_eq!(mean(&[f64::MAX, f64::MAX]), None);
        assert_eq!(mean(&[1.0, 2.0]), Some(1.5));
    }
}
