//! The attacker contract. An attacker fills untrusted slots *between* rollouts, never during one.

use crate::draws::Draws;
use crate::ids::SourceId;
use crate::state::SavedState;
use crate::value::Text;

/// One slot that the adversary controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The source it belongs to.
    pub source: SourceId,
    /// The name of the field that it fills.
    pub field: Text,
    /// What the world file puts there.
    pub default: Text,
}

/// What an attacker learns of its previous attempt: the common funnel stage only (F1, paper 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The stage reached: 0 none, 1 delivered, 2 engaged, 3 the exact goal proposed, 4 passed by
    /// the policy, 5 committed. The paper (6.3) has the last three; the first two are ours.
    pub stage: u8,
}

/// An attacker.
pub trait Attacker: SavedState + Send {
    /// The text of every slot, in order, for the next rollout.
    fn fill(&mut self, slots: &[Slot], feedback: Option<Feedback>, draws: &mut Draws) -> Vec<Text>;
}

/// The pre-specified attack of the main study: every slot keeps what the world file says (paper 3.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl SavedState for Fixed {}

impl Attacker for Fixed {
    fn fill(
        &mut self,
        slots: &[Slot],
        _feedback: Option<Feedback>,
        _draws: &mut Draws,
    ) -> Vec<Text> {
        slots.iter().map(|slot| slot.default.clone()).collect()
    }
}
