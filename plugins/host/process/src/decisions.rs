//! Answers of a process, kept: so that a study under a policy that is not deterministic can be
//! replayed exactly, without the process.
//!
//! An answer is kept under a hash of the rollout and of everything that it could depend on. A question
//! that comes again, because the engine went back or because the rollout is run again, has the same
//! hash and gets the same answer.

mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plugins::draws::RolloutKey;
use plugins::loaded::Mistake;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::hello::Hello;

/// The longest recording, in bytes of its lines.
const MOST_BYTES: usize = 256 << 20;

/// The fault of a question that nobody has asked while recording.
pub(crate) const NOT_RECORDED: &str = "the question is not in the recording";

/// The answers of one policy that is a process: being recorded, or played. Clones share them.
#[derive(Clone)]
pub struct Decisions {
    is_played: bool,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    /// Whose answers they are: the hash of the program, and its hello.
    of: Option<(u128, Hello)>,
    kept: BTreeMap<u128, Kept>,
    /// The bytes of the lines so far.
    bytes: usize,
    most_bytes: usize,
    /// Once an answer did not fit, none is kept any more: what is missing is then the same for a
    /// question that comes again.
    is_full: bool,
}

/// What one question was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The word of the hook, for people.
    ask: &'static str,
    pub(crate) decision: Decision,
}

/// An answer or what was none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The object that the process wrote, without its `id`.
    Answer(Arc<str>),
    /// What went wrong.
    Fault(Arc<str>),
}

impl std::fmt::Debug for Decisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decisions")
            .field("is_played", &self.is_played)
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

impl Decisions {
    /// An empty recording. The policy that is loaded with it fills it.
    #[must_use]
    pub fn recording() -> Self {
        Self::recording_at_most(MOST_BYTES)
    }

    pub(crate) fn recording_at_most(most_bytes: usize) -> Self {
        Self::new(false, None, BTreeMap::new(), most_bytes)
    }

    /// Reads what [`Decisions::text`] wrote, to be played.
    ///
    /// # Errors
    /// When the text is no recording, is damaged or longer than 256 MiB; at a place in it if there
    /// is one.
    pub fn read(text: &str) -> Result<Self, Mistake> {
        let (content, hello, kept) = text::read(text, MOST_BYTES)?;
        Ok(Self::new(true, Some((content, hello)), kept, MOST_BYTES))
    }

    fn new(
        is_played: bool,
        of: Option<(u128, Hello)>,
        kept: BTreeMap<u128, Kept>,
        most_bytes: usize,
    ) -> Self {
        let bytes = kept.values().map(Kept::bytes).sum();
        Self {
            is_played,
            shared: Arc::new(Mutex::new(Shared {
                of,
                kept,
                bytes,
                most_bytes,
                is_full: false,
            })),
        }
    }

    /// The recording as text: a header line and one line for each answer, sorted, so that it does
    /// not depend on which rollout was run first. Empty if no policy was loaded with it.
    #[must_use]
    pub fn text(&self) -> String {
        let shared = self.lock();
        match &shared.of {
            Some((content, hello)) => text::written(*content, hello, &shared.kept),
            None => String::new(),
        }
    }

    /// Whether it is played and not recorded.
    #[must_use]
    pub const fn is_played(&self) -> bool {
        self.is_played
    }

