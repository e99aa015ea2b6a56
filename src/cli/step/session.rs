//! A rollout that is stepped through, forwards and backwards.

use std::path::Path;

use containment_bench::Choice;
use engine::agenda::AgendaEvent;
use engine::export::jsonl;
use engine::{Rollout, Snapshot, Step};
use plugins::ids::{AgentId, CallId};

use super::checkpoints::Checkpoints;
use super::command::{self, Asked, Command};
use super::{labels, undecided, why};
use crate::cli::failure::Failure;
use crate::cli::files;
use crate::cli::narrate::Narrator;
use crate::cli::options::Case;
use crate::cli::terminal::Terminal;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// With the next command.
    Continue,
    /// Not.
    Quit,
}

/// A rollout under one policy, and how it came to where it is.
pub(super) struct Session<'t> {
    rollout: Rollout,
    policy: Choice,
    terminal: &'t Terminal,
    narrator: Narrator,
    checkpoints: Checkpoints,
    agent_width: usize,
}

impl<'t> Session<'t> {
    /// A session at the start of a rollout.
    pub(super) fn new(
        case: &Case,
        policy: &Choice,
        terminal: &'t Terminal,
    ) -> Result<Self, Failure> {
        let (mut rollout, _) = case.start(policy)?;
        let checkpoints = Checkpoints::at_start(&mut rollout);
        let agents = rollout.scenario().briefing.agents.iter();
        let longest = agents.map(|agent| agent.name.chars().count()).max();
        Ok(Self {
            narrator: Narrator::of(rollout.scenario()),
            rollout,
            policy: policy.clone(),
            terminal,
            checkpoints,
            agent_width: longest.unwrap_or_default().max("agent".len()),
        })
    }

    /// Goes forward to where `snapshot` was taken, and says whether the state there is its state.
    /// What a file says is compared and never restored, so that no file can break the rollout.
    pub(super) fn go_to(&mut self, snapshot: &Snapshot) -> bool {
        while self.rollout.executed_events() < snapshot.executed_events() {
            if self.rollout.step().is_none() {
                return false;
            }
            self.checkpoints.pass(&mut self.rollout);
        }
        self.learn_the_past();
        self.rollout.snapshot() == *snapshot
    }

    /// Prints the names of the columns.
    pub(super) fn header(&self) -> Result<(), Failure> {
        self.print_line(["step", "tick"], "phase", "agent", "what", "details")
    }

    /// Does one command.
    pub(super) fn obey(&mut self, command: &Command) -> Result<Flow, Failure> {
        match command {
            Command::Next(count) => self.next(*count)?,
            Command::Tick(tick) => self.tick(*tick)?,
            Command::Run => while self.advance()? {},
            Command::Labels => self.terminal.print(&labels::labels(&self.rollout))?,
            Command::Why(asked) => self.why(asked.as_ref())?,
            Command::Snapshot(path) => self.snapshot(path.as_deref())?,
            Command::Back(count) => self.back(*count)?,
            Command::Help => self.terminal.print(command::HELP)?,
            Command::Quit => return Ok(Flow::Quit),
        }
        Ok(Flow::Continue)
    }

    fn next(&mut self, count: u64) -> Result<(), Failure> {
        for _ in 0..count {
            if !self.advance()? {
                return self.tell_end();
            }
        }
        Ok(())
    }

    /// Runs the steps of the next tick, or all up to and including `tick`.
    fn tick(&mut self, tick: Option<u64>) -> Result<(), Failure> {
        if self.rollout.outcome().is_some() {
            return self.tell_end();
        }
        let last = tick.unwrap_or_else(|| self.next_tick());
        let mut is_first = true;
        while self.rollout.outcome().is_none() && self.next_tick() <= last {
            self.advance()?;
            is_first = false;
        }
        if is_first {
            let next = self.next_tick();
            let text = format!("the next step is at tick {next}; `b` goes back");
            self.terminal.print(&text)?;
        }
        Ok(())
    }

    /// When the next step is; an empty agenda closes the episode now.
    fn next_tick(&self) -> u64 {
        let next = self.rollout.next_event();
        next.map_or(self.rollout.tick(), |next| next.tick)
    }

    fn tell_end(&self) -> Result<(), Failure> {
        self.terminal.print("the rollout has ended; `b` goes back")
    }

    /// Runs one step and prints it; false if there is none.
    fn advance(&mut self) -> Result<bool, Failure> {
        let Some(step) = self.rollout.step() else {
            return Ok(false);
        };
        self.checkpoints.pass(&mut self.rollout);
        let details = self.tell_since(step.events_before).join("; ");
        let agent = self.agent(&step).unwrap_or_else(|| "-".to_owned());
        let number = self.rollout.executed_events();
        let what = name(&step.event);
        let details = if details.is_empty() {
            plain(&step.event)
        } else {
            details
        };
        self.print_line(
            [&number.to_string(), &step.tick.to_string()],
            step.phase.name(),
            &agent,
            what,
            &details,
        )?;
        Ok(true)
    }

    /// What happened from this position of the trace on, in words.
    fn tell_since(&mut self, position: usize) -> Vec<String> {
        let Self {
            rollout, narrator, ..
        } = self;
        let (scenario, trace, labels) = (rollout.scenario(), rollout.trace(), rollout.labels());
        (position..trace.events.len())
            .map(|index| narrator.tell(&jsonl::event(scenario, trace, labels, index, true)))
            .collect()
    }

    /// Lets the narrator hear the trace so far from its beginning.
    fn learn_the_past(&mut self) {
        self.narrator = Narrator::of(self.rollout.scenario());
        drop(self.tell_since(0));
    }

