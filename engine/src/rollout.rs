//! One rollout: start here.
//!
//! [`Rollout::step`] is the whole main loop: take the next event of the agenda, advance the clock,
//! run the system of the event's phase. What the phases do is in `systems/`, one file each, and
//! stated independently of any code in `docs/SEMANTICS.md`.

use std::sync::Arc;

use bevy_ecs::prelude::{Mut, ResMut, Schedule, World};
use bevy_ecs::system::SystemState;
use plugins::draws::{Draws, EventKey};
use plugins::ids::CallId;
use plugins::label::LabelTable;
use plugins::model::{ModelBackend, Reply};
use plugins::policy::Policy;
use plugins::trace::{LimitKind, Outcome, Trace};
use worlds::spec::{Limits, Scenario};
use xxhash_rust::xxh3::xxh3_128;

use crate::agenda::{AgendaEvent, Phase, Scheduled};
use crate::bytes::append;
use crate::clock::{Clock, Due};
use crate::columns::{Belonging, Columns, PluginState, policy_free_hash};
use crate::components::call::Proposal;
use crate::error::RestoreError;
use crate::places::Places;
use crate::recorder::Recorder;
use crate::schedule::Dispatcher;
use crate::setup::{Exclusive, Guard, Member, Mind, Plugins, Prepared, Setting, Setup};
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::systems::settle::{self, SettledProposals, SettledSinks};
use crate::systems::stage::Stage;

/// Somewhat more than most traces take as bytes.
const USUAL_TRACE_BYTES: usize = 4096;

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it ran, in ticks.
    pub tick: u64,
    /// Its phase.
    pub phase: Phase,
    /// The event.
    pub event: AgendaEvent,
    /// How many happenings the trace had before it.
    pub events_before: usize,
}

/// One rollout of one scenario under one policy, one model and one seed.
///
/// The ECS world inside is pooled: [`Rollout::restart`] begins another rollout in it.
pub struct Rollout {
    world: World,
    state: SystemState<ResMut<'static, State>>,
    dispatcher: Dispatcher,
    places: Places,
    belonging: Belonging,
}

impl Rollout {
    /// A rollout that is about to begin.
    #[must_use]
    pub fn new(scenario: &Arc<Scenario>, plugins: Plugins, setting: &Setting) -> Self {
        let prepared = Arc::new(Prepared::new(Arc::clone(scenario)));
        let mut world = World::new();
        world.init_resource::<SettledProposals>();
        world.init_resource::<SettledSinks>();
        let (inputs, belonging) = inputs(&prepared, plugins, setting);
        let Inputs { setup, guard, mind } = inputs;
        world.insert_resource(State::new(setup, guard, mind));
        let dispatcher = Dispatcher::new(&mut world);
        let mut rollout = Self {
            state: SystemState::new(&mut world),
            places: Places::new(&mut world),
            world,
            dispatcher,
            belonging,
        };
        rollout.write(&prepared.initial);
        rollout
    }

    /// Begins another rollout in the same world.
    pub fn restart(&mut self, scenario: &Arc<Scenario>, plugins: Plugins, setting: &Setting) {
        let prepared = self.prepare(scenario, plugins, setting);
        self.write(&prepared.initial);
    }

    /// Begins another rollout in the same world where `snapshot` was taken, under a policy that is
    /// new to it.
    ///
    /// # Errors
    /// When it belongs to another scenario, setting or model; the rollout then begins at the start.
    pub(crate) fn restart_at(
        &mut self,
        snapshot: &Snapshot,
        scenario: &Arc<Scenario>,
        plugins: Plugins,
        setting: &Setting,
    ) -> Result<(), RestoreError> {
        let prepared = self.prepare(scenario, plugins, setting);
        let restored = self.restore_policy_free(snapshot);
        if restored.is_err() {
            self.write(&prepared.initial);
        }
        restored
    }

