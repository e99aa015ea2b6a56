//! `containment study`: many rollouts from a study file, a result folder, and what differs.

pub(crate) mod plans;

pub(crate) mod earlier;
mod keep;
mod means;
mod progress;
mod shadow;
pub(crate) mod summary;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use containment_bench::outside;
use study::folder::{FileError, Folder, FolderError, JOURNAL};
use study::manifest::{Manifest, scenario_lines};
use study::plan::Plan;
use study::results;
use study::row::Row;
use study::shard::Shard;

use super::exit::Exit;
use super::failure::Failure;
use super::library::{Library, case_of_row};
use super::policies;
use super::problem::Problem;
use super::rows;
use super::terminal::Terminal;
use earlier::Earlier;
use keep::Keeper;
pub(crate) use keep::no_thread;
pub(crate) use means::SHOWN as SHOWN_MEANS;
use plans::{Changes, LoadedPlan};
use progress::{Clock, ProgressChoice};
pub(crate) use summary::SHOWN;
use summary::{Run, Told};

/// Most worker threads: far more than any machine uses well, and few enough to be made.
const MOST_THREADS: i64 = 256;

/// Failed rollouts that are told one by one.
const TOLD_ERRORS: usize = 5;

/// How the summary is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table and a few lines
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// The options of `study`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A study file, or the name of a shipped study; without one, the main study
    file: Option<PathBuf>,
    /// The folder of the result [default: a folder in `results`, named for the study]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Worker threads [default: one per processor]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    threads: Option<u16>,
    /// Runs every N-th group of rollouts only, from the I-th on; `containment merge` puts the N
    /// results together
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// The study seed, instead of the one in the file
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Other policies than those in the file, each as `containment run --policy` takes it
    #[arg(long, value_name = "A,B,...", requires = "out")]
    policies: Option<String>,
    /// A policy to be evaluated beside each and never enforced; the columns `shadow_...` say what it
    /// would have ruled
    #[arg(long, value_name = "POLICY")]
    shadow: Option<String>,
    /// How the summary is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Goes on with a study that was interrupted
    #[arg(long)]
    resume: bool,
    /// Writes down what processes answer, beside the rows: then these can be run again without the
    /// processes, whatever they answer another time
    #[arg(long, conflicts_with_all = ["resume", "shard"])]
    record_decisions: bool,
    /// How progress is told on standard error
    #[arg(long, value_enum, default_value = "auto")]
    progress: ProgressChoice,
}

/// Runs the study, writes the result and prints the summary.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let LoadedPlan {
        mut plan,
        model_files,
        outside,
        recordings,
        warnings,
    } = plans::load(args.file.as_deref(), &args.changes())?;
    terminal.complain_all(&warnings);
    plan.shard = args.shard;
    let not_replayable = if args.record_decisions {
        // What it is asked now would stand in the recording.
        Vec::new()
    } else {
        policies::require_answers(&outside)?;
        policies::not_replayable(&outside)
    };
    let probed = policies::fault_counts(&outside);
    for name in &not_replayable {
        terminal.complain_all(&[policies::not_deterministic(name).into()]);
    }
    let mut manifest = Manifest::freeze(&plan);
    let given = args
        .threads
        .and_then(|threads| NonZeroUsize::new(threads.into()));
    let workers = given.unwrap_or_else(processors);
    manifest.circumstances.workers = Some(workers.get() as u64);
    let file = args.file.as_ref();
    let file = file.filter(|file| plans::inside(Some(file)).is_none());
    manifest.circumstances.model_files = model_files;
    manifest.circumstances.not_replayable = not_replayable;
    manifest.circumstances.policy_files = outside.iter().map(policies::written).collect();
    manifest.circumstances.study_file = file.map(|file| file.display().to_string());
    let path = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let folder = Folder::open(&path).map_err(|error| unusable(&error))?;
    let earlier = Earlier::in_folder(&path, &manifest);
    if let Some(failure) = earlier.as_ref().and_then(|there| there.refused(&path)) {
        return Err(failure);
    }
    let clock = Clock::start();
    let kept = Keeper::open(&folder, &plan, &manifest, args.resume, terminal)?;
    let ran = kept.run(&plan, workers, args.progress, terminal)?;
    let Some((outcomes, journal)) = ran else {
        return Ok(Exit::Incomplete);
    };
    let seconds = clock.seconds();
    let written = results::write(&folder, &manifest, &scenario_lines(&plan), &outcomes.csv());
    let rows_digest = written.map_err(|error| unwritten(&error, &path))?;
    recordings.write(&path)?;
    let removed = journal.remove(&folder);
    removed.map_err(|error| unwritten(&error, &path))?;
    if let Some(earlier) = earlier {
        terminal.note(&earlier.replaced(&path));
    }
    let rows = outcomes.rows();
    let told = Told {
        manifest: &manifest,
        rows: &rows,
        rows_digest,
        folder: &path,
        run: Some(Run {
            outcomes: &outcomes,
            seconds,
        }),
    };
    told.print(args.format, terminal)?;
    policies::tell_faults_since(&outside, &probed, terminal);
    Ok(tell_errors(&rows, &manifest, &path, terminal))
}

impl Args {
    /// What the options say otherwise than the study file.
    fn changes(&self) -> Changes {
        Changes {
            seed: self.seed,
            policies: self.policies.as_deref().map(outside::reference::split),
            shadow: self.shadow.clone(),
            record: self.record_decisions,
        }
    }
}

/// The folder of the result unless another is named. A shard has its own, so that those of one study
/// can lie beside each other.
fn default_folder(plan: &Plan) -> PathBuf {
    let name = &plan.study.name;
    let folder = plan.shard.map_or_else(
        || name.clone(),
        |shard| format!("{name}-shard-{}-of-{}", shard.index(), shard.of()),
    );
    PathBuf::from("results").join(folder)
}

/// Why no result can be written into a folder.
pub(crate) fn unusable(error: &FolderError) -> Failure {
    let help = match error {
        FolderError::InUse(_) => "wait for it to end, or name another folder with `--out`",
        FolderError::InTheWay(_) => "move it away, or name another folder with `--out`",
        FolderError::File(_) => "name a folder that may be written with `--out`",
    };
    Failure::new(Exit::Incomplete, Problem::new(error.to_string()).help(help))
}

fn unwritten(error: &FileError, folder: &Path) -> Failure {
    let help = if folder.join(JOURNAL).is_file() {
        "the rollouts are kept: mend this, then go on with the same command and `--resume`"
    } else {
        "the rollouts went with the folder: if it was moved, go on there with `--out` and `--resume`"
    };
    Failure::new(Exit::Incomplete, Problem::new(error.to_string()).help(help))
}

/// Tells which rollouts have no numbers because their backend failed, each with a command that
/// shows it again.
pub(crate) fn tell_errors(
    rows: &[&Row],
    manifest: &Manifest,
    folder: &Path,
    terminal: &Terminal,
) -> Exit {
    let errored: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| row.identity.has_errored())
        .collect();
    if errored.is_empty() {
        return Exit::Ok;
    }
    let mut library = Library::of(&manifest.circumstances, folder, &[]).with_processes(true);
    for row in errored.iter().take(TOLD_ERRORS) {
        let told = case_of_row(row, &mut library)
            .and_then(|(case, policy)| rows::require_numbers(&case, &policy, row));
        if let Err(failure) = told {
            terminal.fail(&failure);
        }
    }
    let (errored, rows) = (errored.len(), rows.len());
    terminal.note(&format!(
        "{errored} of {rows} rollouts have no numbers: their backend failed"
    ));
    Exit::Incomplete
}

/// As many workers as there are processors.
pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
