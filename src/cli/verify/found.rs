//! What lies in the folder: every file of it, and what the three files of a result say, read apart so
//! that one that is damaged hides nothing of the others.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use study::columns::Hash;
use study::folder::{MANIFEST, MAX_ROWS_BYTES, ROWS, SCENARIOS};
use study::manifest::{MANIFEST_SCHEMA, Manifest, SCENARIO_SCHEMA, ScenarioLine};
use study::plan::file::MAX_ROLLOUTS;
use study::results::{self, Results};
use study::row::{ROW_SCHEMA, Row, RowsError, read_csv, write_csv_records};

use super::check::{Check, RESTORE, Trouble};
use crate::cli::files::{self, MAX_RESULT_BYTES};

/// Files of a folder that are looked at.
const MOST_FILES: usize = 10_000;
/// How deep folders may lie in each other.
const DEEPEST: usize = 4;
/// Bytes of the largest manifest: several times one of as many scenarios as a study may have.
const MAX_MANIFEST_BYTES: u64 = 128 << 20;
/// Bytes of all files together.
const MAX_TOTAL_BYTES: u64 = 4 << 30;

/// How the name of a file ends while it is being written.
const UNFINISHED: &str = ".unfinished";

/// The name of the check.
const NAME: &str = "files and versions";

/// A file of the folder.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// Its path within the folder, with `/` between the parts.
    pub(super) name: String,
    /// Where it is.
    pub(super) path: PathBuf,
}

/// What lies in the folder.
pub(super) struct Found {
    /// The folder.
    pub(super) folder: PathBuf,
    /// Every file that can be read, by name.
    pub(super) files: Vec<Listed>,
    /// The manifest, even if its digest is wrong.
    pub(super) manifest: Option<Manifest>,
    /// The rows, if every one of them can be read.
    pub(super) rows: Option<Vec<Row>>,
    /// The digest of `rows.csv`.
    pub(super) rows_digest: Option<Hash>,
    /// The scenarios, if every line of them can be read.
    pub(super) scenarios: Option<Vec<ScenarioLine>>,
    /// The digest of `scenarios.jsonl`.
    pub(super) scenarios_digest: Option<Hash>,
    /// That every file can be read and is of this version.
    pub(super) check: Check,
    /// Bytes of all files.
    bytes: u64,
}

impl Found {
    /// Reads a folder.
    pub(super) fn read(folder: &Path) -> Self {
        let mut found = Self {
            folder: folder.to_owned(),
            files: Vec::new(),
            manifest: None,
            rows: None,
            rows_digest: None,
            scenarios: None,
            scenarios_digest: None,
            check: Check::new(NAME),
            bytes: 0,
        };
        // What is no folder at all was refused before.
        found.list(folder, "", 0);
        found.files.sort_by(|a, b| a.name.cmp(&b.name));
        found.read_manifest();
        found.read_rows();
        found.read_scenarios();
        let (count, rows) = (found.files.len(), found.rows.as_ref().map_or(0, Vec::len));
        let lines = found.scenarios.as_ref().map_or(0, Vec::len);
        let looked_at = format!("{count} files; {rows} rows, {lines} scenarios");
        found.check = found.check.looked_at(looked_at);
        found
    }

    /// The result, if all of it could be read.
    pub(super) fn results(&self) -> Option<Results> {
        Some(Results {
            manifest: self.manifest.clone()?,
            rows: self.rows.clone()?,
        })
    }

    /// Lists a folder and those within it. Links are not followed: they could lead anywhere.
    fn list(&mut self, folder: &Path, prefix: &str, depth: usize) {
        let unlisted = "let the folder be read, and put only files of the result into it";
        let Ok(entries) = fs::read_dir(folder) else {
            let trouble = Trouble::of(prefix, "the folder cannot be read", unlisted);
            self.check.add(trouble);
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = format!("{prefix}{name}");
            let Ok(metadata) = fs::symlink_metadata(entry.path()) else {
                continue;
            };
            self.bytes = self.bytes.saturating_add(metadata.len());
            if self.files.len() >= MOST_FILES || self.bytes > MAX_TOTAL_BYTES {
                let message =
                    format!("more than {MOST_FILES} files or {MAX_TOTAL_BYTES} bytes lie here");
                self.check.add(Trouble::of(prefix, message, unlisted));
                return;
            }
            if metadata.is_dir() && depth < DEEPEST {
                self.list(&entry.path(), &format!("{name}/"), depth + 1);
            } else if metadata.is_file() {
                self.check.require(!name.ends_with(UNFINISHED), || {
                    let message = "it is what an interrupted write left";
                    Trouble::of(&name, message, "remove it, or run the command again")
                });
                let path = entry.path();
                self.files.push(Listed { name, path });
            } else {
                let message = "it is no regular file, or too deep a folder, and was not looked at";
                self.check.add(Trouble::of(&name, message, unlisted));
            }
        }
    }

