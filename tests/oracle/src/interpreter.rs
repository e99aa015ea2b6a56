//! One rollout, straight through: an agenda in a sorted list, plain tables, a `match` per event.
//!
//! Read it beside `docs/SEMANTICS.md`: this file holds sections 1 and 5, `graph` section 2,
//! `labels` section 3, `episode`, `turn`, `call`, `effect` and `memory` section 4, `ask` sections 6 and 7.

mod ask;
mod call;
mod effect;
mod episode;
mod graph;
mod labels;
mod memory;
mod state;
mod turn;

use std::sync::Arc;

use plugins::action::ActionParser;
use plugins::draws::{Draws, EventKey, RolloutKey};
use plugins::ids::{AgentId, StoreId, ToolId};
use plugins::label::{LabelId, LabelTable};
use plugins::model::{ModelBackend, Segment};
use plugins::policy::{Hooks, Policy};
use plugins::setting::{Instrumentation, User};
use plugins::trace::{Event, Happening, LimitKind, Outcome, Trace};
use plugins::value::{Content, Value};
use worlds::spec::{FIELD_BYTES, MOST_TEXT_OF_A_ROLLOUT, Scenario};

use state::{
    Agent, AnsweredStep, AutomaticWrite, Due, Message, Progress, Record, Source, Span, Waiting,
};

/// What a study fixes for a rollout.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What all draws have in common.
    pub key: RolloutKey,
    /// What the recorded layer logs.
    pub instrumentation: Instrumentation,
    /// Who answers confirmations.
    pub user: User,
}

/// What happened in one rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The trace.
    pub trace: Trace,
    /// The labels behind the ids in the trace.
    pub labels: LabelTable,
    /// How it ended.
    pub outcome: Outcome,
}

impl Default for History {
    fn default() -> Self {
        Self {
            trace: Trace::default(),
            labels: LabelTable::new(),
            outcome: Outcome::Completed,
        }
    }
}

/// Plays one rollout.
pub fn run(
    scenario: &Scenario,
    policy: &mut dyn Policy,
    model: &mut dyn ModelBackend,
    parser: &dyn ActionParser,
    setting: &Setting,
) -> History {
    let mut interpreter = Interpreter::default();
    interpreter.run(scenario, policy, model, parser, setting);
    interpreter.history
}

/// The tables of a rollout, kept from one to the next so that their memory is reused.
#[derive(Debug, Default)]
pub struct Interpreter {
    history: History,
    agenda: Vec<Waiting>,
    fields: Vec<LabelId>,
    sources: Vec<Source>,
    agents: Vec<Agent>,
    messages: Vec<Message>,
    calls: Vec<Progress>,
    records: Vec<Record>,
    automatic_writes: Vec<AutomaticWrite>,
    automatic_writes_of: Vec<u32>,
    answered: Vec<AnsweredStep>,
    held: Vec<Held>,
    prompt: Prompt,
    empty: Arc<Content>,
}

/// A tool and the argument values with which it was held.
type Held = (ToolId, Vec<(u16, Value)>);

/// A context without the segments that `on_prompt` dropped.
#[derive(Debug, Default)]
struct Prompt {
    segments: Vec<Segment>,
    spans: Vec<Span>,
}

impl Interpreter {
    /// Plays one rollout. The history is that of the last rollout.
    pub fn run(
        &mut self,
        scenario: &Scenario,
        policy: &mut dyn Policy,
        model: &mut dyn ModelBackend,
        parser: &dyn ActionParser,
        setting: &Setting,
    ) -> &History {
        self.clear(scenario);
        let hooks = policy.hooks();
        let mut run = Run {
            scenario,
            policy,
            model,
            parser,
            hooks,
            instrumentation: setting.instrumentation,
            user: setting.user,
            draws: Draws::new(setting.key.clone()),
            trace: &mut self.history.trace,
            labels: &mut self.history.labels,
            agenda: &mut self.agenda,
            fields: &mut self.fields,
            sources: &mut self.sources,
            agents: &mut self.agents,
            messages: &mut self.messages,
            calls: &mut self.calls,
            records: &mut self.records,
            automatic_writes: &mut self.automatic_writes,
            automatic_writes_of: &mut self.automatic_writes_of,
            answered: &mut self.answered,
            held: &mut self.held,
            prompt: &mut self.prompt,
            empty: &self.empty,
            tick: 0,
            episode: 0,
            episode_start: 0,
            agent: None,
            key: EventKey::ROOT,
            children: [0; 16],
            sequence: 0,
            events: 0,
            delegations: 0,
            text: 0,
            halted: None,
            ended: None,
        };
        self.history.outcome = run.play();
        &self.history
    }

