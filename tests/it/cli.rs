//! The program `containment`, run as a user runs it.

mod calibrate;
mod cases;
mod claims;
mod corpora;
mod differences;
mod families;
mod figures;
mod files;
mod help;
mod limits;
mod messages;
mod outside;
mod readme;
mod recordings;
mod records;
mod rollouts;
mod scorecard;
mod sessions;
mod shards;
mod streams;
mod studies;
mod tables;
mod verify;
mod why;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// No command of these tests may take longer, on however busy a machine.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A folder in which commands are run; nothing of the project lies in it.
struct Place(TempDir);

/// What a command did.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Place {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder for the test"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file of the test");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file that the command wrote")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_containment"));
        command
            .args(words)
            .current_dir(&self.0)
            .stdin(Stdio::null());
        command
    }

    /// Runs the program with these words.
    fn run(&self, words: &[&str]) -> Done {
        finished(&mut self.command(words), words)
    }

    /// Runs the program with this text on standard input.
    fn run_with_input(&self, words: &[&str], input: &str) -> Done {
        let mut command = self.command(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        // A program that does not read its input is no reason to fail here.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        child.wait_with_output().expect("the program ends").into()
    }

    /// A shipped world and its script, copied here under the same name.
    fn copy_world(&self, folder: &str, name: &str) {
        for ending in ["ron", "script.ron"] {
            let file = format!("{name}.{ending}");
            let path = crate::support::root()
                .join("worlds")
                .join(folder)
                .join(&file);
            std::fs::copy(path, self.path(&file)).expect("a shipped world");
        }
    }
}

/// Runs a command to its end; fails if it takes too long.
fn finished(command: &mut Command, words: &[&str]) -> Done {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver
        .recv_timeout(LONGEST_WAIT)
        .unwrap_or_else(|_| panic!("`containment {}` does not end", words.join(" ")));
    output.expect("the program ends").into()
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is text");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Done {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The exit code is `code`, and standard error holds each of these.
    #[track_caller]
    fn fails(self, code: i32, says: &[&str]) -> Self {
        let done = self.expect(code);
        for wanted in says {
            assert!(done.err.contains(wanted), "no `{wanted}` in {}", done.err);
        }
        done
    }

    /// Standard output, which is one JSON document.
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// A path as a word of a command line.
fn word(path: &Path) -> &str {
    path.to_str().expect("a path of the test is text")
}
