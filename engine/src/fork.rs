//! Several policies from one identical state.
//!
//! A policy can influence nothing before its first declared hook fires, so policies share the run
//! up to there: the shared prefix runs without a policy, and each policy is forked just before the
//! first event that would fire one of its hooks. A fork equals the run from scratch, byte for byte.

use std::sync::Arc;

use plugins::policy::{Hooks, Policy};
use plugins::state::SavedState;
use plugins::tool::Operation;
use worlds::spec::Scenario;

use crate::agenda::AgendaEvent;
use crate::error::RestoreError;
use crate::feed;
use crate::rollout::Rollout;
use crate::setup::{Plugins, Setting};
use crate::snapshot::Snapshot;

/// Where a policy left the shared prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// How many events the prefix had executed.
    pub event: u64,
    /// The hash of the policy-free state there.
    pub hash: u128,
}

impl ForkPoint {
    fn of(snapshot: &Snapshot) -> Self {
        Self {
            event: snapshot.executed_events(),
            hash: snapshot.policy_free_hash(),
        }
    }
}

/// How much work a group of forked rollouts took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Events executed, the shared prefix once.
    pub executed: u64,
    /// Events that the same rollouts execute from scratch.
    pub from_scratch: u64,
}

/// The shared prefix runs under this: no hooks, no state.
struct NoPolicy;

impl SavedState for NoPolicy {}

impl Policy for NoPolicy {
    fn hooks(&self) -> Hooks {
        Hooks::empty()
    }
}

/// Runs `policy_count` policies on one scenario and setting, sharing what they share, and hands each
/// finished rollout to `finished` with its position and fork point: first those that share all of it,
/// which end where the shared run does, then in order of fork point and position. `make` gives the policy at a position (from 0), with model and parser.
///
/// # Panics
/// When `make` gives models that differ: what they share would not be shared.
pub fn run_group(
    rollout: &mut Rollout,
    scenario: &Arc<Scenario>,
    setting: &Setting,
    policy_count: usize,
    mut make: impl FnMut(usize) -> Plugins,
    mut finished: impl FnMut(usize, &mut Rollout, ForkPoint),
) -> Work {
    if policy_count == 0 {
        return Work::default();
    }
    let mut waiting: Vec<(usize, Plugins)> = (0..policy_count)
        .map(|index| (index, make(index)))
        .collect();
    let mut forks: Vec<(Vec<(usize, Plugins)>, Snapshot)> = Vec::new();
    rollout.restart(
        scenario,
        Plugins {
            policy: Box::new(NoPolicy),
            policy_hash: 0,
            ..make(0)
        },
        setting,
    );
    while !waiting.is_empty() {
        let firing = firing_hooks(rollout);
        let leaves = |waiting: &mut (usize, Plugins)| waiting.1.policy.hooks().intersects(firing);
        let leaving: Vec<_> = waiting.extract_if(.., leaves).collect();
        if !leaving.is_empty() {
            forks.push((leaving, rollout.snapshot()));
        }
        if !waiting.is_empty() && rollout.step().is_none() {
            break;
        }
    }
    let mut work = Work {
        executed: rollout.executed_events(),
        from_scratch: 0,
    };
    if !waiting.is_empty() {
        let end = rollout.snapshot();
        let point = ForkPoint::of(&end);
        for (index, plugins) in waiting {
            rollout
                .hand_over(&end, plugins, setting)
                .expect("model and setting are those of the shared run");
            work.from_scratch += point.event;
            finished(index, rollout, point);
        }
    }
    for (members, snapshot) in forks {
        let point = ForkPoint::of(&snapshot);
        for (index, plugins) in members {
            rollout
                .restart_at(&snapshot, scenario, plugins, setting)
                .expect("scenario, setting and model are those of the snapshot");
            rollout.run();
            work.executed += rollout.executed_events() - point.event;
            work.from_scratch += rollout.executed_events();
            finished(index, rollout, point);
        }
    }
    work
}

/// The hooks that the next event may fire.
fn firing_hooks(rollout: &mut Rollout) -> Hooks {
    let Some(next) = rollout.next_event() else {
        return Hooks::empty();
    };
    match next.event {
        AgendaEvent::Begin(_) => Hooks::SESSION,
        AgendaEvent::Deliver(_) | AgendaEvent::Inject(_) => Hooks::MESSAGE,
        AgendaEvent::Result(_) => Hooks::OBSERVATION,
        AgendaEvent::Decide(_) => Hooks::PROMPT,
        AgendaEvent::Authorize(_) => Hooks::PROPOSAL,
        AgendaEvent::Persist(_) => Hooks::MEMORY_WRITE,
        AgendaEvent::Recover(_) => Hooks::RECOVERY,
        AgendaEvent::Commit(call) => {
            let tool = rollout.proposal(call).tool;
            let memory = match rollout.scenario().briefing.tools[tool.index()].operation {
                Operation::MemoryRead(_) => Hooks::MEMORY_READ,
                Operation::MemoryWrite(_) | Operation::MemoryUpdate(_) => Hooks::MEMORY_WRITE,
                _ => Hooks::empty(),
            };
            Hooks::COMMIT | memory
        }
        AgendaEvent::Acknowledge(_)
        | AgendaEvent::Denial(..)
        | AgendaEvent::Reject(_)
        | AgendaEvent::Parse(_)
        | AgendaEvent::Undo(_)
        | AgendaEvent::Act(..)
        | AgendaEvent::Close(_) => Hooks::empty(),
    }
}

/// Makes `rollout` continue from `snapshot` under the policy of `plugins`. If that is the policy
/// under which the snapshot was taken, its state is restored. Any other policy is first fed the
/// trace so far: its hooks run, and its verdicts on the past are ignored.
///
/// # Errors
/// When the snapshot belongs to another scenario, setting or model.
pub fn continue_under(
    rollout: &mut Rollout,
    snapshot: &Snapshot,
    scenario: &Arc<Scenario>,
    plugins: Plugins,
    setting: &Setting,
) -> Result<(), RestoreError> {
    let is_same_policy = plugins.policy_hash == snapshot.belonging.policy_hash;
    if is_same_policy {
        rollout.restart(scenario, plugins, setting);
        return rollout.restore(snapshot);
    }
    rollout.restart_at(snapshot, scenario, plugins, setting)?;
    feed::feed(rollout);
    Ok(())
}