    /// Goes back to where `snapshot` of this rollout was taken, under these policies as they are.
    pub(crate) fn go_back(&mut self, snapshot: &Snapshot, members: Vec<Member>) {
        self.state_mut().guard.members = members;
        self.restore_model(snapshot)
            .expect("the model is the one that saved this state");
        self.write(&snapshot.columns);
    }

    /// Makes the policy at `index` of those that go through this rollout together its first.
    pub(crate) fn turn_to(&mut self, index: usize) {
        let members = &mut self.state_mut().guard.members;
        members.swap(0, index);
        self.belonging.policy_hash = members[0].hash;
    }

    /// The policies that go through this rollout together, and their draws.
    pub(crate) fn guard(&mut self) -> &mut Guard {
        &mut self.state_mut().guard
    }

    /// Puts scenario, setting and plugins before the systems.
    fn prepare(
        &mut self,
        scenario: &Arc<Scenario>,
        plugins: Plugins,
        setting: &Setting,
    ) -> Arc<Prepared> {
        let current = &self.state().setup.prepared;
        let prepared = if Arc::ptr_eq(&current.scenario, scenario) {
            Arc::clone(current)
        } else {
            Arc::new(Prepared::new(Arc::clone(scenario)))
        };
        let (inputs, belonging) = inputs(&prepared, plugins, setting);
        let Inputs {
            setup,
            guard,
            mut mind,
        } = inputs;
        let state = self.state_mut();
        // The reply keeps its memory from rollout to rollout.
        std::mem::swap(&mut mind.reply, &mut state.mind.reply);
        state.setup = setup;
        state.guard = guard;
        state.mind = mind;
        self.belonging = belonging;
        prepared
    }

    /// Runs the next event; none once the rollout has ended.
    pub fn step(&mut self) -> Option<Step> {
        let step = self.begin_event()?;
        self.dispatcher.run_phase(step.phase, &mut self.world);
        if self.finish_event(&step) {
            self.dispatcher.settle(&mut self.world);
        }
        Some(step)
    }

    /// Runs to the end and says how it ended.
    ///
    /// # Panics
    /// Never: a rollout whose agenda has nothing left has ended.
    pub fn run(&mut self) -> &Outcome {
        while self.step().is_some() {}
        self.outcome()
            .expect("a rollout without a next event has ended")
    }

    /// Runs the next event through a bevy schedule instead of the dispatcher; for tests that hold
    /// the two against each other.
    pub fn step_with(&mut self, schedule: &mut Schedule) -> Option<Step> {
        let step = self.begin_event()?;
        schedule.run(&mut self.world);
        self.finish_event(&step);
        Some(step)
    }

    /// Takes the next event, advances the clock to it and puts it before the systems.
    fn begin_event(&mut self) -> Option<Step> {
        let mut stage = self.state_mut().stage();
        let due = next_due(&mut stage)?;
        stage.clock.tick = due.tick;
        stage.clock.key = due.key;
        stage.clock.executed_events += 1;
        let step = Step {
            tick: due.tick,
            phase: due.event.phase(),
            event: due.event.clone(),
            events_before: stage.recorder.trace.events.len(),
        };
        *stage.due = Due {
            event: Some(due),
            ..Due::default()
        };
        Some(step)
    }

    /// Bounds the queue after an event, and sees to it that the next one finds free entities. Whether
    /// there is something to settle.
    fn finish_event(&mut self, step: &Step) -> bool {
        let state = self.state_mut();
        let has_spare = state.identity.has_spare();
        let mut stage = state.stage();
        if stage.agenda.len() > stage.scenario().limits.queue as usize {
            stage.limit(LimitKind::Queue);
        }
        let new = &stage.recorder.trace.events[step.events_before..];
        let is_to_settle = settle::concerned_by(step.phase, new);
        if !has_spare {
            self.reserve();
        }
        is_to_settle
    }

    /// Sees to it that the next event finds free entities.
    fn reserve(&mut self) {
        self.world
            .resource_scope(|world, mut state: Mut<State>| state.identity.reserve(world));
    }

