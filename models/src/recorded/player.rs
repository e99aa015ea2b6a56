//! The backend that says what was recorded, or fails.

use std::sync::Arc;

use plugins::draws::Draws;
use plugins::model::{Input, ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::{RestoreError, SavedState};

use super::file::{Completion, Recording};
use super::shown::{Shown, listed};
use super::turns::Turns;

/// What to do when a recording does not fit.
const AGAIN: &str = "record again under this policy, with `containment run ... --record FILE`";

/// A model that says what was recorded, as long as it is shown what was recorded. Its state is how
/// many completions each agent has given; its clones share the recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    recording: Arc<Recording>,
    turns: Turns,
}

impl Recorded {
    /// A model that plays `recording`.
    #[must_use]
    pub fn new(recording: Recording) -> Self {
        Self {
            recording: Arc::new(recording),
            turns: Turns::default(),
        }
    }
}

impl ModelBackend for Recorded {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        _: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        let agent = agent_name(turn)?;
        let number = self.turns.take(turn.agent, turn.episode);
        let fail = |why: String| {
            let place = format!("agent `{agent}`, episode {}, turn {number}", turn.episode);
            ModelFailure(format!("{place}: {why}"))
        };
        let completion = find(&self.recording, agent, turn.episode, number).map_err(fail)?;
        check(completion, turn).map_err(fail)?;
        reply.text.push_str(&completion.text);
        reply.latency_ticks = completion.latency_ticks;
        reply.tag = completion.tag;
        reply.derivations.clone_from(&completion.derivations);
        reply.choice.clone_from(&completion.choice);
        Ok(())
    }
}

/// The name of the agent whose turn it is.
pub(super) fn agent_name(turn: Turn<'_>) -> Result<&str, ModelFailure> {
    let agent = turn.briefing.agents.get(turn.agent.index());
    agent
        .map(|agent| &*agent.name)
        .ok_or_else(|| ModelFailure("the agent is unknown".into()))
}

/// The completion of this turn, or why there is none.
fn find<'r>(
    recording: &'r Recording,
    agent: &str,
    episode: u32,
    number: u32,
) -> Result<&'r Completion, String> {
    let Some(episodes) = recording.agents.get(agent) else {
        let known = listed(recording.agents.keys());
        return Err(format!(
            "the recording has no completion of this agent, there are those of {known}; {AGAIN}"
        ));
    };
    let completions = episodes.get(&episode).map_or(&[][..], Vec::as_slice);
    completions.get(number as usize).ok_or_else(|| {
        format!(
            "no completion is left, {} of this episode were recorded; {AGAIN}",
            completions.len()
        )
    })
}

/// Whether the model is shown what it was shown then, or what differs.
fn check(completion: &Completion, turn: Turn<'_>) -> Result<(), String> {
    let differences = Shown::of(turn).differences_from(&completion.shown);
    if !differences.is_empty() {
        return Err(format!("{}; {AGAIN}", differences.join(", and ")));
    }
    let derived = completion
        .derivations
        .iter()
        .flat_map(|field| &field.inputs);
    let mut inputs = derived.chain(completion.choice.iter().flatten());
    match inputs.find(|input| !exists(**input, turn)) {
        None => Ok(()),
        Some(Input { segment, .. }) => Err(format!(
            "line {} of the recording derives something from a part of segment {segment} that was \
             not shown: it was changed; {AGAIN}",
            completion.place
        )),
    }
}

fn exists(input: Input, turn: Turn<'_>) -> bool {
    let segment = turn.context.get(input.segment as usize);
    segment.is_some_and(|segment| {
        let fields = segment.content.fields.len();
        input.field.is_none_or(|field| usize::from(field) < fields)
    })
}

impl SavedState for Recorded {
    fn save(&self, out: &mut Vec<u8>) {
        self.turns.save(out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        let expected = self.version();
        if version != expected {
            return Err(RestoreError::Version {
                found: version,
                expected,
            });
        }
        self.turns = Turns::read(bytes)?;
        Ok(())
    }
}
