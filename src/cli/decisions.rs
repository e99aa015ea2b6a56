//! Recorded answers of processes: written beside the rows of a study, and played in the place of the
//! process when the rows are run again.

use std::collections::BTreeMap;
use std::path::Path;

use containment_bench::outside::Decisions;
use containment_bench::outside::reference::{FileReference, Host};

use super::failure::Failure;
#[cfg(feature = "process")]
use super::{
    files::{self, MAX_RESULT_BYTES},
    policies, reports,
};

/// Recordings by what their policies are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recordings(BTreeMap<String, Decisions>);

/// How the file of a recording ends.
pub(crate) const RECORDING: &str = ".decisions.jsonl";

/// The file in which the recording of a policy lies.
#[cfg(feature = "process")]
fn file(name: &str) -> String {
    format!("{}{RECORDING}", name.replace(':', "_"))
}

impl Recordings {
    /// That of a policy, if there is one.
    pub(crate) fn of(&self, reference: &FileReference) -> Option<Decisions> {
        self.0.get(&reference.name()).cloned()
    }

    /// Whether every process among these has one.
    pub(crate) fn cover(&self, files: &[&FileReference]) -> bool {
        let mut processes = files.iter().filter(|file| file.host == Host::Process);
        processes.all(|file| self.0.contains_key(&file.name()))
    }

    /// Begins one for each process among these.
    #[cfg(feature = "process")]
    pub(crate) fn begin<'f>(files: impl Iterator<Item = &'f FileReference>) -> Self {
        let processes = files.filter(|file| file.host == Host::Process);
        Self(
            processes
                .map(|file| (file.name(), Decisions::recording()))
                .collect(),
        )
    }

    #[cfg(not(feature = "process"))]
    pub(crate) fn begin<'f>(_: impl Iterator<Item = &'f FileReference>) -> Self {
        Self::default()
    }

    /// Reads those of these policies that lie in a result folder.
    #[cfg(feature = "process")]
    pub(crate) fn read(folder: &Path, policies: &[FileReference]) -> Result<Self, Failure> {
        let mut read = BTreeMap::new();
        let processes = policies.iter().filter(|file| file.host == Host::Process);
        for name in processes.map(FileReference::name) {
            let path = folder.join(file(&name));
            if !path.is_file() {
                continue;
            }
            let text = files::text(&path, MAX_RESULT_BYTES)?;
            let decisions = Decisions::read(&text).map_err(|mistake| {
                policies::problem(&files::shown(&path), Some(&text), &mistake)
            })?;
            read.insert(name, decisions);
        }
        Ok(Self(read))
    }

    #[cfg(not(feature = "process"))]
    pub(crate) fn read(_: &Path, _: &[FileReference]) -> Result<Self, Failure> {
        Ok(Self::default())
    }

    /// Writes them into a result folder.
    #[cfg(feature = "process")]
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        for (name, decisions) in &self.0 {
            let file = file(name);
            decisions
                .check_whole()
                .map_err(|mistake| policies::problem(&file, None, &mistake))?;
            reports::write_beside(folder, &file, &decisions.text())?;
        }
        Ok(())
    }

    #[cfg(not(feature = "process"))]
    pub(crate) fn write(&self, _: &Path) -> Result<(), Failure> {
        Ok(())
    }
}
