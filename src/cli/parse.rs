//! `containment parse`: how completions are read, with the counts of the paper's Table 24.

use std::path::{Path, PathBuf};

use containment_bench::Bench;
use plugins::action::{Action, ParseStatus, Parsed, ToolCatalogue};
use plugins::ids::{AgentId, ToolId};
use plugins::tool::ToolSpec;
use report::tables::parser::ParserCounts;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::{Value, json};
use worlds::spec::Scenario;

use super::codes::Code;
use super::corpus::{self, Corpus};
use super::exit::Exit;
use super::failure::Failure;
use super::files::{self, MAX_SOURCE_BYTES};
use super::narrate::shortened;
use super::problem::Problem;
use super::table::Table;
use super::terminal::Terminal;
use super::{nearest, shipped, world_text};

/// How completions are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Split {
    /// By blank lines if there is one, else one a line
    #[default]
    Auto,
    /// One a line
    Line,
    /// By blank lines
    Blank,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One line for each completion, then the counts
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// The options of `parse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file of completions or a corpus, which says itself who speaks, or `-` for standard input
    file: PathBuf,
    /// The world whose tools may be called; without one no tool is known
    #[arg(long, value_name = "WORLD")]
    world: Option<PathBuf>,
    /// The agent whose tools may be called; not needed if the world has one agent
    #[arg(long, value_name = "NAME", requires = "world")]
    agent: Option<String>,
    /// How completions are told apart
    #[arg(long, value_enum, default_value = "auto")]
    split: Split,
    /// How results are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Who is taken to speak, and what it may call; by default nothing.
#[derive(Default)]
struct Speaker {
    scenario: Option<Scenario>,
    agent: AgentId,
    known: Vec<ToolId>,
}

/// Parses every completion and prints what was read.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let text = files::text_or_stdin(&args.file, MAX_SOURCE_BYTES)?;
    let Said {
        speaker,
        separated,
        completions,
    } = Said::find(args, &text)?;
    let report = Report {
        parsed: parsed(&speaker, &completions)?,
        speaker,
        separated,
    };
    match args.format {
        Format::Text => terminal.print(&report.text())?,
        Format::Json => terminal.print_json(&report)?,
    }
    Ok(Exit::Ok)
}

/// What the parser makes of completions.
fn parsed(speaker: &Speaker, completions: &[String]) -> Result<Vec<Parsed>, Failure> {
    let parser = Bench::built_in().parser();
    let parser = parser.map_err(|error| Failure::usage(error.to_string(), None))?;
    let catalogue = ToolCatalogue {
        tools: speaker.tools(),
        known: &speaker.known,
    };
    let completions = completions.iter();
    Ok(completions
        .map(|completion| parser.parse(completion, catalogue))
        .collect())
}

/// The completions of Table 24.
const REPARSED: &str = include_str!("../../worlds/corpora/reparse_96.jsonl");

/// What is counted of the completions of Table 24.
pub(crate) fn reparsed_counts() -> Result<ParserCounts, Failure> {
    let name = "reparse_96.jsonl";
    let corpus = corpus::read(name, REPARSED)?;
    let corpus = corpus.ok_or_else(|| Problem::new(format!("`{name}` is no corpus")))?;
    let speaker = Speaker::of_corpus(&corpus, name, REPARSED)?;
    let report = Report {
        parsed: parsed(&speaker, &corpus.completions)?,
        speaker,
        separated: "of a corpus",
    };
    let counts = report.counts();
    let count = |name: &str| {
        let found = counts.iter().find(|(other, _)| *other == name);
        let (_, count) = found.expect("the report counts it");
        *count as u64
    };
    Ok(ParserCounts {
        model_actions: count("model_actions"),
        valid: count("valid_actions"),
        old_final: count("old_action_like_final_answers"),
        new_final: count("invalid_schema_actions"),
        repaired: count("valid_repaired_json"),
        invalid_tools: count("invalid_tool_actions"),
        invalid_schema: count("invalid_schema"),
        strict: count("valid_strict_json"),
    })
}

/// Completions, and whose they are.
struct Said {
    speaker: Speaker,
    /// How the completions are told apart, in words.
    separated: &'static str,
    completions: Vec<String>,
}

impl Said {
    fn find(args: &Args, text: &str) -> Result<Self, Failure> {
        let name = files::shown(&args.file);
        let corpus = match args.split {
            Split::Auto => corpus::read(&name, text)?,
            Split::Line | Split::Blank => None,
        };
        if let Some(corpus) = corpus {
            return Ok(Self {
                speaker: match &args.world {
                    Some(world) => Speaker::in_world(world, args.agent.as_deref())?,
                    None => Speaker::of_corpus(&corpus, &name, text)?,
                },
                separated: "of a corpus",
                completions: corpus.completions,
            });
        }
        let split = args.split.decide(text);
        Ok(Self {
            speaker: match &args.world {
                Some(world) => Speaker::in_world(world, args.agent.as_deref())?,
                None => Speaker::default(),
            },
            separated: split.words(),
            completions: split.completions(text),
        })
    }
}

