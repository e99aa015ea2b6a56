//! What the host gives: policies, attackers and auditors from files.

use std::path::Path;
use std::sync::Arc;

use plugins::attacker::Attacker;
use plugins::auditor::Auditor;
use plugins::conformance::{Violation, check_policy};
use plugins::loaded::{Faults, LoadedPolicy, Mistake};

use crate::attacker::ProcessAttacker;
use crate::auditor::ProcessAuditor;
use crate::decisions::Decisions;
use crate::hello::{Kind, PROTOCOL};
use crate::policy::ProcessPolicy;
use crate::pool::Pool;
use crate::program::Program;

/// An attacker from a file, read and checked.
#[derive(Clone)]
pub struct LoadedAttacker {
    /// What it calls itself.
    pub name: String,
    /// The version of the protocol.
    pub version: u32,
    /// What it says of itself, in one sentence; may be empty.
    pub summary: String,
    /// Hash of every byte that it is made of.
    pub content: u128,
    /// Makes an instance for a series of rollouts, at its beginning.
    pub make: Arc<dyn Fn() -> Box<dyn Attacker> + Send + Sync>,
    /// What went wrong: after a fault an instance leaves every slot as the world file says.
    pub faults: Arc<dyn Faults>,
}

/// An auditor from a file, read and checked.
#[derive(Clone)]
pub struct LoadedAuditor {
    /// What it calls itself.
    pub name: String,
    /// The version of the protocol.
    pub version: u32,
    /// What it says of itself, in one sentence; may be empty.
    pub summary: String,
    /// Hash of every byte that it is made of.
    pub content: u128,
    /// Makes an instance. Each shares the processes of all.
    pub make: Arc<dyn Fn() -> Box<dyn Auditor> + Send + Sync>,
    /// What went wrong: an audit that failed has the one finding `plugin_fault`.
    pub faults: Arc<dyn Faults>,
}

/// Reads a policy: a Python file, another executable file, or a description that ends in
/// `.process.ron`. Starts it once to hear who it is.
///
/// # Errors
/// When the file is none of these, is refused, or does not start as a policy.
pub fn load(path: &Path) -> Result<LoadedPolicy, Vec<Mistake>> {
    load_with(path, None)
}

/// Reads a policy as [`load`] does, whose answers are recorded or played.
///
/// While they are recorded, a question that was asked before is not asked again but answered as
/// before. When they are played, no process is started: what it said of itself and every answer
/// comes from the recording, and a question that is not there is a fault. Its files must be there
/// all the same, because their content is what the policy is known by.
///
/// # Errors
/// As [`load`], and when the recording is of a policy of other content.
pub fn load_with(path: &Path, decisions: Option<Decisions>) -> Result<LoadedPolicy, Vec<Mistake>> {
    let program = Program::read(path)?;
    let pool = match decisions {
        Some(decisions) => Pool::deciding(program, decisions)?,
        None => Pool::of(program, Kind::Policy)?,
    };
    Ok(LoadedPolicy {
        kind: "process",
        version: PROTOCOL,
        summary: pool.hello.summary.clone(),
        content: pool.program.content(),
        faults: Some(Arc::<Pool>::clone(&pool)),
        make: Arc::new(move || Box::new(ProcessPolicy::new(Arc::clone(&pool)))),
    })
}

/// Reads an attacker, as [`load`] reads a policy.
///
/// # Errors
/// As [`load`].
pub fn load_attacker(path: &Path) -> Result<LoadedAttacker, Vec<Mistake>> {
    let pool = Pool::of(Program::read(path)?, Kind::Attacker)?;
    Ok(LoadedAttacker {
        name: pool.hello.name.clone(),
        version: PROTOCOL,
        summary: pool.hello.summary.clone(),
        content: pool.program.content(),
        faults: Arc::<Pool>::clone(&pool),
        make: Arc::new(move || Box::new(ProcessAttacker::new(Arc::clone(&pool)))),
    })
}

/// Reads an auditor, as [`load`] reads a policy.
///
/// # Errors
/// As [`load`].
pub fn load_auditor(path: &Path) -> Result<LoadedAuditor, Vec<Mistake>> {
    let pool = Pool::of(Program::read(path)?, Kind::Auditor)?;
    Ok(LoadedAuditor {
        name: pool.hello.name.clone(),
        version: PROTOCOL,
        summary: pool.hello.summary.clone(),
        content: pool.program.content(),
        faults: Arc::<Pool>::clone(&pool),
        make: Arc::new(move || Box::new(ProcessAuditor::new(Arc::clone(&pool)))),
    })
}

/// Asks a policy everything twice in `rounds` scenarios, with other instances beside it and after
/// going back. A policy that answers by chance, by a clock or by what it saw in other rollouts
/// violates a law here; one without violations can still do so where nobody looked.
#[must_use]
pub fn probe(loaded: &LoadedPolicy, rounds: u64) -> Vec<Violation> {
    check_policy(&|| (loaded.make)(), rounds)
}
