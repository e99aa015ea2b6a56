//! What can go wrong, one enum per operation.

use plugins::state::RestoreError as PluginStateError;

/// A snapshot could not be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are no snapshot.
    #[error("these bytes are no snapshot of a rollout: {0}")]
    NotASnapshot(&'static str),
    /// The snapshot was written by another version.
    #[error(
        "the snapshot has format version {found}, this build reads version {expected}; replay the rollout from its seed instead"
    )]
    Version {
        /// In the bytes.
        found: u32,
        /// Understood here.
        expected: u32,
    },
    /// The bytes were changed or cut.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
    /// It belongs to another rollout.
    #[error("the snapshot belongs to another rollout: its {field} differs")]
    Mismatch {
        /// What differs.
        field: &'static str,
    },
    /// A column is missing or unknown.
    #[error("the snapshot has no valid column `{0}`")]
    Column(String),
    /// A plugin refused its saved state.
    #[error("the {plugin} cannot restore its state: {source}")]
    Plugin {
        /// Which plugin.
        plugin: &'static str,
        /// Why.
        source: PluginStateError,
    },
}