impl Split {
    fn decide(self, text: &str) -> Self {
        match self {
            Self::Auto if text.trim().lines().any(|line| line.trim().is_empty()) => Self::Blank,
            Self::Auto => Self::Line,
            decided => decided,
        }
    }

    fn completions(self, text: &str) -> Vec<String> {
        if self == Self::Line {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            return lines.map(str::to_owned).collect();
        }
        let mut completions = vec![Vec::new()];
        for line in text.lines() {
            if line.trim().is_empty() {
                completions.push(Vec::new());
            } else if let Some(last) = completions.last_mut() {
                last.push(line);
            }
        }
        let said = completions.into_iter().filter(|lines| !lines.is_empty());
        said.map(|lines| lines.join("\n")).collect()
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Auto | Self::Line => "one a line",
            Self::Blank => "separated by blank lines",
        }
    }
}

impl Speaker {
    /// Who a corpus says that it is. Only shipped worlds are looked up: no corpus names a file.
    fn of_corpus(corpus: &Corpus, name: &str, text: &str) -> Result<Self, Failure> {
        if shipped::world(&corpus.world).is_some() {
            return Self::in_world(Path::new(&corpus.world), Some(&corpus.agent));
        }
        let message = format!("no shipped world is called `{}`", corpus.world);
        let problem = Problem::new(message).code(Code::WrongFile);
        let help = "say with --world and --agent who speaks";
        Err(problem.at(name, text, 1, 1).help(help).into())
    }

    fn in_world(world: &Path, name: Option<&str>) -> Result<Self, Failure> {
        let checked = world_text::find(world)?.check();
        let scenario = checked.scenario.ok_or(checked.report)?;
        let agent = agent(&scenario, name)?;
        let known = scenario.briefing.agents[agent.index()].tools.clone();
        Ok(Self {
            scenario: Some(scenario),
            agent,
            known,
        })
    }

    fn tools(&self) -> &[ToolSpec] {
        let scenario = self.scenario.as_ref();
        scenario.map_or(&[], |scenario| &scenario.briefing.tools)
    }

    /// What the agent did, as the engine classes it: a hand-off needs a channel.
    fn class(&self, action: &Action) -> &'static str {
        match action {
            Action::ToolCall { .. } => "valid",
            Action::Delegate { to, .. } if self.may_hand_off_to(to) => "delegate",
            Action::Delegate { .. } | Action::InvalidTool { .. } => "invalid_tool",
            Action::Final { .. } => "final",
            Action::InvalidSchema { .. } => "invalid_schema",
        }
    }

    fn may_hand_off_to(&self, name: &str) -> bool {
        self.scenario.as_ref().is_some_and(|scenario| {
            let mut agents = scenario.briefing.agents.iter();
            let to = agents
                .position(|agent| &*agent.name == name)
                .map(AgentId::at);
            to.is_some_and(|to| scenario.channel(self.agent, to).is_some())
        })
    }
}

fn agent(scenario: &Scenario, name: Option<&str>) -> Result<AgentId, Failure> {
    let agents = &scenario.briefing.agents;
    let names = || agents.iter().map(|agent| &*agent.name);
    let all = names().collect::<Vec<_>>().join(", ");
    match name {
        None if agents.len() == 1 => Ok(AgentId::at(0)),
        None => {
            let message = "the world has several agents, so it must be said who speaks";
            Err(Failure::usage(
                message,
                Some(format!("add --agent with one of {all}")),
            ))
        }
        Some(name) => {
            let position = names().position(|known| known == name);
            position.map(AgentId::at).ok_or_else(|| {
                let help = nearest::suggestion(name, names());
                let help = help.unwrap_or_else(|| format!("there are {all}"));
                Failure::usage(format!("the world has no agent `{name}`"), Some(help))
            })
        }
    }
}

/// What was read.
struct Report {
    speaker: Speaker,
    separated: &'static str,
    parsed: Vec<Parsed>,
}

impl Report {
    fn text(&self) -> String {
        let mut table = Table::new(["no.", "status", "class", "repairs", "action"]);
        for (position, parsed) in self.parsed.iter().enumerate() {
            table.row([
                (position + 1).to_string(),
                status(parsed.status).to_owned(),
                self.speaker.class(&parsed.action).to_owned(),
                or_dash(&repairs(parsed).join(", ")),
                self.action(&parsed.action),
            ]);
        }
        let mut counts = Table::new(["quantity", "count"]);
        for (name, count) in self.counts() {
            counts.row([name.to_owned(), count.to_string()]);
        }
        let count = self.parsed.len();
        let note = if self.speaker.scenario.is_none() {
            "; no tool is known, name a world with --world"
        } else {
            ""
        };
        let separated = self.separated;
        format!("{count} completions, {separated}{note}\n\n{table}\n{counts}")
    }

    fn completion_json(&self, parsed: &Parsed) -> Value {
        json!({
            "status": status(parsed.status),
            "class": self.speaker.class(&parsed.action),
            "repairs": repairs(parsed),
            "strict_reading_is_final": parsed.strict_reading_is_final,
            "action": self.action_json(&parsed.action),
        })
    }

    fn counts_json(&self) -> Value {
        let counts = self.counts().into_iter();
        counts
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect()
    }

