//! `containment tables`: the tables of a result.

use std::path::{Path, PathBuf};

use report::analysis::Analysis;
use report::claims;
use report::evidence::Evidence;
use report::published::MAIN;
use report::render::{Format as Written, render};
use report::table::Table;
use report::tables::{self, factor};
use report::threshold::Threshold;
use study::results::Results;

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::gate;
use super::nearest;
use super::problem::Problem;
use super::reports;
use super::terminal::Terminal;

/// The files beside a result.
pub(crate) const FILES: [&str; 2] = [TABLES_FILE, CLAIMS_FILE];

/// The tables beside a result.
const TABLES_FILE: &str = "tables.md";

/// What may be claimed, beside a result.
const CLAIMS_FILE: &str = "claims.json";

/// The id of the table that needs no rows.
const PARSER: &str = "24";

/// How tables are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// In aligned columns
    #[default]
    Text,
    /// Markdown
    Md,
    /// LaTeX, for the package `booktabs`
    Tex,
    /// One line for each cell
    Csv,
    /// One JSON document
    Json,
}

impl Format {
    /// How the tables are written.
    pub(crate) const fn written(self) -> Written {
        match self {
            Self::Text => Written::Text,
            Self::Md => Written::Markdown,
            Self::Tex => Written::Latex,
            Self::Csv => Written::Csv,
            Self::Json => Written::Json,
        }
    }
}

/// The options of `tables`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a result, written by `study` or `merge`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only this table, by its number in the paper or its name; may be given several times
    #[arg(long = "table", value_name = "ID", value_delimiter = ',')]
    tables: Vec<String>,
    /// Every table that the result has rows for, instead of a summary
    #[arg(long, conflicts_with_all = ["tables", "against"])]
    all: bool,
    /// Two policies to compare, instead of the pairs that the paper compares and, in a study that is not
    /// the paper's, every other policy with `none`; may be given several times. No file is written then
    #[arg(long = "compare", value_name = "A,B", value_parser = pair)]
    compare: Vec<(String, String)>,
    /// The folder of another result with the same scenarios, such as one under another
    /// instrumentation: prints what differs between the two, and nothing else
    #[arg(long, value_name = "DIR", conflicts_with_all = ["tables", "compare", "fail_if"])]
    against: Option<PathBuf>,
    /// How the tables are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Exits with 4 if this holds, such as `tool_boundary.security.committed_harm.high_families > 0.02`:
    /// policy, scope, metric (a column of the rows, which the table `claims` names) and perhaps `.low` or
    /// `.high` for an end of the interval over scenarios, `.low_families` or `.high_families` for one
    /// over families of scenarios, which are alike; may be given several times. Exits with 5 if the
    /// result cannot tell, such as for what has no positive control in it
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Threshold>,
    /// Prints only: without it, `tables.md` and `claims.json` are written beside the rows
    #[arg(long)]
    no_files: bool,
}

/// Reads `A,B`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((first, second)) => {
            let (first, second) = (first.trim(), second.trim());
            let are_two = !first.is_empty() && !second.is_empty() && first != second;
            are_two
                .then(|| (first.to_owned(), second.to_owned()))
                .ok_or_else(|| {
                    "name two different policies, for example `none,tool_boundary`".to_owned()
                })
        }
        None => Err(
            "name two policies with a comma between them, for example `none,tool_boundary`"
                .to_owned(),
        ),
    }
}

/// Prints the tables, and writes them beside the rows.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let wanted = wanted(&args.tables)?;
    let results = reports::result(&args.folder)?;
    require_policies(args, &results)?;
    if let Some(other) = &args.against {
        let tables = against(&results, other)?;
        terminal.print(&render(&tables, args.format.written()))?;
        return Ok(Exit::Ok);
    }
    let analyses = reports::analyses(&results, &args.compare);
    let printed = print(args, wanted.as_deref(), &analyses, terminal);
    // Whatever became of the tables: that must not hide what was decided.
    let decision = gate::decide(&args.fail_if, &analyses, terminal);
    match (printed, decision) {
        (Ok(()), decision) => decision,
        (Err(failure), Ok(Exit::Ok)) => Err(failure),
        (Err(failure), decision) => {
            terminal.fail(&failure);
            decision
        }
    }
}

