//! What an instance keeps of its talk with a process: its state, and whether it failed; and how a
//! question is asked.

use std::io;
use std::sync::Arc;

use plugins::policy::Hook;
use plugins::state::RestoreError;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Value as Json, json};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::child::{Child, Trouble};
use crate::decisions::{Decision, Decisions, Heard};
use crate::hear::{self, Reply};
use crate::pool::Pool;
use crate::tell::{Object, Question};

/// The version of the saved state.
pub(crate) const STATE_VERSION: u32 = 1;

/// Bytes of a saved state before the state of the process: a flag.
const HEAD_BYTES: usize = 1;

/// Bytes of a saved state after it: a checksum.
const SUM_BYTES: usize = 8;

/// The talk of one instance.
pub(crate) struct Session {
    pub(crate) pool: Arc<Pool>,
    child: Option<Child>,
    /// How many events the process was told since its last `reset`; none: it must be reset.
    told: Option<usize>,
    /// The hash of what it would have been told since then, while answers are recorded or played.
    heard: Option<Heard>,
    /// The state of the process, in JSON as it wrote it; `null` at the beginning.
    state: Box<str>,
    /// Whether something went wrong: then nothing is asked any more.
    pub(crate) is_broken: bool,
}

/// An answer.
struct Understood<T> {
    answer: T,
    /// The state that came with it.
    state: Option<Box<str>>,
    /// The line in which it came.
    line: Vec<u8>,
}

impl Session {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            child: None,
            told: None,
            heard: None,
            state: "null".into(),
            is_broken: false,
        }
    }

    /// Asks one question. `reset` is what the process must know from the beginning, `events` how
    /// many events there are now and `event` one of them. None is a fault, now or earlier.
    ///
    /// `understand` turns the answer into what is wanted, or says why it is no answer.
    pub(crate) fn ask<R: Reply, T>(
        &mut self,
        hook: Option<Hook>,
        ask: &'static str,
        question: Question<'_>,
        understand: impl Fn(&R) -> Result<T, String>,
    ) -> Option<T> {
        if self.is_broken {
            return None;
        }
        let outcome = match self.pool.decisions.clone() {
            None => self.attempt(hook, ask, &question, &understand),
            Some(decisions) => self.decided(&decisions, hook, ask, &question, &understand),
        };
        match outcome {
            Ok(reply) => {
                if let Some(state) = reply.state {
                    self.state = state;
                }
                Some(reply.answer)
            }
            Err(_) => {
                self.is_broken = true;
                None
            }
        }
    }

    /// Asks the process. What goes wrong is counted and returned.
    fn attempt<R: Reply, T>(
        &mut self,
        hook: Option<Hook>,
        ask: &str,
        question: &Question<'_>,
        understand: &impl Fn(&R) -> Result<T, String>,
    ) -> Result<Understood<T>, String> {
        let mut is_first = false;
        let mut child = match self.child.take() {
            Some(child) => child,
            None => {
                is_first = true;
                self.told = None;
                self.pool.take(hook)?
            }
        };
        loop {
            let id = child.next_id();
            let message = self.message(id, ask, question);
            match self.answer(&mut child, id, &message, understand) {
                Ok(answer) => {
                    self.told = Some(question.events);
                    self.child = Some(child);
                    return Ok(answer);
                }
                // Whether it ended or wrote too much before it was asked cannot be known, so that
                // one that served an earlier rollout does not decide this one: a new one is asked.
                Err(trouble) if is_first && child.is_used => {
                    self.pool.discard(child, hook, trouble);
                    child = self.pool.start(hook)?;
                }
                Err(trouble) => return Err(self.pool.discard(child, hook, trouble)),
            }
        }
    }

    /// Answers as recorded, and asks the process only what is not recorded yet.
    fn decided<R: Reply, T>(
        &mut self,
        decisions: &Decisions,
        hook: Option<Hook>,
        ask: &'static str,
        question: &Question<'_>,
        understand: &impl Fn(&R) -> Result<T, String>,
    ) -> Result<Understood<T>, String> {
        let key = self.key(ask, question);
        let decision = match decisions.find(key) {
            Some(decision) => decision,
            None => {
                if let Err(message) = decisions.check_asking() {
                    return Err(self.counted(hook, message));
                }
                let asked = self.attempt(hook, ask, question, understand);
                let (own, decision) = kept(asked);
                match decisions.keep(key, ask, decision) {
                    Ok(None) => return own,
                    Ok(Some(earlier)) => earlier,
                    Err(message) => return Err(self.counted(hook, message)),
                }
            }
        };
        let played = self.played(&decision, understand);
        played.map_err(|message| self.counted(hook, message))
    }

    /// Counts a fault in which no process had a part.
    fn counted(&self, hook: Option<Hook>, message: String) -> String {
        self.pool.note(hook, message.clone(), String::new());
        message
    }

    /// What a recorded decision means.
    fn played<R: Reply, T>(
        &mut self,
        decision: &Decision,
        understand: &impl Fn(&R) -> Result<T, String>,
    ) -> Result<Understood<T>, String> {
        let keeps_state = self.pool.hello.keeps_state;
        if keeps_state {
            // The process knows nothing of the state that comes now.
            self.told = None;
        }
        match decision {
            Decision::Answer(answer) => {
                understood(hear::with_id(answer, 0), 0, keeps_state, understand)
            }
            Decision::Fault(message) => Err(message.to_string()),
        }
    }

    /// What a question is kept under: everything that its answer can depend on, and the rollout.
    fn key(&mut self, ask: &str, question: &Question<'_>) -> u128 {
        let mut told = Vec::with_capacity(1024);
        let heard = self.heard.filter(|heard| heard.events() <= question.events);
        let mut heard = heard.unwrap_or_else(|| {
            push(&mut told, &(question.reset)());
            Heard::reset(&told)
        });
        for position in heard.events()..question.events {
            told.clear();
            push(&mut told, &Json::Object((question.event)(position)));
            heard.event(&told);
        }
        self.heard = Some(heard);
        told.clear();
        push(&mut told, &Json::Object((question.facts)()));
        heard.key(question.rollout, &self.state, ask, &told)
    }

    /// One write: what the process has not been told, and the question.
    fn message(&self, id: u64, ask: &str, question: &Question<'_>) -> Vec<u8> {
        let told = self.told.filter(|&told| told <= question.events);
        let mut message = Vec::with_capacity(4096);
        if told.is_none() {
            message.extend_from_slice(b"{\"reset\":");
            push(&mut message, &(question.reset)());
            message.extend_from_slice(b",\"state\":");
            message.extend_from_slice(self.state.as_bytes());
            message.extend_from_slice(b"}\n");
        }
        for position in told.unwrap_or(0)..question.events {
            message.extend_from_slice(b"{\"event\":");
            push(&mut message, &Json::Object((question.event)(position)));
            message.extend_from_slice(b"}\n");
        }
        let mut line = Object::new();
        line.insert("id".into(), json!(id));
        line.insert("ask".into(), json!(ask));
        line.extend((question.facts)());
        push(&mut message, &Json::Object(line));
        message.push(b'\n');
        message
    }

    fn answer<R: Reply, T>(
        &self,
        child: &mut Child,
        id: u64,
        message: &[u8],
        understand: &impl Fn(&R) -> Result<T, String>,
    ) -> Result<Understood<T>, Trouble> {
        let line = child.ask(message, self.pool.program.limits.answer_ms)?;
        let keeps_state = self.pool.hello.keeps_state;
        understood(line, id, keeps_state, understand).map_err(Trouble::new)
    }

    /// Appends everything that can influence a later answer: whether it is broken, the
    /// state of the process, and a sum over both that no other program's state has.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(u8::from(self.is_broken));
        out.extend_from_slice(self.state.as_bytes());
        let sum = self.sum(&out[start..]);
        out.extend_from_slice(&sum.to_le_bytes());
    }

    /// Goes back to what was saved. The process is told at the next question.
    pub(crate) fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        if version != STATE_VERSION {
            return Err(RestoreError::Version {
                found: version,
                expected: STATE_VERSION,
            });
        }
        let damaged = |what: &str| RestoreError::Damaged(what.into());
        let length = bytes
            .len()
            .checked_sub(SUM_BYTES)
            .filter(|&length| length >= HEAD_BYTES);
        let (body, sum) = bytes.split_at(length.ok_or_else(|| damaged("too short"))?);
        if self.sum(body).to_le_bytes() != sum {
            return Err(damaged("of another program, or changed"));
        }
        let (head, state) = body.split_at(HEAD_BYTES);
        let state = std::str::from_utf8(state).map_err(|_| damaged("not UTF-8"))?;
        self.is_broken = head[0] != 0;
        self.state = state.into();
        self.told = None;
        self.heard = None;
        Ok(())
    }

    fn sum(&self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.pool.seed)
    }
}

