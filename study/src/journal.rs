//! The journal of a running study: its finished rows, so that a study that is cut short goes on
//! from there.
//!
//! `rows.journal` lies in the folder of the result from the first rollout until the result is
//! written. It is text: a line that names the manifest, then one segment for each finished group, in
//! the order in which they finished.
//!
//! ```text
//! containment-journal 1 <digest of the manifest>[ shard <I/N>]
//! segment <bytes> <xxh3-128 of the bytes>
//! <that many bytes: the rows of one group as CSV, without a header>
//! ```
//!
//! A program that was killed may leave its last segment half written. Whatever is no whole segment
//! of this study is left out, and what it held is run again; every whole segment counts, wherever it
//! stands.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::columns::Hash;
use crate::folder::{FileError, Folder, JOURNAL, MAX_ROWS_BYTES, failed, unfinished};
use crate::manifest::Manifest;
use crate::plan::{Group, Plan};
use crate::results;
use crate::row::{Row, read_csv_records, write_csv_records};
use crate::shard::Shard;

/// How the first line begins.
const TITLE: &str = "containment-journal 1";
/// What stands before the shard in the first line.
const SHARD: &str = "shard";
/// How the first line of a segment begins.
const SEGMENT: &str = "segment";
/// Bytes of the longest line of the journal itself.
const LONGEST_LINE: u64 = 128;
/// Bytes of the largest segment that is read back: far more than the rows of a group take.
const LARGEST_SEGMENT: u64 = 64 << 20;
/// Bytes of the largest journal: twice the rows of the largest study.
const MOST_BYTES: u64 = 2 * MAX_ROWS_BYTES;

/// The rows of one group, in the order of the policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The rows.
    pub rows: Vec<Row>,
    /// The same as CSV, without a header.
    pub csv: Vec<u8>,
}

impl Segment {
    /// The segment of these rows.
    #[must_use]
    pub fn new(rows: Vec<Row>) -> Self {
        let csv = write_csv_records(&rows);
        Self { rows, csv }
    }
}

/// Finished groups by their position in the plan; nothing where a group is still to run.
pub type Segments = Vec<Option<Segment>>;

/// What a journal is of: a study, or one shard of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The digest of its manifest.
    pub manifest: Hash,
    /// The shard; the whole study without one.
    pub shard: Option<Shard>,
}

impl From<&Manifest> for Subject {
    fn from(manifest: &Manifest) -> Self {
        Self {
            manifest: manifest.digest,
            shard: manifest.circumstances.shard,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.manifest)?;
        self.shard
            .map_or(Ok(()), |shard| write!(f, " {SHARD} {shard}"))
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// A study that goes on.
#[derive(Debug)]
pub struct Resumed {
    /// Its journal.
    pub journal: Journal,
    /// What is finished.
    pub segments: Segments,
    /// Bytes of the journal that were no whole segment of the study, and are left out.
    pub damaged_bytes: u64,
}

/// A journal that cannot be begun or resumed.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Rows of an earlier run would be lost.
    #[error("`{}` holds the rows of {groups} finished groups of an interrupted study", path.display())]
    Unfinished {
        /// The journal.
        path: PathBuf,
        /// How many whole segments it has.
        groups: usize,
    },
    /// The journal is that of another study.
    #[error("`{}` is of a study with manifest {found}, this one has {expected}, or its first line is damaged", path.display())]
    OtherStudy {
        /// The journal.
        path: PathBuf,
        /// The manifest of the journal.
        found: String,
        /// The manifest of the study.
        expected: Hash,
    },
    /// The journal is of the same study, and of another part of it.
    #[error("`{}` is of {found} of this study, not of {expected}", path.display())]
    OtherShard {
        /// The journal.
        path: PathBuf,
        /// The part that it is of.
        found: String,
        /// The part that is run.
        expected: String,
    },
    /// Something else has the name of the journal.
    #[error("`{}` is no journal of a study", path.display())]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
}

impl Journal {
    /// Begins the journal of this study.
    ///
    /// # Errors
    /// When an interrupted study left rows here, or the file cannot be written.
    pub fn begin(folder: &Folder, subject: Subject) -> Result<Self, JournalError> {
        let path = folder.path().join(JOURNAL);
        let mut reader = Reader::open(&path)?;
        if reader.title()?.is_some() {
            let mut groups = 0;
            while reader.segment()?.is_some() {
                groups += 1;
            }
            if groups > 0 {
                return Err(JournalError::Unfinished { path, groups });
            }
        }
        let mut journal = Self {
            file: reader.into_file(0)?,
            path,
        };
        journal.write(title(subject).as_bytes())?;
        Ok(journal)
    }

