//! ContainmentBench as a library: load a world, run it under a policy, read what happened.
//!
//! ```
//! use containment_bench::{Bench, Scene};
//!
//! let scene = Scene::parse(
//!     include_str!("../worlds/demos/case2_partner_meeting.ron"),
//!     include_str!("../worlds/demos/case2_partner_meeting.script.ron"),
//!     "case2_partner_meeting",
//! )?;
//! let mut rollout = Bench::built_in().rollout(&scene, "intent_ledger_v2", 1)?;
//! rollout.run();
//! assert_eq!(rollout.trace().prefix().commits().count(), 2);
//! # Ok::<(), containment_bench::Error>(())
//! ```

pub use engine;
pub use plugins;
pub use study;
pub use worlds;

pub mod attack;
pub mod bench;
pub mod outside;
mod scene;

pub use bench::{Bench, Choice};
pub use scene::Scene;

/// What can go wrong before a rollout starts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The world file has mistakes; the report names each with line and column.
    #[error("{0}")]
    World(#[from] worlds::diagnostic::Report),
    /// A plugin could not be made: unknown name, wrong parameter, mistake in a script.
    #[error(transparent)]
    Plugin(#[from] plugins::registry::CreateError),
}
