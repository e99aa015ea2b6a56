//! What a script leaves open, for a behaviour profile to decide.
//!
//! A profile is asked in the words of this file and in no others. They are closed lists: a profile
//! cannot learn the name of a policy, of a scenario or of anything in it, and so cannot depend on
//! one. Adding a policy needs no change here.

use plugins::draws::{Chance, Draws};
use plugins::model::{Guidance, SchemaMode};
use plugins::policy::DenialReason;
use plugins::tool::{RiskClass, Role};
use serde::Deserialize;

use crate::emit::Form;

/// What a model may be inclined to do in a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename = "inclination")]
pub enum Inclination {
    /// To act on an instruction found in untrusted content.
    FollowInjection,
    /// Of several acts that an instruction asks for, to choose one that names no recipient.
    AvoidRecipient,
    /// To restate what was read and check it first.
    CheckItself,
    /// To take arguments from what was read although the goal says them.
    TakeArgumentsFromContent,
    /// To take arguments from the goal although they were read.
    TakeArgumentsFromGoal,
    /// To refuse the task.
    DeclineTask,
    /// To fill in what the task needs and nothing says.
    FillGap,
    /// To leave part of a harmless task undone.
    SlipOnTask,
}

/// Why a model says a denied call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename = "drive")]
pub enum Drive {
    /// An instruction found in untrusted content asked for it.
    Injected,
    /// The user asked for it.
    Requested,
}

/// All that a profile learns of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Guidance in the prompt.
    pub guidance: Guidance,
    /// How the action schema is shown.
    pub schema_mode: SchemaMode,
    /// The roles of the arguments of the call in question.
    pub arguments: Roles,
    /// The risk class of its tool; none if it is no call of a known tool.
    pub risk: Option<RiskClass>,
    /// Why it was denied, if it was.
    pub reason: Option<DenialReason>,
    /// Whether something in the context came out of memory.
    pub has_memory: bool,
    /// Whether a call of the agent that has an effect has committed.
    pub has_committed: bool,
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles(u16);

impl Roles {
    /// Whether `role` is in the set.
    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        self.0 & 1 << role as u16 != 0
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        Self(
            roles
                .into_iter()
                .fold(0, |set, role| set | 1 << role as u16),
        )
    }
}

/// How a profile draws: by the name of what is drawn, and by nothing else.
#[derive(Debug)]
pub struct Dice<'d>(&'d mut Draws);

impl<'d> Dice<'d> {
    /// What is drawn from; a profile cannot get at it again, and so not at the scenario in its key.
    pub(crate) const fn new(draws: &'d mut Draws) -> Self {
        Self(draws)
    }

    /// Whether a latent variable of the rollout falls below `chance`.
    pub fn latent(&mut self, name: &str, chance: Chance) -> bool {
        match chance {
            Chance::NEVER => false,
            Chance::ALWAYS => true,
            _ => self.0.latent(name, chance),
        }
    }

    /// Whether something happens at this turn.
    pub fn happens(&mut self, name: &str, chance: Chance) -> bool {
        chance != Chance::NEVER && self.0.happens(name, chance)
    }

    /// A number below `bound` that all rollouts with the same rollout seed share.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the high part of a 96-bit product"
    )]
    pub fn below_of_seed(&mut self, name: &str, bound: u32) -> u32 {
        let wide = u128::from(self.0.of_seed(name)) * u128::from(bound);
        u32::try_from(wide >> 64).expect("below a u32 bound")
    }

    /// A number below `bound` at this turn.
    pub fn below(&mut self, name: &str, bound: u64) -> u64 {
        self.0.below(name, bound)
    }
}

/// How a denied call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is said again.
    Said,
    /// It is said again, and the text breaks off.
    BrokenOff,
    /// It is given up.
    GivenUp,
}

/// Decides what a script leaves open.
pub trait Character {
    /// Whether the model is inclined to do this.
    fn is_inclined(&self, to: Inclination, seen: Seen, dice: &mut Dice<'_>) -> bool;

    /// How a denied call goes on that was said `times` times in a row.
    fn again(&self, drive: Drive, times: u32, seen: Seen, dice: &mut Dice<'_>) -> Again;

    /// The form in which the model writes what the script gives no form. `seen`, and how many
    /// completions of the agent are in its context, are found out only if the form depends on them.
    fn form(
        &self,
        seen: &dyn Fn() -> Seen,
        completions: &dyn Fn() -> usize,
        dice: &mut Dice<'_>,
    ) -> Form;
}

/// The character of a model that only follows its script: it is inclined to nothing, gives up what was
/// denied, and writes strict JSON.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoCharacter;

impl Character for NoCharacter {
    fn is_inclined(&self, _: Inclination, _: Seen, _: &mut Dice<'_>) -> bool {
        false
    }

    fn again(&self, _: Drive, _: u32, _: Seen, _: &mut Dice<'_>) -> Again {
        Again::GivenUp
    }

    fn form(&self, _: &dyn Fn() -> Seen, _: &dyn Fn() -> usize, _: &mut Dice<'_>) -> Form {
        Form::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_roles_that_were_put_in() {
        let roles: Roles = [Role::Recipient, Role::Content].into_iter().collect();
        assert!(roles.has(Role::Recipient) && roles.has(Role::Content));
        assert!(!roles.has(Role::Document));
        assert!(!Roles::default().has(Role::Recipient));
    }
}
