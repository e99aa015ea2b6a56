//! What keeps a process from doing more than to answer: limits of the kernel, and Landlock where the
//! kernel has it.

use std::path::Path;
#[cfg(unix)]
use std::{
    io,
    process::{Child, Command},
};

#[cfg(unix)]
use crate::program::Limits;

/// How far the kernel keeps processes from writing outside their folder, from TCP, and from
/// signalling others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// All of it.
    Enforced,
    /// Some of it: the kernel is older than the newest rule.
    Partial,
    /// None of it: the kernel has no Landlock. Limits and the private folder remain.
    Missing,
}

/// How far this machine confines processes.
#[must_use]
pub fn confinement() -> Confinement {
    let found = std::thread::spawn(|| restrict_thread(&std::env::temp_dir())).join();
    found.unwrap_or(Confinement::Missing)
}

/// Starts `command`, which works in `folder`, confined as far as the kernel can, on a thread of its
/// own because a thread that has confined itself stays so.
#[cfg(unix)]
pub(crate) fn spawn(mut command: Command, folder: &Path, limits: Limits) -> io::Result<Child> {
    let folder = folder.to_owned();
    let spawning = move || {
        restrict_thread(&folder);
        start(&mut command)
    };
    let started = std::thread::Builder::new().spawn(spawning)?.join();
    let mut child =
        started.unwrap_or_else(|_| Err(io::Error::other("the starting thread panicked")))?;
    match limit(&child, limits) {
        Ok(()) => Ok(child),
        Err(error) => {
            child.kill()?;
            child.wait()?;
            Err(error)
        }
    }
}

/// Starts a command. A program that was just written can be busy for a moment: another thread that
/// starts a process holds a copy of every open file until its own program runs.
#[cfg(unix)]
fn start(command: &mut Command) -> io::Result<Child> {
    const TRIES: u32 = 100;
    let mut tries = 1;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES => {
                tries += 1;
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
}

/// Open files of a process.
#[cfg(target_os = "linux")]
const OPEN_FILES: u64 = 256;

/// The largest file that a process may write, in bytes.
#[cfg(target_os = "linux")]
const FILE_BYTES: u64 = 16 << 20;

/// Processor time of a process over its whole life, in seconds: enough for any study, and an end for
/// what is left behind.
#[cfg(target_os = "linux")]
const PROCESSOR_SECONDS: u64 = 24 * 3600;

/// Limits a process that has just started.
#[cfg(target_os = "linux")]
fn limit(child: &Child, limits: Limits) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let pid = Pid::from_child(child);
    for (resource, most) in [
        (Resource::As, limits.memory_mib << 20),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Core, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Cpu, PROCESSOR_SECONDS),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        match prlimit(Some(pid), resource, limit) {
            // It has ended already, which is noticed when it is asked.
            Err(rustix::io::Errno::SRCH) => break,
            outcome => outcome?,
        };
    }
    Ok(())
}

/// Other systems have no way to limit a process from outside.
#[cfg(all(unix, not(target_os = "linux")))]
fn limit(_: &Child, _: Limits) -> io::Result<()> {
    Ok(())
}

/// Keeps this thread, and what it starts, from writing anywhere but in `folder`, from TCP, and from
/// signalling processes that it did not start.
#[cfg(target_os = "linux")]
fn restrict_thread(folder: &Path) -> Confinement {
    use landlock::RulesetStatus;

    match landlocked(folder).map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Enforced,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Confinement::Missing,
    }
}

#[cfg(target_os = "linux")]
fn landlocked(folder: &Path) -> Result<landlock::RestrictionStatus, landlock::RulesetError> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, Scope,
    };

    let version = ABI::V6;
    let writing = AccessFs::from_write(version);
    let mut rules = Ruleset::default()
        .handle_access(writing)?
        .handle_access(AccessNet::from_all(version))?
        .scope(Scope::from_all(version))?
        .create()?;
    if let Ok(folder) = PathFd::new(folder) {
        rules = rules.add_rule(PathBeneath::new(folder, writing))?;
    }
    if let Ok(nowhere) = PathFd::new("/dev/null") {
        let file = writing & AccessFs::from_file(version);
        rules = rules.add_rule(PathBeneath::new(nowhere, file))?;
    }
    rules.restrict_self()
}

/// Other systems have no Landlock.
#[cfg(not(target_os = "linux"))]
fn restrict_thread(_: &Path) -> Confinement {
    Confinement::Missing
}