    /// Goes on with the journal of an interrupted study. Where there is none, one is begun; if the
    /// folder holds the whole result of this study, nothing is left to run.
    ///
    /// # Errors
    /// When the journal is of another study, or cannot be read or written.
    pub fn resume(folder: &Folder, plan: &Plan, subject: Subject) -> Result<Resumed, JournalError> {
        let path = folder.path().join(JOURNAL);
        let mut reader = Reader::open(&path)?;
        let Some(found) = reader.title()? else {
            let segments = finished_result(folder.path(), plan, subject);
            return Ok(Resumed {
                journal: Self::begin(folder, subject)?,
                segments: segments.unwrap_or_else(|| vec![None; plan.groups().len()]),
                damaged_bytes: 0,
            });
        };
        if found != subject.to_string() {
            return Err(other(path, &found, subject));
        }
        let groups = GroupsByRow::of(plan);
        let mut segments: Segments = vec![None; plan.groups().len()];
        while let Some(csv) = reader.segment()? {
            let length = csv.len() as u64;
            match groups.segment(plan, csv) {
                Some((group, segment)) if segments[group].is_none() => {
                    segments[group] = Some(segment);
                }
                _ => reader.damaged_bytes += length,
            }
        }
        let damaged_bytes = reader.damaged_bytes;
        let journal = if damaged_bytes == 0 {
            let position = reader.position;
            Self {
                file: reader.into_file(position)?,
                path,
            }
        } else {
            Self::rewritten(folder, subject, segments.iter().flatten())?
        };
        Ok(Resumed {
            journal,
            segments,
            damaged_bytes,
        })
    }

    /// A new journal with these segments in the place of the one there.
    fn rewritten<'s>(
        folder: &Folder,
        subject: Subject,
        segments: impl Iterator<Item = &'s Segment>,
    ) -> Result<Self, FileError> {
        let path = unfinished(folder.path(), JOURNAL);
        let file = File::create(&path).map_err(failed("write", &path))?;
        let mut journal = Self { file, path };
        journal.write(title(subject).as_bytes())?;
        for segment in segments {
            journal.append(segment)?;
        }
        let path = folder.path().join(JOURNAL);
        std::fs::rename(&journal.path, &path).map_err(failed("write", &path))?;
        Ok(Self { path, ..journal })
    }

    /// Adds a finished group. It is safe from the end of this program as soon as this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, segment: &Segment) -> Result<(), FileError> {
        let csv = &segment.csv;
        let digest = Hash(xxh3_128(csv));
        let mut bytes = format!("{SEGMENT} {} {digest}\n", csv.len()).into_bytes();
        bytes.extend_from_slice(csv);
        self.write(&bytes)
    }

    /// Removes the journal, when the result is written.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self, folder: &Folder) -> Result<(), FileError> {
        folder.require_unmoved()?;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let written = self.file.write_all(bytes);
        written.map_err(failed("write", &self.path))
    }
}

/// The first line of the journal of this study.
fn title(subject: Subject) -> String {
    format!("{TITLE} {subject}\n")
}

/// What is wrong with a journal at `path` that says that it is of `found`.
fn other(path: PathBuf, found: &str, expected: Subject) -> JournalError {
    let (manifest, shard) = found.split_once(' ').unwrap_or((found, ""));
    if manifest != expected.manifest.to_string() {
        return JournalError::OtherStudy {
            path,
            found: manifest.to_owned(),
            expected: expected.manifest,
        };
    }
    let part = |shard: String| match &*shard {
        "" => "the whole".to_owned(),
        _ => shard,
    };
    let own = expected.shard.map(|shard| format!("{SHARD} {shard}"));
    JournalError::OtherShard {
        path,
        found: part(shard.to_owned()),
        expected: part(own.unwrap_or_default()),
    }
}

/// Every segment of the study or its shard, if the folder holds the result of it.
fn finished_result(folder: &Path, plan: &Plan, subject: Subject) -> Option<Segments> {
    let results = results::read(folder).ok()?;
    let rows = results.rows;
    if Subject::from(&results.manifest) != subject || rows.len() != plan.own_rollouts() {
        return None;
    }
    let mut segments: Segments = vec![None; plan.groups().len()];
    let chunks = rows.chunks(plan.cast.policies.len());
    for (group, rows) in plan.own_groups().zip(chunks) {
        segments[group.index] = Some(Segment::new(rows.to_vec()));
    }
    Some(segments)
}

/// Which group a row belongs to: by the id of the first rollout of each group.
struct GroupsByRow(BTreeMap<Hash, Group>);

