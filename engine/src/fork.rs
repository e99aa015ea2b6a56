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
use crate::error::RestoreError;
use crate::feed;
use crate::mark::Mark;
use crate::next::next_after_limit;
use crate::rollout::Rollout;
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
    };
    let (mut begun, mut here) = (0, None);
    loop {
        group.run(rollout, here.take());
        let ends = group.ends(rollout);
        let executed = rollout.executed_events();
        work.executed += executed - begun;
        work.from_scratch += executed * ends.len() as u64;
        finished(&ends, rollout);
        // The latest first: the rollout went on from there.
        let Some(branch) = group.branches.pop() else {
            return work;
        };
        begun = branch.before.executed_events();
        rollout.go_back(&branch.before, branch.members);
        here = Some(branch.before);
    }
}

/// What a group of policies has in common while it runs.
struct Group {
    /// Where each policy left the shared prefix, if it has.
    points: Vec<Option<ForkPoint>>,
    /// What is yet to be run, the latest last.
    branches: Vec<Branch>,
}

/// Policies that ruled otherwise than those with which they were together until then.
struct Branch {
    /// Just before the event at which they did.
    before: Box<Mark>,
    /// In their states of that moment.
    members: Vec<Member>,
}

impl Group {
    /// Runs to the end under the policies that rule as the first does. The others are put off. `here` is
    /// the mark of this moment, if it has one.
    fn run(&mut self, rollout: &mut Rollout, here: Option<Box<Mark>>) {
        let mut before = here;
        let mut may_part = self.may_part(rollout.state());
        loop {
            if may_part && before.is_none() {
                before = Some(self.before_hooks(rollout));
            }
            may_part = rollout.run_on(|state| self.may_part(state));
            match before.take() {
                Some(before) => self.put_off(rollout, before),
                None => assert!(
                    rollout.guard().parted.is_empty(),
                    "policies part only where a hook was announced"
                ),
            }
            if !may_part {
                return;
            }
        }
    }

    /// Puts off the policies that parted from the others at the event after `before`.
    fn put_off(&mut self, rollout: &mut Rollout, before: Box<Mark>) {
        let mut members = std::mem::take(&mut rollout.guard().parted);
        if members.is_empty() {
            rollout.put_away(before);
        } else {
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
        is_asked(member, firing) && self.is_in_prefix(member)
    }

    /// The rollout before an event that may fire hooks. Policies whose first hook it is leave the
    /// shared prefix here.
    fn before_hooks(&mut self, rollout: &mut Rollout) -> Box<Mark> {
        let firing = firing_hooks(rollout.state());
        let members = &mut rollout.guard().members;
        members.iter_mut().for_each(Member::save);
        let leaving = members.iter().filter(|member| self.leaves(member, firing));
        let leaving: Vec<usize> = leaving.map(|member| member.position).collect();
        let mut before = rollout.mark();
        if !leaving.is_empty() {
            let point = ForkPoint {
                event: before.executed_events(),
                hash: rollout.hash_of(&mut before),
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
