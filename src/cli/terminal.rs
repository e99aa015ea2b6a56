//! Where output goes: results to standard output, everything else to standard error.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::failure::Failure;
use super::problem::{Complaint, ErrorFormat};
use super::shown::escaped;

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

impl OutputArgs {
    /// What is asked for by a command line that is wrong elsewhere.
    pub(crate) fn in_words(words: &[OsString]) -> Self {
        Self {
            error_format: value_of("--error-format", words).unwrap_or_default(),
            color: value_of("--color", words).unwrap_or_default(),
        }
    }
}

/// The value of an option, if it is there with one that it takes.
fn value_of<V: ValueEnum>(option: &str, words: &[OsString]) -> Option<V> {
    let mut words = words.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(option) {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(|value| value.to_owned().into()),
            None => None,
        };
        if let Some(value) = value {
            return V::from_str(&value, false).ok();
        }
    }
    None
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

    /// How problems are told.
    pub(crate) const fn format(&self) -> ErrorFormat {
        self.format
    }

    /// Writes a result, with a line break after it unless it has one. Names and contents in it are
    /// anybody's: nothing of them is obeyed by a terminal.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let text = escaped(text);
        let mut out = self.out.lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// Writes a long result as one JSON document, part by part.
    pub(crate) fn print_json(&self, document: &impl Serialize) -> Result<(), Failure> {
        let mut out = Harmless(BufWriter::new(self.out.lock()));
        serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
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
        drop(writeln!(self.err.lock(), "{}", escaped(line)));
    }

    /// Tells a complaint. Colours are control characters: one that has others in it has no colours.
    pub(crate) fn complain(&self, complaint: &Complaint) {
        let plain = complaint.render(self.format, false);
        if self.color && escaped(&plain) == plain {
            let drawn = complaint.render(self.format, true);
            drop(writeln!(self.err.lock(), "{drawn}"));
        } else {
            self.note(&plain);
        }
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

/// Escapes what is written to it; every part must be whole characters.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(part).map_err(io::Error::other)?;
        self.0.write_all(escaped(text).as_bytes())?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
