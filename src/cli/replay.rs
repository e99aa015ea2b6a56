//! `containment replay`: runs what was written down again, and compares.

use std::path::PathBuf;

use containment_bench::Choice;
use engine::Rollout;
use engine::export::jsonl::POLICY_FILES;
use engine::fork::run_group;
use serde_json::Value;
use study::results::Results;
use study::row::Row;

use super::codes::Code;
use super::differences::{self, CellDifference, EventDifference};
use super::exit::Exit;
use super::failure::Failure;
use super::families;
use super::library::{Library, case_of_row, case_of_trace, chosen};
use super::options::{Case, Hashes};
use super::problem::Problem;
use super::records::{self, Record, TraceFile};
use super::table::Table;
use super::terminal::Terminal;
use super::world_text::{self, Beside};
use super::{rows, traces};

/// Rows of which the differences are shown.
const SHOWN_ROWS: usize = 10;

/// The column, and the key of a header, that is another if the script is.
const SCRIPT_HASH: &str = "profile_hash";

/// The column that is another if the file of a policy is.
const POLICY_CONTENT: &str = "policy_content";

/// The options of `replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A result folder written by `study`, or a trace file
    #[arg(value_name = "ROWS_OR_TRACE")]
    record: PathBuf,
    /// The row to replay, by the beginning of its `rollout_id`; without it, all rows
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Where a world is, if it is neither where it was nor shipped; may be given several times
    #[arg(long = "world", value_name = "WORLD")]
    worlds: Vec<PathBuf>,
    /// Also runs policies that are processes, which the record names; only of people whom you trust
    #[arg(long)]
    processes: bool,
}

/// Runs again and tells what differs.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    match records::read_any(&args.record)? {
        Record::Trace(trace) => replay_trace(&trace, args, terminal),
        Record::Results(results) => replay_rows(&results, args, terminal),
    }
}

fn replay_rows(results: &Results, args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let rows = chosen(&results.rows, args.id.as_deref())?;
    let mut library = Library::of(&results.manifest.circumstances, &args.record, &args.worlds)
        .with_processes(args.processes);
    let circumstances = &results.manifest.circumstances;
    let (rows, unreplayable): (Vec<&Row>, Vec<&Row>) = rows
        .iter()
        .partition(|row| circumstances.is_replayable(row));
    let mut differing = 0_usize;
    for row in &rows {
        let (case, policy) = case_of_row(row, &mut library)?;
        let again = run_again(&case, &policy)?;
        let cells = differences::cells(row, &again);
        if cells.is_empty() {
            continue;
        }
        differing += 1;
        if differing <= SHOWN_ROWS {
            terminal.print(&difference_text(row, &cells))?;
            terminal.print(&cause(&case, &policy, &cells)?)?;
            terminal.note(&format!("reproduce: {}", case.command(&policy)));
        }
    }
    let (total, same) = (rows.len(), rows.len() - differing);
    let mut told = format!("{total} rows replayed: {same} the same, {differing} different");
    if !unreplayable.is_empty() {
        let names = circumstances.not_replayable.join(", ");
        let count = unreplayable.len();
        told += &format!("; {count} not replayable: {names} answered one question in two ways");
    }
    terminal.print(&told)?;
    Ok(if differing == 0 {
        Exit::Ok
    } else {
        Exit::NotDeterministic
    })
}

/// The row of the rollout, run again from its own fork point.
pub(crate) fn run_again(case: &Case, policy: &Choice) -> Result<Row, Failure> {
    let (mut rollout, hashes) = case.start(policy)?;
    let mut row = None;
    run_group(
        &mut rollout,
        &case.scene.scenario,
        &case.setting,
        1,
        |_| case.plugins(policy).expect("it was made before"),
        |_, rollout, fork| row = Some(rows::row(case, policy, hashes, rollout, fork)),
    );
    Ok(row.expect("a group runs every policy"))
}

fn difference_text(row: &Row, cells: &[CellDifference]) -> String {
    let identity = &row.identity;
    let mut table = Table::new(["  column", "recorded", "now"]);
    for cell in cells {
        let [recorded, now] = &cell.values;
        table.row([format!("  {}", cell.column), recorded.clone(), now.clone()]);
    }
    format!(
        "{} {} under {}, seed {}\n{table}",
        identity.rollout_id, identity.scenario_id, identity.policy, identity.seed
    )
}