    /// The counts of Table 24, under the names of the columns of a row. Other than there, also strict
    /// final answers are among those that a reader without repairs calls so: of the 96 of Table 24 that
    /// are 93, although only 91 are not strict.
    fn counts(&self) -> Vec<(&'static str, usize)> {
        let count = |is_it: &dyn Fn(&Parsed) -> bool| {
            self.parsed.iter().filter(|parsed| is_it(parsed)).count()
        };
        let class = |name: &str| count(&|parsed| self.speaker.class(&parsed.action) == name);
        let of_status = |status| count(&|parsed: &Parsed| parsed.status == status);
        vec![
            ("model_actions", self.parsed.len()),
            ("valid_actions", class("valid")),
            ("delegate_actions", class("delegate")),
            ("final_actions", class("final")),
            ("invalid_tool_actions", class("invalid_tool")),
            ("invalid_schema_actions", class("invalid_schema")),
            ("valid_strict_json", of_status(ParseStatus::ValidStrictJson)),
            (
                "valid_repaired_json",
                of_status(ParseStatus::ValidRepairedJson),
            ),
            ("invalid_schema", of_status(ParseStatus::InvalidSchema)),
            (
                "old_action_like_final_answers",
                count(&|parsed| parsed.strict_reading_is_final || is_strict_final(parsed)),
            ),
        ]
    }

    fn action(&self, action: &Action) -> String {
        match action {
            Action::ToolCall {
                tool, arguments, ..
            } => {
                let tool = &self.speaker.tools()[tool.index()];
                let arguments: Vec<String> = arguments
                    .iter()
                    .map(|(position, value)| {
                        let name = &tool.arguments[usize::from(*position)].name;
                        format!("{name}: {}", shortened(&value.to_string()))
                    })
                    .collect();
                format!("{}({})", tool.name, arguments.join(", "))
            }
            Action::Delegate { to, .. } => format!("hand off to {}", shortened(to)),
            Action::Final { text } => format!("answer: {}", one_line(text)),
            Action::InvalidTool { name } => format!("unknown: {}", one_line(name)),
            Action::InvalidSchema { problem } => format!("nothing: {problem}"),
        }
    }

    fn action_json(&self, action: &Action) -> Value {
        match action {
            Action::ToolCall {
                tool,
                arguments,
                keep_result,
            } => {
                let tool = &self.speaker.tools()[tool.index()];
                let arguments = arguments.iter().map(|(position, value)| {
                    let name = &tool.arguments[usize::from(*position)].name;
                    (name.to_string(), json!(value.to_string()))
                });
                let arguments: Value = arguments.collect();
                json!({ "tool": *tool.name, "arguments": arguments, "keep_result": keep_result })
            }
            Action::Delegate { to, content } => {
                let fields = content.iter();
                let fields = fields.map(|field| (field.name.to_string(), json!(*field.value)));
                json!({ "to": **to, "content": fields.collect::<Value>() })
            }
            Action::Final { text } => json!({ "text": **text }),
            Action::InvalidTool { name } => json!({ "unknown": **name }),
            Action::InvalidSchema { problem } => json!({ "problem": problem }),
        }
    }
}

/// As one JSON document.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serializer.serialize_struct("Report", 4)?;
        document.serialize_field("schema", &1)?;
        document.serialize_field("separated", self.separated)?;
        document.serialize_field("completions", &Completions(self))?;
        document.serialize_field("counts", &self.counts_json())?;
        document.end()
    }
}

/// The completions of a report, one after the other: all at once as values they would take a
/// thousand times the memory of their text.
struct Completions<'r>(&'r Report);

impl Serialize for Completions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        let completions = report.parsed.iter();
        serializer.collect_seq(completions.map(|parsed| report.completion_json(parsed)))
    }
}

fn is_strict_final(parsed: &Parsed) -> bool {
    parsed.status == ParseStatus::ValidStrictJson && matches!(parsed.action, Action::Final { .. })
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    shortened(&words.join(" "))
}

fn repairs(parsed: &Parsed) -> Vec<String> {
    let names = parsed.repairs.iter_names();
    names.map(|(name, _)| name.to_lowercase()).collect()
}

fn status(status: ParseStatus) -> &'static str {
    match status {
        ParseStatus::ValidStrictJson => "valid_strict_json",
        ParseStatus::ValidRepairedJson => "valid_repaired_json",
        ParseStatus::InvalidSchema => "invalid_schema",
    }
}

fn or_dash(text: &str) -> String {
    if text.is_empty() {
        "-".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_are_told_apart() {
        let lines = "{\"a\": 1}\nsecond\n";
        assert_eq!(Split::Auto.decide(lines), Split::Line);
        assert_eq!(Split::Line.completions(lines), ["{\"a\": 1}", "second"]);
        let blocks = "one\nstill one\n\n \ntwo\n";
        assert_eq!(Split::Auto.decide(blocks), Split::Blank);
        assert_eq!(Split::Blank.completions(blocks), ["one\nstill one", "two"]);
        assert!(Split::Blank.completions("\n\n").is_empty());
    }
}
