//! What the commands that report on results share: results from folders or simulated on the spot,
//! their analyses, and files written beside them.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use report::analysis::{Analysis, Options};
use report::evidence::Evidence;
use report::tables::parser::ParserCounts;
use statistics::Bootstrap;
use study::manifest::Manifest;
use study::plan::Plan;
use study::results::Results;
use study::runner::{self, Ended};

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::problem::Problem;
use super::records::{self, Record};
use super::study::plans::Changes;
use super::study::{no_thread, plans, processors};

/// The result of a whole study in a folder.
pub(crate) fn result(folder: &Path) -> Result<Results, Failure> {
    match records::read(folder)? {
        Record::Results(results) => Ok(*results),
        Record::Trace(trace) => {
            let problem = Problem::new(format!("`{}` is a trace, not a result", trace.name))
                .help("name a folder that `containment study` wrote");
            Err(problem.into())
        }
    }
}

/// The result of a shipped study under a study seed: in memory, with nothing written.
pub(crate) fn simulated(study: &str, seed: u64) -> Result<Results, Failure> {
    let plan = plans::load_shipped(study, &Changes::of_seed(seed))?.plan;
    let never = AtomicBool::new(false);
    in_memory(&plan, &never).map(|results| results.expect("nobody stops it"))
}

/// The result of a plan, in memory, with nothing written; none if it was stopped.
pub(crate) fn in_memory(plan: &Plan, stop: &AtomicBool) -> Result<Option<Results>, Failure> {
    let groups = vec![None; plan.groups().len()];
    let go_on = |_, _: &_| ControlFlow::Continue(());
    match runner::run(plan, processors(), groups, stop, go_on) {
        Ok(Ended::Whole(outcomes)) => Ok(Some(Results {
            manifest: Manifest::freeze(plan),
            rows: outcomes
                .segments
                .into_iter()
                .flat_map(|segment| segment.rows)
                .collect(),
        })),
        Ok(Ended::Stopped(_)) => Ok(None),
        Err(error) => Err(no_thread(&error)),
    }
}

/// The analyses of a result, one for each model. `pairs` are policies to compare instead of those
/// that the paper does.
pub(crate) fn analyses<'r>(results: &'r Results, pairs: &[(String, String)]) -> Vec<Analysis<'r>> {
    let options = Options {
        bootstrap: Bootstrap::default(),
        threads: processors().get(),
    };
    let evidence = Evidence::by_model(results).into_iter();
    evidence
        .map(|evidence| Analysis::new(evidence, pairs, options))
        .collect()
}

/// What the parser makes of the shipped corpus.
pub(crate) fn parser_counts() -> Result<ParserCounts, Failure> {
    super::parse::reparsed_counts()
}

/// Writes a file beside a result, whole or not at all.
pub(crate) fn write_beside(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    write_whole(&folder.join(name), text)
}

/// Makes a folder for files of ours, if it is not there. A link in its place is refused: a result folder
/// can come from anybody, and what is written must not end up somewhere else.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    let name = files::shown(path);
    let failure = |message: String, help: &str| {
        let problem = Problem::new(message).file(&name).help(help);
        Failure::new(Exit::Incomplete, problem)
    };
    // Without a `/` at its end, which would lead through the link.
    let itself: PathBuf = path.components().collect();
    if fs::symlink_metadata(&itself).is_ok_and(|metadata| metadata.is_symlink()) {
        let message = format!("`{name}` is a link, and nothing is written through one");
        let help = "name the folder that it leads to with `--out`, or remove the link";
        return Err(failure(message, help));
    }
    fs::create_dir_all(&itself).map_err(|error| {
        let help = "name a folder that can be made and written with `--out`";
        failure(format!("`{name}` cannot be made: {error}"), help)
    })
}

/// Writes files by their paths in a folder, each whole or not at all. If one cannot be written, it is
/// said which were.
pub(crate) fn write_all(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    for (count, (path, text)) in files.iter().enumerate() {
        write_beside(folder, path, text).map_err(|failure| {
            let written = files[..count].iter().map(|(path, _)| format!("`{path}`"));
            let written = written.collect::<Vec<_>>().join(", ");
            let when = match count {
                0 => "no file was written before it".to_owned(),
                _ => format!(
                    "{count} of {} files were written before it: {written}",
                    files.len()
                ),
            };
            failure.explained(
                &when,
                "run the same command again: it writes all of them anew",
            )
        })?;
    }
    Ok(())
}

/// Writes a file, whole or not at all.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    files::replace(path, text.as_bytes()).map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", files::shown(path));
        let help = "make room, or name another place";
        Failure::new(Exit::Incomplete, Problem::new(message).help(help))
    })
}
