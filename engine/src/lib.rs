//! One rollout, deterministic: a `bevy_ecs` world driven by a discrete-event agenda.
//!
//! Start at [`rollout`]. The order of a tick is in [`schedule`], what each phase does in
//! `systems/`, the state in [`components`], and what is saved of it in [`snapshot`].

pub mod agenda;
mod bytes;
mod clock;
mod columns;
pub mod components;
mod digest;
pub mod error;
pub mod export;
mod feed;
pub mod fork;
pub mod identity;
mod keys;
mod mark;
mod next;
mod places;
mod recorder;
pub mod rollout;
mod scene;
pub mod schedule;
mod setup;
pub mod snapshot;
mod state;
mod systems;
mod wholes;

pub use error::RestoreError;
pub use next::Step;
pub use rollout::Rollout;
pub use setup::{Plugins, Setting};
pub use snapshot::Snapshot;