/// Prints what was asked for; without anything asked for, a summary, and writes all beside the rows.
fn print(
    args: &Args,
    wanted: Option<&[&str]>,
    analyses: &[Analysis<'_>],
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = args.format.written();
    if let Some(ids) = wanted {
        let printed = some(analyses, ids)?;
        if printed.is_empty() {
            let message = format!("the result has no rows for table {}", ids.join(", "));
            let help = "`--all` prints every table that it has rows for";
            return Err(Failure::usage(message, Some(help.to_owned())));
        }
        return terminal.print(&render(&printed, format));
    }
    let all = all(analyses)?;
    let summary: Vec<Table> = all
        .iter()
        .filter(|table| tables::SUMMARY.contains(&table.id))
        .cloned()
        .collect();
    let is_part = !args.all && !summary.is_empty();
    let printed = if is_part { &summary } else { &all };
    terminal.print(&render(printed, format))?;
    if is_part {
        let (printed, of) = (printed.len(), all.len());
        let note = format!("{printed} of {of} tables; `--all` prints the others too");
        terminal.note(&note);
    }
    // Beside the rows lies what follows from them alone, not from what was asked for this time.
    if args.no_files || !args.compare.is_empty() {
        return Ok(());
    }
    write(&args.folder, &made(&all, analyses), terminal)
}

/// Writes files beside the rows.
fn write(folder: &Path, made: &[(&str, String)], terminal: &Terminal) -> Result<(), Failure> {
    for (name, text) in made {
        reports::write_beside(folder, name, text)?;
    }
    let folder = files::shown(folder);
    terminal.note(&format!(
        "`{TABLES_FILE}` and `{CLAIMS_FILE}` are in `{folder}`"
    ));
    Ok(())
}

/// What differs between a result and another one, for each model that both have; of two results with
/// one model each, the models may be the difference.
fn against(results: &Results, other: &Path) -> Result<Vec<Table>, Failure> {
    let others = reports::result(other)?;
    let (first, second) = (Evidence::by_model(results), Evidence::by_model(&others));
    let tables: Vec<Table> = match (&first[..], &second[..]) {
        ([first], [second]) => factor::table(first, second).into_iter().collect(),
        _ => first
            .iter()
            .filter_map(|one| {
                let same = second.iter().find(|other| other.model == one.model)?;
                factor::table(one, same)
            })
            .collect(),
    };
    if tables.is_empty() {
        let message = format!(
            "`{}` has no rollout in common with the result",
            files::shown(other)
        );
        let help = "name a result of the same scenarios, seeds and policies";
        return Err(Problem::new(message).help(help).into());
    }
    Ok(tables)
}

/// Every table that the rows are enough for.
fn all(analyses: &[Analysis<'_>]) -> Result<Vec<Table>, Failure> {
    let mut all: Vec<Table> = analyses.iter().flat_map(tables::all).collect();
    let is_the_main_study = |one: &Analysis<'_>| one.evidence.manifest.frozen.name == MAIN;
    if analyses.iter().any(is_the_main_study) {
        all.push(tables::parser::table(&reports::parser_counts()?));
    }
    Ok(all)
}

/// Those of the tables with these ids that the rows are enough for.
fn some(analyses: &[Analysis<'_>], ids: &[&str]) -> Result<Vec<Table>, Failure> {
    let mut some: Vec<Table> = Vec::new();
    for analysis in analyses {
        some.extend(tables::some(analysis, ids));
    }
    if ids.contains(&PARSER) {
        some.push(tables::parser::table(&reports::parser_counts()?));
    }
    Ok(some)
}

/// What is written beside a result.
fn made(tables: &[Table], analyses: &[Analysis<'_>]) -> Vec<(&'static str, String)> {
    vec![
        (TABLES_FILE, render(tables, Written::Markdown)),
        (CLAIMS_FILE, claims::to_json(analyses)),
    ]
}

/// The files beside a result, and what they say of it.
pub(crate) fn files(results: &Results) -> Result<Vec<(&'static str, String)>, Failure> {
    let analyses = reports::analyses(results, &[]);
    Ok(made(&all(&analyses)?, &analyses))
}

/// The ids of the tables asked for; none for all of them.
fn wanted(asked: &[String]) -> Result<Option<Vec<&'static str>>, Failure> {
    let known = || tables::ids().map(|(id, _)| id).chain([PARSER]);
    let find = |asked: &String| {
        known().find(|id| id == asked).ok_or_else(|| {
            let help = nearest::suggestion(asked, known());
            let all: Vec<&str> = known().collect();
            let all = format!("there are {}", all.join(", "));
            let help = help.map_or_else(|| all.clone(), |near| format!("{near} {all}"));
            Failure::usage(format!("there is no table `{asked}`"), Some(help))
        })
    };
    if asked.is_empty() {
        return Ok(None);
    }
    asked.iter().map(find).collect::<Result<_, _>>().map(Some)
}

fn require_policies(args: &Args, results: &Results) -> Result<(), Failure> {
    let known = results.manifest.frozen.policies.iter();
    let known: Vec<&str> = known.map(|one| one.name.as_str()).collect();
    let compared = args
        .compare
        .iter()
        .flat_map(|(first, second)| [first.as_str(), second]);
    let conditions = args.fail_if.iter().map(Threshold::policy);
    for policy in compared.chain(conditions) {
        if !known.contains(&policy) {
            let help = nearest::suggestion(policy, known.iter().copied());
            let help = help.unwrap_or_else(|| format!("it has {}", known.join(", ")));
            return Err(Failure::usage(
                format!("the study has no policy `{policy}`"),
                Some(help),
            ));
        }
    }
    Ok(())
}
