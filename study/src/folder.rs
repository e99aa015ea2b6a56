//! The folder of a result: which files lie in it, and that one program at a time writes them.

use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;

/// The manifest of a result.
pub const MANIFEST: &str = "manifest.json";
/// The rows of a result.
pub const ROWS: &str = "rows.csv";
/// The scenarios of a result.
pub const SCENARIOS: &str = "scenarios.jsonl";

/// The journal of a study that is running.
pub const JOURNAL: &str = "rows.journal";

/// Bytes of the largest `rows.csv` that is read back.
pub const MAX_ROWS_BYTES: u64 = 1 << 30;

/// The file whose lock says that a program writes here. It stays: who removed it could take the lock
/// away from a program that has just opened it.
const LOCK: &str = ".lock";

/// A file or folder that cannot be written or read. The rollouts themselves are not affected.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`: {error}", path.display())]
pub struct FileError {
    /// What was tried.
    pub doing: &'static str,
    /// On what.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

/// A folder in which no result can be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder, or a file in it.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another program writes there.
    #[error("another study is being written into `{}`", .0.display())]
    InUse(PathBuf),
    /// A file could not be put there.
    #[error("`{}` is in the way of a file of that name", .0.display())]
    InTheWay(PathBuf),
}

/// The folder of a result, locked: nobody else writes there until this is dropped or the program
/// ends, however it ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    lock: Handle,
}

impl Folder {
    /// Makes the folder if it does not exist, and sees that a result can be written there, before
    /// there is anything to lose.
    ///
    /// # Errors
    /// When it cannot, or another program is about to.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        fs::create_dir_all(path).map_err(failed("create the folder", path))?;
        let lock_path = path.join(LOCK);
        let files = [JOURNAL, ROWS, SCENARIOS, MANIFEST];
        let unfinished = files.map(|name| unfinished(path, name));
        let written = files.map(|name| path.join(name));
        for target in [&lock_path].into_iter().chain(&written).chain(&unfinished) {
            if fs::metadata(target).is_ok_and(|there| !there.is_file()) {
                return Err(FolderError::InTheWay(target.clone()));
            }
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = options.open(&lock_path).and_then(Handle::from_file);
        let lock = lock.map_err(failed("write", &lock_path))?;
        match lock.as_file().try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                lock,
            }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(failed("lock", &lock_path)(error).into()),
        }
    }

    /// Fails if the folder is no longer the one that was locked: somebody moved or replaced it, and
    /// what is now in its place is not ours to write.
    pub(crate) fn require_unmoved(&self) -> Result<(), FileError> {
        let there = Handle::from_path(self.path.join(LOCK));
        if there.is_ok_and(|there| there == self.lock) {
            return Ok(());
        }
        let error = io::Error::other("the folder was moved or replaced since the study began");
        Err(failed("write in", &self.path)(error))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The name of a file while it is being written.
pub(crate) fn unfinished(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.unfinished"))
}

/// What could not be done with which file.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |error| FileError { doing, path, error }
}

#[cfg(test)]
mod tests;
