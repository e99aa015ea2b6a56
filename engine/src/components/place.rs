//! Sources, tools and sinks: the fixed places of a scenario.

use bevy_ecs::prelude::Component;
use plugins::ids::{CallId, SinkId, SourceId, ToolId};
use plugins::value::Value;
use serde::{Deserialize, Serialize};

/// Which source instance an entity is. The taint component beside it holds its node once touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component)]
pub struct Source(pub SourceId);

/// Which tool an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component)]
pub struct Tool(pub ToolId);

/// The argument values of calls of a tool that were held once: the same call is released.
#[derive(Clone, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct HeldCalls(pub Vec<Vec<(u16, Value)>>);

/// Which sink an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component)]
pub struct Sink(pub SinkId);

/// The calls whose effects landed in a sink, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Landed(pub Vec<CallId>);
