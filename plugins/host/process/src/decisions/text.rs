//! A recording as text: JSON Lines, with the sum of everything in the header.

use std::collections::BTreeMap;
use std::ops::Range;

use plugins::loaded::Mistake;
use plugins::policy::Hook;
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::Xxh3;

use super::{Decision, Kept};
use crate::hear::{self, Answer};
use crate::hello::{self, Hello, Kind};
use crate::words::Word;

/// The version of the format, and of what the keys are made of.
const FORMAT: u32 = 1;

/// What mends most of what can be wrong.
const AS_WRITTEN: &str = "give the recording as it was written, or record again";

#[derive(Deserialize)]
struct Version {
    decisions: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    #[serde(rename = "decisions")]
    _format: u32,
    policy_content: String,
    answers: u64,
    sum: String,
    #[serde(borrow)]
    hello: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    key: String,
    hook: String,
    #[serde(borrow)]
    answer: Option<&'a RawValue>,
    fault: Option<String>,
}

impl Kept {
    /// The bytes of its line.
    pub(super) fn bytes(&self) -> usize {
        let mut line = String::new();
        self.write(0, &mut line);
        line.len()
    }

    /// Appends its line.
    fn write(&self, key: u128, text: &mut String) {
        let (kind, json) = match &self.decision {
            Decision::Answer(answer) => ("answer", answer.to_string()),
            Decision::Fault(message) => ("fault", serde_json::Value::from(&**message).to_string()),
        };
        let ask = self.ask;
        text.push_str(&format!(
            "{{\"key\":\"{key:032x}\",\"hook\":\"{ask}\",\"{kind}\":{json}}}\n"
        ));
    }
}

/// The text of a recording.
pub(super) fn written(content: u128, hello: &Hello, kept: &BTreeMap<u128, Kept>) -> String {
    let mut lines = String::new();
    for (key, one) in kept {
        one.write(*key, &mut lines);
    }
    let hello = hello.text();
    let (answers, sum) = (kept.len(), sum(content, &hello, &lines));
    format!(
        "{{\"decisions\":{FORMAT},\"policy_content\":\"{content:032x}\",\"answers\":{answers},\"sum\":\"{sum:032x}\",\"hello\":{hello}}}\n{lines}"
    )
}

/// A sum over everything that the header does not say of the other lines.
fn sum(content: u128, hello: &str, lines: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&content.to_le_bytes());
    hash.update(&(hello.len() as u64).to_le_bytes());
    hash.update(hello.as_bytes());
    hash.update(lines.as_bytes());
    hash.digest128()
}

type Read = (u128, Hello, BTreeMap<u128, Kept>);

/// Reads the text of a recording.
pub(super) fn read(text: &str, most_bytes: usize) -> Result<Read, Mistake> {
    if text.len() > most_bytes.saturating_add(1 << 16) {
        let message = format!("the recording is longer than {most_bytes} bytes");
        return Err(Mistake::new(message).help("record fewer rollouts at once"));
    }
    let (first, lines) = text.split_once('\n').unwrap_or((text, ""));
    let wrong = |message: String| {
        let mistake = Mistake::new(message).help(AS_WRITTEN);
        mistake.at(0..first.len())
    };
    let version: Version =
        serde_json::from_str(first).map_err(|error| wrong(no_header(&error.to_string())))?;
    if version.decisions != FORMAT {
        let found = version.decisions;
        let message = format!("a recording in format {found}, and this program reads {FORMAT}");
        let help = "play it with the program that recorded it, or record again";
        return Err(wrong(message).help(help));
    }
    let header: Header<'_> =
        serde_json::from_str(first).map_err(|error| wrong(no_header(&error.to_string())))?;
    let content = hexadecimal(&header.policy_content)
        .ok_or_else(|| wrong("`policy_content` is no hash".into()))?;
    let hello = header.hello.get();
    let read_hello = hello::read(hello.as_bytes(), Kind::Policy).map_err(wrong)?;
    let kept = read_lines(text, first.len(), &read_hello)?;
    if kept.len() as u64 != header.answers {
        let (found, said) = (kept.len(), header.answers);
        let message = format!("the header says {said} answers, and there are {found}");
        return Err(wrong(message));
    }
    if hexadecimal(&header.sum) != Some(sum(content, hello, lines)) {
        let message = "the recording was changed after it was written: the sum is another";
        return Err(wrong(message.into()));
    }
    Ok((content, read_hello, kept))
}

fn no_header(error: &str) -> String {
    format!("the first line is not the header of a recording: {error}")
}

/// Reads the lines after the first, which ends at `first_end`.
fn read_lines(
    text: &str,
    first_end: usize,
    hello: &Hello,
) -> Result<BTreeMap<u128, Kept>, Mistake> {
    let mut kept = BTreeMap::new();
    let mut start = (first_end + 1).min(text.len());
    for line in text[start..].split_inclusive('\n') {
        let place = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        let (key, one) = read_line(line, hello).map_err(|message| mistake(message, &place))?;
        if kept.last_key_value().is_some_and(|(last, _)| *last >= key) {
            let message = "the keys do not ascend from line to line".into();
            return Err(mistake(message, &place));
        }
        kept.insert(key, one);
    }
    Ok(kept)
}

fn mistake(message: String, place: &Range<usize>) -> Mistake {
    Mistake::new(message).help(AS_WRITTEN).at(place.clone())
}

fn read_line(line: &str, hello: &Hello) -> Result<(u128, Kept), String> {
    let Line {
        key,
        hook,
        answer,
        fault,
    } = serde_json::from_str(line).map_err(|error| format!("no line of a recording: {error}"))?;
    let key = hexadecimal(&key).ok_or("`key` is no hash")?;
    let ask = Hook::named(&hook)?.word();
    let decision = match (answer, fault) {
        (Some(answer), None) => {
            let answer = answer.get();
            let numbered = hear::with_id(answer, 0);
            hear::read::<Answer>(&numbered, 0, hello.keeps_state)?;
            Decision::Answer(answer.into())
        }
        (None, Some(message)) => Decision::Fault(message.into()),
        _ => return Err("a line has either an `answer` or a `fault`".into()),
    };
    Ok((key, Kept { ask, decision }))
}

/// A hash as it is written: 32 digits.
fn hexadecimal(digits: &str) -> Option<u128> {
    let number = u128::from_str_radix(digits, 16).ok()?;
    (format!("{number:032x}") == digits).then_some(number)
}
