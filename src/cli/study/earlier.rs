//! The result that is in a folder before a study writes there.

use std::path::Path;

use study::columns::Hash;
use study::folder::MANIFEST;
use study::manifest::Manifest;

use crate::cli::files::{self, MAX_RESULT_BYTES};

/// A result that is in the folder already.
pub(super) enum Earlier {
    /// Of the same study with the same manifest.
    Same,
    /// Of a study of the same name, with this manifest.
    Changed(Hash),
    /// Of another study, called so.
    OtherStudy(String),
    /// Of another version, or damaged.
    Unreadable,
}

impl Earlier {
    /// What is in the folder, if anything is.
    pub(super) fn in_folder(folder: &Path, manifest: &Manifest) -> Option<Self> {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            return None;
        }
        let text = files::text(&path, MAX_RESULT_BYTES).ok();
        let earlier = text.and_then(|text| Manifest::from_json(&text).ok());
        Some(match earlier {
            None => Self::Unreadable,
            Some(earlier) if earlier.digest == manifest.digest => Self::Same,
            Some(earlier) if earlier.frozen.name == manifest.frozen.name => {
                Self::Changed(earlier.digest)
            }
            Some(earlier) => Self::OtherStudy(earlier.frozen.name),
        })
    }

    /// What to say when it was replaced.
    pub(super) fn replaced(&self, folder: &Path) -> String {
        let which = match self {
            Self::Same => ", of the same manifest,".to_owned(),
            Self::Changed(digest) => format!(", of manifest {digest},"),
            Self::OtherStudy(name) => format!(", of study {name},"),
            Self::Unreadable => ", which this program cannot read,".to_owned(),
        };
        let folder = files::shown(folder);
        format!("the earlier result in {folder}{which} was replaced")
    }
}
