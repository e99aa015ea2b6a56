//! The result that is in a folder before a study writes there.

use std::path::Path;

use study::columns::Hash;
use study::folder::MANIFEST;
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
    /// Of a study of the same name, with this manifest.
    Changed(Hash),
    /// Of another study, called so.
    OtherStudy(String),
    /// Of a study of the same name, and another part of it: this shard, or the whole.
    OtherPart(Option<Shard>),
    /// Of another version, or damaged.
    Unreadable,
}

impl Earlier {
    /// What is in the folder, if anything is.
    pub(crate) fn in_folder(folder: &Path, manifest: &Manifest) -> Option<Self> {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            return None;
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
            Some(earlier) => Self::Changed(earlier.digest),
        })
    }

    /// Why it may not be replaced. A result is replaced by another run of its study, or of its shard,
    /// but not by mistake.
    pub(crate) fn refused(&self, folder: &Path) -> Option<Failure> {
        let what = match self {
            Self::Same | Self::Changed(_) | Self::Unreadable => return None,
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
            Self::Unreadable => "a result that this program cannot read".to_owned(),
            Self::OtherStudy(_) | Self::OtherPart(_) => return self.refused(folder),
        };
        Some(in_the_way(&what, folder))
    }

    /// What to say when it was replaced.
    pub(crate) fn replaced(&self, folder: &Path) -> String {
        let which = match self {
            Self::Same => ", of the same manifest,".to_owned(),
            Self::Changed(digest) => format!(", of manifest {digest},"),
            Self::OtherStudy(name) => format!(", of study {name},"),
            Self::OtherPart(_) => ", of another part of the study,".to_owned(),
            Self::Unreadable => ", which this program cannot read,".to_owned(),
        };
        let folder = files::shown(folder);
        format!("the earlier result in {folder}{which} was replaced")
    }
}

fn in_the_way(what: &str, folder: &Path) -> Failure {
    let folder = files::shown(folder);
    let message = format!("`{folder}` holds {what}");
    let help = "name another folder with `--out`, or move that result away";
    Failure::new(Exit::Incomplete, Problem::new(message).help(help))
}
