//! States of a rollout from which it can go back without running from its start.

use engine::{Rollout, Snapshot};

/// The most states that are kept.
const MOST: usize = 64;

/// States at spaced steps of one rollout. A rollout of any length has at most [`MOST`] of them: when
/// there are more, every second one is dropped and the spacing doubles.
pub(super) struct Checkpoints {
    /// In the order of the rollout; the first is its start.
    states: Vec<Snapshot>,
    /// The steps from one state to the next.
    spacing: u64,
}

impl Checkpoints {
    /// Those of a rollout that is about to begin.
    pub(super) fn at_start(rollout: &mut Rollout) -> Self {
        Self {
            states: vec![rollout.snapshot()],
            spacing: 1,
        }
    }

    /// Keeps the state of the rollout if it is far enough from the last one kept.
    pub(super) fn pass(&mut self, rollout: &mut Rollout) {
        let last = self.states.last().map_or(0, Snapshot::executed_events);
        if rollout.executed_events() < last + self.spacing {
            return;
        }
        if self.states.len() == MOST {
            let mut position = 0;
            self.states.retain(|_| {
                position += 1;
                position % 2 == 1
            });
            self.spacing *= 2;
        }
        self.states.push(rollout.snapshot());
    }

    /// Takes the rollout back to where it had executed `target` events. Later states are kept: they
    /// come again when it goes forward.
    pub(super) fn go_back(&self, rollout: &mut Rollout, target: u64) {
        let later = self
            .states
            .partition_point(|state| state.executed_events() <= target);
        rollout
            .restore(&self.states[later.saturating_sub(1)])
            .expect("a snapshot of this rollout fits it");
        while rollout.executed_events() < target {
            rollout.step().expect("it was there before");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use containment_bench::Bench;

    use super::*;
    use crate::cli::scenes;

    /// A rollout with more steps than states are kept.
    fn long_rollout() -> Rollout {
        let loaded = scenes::load(Path::new("hub_and_eight_workers")).expect("a shipped world");
        let rollout = Bench::built_in().rollout(&loaded.scene, "none", 1);
        rollout.expect("a built-in policy")
    }

    #[test]
    fn few_states_are_kept_and_every_step_is_found_again() {
        let mut rollout = long_rollout();
        let mut checkpoints = Checkpoints::at_start(&mut rollout);
        let mut all = vec![rollout.snapshot()];
        while rollout.step().is_some() {
            checkpoints.pass(&mut rollout);
            all.push(rollout.snapshot());
            assert!(checkpoints.states.len() <= MOST);
        }
        assert!(all.len() > MOST, "only {} steps", all.len());
        for state in all.iter().rev() {
            let step = state.executed_events();
            checkpoints.go_back(&mut rollout, step);
            assert_eq!(&rollout.snapshot(), state, "step {step}");
        }
    }

    #[test]
    fn states_are_dropped_evenly_and_the_start_is_kept() {
        let mut rollout = long_rollout();
        let mut checkpoints = Checkpoints::at_start(&mut rollout);
        while rollout.step().is_some() {
            checkpoints.pass(&mut rollout);
        }
        let steps: Vec<u64> = checkpoints
            .states
            .iter()
            .map(Snapshot::executed_events)
            .collect();
        let expected: Vec<u64> = (0..=rollout.executed_events()).step_by(2).collect();
        assert_eq!(steps, expected);
    }
}
