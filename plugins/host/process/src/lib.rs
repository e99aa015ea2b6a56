//! Policies, attackers and auditors in any language: a process that reads and writes JSON Lines.
//!
//! `docs/book/process.md` holds the whole protocol and how to write a policy from an empty file.
//! In short, version 1: the host writes one JSON object per line to the standard input, and the
//! process answers on its standard output.
//!
//! ```text
//! host     {"hello":1,"as":"policy"}
//! process  {"protocol":1,"name":"guard","summary":"..","version":1,"hooks":["proposal"],"state":false}
//! host     {"reset":{"goals":[..],"agents":[..],"tools":[..],..},"state":null}      no answer
//! host     {"event":{"event":0,"tick":0,"episode":0,"agent":null,"what":"episode_began"}}   no answer
//! host     {"id":1,"ask":"proposal","tool":"send_email","high_risk":true,"arguments":[..],..}
//! process  {"id":1,"verdict":"block","rule":"tainted_recipient","denial":"tainted_privilege_jump"}
//! ```
//!
//! - `hello` once, when the process starts.
//! - `reset` begins a rollout, and begins it again after the engine went back. With it comes the
//!   last state that the process answered with, or null; then every event so far.
//! - `event` for each event of the trace that the process has not been told.
//! - A question has an `id` and gets exactly one line with the same `id`, and nothing else is ever
//!   written. The questions are the hooks of a policy, `fill` for an attacker, `audit` for an
//!   auditor.
//!
//! A process is a function of `reset`, the events and the question. If it needs more, it says
//! `"state":true` in its hello and puts its whole state into each answer as `state`.
//!
//! What was hashed is what runs: each process is started in a folder of its own that holds nothing
//! but the hashed bytes. Whatever it does that is not an answer to the question is a fault: the rule
//! `plugin_fault` for the rest of that instance, and another process for the next instance.

mod attacker;
mod auditor;
mod confine;
#[cfg(unix)]
mod deadline;
mod decisions;
mod hear;
mod hello;
mod loaded;
mod policy;
mod pool;
mod program;
mod session;
mod tell;
mod words;

#[cfg(unix)]
mod child;
#[cfg(not(unix))]
#[path = "child_elsewhere.rs"]
mod child;

#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use self::confine::{Confinement, confinement};
pub use self::decisions::Decisions;
pub use self::loaded::{
    LoadedAttacker, LoadedAuditor, load, load_attacker, load_auditor, load_with, probe,
};
