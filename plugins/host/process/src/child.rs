//! One process that is talked to: a line out, a line in, and nothing that it does can block us.
//!
//! There is one thread and three pipes that never block: while a question is open, the pipes are
//! served as they become ready, until the answer is there or the time is over.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

use crate::confine;
use crate::deadline::Deadline;
use crate::program::Program;

/// How much of the standard error is kept, in bytes.
const KEPT_BYTES: usize = 8 << 10;

/// How long nothing happens before it is looked whether the process is still there.
const PATIENCE: Duration = Duration::from_millis(50);

/// How much is read at once, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Something that a process did and should not have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// What, in one sentence.
    pub(crate) message: String,
    /// Whether the process has ended, maybe before it was asked.
    pub(crate) ended: bool,
}

impl Trouble {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ended: false,
        }
    }

    fn ended(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            ended: true,
        }
    }
}

/// A running process with its folder.
pub(crate) struct Child {
    process: std::process::Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    /// What was read from the output and is no answer yet.
    received: Vec<u8>,
    /// The end of what was read from the standard error.
    kept: Vec<u8>,
    chunk: Box<[u8]>,
    line_bytes: usize,
    /// How many questions it was asked.
    asked: u64,
    /// Whether it has served another instance before.
    pub(crate) is_used: bool,
    is_ended: bool,
    /// Its working directory, gone when it is.
    _folder: TempDir,
}

