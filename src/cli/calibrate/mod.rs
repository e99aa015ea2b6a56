//! `containment calibrate`: fits the parameters of a behaviour profile to published numbers.

mod fit;
mod simulation;
mod targets;

use std::path::PathBuf;

use report::published::{self, Class};
use report::render::render;
use report::table::{Cell, Table};
use serde_json::json;

use super::exit::Exit;
use super::failure::Failure;
use super::files::{self, MAX_SOURCE_BYTES};
use super::problem::Problem;
use super::profiles;
use super::reports;
use super::tables::Format;
use super::terminal::Terminal;
use fit::{Fit, Fitted, Moment};
use simulation::Simulation;
use targets::Targets;

/// The options of `calibrate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file of a behaviour profile
    profile: PathBuf,
    /// The file that says which published number identifies which parameter
    #[arg(long, value_name = "FILE")]
    targets: PathBuf,
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

/// Fits, reports, and writes the fitted profile.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let profile = files::text(&args.profile, MAX_SOURCE_BYTES)?;
    profiles::parse(&files::shown(&args.profile), &profile)?;
    let targets = Targets::load(&args.targets, &profile)?;
    let simulation = Simulation::of(&targets.study, &targets.study_seeds)?;
    let mut fit = Fit::begin(&simulation, &profile, &targets);
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
    terminal.print(&render(&[report(&fitted, &targets)], args.format.written()))?;
    if let Some(out) = &args.out {
        reports::write_whole(out, fit.text())?;
    }
    if args.check && fit.text() != profile {
        let message = format!(
            "`{}` is not what the fit gives",
            files::shown(&args.profile)
        );
        let help = "fit it again with `--out`, and say in the change log why it moved";
        return Err(Failure::new(
            Exit::NotDeterministic,
            Problem::new(message).help(help),
        ));
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
        one.at,
        moments.join(", ")
    )
}

/// What was fitted, to what, and how surely.
fn report(fitted: &[Fitted], targets: &Targets) -> Table {
    let mut table = Table::new(
        "calibration",
        "Fitted parameters",
        &[
            "Parameter",
            "Value",
            "Identified by",
            "Published",
            "Simulated",
            "Difference",
            "Sensitivity",
            "Remark",
        ],
    );
    for one in fitted {
        for moment in &one.moments {
            let Moment {
                cell,
                simulated,
                sensitivity,
            } = moment;
            table.row([
                Cell::text(one.at.clone()),
                Cell::number(Some(f64::from(one.value) / 1e6), 4),
                Cell::text(cell.id.clone()),
                Cell::number(Some(cell.value), cell.decimals),
                Cell::number(Some(*simulated), cell.decimals),
                Cell::number(Some(simulated - cell.value), cell.decimals),
                Cell::number(Some(*sensitivity), 3),
                Cell::text(if one.at_a_bound { "at a bound" } else { "" }),
            ]);
        }
    }
    let cells = published::cells();
    let of = |class: Class| cells.iter().filter(|cell| cell.class == class).count();
    table.note(format!(
        "Numbers are means over the study seeds {}. Sensitivity: how much the number moves if the parameter \
         moves by 1, from the slope about the value.",
        json!(targets.study_seeds),
    ));
    table.note(format!(
        "{} free parameters. Of the published numbers {} are targets, {} are the same quantities again, {} are \
         held out, {} follow from the logic of policies and {} are counts.",
        fitted.len(),
        of(Class::Target),
        of(Class::Restated),
        of(Class::HeldOut),
        of(Class::ByConstruction),
        of(Class::Accounting),
    ));
    table
}
