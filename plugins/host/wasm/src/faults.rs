//! What went wrong while instances ran.

#![expect(
    clippy::disallowed_types,
    reason = "faults of all instances are kept beside the results, and are no part of them"
)]

use std::sync::{Mutex, PoisonError};

use plugins::loaded::{Fault, Faults};
use plugins::reason::Hook;

/// How many faults are kept.
const KEPT: usize = 20;

/// The faults of all instances of one policy.
#[derive(Debug, Default)]
pub(crate) struct FaultLog(Mutex<(u64, Vec<Fault>)>);

impl FaultLog {
    /// Counts a fault, and keeps it if it is one of the first.
    pub(crate) fn add(&self, hook: Option<Hook>, message: String) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, kept) = &mut *log;
        *count += 1;
        if kept.len() < KEPT {
            kept.push(Fault {
                hook,
                message,
                standard_error: String::new(),
            });
        }
    }
}

impl Faults for FaultLog {
    fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn first(&self) -> Vec<Fault> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.1.clone()
    }
}
