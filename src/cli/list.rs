//! `containment list`: what there is, by kind.

use containment_bench::{Bench, Scene};
use engine::export::names::word;
use plugins::parameters::ParameterSpec;
use plugins::registry::PluginInfo;
use serde_json::{Value, json};
use study::columns::Part;
use study::plan::problem::STUDY_CODES;
use study::row::row_columns;
use worlds::diagnostic::TABLE;

use super::codes;
use super::exit::Exit;
use super::failure::Failure;
use super::problem::severity_name;
use super::rules::{self, Origin};
use super::scenes;
use super::shipped::{self, ShippedWorld};
use super::table::{Table, wrapped};
use super::terminal::Terminal;
use super::world_text::WorldText;

/// The width of a list, in characters.
const WIDTH: usize = 100;
/// The blanks before what stands below an item.
const INDENT: usize = 4;

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Defences, with their parameters
    Policies,
    /// Model backends
    Models,
    /// Action parsers
    Parsers,
    /// What fills the untrusted slots of a world before a rollout: `containment run --attacker`
    Attackers,
    /// What reads a trace and judges it: `containment run --auditor`
    Auditors,
    /// The worlds inside the program
    Worlds,
    /// The columns of a row
    Metrics,
    /// The rules that verdicts name
    Rules,
    /// The codes of problems with files
    Codes,
}

/// How the list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Aligned columns
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// The options of `list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to list
    #[arg(value_enum)]
    kind: Kind,
    /// How the list is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// A list: the columns of its text form, and its items.
struct List {
    header: Vec<&'static str>,
    items: Vec<Item>,
}

/// One thing that there is.
struct Item {
    /// What its line says, by columns.
    cells: Vec<String>,
    /// The lines below it.
    below: Vec<String>,
    json: Value,
}

impl Item {
    fn new<C: Into<String>>(cells: impl IntoIterator<Item = C>, json: Value) -> Self {
        Self {
            cells: cells.into_iter().map(Into::into).collect(),
            below: Vec::new(),
            json,
        }
    }

    /// With a text in its last column, before which so many characters stand. What does not fit goes
    /// on below.
    fn last_cell(mut self, text: &str, before: usize) -> Self {
        let text = wrapped(text, WIDTH - before, 0);
        let mut lines = text.lines();
        self.cells.extend(lines.next().map(str::to_owned));
        let blanks = " ".repeat(before);
        self.below
            .extend(lines.map(|line| format!("{blanks}{line}")));
        self
    }

    /// With a text below it; all but the first of its lines have `hanging` more blanks before them.
    fn below(mut self, text: &str, hanging: usize) -> Self {
        let text = wrapped(text, WIDTH - INDENT - hanging, hanging);
        let blanks = " ".repeat(INDENT);
        self.below
            .extend(text.lines().map(|line| format!("{blanks}{line}")));
        self
    }
}

impl List {
    fn text(&self) -> String {
        let mut table = Table::new(self.header.clone());
        for item in &self.items {
            table.row(item.cells.clone());
        }
        let table = table.to_string();
        let mut rows = table.lines();
        let mut lines: Vec<&str> = rows.next().into_iter().collect();
        for (item, row) in self.items.iter().zip(rows) {
            lines.push(row);
            lines.extend(item.below.iter().map(String::as_str));
        }
        lines.join("\n")
    }

    fn json(self) -> Value {
        let items: Vec<Value> = self.items.into_iter().map(|item| item.json).collect();
        json!({ "schema": 1, "items": items })
    }
}

/// Prints a list.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let list = list(args.kind);
    let text = match args.format {
        Format::Text => list.text(),
        Format::Json => format!("{:#}", list.json()),
    };
    terminal.print(&text)?;
    Ok(Exit::Ok)
}

fn list(kind: Kind) -> List {
    let registry = Bench::built_in().registry;
    match kind {
        Kind::Policies => plugins(registry.policies.infos(), true),
        Kind::Models => plugins(registry.models.infos(), false),
        Kind::Parsers => plugins(registry.parsers.infos(), false),
        Kind::Attackers => plugins(registry.attackers.infos(), false),
        Kind::Auditors => plugins(registry.auditors.infos(), false),
        Kind::Worlds => worlds(),
        Kind::Metrics => metrics(),
        Kind::Rules => rule_list(),
        Kind::Codes => code_list(),
    }
}

/// Plugins, and below each its parameters if a command can set them.
fn plugins<'i>(infos: impl Iterator<Item = &'i PluginInfo>, can_be_set: bool) -> List {
    let infos: Vec<&PluginInfo> = infos.collect();
    let longest = infos.iter().map(|info| info.name.len()).max();
    let before = longest.unwrap_or_default().max("name".len()) + 2;
    let mut items = Vec::new();
    for info in infos {
        let parameters: Vec<Value> = info.parameters.iter().map(parameter_json).collect();
        let json = json!({
            "name": *info.name,
            "version": info.version,
            "summary": *info.summary,
            "parameters": parameters,
        });
        let summary = info.summary.trim_end_matches('.');
        let parameters = info.parameters.iter().filter(|_| can_be_set);
        let parameters = parameters.map(parameter_text);
        let item = Item::new([&*info.name], json).last_cell(summary, before);
        items.push(parameters.fold(item, |item, text| item.below(&text, INDENT)));
    }
    List {
        header: vec!["name", "what it is"],
        items,
    }
}

