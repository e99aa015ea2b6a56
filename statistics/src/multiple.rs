//! Many tests at once.

use crate::number::{count, real};

/// P-values adjusted by Holm's step-down rule ("A simple sequentially rejective multiple test
/// procedure", 1979), in the order given: what is below 0.05 may all be called real with a 5 % chance
/// of any mistake, however the tests depend on each other. None if one is not between 0 and 1.
#[must_use]
pub fn holm(p_values: &[f64]) -> Option<Vec<f64>> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    let mut left = real(count(p_values));
    for place in order {
        largest = largest.max((p_values[place] * left).min(1.0));
        adjusted[place] = largest;
        left -= 1.0;
    }
    Some(adjusted)
}

/// P-values adjusted by the step-up rule of Benjamini and Hochberg ("Controlling the false discovery
/// rate", 1995), in the order given: of what is below 0.05 at most 5 % are mistakes on average, if
/// the tests are independent or depend positively. None if one is not between 0 and 1.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Option<Vec<f64>> {
    let order = ascending(p_values)?;
    let all = real(count(p_values));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest: f64 = 1.0;
    let mut rank = all;
    for place in order.into_iter().rev() {
        smallest = smallest.min(p_values[place] * all / rank);
        adjusted[place] = smallest;
        rank -= 1.0;
    }
    Some(adjusted)
}

/// The places of p-values from the smallest to the largest.
fn ascending(p_values: &[f64]) -> Option<Vec<usize>> {
    if !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| p_values[*left].total_cmp(&p_values[*right]));
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_close;

    #[test]
    fn adjusted_values_keep_their_places() {
        let p_values = [0.04, 0.01, 0.03];
        let expected = [(holm(&p_values), [0.06, 0.03, 0.06])];
        let also = (benjamini_hochberg(&p_values), [0.04, 0.03, 0.04]);
        for (found, wanted) in expected.into_iter().chain([also]) {
            for (found, wanted) in found.unwrap().into_iter().zip(wanted) {
                assert_close(found, wanted, 1e-15);
            }
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for adjust in [holm, benjamini_hochberg] {
            assert_eq!(adjust(&[0.1, 1.1]), None);
            assert_eq!(adjust(&[f64::NAN]), None);
            assert_eq!(adjust(&[]), Some(Vec::new()));
        }
    }
}
