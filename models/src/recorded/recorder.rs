//! A backend that writes down what another one says.

use plugins::draws::Draws;
use plugins::model::{ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::{RestoreError, SavedState};

use super::file::Completion;
use super::player::agent_name;
use super::shown::Shown;
use super::turns::Turns;

/// Where each completion goes, as a line of a recording without its line break.
pub type Sink = Box<dyn FnMut(String) + Send>;

/// Answers as the backend inside does, and hands every completion to a sink. What it hands out is no
/// part of its state: a rollout that is restored hands out again what it says again.
pub struct Recorder {
    inner: Box<dyn ModelBackend>,
    turns: Turns,
    sink: Sink,
}

impl Recorder {
    /// A recorder of what `inner` says.
    #[must_use]
    pub fn new(inner: Box<dyn ModelBackend>, sink: Sink) -> Self {
        Self {
            inner,
            turns: Turns::default(),
            sink,
        }
    }
}

impl ModelBackend for Recorder {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        let number = self.turns.take(turn.agent, turn.episode);
        self.inner.complete(turn, draws, reply)?;
        let completion = Completion {
            agent: agent_name(turn)?.to_owned(),
            episode: turn.episode,
            turn: number,
            shown: Shown::of(turn),
            text: reply.text.clone(),
            latency_ticks: reply.latency_ticks,
            tag: reply.tag,
            derivations: reply.derivations.clone(),
            choice: reply.choice.clone(),
            place: 0,
        };
        (self.sink)(completion.line());
        Ok(())
    }
}

/// The turns with their length, then the version and the state of the backend inside.
impl SavedState for Recorder {
    fn save(&self, out: &mut Vec<u8>) {
        let mut turns = Vec::new();
        self.turns.save(&mut turns);
        out.extend_from_slice(&(turns.len() as u64).to_le_bytes());
        out.extend_from_slice(&turns);
        out.extend_from_slice(&self.inner.version().to_le_bytes());
        self.inner.save(out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        let expected = self.version();
        if version != expected {
            return Err(RestoreError::Version {
                found: version,
                expected,
            });
        }
        let cut = || RestoreError::Damaged("the state of a recorder is cut off".into());
        let (length, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
        let (turns, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
        let (inner_version, inner) = rest.split_first_chunk().ok_or_else(cut)?;
        let turns = Turns::read(turns)?;
        self.inner
            .restore(inner, u32::from_le_bytes(*inner_version))?;
        self.turns = turns;
        Ok(())
    }
}
