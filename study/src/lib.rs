//! Many rollouts: plan, workers, rows, metrics, paired replay.

pub mod columns;
pub mod metrics;
pub mod ratio;

#[cfg(test)]
mod fixture;