impl Child {
    /// Starts a program in a folder that holds nothing but the bytes that were hashed.
    pub(crate) fn start(program: &Program) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("containment-").tempdir()?;
        for (name, bytes) in &program.files {
            let path = folder.path().join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, bytes)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o500))?;
        }
        let mut process = confine::spawn(command(program, &folder), folder.path(), program.limits)?;
        let pipes = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        );
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("a pipe is missing"));
        };
        set_nonblocking(&input)?;
        set_nonblocking(&output)?;
        set_nonblocking(&errors)?;
        Ok(Self {
            process,
            input,
            output,
            errors: Some(errors),
            received: Vec::new(),
            kept: Vec::new(),
            chunk: vec![0; CHUNK_BYTES].into(),
            line_bytes: program.limits.line_bytes,
            asked: 0,
            is_used: false,
            is_ended: false,
            _folder: folder,
        })
    }

    /// Writes `message`, whose last line is a question, and returns the line that answers it.
    pub(crate) fn ask(&mut self, message: &[u8], milliseconds: u64) -> Result<Vec<u8>, Trouble> {
        self.check_silence()?;
        let deadline = Deadline::after(milliseconds);
        let mut unsent = message;
        let mut has_ended = false;
        loop {
            if !unsent.is_empty() && !self.received.is_empty() {
                return Err(Trouble::new("wrote before it was asked"));
            }
            if let Some(line) = self.take_line()? {
                return Ok(line);
            }
            let Some(left) = deadline.left() else {
                return Err(Trouble::new(format!("no answer within {milliseconds} ms")));
            };
            let patience = if has_ended {
                Duration::ZERO
            } else {
                left.min(PATIENCE)
            };
            let ready = self.wait(!unsent.is_empty(), patience)?;
            if !ready.errors && !ready.output && !ready.input {
                // What it started can hold the pipes open after it is gone.
                if has_ended {
                    return Err(Trouble::ended("ended"));
                }
                has_ended = self.status().is_some();
            }
            if ready.errors {
                self.read_errors();
            }
            if ready.output {
                self.read_output()?;
            }
            if ready.input {
                unsent = self.write(unsent)?;
            }
        }
    }

    /// The id of its next question. No id is used twice, so that a late answer fits no later
    /// question.
    pub(crate) const fn next_id(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// Whether it has neither ended nor said anything that nobody asked for.
    pub(crate) fn check_silence(&mut self) -> Result<(), Trouble> {
        if self.received.is_empty() {
            self.read_output()?;
        }
        if self.received.is_empty() {
            return Ok(());
        }
        let surplus = String::from_utf8_lossy(&self.received);
        let surplus = crate::hear::shortened(&surplus);
        Err(Trouble::new(format!(
            "wrote what nobody asked for: {}",
            surplus.escape_debug()
        )))
    }

    /// Ends it and everything in its group; returns how it had ended, if it had by itself, and the
    /// end of its standard error.
    pub(crate) fn end(mut self, has_ended: bool) -> (Option<String>, String) {
        let status = if has_ended { self.await_end() } else { None };
        self.kill();
        // What it started may hold the pipe open and go on writing.
        for _ in 0..64 {
            if !self.read_errors() {
                break;
            }
        }
        (status, String::from_utf8_lossy(&self.kept).into_owned())
    }

    /// The status of a process that has closed its output, as soon as there is one.
    fn await_end(&self) -> Option<String> {
        let deadline = Deadline::after(200);
        while deadline.left().is_some() {
            if let Some(status) = self.status() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// How it has ended, if it has. It is not collected: as long as it is not, its id names no other
    /// process.
    fn status(&self) -> Option<String> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let found = waitid(WaitId::Pid(Pid::from_child(&self.process)), options);
        let status = found.ok().flatten()?;
        let exit = status
            .exit_status()
            .map(|code| format!("exit status {code}"));
        let signal = || status.terminating_signal().map(|by| format!("signal {by}"));
        Some(exit.or_else(signal).unwrap_or_default())
    }

    fn kill(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};

        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        // The group outlives its first process, so it is ended even if that is gone. Errors mean
        // that there is nobody left.
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The first whole line of what was received.
    fn take_line(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let end = self.received.iter().position(|&byte| byte == b'\n');
        if end.unwrap_or(self.received.len()) > self.line_bytes {
            let most = self.line_bytes;
            return Err(Trouble::new(format!("a line of more than {most} bytes")));
        }
        Ok(end.map(|end| {
            let line = self.received[..end].to_vec();
            self.received.drain(..=end);
            line
        }))
    }

    /// Waits until a pipe is ready, or for as long as `patience`.
    fn wait(&self, wants_input: bool, patience: Duration) -> Result<Ready, Trouble> {
        let mut pipes = vec![PollFd::new(&self.output, PollFlags::IN)];
        if let Some(errors) = &self.errors {
            pipes.push(PollFd::new(errors, PollFlags::IN));
        }
        if wants_input {
            pipes.push(PollFd::new(&self.input, PollFlags::OUT));
        }
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        match poll(&mut pipes, Some(&patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Trouble::new(format!("cannot wait for it: {error}"))),
        }
        let is_ready = |at: usize| pipes.get(at).is_some_and(|pipe| !pipe.revents().is_empty());
        let errors = usize::from(self.errors.is_some());
        Ok(Ready {
            output: is_ready(0),
            errors: errors == 1 && is_ready(1),
            input: wants_input && is_ready(1 + errors),
        })
    }

    fn read_output(&mut self) -> Result<(), Trouble> {
        match self.output.read(&mut self.chunk) {
            Ok(0) => Err(Trouble::ended("closed its output")),
            Ok(count) => {
                self.received.extend_from_slice(&self.chunk[..count]);
                Ok(())
            }
            Err(error) if is_for_later(&error) => Ok(()),
            Err(error) => Err(Trouble::new(format!("its output cannot be read: {error}"))),
        }
    }

    /// Reads some of the standard error; false if there is nothing now.
    fn read_errors(&mut self) -> bool {
        let Some(errors) = &mut self.errors else {
            return false;
        };
        match errors.read(&mut self.chunk) {
            Ok(count) if count > 0 => {
                self.kept.extend_from_slice(&self.chunk[..count]);
                let surplus = self.kept.len().saturating_sub(KEPT_BYTES);
                self.kept.drain(..surplus);
                true
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
            Ok(_) | Err(_) => {
                self.errors = None;
                false
            }
        }
    }

    /// Writes as much as goes in now; returns the rest.
    fn write<'a>(&mut self, unsent: &'a [u8]) -> Result<&'a [u8], Trouble> {
        match self.input.write(unsent) {
            Ok(count) => Ok(&unsent[count..]),
            Err(error) if is_for_later(&error) => Ok(unsent),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(Trouble::ended("closed its input"))
            }
            Err(error) => Err(Trouble::new(format!(
                "its input cannot be written: {error}"
            ))),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Which pipes can be served.
struct Ready {
    output: bool,
    errors: bool,
    input: bool,
}

/// The command, with nothing of our environment but the path.
fn command(program: &Program, folder: &TempDir) -> Command {
    let words = &program.command;
    let mut command = if program.brings_command() {
        Command::new(folder.path().join(&words[0]))
    } else {
        Command::new(&words[0])
    };
    command
        .args(&words[1..])
        .current_dir(folder.path())
        .env_clear()
        .env("LANG", "C")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONUNBUFFERED", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    #[expect(
        clippy::disallowed_methods,
        reason = "an interpreter is found on the path"
    )]
    let path = std::env::var_os("PATH");
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command
}

fn set_nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    Ok(rustix::fs::fcntl_setfl(
        pipe,
        flags | rustix::fs::OFlags::NONBLOCK,
    )?)
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
