//! Many rollouts: plan, workers, rows, metrics, paired replay.

pub mod columns;
pub mod divergence;
pub mod metrics;
pub mod paired;
pub mod ratio;
pub mod rollout_id;
pub mod row;
pub mod spread;

#[cfg(test)]
mod fixture;
