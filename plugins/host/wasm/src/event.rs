//! One event of the trace as a module reads it: `cb_event`.
//!
//! A module gets one event per call. Reading a run again after going back is therefore the same
//! calls in the same order, with the same fuel, as reading it the first time.

use plugins::action::{Argument, Call};
use plugins::briefing::Briefing;
use plugins::label::{LabelId, LabelTable};
use plugins::trace::{Edge, Event, Happening, Node, Outcome, Prefix};
use plugins::value::Content;

use crate::codes::{NONE, denial, subject, verdict};
use crate::message::{Message, Span, label_flags, optional, record, two_words, word};

/// Words of `cb_event`.
pub(crate) const EVENT: usize = 26;
/// Words of `cb_node`.
pub(crate) const NODE: usize = 12;
/// Words of `cb_edge`.
pub(crate) const EDGE: usize = 4;
/// Words of `cb_call`.
pub(crate) const CALL: usize = 10;
/// Words of `cb_argument`.
pub(crate) const ARGUMENT: usize = 16;

/// What is needed to write anything with a label.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) briefing: &'a Briefing,
    pub(crate) labels: &'a LabelTable,
}

impl Known<'_> {
    /// Bit 0: tainted. Bit 1: influenced.
    pub(crate) fn flags(&self, label: LabelId) -> u32 {
        label_flags(self.labels.get(label), self.briefing)
    }
}

/// What of an event depends on its kind.
#[derive(Default)]
struct Detail {
    kind: u32,
    subject: [u32; 2],
    numbers: [u32; 4],
    text: Span,
    items: Span,
}

/// Writes the event at `position` of the prefix, with the nodes, edges and the call that came
/// with it.
pub(crate) fn write(message: &mut Message, prefix: Prefix<'_>, position: usize, known: Known<'_>) {
    message.begin(EVENT);
    let event = &prefix.events[position];
    let before = position.checked_sub(1).map(|before| &prefix.events[before]);
    let (first_node, first_edge) =
        before.map_or((0, 0), |event| (event.nodes_after, event.edges_after));
    let new_nodes = part(prefix.nodes, first_node, event.nodes_after);
    let new_edges = part(prefix.edges, first_edge, event.edges_after);
    let nodes = message.list(new_nodes.iter(), |message, new| node(message, new, known));
    let edges = message.list(new_edges.iter(), |_, edge| edge_record(edge));
    let new_call = match event.what {
        Happening::Proposed { call } => prefix.call(call),
        _ => None,
    };
    let calls = message.list(new_call.into_iter(), |message, new| {
        call(message, new, known)
    });
    let detail = detail(message, event, prefix, known);
    let labels = message.label_list(known.labels, known.briefing);
    let agent = optional(event.agent.map(|agent| agent.0));
    let head: [u32; EVENT] = record(&[
        &two_words(event.tick),
        &[event.episode, agent, detail.kind, word(position)],
        &detail.subject,
        &detail.numbers,
        &detail.text,
        &detail.items,
        &[first_node, first_edge],
        &nodes,
        &edges,
        &calls,
        &labels,
    ]);
    message.put(0, &head);
}

/// The rows from `first` up to `end` as far as they exist.
fn part<T>(rows: &[T], first: u32, end: u32) -> &[T] {
    let end = (end as usize).min(rows.len());
    &rows[(first as usize).min(end)..end]
}

/// `cb_node`.
fn node(message: &mut Message, node: &Node, known: Known<'_>) -> [u32; NODE] {
    let recorded = message.label(node.recorded);
    let exact = message.label(node.exact);
    record(&[
        &[node.kind as u32, node.detail as u32],
        &two_words(node.tick),
        &[node.episode, optional(node.agent.map(|agent| agent.0))],
        &subject(node.subject),
        &[recorded, exact, known.flags(node.recorded), 0],
    ])
}

/// `cb_edge`.
fn edge_record(edge: &Edge) -> [u32; EDGE] {
    [
        edge.from.0,
        edge.to.0,
        edge.kind as u32,
        u32::from(edge.taint),
    ]
}

/// `cb_call`.
fn call(message: &mut Message, call: &Call, known: Known<'_>) -> [u32; CALL] {
    let arguments = arguments(message, &call.arguments, call, known);
    let recorded = message.label(call.recorded);
    let choice = message.label(call.choice);
    let keep = u32::from(call.keep_result);
    record(&[
        &[call.id.0, call.agent.0, call.episode, call.tool.0],
        &[keep, recorded, choice, 0],
        &arguments,
    ])
}

/// A list of `cb_argument`.
pub(crate) fn arguments(
    message: &mut Message,
    arguments: &[Argument],
    call: &Call,
    known: Known<'_>,
) -> Span {
    let tool = &known.briefing.tools[call.tool.index()];
    message.list(arguments.iter(), |message, argument| {
        let spec = &tool.arguments[usize::from(argument.position)];
        let name = message.text(&spec.name);
        let label = message.label(argument.label);
        let value = message.value(&argument.value);
        let (object, fields) = match &argument.referent {
            None => ([NONE, NONE], [0, 0]),
            Some(referent) => {
                let flags = |label| known.flags(label);
                let fields = message.fields(&referent.content, &referent.labels, &flags);
                (subject(referent.object), fields)
            }
        };
        let position = u32::from(argument.position);
        let flags = known.flags(argument.label);
        record::<ARGUMENT>(&[
            &[position, spec.role as u32, flags, label],
            &name,
            &value,
            &object,
            &fields,
        ])
    })
}

