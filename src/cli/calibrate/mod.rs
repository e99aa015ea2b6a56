//! `containment calibrate`: fits the parameters of a behaviour profile to published numbers.

mod check;
mod fit;
mod inputs;
mod out;
mod report;
mod simulation;
mod targets;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::report::render::render;

use super::exit::Exit;
use super::failure::Failure;
use super::problem::Problem;
use super::reports;
use super::tables::Format;
use super::terminal::Terminal;
use fit::{Fit, Fitted};
use simulation::Simulation;
use targets::Targets;

/// The options of `calibrate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file of a behaviour profile, or the name of a shipped one
    profile: PathBuf,
    /// The file that says which published number identifies which parameter; without it, what the
    /// shipped profile of that name was fitted to
    #[arg(long, value_name = "FILE")]
    targets: Option<PathBuf>,
    /// The file of the fitted profile; without it only the report is printed
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    out: Option<PathBuf>,
    /// Fails if the profile is not what the fit gives
    #[arg(long)]
    check: bool,
    /// How the report is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Fits, writes the fitted profile, and reports.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let profile = inputs::profile(&args.profile)?;
    let source = inputs::targets(args.targets.as_deref(), &args.profile)?;
    let targets = Targets::read(source, &profile.text)?;
    if let Some(out) = &args.out {
        out::require_place(out, args.targets.as_deref())?;
    }
    let simulation = Simulation::of(&targets.study, &targets.study_seeds, interruption())?;
    let mut fit = Fit::begin(&simulation, &profile.text, &targets)?;
    let mut fitted = Vec::new();
    for sweep in 0..targets.sweeps {
        fitted.clear();
        for parameter in &targets.parameters {
            let one = fit.parameter(parameter, sweep)?;
            terminal.note(&told(sweep, &one));
            fitted.push(one);
        }
    }
    fit.finish(&mut fitted, &targets)?;
    // Before the report: a reader that goes away takes no profile with it. If it cannot be written, the
    // report still says what was found.
    let written = match &args.out {
        Some(out) => reports::write_whole(out, fit.text()),
        None => Ok(()),
    };
    let report = report::report(&fitted, &targets);
    terminal.print(&render(&[report], args.format.written()))?;
    written?;
    if args.check {
        require_same(&fitted, &profile)?;
    }
    Ok(Exit::Ok)
}

/// One step of the fit, in a line.
fn told(sweep: u32, one: &Fitted) -> String {
    let moments = one.moments.iter();
    let moments = moments.map(|moment| format!("{} = {:.4}", moment.cell.id, moment.simulated));
    let moments: Vec<String> = moments.collect();
    let value = fit::decimal(one.value);
    format!(
        "sweep {}: {} = {value} gives {}",
        sweep + 1,
        one.parameter.at,
        moments.join(", ")
    )
}

/// Fails if the profile does not say what the fit gives.
fn require_same(fitted: &[Fitted], profile: &targets::Source) -> Result<(), Failure> {
    let differences = fitted.iter().filter_map(|one| {
        let at = &one.parameter.at;
        let says = fit::value_at(&profile.text, at);
        let [says, gives] = [says, one.value].map(fit::decimal);
        (says != gives).then(|| format!("`{at}` is {says} and the fit gives {gives}"))
    });
    let differences: Vec<String> = differences.collect();
    if differences.is_empty() {
        return Ok(());
    }
    let message = format!(
        "`{}` is not what the fit gives: {}",
        profile.origin,
        differences.join(", ")
    );
    let help = "fit it again with `--out`, and say in the change log why it moved";
    let problem = Problem::new(message).help(help);
    Err(Failure::new(Exit::NotDeterministic, problem))
}

/// Is set when the user interrupts the program: the fit then ends with the rollouts that run. The second
/// time it ends at once. Where the system takes no handler, the first time ends it.
fn interruption() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&asked);
    let handler = ctrlc::set_handler(move || {
        if told.swap(true, Ordering::Relaxed) {
            end_at_once();
        }
    });
    drop(handler);
    asked
}

#[expect(
    clippy::exit,
    reason = "the user asked for it twice, and nothing half written is left"
)]
fn end_at_once() -> ! {
    // If nobody can read it, nobody can be told so.
    drop(std::io::stderr().write_all(b"ended at once: no profile was written\n"));
    std::process::exit(Exit::Incomplete.code().into())
}
