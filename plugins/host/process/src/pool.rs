//! The processes of one program: started when they are needed, handed from rollout to rollout while
//! they behave, and replaced when they do not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plugins::loaded::{Fault, Faults, Mistake};
use plugins::policy::Hook;

use crate::child::{Child, Trouble};
use crate::decisions::Decisions;
use crate::hello::{self, Hello, Kind};
use crate::program::Program;

/// How many processes wait for work at most. More are ended when they come back.
const MOST_IDLE: usize = 32;

/// How many faults are kept.
const MOST_FAULTS: usize = 16;

/// The processes of one program.
pub(crate) struct Pool {
    pub(crate) program: Program,
    kind: Kind,
    pub(crate) hello: Hello,
    /// From the hash of the program, for sums that differ between programs.
    pub(crate) seed: u64,
    /// Where answers are recorded, or played from.
    pub(crate) decisions: Option<Decisions>,
    idle: Mutex<Vec<Child>>,
    log: Log,
}

/// What went wrong so far.
#[derive(Default)]
struct Log {
    count: AtomicU64,
    first: Mutex<Vec<Fault>>,
}

impl Pool {
    /// Starts a program once, to hear its hello.
    pub(crate) fn of(program: Program, kind: Kind) -> Result<Arc<Self>, Vec<Mistake>> {
        let (child, hello) = loaded(&program, kind)?;
        Ok(Arc::new(Self::new(program, kind, hello, vec![child], None)))
    }

    /// A policy whose answers are recorded or played. If they are played nothing is started.
    pub(crate) fn deciding(
        program: Program,
        decisions: Decisions,
    ) -> Result<Arc<Self>, Vec<Mistake>> {
        let content = program.content();
        let (idle, hello) = if decisions.is_played() {
            let hello = decisions
                .hello_of(content)
                .map_err(|mistake| vec![mistake])?;
            (Vec::new(), hello)
        } else {
            let (child, hello) = loaded(&program, Kind::Policy)?;
            let bound = decisions.bind(content, &hello);
            bound.map_err(|mistake| vec![mistake])?;
            (vec![child], hello)
        };
        let decisions = Some(decisions);
        Ok(Arc::new(Self::new(
            program,
            Kind::Policy,
            hello,
            idle,
            decisions,
        )))
    }

    fn new(
        program: Program,
        kind: Kind,
        hello: Hello,
        idle: Vec<Child>,
        decisions: Option<Decisions>,
    ) -> Self {
        Self {
            seed: xxhash_rust::xxh3::xxh3_64(&program.content().to_le_bytes()),
            program,
            kind,
            hello,
            decisions,
            idle: Mutex::new(idle),
            log: Log::default(),
        }
    }

    /// A process that is ready to be asked. What went wrong with those that are not is counted.
    pub(crate) fn take(&self, hook: Option<Hook>) -> Result<Child, String> {
        loop {
            let Some(mut child) = lock(&self.idle).pop() else {
                return self.start(hook);
            };
            match child.check_silence() {
                Ok(()) => return Ok(child),
                Err(trouble) => {
                    self.discard(child, None, trouble);
                }
            }
        }
    }

    /// A process that nobody has asked anything; or what went wrong, which is counted.
    pub(crate) fn start(&self, hook: Option<Hook>) -> Result<Child, String> {
        match started(&self.program, self.kind) {
            Ok((child, hello)) if hello == self.hello => Ok(child),
            Ok((child, _)) => {
                let trouble = Trouble::new("says another hello than when it was loaded");
                Err(self.discard(child, hook, trouble))
            }
            Err((trouble, standard_error)) => {
                self.note(hook, trouble.message.clone(), standard_error);
                Err(trouble.message)
            }
        }
    }

    /// Takes a process back from an instance that it served to the end.
    pub(crate) fn put(&self, mut child: Child) {
        if let Err(trouble) = child.check_silence() {
            self.discard(child, None, trouble);
            return;
        }
        child.is_used = true;
        let mut idle = lock(&self.idle);
        if idle.len() < MOST_IDLE {
            idle.push(child);
        }
    }

    /// Ends a process that misbehaved; returns what is counted.
    pub(crate) fn discard(&self, child: Child, hook: Option<Hook>, trouble: Trouble) -> String {
        let (message, standard_error) = ended(child, trouble);
        self.note(hook, message.clone(), standard_error);
        message
    }

    /// Counts what went wrong.
    pub(crate) fn note(&self, hook: Option<Hook>, message: String, standard_error: String) {
        self.log.count.fetch_add(1, Ordering::Relaxed);
        let mut first = lock(&self.log.first);
        if first.len() < MOST_FAULTS {
            first.push(Fault {
                hook,
                message,
                standard_error,
            });
        }
    }
}

impl Faults for Pool {
    fn count(&self) -> u64 {
        self.log.count.load(Ordering::Relaxed)
    }

    fn first(&self) -> Vec<Fault> {
        lock(&self.log.first).clone()
    }
}

/// Starts a program for the first time.
fn loaded(program: &Program, kind: Kind) -> Result<(Child, Hello), Vec<Mistake>> {
    started(program, kind).map_err(|(trouble, said)| {
        let mistake = Mistake::new(trouble.message);
        let said = said.trim();
        vec![if said.is_empty() {
            mistake
        } else {
            mistake.help(format!("its standard error ends with:\n{said}"))
        }]
    })
}

/// Starts a program and hears its hello; or what went wrong, with the end of its standard error.
fn started(program: &Program, kind: Kind) -> Result<(Child, Hello), (Trouble, String)> {
    let mut child = Child::start(program).map_err(|error| {
        let command = &program.command[0];
        (
            Trouble::new(format!("`{command}` cannot be started: {error}")),
            String::new(),
        )
    })?;
    let line = child.ask(&hello::question(kind), program.limits.start_ms);
    let hello = line.and_then(|line| hello::read(&line, kind).map_err(Trouble::new));
    match hello {
        Ok(hello) => Ok((child, hello)),
        Err(trouble) => {
            let (message, standard_error) = ended(child, trouble);
            Err((Trouble::new(message), standard_error))
        }
    }
}

/// Ends a process; returns what went wrong, with how it ended, and the end of its standard error.
fn ended(child: Child, trouble: Trouble) -> (String, String) {
    let (status, standard_error) = child.end(trouble.ended);
    let message = match status {
        Some(status) => format!("{}: {status}", trouble.message),
        None => trouble.message,
    };
    (message, standard_error)
}

/// A thread that panicked leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
