//! Which labels agents and memory have, from the trace so far.

use engine::Rollout;
use plugins::ids::{AgentId, RecordId};
use plugins::label::{LabelId, LabelTable};
use plugins::trace::{Happening, NodeKind, Subject, Trace};
use worlds::spec::Scenario;

use crate::cli::table::Table;

/// The labels of agents and memory records, in aligned columns.
pub(super) fn labels(rollout: &Rollout) -> String {
    let view = View {
        scenario: rollout.scenario(),
        trace: rollout.trace(),
        labels: rollout.labels(),
    };
    let mut text = view.agents().to_string();
    let records = view.records();
    if !records.is_empty() {
        text.push('\n');
        text.push_str(&record_table(&records).to_string());
    }
    text
}

/// A version of a memory record.
struct Record {
    name: String,
    state: &'static str,
    recorded: Vec<String>,
    exact: Vec<String>,
}

#[derive(Clone, Copy)]
struct View<'a> {
    scenario: &'a Scenario,
    trace: &'a Trace,
    labels: &'a LabelTable,
}

impl View<'_> {
    fn agents(self) -> Table {
        let mut table = Table::new(["agent", "is", "labelled by", "has seen, untrusted first"]);
        for (index, agent) in self.scenario.briefing.agents.iter().enumerate() {
            let id = AgentId::at(index);
            let (is, recorded, exact) = self.agent(id);
            table.row([
                agent.name.to_string(),
                is.to_owned(),
                list(&recorded),
                list(&exact),
            ]);
        }
        table
    }

    /// What an agent is doing, its recorded and its exact sources.
    fn agent(self, id: AgentId) -> (&'static str, Vec<String>, Vec<String>) {
        let episode = self.trace.events.last().map_or(0, |event| event.episode);
        let mut nodes = self.trace.nodes.iter().rev();
        let state = nodes.find(|node| {
            node.kind == NodeKind::AgentState
                && node.episode == episode
                && node.subject == Subject::Agent(id)
        });
        let Some(state) = state else {
            return ("not reached", Vec::new(), Vec::new());
        };
        let has_finished = self.trace.events.iter().any(|event| {
            event.episode == episode
                && event.agent == Some(id)
                && matches!(event.what, Happening::Finished { .. })
        });
        let is = if has_finished { "done" } else { "active" };
        (
            is,
            self.untrusted(state.recorded),
            self.sources(state.exact),
        )
    }

    fn records(self) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for store in &self.scenario.stores {
            for initial in &store.records {
                let source = &self.scenario.briefing.sources[initial.source.index()];
                let is_untrusted = self.scenario.briefing.untrusted.contains(initial.source.0);
                let name = source.name.to_string();
                records.push(Record {
                    name: format!("{}/{}", store.name, initial.key),
                    state: "live",
                    recorded: if is_untrusted {
                        vec![name.clone()]
                    } else {
                        Vec::new()
                    },
                    exact: vec![name],
                });
            }
        }
        for event in &self.trace.events {
            self.follow(&event.what, &mut records);
        }
        records
    }

    fn follow(self, what: &Happening, records: &mut Vec<Record>) {
        let mut set = |record: &RecordId, state| {
            if let Some(record) = records.get_mut(record.index()) {
                record.state = state;
            }
        };
        match what {
            Happening::Removed { record, .. } => set(record, "removed"),
            Happening::Quarantined { record } => set(record, "quarantined"),
            Happening::Stored {
                store,
                key,
                node,
                quarantined,
                ..
            } => {
                let node = &self.trace.nodes[node.index()];
                records.push(Record {
                    name: format!("{}/{key}", self.scenario.stores[store.index()].name),
                    state: if *quarantined { "quarantined" } else { "live" },
                    recorded: self.untrusted(node.recorded),
                    exact: self.sources(node.exact),
                });
            }
            _ => {}
        }
    }

    /// The untrusted sources of a label.
    fn untrusted(self, label: LabelId) -> Vec<String> {
        let untrusted = &self.scenario.briefing.untrusted;
        let sources = self.labels.get(label).sources.iter();
        let tainting = sources.filter(|&source| untrusted.contains(source));
        tainting.map(|source| self.source(source)).collect()
    }

    /// Every source of a label, the untrusted ones first.
    fn sources(self, label: LabelId) -> Vec<String> {
        let untrusted = &self.scenario.briefing.untrusted;
        let sources = self.labels.get(label).sources.iter();
        let (mut first, rest): (Vec<u32>, Vec<u32>) =
            sources.partition(|&source| untrusted.contains(source));
        first.extend(rest);
        first
            .into_iter()
            .map(|source| self.source(source))
            .collect()
    }

    fn source(self, source: u32) -> String {
        self.scenario.briefing.sources[source as usize]
            .name
            .to_string()
    }
}

fn record_table(records: &[Record]) -> Table {
    let mut table = Table::new(["record", "key", "is", "labelled by", "derived from"]);
    for (index, record) in records.iter().enumerate() {
        table.row([
            index.to_string(),
            record.name.clone(),
            record.state.to_owned(),
            list(&record.recorded),
            list(&record.exact),
        ]);
    }
    table
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "-".to_owned()
    } else {
        names.join(", ")
    }
}
