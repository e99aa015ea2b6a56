//! Where there are no process groups and no pipes to wait on, no process is started.

use std::convert::Infallible;
use std::io;

use crate::program::Program;

/// Something that a process did and should not have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// What, in one sentence.
    pub(crate) message: String,
    /// Whether the process has ended, maybe before it was asked.
    pub(crate) ended: bool,
}

impl Trouble {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ended: false,
        }
    }
}

/// A process, of which there is none.
pub(crate) struct Child {
    /// Whether it has served another instance before.
    pub(crate) is_used: bool,
    nobody: Infallible,
}

impl Child {
    /// Refuses.
    pub(crate) fn start(_: &Program) -> io::Result<Self> {
        Err(io::Error::other("processes are supported on Unix only"))
    }

    pub(crate) fn ask(&mut self, _: &[u8], _: u64) -> Result<Vec<u8>, Trouble> {
        match self.nobody {}
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        match self.nobody {}
    }

    pub(crate) fn check_silence(&mut self) -> Result<(), Trouble> {
        match self.nobody {}
    }

    pub(crate) fn end(self, _: bool) -> (Option<String>, String) {
        match self.nobody {}
    }
}
