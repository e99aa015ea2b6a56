//! Rules and updates as JSON text, in the form of Progent:
//! `{"TOOL": [[PRIORITY, EFFECT, {"ARGUMENT": SCHEMA}, FALLBACK], ...]}`.

use serde_json::{Map, Value as Json};

use super::engine::{Effect, Fallback, Rule, RuleMap};
use crate::schema::{Schema, SchemaError};

/// What the generator writes after it has seen a result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The tool whose result brings the update about.
    pub after: String,
    /// The rules that replace the generated ones of the tools that they name.
    pub rules: RuleMap,
}

/// Reads rules. Empty text: none.
///
/// # Errors
/// When the text is no JSON (with line and column) or not of the form (with the place in it).
pub fn read_rules(text: &str) -> Result<RuleMap, String> {
    if text.trim().is_empty() {
        return Ok(RuleMap::default());
    }
    rule_map(&parse(text)?, "")
}

/// Reads updates, `[{"after": TOOL, "rules": RULES}, ...]`. Empty text: none.
///
/// # Errors
/// As [`read_rules`]; also when a rule has the priority of a person's.
pub fn read_updates(text: &str) -> Result<Vec<Update>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let parsed = parse(text)?;
    let items = parsed
        .as_array()
        .ok_or_else(|| wrong("", "a list of updates"))?;
    let numbered = items.iter().enumerate();
    numbered
        .map(|(number, item)| update(item, &format!("/{number}")))
        .collect()
}

fn parse(text: &str) -> Result<Json, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn wrong(place: &str, expected: &str) -> String {
    format!("at `{place}`: expected {expected}")
}

fn update(item: &Json, place: &str) -> Result<Update, String> {
    let members = item.as_object().filter(|members| members.len() == 2);
    let after = members.and_then(|members| members.get("after")?.as_str());
    let rules = members.and_then(|members| members.get("rules"));
    let (Some(after), Some(rules)) = (after, rules) else {
        return Err(wrong(place, "an object with `after`, a tool, and `rules`"));
    };
    let place = format!("{place}/rules");
    let rules = rule_map(rules, &place)?;
    for (tool, own) in rules.iter() {
        if own.iter().any(|rule| rule.priority < Rule::GENERATED) {
            let place = format!("{place}/{tool}");
            return Err(wrong(
                &place,
                "priorities from 100: the smaller are people's",
            ));
        }
    }
    Ok(Update {
        after: after.to_owned(),
        rules,
    })
}

fn rule_map(json: &Json, place: &str) -> Result<RuleMap, String> {
    let tools = json
        .as_object()
        .ok_or_else(|| wrong(place, "an object of tools"))?;
    let mut map = RuleMap::default();
    for (tool, rules) in tools {
        let place = format!("{place}/{tool}");
        let rules = rules
            .as_array()
            .ok_or_else(|| wrong(&place, "a list of rules"))?;
        let numbered = rules.iter().enumerate();
        let rules: Result<Vec<Rule>, String> = numbered
            .map(|(number, item)| rule(item, &format!("{place}/{number}")))
            .collect();
        map.add(tool, rules?);
    }
    Ok(map)
}

fn rule(json: &Json, place: &str) -> Result<Rule, String> {
    let parts = json.as_array().map(Vec::as_slice);
    let (priority, effect, restrictions, fallback) = match parts {
        Some(
            [priority, effect, restrictions, fallback]
            | [priority, effect, restrictions, fallback, Json::Null],
        ) => (priority, effect, restrictions, fallback),
        Some([_, _, _, _, _]) => {
            let form = "no update within a rule: give updates in the parameter `updates`";
            return Err(wrong(place, form));
        }
        _ => {
            return Err(wrong(
                place,
                "[priority, effect, {argument: schema}, fallback]",
            ));
        }
    };
    let at = |part: u32| format!("{place}/{part}");
    Ok(Rule {
        priority: priority
            .as_i64()
            .ok_or_else(|| wrong(&at(0), "a whole number"))?,
        effect: match effect.as_i64() {
            Some(0) => Effect::Allow,
            Some(1) => Effect::Forbid,
            _ => return Err(wrong(&at(1), "0 (allow) or 1 (forbid)")),
        },
        restrictions: restrictions
            .as_object()
            .ok_or_else(|| wrong(&at(2), "an object of arguments"))
            .and_then(|members| self::restrictions(members, &at(2)))?,
        fallback: match fallback.as_i64() {
            Some(0) => Fallback::Message,
            Some(1) => Fallback::Terminate,
            Some(2) => Fallback::Confirm,
            _ => return Err(wrong(&at(3), "0 (message), 1 (terminate) or 2 (confirm)")),
        },
        entry: None,
    })
}

fn restrictions(
    members: &Map<String, Json>,
    place: &str,
) -> Result<std::collections::BTreeMap<String, Schema>, String> {
    let read = |(name, schema): (&String, &Json)| {
        let schema = Schema::read(schema).map_err(|SchemaError { place: at, problem }| {
            format!("at `{place}/{name}{at}`: {problem}")
        })?;
        Ok((name.clone(), schema))
    };
    members.iter().map(read).collect()
}
