//! Running a study so that nothing finished is lost, however the program ends.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use study::folder::{FileError, Folder};
use study::journal::{Journal, JournalError, Resumed, Segments};
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
    interruption: Interruption,
}

impl Keeper {
    /// Begins a journal in the folder, or goes on with the one there. From then on the program can be
    /// interrupted.
    pub(super) fn open(
        folder: &Folder,
        plan: &Plan,
        manifest: &Manifest,
        resume: bool,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let (journal, segments) = if resume {
            let resumed = Journal::resume(folder, plan, manifest.into());
            let resumed = resumed.map_err(|error| unusable(&error))?;
            tell_resumed(&resumed, plan, terminal);
            (resumed.journal, resumed.segments)
        } else {
            let begun = Journal::begin(folder, manifest.into());
            let journal = begun.map_err(|error| unusable(&error))?;
            (journal, vec![None; plan.groups().len()])
        };
        Ok(Self {
            journal,
            segments,
            interruption: Interruption::listen(),
        })
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
        let mut display = progress.display(terminal, plan.own_rollouts());
        let mut unkept: Option<FileError> = None;
        let stop = &self.interruption.asked;
        let ended = runner::run(
            plan,
            workers,
            self.segments,
            stop,
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
        self.interruption.is_over.store(true, Ordering::Relaxed);
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
            "the study, a policy, a world, a script or the program has changed since: remove the file to begin \
             anew, or name another folder with `--out`"
        }
        JournalError::OtherShard { .. } => {
            "go on with that one first, or name another folder with `--out`"
        }
        JournalError::NoJournal { .. } => "move it away, or name another folder with `--out`",
    };
    Failure::new(Exit::Incomplete, Problem::new(error.to_string()).help(help))
}

pub(crate) fn no_thread(error: &std::io::Error) -> Failure {
    let problem = Problem::new(format!("no worker thread can be started: {error}"))
        .help("the system has none left for you: end other programs, or raise the limit");
    Failure::new(Exit::Incomplete, problem)
}

/// Says how much of a study that goes on is there.
fn tell_resumed(resumed: &Resumed, plan: &Plan, terminal: &Terminal) {
    let segments = resumed.segments.iter().flatten();
    let done: usize = segments.map(|segment| segment.rows.len()).sum();
    let total = plan.own_rollouts();
    terminal.note(&format!("{done} of {total} rollouts were finished before"));
    if resumed.damaged_bytes > 0 {
        terminal.note(&format!(
            "{} bytes of the journal were half written or damaged: what they held is run again",
            resumed.damaged_bytes
        ));
    }
}

/// What the user asks for by interrupting the program: the first time that it ends when the rollouts
/// that run have ended, the second time that it ends at once. Where the system takes no handler, the
/// first time ends it.
#[derive(Clone, Default)]
struct Interruption {
    asked: Arc<AtomicBool>,
    /// Nothing is left to interrupt: the result is being written.
    is_over: Arc<AtomicBool>,
}

impl Interruption {
    fn listen() -> Self {
        let interruption = Self::default();
        let told = interruption.clone();
        let handler = ctrlc::set_handler(move || told.again());
        drop(handler);
        interruption
    }

    fn again(&self) {
        if !self.is_over.load(Ordering::Relaxed) && self.asked.swap(true, Ordering::Relaxed) {
            end_at_once();
        }
    }
}

#[expect(
    clippy::exit,
    reason = "the user asked for it twice, and what is in the journal is kept"
)]
fn end_at_once() -> ! {
    let line =
        "ended at once: what the journal has is kept; the same command with `--resume` goes on\n";
    // If nobody can read it, nobody can be told so.
    drop(std::io::stderr().write_all(line.as_bytes()));
    std::process::exit(Exit::Incomplete.code().into())
}
