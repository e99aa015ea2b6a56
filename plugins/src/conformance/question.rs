//! What a policy is asked in one round, as owned values, and what it answers.

use super::generate::{calls, random_content, random_context, random_label};
use super::random::Random;
use super::reference;
use super::sample::World;
use crate::draws::{Draws, EventKey, RolloutKey};
use crate::ids::{AgentId, CallId, NodeId, RecordId, SourceId, StoreId};
use crate::label::LabelId;
use crate::model::Segment;
use crate::policy::{
    DEFAULT_ALLOW, Hook, Inflow, Policy, RecordSummary, RecordView, RecoveryNotice, Ruling,
    Verdict, VerdictKind,
};
use crate::trace::{Happening, Prefix, RecoveryKind};
use crate::value::Content;

/// The scenario of a round and the questions about it, in the order of a rollout.
pub(super) struct Case {
    pub(super) world: World,
    questions: Vec<Question>,
    key: RolloutKey,
}

/// One question.
enum Question {
    Session,
    Prompt(AgentId, Vec<Segment>),
    Observation(Flow),
    Message(Flow),
    Proposal(CallId),
    MemoryWrite(Record),
    MemoryRead(Record),
    Commit(CallId),
    Recovery(Notice),
}

/// An [`Inflow`] that owns what it shows.
struct Flow {
    agent: AgentId,
    from: Option<AgentId>,
    content: Content,
    labels: Vec<LabelId>,
    recorded: LabelId,
    node: Option<NodeId>,
}

/// A [`RecordView`] that owns what it shows.
struct Record {
    id: RecordId,
    content: Content,
    labels: Vec<LabelId>,
    recorded: LabelId,
    call: Option<CallId>,
}

/// A [`RecoveryNotice`] that owns what it shows.
struct Notice {
    kind: RecoveryKind,
    revoked: Option<SourceId>,
    records: Vec<RecordSummary>,
}

/// What a policy answered, in a form that can be compared and shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) hook: Hook,
    pub(super) kind: VerdictKind,
    pub(super) rule: String,
    /// Verdict and reason in full.
    pub(super) text: String,
    /// What it refers to and does not exist.
    pub(super) stray: Option<String>,
}

impl Answer {
    pub(super) fn is_neutral(&self) -> bool {
        self.kind == VerdictKind::Allow && self.rule == DEFAULT_ALLOW
    }
}

impl Case {
    /// The case of one round.
    pub(super) fn of_round(round: u64) -> Self {
        let mut world = super::generate::world(round);
        let random = &mut Random::new(!round);
        let mut questions = vec![Question::Session];
        if !world.briefing.agents.is_empty() {
            questions.extend(Question::about_agents(&mut world, random));
        }
        let key = RolloutKey::new(1, "conformance".into(), round);
        Self {
            world,
            questions,
            key,
        }
    }

    /// How many questions there are.
    pub(super) fn len(&self) -> usize {
        self.questions.len()
    }

    /// The hook of a question.
    pub(super) fn hook(&self, position: usize) -> Hook {
        match &self.questions[position] {
            Question::Session => Hook::Session,
            Question::Prompt(..) => Hook::Prompt,
            Question::Observation(_) => Hook::Observation,
            Question::Message(_) => Hook::Message,
            Question::Proposal(_) => Hook::Proposal,
            Question::MemoryWrite(_) => Hook::MemoryWrite,
            Question::MemoryRead(_) => Hook::MemoryRead,
            Question::Commit(_) => Hook::Commit,
            Question::Recovery(_) => Hook::Recovery,
        }
    }

    /// Asks one question.
    pub(super) fn ask(&self, policy: &mut dyn Policy, position: usize) -> Answer {
        let question = &self.questions[position];
        let mut draws = Draws::new(self.key.clone());
        let ordinal = u32::try_from(position).unwrap_or(u32::MAX);
        draws.at(0, "policy", EventKey::ROOT.child(0, ordinal));
        let prefix = self.prefix(question);
        let view = &mut self.world.view_of(prefix, &mut draws);
        let world = &self.world;
        match question {
            Question::Session => {
                let ruling = policy.on_session(view);
                let stray = reference::in_session(&ruling.verdict, &world.briefing);
                self.answer(position, &ruling, stray, prefix)
            }
            Question::Prompt(agent, segments) => {
                let ruling = policy.on_prompt(view, *agent, segments);
                let stray = reference::in_prompt(&ruling.verdict, segments.len(), &world.briefing);
                self.answer(position, &ruling, stray, prefix)
            }
            Question::Observation(flow) => {
                let ruling = policy.on_observation(view, flow.inflow());
                self.answer(position, &ruling, None, prefix)
            }
            Question::Message(flow) => {
                let ruling = policy.on_message(view, flow.inflow());
                self.answer(position, &ruling, None, prefix)
            }
            Question::Proposal(call) => {
                let proposal = world.proposal(*call);
                let ruling = policy.on_proposal(view, proposal);
                let stray = reference::in_proposal(&ruling.verdict, proposal.tool);
                self.answer(position, &ruling, stray, prefix)
            }
            Question::MemoryWrite(record) => {
                let ruling = policy.on_memory_write(view, record.view());
                self.answer(position, &ruling, None, prefix)
            }
            Question::MemoryRead(record) => {
                let ruling = policy.on_memory_read(view, record.view());
                self.answer(position, &ruling, None, prefix)
            }
            Question::Commit(call) => {
                let ruling = policy.on_commit(view, world.proposal(*call));
                self.answer(position, &ruling, None, prefix)
            }
            Question::Recovery(notice) => {
                let ruling = policy.on_recovery(view, notice.notice());
                let stray = reference::in_recovery(&ruling.verdict, &notice.records, prefix);
                self.answer(position, &ruling, stray, prefix)
            }
        }
    }

