//! What the tests of this crate share.

mod laws;
mod reference;

use crate::clustered::Clustered;

/// Asserts that `found` is within `slack` of `wanted`, or within `slack` of its size if that is
/// above 1.
#[track_caller]
pub(crate) fn assert_close(found: f64, wanted: f64, slack: f64) {
    let gap = (found - wanted).abs();
    assert!(
        gap <= slack * wanted.abs().max(1.0),
        "{found} is not {wanted}: {gap} apart"
    );
}

/// A sample of these clusters.
pub(crate) fn sample(clusters: &[&[f64]]) -> Clustered {
    let rows = clusters.iter().enumerate();
    Clustered::of_rows(rows.flat_map(|(key, values)| values.iter().map(move |value| (key, *value))))
}
