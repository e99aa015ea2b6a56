//! The result that is in a folder before a study writes there.

use std::ffi::OsStr;
use std::path::Path;

use study::columns::Hash;
use study::folder::{JOURNAL, MANIFEST, ROWS, SCENARIOS};
use study::manifest::Manifest;
use study::shard::Shard;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{self, MAX_RESULT_BYTES};
use crate::cli::problem::Problem;

/// A result that is in the folder already.
pub(crate) enum Earlier {
    /// Of the same study with the same manifest.
    Same,
    /// Of the same study file, with this manifest.
    Changed(Hash),
    /// Of a study of the same name from another file: this one, or one that is shipped.
    OtherFile(Option<String>),
    /// Of another study, called so.
    OtherStudy(String),
    /// Of a study of the same name, and another part of it: this shard, or the whole.
    OtherPart(Option<Shard>),
    /// Of another version, or damaged.
    Unreadable,
    /// No result, but a file that would be in its place.
    Stray(&'static str),
}

impl Earlier {
    /// What is in the folder, if anything is.
    pub(crate) fn in_folder(folder: &Path, manifest: &Manifest) -> Option<Self> {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            // With a journal they are what an interrupted study left.
            let is_stray = |name: &&str| folder.join(name).is_file();
            let stray = [ROWS, SCENARIOS].into_iter().find(is_stray);
            return stray
                .filter(|_| !folder.join(JOURNAL).is_file())
                .map(Self::Stray);
        }
        let text = files::text(&path, MAX_RESULT_BYTES).ok();
        let earlier = text.and_then(|text| Manifest::from_json(&text).ok());
        Some(match earlier {
            None => Self::Unreadable,
            Some(earlier) if earlier.frozen.name != manifest.frozen.name => {
                Self::OtherStudy(earlier.frozen.name)
            }
            Some(earlier) if earlier.circumstances.shard != manifest.circumstances.shard => {
                Self::OtherPart(earlier.circumstances.shard)
            }
            Some(earlier) if earlier.digest == manifest.digest => Self::Same,
            Some(earlier) if file_name(&earlier) != file_name(manifest) => {
                Self::OtherFile(earlier.circumstances.study_file)
            }
            Some(earlier) => Self::Changed(earlier.digest),
        })
    }

    /// Why it may not be replaced. A result is replaced by another run of its study, or of its shard,
    /// also after its file was edited, but not by mistake.
    pub(crate) fn refused(&self, folder: &Path) -> Option<Failure> {
        let what = match self {
            Self::Same | Self::Changed(_) => return None,
            Self::OtherFile(None) => "the result of the shipped study of that name".to_owned(),
            Self::OtherFile(Some(file)) => format!("the result of a study of that name, `{file}`"),
            Self::Unreadable => "a result that this program cannot read".to_owned(),
            Self::Stray(name) => format!("a `{name}` that is no result"),
            Self::OtherStudy(name) => format!("the result of another study, `{name}`"),
            Self::OtherPart(Some(shard)) => format!("shard {shard} of this study"),
            Self::OtherPart(None) => "the whole result of this study".to_owned(),
        };
        Some(in_the_way(&what, folder))
    }

    /// Why shards that are put together may not replace it: there is nothing to be gained unless it
    /// is the same.
    pub(crate) fn refused_to_shards(&self, folder: &Path) -> Option<Failure> {
        let what = match self {
            Self::Same => return None,
            Self::Changed(digest) => format!("a result of this study with manifest {digest}"),
            _ => return self.refused(folder),
        };
        Some(in_the_way(&what, folder))
    }

    /// What to say when it was replaced.
    pub(crate) fn replaced(&self, folder: &Path) -> String {
        let which = match self {
            Self::Same => ", of the same manifest,".to_owned(),
            Self::Changed(digest) => format!(", of manifest {digest},"),
            _ => String::new(),
        };
        let folder = files::shown(folder);
        format!("the earlier result in {folder}{which} was replaced")
    }
}

/// The name of the file that a study is from; none for a shipped one.
fn file_name(manifest: &Manifest) -> Option<&OsStr> {
    let file = manifest.circumstances.study_file.as_deref()?;
    Path::new(file).file_name()
}

fn in_the_way(what: &str, folder: &Path) -> Failure {
    let folder = files::shown(folder);
    let message = format!("`{folder}` holds {what}");
    let help =
        "give the study a name of its own, name another folder with `--out`, or move that away";
    Failure::new(Exit::Incomplete, Problem::new(message).help(help))
}
