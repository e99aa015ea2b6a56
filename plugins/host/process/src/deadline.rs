//! The only clock of the project that a decision can depend on: a process that answers too late has
//! not answered. No result carries a time.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a process can hang, and only a clock ends that"
)]

use std::time::{Duration, Instant};

/// A moment after which nothing is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// The moment in `milliseconds`.
    pub(crate) fn after(milliseconds: u64) -> Self {
        Self(Instant::now() + Duration::from_millis(milliseconds))
    }

    /// How long it is until then; none if it is past.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}
