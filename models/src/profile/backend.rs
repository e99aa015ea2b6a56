//! A model that follows a script as its profile says.

use std::sync::Arc;

use plugins::draws::Draws;
use plugins::model::{ModelBackend, ModelFailure, Reply, Turn};
use plugins::state::SavedState;
use plugins::value::Text;

use super::Profile;
use crate::scripted::{Script, perform};

/// A script with a profile that decides what it leaves open. Keeps no state.
#[derive(Clone, Debug)]
pub struct Profiled {
    script: Arc<Script>,
    profile: Arc<Profile>,
    text_field: Text,
}

impl Profiled {
    /// A model that follows `script` as `profile` says.
    #[must_use]
    pub fn new(script: Arc<Script>, profile: Arc<Profile>) -> Self {
        Self {
            script,
            profile,
            text_field: "text".into(),
        }
    }
}

impl SavedState for Profiled {}

impl ModelBackend for Profiled {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        perform(
            &self.script,
            &*self.profile,
            &self.text_field,
            turn,
            draws,
            reply,
        )
    }
}