    /// The text of one of the three files.
    fn text(&mut self, name: &str, limit: u64) -> Option<String> {
        match files::text(&self.folder.join(name), limit) {
            Ok(text) => Some(text),
            Err(problem) => {
                self.check
                    .add(Trouble::of(name, problem.to_string(), RESTORE));
                None
            }
        }
    }

    fn read_manifest(&mut self) {
        let Some(text) = self.text(MANIFEST, MAX_MANIFEST_BYTES) else {
            return;
        };
        let schema = schema_of(&text);
        if schema.is_some_and(|schema| schema != u64::from(MANIFEST_SCHEMA)) {
            self.other_version(MANIFEST, None, schema, MANIFEST_SCHEMA);
            return;
        }
        match serde_json::from_str::<Manifest>(&text) {
            Ok(manifest) => {
                let is_ours = manifest.to_json() == text;
                self.require_ours(is_ours, MANIFEST);
                self.manifest = Some(manifest);
            }
            Err(error) => {
                let message = format!("it cannot be read: {error}");
                let trouble = Trouble::of(MANIFEST, message, RESTORE).line(error.line());
                self.check.add(trouble);
            }
        }
    }

    fn read_rows(&mut self) {
        let Some(text) = self.text(ROWS, MAX_ROWS_BYTES) else {
            return;
        };
        self.rows_digest = Some(results::digest(&[text.as_bytes()]));
        // A failure may be told in several lines, but not every one in thousands.
        if text.bytes().filter(|&byte| byte == b'\n').count() > 4 * MAX_ROLLOUTS {
            let message = "it has more lines than the largest study has rows";
            self.check.add(Trouble::of(ROWS, message, RESTORE));
            return;
        }
        match read_csv(text.as_bytes()) {
            Ok(rows) => {
                let again = [study::row::csv_header(), &write_csv_records(&rows)].concat();
                self.require_ours(again == text.as_bytes(), ROWS);
                let other = rows
                    .iter()
                    .position(|row| row.identity.schema != ROW_SCHEMA);
                if let Some(index) = other {
                    let schema = rows[index].identity.schema.into();
                    self.other_version(ROWS, Some(index + 2), Some(schema), ROW_SCHEMA);
                }
                self.rows = Some(rows);
            }
            Err(error) => {
                self.check.is_other_version |= matches!(error, RowsError::Version { .. });
                let trouble = Trouble::of(ROWS, error.to_string(), RESTORE);
                self.check.add(match error {
                    RowsError::Cell { row, cell } => Trouble {
                        row: usize::try_from(row).ok(),
                        field: Some(cell.column),
                        ..trouble
                    },
                    _ => trouble,
                });
            }
        }
    }

    fn read_scenarios(&mut self) {
        let Some(text) = self.text(SCENARIOS, MAX_RESULT_BYTES) else {
            return;
        };
        self.scenarios_digest = Some(results::digest(&[text.as_bytes()]));
        let mut scenarios = Some(Vec::new());
        for (index, line) in text.lines().enumerate().take(MAX_ROLLOUTS + 1) {
            let schema = schema_of(line);
            if schema.is_some_and(|schema| schema != u64::from(SCENARIO_SCHEMA)) {
                self.other_version(SCENARIOS, Some(index + 1), schema, SCENARIO_SCHEMA);
                scenarios = None;
                continue;
            }
            match serde_json::from_str::<ScenarioLine>(line) {
                Ok(line) => scenarios
                    .iter_mut()
                    .for_each(|lines| lines.push(line.clone())),
                Err(error) => {
                    let message = format!("it cannot be read: {error}");
                    let trouble = Trouble::of(SCENARIOS, message, RESTORE);
                    self.check.add(trouble.line(index + 1));
                    scenarios = None;
                }
            }
        }
        if let Some(lines) = &scenarios {
            self.require_ours(results::scenarios_text(lines) == text, SCENARIOS);
        }
        self.scenarios = scenarios;
    }

    fn require_ours(&mut self, is_ours: bool, name: &str) {
        self.check.require(is_ours, || {
            let message = "it can be read, but is not written as this program writes it";
            Trouble::of(name, message, RESTORE)
        });
    }

    fn other_version(&mut self, name: &str, line: Option<usize>, found: Option<u64>, ours: u32) {
        self.check.is_other_version = true;
        let found = found.map_or_else(|| "none".to_owned(), |found| found.to_string());
        let message = format!("it has schema {found}, this program reads {ours}");
        let help = "read it with the version that wrote it, or run the study again";
        let trouble = Trouble::of(name, message, help).field("schema");
        self.check.add(Trouble { line, ..trouble });
    }
}

/// The version that a JSON text says; none if it says none.
pub(super) fn schema_of(text: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: u64,
    }
    let versioned = serde_json::from_str::<Versioned>(text);
    versioned.ok().map(|versioned| versioned.schema)
}
