//! The join of what each agent has seen.

use plugins::ids::AgentId;
use plugins::label::LabelId;

use crate::components::agent::Context;
use crate::systems::stage::Stage;

/// The join of each agent's context as far as it was last taken. It follows from the contexts, so it
/// is no part of a snapshot: a restore forgets it.
#[derive(Debug, Default)]
pub(crate) struct Wholes(pub(crate) Vec<Whole>);

/// The join of the first segments of a context.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole {
    /// The episode: the next one begins with an empty context.
    episode: u32,
    /// How many segments are in it.
    segments: usize,
    joined: LabelId,
}

impl Wholes {
    /// The join of all of `context`. Only what is new is joined.
    pub(crate) fn of(&mut self, stage: &mut Stage, agent: AgentId, context: &Context) -> LabelId {
        if self.0.len() <= agent.index() {
            self.0.resize_with(agent.index() + 1, Whole::default);
        }
        let whole = &mut self.0[agent.index()];
        if whole.episode != stage.clock.episode {
            *whole = Whole {
                episode: stage.clock.episode,
                ..Whole::default()
            };
        }
        for &label in context.labels[whole.segments..].iter().flatten() {
            whole.joined = stage.recorder.labels.join(whole.joined, label);
        }
        whole.segments = context.labels.len();
        whole.joined
    }
}
