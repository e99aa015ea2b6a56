//! Several policies from one identical state.
//!
//! A policy can influence nothing but by its rulings, so policies share a run for as long as they
//! rule the same. At each hook all of them are asked, each with its own state; a policy that does not
//! declare the hook rules neutral. Those that rule otherwise than the first go back to just before
//! the event and go on from there, together for as long as they agree. Every rollout equals the run
//! from scratch, byte for byte.
//!
//! The fork point of a policy is just before the first event that would fire one of its hooks: up to
//! there it shares the prefix that is the same without any policy.

use std::sync::Arc;

use plugins::policy::Hooks;
use plugins::tool::Operation;
use worlds::spec::Scenario;

use crate::agenda::{AgendaEvent, Scheduled};
use crate::columns::Belonging;
use crate::error::RestoreError;
use crate::feed;
use crate::mark::{Mark, SpareMarks};
use crate::next::next_after_limit;
use crate::rollout::Rollout;
use crate::scene::Scene;
use crate::setup::{Member, Plugins, Setting};
use crate::snapshot::Snapshot;
use crate::state::State;

/// Where a policy left the shared prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// How many events the prefix had executed.
    pub event: u64,
    /// The hash of the policy-free state there.
    pub hash: u128,
}

/// How much work a group of forked rollouts took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Events executed, the shared prefix once.
    pub executed: u64,
    /// Events that the same rollouts execute from scratch.
    pub from_scratch: u64,
}

/// Runs `policy_count` policies on one scenario and setting, sharing what they share, and hands each
/// finished rollout to `finished` with its position and fork point, in any order. `make` gives the
/// policy at a position (from 0), with model and parser.
///
/// # Panics
/// When `make` gives models that differ: what they share would not be shared.
pub fn run_group(
    rollout: &mut Rollout,
    scenario: &Arc<Scenario>,
    setting: &Setting,
    policy_count: usize,
    make: impl FnMut(usize) -> Plugins,
    mut finished: impl FnMut(usize, &mut Rollout, Option<ForkPoint>),
) -> Work {
    let each = |ends: &[End], rollout: &mut Rollout| {
        for (index, end) in ends.iter().enumerate() {
            rollout.turn_to(index);
            finished(end.position, rollout, end.fork);
            rollout.turn_to(index);
        }
    };
    run_sharing(rollout, scenario, setting, policy_count, make, each)
}

/// A policy whose rollout has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its position in the group.
    pub position: usize,
    /// Where it left the shared prefix; none if no hook of it could fire.
    pub fork: Option<ForkPoint>,
}

/// As [`run_group`], but a rollout that is the same under several policies is handed over once, with
/// all of them.
///
/// # Panics
/// As [`run_group`].
pub fn run_sharing(
    rollout: &mut Rollout,
    scenario: &Arc<Scenario>,
    setting: &Setting,
    policy_count: usize,
    mut make: impl FnMut(usize) -> Plugins,
    mut finished: impl FnMut(&[End], &mut Rollout),
) -> Work {
    let mut work = Work::default();
    if policy_count == 0 {
        return work;
    }
    let first = make(0);
    let model_hash = first.model_hash;
    rollout.restart(scenario, first, setting);
    for position in 1..policy_count {
        let plugins = make(position);
        assert_eq!(plugins.model_hash, model_hash, "a group has one model");
        let member = Member::new(position, plugins.policy, plugins.policy_hash);
        rollout.guard().members.push(member);
    }
    let mut group = Group {
        points: vec![None; policy_count],
        branches: Vec::new(),
        belonging: rollout.belonging.clone(),
        spare: std::mem::take(&mut rollout.spare_marks),
    };
    let mut branch = None;
    loop {
        let begun = group.run(rollout, branch);
        let ends = group.ends(rollout);
        let executed = rollout.executed_events();
        work.executed += executed - begun;
        work.from_scratch += executed * ends.len() as u64;
        finished(&ends, rollout);
        // The latest first: the rollout went on from there.
        branch = group.branches.pop();
        if branch.is_none() {
            rollout.spare_marks = group.spare;
            return work;
        }
    }
}

/// What a group of policies has in common while it runs.
struct Group {
    /// Where each policy left the shared prefix, if it has.
    points: Vec<Option<ForkPoint>>,
    /// What is yet to be run, the latest last.
    branches: Vec<Branch>,
    /// What every state of the group belongs to.
    belonging: Belonging,
    /// For the next marks.
    spare: SpareMarks,
}

/// Policies that ruled otherwise than those with which they were together until then.
struct Branch {
    /// Just before the event at which they did.
    before: Box<Mark>,
    /// In their states of that moment.
    members: Vec<Member>,
}

impl Branch {
    /// How many events had been executed where it begins.
    fn executed_events(&self) -> u64 {
        self.before.executed_events()
    }

    /// Goes back to where it begins. The rollout went on from there, and did nothing else.
    fn begin(self, scene: &mut Scene) -> Box<Mark> {
        scene.state.guard.members = self.members;
        self.before.go_back(scene);
        self.before
    }
}

