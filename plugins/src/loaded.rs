//! Policies that come from a file of the user instead of from this program.
//!
//! A host (`plugins/host/`) reads the bytes of a file into a [`LoadedPolicy`] or says what is wrong
//! with them. What it was read from decides its identity: a changed byte is another policy.

use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::compose::REWRITE_CONFLICT;
use crate::fault::PLUGIN_FAULT;
use crate::policy::Policy;
use crate::reason::{DEFAULT_ALLOW, FACTS_MISSING, Hook};

/// A policy from a file, read and checked.
#[derive(Clone)]
pub struct LoadedPolicy {
    /// The host: `process`, `rules`, `cedar` or `wasm`.
    pub kind: &'static str,
    /// The version of the protocol, grammar or binary interface that the file speaks.
    pub version: u32,
    /// What the file says of itself, in one sentence; may be empty.
    pub summary: String,
    /// Hash of every byte that it is made of.
    pub content: u128,
    /// Makes an instance for one rollout, at its beginning. Cheap: it is called for each.
    pub make: Arc<dyn Fn() -> Box<dyn Policy> + Send + Sync>,
    /// What went wrong while instances ran; none for a host in which nothing can.
    pub faults: Option<Arc<dyn Faults>>,
}

impl std::fmt::Debug for LoadedPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedPolicy")
            .field("kind", &self.kind)
            .field("version", &self.version)
            .field("content", &format_args!("{:032x}", self.content))
            .finish_non_exhaustive()
    }
}

/// The hash of what a plugin from outside is made of: the first 128 bits of SHA-256 over its parts,
/// each with its length. A faster hash would do against accidents, but these bytes can be anybody's, and
/// two files with one hash would pass for one policy.
#[must_use]
pub fn content_hash<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u128 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut first = [0; 16];
    first.copy_from_slice(&hash.finalize()[..16]);
    u128::from_be_bytes(first)
}

/// Rules that the program gives by itself, and that no plugin from outside may name.
pub const OWN_RULES: [&str; 4] = [DEFAULT_ALLOW, PLUGIN_FAULT, FACTS_MISSING, REWRITE_CONFLICT];

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// What would mend it.
    pub help: Option<String>,
    /// Where, in bytes of the text; none for a file that is no text, or as a whole.
    pub place: Option<Range<usize>>,
}

impl Mistake {
    /// A mistake of the file as a whole.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            place: None,
        }
    }

    /// The same with what would mend it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same at a place in the text.
    #[must_use]
    pub fn at(mut self, place: Range<usize>) -> Self {
        self.place = Some(place);
        self
    }
}

/// What went wrong once while a plugin ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// At which hook; none if between two.
    pub hook: Option<Hook>,
    /// What went wrong, in one sentence.
    pub message: String,
    /// The end of what the plugin wrote to its standard error; empty for a plugin that has none.
    pub standard_error: String,
}

/// The faults of all instances of a plugin. They are for the author to read and never part of a
/// result: there stands the rule [`crate::fault::PLUGIN_FAULT`].
pub trait Faults: Send + Sync {
    /// How many there were so far.
    fn count(&self) -> u64;
    /// The first of them; how many are kept is the host's affair.
    fn first(&self) -> Vec<Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of eight zero bytes, which are the length of one empty part, as other programs have it.
    #[test]
    fn a_content_is_known_by_its_sha_256() {
        let expected = 0xaf55_70f5_a181_0b7a_f78c_af4b_c70a_660f;
        assert_eq!(content_hash([&b""[..]]), expected);
    }

    #[test]
    fn neighbouring_parts_do_not_run_into_each_other() {
        let split = |at: usize| content_hash([&b"guard"[..at], &b"guard"[at..]]);
        assert_ne!(split(2), split(3));
        assert_ne!(content_hash([&b"guard"[..]]), split(0));
    }
}
