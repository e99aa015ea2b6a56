//! Many rollouts: plan, workers, rows, metrics, paired replay.
