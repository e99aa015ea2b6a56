//! A result in its folder: `manifest.json`, `rows.csv`, `scenarios.jsonl`.
//!
//! Every file is written under a temporary name and renamed when it is whole, the manifest last. So
//! an interrupted write leaves the earlier result as it was, and a folder with a manifest whose
//! digest of the rows fits holds a whole result. Who writes holds the [`Folder`], which one program
//! at a time can; until the result is there, [`crate::journal`] keeps the rows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::columns::{Hash, STAGES};
use crate::folder::{FileError, Folder, MANIFEST, ROWS, SCENARIOS, failed, unfinished};
use crate::manifest::{Manifest, ManifestError, ScenarioLine};
use crate::rollout_id::hash_of_ids;
use crate::row::{Row, RowsError, read_csv};

/// Bytes that are handed to the system at once.
const WRITTEN_AT_ONCE: usize = 1 << 16;

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

/// A result that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Nothing says what the file was.
    #[error("the manifest has no digest of `{0}`, so nothing shows that it is whole")]
    NoDigest(&'static str),
    /// The manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The rows.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The scenarios.
    #[error("line {line} of `{SCENARIOS}` cannot be read: {problem}")]
    Scenarios {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A file is not the one that the manifest speaks of.
    #[error("the manifest says that `{file}` has digest {stated}, but it has {found}")]
    OtherFile {
        /// The file.
        file: &'static str,
        /// In the manifest.
        stated: Hash,
        /// Of the file.
        found: Hash,
    },
    /// The rows are not those of the rollouts that were frozen.
    #[error("`{ROWS}` has {found} rows, which are not the {stated} rollouts of the manifest")]
    OtherRollouts {
        /// How many rollouts the manifest is about.
        stated: u64,
        /// How many rows there are.
        found: usize,
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

impl Results {
    /// Fails unless there is a row for every rollout of the study, in plan order. A digest does not
    /// tell: who writes other rows can write their digest too.
    ///
    /// # Errors
    /// When the number of the rows, or a rollout that they are about, is another.
    pub fn require_every_rollout(&self) -> Result<(), ResultsError> {
        let frozen = &self.manifest.frozen;
        let ids = hash_of_ids(self.rows.iter().map(|row| row.identity.rollout_id));
        if self.rows.len() as u64 == frozen.rollouts && ids == frozen.rollout_ids {
            return Ok(());
        }
        Err(ResultsError::OtherRollouts {
            stated: frozen.rollouts,
            found: self.rows.len(),
        })
    }
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
pub fn summary(manifest: &Manifest, rows: &[&Row], rows_digest: Hash) -> Summary {
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

/// Writes a result into `folder`; `rows` is the text of `rows.csv` in pieces. Its digest is added to
/// the manifest, and given back.
///
/// # Errors
/// When a file cannot be written; an earlier result in the folder is then as it was, or its manifest
/// no longer fits its rows, which [`read`] tells.
pub fn write(
    folder: &Folder,
    manifest: &Manifest,
    scenarios: &[ScenarioLine],
    rows: &[&[u8]],
) -> Result<Hash, FileError> {
    folder.require_unmoved()?;
    let path = folder.path();
    let mut manifest = manifest.clone();
    let rows_digest = digest(rows);
    manifest.circumstances.rows_digest = Some(rows_digest);
    let scenarios = scenarios_text(scenarios);
    manifest.circumstances.scenarios_digest = Some(Hash(xxh3_128(scenarios.as_bytes())));
    let manifest = manifest.to_json();
    let files = [
        (ROWS, rows),
        (SCENARIOS, &[scenarios.as_bytes()]),
        (MANIFEST, &[manifest.as_bytes()]),
    ];
    for (name, pieces) in files {
        write_whole(&unfinished(path, name), pieces)?;
    }
    folder.require_unmoved()?;
    for (name, _) in files {
        let whole = path.join(name);
        fs::rename(unfinished(path, name), &whole).map_err(failed("write", &whole))?;
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
    let bytes = read_stated(folder, ROWS, manifest.circumstances.rows_digest)?;
    read_stated(folder, SCENARIOS, manifest.circumstances.scenarios_digest)?;
    let rows = read_csv(&bytes[..])?;
    Ok(Results { manifest, rows })
}

/// Reads the scenarios of a result that was [`read()`].
///
/// # Errors
/// When the file is missing, damaged, or not that of the manifest.
pub fn read_scenarios(
    folder: &Path,
    manifest: &Manifest,
) -> Result<Vec<ScenarioLine>, ResultsError> {
    let bytes = read_stated(folder, SCENARIOS, manifest.circumstances.scenarios_digest)?;
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    (1..)
        .zip(lines)
        .map(|(line, text)| {
            serde_json::from_slice(text).map_err(|error| ResultsError::Scenarios {
                line,
                problem: error.to_string(),
            })
        })
        .collect()
}

/// The bytes of a file of which the manifest states the digest.
fn read_stated(
    folder: &Path,
    file: &'static str,
    stated: Option<Hash>,
) -> Result<Vec<u8>, ResultsError> {
    let stated = stated.ok_or(ResultsError::NoDigest(file))?;
    let path = folder.join(file);
    let bytes = fs::read(&path).map_err(failed("read", &path))?;
    let found = Hash(xxh3_128(&bytes));
    if stated == found {
        Ok(bytes)
    } else {
        Err(ResultsError::OtherFile {
            file,
            stated,
            found,
        })
    }
}

/// Writes a file and has the system put it on the disk, so that a rename never makes an empty file
/// of it.
fn write_whole(path: &Path, pieces: &[&[u8]]) -> Result<(), FileError> {
    let write = || {
        let mut file = BufWriter::with_capacity(WRITTEN_AT_ONCE, File::create(path)?);
        for piece in pieces {
            file.write_all(piece)?;
        }
        file.into_inner()?.sync_all()
    };
    write().map_err(failed("write", path))
}

/// The digest of a file of a result, given in pieces.
#[must_use]
pub fn digest(pieces: &[&[u8]]) -> Hash {
    let mut hasher = Xxh3::new();
    for piece in pieces {
        hasher.update(piece);
    }
    Hash(hasher.digest128())
}

#[cfg(test)]
mod tests;
