//! The first line of a process: who it is, and what it wants to be asked.

use plugins::policy::{Hook, Hooks, is_rule_name};
use serde::Deserialize;
use serde_json::json;

use crate::words::Word;

/// The version of the protocol.
pub(crate) const PROTOCOL: u32 = 1;

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Policy,
    Attacker,
    Auditor,
}

impl Kind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Attacker => "attacker",
            Self::Auditor => "auditor",
        }
    }
}

/// What a process says of itself. The same each time that it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) name: String,
    pub(crate) summary: String,
    /// Its own version. A change of it is a change of its files, so it is only compared.
    version: u32,
    pub(crate) hooks: Hooks,
    /// Whether it returns a state with each answer.
    pub(crate) keeps_state: bool,
    /// Whether it wants nodes and edges with each event.
    pub(crate) wants_graph: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    protocol: u32,
    #[serde(rename = "as")]
    kind: Option<String>,
    name: String,
    summary: Option<String>,
    version: u32,
    hooks: Option<Vec<String>>,
    #[serde(default)]
    state: bool,
    #[serde(default)]
    graph: bool,
}

impl Hello {
    /// The answer of a policy that reads as this.
    pub(crate) fn text(&self) -> String {
        let hooks: Vec<_> = self
            .hooks
            .iter()
            .filter_map(|hook| {
                let mut all = Hook::ALL.iter();
                all.find(|one| Hooks::from(**one) == hook).map(Word::word)
            })
            .collect();
        json!({
            "protocol": PROTOCOL,
            "name": self.name,
            "summary": self.summary,
            "version": self.version,
            "hooks": hooks,
            "state": self.keeps_state,
            "graph": self.wants_graph,
        })
        .to_string()
    }
}

/// The question.
pub(crate) fn question(kind: Kind) -> Vec<u8> {
    format!("{{\"hello\":{PROTOCOL},\"as\":\"{}\"}}\n", kind.word()).into_bytes()
}

/// Reads the answer.
pub(crate) fn read(line: &[u8], kind: Kind) -> Result<Hello, String> {
    const LONGEST_SUMMARY: usize = 200;
    let text = std::str::from_utf8(line).map_err(|error| format!("hello is not UTF-8: {error}"))?;
    let line: Line = serde_json::from_str(text)
        .map_err(|error| format!("no hello: {error}: {}", crate::hear::shortened(text)))?;
    if line.protocol != PROTOCOL {
        let found = line.protocol;
        return Err(format!(
            "speaks protocol {found}, and this program speaks {PROTOCOL}"
        ));
    }
    let found = line.kind.as_deref().unwrap_or(Kind::Policy.word());
    if found != kind.word() {
        let found = crate::hear::shortened(found);
        return Err(format!(
            "says that it is `{found}`, and is used as `{}`",
            kind.word()
        ));
    }
    if !is_rule_name(&line.name) {
        let name = crate::hear::shortened(&line.name);
        return Err(format!(
            "`{name}` is no name: 1 to 64 lower-case letters, digits and `_`"
        ));
    }
    let summary = line.summary.unwrap_or_default();
    if summary.chars().any(char::is_control) || summary.chars().count() > LONGEST_SUMMARY {
        return Err(format!(
            "the summary is no line of at most {LONGEST_SUMMARY} letters"
        ));
    }
    if kind == Kind::Auditor && line.state {
        return Err("an auditor keeps no state".into());
    }
    Ok(Hello {
        name: line.name,
        summary,
        version: line.version,
        hooks: hooks(line.hooks, kind)?,
        keeps_state: line.state,
        wants_graph: line.graph || kind == Kind::Auditor,
    })
}

fn hooks(words: Option<Vec<String>>, kind: Kind) -> Result<Hooks, String> {
    let mut hooks = Hooks::empty();
    match (words, kind) {
        (Some(words), Kind::Policy) => {
            for word in words {
                hooks |= Hooks::from(*Hook::named(&word)?);
            }
            Ok(hooks)
        }
        (None, Kind::Policy) => Err("a hello of a policy without `hooks`".into()),
        (Some(_), _) => Err("`hooks` are for policies".into()),
        (None, _) => Ok(hooks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"protocol":1,"name":"a","version":1,"hooks":["proposal","commit"]}"#;

    #[test]
    fn a_hello_says_what_a_policy_wants_to_be_asked() {
        let hello = read(GOOD.as_bytes(), Kind::Policy).unwrap();
        assert_eq!(hello.hooks, Hooks::PROPOSAL | Hooks::COMMIT);
        assert!(!hello.keeps_state && !hello.wants_graph && hello.summary.is_empty());
        assert_eq!(read(hello.text().as_bytes(), Kind::Policy), Ok(hello));
    }

    #[test]
    fn what_is_no_hello_is_refused() {
        for (from, to, message) in [
            ("\"protocol\":1", "\"protocol\":2", "speaks protocol 2"),
            ("\"name\":\"a\"", "\"name\":\"A\"", "is no name"),
            ("\"version\":1", "\"versoin\":1", "unknown field `versoin`"),
            ("\"commit\"", "\"committed\"", "`committed` is none of"),
            (
                ",\"hooks\":[\"proposal\",\"commit\"]",
                "",
                "without `hooks`",
            ),
            (
                "\"version\":1",
                "\"version\":1,\"as\":\"auditor\"",
                "is used as `policy`",
            ),
            (
                "\"version\":1",
                "\"version\":1,\"summary\":\"a\\nb\"",
                "no line",
            ),
            ("{", "hello {", "no hello"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            let refused = read(text.as_bytes(), Kind::Policy).unwrap_err();
            assert!(refused.contains(message), "{text}: {refused}");
        }
        assert!(read(&[0xFF], Kind::Policy).is_err());
        assert!(read(GOOD.as_bytes(), Kind::Attacker).is_err());
    }
}
