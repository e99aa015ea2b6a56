//! One rollout: start here.
//!
//! `Rollout::run_with` is the whole main loop: take the next event of the agenda, advance the clock,
//! run the system of the event's phase. [`Rollout::step`] does it once. What the phases do is in
//! `systems/`, one file each, and stated independently of any code in `docs/SEMANTICS.md`.

use std::sync::Arc;

use bevy_ecs::prelude::{Schedule, World};
use bevy_ecs::system::SystemState;
use plugins::compose::shadow::ShadowLog;
use plugins::draws::Draws;
use plugins::label::LabelTable;
use plugins::model::Reply;
use plugins::policy::Policy;
use plugins::trace::{Outcome, Trace};
use worlds::spec::Scenario;
use xxhash_rust::xxh3::xxh3_128;

use crate::agenda::{Phase, Scheduled};
use crate::columns::{Belonging, Columns, PluginState, policy_free_hash};
use crate::error::RestoreError;
use crate::mark::SpareMarks;
use crate::next::{Step, begin_event, bound_queue, due_step};
use crate::scene::Scene;
use crate::setup::{Exclusive, Guard, Member, Mind, Plugins, Prepared, Setting, Setup};
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::systems::settle;

/// Somewhat more than most traces take as bytes.
const USUAL_TRACE_BYTES: usize = 4096;

/// One rollout of one scenario under one policy, one model and one seed.
///
/// The ECS world inside is pooled: [`Rollout::restart`] begins another rollout in it.
pub struct Rollout {
    world: World,
    scene: SystemState<Scene<'static, 'static>>,
    pub(crate) belonging: Belonging,
    /// The hash of the policy-free state at the start.
    prestate_hash: u128,
    /// Marks that nobody needs, for what they have allocated.
    pub(crate) spare_marks: SpareMarks,
}

impl Rollout {
    /// A rollout that is about to begin.
    #[must_use]
    pub fn new(scenario: &Arc<Scenario>, plugins: Plugins, setting: &Setting) -> Self {
        let prepared = Arc::new(Prepared::new(Arc::clone(scenario)));
        let mut world = World::new();
        let (inputs, belonging) = inputs(&prepared, plugins, setting);
        let Inputs { setup, guard, mind } = inputs;
        world.insert_resource(State::new(setup, guard, mind));
        let mut rollout = Self {
            scene: SystemState::new(&mut world),
            world,
            prestate_hash: prestate_hash(&prepared, &belonging),
            belonging,
            spare_marks: SpareMarks::default(),
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

    /// What the policy in the shadow of this rollout's policy would have ruled so far, if there is one.
    pub fn shadow_log(&mut self) -> Option<&ShadowLog> {
        let member = self.guard().members.first_mut()?;
        member.policy.get().shadow_log()
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
        self.prestate_hash = prestate_hash(&prepared, &belonging);
        self.belonging = belonging;
        prepared
    }

    /// Runs the next event; none once the rollout has ended.
    pub fn step(&mut self) -> Option<Step> {
        let mut scene = self.scene();
        let phase = begin_event(&mut scene.state)?;
        let step = due_step(&scene.state);
        run_event(&mut scene, phase);
        Some(step)
    }

    /// Runs to the end and says how it ended.
    ///
    /// # Panics
    /// Never: a rollout whose agenda has nothing left has ended.
    pub fn run(&mut self) -> &Outcome {
        self.run_with(|_| {});
        self.outcome()
            .expect("a rollout without a next event has ended")
    }

    /// Runs to the end. `after` is called after each event.
    pub(crate) fn run_with(&mut self, mut after: impl FnMut(&mut Scene)) {
        loop {
            let mut scene = self.scene();
            while scene.state.identity.has_spare() {
                let Some(phase) = begin_event(&mut scene.state) else {
                    return;
                };
                run_event(&mut scene, phase);
                after(&mut scene);
            }
        }
    }

    /// Runs the next event through a bevy schedule instead of calling its system; for tests that hold
    /// the two against each other.
    pub fn step_with(&mut self, schedule: &mut Schedule) -> Option<Step> {
        let mut scene = self.scene();
        begin_event(&mut scene.state)?;
        let step = due_step(&scene.state);
        schedule.run(&mut self.world);
        bound_queue(self.state_mut());
        Some(step)
    }

    /// All that the systems take, with free entities for the next event.
    pub(crate) fn scene(&mut self) -> Scene<'_, '_> {
        if !self.state().identity.has_spare() {
            let mut identity = std::mem::take(&mut self.state_mut().identity);
            identity.reserve(&mut self.world);
            self.state_mut().identity = identity;
        }
        self.scene
            .get_mut(&mut self.world)
            .expect("the resources of the engine are always present")
    }

    /// The state outside the entities.
    fn state_mut(&mut self) -> &mut State {
        self.world.resource_mut::<State>().into_inner()
    }

    pub(crate) fn state(&self) -> &State {
        self.world.resource::<State>()
    }

    /// The rollout as it is now.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        let mut columns = Columns::capture(&self.scene());
        let policy = self.policy();
        columns.policy_state.version = policy.version();
        policy.save(&mut columns.policy_state.bytes);
        columns.model_state.save_model(&mut self.state_mut().mind);
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
        let model_state = &snapshot.columns.model_state;
        model_state.restore_model(&mut self.state_mut().mind)?;
        self.write(&snapshot.columns);
        Ok(())
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
        let mut identity = std::mem::take(&mut self.state_mut().identity);
        identity.make_room(columns.counts(), &mut self.world);
        self.state_mut().identity = identity;
        columns.write(&mut self.scene());
    }

    /// The digest of the trace so far: of nodes, edges, calls, events and labels.
    #[must_use]
    pub fn trace_digest(&self) -> u128 {
        let mut bytes = Vec::with_capacity(USUAL_TRACE_BYTES);
        self.state().recorder.append_trace(&mut bytes);
        xxh3_128(&bytes)
    }

    /// The hash of the policy-free state at the start, equal for all policies of a pair.
    #[must_use]
    pub const fn prestate_hash(&self) -> u128 {
        self.prestate_hash
    }

    pub(crate) fn policy(&mut self) -> &mut Box<dyn Policy> {
        self.state_mut().guard.first().0.policy.get()
    }

    /// The next event of the agenda, if the rollout has not ended.
    #[must_use]
    pub fn next_event(&self) -> Option<&Scheduled> {
        self.state().agenda.next()
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

    /// The ECS world, to look at. Only entities that are [`crate::identity::InUse`] belong to the
    /// rollout.
    pub const fn world(&mut self) -> &mut World {
        &mut self.world
    }
}

/// Runs the system of the event's phase, and settles what it decided.
fn run_event(scene: &mut Scene, phase: Phase) {
    scene.run_phase(phase);
    bound_queue(&mut scene.state);
    let State { due, recorder, .. } = &*scene.state;
    if settle::concerned_by(phase, &recorder.trace.events[due.events_before..]) {
        scene.settle();
    }
}

/// The hash of the state in which a rollout begins, without its policy.
fn prestate_hash(prepared: &Prepared, belonging: &Belonging) -> u128 {
    policy_free_hash(belonging, |bytes| {
        bytes.extend_from_slice(&prepared.initial_bytes);
    })
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