    /// How many answers there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().kept.len()
    }

    /// The hash of the program whose answers they are, as in [`plugins::loaded::LoadedPolicy`]; none
    /// before a policy was loaded with it.
    #[must_use]
    pub fn content(&self) -> Option<u128> {
        self.lock().of.as_ref().map(|(content, _)| *content)
    }

    /// Whether every answer was kept.
    ///
    /// # Errors
    /// When the recording grew too long. Every question after that was answered by a fault, and will
    /// be when it is played.
    pub fn check_whole(&self) -> Result<(), Mistake> {
        let shared = self.lock();
        if shared.is_full {
            Err(Mistake::new(shared.full()).help("record fewer rollouts at once"))
        } else {
            Ok(())
        }
    }

    /// Makes this the recording of a program, if it is that of no other.
    pub(crate) fn bind(&self, content: u128, hello: &Hello) -> Result<(), Mistake> {
        let mut shared = self.lock();
        match &shared.of {
            None => shared.of = Some((content, hello.clone())),
            Some((known, _)) if *known != content => return Err(foreign(*known, content)),
            Some((_, known)) if known != hello => {
                let message = "the process says another hello than when the recording began";
                return Err(Mistake::new(message).help("let it say the same at each start"));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// What the program said of itself when it was recorded, if this is its recording.
    pub(crate) fn hello_of(&self, content: u128) -> Result<Hello, Mistake> {
        match &self.lock().of {
            Some((known, hello)) if *known == content => Ok(hello.clone()),
            Some((known, _)) => Err(foreign(*known, content)),
            None => Err(Mistake::new("the recording is of no policy")),
        }
    }

    /// What was answered to the question of this key.
    pub(crate) fn find(&self, key: u128) -> Option<Decision> {
        let shared = self.lock();
        shared.kept.get(&key).map(|kept| kept.decision.clone())
    }

    /// Whether the process may be asked what was not found: none of the answers would be lost.
    pub(crate) fn check_asking(&self) -> Result<(), String> {
        if self.is_played {
            return Err(NOT_RECORDED.into());
        }
        let shared = self.lock();
        if shared.is_full {
            Err(shared.full())
        } else {
            Ok(())
        }
    }

    /// Keeps a decision; or returns the one that another thread has kept in the meantime, which is
    /// the one that counts. Nothing is kept that does not fit.
    pub(crate) fn keep(
        &self,
        key: u128,
        ask: &'static str,
        decision: Decision,
    ) -> Result<Option<Decision>, String> {
        let mut shared = self.lock();
        if let Some(earlier) = shared.kept.get(&key) {
            return Ok(Some(earlier.decision.clone()));
        }
        let kept = Kept { ask, decision };
        let bytes = shared.bytes.saturating_add(kept.bytes());
        shared.is_full |= bytes > shared.most_bytes;
        if shared.is_full {
            return Err(shared.full());
        }
        shared.bytes = bytes;
        shared.kept.insert(key, kept);
        Ok(None)
    }

    /// A thread that panicked leaves nothing half done here.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn full(&self) -> String {
        let most = self.most_bytes;
        format!("the recording is full: it would be longer than {most} bytes")
    }
}

/// A recording of another program.
fn foreign(recorded: u128, found: u128) -> Mistake {
    Mistake::new(format!(
        "the recording is of the policy {recorded:032x}, and this one is {found:032x}"
    ))
    .help("put the files back as they were when it was recorded, or record again")
}

/// The hash of what a process has been told since its `reset`, and how much that is.
#[derive(Clone, Copy)]
pub(crate) struct Heard {
    hash: u128,
    events: usize,
}

impl Heard {
    /// Nothing but the `reset`.
    pub(crate) fn reset(told: &[u8]) -> Self {
        Self {
            hash: xxh3_128(told),
            events: 0,
        }
    }

    /// How many events were told.
    pub(crate) const fn events(self) -> usize {
        self.events
    }

    /// One more event.
    pub(crate) fn event(&mut self, told: &[u8]) {
        let mut hash = Xxh3::new();
        hash.update(&self.hash.to_le_bytes());
        hash.update(told);
        self.hash = hash.digest128();
        self.events += 1;
    }

    /// The key of a question: a hash of the rollout, of what was told, of the state of the policy,
    /// and of the question.
    pub(crate) fn key(
        self,
        rollout: Option<&RolloutKey>,
        state: &str,
        ask: &str,
        facts: &[u8],
    ) -> u128 {
        let mut hash = Xxh3::new();
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        if let Some(rollout) = rollout {
            part(&rollout.study_seed.to_le_bytes());
            part(rollout.scenario_identity.as_bytes());
            part(&rollout.rollout_seed.to_le_bytes());
            if let Some(stratum) = &rollout.stratum {
                part(stratum.to_string().as_bytes());
            }
        }
        part(b"told");
        part(&self.hash.to_le_bytes());
        part(state.as_bytes());
        part(ask.as_bytes());
        part(facts);
        hash.digest128()
    }
}
