//! Policies as JSON text: `[["PATTERN", {"check": KIND, ...}], ...]`, the first that fits decides.

use serde_json::{Map, Value as Json};

use super::engine::{Check, Field, ToolPolicy};

/// Reads policies. Empty text: none given.
///
/// # Errors
/// When the text is no JSON (with line and column) or not of the form (with the place in it).
pub fn read_policies(text: &str) -> Result<Option<Vec<ToolPolicy>>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let parsed: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let items = parsed
        .as_array()
        .ok_or_else(|| wrong("", "a list of policies"))?;
    let numbered = items.iter().enumerate();
    let policies: Result<Vec<_>, _> = numbered
        .map(|(number, item)| policy(item, &format!("/{number}")))
        .collect();
    policies.map(Some)
}

fn wrong(place: &str, expected: &str) -> String {
    format!("at `{place}`: expected {expected}")
}

fn policy(item: &Json, place: &str) -> Result<ToolPolicy, String> {
    let Some([Json::String(pattern), Json::Object(members)]) = item.as_array().map(Vec::as_slice)
    else {
        return Err(wrong(place, "[pattern, {\"check\": ...}]"));
    };
    Ok(ToolPolicy {
        pattern: pattern.clone(),
        check: check(members, &format!("{place}/1"))?,
    })
}

fn check(members: &Map<String, Json>, place: &str) -> Result<Check, String> {
    let kind = members.get("check").and_then(Json::as_str);
    let names: &[&str] = match kind {
        Some("nothing") => &[],
        Some("trusted" | "public" | "delete") => &["fields"],
        Some("trusted_or_readable" | "trusted_and_readable") => &["recipients", "data"],
        _ => {
            let kinds = "one of nothing, trusted, trusted_or_readable, trusted_and_readable, \
                         public, delete";
            return Err(wrong(&format!("{place}/check"), kinds));
        }
    };
    if let Some(name) = members
        .keys()
        .find(|name| *name != "check" && !names.contains(&name.as_str()))
    {
        return Err(wrong(&format!("{place}/{name}"), "no such member"));
    }
    let list = |name: &str| fields(members.get(name), &format!("{place}/{name}"));
    Ok(match kind {
        Some("trusted") => Check::Trusted(list("fields")?),
        Some("public") => Check::Public(list("fields")?),
        Some("delete") => match list("fields")?.as_slice() {
            [field] => Check::Delete(field.clone()),
            _ => return Err(wrong(&format!("{place}/fields"), "one argument")),
        },
        Some("trusted_or_readable") => Check::TrustedOrReadable {
            recipients: list("recipients")?,
            data: list("data")?,
        },
        Some("trusted_and_readable") => Check::TrustedAndReadable {
            recipients: list("recipients")?,
            data: list("data")?,
        },
        _ => Check::Nothing,
    })
}

/// Names of arguments; one that ends in `?` may be absent.
fn fields(json: Option<&Json>, place: &str) -> Result<Vec<Field>, String> {
    let expected = || wrong(place, "a list of argument names");
    let names = json.and_then(Json::as_array).ok_or_else(expected)?;
    let field = |name: &Json| {
        let name = name.as_str().ok_or_else(expected)?;
        let optional = name.strip_suffix('?');
        Ok(Field {
            name: optional.unwrap_or(name).to_owned(),
            required: optional.is_none(),
        })
    };
    names.iter().map(field).collect()
}
