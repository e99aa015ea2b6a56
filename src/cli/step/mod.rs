//! `containment step`: one rollout, step by step, forwards and backwards.

mod command;
mod labels;
mod session;
mod taint;
mod undecided;
mod why;

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::PathBuf;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, PolicyArgs, SettingArgs};
use super::problem::Problem;
use super::terminal::Terminal;
use command::Command;
use session::{Flow, Session};

/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 4096;

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
}

/// Steps through a rollout as the commands say.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let script = args.script.as_deref().map(parse_script).transpose()?;
    let case = Case::load(&args.world, &args.setting, terminal)?;
    let mut session = Session::new(&case, &args.policy.choice(), terminal)?;
    session.header()?;
    match script {
        None => interactive(&mut session, terminal)?,
        Some(commands) => {
            for command in &commands {
                if session.obey(command)? == Flow::Quit {
                    break;
                }
            }
        }
    }
    Ok(Exit::Ok)
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

/// Reads commands from standard input, with a prompt if somebody is there to see it. A wrong
/// command is told and does not end the session.
fn interactive(session: &mut Session<'_>, terminal: &Terminal) -> Result<(), Failure> {
    let has_prompt = io::stdin().is_terminal() && io::stdout().is_terminal();
    if has_prompt {
        terminal.print("n next step, t tick, r run, l labels, w why, b back, ? help, q quit")?;
    }
    let mut input = io::stdin().lock();
    loop {
        if has_prompt {
            terminal.prompt("> ")?;
        }
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        let read = read.map_err(|error| unreadable(&error.to_string()))?;
        if read == 0 {
            return Ok(());
        }
        if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            return Err(unreadable(&format!(
                "a line has more than {LONGEST_LINE} bytes"
            )));
        }
        match Command::parse(&String::from_utf8_lossy(&line)) {
            Ok(None) => {}
            Ok(Some(command)) => match session.obey(&command) {
                Ok(Flow::Continue) => {}
                Ok(Flow::Quit) => return Ok(()),
                Err(failure) if failure.complaints.is_empty() => return Err(failure),
                Err(failure) => terminal.fail(&failure),
            },
            Err(message) => terminal.fail(&wrong_command(message)),
        }
    }
}

fn unreadable(why: &str) -> Failure {
    let problem = Problem::new(format!("standard input cannot be read: {why}"));
    problem.code(Code::Unreadable).into()
}
