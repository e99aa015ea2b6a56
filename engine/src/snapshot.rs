//! Everything that can influence the future of a rollout, as plain columns by stable id.
//!
//! A rollout starts by restoring the initial columns of its scenario, so a reused world cannot
//! differ from a fresh one.

use xxhash_rust::xxh3::xxh3_128;

use crate::clock::Due;
use crate::columns::{Belonging, Columns, Section, encode, policy_free_hash};
use crate::error::RestoreError;
use crate::recorder::Recorder;
use crate::scene::Scene;

impl Columns {
    /// Reads the columns off a rollout; the plugins' states are the caller's to add.
    pub(crate) fn capture(scene: &Scene) -> Self {
        let mut columns = Self::default();
        columns.capture_without_trace(scene);
        let Recorder { trace, labels } = &scene.state.recorder;
        columns.nodes.clone_from(&trace.nodes);
        columns.edges.clone_from(&trace.edges);
        columns.calls.clone_from(&trace.calls);
        columns.events.clone_from(&trace.events);
        columns.labels = labels.labels().to_vec();
        columns
    }

    /// Reads off a rollout what is in no trace.
    pub(crate) fn capture_without_trace(&mut self, scene: &Scene) {
        self.clock.clone_from(&scene.state.clock);
        self.agenda.clone_from(&scene.state.agenda);
        scene.read_entities(self);
    }

    /// Writes the columns into a rollout in place. There is room for them.
    pub(crate) fn write(&self, scene: &mut Scene) {
        self.write_without_trace(scene);
        let Recorder { trace, labels } = &mut scene.state.recorder;
        trace.nodes.clone_from(&self.nodes);
        trace.edges.clone_from(&self.edges);
        trace.calls.clone_from(&self.calls);
        trace.events.clone_from(&self.events);
        labels.reset_to(&self.labels);
    }

    /// Writes into a rollout what is in no trace, and forgets what follows from what is in a snapshot.
    pub(crate) fn write_without_trace(&self, scene: &mut Scene) {
        scene.write_entities(self);
        let state = &mut *scene.state;
        state.clock.clone_from(&self.clock);
        state.agenda.clone_from(&self.agenda);
        state.due = Due::default();
        state.wholes.0.clear();
    }
}

/// A rollout at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub(crate) belonging: Belonging,
    pub(crate) columns: Columns,
}

const MAGIC: &[u8; 8] = b"CBENSNAP";
/// The version of the snapshot format. Another version is refused, never guessed at.
pub const SNAPSHOT_VERSION: u32 = 2;

impl Snapshot {
    /// The names of the columns, in order.
    #[must_use]
    pub fn column_names() -> &'static [&'static str] {
        Columns::NAMES
    }

    /// When it was taken, in ticks.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.columns.clock.tick
    }

    /// How many events the rollout had executed.
    #[must_use]
    pub fn executed_events(&self) -> u64 {
        self.columns.clock.executed_events
    }

    /// The snapshot as bytes: magic, version, belonging, columns, checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(SNAPSHOT_VERSION.to_le_bytes());
        bytes.extend(encode(&(&self.belonging, self.columns.to_sections())));
        let checksum = xxh3_128(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// The snapshot behind [`Snapshot::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are no snapshot, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RestoreError> {
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or(RestoreError::NotASnapshot("the first eight bytes differ"))?;
        let (version, _) = rest
            .split_first_chunk::<4>()
            .ok_or(RestoreError::NotASnapshot("it is too short"))?;
        let version = u32::from_le_bytes(*version);
        if version != SNAPSHOT_VERSION {
            return Err(RestoreError::Version {
                found: version,
                expected: SNAPSHOT_VERSION,
            });
        }
        let (body, checksum) = bytes
            .split_last_chunk::<16>()
            .ok_or(RestoreError::NotASnapshot("it is too short"))?;
        if xxh3_128(body) != u128::from_le_bytes(*checksum) {
            return Err(RestoreError::Damaged("its checksum differs".to_owned()));
        }
        let payload = body
            .get(MAGIC.len() + 4..)
            .ok_or(RestoreError::NotASnapshot("it is too short"))?;
        let (belonging, sections): (Belonging, Vec<Section>) = postcard::from_bytes(payload)
            .map_err(|error| RestoreError::Damaged(error.to_string()))?;
        Ok(Self {
            belonging,
            columns: Columns::from_sections(&sections)?,
        })
    }

    /// The same snapshot with one column as it was in `other`: lets a test show that every column
    /// matters.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn with_column_of(&self, name: &str, other: &Self) -> Result<Self, RestoreError> {
        let mut sections = self.columns.to_sections();
        let index = Columns::NAMES.iter().position(|&column| column == name);
        let index = index.ok_or_else(|| RestoreError::Column(name.to_owned()))?;
        sections[index] = other.columns.to_sections().swap_remove(index);
        Ok(Self {
            belonging: self.belonging.clone(),
            columns: Columns::from_sections(&sections)?,
        })
    }

    /// The hash of the policy-free state: of everything but the policy and its state. Equal for all
    /// policies of a pair at the start of a rollout.
    #[must_use]
    pub fn policy_free_hash(&self) -> u128 {
        policy_free_hash(&self.belonging, |bytes| {
            self.columns.append_with_trace(bytes);
        })
    }
}
