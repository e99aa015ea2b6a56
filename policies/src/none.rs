//! `none`: no defence, the positive control (Table 8).

use plugins::policy::{Hooks, Policy};
use plugins::state::SavedState;

/// Uses no hook, so everything commits: the native attack surface and the ceiling of utility.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDefence;

impl SavedState for NoDefence {}

impl Policy for NoDefence {
    fn hooks(&self) -> Hooks {
        Hooks::empty()
    }
}
