//! Going back to an earlier moment of the same run.
//!
//! A run only ever adds to its trace and to its labels, so to go back they are cut; everything else is
//! as in a snapshot. A mark is cheaper than a snapshot and worth nothing to any other rollout.

use crate::columns::{Belonging, Columns, policy_free_hash};
use crate::recorder::{Length, Recorder};
use crate::scene::Scene;

/// A moment of a run.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// Without the trace, its labels and the policy.
    columns: Columns,
    /// How long the trace and its labels were.
    length: Length,
}

impl Mark {
    /// Makes it that of this moment.
    fn set(&mut self, scene: &mut Scene) {
        self.columns.capture_without_trace(scene);
        self.columns.model_state.save_model(&mut scene.state.mind);
        self.length = scene.state.recorder.length();
    }

    /// Takes the rollout, which went on from there, back.
    pub(crate) fn go_back(&self, scene: &mut Scene) {
        self.columns.write_without_trace(scene);
        let restored = self
            .columns
            .model_state
            .restore_model(&mut scene.state.mind);
        restored.expect("the model is the one that saved this state");
        scene.state.recorder.cut_to(self.length);
    }

    /// How many events the rollout had executed.
    pub(crate) fn executed_events(&self) -> u64 {
        self.columns.clock.executed_events
    }

    /// As that of a snapshot of the same moment. `recorder` is at that moment.
    pub(crate) fn policy_free_hash(&self, belonging: &Belonging, recorder: &Recorder) -> u128 {
        policy_free_hash(belonging, |bytes| {
            self.columns.append_with_trace_of(recorder, bytes);
        })
    }
}

/// Marks that nobody needs any more: the next ones use what they have allocated.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "a mark is large, and handed back and forth")]
pub(crate) struct SpareMarks(Vec<Box<Mark>>);

impl SpareMarks {
    /// A mark of this moment.
    pub(crate) fn mark(&mut self, scene: &mut Scene) -> Box<Mark> {
        let mut mark = self.0.pop().unwrap_or_default();
        mark.set(scene);
        mark
    }

    /// Keeps a mark for what it has allocated.
    pub(crate) fn put_away(&mut self, mark: Box<Mark>) {
        self.0.push(mark);
    }
}