    /// The state outside the entities, found by an id that was looked up once.
    fn state_mut(&mut self) -> &mut State {
        self.state
            .get_mut(&mut self.world)
            .expect("the state is always present")
            .into_inner()
    }

    fn state(&self) -> &State {
        self.world.resource::<State>()
    }

    /// The rollout as it is now.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        let mut columns = Columns::capture(&self.world);
        let policy = self.policy();
        columns.policy_state.version = policy.version();
        policy.save(&mut columns.policy_state.bytes);
        let model = self.model();
        columns.model_state.version = model.version();
        model.save(&mut columns.model_state.bytes);
        Snapshot {
            belonging: self.belonging.clone(),
            columns,
        }
    }

    /// Goes to where `snapshot` was taken. It must come from a rollout of the same scenario,
    /// setting, model and policy.
    ///
    /// # Errors
    /// When it belongs to another rollout or a plugin refuses its state.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        self.check_belonging(&snapshot.belonging)?;
        if snapshot.belonging.policy_hash != self.belonging.policy_hash {
            return Err(RestoreError::Mismatch { field: "policy" });
        }
        let PluginState { version, bytes } = &snapshot.columns.policy_state;
        self.policy()
            .restore(bytes, *version)
            .map_err(|source| RestoreError::Plugin {
                plugin: "policy",
                source,
            })?;
        self.restore_policy_free(snapshot)
    }

    /// Goes to where `snapshot` was taken, under this rollout's own policy as it is now.
    ///
    /// # Errors
    /// When it belongs to another scenario, setting or model.
    fn restore_policy_free(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        self.check_belonging(&snapshot.belonging)?;
        self.restore_model(snapshot)?;
        self.write(&snapshot.columns);
        Ok(())
    }

    fn restore_model(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        let PluginState { version, bytes } = &snapshot.columns.model_state;
        self.model()
            .restore(bytes, *version)
            .map_err(|source| RestoreError::Plugin {
                plugin: "model",
                source,
            })
    }

    fn check_belonging(&self, other: &Belonging) -> Result<(), RestoreError> {
        let own = &self.belonging;
        let differs = [
            ("scenario", own.scenario_hash != other.scenario_hash),
            ("setting", own.setting_hash != other.setting_hash),
            ("model", own.model_hash != other.model_hash),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            Some(&(field, _)) => Err(RestoreError::Mismatch { field }),
            None => Ok(()),
        }
    }

    fn write(&mut self, columns: &Columns) {
        columns.write(&mut self.world, &mut self.places);
        let state = self.state_mut();
        state.due = Due::default();
        state.wholes.0.clear();
        if !state.identity.has_spare() {
            self.reserve();
        }
        self.world.resource_mut::<SettledProposals>().0 = columns.events.len();
        self.world.resource_mut::<SettledSinks>().0 = columns.events.len();
    }

    /// The digest of the trace so far: of nodes, edges, calls, events and labels.
    #[must_use]
    pub fn trace_digest(&self) -> u128 {
        let Recorder { trace, labels } = &self.state().recorder;
        let mut bytes = Vec::with_capacity(USUAL_TRACE_BYTES);
        append(&(trace, labels.labels()), &mut bytes);
        xxh3_128(&bytes)
    }

    /// The hash of the policy-free state at the start, equal for all policies of a pair.
    #[must_use]
    pub fn prestate_hash(&self) -> u128 {
        let prepared = &self.state().setup.prepared;
        policy_free_hash(&self.belonging, |bytes| {
            bytes.extend_from_slice(&prepared.initial_bytes);
        })
    }

    pub(crate) fn policy(&mut self) -> &mut Box<dyn Policy> {
        self.state_mut().guard.first().0.policy.get()
    }

    fn model(&mut self) -> &mut Box<dyn ModelBackend> {
        self.state_mut().mind.model.get()
    }

    /// The next event of the agenda, if the rollout has not ended.
    #[must_use]
    pub fn next_event(&self) -> Option<&Scheduled> {
        self.state().agenda.next()
    }

    /// The event that runs in the stead of the next one, if a limit overtakes that.
    pub(crate) fn next_after_limit(&self) -> Option<&Scheduled> {
        let State {
            agenda,
            clock,
            setup,
            ..
        } = self.state();
        limit_before(agenda.next()?, clock, &setup.scenario().limits)?;
        agenda.next_surviving()
    }

    /// The trace so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.state().recorder.trace
    }

    /// The labels behind the ids in the trace.
    #[must_use]
    pub fn labels(&self) -> &LabelTable {
        &self.state().recorder.labels
    }

    /// How the rollout ended, once it has.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.state().clock.outcome.as_ref()
    }

    /// Now, in ticks.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.state().clock.tick
    }

    /// How many events of the agenda this rollout went through, those before a restored snapshot
    /// included.
    #[must_use]
    pub fn executed_events(&self) -> u64 {
        self.state().clock.executed_events
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.state().setup.prepared.scenario
    }

    /// The call that is on its way under this id.
    pub(crate) fn proposal(&self, call: CallId) -> &Proposal {
        let entity = self.state().identity.proposals.entity(call.index());
        self.world.get(entity).expect("a call id has its entity")
    }

    /// The ECS world, to look at. Only entities that are [`crate::identity::InUse`] belong to the
    /// rollout.
    pub const fn world(&mut self) -> &mut World {
        &mut self.world
    }
}

