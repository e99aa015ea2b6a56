//! What was written down of rollouts: trace files and result folders.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::Lines;

use serde_json::{Map, Value};
use study::folder::{MANIFEST, MAX_ROWS_BYTES, ROWS, SCENARIOS};
use study::manifest::{Manifest, ManifestError};
use study::results::{self, Results, ResultsError};
use study::row::RowsError;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::files::{self, MAX_RESULT_BYTES};
use super::problem::Problem;

/// The version of traces that is read here.
const TRACE_SCHEMA: u64 = engine::export::jsonl::TRACE_SCHEMA as u64;

/// A trace file. Its text is kept as it is, because events as values take many times the memory.
#[derive(Debug)]
pub(crate) struct TraceFile {
    /// What messages call it.
    pub(crate) name: String,
    /// Its first line.
    pub(crate) header: Map<String, Value>,
    /// Everything, all lines of which have been read once and found to be events.
    text: String,
}

/// The events of a trace, each as the line that says it.
#[derive(Clone, Debug)]
pub(crate) struct Events<'t>(Lines<'t>);

impl<'t> Events<'t> {
    /// The events that these lines say.
    pub(crate) fn of(lines: &'t str) -> Self {
        Self(lines.lines())
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        self.0.find(|line| !line.is_empty())
    }
}

/// Something that was written down.
#[derive(Debug)]
pub(crate) enum Record {
    /// A trace.
    Trace(TraceFile),
    /// A result folder.
    Results(Box<Results>),
}

/// What lies at `path`: a trace file, the folder of a whole result, or one of the files in it.
pub(crate) fn read(path: &Path) -> Result<Record, Failure> {
    let record = read_any(path)?;
    if let Record::Results(results) = &record {
        require_whole(&results.manifest, path)?;
        let every = results.require_every_rollout();
        every.map_err(|error| unreadable(&error, path))?;
    }
    Ok(record)
}

/// Fails if the result is that of a shard.
pub(crate) fn require_whole(manifest: &Manifest, path: &Path) -> Result<(), Failure> {
    let Some(shard) = manifest.circumstances.shard else {
        return Ok(());
    };
    let name = &manifest.frozen.name;
    let message = format!("this is shard {shard} of the study `{name}`, not a whole result");
    let problem = Problem::new(message)
        .code(Code::WrongFile)
        .file(files::shown(path))
        .help("put all its shards together with `containment merge`, and name the result of that");
    Err(Failure::new(Exit::Incomplete, problem))
}

/// As [`read`], for whom the result of a shard is enough: each row of it is as good as any.
pub(crate) fn read_any(path: &Path) -> Result<Record, Failure> {
    if path.is_dir() {
        return results(path).map(|found| Record::Results(Box::new(found)));
    }
    let is_part = |name: &&str| path.file_name().is_some_and(|file| file == *name);
    if [ROWS, MANIFEST].iter().any(is_part) {
        let folder = path.parent().unwrap_or(Path::new(""));
        return results(folder).map(|found| Record::Results(Box::new(found)));
    }
    let text = files::text(path, MAX_RESULT_BYTES)?;
    TraceFile::parse(&files::shown(path), text).map(Record::Trace)
}

impl TraceFile {
    /// Reads a trace, up to the first line that is wrong. `name` is what messages call it.
    pub(crate) fn parse(name: &str, text: String) -> Result<Self, Failure> {
        let header = header(name, text.lines().next().unwrap_or_default())?;
        for (index, line) in text.lines().enumerate().skip(1) {
            if !line.is_empty() {
                check_event(name, line, index + 1)?;
            }
        }
        Ok(Self {
            name: name.to_owned(),
            header,
            text,
        })
    }

    /// The events.
    pub(crate) fn events(&self) -> Events<'_> {
        let (_, lines) = self.text.split_once('\n').unwrap_or_default();
        Events::of(lines)
    }

    /// A text of the header.
    pub(crate) fn text(&self, key: &str) -> Result<&str, Failure> {
        let value = self.header.get(key).and_then(Value::as_str);
        value.ok_or_else(|| self.lacks(key))
    }

    /// A text that the header may lack.
    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<&str>, Failure> {
        match self.header.get(key) {
            None => Ok(None),
            Some(_) => self.text(key).map(Some),
        }
    }

    /// A whole number of the header.
    pub(crate) fn number(&self, key: &str) -> Result<u64, Failure> {
        let value = self.header.get(key).and_then(Value::as_u64);
        value.ok_or_else(|| self.lacks(key))
    }

    /// Texts of the header under names of their own.
    pub(crate) fn texts(&self, key: &str) -> Result<BTreeMap<String, String>, Failure> {
        let values = self.header.get(key).and_then(Value::as_object);
        let values = values.ok_or_else(|| self.lacks(key))?;
        let text = |(name, value): (&String, &Value)| match value.as_str() {
            Some(text) => Ok((name.clone(), text.to_owned())),
            None => Err(self.lacks(&format!("{key}.{name}"))),
        };
        values.iter().map(text).collect()
    }

    /// Texts of the header that it may lack.
    pub(crate) fn texts_in(&self, key: &str) -> Result<Vec<String>, Failure> {
        let Some(value) = self.header.get(key) else {
            return Ok(Vec::new());
        };
        let values = value.as_array().ok_or_else(|| self.lacks(key))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let texts: Option<Vec<String>> = values.iter().map(text).collect();
        texts.ok_or_else(|| self.lacks(key))
    }

    fn lacks(&self, key: &str) -> Failure {
        not_a_trace(
            &self.name,
            1,
            &format!("the header does not say `{key}`, or says it wrongly"),
        )
        .into()
    }
}

