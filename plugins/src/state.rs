//! State that survives a snapshot.

/// Saved bytes could not be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The state was saved by another version.
    #[error("saved state has version {found}, this build reads version {expected}")]
    Version {
        /// In the bytes.
        found: u32,
        /// Understood here.
        expected: u32,
    },
    /// The bytes do not hold a valid state.
    #[error("saved state is damaged: {0}")]
    Damaged(String),
}

/// Versioned state, in and out as bytes. Everything that can influence a later answer is in it.
///
/// The defaults fit a plugin without state.
pub trait SavedState {
    /// The version of the format.
    fn version(&self) -> u32 {
        1
    }

    /// Appends the state to `out`.
    fn save(&self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Replaces the state by what [`SavedState::save`] wrote.
    ///
    /// # Errors
    /// When the version differs or the bytes are damaged; the state is then unchanged.
    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        if version != self.version() {
            return Err(RestoreError::Version {
                found: version,
                expected: self.version(),
            });
        }
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(RestoreError::Damaged("this plugin keeps no state".into()))
        }
    }
}
