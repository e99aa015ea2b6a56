//! What is said instead of a command: help, the version, and what is wrong with a command line.

use std::ffi::OsString;
use std::io::{self, Write};

use super::exit::Exit;
use super::failure::Failure;
use super::problem::ErrorFormat;
use super::shown::{escaped, shortened};
use super::terminal::Terminal;

/// Tells what the reader of the command line said of these words.
pub(crate) fn tell(
    said: &clap::Error,
    words: &[OsString],
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    if !said.use_stderr() {
        said.print()?;
        io::stdout().flush()?;
        return Ok(Exit::Ok);
    }
    if terminal.format() != ErrorFormat::Human {
        return Err(failure(said));
    }
    if words
        .iter()
        .all(|word| is_harmless(&word.to_string_lossy()))
    {
        // It draws itself in colour. If nobody can read it, nobody can be told so.
        drop(said.print());
    } else {
        let text = said.render().to_string();
        let lines: Vec<_> = text.lines().map(shortened).collect();
        terminal.note(&lines.join("\n"));
    }
    Ok(Exit::Usage)
}

/// Whether a word may be told as it is.
fn is_harmless(word: &str) -> bool {
    shortened(word) == word && escaped(word) == word
}

/// A wrong command line as a problem like any other.
fn failure(said: &clap::Error) -> Failure {
    let text = said.render().to_string();
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        words.join(" ")
    });
    let mut paragraphs = paragraphs.filter(|paragraph| !paragraph.is_empty());
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let help: Vec<String> = paragraphs.collect();
    let help = (!help.is_empty()).then(|| help.join("; "));
    Failure::usage(message, help)
}
