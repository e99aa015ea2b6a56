//! Running a study so that nothing finished is lost, however the program ends.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use study::folder::{FileError, Folder};
use study::journal::{Journal, JournalError, Segments};
use study::manifest::Manifest;
use study::plan::Plan;
use study::runner::{self, Ended, Outcomes, Progress};

use super::progress::ProgressChoice;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::problem::Problem;
use crate::cli::terminal::Terminal;

/// A journal, and the groups that are already in it.
pub(super) struct Keeper {
    journal: Journal,
    segments: Segments,
}

impl Keeper {
    /// Begins a journal in the folder, or goes on with the one there.
    pub(super) fn open(
        folder: &Folder,
        plan: &Plan,
        manifest: &Manifest,
        resume: bool,
    ) -> Result<Self, Failure> {
        let opened = if resume {
            Journal::resume(folder, plan, manifest.digest)
        } else {
            let begun = Journal::begin(folder, manifest.digest);
            begun.map(|journal| (journal, vec![None; plan.groups().len()]))
        };
        let (journal, segments) = opened.map_err(|error| unusable(&error))?;
        Ok(Self { journal, segments })
    }

    /// Runs what is not yet in the journal. Nothing is given back if the user interrupts it, who is
    /// then told how to go on.
    pub(super) fn run(
        mut self,
        plan: &Plan,
        workers: NonZeroUsize,
        progress: ProgressChoice,
        terminal: &Terminal,
    ) -> Result<Option<(Outcomes, Journal)>, Failure> {
        let done = self
            .segments
            .iter()
            .flatten()
            .map(|segment| segment.rows.len());
        let done: usize = done.sum();
        if done > 0 {
            let total = plan.rollouts();
            terminal.note(&format!("{done} of {total} rollouts were finished before"));
        }
        let mut display = progress.display(terminal, plan.rollouts());
        let mut unkept: Option<FileError> = None;
        let stop = stop_on_signal();
        let ended = runner::run(
            plan,
            workers,
            self.segments,
            &stop,
            |progress, segment| match self.journal.append(segment) {
                Ok(()) => {
                    display.show(progress);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    unkept = Some(error);
                    ControlFlow::Break(())
                }
            },
        );
        display.finish();
        if let Some(error) = unkept {
            let help = "make room, then go on with the same command and `--resume`";
            let problem = Problem::new(error.to_string()).help(help);
            return Err(Failure::new(Exit::Incomplete, problem));
        }
        match ended.map_err(|error| no_thread(&error))? {
            Ended::Whole(outcomes) => Ok(Some((outcomes, self.journal))),
            Ended::Stopped(Progress { done, total }) => {
                terminal.note(&format!(
                    "interrupted: {done} of {total} rollouts are kept; the same command with \
                     `--resume` goes on"
                ));
                Ok(None)
            }
        }
    }
}

fn unusable(error: &JournalError) -> Failure {
    let help = match error {
        JournalError::File(_) => "name a folder that may be written with `--out`",
        JournalError::Unfinished { .. } => {
            "`--resume` goes on with them; remove the file to begin anew"
        }
        JournalError::OtherStudy { .. } => {
            "the study, a world, a script or the program has changed since: remove the file to begin \
             anew, or name another folder with `--out`"
        }
        JournalError::NoJournal { .. } => "move it away, or name another folder with `--out`",
    };
    Failure::new(Exit::Incomplete, Problem::new(error.to_string()).help(help))
}

fn no_thread(error: &std::io::Error) -> Failure {
    let problem = Problem::new(format!("no worker thread can be started: {error}"))
        .help("the system has none left for you: end other programs, or raise the limit");
    Failure::new(Exit::Incomplete, problem)
}

/// Becomes true when the user interrupts the program, which may then end in its own time; a second
/// interruption ends it at once. Where the system takes no handler, the first one does.
fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let handler = ctrlc::set_handler(move || {
        if told.swap(true, Ordering::Relaxed) {
            end_at_once();
        }
    });
    drop(handler);
    stop
}

#[expect(
    clippy::exit,
    reason = "the user asked for it twice, and what is finished is in the journal"
)]
fn end_at_once() -> ! {
    std::process::exit(Exit::Incomplete.code().into())
}
