//! Many rollouts: plan, workers, rows, metrics, paired replay.

pub mod columns;
pub mod metrics;
pub mod ratio;
pub mod rollout_id;
pub mod row;

#[cfg(test)]
mod fixture;
