//! A parser of the canonical forms for the tests of this crate, which also reads them in a code
//! fence. The parser of Appendix I stands in `models`.

use plugins::action::{Action, ActionParser, ParseStatus, Parsed, Repairs, ToolCatalogue};
use plugins::tool::ValueKind;
use plugins::value::{Field, Value};
use serde_json::Value as Json;

pub(crate) struct PlainParser;

impl ActionParser for PlainParser {
    fn parse(&self, completion: &str, catalogue: ToolCatalogue<'_>) -> Parsed {
        let text = completion.trim();
        let fenced = text
            .strip_prefix("```json")
            .and_then(|text| text.strip_suffix("```"));
        let action = serde_json::from_str(fenced.unwrap_or(text))
            .ok()
            .and_then(|json| read(&json, catalogue));
        let (status, repairs) = match (&action, fenced) {
            (None, _) => (ParseStatus::InvalidSchema, Repairs::empty()),
            (Some(_), None) => (ParseStatus::ValidStrictJson, Repairs::empty()),
            (Some(_), Some(_)) => (ParseStatus::ValidRepairedJson, Repairs::FENCE),
        };
        Parsed {
            status,
            repairs,
            action: action.unwrap_or(Action::InvalidSchema {
                problem: "no canonical form",
            }),
            strict_reading_is_final: status != ParseStatus::ValidStrictJson,
        }
    }
}

fn read(json: &Json, catalogue: ToolCatalogue<'_>) -> Option<Action> {
    match json["action"].as_str()? {
        "tool" => tool(json, catalogue),
        "delegate" => {
            let text = |json: &Json| json.as_str().map(Into::into);
            let fields = json["content"].as_object()?.iter();
            let content: Option<Vec<Field>> = fields
                .map(|(name, value)| {
                    Some(Field {
                        name: name.as_str().into(),
                        value: text(value)?,
                    })
                })
                .collect();
            Some(Action::Delegate {
                to: text(&json["to"])?,
                content: content?,
            })
        }
        "final" => Some(Action::Final {
            text: json["text"].as_str()?.into(),
        }),
        _ => None,
    }
}

fn tool(json: &Json, catalogue: ToolCatalogue<'_>) -> Option<Action> {
    let name = json["tool"].as_str()?;
    let Some((tool, spec)) = catalogue.find(name) else {
        return Some(Action::InvalidTool { name: name.into() });
    };
    let given = json["arguments"].as_object()?;
    let mut arguments = Vec::new();
    for (position, argument) in (0..).zip(&spec.arguments) {
        match given.get(&*argument.name) {
            Some(value) => arguments.push((position, convert(argument.kind, value)?)),
            None if argument.required => return None,
            None => {}
        }
    }
    Some(Action::ToolCall {
        tool,
        arguments,
        keep_result: json["keep_result"].as_bool().unwrap_or(true),
    })
}

fn convert(kind: ValueKind, json: &Json) -> Option<Value> {
    Some(match kind {
        ValueKind::Text => Value::text(json.as_str()?),
        ValueKind::List => Value::List(
            json.as_array()?
                .iter()
                .map(|item| item.as_str().map(Into::into))
                .collect::<Option<_>>()?,
        ),
        ValueKind::Integer => Value::Integer(json.as_i64()?),
        ValueKind::Boolean => Value::Boolean(json.as_bool()?),
    })
}
