//! Live records by store and key.

use std::collections::BTreeMap;

use plugins::ids::{RecordId, StoreId};
use plugins::value::Text;
use smallvec::SmallVec;

use crate::components::memory::Record;

/// The live records of each store, by key, so that no search goes through tombstones. It follows
/// from the records, so it is no part of a snapshot.
#[derive(Debug, Default)]
pub(crate) struct LiveKeys {
    /// By store; those of one key ascending. Mostly one has a key: an undo can leave two.
    stores: Vec<BTreeMap<Text, SmallVec<[RecordId; 2]>>>,
}

impl LiveKeys {
    /// Starts over with these records.
    pub(crate) fn reset_to(&mut self, records: &[Record]) {
        self.stores.iter_mut().for_each(BTreeMap::clear);
        for record in records.iter().filter(|record| record.live) {
            self.insert(record.store, &record.key, record.record);
        }
    }

    /// Notes a record that is newer than all others.
    pub(crate) fn insert(&mut self, store: StoreId, key: &Text, record: RecordId) {
        if self.stores.len() <= store.index() {
            self.stores.resize_with(store.index() + 1, BTreeMap::new);
        }
        let keys = &mut self.stores[store.index()];
        keys.entry(key.clone()).or_default().push(record);
    }

    /// Forgets a record.
    pub(crate) fn remove(&mut self, store: StoreId, key: &str, record: RecordId) {
        let Some(keys) = self.stores.get_mut(store.index()) else {
            return;
        };
        if let Some(records) = keys.get_mut(key) {
            records.retain(|other| *other != record);
            if records.is_empty() {
                keys.remove(key);
            }
        }
    }

    /// The live records of a key, oldest first.
    pub(crate) fn of(&self, store: StoreId, key: &str) -> &[RecordId] {
        let keys = self.stores.get(store.index());
        keys.and_then(|keys| keys.get(key))
            .map_or(&[], SmallVec::as_slice)
    }
}
