//! Where a fitted profile goes: looked at before the fit, which takes minutes.

use std::fs::{self, File};
use std::path::Path;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{self, MAX_SOURCE_BYTES};
use crate::cli::problem::Problem;
use crate::cli::profiles;

/// Fails if the fitted profile could not be written to `out`, or would take the place of something that
/// is no profile. `targets` is the file of the targets, if they are from one.
pub(super) fn require_place(out: &Path, targets: Option<&Path>) -> Result<(), Failure> {
    if let Some(targets) = targets
        && is_same(out, targets)
    {
        let help = "name another file: the fitted profile would take the place of its targets";
        return Err(refused(out, "it holds the targets", help));
    }
    match fs::symlink_metadata(out) {
        Ok(there) if there.is_symlink() => {
            let help = "name the file itself: nothing is written through a link";
            return Err(refused(out, "it is a link", help));
        }
        Ok(there) if !there.is_file() => {
            return Err(refused(
                out,
                "it is there, and is no regular file",
                "name a file",
            ));
        }
        Ok(_) if !holds_profile(out) => {
            let help = "name another file, or move that one away";
            return Err(refused(
                out,
                "it is there, and holds no behaviour profile",
                help,
            ));
        }
        Err(_) | Ok(_) => {}
    }
    try_to_write(out)
}

fn refused(out: &Path, why: &str, help: &str) -> Failure {
    let name = files::shown(out);
    let problem = Problem::new(format!("`{name}` cannot be written: {why}"));
    Failure::new(Exit::Incomplete, problem.file(name).help(help))
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn holds_profile(path: &Path) -> bool {
    let text = files::text(path, MAX_SOURCE_BYTES);
    text.is_ok_and(|text| profiles::parse("", &text).is_ok())
}

/// Begins the file that will take the place of `out`, and removes it again.
fn try_to_write(out: &Path) -> Result<(), Failure> {
    if out.file_name().is_none() {
        return Err(refused(out, "it names no file", "name a file"));
    }
    let mut trial = out.as_os_str().to_owned();
    trial.push(".trial");
    let tried = File::create_new(&trial).and_then(|_| fs::remove_file(&trial));
    tried.map_err(|error| {
        let help = "name a file in a folder that exists and may be written";
        refused(out, &error.to_string(), help)
    })
}
