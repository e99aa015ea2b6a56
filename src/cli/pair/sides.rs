//! The rollouts of a comparison.

use containment_bench::Choice;
use engine::Rollout;
use engine::fork::{ForkPoint, Work, continue_under, run_group};
use plugins::label::LabelTable;
use plugins::trace::Trace;
use study::divergence::Labelled;
use study::row::Row;

use crate::cli::failure::Failure;
use crate::cli::options::{Case, Hashes};
use crate::cli::rows;

/// One finished rollout.
pub(super) struct Side {
    /// Its policy.
    pub(super) policy: Choice,
    /// Its row.
    pub(super) row: Row,
    /// Where it left the others.
    pub(super) fork: Option<ForkPoint>,
    trace: Trace,
    labels: LabelTable,
}

impl Side {
    fn of(
        case: &Case,
        policy: &Choice,
        hashes: Hashes,
        rollout: &mut Rollout,
        fork: Option<ForkPoint>,
    ) -> Self {
        Self {
            policy: policy.clone(),
            row: rows::row(case, policy, hashes, rollout, fork),
            fork,
            trace: rollout.trace().clone(),
            labels: rollout.labels().clone(),
        }
    }

    /// Its trace, with the labels behind the ids.
    pub(super) fn labelled(&self) -> Labelled<'_> {
        Labelled {
            trace: &self.trace,
            labels: &self.labels,
        }
    }
}

/// From where the policies were continued.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// The tick that was asked for.
    pub(super) tick: u64,
    /// The policy up to there.
    pub(super) under: String,
}

/// Rollouts from one identical state.
pub(super) struct Group {
    /// The rollouts, in the order of the policies.
    pub(super) sides: Vec<Side>,
    /// How much was executed.
    pub(super) work: Work,
    /// From where, if not from the start.
    pub(super) joint: Option<Joint>,
}

/// Every policy from the start, sharing what they share.
pub(super) fn from_start(case: &Case, policies: &[Choice]) -> Result<Group, Failure> {
    let hashes = all_hashes(case, policies)?;
    let (mut rollout, _) = case.start(&policies[0])?;
    let mut sides: Vec<Option<Side>> = policies.iter().map(|_| None).collect();
    let work = run_group(
        &mut rollout,
        &case.scene.scenario,
        &case.setting,
        policies.len(),
        |index| case.plugins(&policies[index]).expect("it was made before"),
        |index, rollout, fork| {
            let side = Side::of(case, &policies[index], hashes[index], rollout, fork);
            sides[index] = Some(side);
        },
    );
    Ok(Group {
        sides: sides.into_iter().flatten().collect(),
        work,
        joint: None,
    })
}

/// Up to just before the first event at or after `tick` under one policy, from there under each.
pub(super) fn from_tick(
    case: &Case,
    policies: &[Choice],
    tick: u64,
    under: &Choice,
) -> Result<Group, Failure> {
    let hashes = all_hashes(case, policies)?;
    let (mut rollout, _) = case.start(under)?;
    while rollout.next_event().is_some_and(|next| next.tick < tick) {
        rollout.step();
    }
    if rollout.next_event().is_none() {
        let (name, last) = (&under.name, rollout.tick());
        let message = format!("nothing happens under `{name}` at tick {tick} or later");
        let help = format!("the last steps are at tick {last}");
        return Err(Failure::usage(message, Some(help)));
    }
    let snapshot = rollout.snapshot();
    let fork = ForkPoint {
        event: snapshot.executed_events(),
        hash: snapshot.policy_free_hash(),
    };
    let (scenario, setting) = (&case.scene.scenario, &case.setting);
    let mut work = Work {
        executed: fork.event,
        from_scratch: 0,
    };
    let mut sides = Vec::new();
    for (policy, hashes) in policies.iter().zip(hashes) {
        let plugins = case.plugins(policy)?;
        continue_under(&mut rollout, &snapshot, scenario, plugins, setting)
            .expect("the snapshot is of the same scenario, setting and model");
        rollout.run();
        work.executed += rollout.executed_events() - fork.event;
        work.from_scratch += rollout.executed_events();
        sides.push(Side::of(case, policy, hashes, &mut rollout, Some(fork)));
    }
    Ok(Group {
        sides,
        work,
        joint: Some(Joint {
            tick,
            under: under.name.clone(),
        }),
    })
}

/// The hashes of every policy; fails if one cannot be made.
fn all_hashes(case: &Case, policies: &[Choice]) -> Result<Vec<Hashes>, Failure> {
    let hashes = policies.iter().map(|policy| {
        let plugins = case.plugins(policy)?;
        Ok(Hashes {
            policy: plugins.policy_hash,
            model: plugins.model_hash,
        })
    });
    hashes.collect()
}
