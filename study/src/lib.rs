//! Many rollouts: plan, workers, rows, metrics, paired replay.

pub mod columns;
pub mod divergence;
pub mod manifest;
pub mod metrics;
pub mod paired;
pub mod plan;
pub mod ratio;
pub mod results;
pub mod rollout_id;
pub mod row;
pub mod runner;
pub mod spread;

#[cfg(test)]
mod fixture;
