//! The order of a tick, on one screen.
//!
//! Each due event runs the system of its phase; then what it decided is brought home. The engine
//! dispatches that one system directly. A bevy `Schedule` built from the same declared
//! dependencies, with ambiguity as an error, must give the same trace: a test compares the two, in
//! every order that the dependencies admit.

use bevy_ecs::prelude::{IntoScheduleConfigs, Schedule, World};
use bevy_ecs::schedule::{
    LogLevel, ScheduleBuildSettings, ScheduleConfigs, ScheduleLabel, SingleThreadedExecutor,
};
use bevy_ecs::system::{BoxedSystem, IntoSystem};

use crate::agenda::Phase;
use crate::systems::{
    authorize, commit, decide, deliver, observe, parse, record, remember, settle,
};

/// The systems of a tick, in order. `settle_proposals` and `settle_sinks` have no order between
/// them.
macro_rules! with_systems {
    ($use:ident) => {
        $use!(
            (deliver::deliver),
            (observe::observe),
            (decide::decide),
            (parse::parse),
            (authorize::authorize),
            (commit::commit),
            (remember::remember),
            (record::record)
        )
    };
}

/// The production dispatcher: one cached system per phase, and the two that settle.
#[derive(Default)]
pub(crate) struct Dispatcher {
    phases: Vec<BoxedSystem>,
    settle: Vec<BoxedSystem>,
}

impl Dispatcher {
    /// Caches the systems for `world`.
    pub(crate) fn new(world: &mut World) -> Self {
        macro_rules! boxed {
            ($(($system:path)),*) => { vec![$(Box::new(IntoSystem::into_system($system)) as BoxedSystem),*] };
        }
        let mut phases: Vec<BoxedSystem> = with_systems!(boxed);
        let mut settle: Vec<BoxedSystem> = vec![
            Box::new(IntoSystem::into_system(settle::settle_proposals)),
            Box::new(IntoSystem::into_system(settle::settle_sinks)),
        ];
        for system in phases.iter_mut().chain(&mut settle) {
            system.initialize(world);
        }
        Self { phases, settle }
    }

    /// Runs the system of a phase.
    pub(crate) fn run_phase(&mut self, phase: Phase, world: &mut World) {
        run(&mut self.phases[phase as usize], world);
    }

    /// Settles what it decided.
    pub(crate) fn settle(&mut self, world: &mut World) {
        for system in &mut self.settle {
            run(system, world);
        }
    }
}

fn run(system: &mut BoxedSystem, world: &mut World) {
    // The systems take resources that exist for the whole life of the world, so this cannot fail; and
    // none of them defers anything.
    system
        .run_without_applying_deferred((), world)
        .expect("every resource of the engine is present");
}

/// What the whole schedule of a tick is called.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// Which of the two systems that settle goes first in [`bevy_schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOrder {
    /// Not said: the declared dependencies admit both.
    Undeclared,
    /// Proposals first.
    ProposalsFirst,
    /// Sinks first.
    SinksFirst,
}

/// The tick as a bevy schedule built from declared dependencies. Two systems that conflict and have
/// no declared order make its initialisation fail.
#[must_use]
pub fn bevy_schedule(order: SettleOrder) -> Schedule {
    let mut schedule = Schedule::new(Tick);
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.set_build_settings(ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::default()
    });
    macro_rules! chained {
        ($(($system:path)),*) => { schedule.add_systems(($($system),*).chain()) };
    }
    with_systems!(chained);
    let between =
        |systems: ScheduleConfigs<_>| systems.after(commit::commit).before(remember::remember);
    let (proposals, sinks) = (settle::settle_proposals, settle::settle_sinks);
    match order {
        SettleOrder::Undeclared => schedule.add_systems(between((proposals, sinks).into_configs())),
        SettleOrder::ProposalsFirst => schedule.add_systems(between((proposals, sinks).chain())),
        SettleOrder::SinksFirst => schedule.add_systems(between((sinks, proposals).chain())),
    };
    schedule
}