/// Why a row is another one now: two runs of this program differ, the script is another, or the row.
fn cause(case: &Case, policy: &Choice, cells: &[CellDifference]) -> Result<String, Failure> {
    let runs = [one_run(case, policy)?, one_run(case, policy)?];
    let is_other_policy = cells.iter().any(|cell| cell.column == POLICY_CONTENT);
    let is_other_script = cells.iter().any(|cell| cell.column == SCRIPT_HASH);
    Ok(
        match differences::first_event(&runs[0].events(), &runs[1].events()) {
            Some(difference) => difference.text(["  one run", "  another run"]),
            None if is_other_policy => format!(
                "  the policy `{}` is another than it was: its file has changed since\n",
                policy.name
            ),
            None if is_other_script => format!("  {}\n", other_script(case)),
            None => {
                "  this program gives the same trace each time; the row was written by another \
                 build, or changed\n"
                    .to_owned()
            }
        },
    )
}

/// That the script is not the one of the record, which `profile_hash` covers.
fn other_script(case: &Case) -> String {
    let script = match world_text::find(&case.world).map(|world| world.script) {
        Ok(Beside::Script { origin, .. }) => origin,
        _ => case.world.display().to_string(),
    };
    if let Some(profile) = &case.model_file {
        let profile = profile.display();
        return format!("the script of the world or the profile `{profile}` has changed since");
    }
    match families::member_of(&case.world) {
        Some((family, _)) if family.is_file() => {
            format!(
                "the script in the family file `{}` has changed since",
                family.display()
            )
        }
        None if case.world.is_file() => {
            format!("the script beside the world, `{script}`, has changed since")
        }
        _ => format!("the script `{script}` inside this program is another than it was then"),
    }
}

/// A rollout as a trace file with everything in it.
fn one_run(case: &Case, policy: &Choice) -> Result<TraceFile, Failure> {
    let (mut rollout, hashes) = case.start(policy)?;
    rollout.run();
    again(case, policy, hashes, &rollout, true)
}

fn replay_trace(trace: &TraceFile, args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.id.is_some() {
        let help = "leave --id out, or name a result folder";
        return Err(Failure::usage("a trace has no rows", Some(help.to_owned())));
    }
    let mut library = Library::beside(&args.record, &args.worlds).with_processes(args.processes);
    let (case, policy) = case_of_trace(trace, &mut library)?;
    let again = trace_again(trace, &case, &policy)?;
    let known = trace
        .header
        .iter()
        .filter(|(key, _)| again.header.contains_key(*key));
    // Where a file lies says nothing of what is in it.
    let differing: Vec<&String> = known
        .filter(|(key, value)| again.header.get(*key) != Some(value) && *key != POLICY_FILES)
        .map(|(k, _)| k)
        .collect();
    if let Some(key) = differing.first() {
        let said = format!("the header says `{key}`: {}", trace.header[*key]);
        let message = if *key == SCRIPT_HASH {
            format!("{}: {said}", other_script(&case))
        } else {
            said
        };
        let now = format!("this rollout has {}", again.header[*key]);
        let problem = Problem::new(message)
            .code(Code::WrongFile)
            .file(&*trace.name)
            .help(now);
        return Err(problem.into());
    }
    match differences::first_event(&trace.events(), &again.events()) {
        None => {
            let count = trace.events().count();
            terminal.print(&format!(
                "{}: {count} events replayed, all the same",
                trace.name
            ))?;
            Ok(Exit::Ok)
        }
        Some(difference) => {
            terminal.print(&told(&difference))?;
            terminal.note(&format!("reproduce: {}", case.command(&policy)));
            Ok(Exit::NotDeterministic)
        }
    }
}

/// The rollout of a trace, run again and written as the trace is.
pub(crate) fn trace_again(
    trace: &TraceFile,
    case: &Case,
    policy: &Choice,
) -> Result<TraceFile, Failure> {
    let (mut rollout, hashes) = case.start(policy)?;
    rollout.run();
    let reveal = trace.header.get("redacted") == Some(&Value::Bool(false));
    again(case, policy, hashes, &rollout, reveal)
}

fn told(difference: &EventDifference) -> String {
    difference.text(["recorded", "now"])
}

/// A rollout that has ended, as a trace file.
fn again(
    case: &Case,
    policy: &Choice,
    hashes: Hashes,
    rollout: &Rollout,
    reveal: bool,
) -> Result<TraceFile, Failure> {
    let text = traces::jsonl(case, policy, hashes, rollout, reveal);
    TraceFile::parse("this run", text)
}