/// An answer, or what was none, with what is kept of it.
fn kept<T>(asked: Result<Understood<T>, String>) -> (Result<Understood<T>, String>, Decision) {
    let own = asked.and_then(|reply| Ok((hear::without_id(&reply.line)?, reply)));
    match own {
        Ok((answer, reply)) => (Ok(reply), Decision::Answer(answer.into())),
        Err(message) => {
            let decision = Decision::Fault(message.as_str().into());
            (Err(message), decision)
        }
    }
}

/// Reads a line as the answer to question `id`.
fn understood<R: Reply, T>(
    line: Vec<u8>,
    id: u64,
    keeps_state: bool,
    understand: &impl Fn(&R) -> Result<T, String>,
) -> Result<Understood<T>, String> {
    let (reply, state) = hear::read::<R>(&line, id, keeps_state)?;
    let answer = understand(&reply)?;
    Ok(Understood {
        answer,
        state,
        line,
    })
}

/// Appends JSON. There is no line break within, and nothing but ASCII, so that a process may read it
/// in any encoding and split it at line breaks of any kind.
fn push(message: &mut Vec<u8>, json: &Json) {
    // Writing to memory cannot fail, and the keys are texts.
    let _ = json.serialize(&mut Serializer::with_formatter(message, Ascii));
}

/// JSON in which every other letter is an escape.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.is_ascii() {
            return writer.write_all(fragment.as_bytes());
        }
        for letter in fragment.chars() {
            if letter.is_ascii() {
                writer.write_all(&[u8::try_from(letter).unwrap_or(b'?')])?;
            } else {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Session {
    /// A process that served to the end serves the next instance.
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            self.pool.put(child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_one_line_of_ascii_that_means_the_same() {
        let text = "a\n\r\u{2028}\u{0}\u{7f}\u{e9}\u{1f600}\\\"";
        let mut message = Vec::new();
        push(&mut message, &json!({ text: [text] }));
        assert!(message.is_ascii() && !message.contains(&b'\n') && !message.contains(&b'\r'));
        let read: Json = serde_json::from_slice(&message).unwrap();
        assert_eq!(read, json!({ text: [text] }));
    }
}
