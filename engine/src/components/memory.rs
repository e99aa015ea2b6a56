//! Memory stores and the versions of their records.

use std::sync::Arc;

use bevy_ecs::prelude::Component;
use plugins::ids::{CallId, RecordId, SourceId, StoreId};
use plugins::value::{Content, Text};
use serde::{Deserialize, Serialize};

use super::FieldLabels;

/// A store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Store {
    /// Which one.
    pub store: StoreId,
    /// How many records it persisted automatically.
    pub automatic_records: u32,
}

/// One version of a memory record. Removed versions stay as tombstones; the taint component beside
/// it holds its node and labels.
#[derive(Clone, Debug, PartialEq, Eq, Component, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub record: RecordId,
    /// Its store.
    pub store: StoreId,
    /// Its key.
    pub key: Text,
    /// What it says.
    pub content: Arc<Content>,
    /// The exact label of each field.
    pub labels: FieldLabels,
    /// Whether it can be found.
    pub live: bool,
    /// Whether it is held out of use.
    pub quarantined: bool,
    /// The source instance that it is, for an initial record.
    pub initial: Option<SourceId>,
    /// The call that stored it, if one did.
    pub call: Option<CallId>,
    /// The episode in which it was stored.
    pub episode: u32,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            record: RecordId::default(),
            store: StoreId::default(),
            key: "".into(),
            content: Arc::default(),
            labels: FieldLabels::new(),
            live: false,
            quarantined: false,
            initial: None,
            call: None,
            episode: 0,
        }
    }
}

impl Record {
    /// Whether it can be read.
    #[must_use]
    pub const fn readable(&self) -> bool {
        self.live && !self.quarantined
    }
}
