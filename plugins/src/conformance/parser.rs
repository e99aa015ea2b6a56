//! The kit for parsers.

use super::generate::{random_value, random_world};
use super::random::Random;
use super::sample::World;
use super::{Law, Violation, check_rounds};
use crate::action::{Action, ActionParser, ParseStatus, Parsed, Repairs, ToolCatalogue};
use crate::ids::AgentId;
use crate::tool::{ToolSpec, ValueKind};
use crate::value::Value;

/// How many completions are read in a round.
const COMPLETIONS: u32 = 24;

/// Has `parser` read `rounds` sets of completions: random bytes, nearly valid JSON, extremes.
pub fn check_parser(parser: &dyn ActionParser, rounds: u64) -> Vec<Violation> {
    check_rounds(rounds, |round, report| {
        let world = random_world(round);
        let random = &mut Random::new(!round);
        for kind in 0..COMPLETIONS {
            let completion = completion(&world, random, kind);
            check_completion(parser, &world, &completion, report);
        }
    })
}

fn check_completion(
    parser: &dyn ActionParser,
    world: &World,
    completion: &str,
    report: &mut dyn FnMut(Law, String),
) {
    let catalogue = ToolCatalogue {
        tools: &world.briefing.tools,
        known: &world.briefing.agents[AgentId(0).index()].tools,
    };
    let parsed = parser.parse(completion, catalogue);
    let shown: String = completion.chars().take(200).collect();
    if parser.parse(completion, catalogue) != parsed {
        report(Law::Deterministic, format!("read twice: {shown}"));
    }
    if let Some(problem) = incoherence(&parsed, catalogue) {
        report(Law::Coherent, format!("{problem}: {shown}"));
    }
}

/// What is wrong with a reading, whatever the text was.
fn incoherence(parsed: &Parsed, catalogue: ToolCatalogue<'_>) -> Option<String> {
    let is_invalid = matches!(parsed.action, Action::InvalidSchema { .. });
    if (parsed.status == ParseStatus::InvalidSchema) != is_invalid {
        return Some(format!("{:?} as {:?}", parsed.action, parsed.status));
    }
    let is_repaired = parsed.repairs != Repairs::empty();
    if parsed.status == ParseStatus::ValidStrictJson && is_repaired
        || parsed.status == ParseStatus::ValidRepairedJson && !is_repaired
    {
        return Some(format!("{:?} with {:?}", parsed.status, parsed.repairs));
    }
    let Action::ToolCall {
        tool, arguments, ..
    } = &parsed.action
    else {
        return None;
    };
    if !catalogue.known.contains(tool) {
        return Some(format!("{tool:?} is not known"));
    }
    argument_problem(&catalogue.tools[tool.index()], arguments)
}

fn argument_problem(tool: &ToolSpec, arguments: &[(u16, Value)]) -> Option<String> {
    if !arguments.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Some("arguments do not ascend".to_owned());
    }
    for (position, value) in arguments {
        let Some(spec) = tool.arguments.get(usize::from(*position)) else {
            return Some(format!("there is no argument {position}"));
        };
        if !is_of_kind(value, spec.kind) {
            return Some(format!("{value:?} is not {:?}", spec.kind));
        }
    }
    let given = |position: u16| arguments.iter().any(|(given, _)| *given == position);
    (0..)
        .zip(&tool.arguments)
        .find(|(position, spec)| spec.required && !given(*position))
        .map(|(_, spec)| format!("`{}` is missing", spec.name))
}

fn is_of_kind(value: &Value, kind: ValueKind) -> bool {
    matches!(
        (value, kind),
        (Value::Text(_), ValueKind::Text)
            | (Value::List(_), ValueKind::List)
            | (Value::Integer(_), ValueKind::Integer)
            | (Value::Boolean(_), ValueKind::Boolean)
    )
}

/// A completion: mostly an action with some damage, now and then bytes or an extreme.
fn completion(world: &World, random: &mut Random, kind: u32) -> String {
    match kind {
        0 => random_bytes(random),
        1 => extreme(random),
        _ => {
            let mut text = action_text(world, random);
            for _ in 0..random.below(4) {
                text = damaged(&text, random);
            }
            text
        }
    }
}

fn random_bytes(random: &mut Random) -> String {
    let bytes: Vec<u8> = (0..random.below(400))
        .map(|_| u8::try_from(random.below(256)).unwrap_or(0))
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Deep, long or repeated beyond reason.
fn extreme(random: &mut Random) -> String {
    match random.below(8) {
        0 => "[".repeat(50_000),
        1 => "{\"action\":".repeat(20_000),
        2 => format!(
            "{{\"action\":\"final\",\"text\":\"{}\"}}",
            "x".repeat(200_000)
        ),
        3 => format!("{{\"action\":{}}}", "9".repeat(5_000)),
        4 => "```json\n".repeat(5_000),
        5 => "{}".repeat(20_000),
        6 => "\\".repeat(20_001),
        _ => String::new(),
    }
}

/// An action in the canonical form or in one that models are known to use.
fn action_text(world: &World, random: &mut Random) -> String {
    let tools = &world.briefing.tools;
    let spec = &tools[random.index(tools.len())];
    let name = if random.one_in(6) {
        "no_such_tool"
    } else {
        &spec.name
    };
    let arguments = arguments_text(world, random, spec);
    match random.below(7) {
        0 => "{\"action\":\"final\",\"text\":\"done\"}".to_owned(),
        1 => "{\"action\":\"delegate\",\"to\":\"helper\",\"content\":{\"text\":\"go\"}}".to_owned(),
        2 => format!("{{\"action\":\"{name}\",\"arguments\":{arguments}}}"),
        3 => format!("{{\"Action\":\"{name}\",\"Action Input\":{arguments}}}"),
        4 => format!("Thought: go on\nAction: {name}\nAction Input: {arguments}"),
        _ => format!("{{\"action\":\"tool\",\"tool\":\"{name}\",\"arguments\":{arguments}}}"),
    }
}

fn arguments_text(world: &World, random: &mut Random, spec: &ToolSpec) -> String {
    let mut fields = Vec::new();
    for argument in &spec.arguments {
        let value = match random_value(world, random, argument.kind) {
            Value::List(items) => format!("[\"{}\"]", items.join("\",\"")),
            Value::Text(text) => format!("\"{text}\""),
            other => other.to_string(),
        };
        if !random.one_in(5) {
            fields.push(format!("\"{}\":{value}", argument.name));
        }
    }
    format!("{{{}}}", fields.join(","))
}

/// The text with one change, in whole letters.
fn damaged(text: &str, random: &mut Random) -> String {
    let letters: Vec<char> = text.chars().collect();
    let at = random.index(letters.len());
    let (before, after) = letters.split_at(at.min(letters.len()));
    let before: String = before.iter().collect();
    let after: String = after.iter().collect();
    match random.below(9) {
        0 => before,
        1 => after,
        2 => format!("{before}{}", after.chars().skip(1).collect::<String>()),
        3 => format!("{before}{after}{after}"),
        4 => text.replace('"', "'"),
        5 => format!("```json\n{text}\n```"),
        6 => format!("I shall do this now:\n{text}\nand then stop"),
        7 => text.replace('}', ",}"),
        _ => {
            let odd = [
                "{",
                "}",
                "\"",
                "\\",
                "\\u12",
                "\u{0}",
                "null",
                "`",
                "\u{1f600}",
            ];
            format!("{before}{}{after}", odd[random.index(odd.len())])
        }
    }
}
