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
        forbid_calls();
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

/// Keeps this thread, and what it starts, from system calls that reach other processes or change the
/// rights of files: what Landlock leaves open. Whether it could.
#[cfg(target_os = "linux")]
fn forbid_calls() -> bool {
    forbidden().is_ok_and(|program| seccompiler::apply_filter(&program).is_ok())
}

/// Other systems have no such filter.
#[cfg(all(unix, not(target_os = "linux")))]
fn forbid_calls() -> bool {
    false
}

/// The filter: a forbidden call fails as if it were not permitted.
#[cfg(target_os = "linux")]
fn forbidden() -> Result<seccompiler::BpfProgram, seccompiler::BackendError> {
    use std::collections::BTreeMap;

    use seccompiler::{
        SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        calls::ALWAYS.iter().map(|&call| (call, vec![])).collect();
    // About oneself they do no harm: 0 is the caller.
    for &(call, argument) in calls::OF_OTHERS {
        let other = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
        rules.insert(call, vec![SeccompRule::new(vec![other])?]);
    }
    let not_permitted = SeccompAction::Errno(rustix::io::Errno::PERM.raw_os_error().unsigned_abs());
    let machine = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, not_permitted, machine)?.try_into()
}

/// Numbers of system calls.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calls {
    /// Forbidden whatever they are about: `ptrace`, `process_vm_readv` and `writev`, `ioprio_set`, and
    /// what changes rights, owners, times and extended attributes of files.
    pub(super) const ALWAYS: &[i64] = &[
        101, 310, 311, 251, // other processes
        90, 91, 268, 452, // chmod, fchmod, fchmodat, fchmodat2
        92, 93, 94, 260, // chown, fchown, lchown, fchownat
        132, 235, 261, 280, // utime, utimes, futimesat, utimensat
        188, 189, 190, 197, 198, 199, 463, 466, // setxattr, removexattr
        161, // chroot
    ];
    /// Forbidden about others, with the argument that says of whom: `prlimit64`, `sched_setparam`,
    /// `sched_setscheduler`, `sched_setaffinity`, `sched_setattr`, `setpriority`.
    pub(super) const OF_OTHERS: &[(i64, u8)] =
        &[(302, 0), (142, 0), (144, 0), (203, 0), (314, 0), (141, 1)];
}

/// The same on a machine of 64-bit ARM.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
mod calls {
    pub(super) const ALWAYS: &[i64] = &[
        117, 270, 271, 30, // other processes
        52, 53, 452, // fchmod, fchmodat, fchmodat2
        54, 55, // fchownat, fchown
        88, // utimensat
        5, 6, 7, 14, 15, 16, 463, 466, // setxattr, removexattr
        51,  // chroot
    ];
    pub(super) const OF_OTHERS: &[(i64, u8)] =
        &[(261, 0), (118, 0), (119, 0), (122, 0), (274, 0), (140, 1)];
}

/// On other machines nothing is forbidden.
#[cfg(all(
    target_os = "linux",
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
mod calls {
    pub(super) const ALWAYS: &[i64] = &[];
    pub(super) const OF_OTHERS: &[(i64, u8)] = &[];
}

/// Other systems have no Landlock.
#[cfg(not(target_os = "linux"))]
fn restrict_thread(_: &Path) -> Confinement {
    Confinement::Missing
}
