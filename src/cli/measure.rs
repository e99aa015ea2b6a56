//! `containment measure`: numbers of the user's own over the traces of a result, in the language of rules.

use std::collections::BTreeMap;
use std::path::PathBuf;

use study::columns::Hash;
use study::row::Row;

use super::exit::Exit;
use super::failure::Failure;
use super::files::{self, MAX_SOURCE_BYTES};
use super::library::{Library, case_of_row, chosen};
use super::policies;
use super::problem::Problem;
use super::records::{self, Record};
use super::table::Table;
use super::terminal::Terminal;

/// The options of `measure`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A result folder written by `study`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A file `Metrics(...)`; `docs/book/rules.md` says what it can say
    #[arg(value_name = "METRICS")]
    metrics: PathBuf,
    /// Write one line for each rollout to this file, as CSV
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also runs policies that are processes, which the record names; only of people whom you trust
    #[arg(long)]
    processes: bool,
}

/// What was counted under one policy.
#[derive(Clone, Debug, Default)]
struct Sum {
    rollouts: u64,
    /// By metric: what was counted, and out of what if the metric says so.
    counts: Vec<(u64, Option<u64>)>,
}

/// Runs every rollout of the result again and counts in its trace.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let text = files::text(&args.metrics, MAX_SOURCE_BYTES)?;
    let metrics = rules_host::load_metrics(&text).map_err(|mistakes| {
        policies::mistaken(&files::shown(&args.metrics), Some(&text), &mistakes)
    })?;
    let Record::Results(results) = records::read_any(&args.folder)? else {
        let help = "name a folder written by `study`".to_owned();
        return Err(Failure::usage("a trace is no result", Some(help)));
    };
    let rows = chosen(&results.rows, None)?;
    let mut library = Library::of(&results.manifest.circumstances, &args.folder, &[])
        .with_processes(args.processes);
    let names: Vec<String> = metrics
        .described()
        .map(|(name, _)| name.to_owned())
        .collect();
    let mut csv = header(&names);
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for row in rows {
        let (case, policy) = case_of_row(row, &mut library)?;
        let (mut rollout, _) = case.start(&policy)?;
        rollout.run();
        if Hash(rollout.trace_digest()) != row.identity.trace_digest {
            return Err(another(row));
        }
        let briefing = &case.scene.scenario.briefing;
        let measured = metrics.measure(rollout.trace().prefix(), rollout.labels(), briefing);
        let counts: Vec<(u64, Option<u64>)> = measured.iter().map(|it| (it.count, it.of)).collect();
        csv.push_str(&line(row, &counts));
        sums.entry(&row.identity.policy).or_default().add(&counts);
    }
    if let Some(path) = &args.out {
        files::write(path, csv.as_bytes())?;
    }
    terminal.print(&table(&names, &results.manifest.frozen.policies, &sums))?;
    Ok(Exit::Ok)
}

/// Numbers over another rollout would not be of this result.
fn another(row: &Row) -> Failure {
    let identity = &row.identity;
    let message = format!(
        "the rollout {} of `{}` under `{}` is not what it was",
        identity.rollout_id, identity.scenario_id, identity.policy
    );
    let help =
        "`containment replay` shows what differs: a policy, a world, a script or the program";
    Failure::new(Exit::NotDeterministic, Problem::new(message).help(help))
}

impl Sum {
    fn add(&mut self, counts: &[(u64, Option<u64>)]) {
        self.rollouts += 1;
        self.counts.resize(counts.len(), (0, None));
        for ((sum, of), (more, more_of)) in self.counts.iter_mut().zip(counts) {
            *sum += more;
            if let Some(more_of) = more_of {
                *of = Some(of.unwrap_or_default() + more_of);
            }
        }
    }
}

fn header(names: &[String]) -> String {
    let mut csv = "rollout_id,scenario_id,policy,model,seed".to_owned();
    for name in names {
        csv.push_str(&format!(",{name},{name}_of"));
    }
    csv.push('\n');
    csv
}

fn line(row: &Row, counts: &[(u64, Option<u64>)]) -> String {
    let identity = &row.identity;
    // The name of a composition holds commas, and no name holds a quotation mark but by a parameter.
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut line = format!(
        "{},{},{},{},{}",
        identity.rollout_id,
        quoted(&identity.scenario_id),
        quoted(&identity.policy),
        quoted(&identity.model),
        identity.seed
    );
    for (count, of) in counts {
        let of = of.map_or_else(String::new, |of| of.to_string());
        line.push_str(&format!(",{count},{of}"));
    }
    line.push('\n');
    line
}

/// One line for each policy: rollouts, and each metric as what was counted out of what.
fn table(
    names: &[String],
    policies: &[study::manifest::FrozenPolicy],
    sums: &BTreeMap<&str, Sum>,
) -> String {
    let heading = ["policy", "rollouts"].map(str::to_owned).into_iter();
    let mut table = Table::new(heading.chain(names.iter().cloned()));
    for policy in policies {
        let Some(sum) = sums.get(&*policy.name) else {
            continue;
        };
        let cells = sum.counts.iter().map(|(count, of)| match of {
            Some(of) => format!("{count}/{of}"),
            None => count.to_string(),
        });
        let named = [policy.name.clone(), sum.rollouts.to_string()].into_iter();
        table.row(named.chain(cells));
    }
    table.to_string()
}
