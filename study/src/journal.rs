//! The journal of a running study: its finished rows, so that a study that is cut short loses none.
//!
//! `rows.journal` lies in the folder of the result from the first rollout until the result is
//! written. It is text: a line that names the manifest, then one segment for each finished group, in
//! the order in which they finished.
//!
//! ```text
//! containment-journal 1 <digest of the manifest>
//! segment <bytes> <xxh3-128 of the bytes>
//! <that many bytes: the rows of one group as CSV, without a header>
//! ```
//!
//! A program that was killed may leave its last segment half written. The first segment whose bytes
//! do not fit ends the journal; what is there from it on is cut off and run again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::columns::Hash;
use crate::folder::{FileError, Folder, JOURNAL, failed};
use crate::plan::Plan;
use crate::row::{Row, read_csv_records, write_csv_records};

/// How the first line begins.
const TITLE: &str = "containment-journal 1";
/// How the first line of a segment begins.
const SEGMENT: &str = "segment";
/// Bytes of the longest line of the journal itself.
const LONGEST_LINE: u64 = 128;
/// Bytes of the largest segment that is read back: far more than the rows of a group take.
const LARGEST_SEGMENT: u64 = 64 << 20;

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

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
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
    #[error("`{}` is of a study with manifest {found}, this one has {expected}", path.display())]
    OtherStudy {
        /// The journal.
        path: PathBuf,
        /// The manifest of the journal.
        found: String,
        /// The manifest of the study.
        expected: Hash,
    },
    /// Something else has the name of the journal.
    #[error("`{}` is no journal of a study", path.display())]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
}

impl Journal {
    /// Begins the journal of a study with this manifest.
    ///
    /// # Errors
    /// When an interrupted study left rows here, or the file cannot be written.
    pub fn begin(folder: &Folder, manifest: Hash) -> Result<Self, JournalError> {
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
        journal.write(format!("{TITLE} {manifest}\n").as_bytes())?;
        Ok(journal)
    }

    /// Goes on with the journal of an interrupted study, and gives back the groups that it finished.
    /// Where there is no journal, one is begun.
    ///
    /// # Errors
    /// When the journal is of another study, or cannot be read or written.
    pub fn resume(
        folder: &Folder,
        plan: &Plan,
        manifest: Hash,
    ) -> Result<(Self, Segments), JournalError> {
        let path = folder.path().join(JOURNAL);
        let mut segments: Segments = vec![None; plan.groups().len()];
        let mut reader = Reader::open(&path)?;
        let Some(found) = reader.title()? else {
            return Ok((Self::begin(folder, manifest)?, segments));
        };
        if found != manifest.to_string() {
            return Err(JournalError::OtherStudy {
                path,
                found,
                expected: manifest,
            });
        }
        let groups = GroupsByRow::of(plan);
        let mut whole = reader.position;
        while let Some(csv) = reader.segment()? {
            let Some((group, segment)) = groups.segment(plan, csv) else {
                break;
            };
            if segments[group].replace(segment).is_some() {
                break;
            }
            whole = reader.position;
        }
        let file = reader.into_file(whole)?;
        Ok((Self { file, path }, segments))
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
    pub fn remove(self) -> Result<(), FileError> {
        std::fs::remove_file(&self.path).map_err(failed("remove", &self.path))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let written = self.file.write_all(bytes);
        written.map_err(failed("write", &self.path))
    }
}

/// Which group a row belongs to: by the id of the first rollout of each group.
struct GroupsByRow(BTreeMap<Hash, usize>);

impl GroupsByRow {
    fn of(plan: &Plan) -> Self {
        let first = |group| plan.fields(group, 0).id();
        Self(
            plan.groups()
                .map(|group| (first(group), group.index))
                .collect(),
        )
    }

    /// The segment with this text and the position of its group; nothing if it holds other rows than
    /// those of one whole group.
    fn segment(&self, plan: &Plan, csv: Vec<u8>) -> Option<(usize, Segment)> {
        let rows = read_csv_records(&csv[..]).ok()?;
        let index = *self.0.get(&rows.first()?.identity.rollout_id)?;
        let group = plan.groups().nth(index)?;
        let expected = (0..plan.cast.policies.len()).map(|policy| plan.fields(group, policy).id());
        let is_whole = rows.iter().map(|row| row.identity.rollout_id).eq(expected);
        is_whole.then_some((index, Segment { rows, csv }))
    }
}

/// A journal that is read from its beginning.
struct Reader<'p> {
    file: BufReader<File>,
    path: &'p Path,
    /// Bytes read so far, all of them whole lines and segments.
    position: u64,
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
        })
    }

    /// The manifest that the first line names; nothing if the journal is empty or was cut off within
    /// that line.
    fn title(&mut self) -> Result<Option<String>, JournalError> {
        let no_journal = || JournalError::NoJournal {
            path: self.path.to_owned(),
        };
        let line = line(&mut self.file).map_err(failed("read", self.path))?;
        let Some(text) = line.strip_suffix('\n') else {
            let is_begun = format!("{TITLE} ").starts_with(&*line) || line.starts_with(TITLE);
            return if is_begun {
                Ok(None)
            } else {
                Err(no_journal())
            };
        };
        let manifest = text.strip_prefix(TITLE).ok_or_else(no_journal)?;
        self.position = line.len() as u64;
        Ok(Some(manifest.trim().to_owned()))
    }

    /// The next segment; nothing at the end, and where the bytes do not fit.
    fn segment(&mut self) -> Result<Option<Vec<u8>>, FileError> {
        let failed = |error| failed("read", self.path)(error);
        let line = line(&mut self.file).map_err(failed)?;
        let Some((length, digest)) = segment_line(&line) else {
            return Ok(None);
        };
        let mut csv = Vec::new();
        let read = (&mut self.file).take(length).read_to_end(&mut csv);
        let read = read.map_err(failed)? as u64;
        if read != length || Hash(xxh3_128(&csv)).to_string() != digest {
            return Ok(None);
        }
        self.position += line.len() as u64 + length;
        Ok(Some(csv))
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

/// The next line with its line break; without one at the end of the file, where a line is too long,
/// and where it is no text.
fn line(file: &mut BufReader<File>) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
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
