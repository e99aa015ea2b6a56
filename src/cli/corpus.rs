//! A corpus of completions: JSON Lines, of which the first says who speaks in which world.

use serde::Deserialize;
use serde_json::Value;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::problem::Problem;

/// The version of the format that this program reads.
const VERSION: u64 = 1;

/// Completions, and whose they are.
#[derive(Debug)]
pub(crate) struct Corpus {
    /// The name of the shipped world whose tools may be called.
    pub(crate) world: String,
    /// The agent that speaks.
    pub(crate) agent: String,
    /// The completions, in the order of the file.
    pub(crate) completions: Vec<String>,
}

/// The first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// The version, which is looked at before the rest.
    #[serde(rename = "corpus")]
    _corpus: u64,
    world: String,
    agent: String,
    /// For readers.
    #[serde(default, rename = "note")]
    _note: String,
}

/// Every other line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
}

/// Reads a corpus; none if `text` does not say that it is one.
pub(crate) fn read(name: &str, text: &str) -> Result<Option<Corpus>, Failure> {
    let mut lines = text.lines().zip(1..);
    let (first, _) = lines.next().unwrap_or_default();
    let Some(version) = version(first) else {
        return Ok(None);
    };
    let problem = |message: String, line| {
        let problem = Problem::new(message).code(Code::WrongFile);
        problem.at(name, text, line, 1)
    };
    if version.as_u64() != Some(VERSION) {
        let message = format!("the corpus has version {version}, this program reads {VERSION}");
        return Err(Failure::new(Exit::UnsupportedVersion, problem(message, 1)));
    }
    let header: Header = serde_json::from_str(first).map_err(|_| {
        problem("the first line is no header of a corpus".to_owned(), 1)
            .help("write `corpus`, `world` and `agent` in it, and at most a `note` besides")
    })?;
    let mut completions = Vec::new();
    for (line, number) in lines {
        let Line { text } = serde_json::from_str(line).map_err(|_| {
            problem("the line is not one completion".to_owned(), number)
                .help("write each completion on one line as {\"text\": \"...\"}")
        })?;
        completions.push(text);
    }
    Ok(Some(Corpus {
        world: header.world,
        agent: header.agent,
        completions,
    }))
}

/// What the first line says of the version, if it is that of a corpus.
fn version(first: &str) -> Option<Value> {
    let header: Value = serde_json::from_str(first).ok()?;
    header.get("corpus").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"corpus":1,"world":"w","agent":"a","note":"n"}"#;

    #[test]
    fn only_what_says_so_is_a_corpus() {
        for text in [
            "",
            "x",
            "{}",
            "[1]",
            r#"{"action":"final","text":"corpus"}"#,
        ] {
            assert!(read("c", text).expect("no corpus").is_none(), "{text}");
        }
        let text = format!("{HEADER}\n{{\"text\":\"a\\nb\"}}\n");
        let corpus = read("c", &text).expect("well formed").expect("a corpus");
        assert_eq!((&*corpus.world, &*corpus.agent), ("w", "a"));
        assert_eq!(corpus.completions, ["a\nb"]);
    }

    #[test]
    fn a_wrong_corpus_is_refused() {
        for (text, exit) in [
            (HEADER.replace('1', "2"), Exit::UnsupportedVersion),
            (HEADER.replace('1', "\"1\""), Exit::UnsupportedVersion),
            (HEADER.replace("world", "word"), Exit::Invalid),
            (format!("{HEADER}\n\n"), Exit::Invalid),
            (format!("{HEADER}\n{{\"text\":"), Exit::Invalid),
            (format!("{HEADER}\n{{\"text\":1}}"), Exit::Invalid),
        ] {
            assert_eq!(read("c", &text).expect_err(&text).exit, exit, "{text}");
        }
    }
}