impl GroupsByRow {
    fn of(plan: &Plan) -> Self {
        let first = |group| plan.ids_of(group)[0];
        let groups = plan.own_groups();
        Self(groups.map(|group| (first(group), group)).collect())
    }

    /// The segment with this text and the position of its group; nothing if it holds other rows than
    /// those of one whole group.
    fn segment(&self, plan: &Plan, csv: Vec<u8>) -> Option<(usize, Segment)> {
        let rows = read_csv_records(&csv[..]).ok()?;
        let group = *self.0.get(&rows.first()?.identity.rollout_id)?;
        let ids = rows.iter().map(|row| &row.identity.rollout_id);
        let is_whole = ids.eq(plan.ids_of(group));
        is_whole.then_some((group.index, Segment { rows, csv }))
    }
}

/// A journal that is read from its beginning.
struct Reader<'p> {
    file: BufReader<File>,
    path: &'p Path,
    /// Bytes read so far.
    position: u64,
    /// Bytes of them that are no segments.
    damaged_bytes: u64,
}

impl<'p> Reader<'p> {
    /// Opens the journal, and makes an empty one if there is none.
    fn open(path: &'p Path) -> Result<Self, FileError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(failed("write", path))?;
        Ok(Self {
            file: BufReader::new(file),
            path,
            position: 0,
            damaged_bytes: 0,
        })
    }

    /// The manifest that the first line names; nothing if the journal is empty or was cut off within
    /// that line.
    fn title(&mut self) -> Result<Option<String>, JournalError> {
        let no_journal = || JournalError::NoJournal {
            path: self.path.to_owned(),
        };
        let line = line(&mut self.file).map_err(failed("read", self.path))?;
        let line = String::from_utf8(line).map_err(|_| no_journal())?;
        let Some(text) = line.strip_suffix('\n') else {
            let is_begun = format!("{TITLE} ").starts_with(&*line) || line.starts_with(TITLE);
            let is_at_end = (line.len() as u64) < LONGEST_LINE;
            return if is_begun && is_at_end {
                Ok(None)
            } else {
                Err(no_journal())
            };
        };
        let manifest = text.strip_prefix(TITLE).ok_or_else(no_journal)?;
        self.position = line.len() as u64;
        Ok(Some(manifest.trim().to_owned()))
    }

    /// The rows of the next whole segment; nothing at the end. What comes before it is damaged.
    fn segment(&mut self) -> Result<Option<Vec<u8>>, FileError> {
        while self.position < MOST_BYTES {
            let line = line(&mut self.file).map_err(failed("read", self.path))?;
            if line.is_empty() {
                return Ok(None);
            }
            let length = line.len() as u64;
            if let Some(csv) = self.rows_after(&line)? {
                self.position += length + csv.len() as u64;
                return Ok(Some(csv));
            }
            self.position += length;
            self.damaged_bytes += length;
        }
        Ok(None)
    }

    /// The rows that follow the first line of a segment. If it is none, or they are not whole, the
    /// next line is the one after it.
    fn rows_after(&mut self, line: &[u8]) -> Result<Option<Vec<u8>>, FileError> {
        let Some((length, digest)) = std::str::from_utf8(line).ok().and_then(segment_line) else {
            return Ok(None);
        };
        let mut csv = Vec::new();
        let read = (&mut self.file).take(length).read_to_end(&mut csv);
        let read = read.map_err(failed("read", self.path))? as u64;
        if read == length && Hash(xxh3_128(&csv)).to_string() == digest {
            return Ok(Some(csv));
        }
        let next = self.position + line.len() as u64;
        let sought = self.file.seek(SeekFrom::Start(next));
        sought.map_err(failed("read", self.path))?;
        Ok(None)
    }

    /// The file, cut off after `length` bytes and ready for more.
    fn into_file(self, length: u64) -> Result<File, FileError> {
        let mut file = self.file.into_inner();
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(length)))
            .map_err(failed("write", self.path))?;
        Ok(file)
    }
}

/// The next line with its line break; without one at the end of the file and where a line is too
/// long.
fn line(file: &mut BufReader<File>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
    Ok(bytes)
}

/// Length and digest of a segment, from its first line.
fn segment_line(line: &str) -> Option<(u64, &str)> {
    let mut words = line.strip_suffix('\n')?.split(' ');
    let (word, length, digest) = (words.next()?, words.next()?, words.next()?);
    let length = length
        .parse()
        .ok()
        .filter(|&length| length <= LARGEST_SEGMENT)?;
    (word == SEGMENT && words.next().is_none()).then_some((length, digest))
}

#[cfg(test)]
mod tests;