/// The next event that may run. A limit that is reached here halts the agents, and an empty agenda
/// closes the episode.
fn next_due(stage: &mut Stage) -> Option<Scheduled> {
    loop {
        if stage.clock.outcome.is_some() {
            return None;
        }
        let Some(next) = stage.agenda.pop() else {
            let episode = stage.clock.episode;
            let event = AgendaEvent::Close(episode);
            let key = EventKey::ROOT.child(event.role(), episode);
            return Some(Scheduled {
                tick: stage.clock.tick,
                actor: 0,
                sequence: u32::MAX,
                key,
                event,
            });
        };
        if next.event.survives_halt() {
            return Some(next);
        }
        let limits = &stage.scenario().limits;
        if let Some(limit) = limit_before(&next, stage.clock, limits) {
            stage.limit(limit);
        } else {
            stage.clock.limited_events += 1;
            return Some(next);
        }
    }
}

/// The limit that is reached before `next` may run.
fn limit_before(next: &Scheduled, clock: &Clock, limits: &Limits) -> Option<LimitKind> {
    if next.event.survives_halt() {
        None
    } else if clock.limited_events >= limits.events {
        Some(LimitKind::Events)
    } else if next.tick - clock.episode_start > limits.ticks {
        Some(LimitKind::Ticks)
    } else {
        None
    }
}

/// What is fixed for a rollout.
struct Inputs {
    setup: Setup,
    guard: Guard,
    mind: Mind,
}

/// Scenario, setting and plugins as the systems take them.
fn inputs(prepared: &Arc<Prepared>, plugins: Plugins, setting: &Setting) -> (Inputs, Belonging) {
    let Plugins {
        policy,
        policy_hash,
        model,
        model_hash,
        parser,
    } = plugins;
    let belonging = Belonging {
        scenario_hash: prepared.scenario.content_hash,
        setting_hash: setting.hash(),
        model_hash,
        policy_hash,
    };
    let setup = Setup {
        prepared: Arc::clone(prepared),
        instrumentation: setting.instrumentation,
        user: setting.user,
    };
    let mut draws = Draws::new(setting.key.clone());
    draws.recording(true);
    let guard = Guard {
        members: vec![Member::new(0, policy, policy_hash)],
        parted: Vec::new(),
        draws,
    };
    let mind = Mind {
        model: Exclusive::new(model),
        parser,
        draws: Draws::new(setting.key.clone()),
        reply: Reply::default(),
    };
    (Inputs { setup, guard, mind }, belonging)
}
