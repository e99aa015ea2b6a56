//! `containment step`: one rollout, step by step, forwards and backwards.

mod checkpoints;
mod command;
mod labels;
mod session;
mod taint;
mod undecided;
mod why;

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

use engine::Snapshot;
use engine::error::RestoreError;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::options::{Case, PolicyArgs, SettingArgs};
use super::problem::Problem;
use super::terminal::Terminal;
use command::Command;
use session::{Flow, Session};

/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 4096;
/// Bytes of the largest snapshot that is read.
const MAX_SNAPSHOT_BYTES: u64 = 64 << 20;

/// What `--help` says of the columns.
const COLUMNS: &str = "\
A step is an event of the agenda; an event, in `w` and in other commands, is one of the trace. Most
steps leave one event or several in the trace, some none.

Columns, one line for each step:
step     its number, from 1
tick     when, in ticks of virtual time
phase    the phase of the tick: deliver, observe, decide, parse, authorize, commit, remember, record
agent    whose step it is; `-` for the system's own
what     the event of the agenda
details  what it did, in the order in which it happened";

/// What `--help` says of commands and columns.
fn help() -> String {
    let commands = "Commands, one a line on standard input or separated by `;` in --script:";
    format!("{commands}\n{}\n\n{COLUMNS}", command::HELP)
}

/// The options of `step`.
#[derive(Debug, clap::Args)]
#[command(after_help = help())]
pub(crate) struct Args {
    /// A world file, or the name of a shipped world
    world: PathBuf,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    setting: SettingArgs,
    /// Do these commands and stop, for example `n;n;t;w`
    #[arg(long, value_name = "COMMANDS")]
    script: Option<String>,
    /// Begin at the snapshot in this file, which `s FILE` wrote of the same rollout
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

/// Steps through a rollout as the commands say.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let script = args.script.as_deref().map(parse_script).transpose()?;
    let mut case = Case::load(&args.world, &args.setting, terminal)?;
    let policy = args.policy.choice(&mut case)?;
    let mut session = Session::new(&case, &policy, terminal)?;
    if let Some(path) = &args.from {
        let snapshot = read_snapshot(path)?;
        if !session.go_to(&snapshot) {
            return Err(foreign_snapshot(path, &snapshot).into());
        }
    }
    session.header()?;
    let Some(commands) = script else {
        return interactive(&mut session, terminal);
    };
    for command in &commands {
        if session.obey(command)? == Flow::Quit {
            break;
        }
    }
    Ok(Exit::Ok)
}

fn read_snapshot(path: &Path) -> Result<Snapshot, Failure> {
    let bytes = files::bytes(path, MAX_SNAPSHOT_BYTES)?;
    Snapshot::from_bytes(&bytes).map_err(|error| {
        let exit = match error {
            RestoreError::Version { .. } => Exit::UnsupportedVersion,
            _ => Exit::Invalid,
        };
        let problem = Problem::new(error.to_string())
            .code(Code::WrongFile)
            .file(files::shown(path))
            .help("give a file that the command `s FILE` of `step` wrote");
        Failure::new(exit, problem)
    })
}

fn foreign_snapshot(path: &Path, snapshot: &Snapshot) -> Problem {
    let steps = snapshot.executed_events();
    Problem::new(format!(
        "the snapshot is of another rollout: after {steps} steps this one is in another state"
    ))
    .code(Code::WrongFile)
    .file(files::shown(path))
    .help("give the world, policy, parameters, seeds and settings with which it was taken")
}

fn parse_script(script: &str) -> Result<Vec<Command>, Failure> {
    let mut commands = Vec::new();
    for text in script.split([';', '\n']) {
        commands.extend(Command::parse(text).map_err(wrong_command)?);
    }
    Ok(commands)
}

fn wrong_command(message: String) -> Failure {
    let names = command::HELP
        .lines()
        .filter_map(|line| line.split_once(' '));
    let names = names.map(|(name, _)| name).filter(|name| !name.is_empty());
    let names: Vec<&str> = names.collect();
    Failure::usage(
        message,
        Some(format!("the commands are {}", names.join(", "))),
    )
}

/// Does the commands on standard input, with a prompt if somebody is there to see it. A command that
/// fails is told and does not end the session. If nobody is there to see that, the first failure
/// decides the exit code.
fn interactive(session: &mut Session<'_>, terminal: &Terminal) -> Result<Exit, Failure> {
    let has_prompt = io::stdin().is_terminal() && io::stdout().is_terminal();
    if has_prompt {
        terminal.print("n next step, t tick, r run, l labels, w why, b back, ? help, q quit")?;
    }
    let mut first_failure = None;
    let mut input = io::stdin().lock();
    loop {
        if has_prompt {
            terminal.prompt("> ")?;
        }
        let Some(line) = read_line(&mut input)? else {
            break;
        };
        match obey_line(session, &line) {
            Ok(Flow::Continue) => {}
            Ok(Flow::Quit) => break,
            Err(failure) if failure.complaints.is_empty() => return Err(failure),
            Err(failure) => {
                terminal.fail(&failure);
                first_failure.get_or_insert(failure.exit);
            }
        }
    }
    Ok(first_failure.filter(|_| !has_prompt).unwrap_or(Exit::Ok))
}

/// The next line; none at the end.
fn read_line(input: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    let read = input.take(LONGEST_LINE).read_until(b'\n', &mut line);
    read.map_err(|error| unreadable(&error.to_string()))?;
    if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
        return Err(unreadable(&format!(
            "a line has more than {LONGEST_LINE} bytes"
        )));
    }
    Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
}

fn obey_line(session: &mut Session<'_>, line: &str) -> Result<Flow, Failure> {
    match Command::parse(line).map_err(wrong_command)? {
        None => Ok(Flow::Continue),
        Some(command) => session.obey(&command),
    }
}

fn unreadable(why: &str) -> Failure {
    let problem = Problem::new(format!("standard input cannot be read: {why}"));
    problem.code(Code::Unreadable).into()
}
