//! `containment explain`: what a code, a rule, a policy, a column, a metric, a heading of a table, a
//! status of a claim or an exit code means.

use containment_bench::Bench;
use engine::export::names::word;
use report::claims::Status;
use report::headings::{self, HEADINGS, Meaning, TERMS};
use report::metric::{COMPARED, PREREQUISITES};
use study::columns::{Part, Spec};
use study::plan::problem::STUDY_CODES;
use study::row::row_columns;
use worlds::diagnostic::{Code, TABLE};

use super::exit::{self, Exit};
use super::failure::Failure;
use super::list::{origin_name, parameter_text};
use super::problem::severity_name;
use super::rules::{self, Rule};
use super::study::{SHOWN, SHOWN_MEANS};
use super::table::wrapped;
use super::terminal::Terminal;
use super::{codes, nearest};

/// The width of explanations, in characters.
const WIDTH: usize = 96;

/// The options of `explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code such as `W022`, a rule such as `block_outside_user_goal`, a policy, a column of a row,
    /// a heading or a metric of `study` or `tables` such as `tcr` or `win rate`, a status of a claim such
    /// as `instrumented`, or an exit code
    #[arg(required = true, value_name = "CODE")]
    codes: Vec<String>,
}

/// The heading of the table of a study beside those of [`SHOWN`], with the column that it shows.
const WORLD: (&str, &str) = ("world", "scenario_id");

/// The headings of the tables of a study, of worlds and of means, each with the column that it shows.
fn headings() -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::once(WORLD).chain(SHOWN).chain(SHOWN_MEANS)
}

/// Prints what each code means; then tells which are not known.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut texts = Vec::new();
    let mut unknown: Option<Failure> = None;
    for code in &args.codes {
        match (explain(code), &mut unknown) {
            (Ok(text), _) => texts.push(text),
            (Err(failure), None) => unknown = Some(failure),
            (Err(failure), Some(first)) => first.complaints.extend(failure.complaints),
        }
    }
    if !texts.is_empty() {
        terminal.print(&texts.join("\n"))?;
    }
    unknown.map_or(Ok(Exit::Ok), Err)
}

fn explain(code: &str) -> Result<String, Failure> {
    known(code).ok_or_else(|| {
        let codes = TABLE.iter().map(|entry| entry.id);
        let studies = STUDY_CODES.iter().map(|entry| entry.id);
        let ours = codes::TABLE.iter().map(|entry| entry.id);
        let rules = rules::all().map(|rule| rule.id);
        let columns = row_columns().iter().map(|column| column.spec.name);
        let bench = Bench::built_in();
        let policies = bench.registry.policies.infos().map(|info| &*info.name);
        let headings = headings().map(|(heading, _)| heading);
        let names = codes.chain(studies).chain(ours).chain(rules).chain(columns);
        let statuses = Status::EACH.map(Status::name);
        let metrics = COMPARED.iter().chain(&PREREQUISITES).map(|one| one.label);
        let of_tables = HEADINGS.iter().chain(&TERMS).map(|(heading, _)| *heading);
        let names = names.chain(policies).chain(headings);
        let names = names.chain(statuses).chain(metrics).chain(of_tables);
        let lists = "`containment list codes`, `list rules`, `list policies` and `list metrics` show \
                     what there is";
        let help = nearest::suggestion(code, names).unwrap_or_else(|| lists.to_owned());
        Failure::usage(format!("nothing is called `{code}`"), Some(help))
    })
}

fn known(code: &str) -> Option<String> {
    world_code(code)
        .or_else(|| study_code(code))
        .or_else(|| own_code(code))
        .or_else(|| rule(code))
        .or_else(|| policy(code))
        .or_else(|| column(code))
        .or_else(|| heading(code))
        .or_else(|| status(code))
        .or_else(|| metric(code))
        .or_else(|| heading_of_tables(code))
        .or_else(|| exit_code(code))
}

fn world_code(code: &str) -> Option<String> {
    let entry = Code::from_id(code)?.explanation();
    let (id, severity) = (entry.id, severity_name(entry.severity));
    let text = wrapped(entry.explanation, WIDTH, 0);
    Some(format!(
        "{id} ({severity}): {}\n\n{text}\n\n  wrong: {}\n  right: {}\n",
        entry.title, entry.wrong, entry.right
    ))
}

fn study_code(code: &str) -> Option<String> {
    let mut codes = STUDY_CODES.iter();
    let entry = codes.find(|entry| entry.id.eq_ignore_ascii_case(code))?;
    let text = wrapped(entry.explanation, WIDTH, 0);
    Some(format!("{} (error) in a study file\n\n{text}\n", entry.id))
}

