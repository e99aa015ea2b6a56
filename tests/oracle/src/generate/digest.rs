//! A digest of what a plugin is shown. It never includes a label's id, which depends on the order
//! of interning, but everything behind it.

use std::fmt::Debug;

use plugins::action::Argument;
use plugins::label::{IndexSet, LabelId, LabelTable, Readers};
use plugins::policy::View;
use plugins::value::Content;

/// A running digest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) const fn value(self) -> u64 {
        self.0
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        for byte in text.bytes() {
            self.number(u64::from(byte));
        }
    }

    /// A value without label ids in it.
    pub(super) fn debug(&mut self, value: impl Debug) {
        self.text(&format!("{value:?}"));
    }

    pub(super) fn content(&mut self, content: &Content) {
        self.number(content.fields.len() as u64);
        for field in &content.fields {
            self.text(&field.name);
            self.text(&field.value);
        }
    }

    pub(super) fn label(&mut self, label: LabelId, labels: &LabelTable) {
        let label = labels.get(label);
        self.set(&label.sources);
        match &label.readers {
            Readers::Everyone => self.number(u64::MAX),
            Readers::Only(readers) => self.set(readers),
        }
        self.set(&label.control);
        self.number(u64::from(label.flags.bits()));
    }

    fn set(&mut self, set: &IndexSet) {
        for member in set.iter() {
            self.number(u64::from(member));
        }
        self.number(u64::MAX - 1);
    }

    pub(super) fn labels(&mut self, ids: &[LabelId], labels: &LabelTable) {
        self.number(ids.len() as u64);
        for &id in ids {
            self.label(id, labels);
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument], labels: &LabelTable) {
        for argument in arguments {
            self.debug((argument.position, &argument.value));
            self.label(argument.label, labels);
            if let Some(referent) = &argument.referent {
                self.debug(referent.object);
                self.content(&referent.content);
                self.labels(&referent.labels, labels);
            }
        }
    }

    /// What every hook sees: where it is in time, and how the trace ends.
    pub(super) fn view(&mut self, view: &View<'_>) {
        let prefix = &view.prefix;
        self.debug((view.tick, view.episode));
        let lengths = (prefix.nodes.len(), prefix.edges.len());
        self.debug((lengths, prefix.calls.len(), prefix.events.len()));
        if let Some(node) = prefix.nodes.last() {
            self.debug((node.kind, node.detail, node.subject));
            self.debug((node.tick, node.episode, node.agent));
            self.label(node.recorded, view.labels);
            self.label(node.exact, view.labels);
        }
        self.debug(prefix.edges.last());
        if let Some(event) = prefix.events.last() {
            self.debug((event.tick, event.episode, event.agent));
            self.debug((event.nodes_after, event.edges_after));
        }
    }
}