    /// What happened in the last rollout.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    fn clear(&mut self, scenario: &Scenario) {
        self.history.trace.clear();
        self.history.labels.truncate(1);
        self.agenda.clear();
        self.fields.clear();
        self.sources.clear();
        self.sources
            .resize(scenario.sources.len(), Source::default());
        self.agents
            .resize_with(scenario.briefing.agents.len(), Agent::default);
        self.agents.iter_mut().for_each(Agent::reset);
        self.messages.clear();
        self.calls.clear();
        self.records.clear();
        self.automatic_writes.clear();
        self.automatic_writes_of.clear();
        self.automatic_writes_of.resize(scenario.stores.len(), 0);
        self.answered.clear();
        self.held.clear();
    }
}

/// One rollout under way.
struct Run<'a> {
    scenario: &'a Scenario,
    policy: &'a mut dyn Policy,
    model: &'a mut dyn ModelBackend,
    parser: &'a dyn ActionParser,
    hooks: Hooks,
    instrumentation: Instrumentation,
    user: User,
    draws: Draws,

    trace: &'a mut Trace,
    labels: &'a mut LabelTable,
    agenda: &'a mut Vec<Waiting>,
    fields: &'a mut Vec<LabelId>,
    sources: &'a mut Vec<Source>,
    agents: &'a mut Vec<Agent>,
    messages: &'a mut Vec<Message>,
    calls: &'a mut Vec<Progress>,
    records: &'a mut Vec<Record>,
    automatic_writes: &'a mut Vec<AutomaticWrite>,
    /// By store: how many automatic writes it has had.
    automatic_writes_of: &'a mut Vec<u32>,
    answered: &'a mut Vec<AnsweredStep>,
    held: &'a mut Vec<Held>,
    prompt: &'a mut Prompt,
    empty: &'a Arc<Content>,

    tick: u64,
    episode: u32,
    episode_start: u64,
    /// Whose event is running.
    agent: Option<AgentId>,
    /// The semantic key of the running event, and how many children of each type it has.
    key: EventKey,
    children: [u32; 16],
    sequence: u32,
    events: u32,
    delegations: u32,
    /// Text so far, in bytes (section 5).
    text: u64,
    /// The outcome to come, once a limit or an abort halted the rollout.
    halted: Option<Outcome>,
    ended: Option<Outcome>,
}

