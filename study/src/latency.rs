//! How long rollouts take, which is told to the user and enters no result.
//!
//! The rollouts of a group share what happens before their policies part, so no rollout has a time
//! of its own. Each is counted with the time of its group, from the plugins to the rows as text,
//! divided by the rollouts of the group.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Digits that are kept of a time: it is told at most a thousandth too long.
const DIGITS: u8 = 3;
/// Nanoseconds of the longest time that is kept, an hour; a longer one counts as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// The times of many rollouts.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

/// How long rollouts took, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyNs {
    /// Half of them took no longer.
    pub p50: u64,
    /// Nine of ten took no longer.
    pub p90: u64,
    /// Ninety-nine of a hundred took no longer.
    pub p99: u64,
    /// None took longer.
    pub max: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Self(histogram.expect("the bounds are those of a histogram"))
    }
}

impl Latencies {
    /// Counts the rollouts of a group that took so long together.
    pub fn record(&mut self, group: Duration, rollouts: usize) {
        let Some(each) = group.as_nanos().checked_div(rollouts as u128) else {
            return;
        };
        let each = u64::try_from(each).unwrap_or(LONGEST_NS);
        self.0
            .saturating_record_n(each.clamp(1, LONGEST_NS), rollouts as u64);
    }

    /// Counts what another counted as well.
    ///
    /// # Panics
    /// Never: all histograms have the same bounds.
    pub fn add(&mut self, other: &Self) {
        let added = self.0.add(&other.0);
        added.expect("all histograms have the same bounds");
    }

    /// Of how many rollouts the time is known.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether nothing was run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is told of them; nothing if nothing was run.
    #[must_use]
    pub fn summary(&self) -> Option<LatencyNs> {
        let at = |quantile| self.0.value_at_quantile(quantile);
        (!self.is_empty()).then(|| LatencyNs {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: self.0.max(),
        })
    }
}

/// Runs `what` and tells how long it took.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "how long rollouts took is told to the user and is no part of a row or a manifest"
)]
pub(crate) fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let began = std::time::Instant::now();
    let done = what();
    (done, began.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 to 100 microseconds, once each.
    fn hundred() -> Latencies {
        let mut latencies = Latencies::default();
        for micros in 1..=100 {
            latencies.record(Duration::from_micros(micros), 1);
        }
        latencies
    }

    fn is_near(found: u64, expected: u64) -> bool {
        (expected..=expected + expected / 1_000).contains(&found)
    }

    #[test]
    fn times_are_told_to_a_thousandth() {
        let told = hundred().summary().unwrap();
        let found = [told.p50, told.p90, told.p99, told.max];
        let expected = [50_000, 90_000, 99_000, 100_000];
        let mut both = found.into_iter().zip(expected);
        assert!(
            both.all(|(found, expected)| is_near(found, expected)),
            "{told:?}"
        );
    }

    #[test]
    fn the_time_of_a_group_is_shared_by_its_rollouts() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_micros(50), 5);
        assert_eq!(latencies.len(), 5);
        assert!(is_near(latencies.summary().unwrap().max, 10_000));
        latencies.record(Duration::from_micros(50), 0);
        assert_eq!(latencies.len(), 5);
    }

    #[test]
    fn several_workers_count_as_one() {
        let (mut odd, mut even) = (Latencies::default(), Latencies::default());
        for micros in 1..=100 {
            let half = if micros % 2 == 0 { &mut even } else { &mut odd };
            half.record(Duration::from_micros(micros), 1);
        }
        odd.add(&even);
        assert_eq!(odd.summary(), hundred().summary());
    }

    #[test]
    fn no_time_is_too_short_or_too_long() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.summary(), None);
        latencies.record(Duration::ZERO, 3);
        latencies.record(Duration::MAX, 1);
        let told = latencies.summary().unwrap();
        assert_eq!(told.p50, 1);
        assert!(is_near(told.max, LONGEST_NS), "{told:?}");
    }
}