/// The first line of a trace.
fn header(name: &str, line: &str) -> Result<Map<String, Value>, Failure> {
    let header = object(name, line, 1)?;
    if header.get("type").and_then(Value::as_str) != Some("header") {
        return Err(not_a_trace(name, 1, "the first line is no header of a trace").into());
    }
    let schema = header.get("schema").and_then(Value::as_u64);
    if schema != Some(TRACE_SCHEMA) {
        let found = schema.map_or_else(|| "none".to_owned(), |schema| schema.to_string());
        let message = format!("the trace has schema {found}, this program reads {TRACE_SCHEMA}");
        let problem = Problem::new(message).code(Code::WrongFile).file(name);
        return Err(Failure::new(Exit::UnsupportedVersion, problem));
    }
    Ok(header)
}

fn check_event(name: &str, line: &str, number: usize) -> Result<(), Failure> {
    let event = object(name, line, number)?;
    if event.get("type").and_then(Value::as_str) != Some("event") {
        let message = "the line is no event of a trace: its `type` is not `event`";
        return Err(not_a_trace(name, number, message).into());
    }
    Ok(())
}

fn object(name: &str, line: &str, number: usize) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(line)
        .map_err(|_| not_a_trace(name, number, "the line is not one JSON object").into())
}

fn not_a_trace(name: &str, line: usize, message: &str) -> Problem {
    Problem::new(format!("line {line}: {message}"))
        .code(Code::WrongFile)
        .file(name)
        .help("give a file written by `run --trace` or `trace`, or a folder written by `study`")
}

/// The result in a folder, of a whole study or of a shard.
pub(crate) fn results(folder: &Path) -> Result<Results, Failure> {
    let largest = [
        (MANIFEST, MAX_RESULT_BYTES),
        (SCENARIOS, MAX_RESULT_BYTES),
        (ROWS, MAX_ROWS_BYTES),
    ];
    for (name, limit) in largest {
        let help = "give a folder written by `study` or `merge`";
        files::check(&folder.join(name), limit).map_err(|problem| problem.help(help))?;
    }
    results::read(folder).map_err(|error| unreadable(&error, folder))
}

/// What to say of a result that cannot be read.
pub(crate) fn unreadable(error: &ResultsError, folder: &Path) -> Failure {
    let exit = match error {
        ResultsError::Manifest(ManifestError::Version { .. })
        | ResultsError::Rows(RowsError::Version { .. }) => Exit::UnsupportedVersion,
        ResultsError::Manifest(ManifestError::Digest { .. })
        | ResultsError::OtherFile { .. }
        | ResultsError::OtherRollouts { .. }
        | ResultsError::NoDigest(_) => Exit::Threshold,
        ResultsError::File(_)
        | ResultsError::Manifest(_)
        | ResultsError::Rows(_)
        | ResultsError::Scenarios { .. } => Exit::Invalid,
    };
    let problem = Problem::new(error.to_string())
        .code(Code::WrongFile)
        .file(files::shown(folder))
        .help("run the study again");
    Failure::new(exit, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Failure {
        TraceFile::parse("a.jsonl", text.to_owned()).expect_err("no trace")
    }

    #[test]
    fn only_traces_of_this_version_are_read() {
        let good = "{\"type\":\"header\",\"schema\":1}\n{\"type\":\"event\"}\n";
        let trace = TraceFile::parse("a.jsonl", good.to_owned()).expect("a trace");
        assert_eq!(trace.events().count(), 1);
        for wrong in [
            "",
            "x",
            "[]",
            "{\"schema\":1}",
            &good.replace("event\"}", "event\""),
        ] {
            assert_eq!(refused(wrong).exit, Exit::Invalid, "{wrong}");
        }
        let newer = good.replace("\"schema\":1", "\"schema\":2");
        assert_eq!(refused(&newer).exit, Exit::UnsupportedVersion);
    }
}
