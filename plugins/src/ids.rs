//! Stable identifiers. Each is a dense index in creation order, so it survives snapshots and means
//! the same in every process; nothing in the project ever stores an ECS entity id.

use serde::{Deserialize, Serialize};

macro_rules! stable_ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the column this id indexes.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of position `index`.
            ///
            /// # Panics
            /// When `index` exceeds `u32::MAX`; every column has a far smaller limit.
            #[must_use]
            pub fn at(index: usize) -> Self {
                Self(u32::try_from(index).expect("columns are limited to far fewer rows than u32::MAX"))
            }
        }
    )*};
}

stable_ids! {
    /// An agent of the scenario.
    AgentId,
    /// A tool of the scenario.
    ToolId,
    /// A source instance: one document, one tool result, one injected message, one initial memory
    /// record, or the trusted goal of one episode. The atoms of provenance (ARCHITECTURE: labels).
    SourceId,
    /// A memory store of the scenario.
    StoreId,
    /// A sink of the scenario.
    SinkId,
    /// Somebody who may read: an address or a named audience.
    PrincipalId,
    /// A version of a memory record. Updating a key creates a new record.
    RecordId,
    /// A message between agents, or a final answer.
    MessageId,
    /// A valid tool call; links its proposal, decisions, result and effect (paper 6.4).
    CallId,
    /// A node of the trace, in creation order.
    NodeId,
}

/// What a node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// A source instance.
    Source(SourceId),
    /// A version of a memory record.
    Record(RecordId),
    /// A message.
    Message(MessageId),
    /// A call: its proposal, decision, result or effect.
    Call(CallId),
    /// A recovery step of the scenario, by position.
    Step(u32),
    /// An agent's context.
    Agent(AgentId),
}