/// A parameter as it is set, with what it says and accepts.
pub(crate) fn parameter_text(parameter: &ParameterSpec) -> String {
    let kind = &parameter.kind;
    let (name, default) = (parameter.name, kind.default_value());
    let doc = parameter.doc.trim_end_matches('.');
    format!("--set {name}={default}  {doc}; {}", kind.expectation())
}

fn parameter_json(parameter: &ParameterSpec) -> Value {
    json!({
        "name": parameter.name,
        "doc": parameter.doc,
        "default": parameter.kind.default_value().to_string(),
        "accepts": parameter.kind.expectation(),
    })
}

fn worlds() -> List {
    List {
        header: vec!["name", "topology"],
        items: shipped::WORLDS.iter().flat_map(worlds_of).collect(),
    }
}

/// A world, or all worlds of a family; what the file says of them stands below the first.
fn worlds_of(shipped: &ShippedWorld) -> Vec<Item> {
    let text = WorldText::from(shipped);
    let path = text.origin.clone();
    let scenes = match scenes::load_text(text) {
        Ok(family) => family.scenes,
        Err(_) => unreachable!("a test checks every shipped world"),
    };
    let item = |(position, scene): (usize, &Scene)| {
        let scenario = &scene.scenario;
        let name = match shipped.script {
            Some(_) => shipped.name.to_owned(),
            None => format!("{}#{}", shipped.name, scenario.identity),
        };
        let (stage, domain) = (scenario.stage.name(), scenario.domain.name());
        let json = json!({
            "name": name,
            "path": path,
            "stage": stage,
            "domain": domain,
            "topology": *scenario.topology,
            "memory": scenario.memory_mode(),
            "scenario_hash": format!("{:032x}", scenario.content_hash),
            "summary": shipped.summary(),
        });
        let item = Item::new([&*name, &*scenario.topology], json);
        match position {
            0 => item.below(&format!("{} ({stage})", shipped.summary()), 0),
            _ => item,
        }
    };
    scenes.iter().enumerate().map(item).collect()
}

fn metrics() -> List {
    let values = row_columns()
        .iter()
        .filter(|column| column.part == Part::Value);
    let item = |spec: &study::columns::Spec| {
        let doc = spec.doc.trim().trim_end_matches('.');
        let origin = format!("{}: {}", spec.origin.mark(), spec.reference);
        let scope = format!("{}; {}; {origin}", spec.over, spec.stages.words());
        let json = json!({
            "name": spec.name,
            "doc": spec.doc.trim(),
            "over": spec.over,
            "stages": spec.stages.words(),
            "null": spec.null,
            "origin": spec.origin.mark(),
            "reference": spec.reference,
        });
        Item::new([spec.name], json).below(doc, 0).below(&scope, 0)
    };
    List {
        header: vec!["column: what it is; denominator or unit; stages; origin"],
        items: values.map(|column| item(column.spec)).collect(),
    }
}

fn rule_list() -> List {
    let item = |rule: &rules::Rule| {
        let verdict = word(&rule.verdict);
        let denial = rule.denial.map(|denial| word(&denial));
        let origin = origin_name(rule.origin);
        let cells = [rule.id, &verdict, denial.as_deref().unwrap_or("-"), origin];
        let json = json!({
            "id": rule.id,
            "verdict": verdict,
            "denial": denial,
            "origin": origin,
            "doc": rule.doc,
        });
        Item::new(cells, json)
    };
    List {
        header: vec!["rule", "verdict", "what the agent is told", "origin"],
        items: rules::all().map(item).collect(),
    }
}

/// Whether a rule is the paper's.
pub(crate) const fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Paper => "paper",
        Origin::Inferred => "inferred",
    }
}

fn code_list() -> List {
    let item = |id: &str, severity: &str, title: &str| {
        let json = json!({ "code": id, "severity": severity, "title": title });
        let before = id.len() + "  severity  ".len();
        Item::new([id, severity], json).last_cell(title, before)
    };
    let of_worlds = TABLE.iter();
    let of_worlds = of_worlds.map(|e| item(e.id, severity_name(e.severity), e.title));
    let of_studies = STUDY_CODES.iter();
    let of_studies = of_studies.map(|e| item(e.id, "error", e.explanation));
    let own = codes::TABLE.iter().map(|e| item(e.id, "error", e.title));
    List {
        header: vec!["code", "severity", "problem"],
        items: of_worlds.chain(of_studies).chain(own).collect(),
    }
}
