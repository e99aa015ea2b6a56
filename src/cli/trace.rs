//! `containment trace`: the trace of one rollout, as JSON Lines or as a graph.

use std::path::{Path, PathBuf};

use containment_bench::Choice;
use engine::export::dot;
use study::folder::MANIFEST;

use super::exit::Exit;
use super::failure::Failure;
use super::library::{Library, case_of_row, chosen};
use super::options::{Case, SettingArgs, parameter};
use super::policies;
use super::records::{self, Record};
use super::rows;
use super::terminal::Terminal;
use super::traces;

/// The options that a row answers; beside one they would say nothing.
const SAID_BY_ROW: [&str; 9] = [
    "policy",
    "set",
    "model",
    "recording",
    "seed",
    "study_seed",
    "stratum",
    "instrumentation",
    "user",
];

/// How a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// JSON Lines: a header, then one line for each event
    #[default]
    Jsonl,
    /// The graph in the language of Graphviz: labelled nodes filled, taint edges bold
    Dot,
}

/// The options of `trace`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A world file, the name of a shipped world, or with --id a folder written by `study`
    #[arg(value_name = "WORLD_OR_DIR")]
    world: PathBuf,
    /// A row of the folder, by the beginning of its `rollout_id`
    #[arg(long, value_name = "ID", conflicts_with_all = SAID_BY_ROW)]
    id: Option<String>,
    /// The policy, as `containment run --policy` takes it
    #[arg(long, value_name = "POLICY", default_value = "none")]
    policy: String,
    /// A parameter of the policy; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parameter)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    setting: SettingArgs,
    /// Also runs a policy that is a process, which the row names; only of people whom you trust
    #[arg(long, requires = "id")]
    processes: bool,
    /// How the trace is written
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Show argument values and contents
    #[arg(long)]
    reveal: bool,
}

/// Runs the rollout and prints its trace.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let (case, policy) = match &args.id {
        Some(id) => of_row(&args.world, id, args.processes)?,
        None => described(args, terminal)?,
    };
    let (mut rollout, hashes) = case.start(&policy)?;
    rollout.run();
    let text = match args.format {
        Format::Jsonl => traces::jsonl(&case, &policy, hashes, &rollout, args.reveal),
        Format::Dot => dot::write(rollout.scenario(), rollout.trace(), rollout.labels()),
    };
    terminal.print(&text)?;
    policies::tell_faults(&case.outside, terminal);
    rows::require_backend(&case, &policy, &rollout)?;
    Ok(Exit::Ok)
}

/// The rollout that the options describe.
fn described(args: &Args, terminal: &Terminal) -> Result<(Case, Choice), Failure> {
    if args.world.join(MANIFEST).is_file() {
        let help = "add --id with the beginning of a `rollout_id` of its rows.csv";
        return Err(Failure::usage(
            "a result has many traces",
            Some(help.to_owned()),
        ));
    }
    let mut case = Case::load(&args.world, &args.setting, terminal)?;
    let policy = case.choice(&args.policy, args.set.iter().cloned().collect())?;
    Ok((case, policy))
}

/// The rollout of a row of a result.
fn of_row(folder: &Path, id: &str, processes: bool) -> Result<(Case, Choice), Failure> {
    let Record::Results(results) = records::read_any(folder)? else {
        let help = "leave --id out, or name a folder written by `study`";
        return Err(Failure::usage("a trace has no rows", Some(help.to_owned())));
    };
    let rows = chosen(&results.rows, Some(id))?;
    let row = rows.first().expect("exactly one row is chosen by an id");
    let library = Library::of(&results.manifest.circumstances, folder, &[]);
    case_of_row(row, &mut library.with_processes(processes))
}
