//! A recording as text: reading it, with every mistake at its place, and writing it.

use std::collections::BTreeMap;

use plugins::model::{Derivation, Input};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::shown::{HASH_DIGITS, Shown};
use super::{MAX_COMPLETIONS, MAX_RECORDING_BYTES, VERSION};

/// What mends a recording that was damaged.
const RECORD_AGAIN: &str = "write it again with `containment run ... --record FILE`";

/// A recording, checked: every agent has its turns from 0 without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    header: Header,
    /// By agent and episode, in the order of the turns.
    pub(super) agents: BTreeMap<String, BTreeMap<u32, Vec<Completion>>>,
}

/// A recording cannot be read, and nothing can be run with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct RecordingError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would mend it.
    pub help: String,
    /// Whether the recording is of another version of the format.
    pub is_other_version: bool,
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `recording`")]
struct Header {
    recording: u32,
    model: String,
    scenario: String,
}

/// The version in a first line, whatever else stands there.
#[derive(Deserialize)]
#[serde(expecting = "an object with `recording`")]
struct Version {
    recording: u64,
}

/// Every other line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with one completion")]
pub(super) struct Completion {
    pub(super) agent: String,
    pub(super) episode: u32,
    pub(super) turn: u32,
    pub(super) shown: Shown,
    pub(super) text: String,
    pub(super) latency_ticks: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) tag: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) derivations: Vec<Derivation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) choice: Option<SmallVec<[Input; 2]>>,
    /// The line on which it stands; 0 before it is read.
    #[serde(skip)]
    pub(super) place: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes every field by reference"
)]
const fn is_zero(tag: &u32) -> bool {
    *tag == 0
}

/// The first line of a recording of `model` in the world called `scenario`, without its line break.
#[must_use]
pub fn header(model: &str, scenario: &str) -> String {
    line(&Header {
        recording: VERSION,
        model: model.to_owned(),
        scenario: scenario.to_owned(),
    })
}

impl Completion {
    /// As a line, without its line break.
    pub(super) fn line(&self) -> String {
        line(self)
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers can be written as JSON")
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// When it is too large, of another version or not well-formed; nothing can be played then.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        if text.len() > MAX_RECORDING_BYTES {
            let message = format!("the recording has more than {MAX_RECORDING_BYTES} bytes");
            return Err(refused(1, 1, message));
        }
        let mut lines = text.lines().zip(1..);
        let (first, _) = lines.next().unwrap_or_default();
        let mut recording = Self {
            header: read_header(first)?,
            agents: BTreeMap::new(),
        };
        for (text, number) in lines {
            if number > MAX_COMPLETIONS + 1 {
                let message = format!("there are more than {MAX_COMPLETIONS} completions");
                return Err(refused(number, 1, message));
            }
            let completion = Completion {
                place: number,
                ..read(text, number)?
            };
            recording.add(completion)?;
        }
        Ok(recording)
    }

    /// The identity of the world in which it was made.
    #[must_use]
    pub fn scenario(&self) -> &str {
        &self.header.scenario
    }

    /// The name of the model that said what is in it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.header.model
    }

    /// Adds the next completion of its agent and episode.
    fn add(&mut self, completion: Completion) -> Result<(), RecordingError> {
        let refuse = |message| Err(refused(completion.place, 1, message));
        let digits = completion.shown.context.as_bytes();
        if digits.len() != HASH_DIGITS || !digits.iter().all(u8::is_ascii_hexdigit) {
            return refuse(format!("`context` is no hash of {HASH_DIGITS} digits"));
        }
        let (agent, episode) = (&completion.agent, completion.episode);
        let episodes = self.agents.entry(agent.clone()).or_default();
        let earlier = episodes.entry(episode).or_default();
        let turn = completion.turn as usize;
        if let Some(first) = earlier.get(turn) {
            return refuse(format!(
                "turn {turn} of agent `{agent}` in episode {episode} is given twice, first on line {}",
                first.place
            ));
        }
        if turn > earlier.len() {
            return refuse(format!(
                "turn {} of agent `{agent}` in episode {episode} is missing before turn {turn}",
                earlier.len()
            ));
        }
        earlier.push(completion);
        Ok(())
    }
}

fn read_header(text: &str) -> Result<Header, RecordingError> {
    let Version { recording } = read(text, 1)?;
    if recording != u64::from(VERSION) {
        let message = format!(
            "version {recording} of the format is not supported; this program reads {VERSION}"
        );
        return Err(RecordingError {
            is_other_version: true,
            ..refused(1, 1, message)
        });
    }
    read(text, 1)
}

/// One line as JSON. The reader has a limit of its own on how deep it nests.
fn read<T: DeserializeOwned>(text: &str, number: usize) -> Result<T, RecordingError> {
    serde_json::from_str(text).map_err(|error| {
        let message = if text.trim().is_empty() {
            "the line is empty".to_owned()
        } else if error.is_eof() {
            "the line breaks off".to_owned()
        } else {
            in_words(&error)
        };
        refused(number, column(text, error.column()), message)
    })
}

/// The column in characters of a byte, which is counted from 1 and may lie at the end.
fn column(text: &str, byte: usize) -> usize {
    let before = text.floor_char_boundary(byte.saturating_sub(1));
    text[..before].chars().count() + 1
}

/// What a reader of JSON says, without the place and the names of types.
fn in_words(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(said, _)| said);
    let mut said = said.to_owned();
    for number in ["u16", "u32", "u64"] {
        said = said.replace(&format!("expected {number}"), "expected a whole number");
    }
    said
}

fn refused(line: usize, column: usize, message: String) -> RecordingError {
    RecordingError {
        line,
        column,
        message,
        help: RECORD_AGAIN.to_owned(),
        is_other_version: false,
    }
}
