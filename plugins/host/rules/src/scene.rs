//! The moment at which something is asked, with whatever facts it has.

use std::cell::OnceCell;

use plugins::action::{Argument, Call};
use plugins::briefing::Briefing;
use plugins::ids::{AgentId, RecordId, StoreId};
use plugins::label::{Label, LabelId, LabelTable};
use plugins::model::{Segment, SegmentKind};
use plugins::policy::{Inflow, Proposal, RecordView, RecoveryNotice, View};
use plugins::predicate::{CallView, matches};
use plugins::tool::ToolSpec;
use plugins::trace::Prefix;
use plugins::value::Content;

/// Everything that a predicate can look at. What the moment does not have is none.
pub(crate) struct Scene<'a> {
    pub(crate) briefing: &'a Briefing,
    pub(crate) prefix: Prefix<'a>,
    pub(crate) labels: &'a LabelTable,
    pub(crate) tick: u64,
    pub(crate) episode: u32,
    pub(crate) agent: Option<AgentId>,
    pub(crate) tool: Option<&'a ToolSpec>,
    pub(crate) call: Option<(&'a Call, &'a [Argument])>,
    pub(crate) recorded: Option<LabelId>,
    pub(crate) content: Option<(&'a Content, &'a [LabelId])>,
    pub(crate) sender: Sender,
    pub(crate) record: Option<Record<'a>>,
    pub(crate) segments: &'a [Segment],
    pub(crate) notice: Option<RecoveryNotice<'a>>,
    /// The matched ledger entry, once it was looked for.
    entry: OnceCell<Option<usize>>,
}

/// From whom something comes.
#[derive(Clone, Copy)]
pub(crate) enum Sender {
    /// There is nothing that comes in.
    NoInflow,
    /// A tool or somebody outside.
    Nobody,
    Agent(AgentId),
}

impl Sender {
    fn of(from: Option<AgentId>) -> Self {
        from.map_or(Self::Nobody, Self::Agent)
    }
}

/// A record that is stored or returned.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) id: RecordId,
    pub(crate) store: StoreId,
    pub(crate) key: &'a str,
    /// It is being stored right now.
    pub(crate) is_new: bool,
}

impl<'a> Scene<'a> {
    /// A moment of which only the time is known.
    pub(crate) fn new(
        briefing: &'a Briefing,
        prefix: Prefix<'a>,
        labels: &'a LabelTable,
        tick: u64,
        episode: u32,
    ) -> Self {
        Self {
            briefing,
            prefix,
            labels,
            tick,
            episode,
            agent: None,
            tool: None,
            call: None,
            recorded: None,
            content: None,
            sender: Sender::NoInflow,
            record: None,
            segments: &[],
            notice: None,
            entry: OnceCell::new(),
        }
    }

    /// What any hook can see.
    pub(crate) fn of(view: &View<'a>) -> Self {
        Self::new(
            view.briefing,
            view.prefix,
            view.labels,
            view.tick,
            view.episode,
        )
    }

    pub(crate) fn with_prompt(self, agent: AgentId, segments: &'a [Segment]) -> Self {
        Self {
            agent: Some(agent),
            segments,
            ..self
        }
    }

    pub(crate) fn with_notice(self, notice: RecoveryNotice<'a>) -> Self {
        Self {
            notice: Some(notice),
            ..self
        }
    }

    pub(crate) fn with_tool(self, tool: &'a ToolSpec) -> Self {
        Self {
            tool: Some(tool),
            ..self
        }
    }

    pub(crate) fn with_call(
        self,
        tool: &'a ToolSpec,
        call: &'a Call,
        given: &'a [Argument],
    ) -> Self {
        Self {
            agent: Some(call.agent),
            tool: Some(tool),
            call: Some((call, given)),
            recorded: Some(call.recorded),
            ..self
        }
    }

    pub(crate) fn with_proposal(self, proposal: &Proposal<'a>) -> Self {
        self.with_call(proposal.tool, proposal.call, proposal.arguments)
    }

    pub(crate) fn with_inflow(self, inflow: &Inflow<'a>) -> Self {
        Self {
            agent: Some(inflow.agent),
            recorded: Some(inflow.recorded),
            content: Some((inflow.content, inflow.labels)),
            sender: Sender::of(inflow.from),
            ..self
        }
    }

    /// A message whose content is not looked at.
    pub(crate) fn with_message(
        self,
        to: Option<AgentId>,
        from: Option<AgentId>,
        recorded: LabelId,
    ) -> Self {
        Self {
            agent: to,
            recorded: Some(recorded),
            sender: Sender::of(from),
            ..self
        }
    }

    pub(crate) fn with_record(self, record: &RecordView<'a>, is_new: bool) -> Self {
        Self {
            agent: record.agent,
            recorded: Some(record.recorded),
            content: Some((record.content, record.labels)),
            record: Some(Record {
                id: record.record,
                store: record.store,
                key: record.key,
                is_new,
            }),
            ..self
        }
    }

    /// The label behind an id.
    pub(crate) fn label(&self, id: LabelId) -> &'a Label {
        self.labels.get(id)
    }

    /// The call as the ledger predicates see it.
    pub(crate) fn view(&self) -> Option<CallView<'a>> {
        let (tool, (_, arguments)) = (self.tool?, self.call?);
        Some(CallView { tool, arguments })
    }

    /// The position of the first ledger entry that authorises the call.
    pub(crate) fn entry(&self) -> Option<usize> {
        *self.entry.get_or_init(|| {
            self.view()
                .and_then(|view| matches(view, &self.briefing.ledger))
        })
    }
}

/// Whether a part of a context certainly comes from outside: what a tool returned of an untrusted
/// source, or a message that no agent sent. What an agent passed on is not known here.
pub(crate) fn is_untrusted(segment: &Segment, briefing: &Briefing) -> bool {
    match segment.kind {
        SegmentKind::Observation {
            source: Some(source),
            ..
        } => briefing.untrusted.contains(source.0),
        SegmentKind::Message { from } => from.is_none(),
        _ => false,
    }
}
