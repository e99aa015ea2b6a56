//! One rollout: start here.
//!
//! [`Rollout::step`] is the whole main loop: take the next event of the agenda, advance the clock,
//! run the system of the event's phase. What the phases do is in `systems/`, one file each, and
//! stated independently of any code in `docs/SEMANTICS.md`.

use std::sync::Arc;

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::{Mut, Resource, Schedule, World};
use plugins::draws::{Draws, EventKey};
use plugins::label::LabelTable;
use plugins::model::{ModelBackend, Reply};
use plugins::policy::Policy;
use plugins::trace::{LimitKind, Outcome, Trace};
use worlds::spec::Scenario;
use xxhash_rust::xxh3::xxh3_128;

use crate::agenda::{Agenda, AgendaEvent, Phase, Scheduled};
use crate::bytes::append;
use crate::clock::{Clock, Due};
use crate::error::RestoreError;
use crate::identity::Identity;
use crate::keys::LiveKeys;
use crate::places::Places;
use crate::recorder::Recorder;
use crate::schedule::Dispatcher;
use crate::setup::{Exclusive, Guard, Mind, Plugins, Prepared, Setting, Setup};
use crate::snapshot::{Belonging, Columns, PluginState, Snapshot, policy_free_hash};
use crate::systems::decide::Wholes;
use crate::systems::settle::{SettledProposals, SettledSinks};
use crate::systems::stage::{CachedStage, Stage};

