//! The state of a rollout, as components. Data only; one file per kind of entity.
//!
//! Every entity exists for the whole life of a worker: those of the scenario are set up when a
//! rollout starts, those that appear during a rollout come from pools, so nothing is spawned or
//! despawned in a running rollout once the pools are warm.

pub mod agent;
pub mod call;
pub mod memory;
pub mod place;

use bevy_ecs::prelude::Component;
use plugins::ids::NodeId;
use plugins::label::LabelId;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The exact label of each field of some content.
pub type FieldLabels = SmallVec<[LabelId; 4]>;

/// Where taint stands on an entity: its latest trace node and that node's labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Taint {
    /// The latest node of the entity; none if it was not touched yet.
    pub node: Option<NodeId>,
    /// The recorded label: what the instrumentation logs.
    pub recorded: LabelId,
    /// The exact label: what the simulator knows.
    pub exact: LabelId,
}