    fn print_line(
        &self,
        [step, tick]: [&str; 2],
        phase: &str,
        agent: &str,
        what: &str,
        details: &str,
    ) -> Result<(), Failure> {
        let width = self.agent_width;
        let line =
            format!("{step:>5}  {tick:>5}  {phase:<9}  {agent:<width$}  {what:<11}  {details}");
        self.terminal.print(line.trim_end())
    }

    /// Whose step it was.
    fn agent(&self, step: &Step) -> Option<String> {
        let trace = self.rollout.trace();
        let of_call = |call: &CallId| trace.calls.get(call.index()).map(|call| call.agent);
        let of_trace = || {
            let events = trace.events.get(step.events_before..).unwrap_or_default();
            events.iter().find_map(|event| event.agent)
        };
        let agent: Option<AgentId> = match &step.event {
            AgendaEvent::Decide(agent) | AgendaEvent::Parse(agent) | AgendaEvent::Reject(agent) => {
                Some(*agent)
            }
            AgendaEvent::Result(call)
            | AgendaEvent::Acknowledge(call)
            | AgendaEvent::Denial(call, _)
            | AgendaEvent::Authorize(call)
            | AgendaEvent::Commit(call) => of_call(call),
            AgendaEvent::Persist(persisting) => Some(persisting.agent),
            AgendaEvent::Begin(_) | AgendaEvent::Deliver(_) | AgendaEvent::Inject(_) => of_trace(),
            AgendaEvent::Undo(_)
            | AgendaEvent::Recover(_)
            | AgendaEvent::Act(..)
            | AgendaEvent::Close(_) => None,
        };
        let agents = &self.rollout.scenario().briefing.agents;
        agent.map(|agent| agents[agent.index()].name.to_string())
    }

    fn why(&self, asked: Option<&Asked>) -> Result<(), Failure> {
        let call = match asked {
            None => Ok(None),
            Some(Asked::Call(call)) => Ok(Some(*call)),
            Some(Asked::Tool(tool)) => undecided::only_call(&self.rollout, tool).map(Some),
        };
        let text = match call {
            Ok(call) => why::why(&self.rollout, &self.policy, call)
                .unwrap_or_else(|| undecided::undecided(&self.rollout, call)),
            Err(text) => text,
        };
        self.terminal.print(&text)
    }

    fn snapshot(&mut self, path: Option<&str>) -> Result<(), Failure> {
        let snapshot = self.rollout.snapshot();
        let bytes = snapshot.to_bytes();
        if let Some(path) = path {
            files::write(Path::new(path), &bytes)?;
        }
        let to = path
            .map(|path| format!(", written to {path}"))
            .unwrap_or_default();
        self.terminal.print(&format!(
            "snapshot at tick {} after {} steps: {} bytes, hash without the policy {:032x}{to}",
            snapshot.tick(),
            snapshot.executed_events(),
            bytes.len(),
            snapshot.policy_free_hash(),
        ))
    }

    fn back(&mut self, count: u64) -> Result<(), Failure> {
        let executed = self.rollout.executed_events();
        if executed == 0 {
            return self.terminal.print("this is the start of the rollout");
        }
        let target = executed.saturating_sub(count);
        self.checkpoints.go_back(&mut self.rollout, target);
        self.learn_the_past();
        let next = if self.rollout.executed_events() == 0 {
            "the start of the rollout".to_owned()
        } else {
            format!("{} steps", self.rollout.executed_events())
        };
        let tick = self.rollout.tick();
        self.terminal
            .print(&format!("back at tick {tick}, after {next}"))
    }
}

/// The name of an agenda event.
const fn name(event: &AgendaEvent) -> &'static str {
    match event {
        AgendaEvent::Begin(_) => "begin",
        AgendaEvent::Deliver(_) => "deliver",
        AgendaEvent::Inject(_) => "inject",
        AgendaEvent::Result(_) => "result",
        AgendaEvent::Acknowledge(_) => "acknowledge",
        AgendaEvent::Denial(..) => "denial",
        AgendaEvent::Reject(_) => "reject",
        AgendaEvent::Decide(_) => "decide",
        AgendaEvent::Parse(_) => "parse",
        AgendaEvent::Authorize(_) => "authorize",
        AgendaEvent::Commit(_) => "commit",
        AgendaEvent::Undo(_) => "undo",
        AgendaEvent::Persist(_) => "persist",
        AgendaEvent::Recover(_) => "recover",
        AgendaEvent::Act(..) => "act",
        AgendaEvent::Close(_) => "close",
    }
}

/// What to say of an agenda event if nothing that it did is in the trace.
fn plain(event: &AgendaEvent) -> String {
    let text = match event {
        AgendaEvent::Result(call) => return format!("the result of call {} arrives", call.0),
        AgendaEvent::Acknowledge(call) => return format!("the agent learns of call {}", call.0),
        AgendaEvent::Denial(call, _) => {
            return format!("the agent learns that call {} was denied", call.0);
        }
        AgendaEvent::Authorize(call) => {
            return format!("call {} is a read, let through without a ruling", call.0);
        }
        AgendaEvent::Commit(call) => return format!("call {}, a read, is on its way", call.0),
        AgendaEvent::Begin(_) => "the episode is not begun",
        AgendaEvent::Deliver(_) | AgendaEvent::Inject(_) => {
            "the receiver is done and hears nothing"
        }
        AgendaEvent::Reject(_) => "the agent learns that this was no valid action",
        AgendaEvent::Decide(_) => "the model is asked",
        AgendaEvent::Parse(_) => "the completion arrives",
        AgendaEvent::Undo(_) => "there is nothing to undo",
        AgendaEvent::Persist(_) => "nothing is stored",
        AgendaEvent::Recover(_) | AgendaEvent::Act(..) => "there is nothing to recover",
        AgendaEvent::Close(_) => "the episode is over",
    };
    text.to_owned()
}
