//! `containment plugin`: policies of the user, looked at before they are used.

mod check;
#[cfg(feature = "cedar")]
mod schema;

use super::exit::Exit;
use super::failure::Failure;
use super::terminal::Terminal;

/// The options of `plugin`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Load policies and put them through the conformance kit
    Check(check::Args),
    /// Print the schema of a world for policies in Cedar
    #[cfg(feature = "cedar")]
    Schema(schema::Args),
}

/// Does what the command says.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check::run(args, terminal),
        #[cfg(feature = "cedar")]
        Command::Schema(args) => schema::run(args, terminal),
    }
}