/// Somewhat more than most traces take as bytes.
const USUAL_TRACE_BYTES: usize = 8192;

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
    stage: CachedStage,
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
        world.init_resource::<Due>();
        world.init_resource::<Clock>();
        world.init_resource::<Agenda>();
        world.init_resource::<Recorder>();
        world.init_resource::<Identity>();
        world.init_resource::<LiveKeys>();
        world.init_resource::<Wholes>();
        world.init_resource::<SettledProposals>();
        world.init_resource::<SettledSinks>();
        let belonging = insert_inputs(&mut world, &prepared, plugins, setting);
        let dispatcher = Dispatcher::new(&mut world);
        let mut rollout = Self {
            stage: CachedStage::new(&mut world),
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

    /// Goes on where it is, and where `here` was taken, under a policy that is new to it.
    ///
    /// # Errors
    /// When `here` belongs to another setting or model.
    pub(crate) fn hand_over(
        &mut self,
        here: &Snapshot,
        plugins: Plugins,
        setting: &Setting,
    ) -> Result<(), RestoreError> {
        let scenario = Arc::clone(self.scenario());
        self.prepare(&scenario, plugins, setting);
        self.check_belonging(&here.belonging)?;
        self.restore_model(here)
    }

    /// Puts scenario, setting and plugins before the systems.
    fn prepare(
        &mut self,
        scenario: &Arc<Scenario>,
        plugins: Plugins,
        setting: &Setting,
    ) -> Arc<Prepared> {
        let current = &self.world.resource::<Setup>().prepared;
        let prepared = if Arc::ptr_eq(&current.scenario, scenario) {
            Arc::clone(current)
        } else {
            Arc::new(Prepared::new(Arc::clone(scenario)))
        };
        self.belonging = insert_inputs(&mut self.world, &prepared, plugins, setting);
        prepared
    }

    /// Runs the next event; none once the rollout has ended.
    pub fn step(&mut self) -> Option<Step> {
        let step = self.begin_event()?;
        self.dispatcher.run(&step, &mut self.world);
        self.finish_event();
        Some(step)
    }

    /// Runs to the end and says how it ended.
    ///
    /// # Panics
    /// Never: a rollout whose agenda has nothing left has ended.
    pub fn run(&mut self) -> &Outcome {
        while self.step().is_some() {}
        self.world
            .resource::<Clock>()
            .outcome
            .as_ref()
            .expect("a rollout without a next event has ended")
    }

    /// Runs the next event through a bevy schedule instead of the dispatcher; for tests that hold
    /// the two against each other.
    pub fn step_with(&mut self, schedule: &mut Schedule) -> Option<Step> {
        let step = self.begin_event()?;
        schedule.run(&mut self.world);
        self.finish_event();
        Some(step)
    }

    /// Takes the next event, advances the clock to it and puts it before the systems.
    fn begin_event(&mut self) -> Option<Step> {
        if !self.world.resource::<Identity>().has_spare() {
            self.world
                .resource_scope(|world, mut identity: Mut<Identity>| identity.reserve(world));
        }
        let mut stage = self.stage.of(&mut self.world);
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

    /// Bounds the queue after an event.
    fn finish_event(&mut self) {
        let waiting = self.world.resource::<Agenda>().len();
        if waiting > self.world.resource::<Setup>().scenario().limits.queue as usize {
            self.stage.of(&mut self.world).limit(LimitKind::Queue);
        }
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
        *self.world.resource_mut::<Due>() = Due::default();
        self.world.resource_mut::<Wholes>().0.clear();
        self.world.resource_mut::<SettledProposals>().0 = columns.events.len();
        self.world.resource_mut::<SettledSinks>().0 = columns.events.len();
    }

    /// The digest of the trace so far: of nodes, edges, calls, events and labels.
    #[must_use]
    pub fn trace_digest(&self) -> u128 {
        let Recorder { trace, labels } = self.world.resource::<Recorder>();
        let mut bytes = Vec::with_capacity(USUAL_TRACE_BYTES);
        append(&(trace, labels.labels()), &mut bytes);
        xxh3_128(&bytes)
    }

    /// The hash of the policy-free state at the start, equal for all policies of a pair.
    #[must_use]
    pub fn prestate_hash(&self) -> u128 {
        let prepared = &self.world.resource::<Setup>().prepared;
        policy_free_hash(&self.belonging, |bytes| {
            bytes.extend_from_slice(&prepared.initial_bytes);
        })
    }

    pub(crate) fn policy(&mut self) -> &mut Box<dyn Policy> {
        self.world.resource_mut::<Guard>().into_inner().policy.get()
    }

    fn model(&mut self) -> &mut Box<dyn ModelBackend> {
        self.world.resource_mut::<Mind>().into_inner().model.get()
    }

    /// The next event of the agenda, if the rollout has not ended.
    #[must_use]
    pub fn next_event(&self) -> Option<&Scheduled> {
        self.world.resource::<Agenda>().next()
    }

    /// The trace so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.world.resource::<Recorder>().trace
    }

    /// The labels behind the ids in the trace.
    #[must_use]
    pub fn labels(&self) -> &LabelTable {
        &self.world.resource::<Recorder>().labels
    }

    /// How the rollout ended, once it has.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.world.resource::<Clock>().outcome.as_ref()
    }

    /// Now, in ticks.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.world.resource::<Clock>().tick
    }

    /// How many events of the agenda this rollout went through, those before a restored snapshot
    /// included.
    #[must_use]
    pub fn executed_events(&self) -> u64 {
        self.world.resource::<Clock>().executed_events
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.world.resource::<Setup>().prepared.scenario
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
        if stage.clock.limited_events >= limits.events {
            stage.limit(LimitKind::Events);
        } else if next.tick - stage.clock.episode_start > limits.ticks {
            stage.limit(LimitKind::Ticks);
        } else {
            stage.clock.limited_events += 1;
            return Some(next);
        }
    }
}

/// Puts scenario, setting and plugins before the systems.
fn insert_inputs(
    world: &mut World,
    prepared: &Arc<Prepared>,
    plugins: Plugins,
    setting: &Setting,
) -> Belonging {
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
    put(world, setup);
    let hooks = policy.hooks();
    let mut draws = Draws::new(setting.key.clone());
    draws.recording(true);
    put(
        world,
        Guard {
            policy: Exclusive::new(policy),
            hooks,
            draws,
        },
    );
    let draws = Draws::new(setting.key.clone());
    // The reply keeps its memory from rollout to rollout.
    let reply = world
        .get_resource_mut::<Mind>()
        .map_or_else(Reply::default, |mut mind| std::mem::take(&mut mind.reply));
    put(
        world,
        Mind {
            model: Exclusive::new(model),
            parser,
            draws,
            reply,
        },
    );
    belonging
}

/// Puts a resource in its place, which is quicker than to insert it where one is already.
fn put<R: Resource<Mutability = Mutable>>(world: &mut World, resource: R) {
    match world.get_resource_mut::<R>() {
        Some(mut place) => *place = resource,
        None => world.insert_resource(resource),
    }
}
