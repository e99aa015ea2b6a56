//! `containment run`: one rollout, one row.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, PolicyArgs, SettingArgs};
use super::terminal::Terminal;
use super::{adversaries, files, policies, rows, traces};

/// How the row is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each column: its name and its value
    Text,
    /// One line of JSON
    #[default]
    Json,
}

/// The options of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A world file, or the name of a shipped world
    world: PathBuf,
    #[command(flatten)]
    policy: PolicyArgs,
    /// A policy to be evaluated beside it and never enforced; the row says what it would have ruled
    #[arg(long, value_name = "POLICY")]
    shadow: Option<String>,
    #[command(flatten)]
    setting: SettingArgs,
    /// Who fills the untrusted slots of the world before the rollout: a name that `containment list
    /// attackers` shows, or process:FILE
    #[arg(long, value_name = "ATTACKER")]
    attacker: Option<String>,
    /// Who reads the trace afterwards: a name that `containment list auditors` shows, or process:FILE;
    /// what is found goes to standard error
    #[arg(long, value_name = "AUDITOR")]
    auditor: Option<String>,
    /// Write the trace to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Show argument values and contents in the trace
    #[arg(long, requires = "trace")]
    reveal: bool,
    /// Write what the model says to this file, to be played with --recording
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How the row is printed
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
}

/// Runs the rollout, writes the trace and prints the row.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.record.is_some() && args.record == args.trace {
        let help = "name two files".to_owned();
        let message = "--record and --trace name the same file";
        return Err(Failure::usage(message, Some(help)));
    }
    let mut case = Case::load(&args.world, &args.setting, terminal)?;
    let policy = args.policy.choice(&mut case)?;
    if let Some(shadow) = &args.shadow {
        case.shadow = Some(case.choice(shadow, BTreeMap::new())?);
    }
    if let Some(attacker) = &args.attacker {
        adversaries::attack(&mut case, attacker, terminal)?;
    }
    let (mut rollout, hashes, tape) = match &args.record {
        Some(path) => {
            let (rollout, hashes, tape) = case.start_recorded(&policy)?;
            (rollout, hashes, Some((tape, path)))
        }
        None => {
            let (rollout, hashes) = case.start(&policy)?;
            (rollout, hashes, None)
        }
    };
    rollout.run();
    if let Some((tape, path)) = tape {
        tape.write(path)?;
    }
    if let Some(path) = &args.trace {
        let text = traces::jsonl(&case, &policy, hashes, &rollout, args.reveal);
        files::write(path, text.as_bytes())?;
    }
    let row = rows::row(&case, &policy, hashes, &mut rollout, None);
    let text = match args.format {
        Format::Text => rows::text(&row),
        Format::Json => row.to_json(),
    };
    terminal.print(&text)?;
    policies::tell_faults(&case.outside, terminal);
    if let Some(auditor) = &args.auditor {
        adversaries::audit(&case, auditor, &rollout, terminal)?;
    }
    rows::require_numbers(&case, &policy, &row)?;
    Ok(Exit::Ok)
}
