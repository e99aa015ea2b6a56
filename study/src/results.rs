//! The folder of a result: `manifest.json`, `rows.csv`, `scenarios.jsonl`.
//!
//! Every file is written under a temporary name and renamed when it is whole, the manifest last. So
//! an interrupted write leaves the earlier result as it was, and a folder with a manifest whose
//! digest of the rows fits holds a whole result. Who writes holds the [`Folder`], which one program
//! at a time can; until the result is there, [`crate::journal`] keeps the rows.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::columns::{Hash, STAGES};
use crate::journal::JOURNAL;
use crate::manifest::{Manifest, ManifestError, ScenarioLine};
use crate::row::{Row, RowsError, read_csv};

/// The manifest of a result.
pub const MANIFEST: &str = "manifest.json";
/// The rows of a result.
pub const ROWS: &str = "rows.csv";
/// The scenarios of a result.
pub const SCENARIOS: &str = "scenarios.jsonl";

/// The file whose lock says that a program writes here. It stays: who removed it could take the lock
/// away from a program that has just opened it.
const LOCK: &str = ".lock";

/// The numbers of a study that a program asks for first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The version of the summary.
    pub schema: u32,
    /// How many rollouts there were.
    pub rollouts: u64,
    /// How many on each stage.
    pub rows_by_stage: BTreeMap<&'static str, u64>,
    /// How many have no numbers because their backend failed.
    pub n_errored: u64,
    /// How many ended at a limit.
    pub n_limit_reached: u64,
    /// The hash of what was frozen.
    pub manifest_digest: Hash,
    /// The hash of `rows.csv`.
    pub rows_digest: Hash,
}

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

/// A result that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Nothing says which rows there were.
    #[error("the manifest has no `rows_digest`, so nothing shows that the rows are whole")]
    NoDigest,
    /// The manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The rows.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The rows are not those that the manifest speaks of.
    #[error("the manifest says that `{ROWS}` has digest {stated}, but it has {found}")]
    OtherRows {
        /// In the manifest.
        stated: Hash,
        /// Of the file.
        found: Hash,
    },
}

/// A result as it stands in its folder.
#[derive(Clone, Debug)]
pub struct Results {
    /// The manifest.
    pub manifest: Manifest,
    /// The rows in plan order.
    pub rows: Vec<Row>,
}

/// The text of `scenarios.jsonl`.
///
/// # Panics
/// Never: a line is plain data with text keys.
#[must_use]
pub fn scenarios_text(lines: &[ScenarioLine]) -> String {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line).expect("plain data with text keys");
        text.push('\n');
    }
    text
}

/// Sums up rows. `rows_digest` is what [`write()`] gave.
#[must_use]
pub fn summary(manifest: &Manifest, rows: &[Row], rows_digest: Hash) -> Summary {
    let count =
        |condition: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| condition(row)).count() as u64;
    let stages = STAGES.map(|stage| (stage.name(), count(&|row| row.identity.stage == stage)));
    Summary {
        schema: 1,
        rollouts: rows.len() as u64,
        rows_by_stage: stages.into_iter().collect(),
        n_errored: count(&|row| row.identity.has_errored()),
        n_limit_reached: count(&|row| row.identity.outcome.starts_with("limit_reached")),
        manifest_digest: manifest.digest,
        rows_digest,
    }
}

/// The folder of a result, locked: nobody else writes there until this is dropped or the program
/// ends, however it ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
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
        let files = [ROWS, SCENARIOS, MANIFEST];
        let unfinished = files.map(|name| unfinished(path, name));
        let written = [LOCK, JOURNAL, ROWS, SCENARIOS, MANIFEST].map(|name| path.join(name));
        for target in written.iter().chain(&unfinished) {
            if fs::metadata(target).is_ok_and(|there| !there.is_file()) {
                return Err(FolderError::InTheWay(target.clone()));
            }
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = options.open(&lock_path);
        let lock = lock.map_err(failed("write", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(failed("lock", &lock_path)(error).into()),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a result into `folder`; `rows` is the text of `rows.csv`. Its digest is added to the
/// manifest, and given back.
///
/// # Errors
/// When a file cannot be written; an earlier result in the folder is then as it was, or its manifest
/// no longer fits its rows, which [`read`] tells.
pub fn write(
    folder: &Folder,
    manifest: &Manifest,
    scenarios: &[ScenarioLine],
    rows: &[u8],
) -> Result<Hash, FileError> {
    let folder = folder.path();
    let mut manifest = manifest.clone();
    let rows_digest = Hash(xxh3_128(rows));
    manifest.circumstances.rows_digest = Some(rows_digest);
    let (scenarios, manifest) = (scenarios_text(scenarios), manifest.to_json());
    let files = [
        (ROWS, rows),
        (SCENARIOS, scenarios.as_bytes()),
        (MANIFEST, manifest.as_bytes()),
    ];
    for (name, bytes) in files {
        write_whole(&unfinished(folder, name), bytes)?;
    }
    for (name, _) in files {
        let path = folder.join(name);
        fs::rename(unfinished(folder, name), &path).map_err(failed("write", &path))?;
    }
    Ok(rows_digest)
}

/// Reads what [`write()`] wrote.
///
/// # Errors
/// When a file is missing, damaged, of another version, or the rows are not those of the manifest.
pub fn read(folder: &Path) -> Result<Results, ResultsError> {
    let path = folder.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(failed("read", &path))?;
    let manifest = Manifest::from_json(&text)?;
    let path = folder.join(ROWS);
    let bytes = fs::read(&path).map_err(failed("read", &path))?;
    let found = Hash(xxh3_128(&bytes));
    let stated = manifest.circumstances.rows_digest;
    let stated = stated.ok_or(ResultsError::NoDigest)?;
    if stated != found {
        return Err(ResultsError::OtherRows { stated, found });
    }
    let rows = read_csv(&bytes[..])?;
    Ok(Results { manifest, rows })
}

/// The name of a file while it is being written.
fn unfinished(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.unfinished"))
}

/// Writes a file and has the system put it on the disk, so that a rename never makes an empty file
/// of it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create(path).map_err(failed("write", path))?;
    file.write_all(bytes).map_err(failed("write", path))?;
    file.sync_all().map_err(failed("write", path))
}

/// What could not be done with which file.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |error| FileError { doing, path, error }
}

#[cfg(test)]
mod tests;
