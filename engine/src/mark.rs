//! Going back to an earlier moment of the same run.
//!
//! A run only ever adds to its trace and to its labels, so to go back they are cut; everything else is
//! as in a snapshot. A mark is cheaper than a snapshot and worth nothing to any other rollout.

use bevy_ecs::prelude::World;

use crate::columns::{Belonging, Columns};
use crate::places::Places;
use crate::recorder::{Length, Recorder};
use crate::state::State;

/// A moment of a run.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// Without the trace and its labels.
    pub(crate) columns: Columns,
    /// How long those were.
    length: Length,
}

impl Mark {
    /// Makes it that of the moment at which `world` is; the model's state is the caller's to add.
    pub(crate) fn set(&mut self, world: &mut World, places: &mut Places) {
        self.columns.capture_without_trace(world, places);
        self.length = world.resource::<State>().recorder.length();
    }

    /// Takes `world`, which went on from there, back.
    pub(crate) fn go_back(&self, world: &mut World, places: &mut Places) {
        self.columns.write_without_trace(world, places);
        world.resource_mut::<State>().recorder.cut_to(self.length);
    }

    /// How many events the rollout had executed.
    pub(crate) fn executed_events(&self) -> u64 {
        self.columns.clock.executed_events
    }

    /// As that of a snapshot of the same moment. `recorder` is at that moment.
    pub(crate) fn policy_free_hash(
        &mut self,
        belonging: &Belonging,
        recorder: &mut Recorder,
    ) -> u128 {
        let columns = &mut self.columns;
        columns.labels.extend_from_slice(recorder.labels.labels());
        swap_trace(columns, recorder);
        let hash = columns.policy_free_hash(belonging);
        swap_trace(columns, recorder);
        columns.labels.clear();
        hash
    }
}

/// Lends the trace to columns that have none, or takes it back.
fn swap_trace(columns: &mut Columns, recorder: &mut Recorder) {
    let trace = &mut recorder.trace;
    std::mem::swap(&mut columns.nodes, &mut trace.nodes);
    std::mem::swap(&mut columns.edges, &mut trace.edges);
    std::mem::swap(&mut columns.calls, &mut trace.calls);
    std::mem::swap(&mut columns.events, &mut trace.events);
}