impl Run<'_> {
    fn play(&mut self) -> Outcome {
        self.initial_records();
        self.insert(0, EventKey::ROOT.child(0, 0), Due::Begin(0));
        loop {
            let Some(next) = self.agenda.pop() else {
                let close = Due::Close(self.episode);
                let key = EventKey::ROOT.child(close.number(), self.episode);
                self.insert(self.tick, key, close);
                continue;
            };
            let tick = next.order.0;
            if !next.due.is_exempt_from_limits() {
                if self.events >= self.scenario.limits.events {
                    self.limit(LimitKind::Events);
                    continue;
                }
                if tick - self.episode_start > self.scenario.limits.ticks {
                    self.limit(LimitKind::Ticks);
                    continue;
                }
                self.events += 1;
            }
            self.tick = tick;
            self.key = next.key;
            self.children = [0; 16];
            self.agent = next.due.agent();
            self.execute(next.due);
            if let Some(outcome) = self.ended.take() {
                return outcome;
            }
            if self.agenda.len() > self.scenario.limits.queue as usize {
                self.limit(LimitKind::Queue);
            }
        }
    }

    fn execute(&mut self, due: Due) {
        match due {
            Due::Begin(episode) => self.begin(episode),
            Due::Deliver(message, agent) => self.deliver(message, agent),
            Due::Inject(source, agent) => self.inject(source, agent),
            Due::Result(call, agent) => self.result(call, agent),
            Due::Acknowledge(call, agent) => self.acknowledge(call, agent),
            Due::Denial(call, agent, reason) => self.denial(call, agent, reason),
            Due::Reject(agent) => self.reject(agent),
            Due::Decide(agent) => self.decide(agent),
            Due::Parse(agent) => self.parse(agent),
            Due::Authorize(call, _) => self.authorize(call),
            Due::Commit(call, _) => self.commit(call),
            Due::Undo(call) => self.undo(call),
            Due::Persist(write, agent) => self.persist(write, agent),
            Due::Recover(step) => self.recover(step),
            Due::Act(answer) => self.act_on_step(answer),
            Due::Close(episode) => self.close(episode),
        }
    }

    /// Schedules a child of the running event.
    fn schedule(&mut self, tick: u64, due: Due) {
        if self.halted.is_some() && !due.survives_a_halt() {
            return;
        }
        let ordinal = &mut self.children[usize::from(due.number())];
        let key = self.key.child(due.number(), *ordinal);
        *ordinal += 1;
        self.insert(tick, key, due);
    }

    /// Puts an event on the agenda, which is sorted with the next event last.
    fn insert(&mut self, tick: u64, key: EventKey, due: Due) {
        let actor = due.agent().map_or(0, |agent| agent.0 + 1);
        let order = (tick, due.phase(), actor, self.sequence);
        self.sequence += 1;
        let at = self.agenda.partition_point(|other| other.order > order);
        self.agenda.insert(at, Waiting { order, key, due });
    }

    /// The tick of something that takes `latency` ticks.
    const fn after(&self, latency: u64) -> u64 {
        self.tick + if latency == 0 { 1 } else { latency }
    }

    /// A limit or an abort: drops what waits, but for recovery. The first one counts.
    fn halt(&mut self, outcome: Outcome) {
        self.halted.get_or_insert(outcome);
        self.agenda.retain(|waiting| waiting.due.survives_a_halt());
    }

    fn limit(&mut self, kind: LimitKind) {
        self.halt(Outcome::LimitReached(kind));
    }

    /// Adds text to what the rollout has had.
    fn add_text(&mut self, bytes: usize) {
        self.text += bytes as u64;
        if self.text > MOST_TEXT_OF_A_ROLLOUT {
            self.limit(LimitKind::Text);
        }
    }

    /// Adds content that is sent, seen, stored or meant.
    fn add_content(&mut self, content: &Content) {
        let fields = &content.fields;
        let words: usize = fields
            .iter()
            .map(|field| field.name.len() + field.value.len())
            .sum();
        self.add_text(words + fields.len() * FIELD_BYTES);
    }

    fn abort(&mut self) {
        self.halt(Outcome::Completed);
    }

    fn end(&mut self, outcome: Outcome) {
        self.agent = None;
        self.emit(Happening::Ended {
            outcome: outcome.clone(),
        });
        self.ended = Some(outcome);
    }

    /// Records what happened, with the nodes and edges since the previous event.
    fn emit(&mut self, what: Happening) {
        self.trace.events.push(Event {
            tick: self.tick,
            episode: self.episode,
            agent: self.agent,
            what,
            nodes_after: count(self.trace.nodes.len()),
            edges_after: count(self.trace.edges.len()),
        });
    }

    fn initial_records(&mut self) {
        let scenario = self.scenario;
        for (store, spec) in scenario.stores.iter().enumerate() {
            for initial in &spec.records {
                let record = Record {
                    store: StoreId::at(store),
                    key: initial.key.clone(),
                    content: scenario.sources[initial.source.index()].content.clone(),
                    fields: self.source_fields(initial.source),
                    recorded: self.source_label(initial.source),
                    node: None,
                    live: true,
                    quarantined: false,
                    call: None,
                    episode: 0,
                    initial: Some(initial.source),
                };
                self.records.push(record);
            }
        }
    }
}

/// A length as the trace stores it.
fn count(length: usize) -> u32 {
    u32::try_from(length).expect("limits keep every table far shorter")
}
