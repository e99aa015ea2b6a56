//! `containment plugin schema`: what a policy in Cedar can speak of in a world.

use std::path::PathBuf;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::scenes;
use crate::cli::terminal::Terminal;
use crate::cli::world_text::Loaded;

/// The options of `plugin schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A world file, or the name of a shipped world
    world: PathBuf,
}

/// Prints the schema in Cedar's own syntax.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let Loaded { scene, warnings } = scenes::load(&args.world)?;
    terminal.complain_all(&warnings);
    terminal.print(&cedar_host::schema(&scene.scenario.briefing))?;
    Ok(Exit::Ok)
}
