//! `containment trace`: the trace of one rollout, as JSON Lines or as a graph.

use std::path::PathBuf;

use containment_bench::Choice;
use engine::export::dot;

use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, SettingArgs, parameter};
use super::terminal::Terminal;
use super::traces;

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
    /// A world file, or the name of a shipped world
    world: PathBuf,
    /// The policy; `containment list policies` names them
    #[arg(long, value_name = "POLICY", default_value = "none")]
    policy: String,
    /// A parameter of the policy; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parameter)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    setting: SettingArgs,
    /// How the trace is written
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Show argument values and contents
    #[arg(long)]
    reveal: bool,
}

/// Runs the rollout and prints its trace.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let case = Case::load(&args.world, &args.setting)?;
    let policy = Choice {
        name: args.policy.clone(),
        parameters: args.set.iter().cloned().collect(),
    };
    let (mut rollout, hashes) = case.start(&policy)?;
    rollout.run();
    let text = match args.format {
        Format::Jsonl => traces::jsonl(&case, &policy, hashes, &rollout, args.reveal),
        Format::Dot => dot::write(rollout.scenario(), rollout.trace(), rollout.labels()),
    };
    terminal.print(&text)?;
    Ok(Exit::Ok)
}
