//! Which completion of an agent comes next.

use std::collections::BTreeMap;

use plugins::ids::AgentId;
use plugins::state::RestoreError;

/// Bytes of one agent in a saved state: its number, the episode and the next turn.
const ENTRY_BYTES: usize = 12;

/// How many completions each agent has given in its episode. They cannot be counted in the context:
/// a policy may drop segments of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Turns(BTreeMap<u32, Next>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Next {
    episode: u32,
    turn: u32,
}

impl Turns {
    /// The number of the turn that `agent` takes now in `episode`; the next one is one higher.
    pub(super) fn take(&mut self, agent: AgentId, episode: u32) -> u32 {
        let next = self.0.entry(agent.0).or_default();
        if next.episode != episode {
            *next = Next { episode, turn: 0 };
        }
        let turn = next.turn;
        next.turn = turn.saturating_add(1);
        turn
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        for (agent, next) in &self.0 {
            for number in [*agent, next.episode, next.turn] {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    /// What [`Turns::save`] wrote.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, RestoreError> {
        let damaged = |what: &str| RestoreError::Damaged(what.to_owned());
        let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
        if !rest.is_empty() {
            return Err(damaged("the turns of an agent are cut off"));
        }
        let mut turns = BTreeMap::new();
        for entry in entries {
            let (numbers, _) = entry.as_chunks::<4>();
            let [agent, episode, turn] = [0, 1, 2].map(|at| u32::from_le_bytes(numbers[at]));
            if turns
                .last_key_value()
                .is_some_and(|(last, _)| *last >= agent)
            {
                return Err(damaged("agents are out of order"));
            }
            turns.insert(agent, Next { episode, turn });
        }
        Ok(Self(turns))
    }
}
