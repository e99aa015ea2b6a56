//! Recorded completions: written down in one rollout, said again in another.
//!
//! A recording is JSON Lines. The first line says what it is, every other is one completion:
//!
//! ```
//! # let text = concat!(
//! #     r#"
//! {"recording":1,"model":"scripted","scenario":"trip"}
//! {"agent":"mailer","episode":0,"turn":0,"shown":{"context":"0123456789abcdef0123456789abcdef","segments":2,"guidance":"None","schema_mode":"Plain","tools":["send_mail"]},"text":"{\"action\":\"final\",\"text\":\"done\"}","latency_ticks":1}
//! # "#);
//! # let recording = models::recorded::Recording::parse(text.trim()).unwrap();
//! # assert_eq!(recording.scenario(), "trip");
//! ```
//!
//! `turn` counts the completions of the agent in the episode, from 0. `shown` is what the model was
//! shown: the segments of its context as a hash, and in words what else the prompt says. When it is
//! said again, the model must be shown the same; else the backend fails, because nobody knows what the
//! model would have said. So a recording fits every policy that changes nothing before the last
//! completion, and no other.
//!
//! Three fields are optional. A backend that knows from where each part of what it said came also
//! leaves `derivations` and `choice`, and `tag` is what it recognises its turns by. Without them, as
//! in completions of a model that ran somewhere else, everything said comes from all that was shown.
//!
//! [`Recorder`] writes, [`Recorded`] plays.

mod file;
mod player;
mod recorder;
mod shown;
mod turns;

#[cfg(test)]
mod tests;

pub use file::{Recording, RecordingError, header};
pub use player::Recorded;
pub use recorder::{Recorder, Sink};

/// The version of the format that this crate reads and writes.
pub const VERSION: u32 = 1;

/// The longest recording that is read, in bytes.
pub const MAX_RECORDING_BYTES: usize = 64 << 20;

/// The most completions in a recording.
pub const MAX_COMPLETIONS: usize = 100_000;

/// The name under which the backend is registered.
pub const NAME: &str = "recorded";

/// The name of the parameter that holds the text of the recording.
pub const PARAMETER: &str = "recording";
