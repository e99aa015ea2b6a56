//! `containment verify`: whether a result is what it says it is, from its folder alone (Appendix L and
//! 3.7 of the paper). Every check goes on after a failure, as far as what is left can be read.

mod again;
mod chain;
mod check;
mod content;
mod derived;
mod found;
mod marks;
mod numbers;
mod redrawn;
mod rows;
mod scenes;
mod traces;

use std::path::{Path, PathBuf};

use serde_json::json;
use study::folder::{JOURNAL, MANIFEST, ROWS, SCENARIOS};

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::problem::Problem;
use super::records;
use super::terminal::Terminal;
use again::Wanted;
use check::Check;
use found::Found;
use redrawn::Redrawn;
use scenes::Worlds;

/// The version of the JSON that is printed.
const SCHEMA: u32 = 1;

/// How the checks are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each check, and one for each problem below it
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// The options of `verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a result, written by `study` or `merge`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How the checks are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Runs only so many rollouts again, spread evenly over the rows, and so many traces. Without it all
    /// rollouts are, if the study is inside the program or where it was, else 8; and 8 traces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=250_000))]
    replay: Option<u32>,
    /// Leaves out what takes long: rollouts and traces run again, and tables and the scorecard made
    /// again
    #[arg(long)]
    fast: bool,
    /// Where a world is, if it is neither where it was nor shipped; may be given several times
    #[arg(long = "world", value_name = "WORLD")]
    worlds: Vec<PathBuf>,
    /// Also runs policies that are processes, which the record names; only of people whom you trust
    #[arg(long)]
    processes: bool,
}

/// Makes every check and prints what each has found.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    require_finished(&args.folder)?;
    let found = Found::read(&args.folder);
    if let Some(manifest) = &found.manifest {
        records::require_whole(manifest, &args.folder)?;
    }
    let checks = checks(&found, args, terminal);
    print(&checks, args.format, terminal)?;
    Ok(if checks.iter().any(|check| check.is_other_version) {
        Exit::UnsupportedVersion
    } else if checks.iter().any(Check::has_failed) {
        Exit::Threshold
    } else {
        Exit::Ok
    })
}

/// How many rollouts and traces are run again if nothing is said, where a whole study cannot be.
const USUAL_SAMPLE: usize = 8;

/// How many checks come before the replay: those of manifest, rows and scenarios.
const REPLAY: usize = 5;

fn checks(found: &Found, args: &Args, terminal: &Terminal) -> Vec<Check> {
    let mut worlds = Worlds::of(found, &args.folder, &args.worlds, args.processes);
    let wanted = match (args.fast, args.replay) {
        (true, _) => Wanted::Some(0),
        (false, Some(count)) => Wanted::Some(count as usize),
        (false, None) => Wanted::AllOr(USUAL_SAMPLE),
    };
    let (Wanted::Some(traces) | Wanted::AllOr(traces)) = wanted;
    let mut checks = vec![
        found.check.clone(),
        chain::files(found),
        chain::identities(found),
        rows::check(found),
        numbers::check(found),
        again::check(found, &mut worlds, wanted),
    ];
    // Nothing is made of rows that are not those of a study.
    let is_whole = !checks[..REPLAY].iter().any(Check::has_failed);
    let results = found.results().filter(|_| is_whole);
    let redrawn = Redrawn::of(found, results.as_ref(), &args.worlds, terminal);
    checks.extend(content::checks(found, &worlds, &redrawn.same));
    checks.push(traces::check(found, &mut worlds, traces, &redrawn.same));
    let results = match &results {
        Some(_) if args.fast => Err("`--fast` leaves them out"),
        Some(results) => Ok(results),
        None => Err("what fails above comes first"),
    };
    checks.push(derived::check(found, redrawn, results, terminal));
    checks
}

/// Fails if there is no result in the folder, or one that is still being made.
fn require_finished(folder: &Path) -> Result<(), Failure> {
    let name = files::shown(folder);
    if folder.join(JOURNAL).exists() {
        let message = format!("`{name}` holds a study or shard that is not finished");
        let help = "go on with it first: the same `study` command with `--resume`";
        let problem = Problem::new(message).file(name).help(help);
        return Err(Failure::new(Exit::Incomplete, problem));
    }
    let is_there = |file: &&str| folder.join(file).exists();
    if [MANIFEST, ROWS, SCENARIOS].iter().any(is_there) {
        return Ok(());
    }
    let problem = Problem::new(format!("`{name}` is no result"))
        .code(super::codes::Code::WrongFile)
        .file(name)
        .help("name a folder that `containment study` or `containment merge` wrote");
    Err(problem.into())
}

fn print(checks: &[Check], format: Format, terminal: &Terminal) -> Result<(), Failure> {
    let failed = checks.iter().filter(|check| check.has_failed()).count();
    match format {
        Format::Json => terminal.print_json(&json!({
            "schema": SCHEMA,
            "ok": failed == 0,
            "checks": checks.iter().map(Check::json).collect::<Vec<_>>(),
        })),
        Format::Text => {
            let mut text: String = checks.iter().map(Check::text).collect();
            let skipped = checks.iter().filter(|check| check.is_skipped()).count();
            let held = checks.len() - failed - skipped;
            text += &format!("{held} ok, {failed} failed, {skipped} not checked\n");
            terminal.print(&text)
        }
    }
}
