//! Where output goes: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use super::failure::Failure;
use super::problem::{Complaint, ErrorFormat};

/// When to use colour on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How output looks; the same for every command.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct OutputArgs {
    /// How problems are told on standard error
    #[arg(
        long,
        value_enum,
        default_value = "human",
        global = true,
        help_heading = "Output"
    )]
    error_format: ErrorFormat,
    /// When to use colour on standard error
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        global = true,
        help_heading = "Output"
    )]
    color: ColorChoice,
}

/// The two streams of the program.
#[derive(Debug)]
pub(crate) struct Terminal {
    out: io::Stdout,
    err: io::Stderr,
    format: ErrorFormat,
    color: bool,
}

impl Terminal {
    /// Streams that look as asked.
    pub(crate) fn new(args: OutputArgs) -> Self {
        let err = io::stderr();
        let color = match args.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => err.is_terminal() && !no_color(),
        };
        Self {
            out: io::stdout(),
            err,
            format: args.error_format,
            color,
        }
    }

    /// Writes a result, with a line break after it unless it has one.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = self.out.lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// Writes a prompt, without a line break.
    pub(crate) fn prompt(&self, text: &str) -> Result<(), Failure> {
        let mut out = self.out.lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Writes a line to standard error. If nobody can read it, nobody can be told so.
    pub(crate) fn note(&self, line: &str) {
        drop(writeln!(self.err.lock(), "{line}"));
    }

    /// Tells a complaint.
    pub(crate) fn complain(&self, complaint: &Complaint) {
        self.note(&complaint.render(self.format, self.color));
    }

    /// Tells every complaint.
    pub(crate) fn complain_all(&self, complaints: &[Complaint]) {
        for complaint in complaints {
            self.complain(complaint);
        }
    }

    /// Tells why a command failed, and what reproduces it.
    pub(crate) fn fail(&self, failure: &Failure) {
        self.complain_all(&failure.complaints);
        if let Some(command) = &failure.reproduce {
            self.note(&format!("reproduce: {command}"));
        }
    }
}

/// Whether the user asked every program for no colour (no-color.org).
#[expect(
    clippy::disallowed_methods,
    reason = "a convention of terminals that changes the look of messages and no result"
)]
fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
