//! Section 3: from what a model says flowed in to the labels of what it says.

use plugins::action::Argument;
use plugins::ids::AgentId;
use plugins::label::{Flags, Label, LabelId, LabelTable};
use plugins::model::{Input, Segment};
use plugins::policy::{Relabel, relabelled};

use super::Run;
use super::state::{Flow, Span, Turn};

impl Run<'_> {
    pub(super) fn span_since(&self, start: usize) -> Span {
        Span {
            start: super::count(start),
            end: super::count(self.fields.len()),
        }
    }

    pub(super) fn labels_of(&self, span: Span) -> &[LabelId] {
        &self.fields[span.range()]
    }

    pub(super) fn join_fields(&mut self, span: Span) -> LabelId {
        let fields = &self.fields[span.range()];
        fields
            .iter()
            .fold(LabelId::BOTTOM, |sum, &field| join(self.labels, sum, field))
    }

    /// The same fields with `flags` added to every label.
    pub(super) fn flag_fields(&mut self, span: Span, flags: Flags) -> Span {
        let start = self.fields.len();
        for position in span.range() {
            let label = self.labels.flagged(self.fields[position], flags);
            self.fields.push(label);
        }
        self.span_since(start)
    }

    /// Adds a segment to the context of `agent`.
    pub(super) fn add_segment(&mut self, agent: AgentId, segment: Segment, span: Span) {
        let said = self.join_fields(span);
        let agent = &mut self.agents[agent.index()];
        agent.context.push(segment);
        agent.spans.push(span);
        agent.whole = join(self.labels, agent.whole, said);
    }

    /// Labels what a completion says, from the visible segments with these labels.
    pub(super) fn label_turn(&mut self, turn: &mut Turn, visible: &[Span], whole: LabelId) {
        turn.whole = whole;
        turn.choice = match &turn.reply.choice {
            Some(inputs) => self.join_inputs(inputs, visible, whole),
            None => whole,
        };
        turn.derived.clear();
        for derivation in &turn.reply.derivations {
            let inputs = self.join_inputs(&derivation.inputs, visible, whole);
            let label = self.written(inputs, turn.choice);
            turn.derived.push(label);
        }
    }

    fn join_inputs(&mut self, inputs: &[Input], visible: &[Span], whole: LabelId) -> LabelId {
        let mut sum = LabelId::BOTTOM;
        for input in inputs {
            let flowed_in = match (visible.get(input.segment as usize), input.field) {
                (None, _) => whole,
                (Some(&segment), None) => self.join_fields(segment),
                (Some(&segment), Some(field)) => self
                    .labels_of(segment)
                    .get(usize::from(field))
                    .copied()
                    .unwrap_or(whole),
            };
            sum = join(self.labels, sum, flowed_in);
        }
        sum
    }

    /// The label of what a model wrote from `inputs` after the choice labelled `choice`.
    fn written(&mut self, inputs: LabelId, choice: LabelId) -> LabelId {
        let inputs = self.labels.flagged(inputs, Flags::VIA_MODEL);
        let chosen = self.labels.get(choice);
        if chosen.sources.is_empty() && chosen.control.is_empty() {
            return inputs;
        }
        let label = self.labels.get(inputs);
        let control = label.control.union(&chosen.sources).union(&chosen.control);
        if control == label.control {
            return inputs;
        }
        let controlled = Label {
            control,
            ..label.clone()
        };
        self.labels.intern(controlled)
    }

    /// The label of the field `name` of a turn.
    pub(super) fn field_label(&mut self, turn: &Turn, name: &str) -> LabelId {
        let mut derivations = turn.reply.derivations.iter();
        match derivations.position(|derivation| &*derivation.field == name) {
            Some(position) => turn.derived[position],
            None => self.written(turn.whole, turn.choice),
        }
    }

    /// Whether something said with these fields quotes U.
    pub(super) fn quotes(&self, fields: Span, choice: LabelId) -> bool {
        self.labels_of(fields)
            .iter()
            .any(|&field| self.tainted(field))
            || self.instrumentation.choice && self.tainted(choice)
    }

    /// Relabelling (section 6): each field, and the recorded label that flows on. Returns the
    /// recorded label before and after.
    pub(super) fn relabel(&mut self, flow: &mut Flow, change: &Relabel) -> (LabelId, LabelId) {
        let start = self.fields.len();
        for position in flow.fields.range() {
            let label = self.relabel_one(self.fields[position], change);
            self.fields.push(label);
        }
        flow.fields = self.span_since(start);
        let before = flow.recorded;
        flow.recorded = self.relabel_one(before, change);
        if self.tainted(before) && !self.tainted(flow.recorded) {
            flow.taint = false;
        }
        (before, flow.recorded)
    }

    fn relabel_one(&mut self, label: LabelId, change: &Relabel) -> LabelId {
        let untrusted = &self.scenario.briefing.untrusted;
        match relabelled(self.labels.get(label), change, untrusted) {
            Some(changed) => self.labels.intern(changed),
            None => label,
        }
    }
}

/// The join of the labels of `arguments`.
pub(super) fn join_arguments(labels: &mut LabelTable, arguments: &[Argument]) -> LabelId {
    arguments.iter().fold(LabelId::BOTTOM, |sum, argument| {
        join(labels, sum, argument.label)
    })
}

/// The join of two labels. Where one lies above the other it is the join, and nothing is interned.
pub(super) fn join(labels: &mut LabelTable, a: LabelId, b: LabelId) -> LabelId {
    if a == b || labels.get(b).flows_to(labels.get(a)) {
        a
    } else if labels.get(a).flows_to(labels.get(b)) {
        b
    } else {
        labels.join(a, b)
    }
}
