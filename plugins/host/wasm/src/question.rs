//! One question as a module reads it: `cb_question` and what follows it at each hook.

use plugins::facts::{CallFacts, Counts};
use plugins::ids::AgentId;
use plugins::label::LabelId;
use plugins::model::{OwnTurn, Segment, SegmentKind};
use plugins::policy::{Inflow, Proposal, RecordView, RecoveryNotice, View};
use plugins::reason::Hook;

use crate::codes::{NONE, denial};
use crate::event::{Known, arguments};
use crate::message::{Message, Span, optional, record, two_words, word};

/// Words of `cb_question`, with which every question begins.
pub(crate) const QUESTION: usize = 16;
/// Words of `cb_call_question`.
pub(crate) const CALL_QUESTION: usize = QUESTION + 22;
/// Words of `cb_inflow_question`.
pub(crate) const INFLOW_QUESTION: usize = QUESTION + 6;
/// Words of `cb_record_question`.
pub(crate) const RECORD_QUESTION: usize = QUESTION + 10;
/// Words of `cb_prompt_question`.
pub(crate) const PROMPT_QUESTION: usize = QUESTION + 4;
/// Words of `cb_recovery_question`.
pub(crate) const RECOVERY_QUESTION: usize = QUESTION + 6;
/// Words of `cb_segment`.
pub(crate) const SEGMENT: usize = 6;
/// Words of `cb_summary`.
pub(crate) const SUMMARY: usize = 6;