/// Content without labels.
fn plain(message: &mut Message, content: &Content) -> Span {
    message.fields(content, &[], &|_| 0)
}

impl Detail {
    fn new(kind: u32) -> Self {
        Self {
            kind,
            subject: [NONE, NONE],
            numbers: [NONE; 4],
            ..Self::default()
        }
    }

    fn numbers<const N: usize>(mut self, numbers: [u32; N]) -> Self {
        for (place, number) in self.numbers.iter_mut().zip(numbers) {
            *place = number;
        }
        self
    }

    fn subject(self, subject: [u32; 2]) -> Self {
        Self { subject, ..self }
    }

    fn text(self, text: Span) -> Self {
        Self { text, ..self }
    }

    fn items(self, items: Span) -> Self {
        Self { items, ..self }
    }
}

fn detail(message: &mut Message, event: &Event, prefix: Prefix<'_>, known: Known<'_>) -> Detail {
    match &event.what {
        Happening::EpisodeBegan => Detail::new(0),
        Happening::Delivered { message: sent } => {
            Detail::new(1).numbers([optional(sent.map(|sent| sent.0))])
        }
        Happening::Completed {
            class,
            status,
            repairs,
            strict_reading_is_final,
            named,
        } => {
            let text = named.as_ref().map_or([0, 0], |named| message.text(named));
            let repairs = u32::from(repairs.bits());
            let is_final = u32::from(*strict_reading_is_final);
            Detail::new(2)
                .numbers([*class as u32, *status as u32, repairs, is_final])
                .text(text)
        }
        Happening::Proposed { call } => Detail::new(3).numbers([call.0]),
        Happening::Sent { message, to } => Detail::new(4).numbers([message.0, to.0]),
        Happening::Finished { message } => Detail::new(5).numbers([message.0]),
        Happening::Ruled {
            hook,
            subject: about,
            verdict: kind,
            reason,
            node,
        } => {
            let rule = message.text(&reason.rule);
            let node = optional(node.map(|node| node.0));
            Detail::new(6)
                .subject(subject(*about))
                .numbers([*hook as u32, verdict(*kind), denial(reason.denial), node])
                .text(rule)
        }
        Happening::Asked {
            subject: about,
            answer,
        } => Detail::new(7)
            .subject(subject(*about))
            .numbers([*answer as u32]),
        Happening::HoldReleased { call } => Detail::new(8).numbers([call.0]),
        Happening::Denied { call, reason } => Detail::new(9).numbers([call.0, denial(*reason)]),
        Happening::Committed { call, node } => Detail::new(10).numbers([call.0, node.0]),
        Happening::Observed { call, kept } => Detail::new(11).numbers([call.0, u32::from(*kept)]),
        Happening::Acknowledged { call } => Detail::new(12).numbers([call.0]),
        other => rarer(message, other, prefix, known),
    }
}

/// What concerns memory, recovery and the policy itself.
fn rarer(message: &mut Message, what: &Happening, prefix: Prefix<'_>, known: Known<'_>) -> Detail {
    match what {
        Happening::Stored {
            record,
            store,
            key,
            content,
            node,
            quarantined,
        } => {
            let key = message.text(key);
            let fields = plain(message, content);
            Detail::new(13)
                .numbers([record.0, store.0, node.0, u32::from(*quarantined)])
                .text(key)
                .items(fields)
        }
        Happening::Removed { record, step } => Detail::new(14).numbers([record.0, optional(*step)]),
        Happening::Quarantined { record } => Detail::new(15).numbers([record.0]),
        Happening::Filtered { store, filter } => Detail::new(16).numbers([store.0, *filter]),
        Happening::Recovered {
            step,
            kind,
            node,
            removed,
        } => {
            let node = optional(node.map(|node| node.0));
            let removed = message.numbers(removed.iter().map(|record| record.0));
            Detail::new(17)
                .numbers([optional(*step), *kind as u32, node])
                .items(removed)
        }
        Happening::Undone { call, node } => Detail::new(18).numbers([call.0, node.0]),
        Happening::Relabelled {
            subject: about,
            before,
            after,
        } => {
            let labels = [message.label(*before), message.label(*after)];
            Detail::new(19).subject(subject(*about)).numbers(labels)
        }
        Happening::Rewritten {
            call: id,
            arguments: values,
        } => {
            let call = prefix.call(*id);
            let items = call.map_or([0, 0], |call| arguments(message, values, call, known));
            Detail::new(20).numbers([id.0]).items(items)
        }
        Happening::Drawn { name, value } => {
            let name = message.text(name);
            Detail::new(21).numbers(two_words(*value)).text(name)
        }
        Happening::Ended { outcome } => match outcome {
            Outcome::Completed => Detail::new(22).numbers([0]),
            Outcome::LimitReached(limit) => Detail::new(22).numbers([1, *limit as u32]),
            Outcome::Errored(error) => {
                let error = message.text(error);
                Detail::new(22).numbers([2]).text(error)
            }
        },
        // The others are in `detail`.
        _ => Detail::new(NONE),
    }
}