    fn answer<V: Verdict>(
        &self,
        position: usize,
        ruling: &Ruling<V>,
        stray: Option<String>,
        prefix: Prefix<'_>,
    ) -> Answer {
        let tool = match &self.questions[position] {
            Question::Proposal(call) | Question::Commit(call) => {
                Some(self.world.proposal(*call).tool)
            }
            _ => None,
        };
        let briefing = &self.world.briefing;
        Answer {
            hook: self.hook(position),
            kind: ruling.verdict.kind(),
            rule: ruling.reason.rule.to_string(),
            text: format!("{:?} because {:?}", ruling.verdict, ruling.reason),
            stray: stray.or_else(|| reference::in_reason(&ruling.reason, briefing, prefix, tool)),
        }
    }

    /// The trace up to the call that is asked about; all of it otherwise.
    fn prefix(&self, question: &Question) -> Prefix<'_> {
        let whole = self.world.trace.prefix();
        let (Question::Proposal(asked) | Question::Commit(asked)) = question else {
            return whole;
        };
        let is_asked =
            |what: &Happening| matches!(what, Happening::Proposed { call } if call == asked);
        let proposed = whole.events.iter().position(|event| is_asked(&event.what));
        proposed.map_or(whole, |last| self.world.prefix_of(last + 1))
    }
}

impl Question {
    /// Questions on every hook that is about an agent: some between the calls, and all at the end.
    fn about_agents(world: &mut World, random: &mut Random) -> Vec<Self> {
        let mut questions = Vec::new();
        for call in calls(world) {
            questions.push(Self::Proposal(call));
            questions.push(Self::Commit(call));
            questions.push(match random.below(6) {
                0 => Self::Observation(Flow::random(world, random)),
                1 => Self::Message(Flow::random(world, random)),
                2 => Self::MemoryWrite(Record::random(world, random)),
                3 => Self::MemoryRead(Record::random(world, random)),
                4 => Self::Recovery(Notice::random(world, random)),
                _ => Self::prompt(world, random),
            });
        }
        questions.push(Self::prompt(world, random));
        questions.push(Self::Observation(Flow::random(world, random)));
        questions.push(Self::Message(Flow::random(world, random)));
        questions.push(Self::MemoryWrite(Record::random(world, random)));
        questions.push(Self::MemoryRead(Record::random(world, random)));
        questions.push(Self::Recovery(Notice::random(world, random)));
        questions
    }

    fn prompt(world: &mut World, random: &mut Random) -> Self {
        let agent = AgentId::at(random.index(world.briefing.agents.len()));
        Self::Prompt(agent, random_context(world, random))
    }
}

impl Flow {
    fn random(world: &mut World, random: &mut Random) -> Self {
        let (content, labels) = random_content(world, random);
        let recorded = labels
            .iter()
            .fold(LabelId::BOTTOM, |a, &b| world.labels.join(a, b));
        let nodes = world.trace.nodes.len();
        Self {
            agent: AgentId(0),
            from: random.one_in(2).then_some(AgentId(0)),
            content,
            labels,
            recorded,
            node: (nodes > 0).then(|| NodeId::at(random.index(nodes))),
        }
    }

    fn inflow(&self) -> Inflow<'_> {
        Inflow {
            agent: self.agent,
            from: self.from,
            content: &self.content,
            labels: &self.labels,
            recorded: self.recorded,
            node: self.node,
        }
    }
}

impl Record {
    fn random(world: &mut World, random: &mut Random) -> Self {
        let (content, labels) = random_content(world, random);
        Self {
            id: RecordId(random.below(9)),
            content,
            labels,
            recorded: random_label(world, random),
            call: random.pick(&calls(world)).copied(),
        }
    }

    fn view(&self) -> RecordView<'_> {
        RecordView {
            record: self.id,
            store: StoreId(0),
            key: "contact_note",
            content: &self.content,
            labels: &self.labels,
            recorded: self.recorded,
            agent: Some(AgentId(0)),
            call: self.call,
        }
    }
}

impl Notice {
    /// A step of any kind, most often a revocation; the records are those that calls stored, and a
    /// few that no call did.
    fn random(world: &mut World, random: &mut Random) -> Self {
        let kind = [
            RecoveryKind::Scrub,
            RecoveryKind::Restore,
            RecoveryKind::Quarantine,
            RecoveryKind::Revoke,
            RecoveryKind::Revoke,
            RecoveryKind::Revoke,
        ][random.index(6)];
        let sources = world.briefing.sources.len();
        let revoked = (kind == RecoveryKind::Revoke && sources > 0)
            .then(|| SourceId::at(random.index(sources)));
        let mut storing: Vec<Option<CallId>> = calls(world).into_iter().map(Some).collect();
        storing.push(None);
        let records = (0..)
            .map(RecordId)
            .zip(storing)
            .map(|(record, call)| RecordSummary {
                record,
                store: StoreId(0),
                call,
                recorded: match call {
                    Some(call) => world.trace.calls[call.index()].recorded,
                    None => random_label(world, random),
                },
                has_backup: random.one_in(2),
            })
            .collect();
        Self {
            kind,
            revoked,
            records,
        }
    }

    fn notice(&self) -> RecoveryNotice<'_> {
        RecoveryNotice {
            step: 0,
            kind: self.kind,
            revoked: self.revoked,
            records: &self.records,
        }
    }
}