/// What a question is about.
pub(crate) enum About<'a> {
    /// An episode.
    Session,
    /// A model call.
    Prompt(AgentId, &'a [Segment]),
    /// Content entering a context.
    Inflow(Inflow<'a>),
    /// A call, to be authorised or before its effect.
    Call(Proposal<'a>),
    /// A memory record.
    Record(RecordView<'a>),
    /// A recovery step.
    Recovery(RecoveryNotice<'a>),
}

/// How often something happened so far: to all calls, and to those of high-risk tools.
pub(crate) type BothCounts = [Counts; 2];

/// Writes a question.
pub(crate) fn write(
    message: &mut Message,
    view: &View<'_>,
    hook: Hook,
    about: &About<'_>,
    counts: &BothCounts,
) {
    let known = Known {
        briefing: view.briefing,
        labels: view.labels,
    };
    match about {
        About::Session => message.begin(QUESTION),
        About::Prompt(agent, segments) => prompt(message, *agent, segments),
        About::Inflow(flow) => inflow(message, flow, known),
        About::Call(proposal) => call(message, view, proposal, known),
        About::Record(record) => record_view(message, record, known),
        About::Recovery(notice) => recovery(message, notice, known),
    }
    let labels = message.label_list(view.labels, view.briefing);
    let head: [u32; QUESTION] = record(&[
        &two_words(view.tick),
        &[view.episode, hook as u32],
        &count_words(counts[0]),
        &count_words(counts[1]),
        &labels,
    ]);
    message.put(0, &head);
}

/// `cb_counts`.
fn count_words(counts: Counts) -> [u32; 5] {
    let Counts {
        proposed,
        committed,
        denied,
        asked,
        approved,
    } = counts;
    [proposed, committed, denied, asked, approved]
        .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// Writes what follows the head.
fn tail<const N: usize>(message: &mut Message, pieces: &[&[u32]]) {
    let words: [u32; N] = record(pieces);
    message.put(QUESTION * 4, &words);
}

fn prompt(message: &mut Message, agent: AgentId, segments: &[Segment]) {
    message.begin(PROMPT_QUESTION);
    let segments = message.list(segments.iter(), |message, segment| {
        let what = segment_kind(segment.kind);
        let fields = message.fields(&segment.content, &[], &|_| 0);
        record::<SEGMENT>(&[&what, &[u32::from(segment.marked)], &fields])
    });
    tail::<{ PROMPT_QUESTION - QUESTION }>(message, &[&[agent.0, 0], &segments]);
}

/// The kind of a segment and two numbers that belong to it.
fn segment_kind(kind: SegmentKind) -> [u32; 3] {
    match kind {
        SegmentKind::Goal => [0, NONE, NONE],
        SegmentKind::Message { from } => [1, optional(from.map(|from| from.0)), NONE],
        SegmentKind::Own { turn, .. } => match turn {
            OwnTurn::Call(tool) => [2, 0, tool.0],
            OwnTurn::Delegate(to) => [2, 1, to.0],
            OwnTurn::Final => [2, 2, NONE],
            OwnTurn::Invalid => [2, 3, NONE],
        },
        SegmentKind::Observation { tool, source } => {
            [3, tool.0, optional(source.map(|source| source.0))]
        }
        SegmentKind::Acknowledged { tool } => [4, tool.0, NONE],
        SegmentKind::Denied { tool, reason } => [5, tool.0, denial(reason)],
        SegmentKind::Rejected => [6, NONE, NONE],
    }
}

fn inflow(message: &mut Message, inflow: &Inflow<'_>, known: Known<'_>) {
    message.begin(INFLOW_QUESTION);
    let fields = message.fields(inflow.content, inflow.labels, &|label| known.flags(label));
    let recorded = message.label(inflow.recorded);
    let from = optional(inflow.from.map(|from| from.0));
    let node = optional(inflow.node.map(|node| node.0));
    tail::<{ INFLOW_QUESTION - QUESTION }>(
        message,
        &[&[inflow.agent.0, from, node, recorded], &fields],
    );
}

fn record_view(message: &mut Message, seen: &RecordView<'_>, known: Known<'_>) {
    message.begin(RECORD_QUESTION);
    let key = message.text(seen.key);
    let fields = message.fields(seen.content, seen.labels, &|label| known.flags(label));
    let recorded = message.label(seen.recorded);
    let agent = optional(seen.agent.map(|agent| agent.0));
    let call = optional(seen.call.map(|call| call.0));
    let flags = known.flags(seen.recorded);
    tail::<{ RECORD_QUESTION - QUESTION }>(
        message,
        &[
            &[seen.record.0, seen.store.0, agent, call, recorded, flags],
            &key,
            &fields,
        ],
    );
}

fn recovery(message: &mut Message, notice: &RecoveryNotice<'_>, known: Known<'_>) {
    message.begin(RECOVERY_QUESTION);
    let records = message.list(notice.records.iter(), |message, summary| {
        let call = optional(summary.call.map(|call| call.0));
        let recorded = message.label(summary.recorded);
        let backup = u32::from(summary.has_backup);
        let flags = known.flags(summary.recorded);
        record::<SUMMARY>(&[
            &[summary.record.0, summary.store.0, call],
            &[recorded, backup, flags],
        ])
    });
    let revoked = optional(notice.revoked.map(|source| source.0));
    tail::<{ RECOVERY_QUESTION - QUESTION }>(
        message,
        &[&[notice.step, notice.kind as u32, revoked, 0], &records],
    );
}

fn call(message: &mut Message, view: &View<'_>, proposal: &Proposal<'_>, known: Known<'_>) {
    message.begin(CALL_QUESTION);
    let facts = CallFacts::of(view, proposal);
    let call = proposal.call;
    let agent_name = message.text(facts.agent);
    let tool_name = message.text(&facts.tool.name);
    let target = facts.target.map_or([0, 0], |target| message.text(target));
    let arguments = arguments(message, proposal.arguments, call, known);
    let expanding = positions(message, &facts.expanding);
    let leaking = positions(message, &facts.leaking);
    let flags = u32::from(facts.high_risk)
        | u32::from(facts.wrong_recipient) << 1
        | u32::from(facts.target.is_some()) << 2
        | recorded_flags(known, call.recorded);
    let entry = optional(facts.ledger_entry.map(word));
    let labels = [message.label(call.recorded), message.label(call.choice)];
    tail::<{ CALL_QUESTION - QUESTION }>(
        message,
        &[
            &[call.id.0, call.agent.0, call.tool.0],
            &[facts.tool.risk as u32, flags, entry],
            &[optional(proposal.node.map(|node| node.0))],
            &labels,
            &[u32::from(call.keep_result)],
            &agent_name,
            &tool_name,
            &target,
            &arguments,
            &expanding,
            &leaking,
        ],
    );
}

/// Taint and influence of the recorded label, at bits 3 and 4.
fn recorded_flags(known: Known<'_>, label: LabelId) -> u32 {
    known.flags(label) << 3
}

fn positions(message: &mut Message, positions: &[u16]) -> Span {
    message.numbers(positions.iter().map(|&position| u32::from(position)))
}
