//! `containment merge`: the shards of a study as one result.

use std::path::{Component, Path, PathBuf};

use study::folder::{FileError, Folder, JOURNAL, MAX_ROWS_BYTES, ROWS};
use study::manifest::{Manifest, ScenarioLine};
use study::merge::{MergeError, Merged, Merger};
use study::results::{self, Results};

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::problem::Problem;
use super::records;
use super::study::earlier::Earlier;
use super::study::summary::Told;
use super::study::{self as studies, Format};
use super::terminal::Terminal;

/// The options of `merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folders of all shards of one study, each written by `study --shard`, in any order
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// The folder of the result [default: a folder in `results`, named for the study]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the summary is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Puts the shards together, writes the result and prints the summary.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    require_readable_together(&args.shards)?;
    let mut merger = Merger::default();
    for folder in &args.shards {
        let added = merger.add(files::shown(folder), shard(folder)?);
        added.map_err(|error| refused(&error))?;
    }
    let merged = merger.finish().map_err(|error| refused(&error))?;
    let scenarios = scenarios(&args.shards, &merged.manifest)?;
    let path = match &args.out {
        Some(path) => path.clone(),
        None => default_folder(&merged.manifest.frozen.name)?,
    };
    let folder = Folder::open(&path).map_err(|error| studies::unusable(&error))?;
    require_free(&path, &merged)?;
    let Merged {
        manifest,
        rows,
        csv,
    } = merged;
    let written = results::write(&folder, &manifest, &scenarios, &[&csv]);
    let rows: Vec<_> = rows.iter().collect();
    let told = Told {
        manifest: &manifest,
        rows: &rows,
        rows_digest: written.map_err(|error| unwritten(&error))?,
        folder: &path,
        run: None,
    };
    told.print(args.format, terminal)?;
    Ok(studies::tell_errors(&rows, &manifest, &path, terminal))
}

/// Fails if the rows of all shards are more than can be read back as one result.
fn require_readable_together(folders: &[PathBuf]) -> Result<(), Failure> {
    // What is no file is told when it is read.
    let sizes = folders.iter().filter_map(|folder| {
        let metadata = std::fs::metadata(folder.join(ROWS));
        metadata.ok().map(|metadata| metadata.len())
    });
    let bytes = sizes.fold(0, u64::saturating_add);
    if bytes <= MAX_ROWS_BYTES {
        return Ok(());
    }
    let message =
        format!("the shards have {bytes} bytes of rows, more than {MAX_ROWS_BYTES} in one result");
    let help = "name the folders of one study only, each once";
    Err(Problem::new(message).help(help).into())
}

/// The shard in a folder.
fn shard(folder: &Path) -> Result<Results, Failure> {
    let name = files::shown(folder);
    if folder.join(JOURNAL).is_file() {
        let message = format!("`{name}` holds a study or shard that is not finished");
        let help = "go on with it first: the same `study` command with `--resume`";
        return Err(Failure::new(
            Exit::Incomplete,
            Problem::new(message).help(help),
        ));
    }
    records::results(folder)
}

/// The scenarios of the study, which every shard names all: that they are the same was found by
/// their digest.
fn scenarios(folders: &[PathBuf], manifest: &Manifest) -> Result<Vec<ScenarioLine>, Failure> {
    let folder = folders.first().expect("shards were put together");
    let scenarios = results::read_scenarios(folder, manifest);
    scenarios.map_err(|error| records::unreadable(&error, folder))
}

/// The folder of the result unless another is named. A manifest may say any name.
fn default_folder(study: &str) -> Result<PathBuf, Failure> {
    let mut parts = Path::new(study).components();
    if matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == study)
    {
        return Ok(PathBuf::from("results").join(study));
    }
    let message = format!("the name of the study, `{study}`, is not that of a folder");
    let help = "name the folder of the result with `--out`";
    Err(Failure::usage(message, Some(help.to_owned())))
}

/// Fails if another result, or one that is not finished, lies where this one is to go.
fn require_free(path: &Path, merged: &Merged) -> Result<(), Failure> {
    if path.join(JOURNAL).is_file() {
        let name = files::shown(path);
        let message = format!("`{name}` holds a study or shard that is not finished");
        let help = "name another folder with `--out`, or go on with it: `study` with `--resume`";
        return Err(Failure::new(
            Exit::Incomplete,
            Problem::new(message).help(help),
        ));
    }
    let earlier = Earlier::in_folder(path, &merged.manifest);
    let failure = earlier.and_then(|there| there.refused_to_shards(path));
    failure.map_or(Ok(()), Err)
}

fn refused(error: &MergeError) -> Failure {
    let (exit, help) = match error {
        MergeError::Nothing | MergeError::NoShard(_) => (
            Exit::Usage,
            "name folders written by `study --shard I/N`; a whole result needs no merging",
        ),
        MergeError::OtherStudy { .. } => (Exit::Usage, "name the shards of one study"),
        MergeError::OtherVersion { .. } => (
            Exit::UnsupportedVersion,
            "run all shards of a study with one version of the program",
        ),
        MergeError::Changed { .. } => (
            Exit::Usage,
            "the study, its seed, a world or a script was changed between the shards: run those of \
             one manifest",
        ),
        MergeError::OtherCount { .. } => (
            Exit::Usage,
            "name shards of the same N; run those of another N again",
        ),
        MergeError::Twice { .. } => (Exit::Usage, "name each shard once"),
        MergeError::Missing { .. } => (
            Exit::Incomplete,
            "run what is missing with `study --shard`, and name its folder as well",
        ),
        MergeError::RowCount { .. }
        | MergeError::OtherScenarios(_)
        | MergeError::OtherRows { .. } => (
            Exit::Threshold,
            "a file was changed by hand or damaged: run the shard again",
        ),
    };
    Failure::new(exit, Problem::new(error.to_string()).help(help))
}

fn unwritten(error: &FileError) -> Failure {
    let help = "the shards are as they were: mend this, then merge them again";
    Failure::new(Exit::Incomplete, Problem::new(error.to_string()).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_study_leads_out_of_the_folder_of_results() {
        let folder = default_folder("demos").expect("a name");
        assert_eq!(folder, Path::new("results").join("demos"));
        for name in ["", ".", "..", "../x", "/x", "a/b", "a/", "./a"] {
            assert!(default_folder(name).is_err(), "{name}");
        }
    }
}
