//! Attackers and auditors from outside the program. Only a process can be one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plugins::attacker::Attacker;
use plugins::auditor::Auditor;
use plugins::loaded::{Faults, Mistake};
use plugins::parameters::Parameters;
use plugins::registry::Registry;

use super::OutsideError;
use super::host::read;
use super::reference::{FileReference, Host, Reference};

/// A plugin that is no policy, and what goes wrong in it.
pub struct Other<P: ?Sized> {
    /// What it is called.
    pub name: String,
    /// The plugin.
    pub plugin: Box<P>,
    /// What goes wrong while it runs; none for one of this program.
    pub faults: Option<Arc<dyn Faults>>,
}

/// The attacker that `reference` names: one of the registry, or `process:FILE`.
///
/// # Errors
/// When the name is unknown or the file is wrong.
pub fn attacker(
    registry: &Registry,
    reference: &Reference,
    folder: &Path,
) -> Result<Other<dyn Attacker>, OutsideError> {
    if let Some(file) = process(reference, folder)? {
        return load_attacker(file, reference);
    }
    let name = reference.to_string();
    let plugin = registry.attackers.find(&name)?.1(&Parameters::default())?;
    let faults = None;
    Ok(Other {
        name,
        plugin,
        faults,
    })
}

/// The auditor that `reference` names: one of the registry, or `process:FILE`.
///
/// # Errors
/// When the name is unknown or the file is wrong.
pub fn auditor(
    registry: &Registry,
    reference: &Reference,
    folder: &Path,
) -> Result<Other<dyn Auditor>, OutsideError> {
    if let Some(file) = process(reference, folder)? {
        return load_auditor(file, reference);
    }
    let name = reference.to_string();
    let plugin = registry.auditors.find(&name)?.1(&Parameters::default())?;
    let faults = None;
    Ok(Other {
        name,
        plugin,
        faults,
    })
}

/// The file of a process, if the reference names one; other hosts have policies only.
fn process(reference: &Reference, folder: &Path) -> Result<Option<PathBuf>, OutsideError> {
    let Reference::File(FileReference { host, path }) = reference else {
        return Ok(None);
    };
    let file = folder.join(path);
    let checked = match host {
        Host::Process => read(&file).map(drop),
        Host::Rules | Host::Cedar | Host::Wasm => {
            let message = format!("the host `{}` runs policies only", host.name());
            Err(Mistake::new(message).help("write it as a process"))
        }
    };
    match checked {
        Ok(()) => Ok(Some(file)),
        Err(mistake) => Err(wrong(file, vec![mistake])),
    }
}

fn wrong(file: PathBuf, mistakes: Vec<Mistake>) -> OutsideError {
    OutsideError::File {
        file,
        text: None,
        mistakes,
    }
}

#[cfg(feature = "process")]
fn load_attacker(
    file: PathBuf,
    reference: &Reference,
) -> Result<Other<dyn Attacker>, OutsideError> {
    let loaded = process_host::load_attacker(&file).map_err(|mistakes| wrong(file, mistakes))?;
    Ok(Other {
        name: reference.to_string(),
        plugin: (loaded.make)(),
        faults: Some(loaded.faults),
    })
}

#[cfg(feature = "process")]
fn load_auditor(file: PathBuf, reference: &Reference) -> Result<Other<dyn Auditor>, OutsideError> {
    let loaded = process_host::load_auditor(&file).map_err(|mistakes| wrong(file, mistakes))?;
    Ok(Other {
        name: reference.to_string(),
        plugin: (loaded.make)(),
        faults: Some(loaded.faults),
    })
}

#[cfg(not(feature = "process"))]
fn load_attacker(file: PathBuf, _: &Reference) -> Result<Other<dyn Attacker>, OutsideError> {
    Err(wrong(file, vec![left_out()]))
}

#[cfg(not(feature = "process"))]
fn load_auditor(file: PathBuf, _: &Reference) -> Result<Other<dyn Auditor>, OutsideError> {
    Err(wrong(file, vec![left_out()]))
}

#[cfg(not(feature = "process"))]
fn left_out() -> Mistake {
    Mistake::new("this program was built without the host `process`")
        .help("build it with `--features process`")
}
