//! Why a command could not do what it was asked.

use std::io;

use study::plan::problem::StudyReport;
use worlds::diagnostic::Report;

use super::exit::Exit;
use super::problem::{Complaint, Problem};

/// A command that failed: its exit code, what to tell the user, and a command that shows it again.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// What to tell; nothing if the reader of standard output went away.
    pub(crate) complaints: Vec<Complaint>,
    /// A command line that reproduces a failed rollout.
    pub(crate) reproduce: Option<String>,
}

impl Failure {
    /// A failure of one kind with one complaint.
    pub(crate) fn new(exit: Exit, complaint: impl Into<Complaint>) -> Self {
        Self {
            exit,
            complaints: vec![complaint.into()],
            reproduce: None,
        }
    }

    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>, help: Option<String>) -> Self {
        Self::new(Exit::Usage, Problem::new(message).maybe_help(help))
    }

    /// What is wrong, in one line; only the first of several problems.
    pub(crate) fn message(&self) -> String {
        let first = self.complaints.iter().flat_map(Complaint::json).next();
        let message = first.map(|first| first["message"].as_str().unwrap_or_default().to_owned());
        message.unwrap_or_default()
    }

    /// With what was being done, and what would mend it, as a complaint of its own.
    pub(crate) fn explained(mut self, when: &str, help: &str) -> Self {
        self.complaints.push(Problem::new(when).help(help).into());
        self
    }

    /// With a command that reproduces it.
    pub(crate) fn reproduced_by(mut self, command: String) -> Self {
        self.reproduce = Some(command);
        self
    }
}

impl From<Problem> for Failure {
    /// A problem with a file.
    fn from(problem: Problem) -> Self {
        Self::new(Exit::Invalid, problem)
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        let exit = if report.is_unsupported_version() {
            Exit::UnsupportedVersion
        } else {
            Exit::Invalid
        };
        Self::new(exit, report)
    }
}

impl From<StudyReport> for Failure {
    fn from(report: StudyReport) -> Self {
        let exit = if report.is_unsupported_version() {
            Exit::UnsupportedVersion
        } else {
            Exit::Invalid
        };
        Self::new(exit, report)
    }
}

impl From<io::Error> for Failure {
    /// Standard output failed. A reader that went away has seen enough: no complaint.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                exit: Exit::Ok,
                complaints: Vec::new(),
                reproduce: None,
            };
        }
        let message = format!("standard output cannot be written: {error}");
        Self::new(Exit::Incomplete, Problem::new(message))
    }
}