impl Group {
    /// Runs to the end under the policies that rule as the first does: those of `branch`, or all from the
    /// start. The others are put off. How many events had been executed where it began.
    fn run(&mut self, rollout: &mut Rollout, branch: Option<Branch>) -> u64 {
        let begun = branch.as_ref().map_or(0, Branch::executed_events);
        let mut before = match branch {
            Some(branch) => Some(branch.begin(&mut rollout.scene())),
            None => self.mark(&mut rollout.scene()),
        };
        rollout.run_with(|scene| {
            self.put_off(scene, before.take());
            before = self.mark(scene);
        });
        if let Some(before) = before {
            self.spare.put_away(before);
        }
        begun
    }

    /// This moment, if the next event is one to come back to.
    fn mark(&mut self, scene: &mut Scene) -> Option<Box<Mark>> {
        self.may_part(&scene.state)
            .then(|| self.before_hooks(scene))
    }

    /// Puts off the policies that parted from the others at the event after `before`.
    fn put_off(&mut self, scene: &mut Scene, before: Option<Box<Mark>>) {
        let parted = &mut scene.state.guard.parted;
        let Some(before) = before else {
            assert!(
                parted.is_empty(),
                "policies part only where a hook was announced"
            );
            return;
        };
        if parted.is_empty() {
            self.spare.put_away(before);
        } else {
            let mut members = std::mem::take(parted);
            members.iter_mut().for_each(Member::go_back);
            self.branches.push(Branch { before, members });
        }
    }

    /// Whether the next event is one to come back to: a hook may fire at which policies can part, or
    /// which is the first of a policy.
    fn may_part(&self, state: &State) -> bool {
        let members = &state.guard.members;
        if members.len() == 1 && !self.is_in_prefix(&members[0]) {
            return false;
        }
        let firing = firing_hooks(state);
        let can_part = members.len() > 1 && members.iter().any(|member| is_asked(member, firing));
        can_part || members.iter().any(|member| self.leaves(member, firing))
    }

    fn is_in_prefix(&self, member: &Member) -> bool {
        self.points[member.position].is_none()
    }

    /// Whether the policy leaves the shared prefix where these hooks fire.
    fn leaves(&self, member: &Member, firing: Hooks) -> bool {
        member.enforced.intersects(firing) && self.is_in_prefix(member)
    }

    /// The rollout before an event that may fire hooks. Policies whose first hook it is leave the
    /// shared prefix here.
    fn before_hooks(&mut self, scene: &mut Scene) -> Box<Mark> {
        let firing = firing_hooks(&scene.state);
        scene.state.guard.members.iter_mut().for_each(Member::save);
        let before = self.spare.mark(scene);
        let members = &scene.state.guard.members;
        let leaving = members.iter().filter(|member| self.leaves(member, firing));
        let leaving: Vec<usize> = leaving.map(|member| member.position).collect();
        if !leaving.is_empty() {
            let point = ForkPoint {
                event: before.executed_events(),
                hash: before.policy_free_hash(&self.belonging, &scene.state.recorder),
            };
            for position in leaving {
                self.points[position] = Some(point);
            }
        }
        before
    }

    /// The policies whose rollout has just ended.
    fn ends(&self, rollout: &mut Rollout) -> Vec<End> {
        let members = rollout.guard().members.iter();
        let end = |member: &Member| End {
            position: member.position,
            fork: self.points[member.position],
        };
        members.map(end).collect()
    }
}

fn is_asked(member: &Member, firing: Hooks) -> bool {
    member.hooks.intersects(firing)
}

/// The hooks that the next step may fire: those of the next event, and if a limit overtakes that,
/// those of the one that runs in its stead.
fn firing_hooks(state: &State) -> Hooks {
    let hooks = |next: &Scheduled| hooks_of(state, &next.event);
    let next = state.agenda.next().map(hooks).unwrap_or_default();
    next | next_after_limit(state).map(hooks).unwrap_or_default()
}

/// The hooks that an event may fire.
fn hooks_of(state: &State, event: &AgendaEvent) -> Hooks {
    match *event {
        AgendaEvent::Begin(_) => Hooks::SESSION,
        AgendaEvent::Deliver(_) | AgendaEvent::Inject(_) => Hooks::MESSAGE,
        AgendaEvent::Result(_) => Hooks::OBSERVATION,
        AgendaEvent::Decide(_) => Hooks::PROMPT,
        AgendaEvent::Authorize(_) => Hooks::PROPOSAL,
        AgendaEvent::Persist(_) => Hooks::MEMORY_WRITE,
        AgendaEvent::Recover(_) => Hooks::RECOVERY,
        AgendaEvent::Commit(call) => {
            let tool = state.recorder.trace.calls[call.index()].tool;
            let memory = match state.setup.scenario().briefing.tools[tool.index()].operation {
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