fn own_code(code: &str) -> Option<String> {
    let entry = codes::TABLE
        .iter()
        .find(|entry| entry.id.eq_ignore_ascii_case(code))?;
    let text = wrapped(entry.text, WIDTH, 0);
    Some(format!("{}: {}\n\n{text}\n", entry.id, entry.title))
}

/// A rule, or several joined by `+` as a composition of policies writes them.
fn rule(code: &str) -> Option<String> {
    let rules: Vec<&Rule> = code.split('+').map(rules::find).collect::<Option<_>>()?;
    let texts: Vec<String> = rules.into_iter().map(rule_text).collect();
    Some(texts.join("\n"))
}

fn rule_text(rule: &Rule) -> String {
    let verdict = word(&rule.verdict);
    let told = rule.denial.map_or_else(
        || "the agent is told nothing".to_owned(),
        |denial| format!("the agent is told `{}`", word(&denial)),
    );
    let origin = origin_name(rule.origin);
    let text = wrapped(rule.doc, WIDTH, 0);
    format!("{} ({origin}): {verdict}; {told}\n\n{text}\n", rule.id)
}

fn policy(code: &str) -> Option<String> {
    let registry = Bench::built_in().registry;
    let info = registry.policies.infos().find(|info| *info.name == *code)?;
    let mut text = format!("{code} (policy)\n\n{}\n", wrapped(&info.summary, WIDTH, 0));
    if !info.parameters.is_empty() {
        text.push('\n');
    }
    for parameter in &info.parameters {
        let parameter = wrapped(&parameter_text(parameter), WIDTH - 2, 4);
        text += &format!("  {parameter}\n");
    }
    let rules = rules::all();
    let rules = rules.filter(|rule| rule.policies.contains(&code));
    let rules: Vec<&str> = rules.map(|rule| rule.id).collect();
    if !rules.is_empty() {
        let rules = wrapped(&format!("rules: {}", rules.join(", ")), WIDTH - 2, 4);
        text += &format!("\n  {rules}\n");
    }
    Some(text)
}

fn heading(code: &str) -> Option<String> {
    let wanted = code.replace('_', " ");
    let (heading, name) = headings().find(|(heading, _)| *heading == wanted)?;
    let column = column(name)?;
    Some(format!(
        "`{heading}` in the table of a study is the column {column}"
    ))
}

fn status(code: &str) -> Option<String> {
    let mut each = Status::EACH.into_iter();
    let status = each.find(|status| status.name().eq_ignore_ascii_case(code))?;
    Some(format!(
        "{} (status of a metric or a difference)\n\nit permits to say: {}\n",
        status.name(),
        status.permits()
    ))
}

fn metric(code: &str) -> Option<String> {
    let mut all = COMPARED.iter().chain(&PREREQUISITES);
    let metric = all.find(|metric| metric.label.eq_ignore_ascii_case(code))?;
    let column = column(metric.name)?;
    Some(format!(
        "`{}` in the tables is the mean of the column {column}",
        metric.label
    ))
}

fn heading_of_tables(code: &str) -> Option<String> {
    let (heading, meaning) = headings::meaning(code)?;
    match meaning {
        Meaning::MeanOf(name) => {
            let column = column(name)?;
            Some(format!(
                "`{heading}` in the tables is the mean of the column {column}"
            ))
        }
        Meaning::Words(words) => {
            let text = wrapped(words, WIDTH, 0);
            Some(format!("{heading} (in tables)\n\n{text}\n"))
        }
    }
}

fn column(code: &str) -> Option<String> {
    let columns = row_columns();
    let column = columns.iter().find(|column| column.name() == code)?;
    let spec = column.spec;
    let is_ratio = columns
        .iter()
        .any(|c| c.spec == spec && c.part == Part::Numerator);
    Some(column_text(spec, is_ratio))
}

fn column_text(spec: &Spec, is_ratio: bool) -> String {
    let kind = if is_ratio { " (ratio)" } else { "" };
    let over = if is_ratio { "out of" } else { "unit" };
    let text = wrapped(spec.doc, WIDTH, 0);
    format!(
        "{}{kind}\n\n{text}\n\n  {over}: {}\n  stages: {}\n  null: {}\n  origin: {}: {}\n",
        spec.name,
        spec.over,
        spec.stages.words(),
        spec.null,
        spec.origin.mark(),
        spec.reference
    )
}

fn exit_code(code: &str) -> Option<String> {
    let number: u8 = code.parse().ok()?;
    let (_, meaning) = exit::TABLE
        .into_iter()
        .find(|(exit, _)| exit.code() == number)?;
    Some(format!("exit code {number}: {meaning}\n"))
}
