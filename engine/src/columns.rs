//! The columns of a snapshot: what they are, how they begin, and how each goes to bytes and back.

use std::borrow::Cow;

use plugins::action::Call;
use plugins::draws::EventKey;
use plugins::label::{Label, LabelId};
use plugins::trace::{Edge, Event, Node, Prefix};
use serde::{Deserialize, Serialize, Serializer};
use worlds::spec::Scenario;
use xxhash_rust::xxh3::xxh3_128;

use crate::agenda::{Agenda, AgendaEvent, Scheduled};
use crate::bytes::append;
use crate::clock::Clock;
use crate::components::agent::{Activity, Context, Mask, Utterance};
use crate::components::call::{Authorisation, Decision, Message, Proposal};
use crate::components::memory::{Record, Store};
use crate::components::place::{HeldCalls, Landed};
use crate::components::{FieldLabels, Taint};
use crate::digest::{append_trace, fingerprints};
use crate::error::RestoreError;
use crate::identity::Counts;
use crate::recorder::Recorder;
use crate::setup::Mind;

/// The saved state of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PluginState {
    pub(crate) version: u32,
    pub(crate) bytes: Vec<u8>,
}

impl PluginState {
    /// Makes it that of the model.
    pub(crate) fn save_model(&mut self, mind: &mut Mind) {
        let model = mind.model.get();
        self.version = model.version();
        self.bytes.clear();
        model.save(&mut self.bytes);
    }

    /// Gives the model its state.
    pub(crate) fn restore_model(&self, mind: &mut Mind) -> Result<(), RestoreError> {
        let model = mind.model.get();
        model
            .restore(&self.bytes, self.version)
            .map_err(|source| RestoreError::Plugin {
                plugin: "model",
                source,
            })
    }
}

/// Declares the columns once: the struct, their names, and how each goes to bytes and back.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// The columns of a snapshot.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Columns {
            $($(#[$doc])* pub(crate) $name: $kind,)*
        }

        impl Columns {
            /// The names of the columns, in order.
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Each column as bytes.
            pub(crate) fn to_sections(&self) -> Vec<Section<'static>> {
                vec![$(Section { name: stringify!($name), bytes: encode(&self.$name).into() },)*]
            }

            /// Appends each column that is neither the trace's nor the policy's to `out`.
            fn append_policy_free(&self, out: &mut Vec<u8>) {
                $(if !HASHED_APART.contains(&stringify!($name)) {
                    append(&self.$name, out);
                })*
            }

            /// The columns behind `sections`, which must be exactly the known ones in order.
            pub(crate) fn from_sections(sections: &[Section]) -> Result<Self, RestoreError> {
                if let Some(unknown) = sections.iter().find(|section| !Self::NAMES.contains(&section.name)) {
                    return Err(RestoreError::Column(unknown.name.to_owned()));
                }
                Ok(Self { $($name: decode(stringify!($name), sections)?,)* })
            }
        }
    };
}

columns! {
    /// Virtual time and what bounds it.
    clock: Clock,
    /// What is yet to happen.
    agenda: Agenda,
    /// The nodes of the trace so far.
    nodes: Vec<Node>,
    /// Its edges.
    edges: Vec<Edge>,
    /// Its calls.
    calls: Vec<Call>,
    /// Its events.
    events: Vec<Event>,
    /// The labels behind the label ids.
    labels: Vec<Label>,
    /// What each agent is doing.
    activities: Vec<Activity>,
    /// What each agent has seen.
    contexts: Vec<Context>,
    /// What each agent is about to say.
    utterances: Vec<Utterance>,
    /// Which tools are hidden from each agent.
    masks: Vec<Mask>,
    /// Each agent's latest state.
    agent_taint: Vec<Taint>,
    /// Each source's node.
    source_taint: Vec<Taint>,
    /// The held calls of each tool.
    held_calls: Vec<HeldCalls>,
    /// What landed in each sink.
    landed: Vec<Landed>,
    /// The stores.
    stores: Vec<Store>,
    /// The versions of memory records.
    records: Vec<Record>,
    /// Their nodes and labels.
    record_taint: Vec<Taint>,
    /// The calls on their way.
    proposals: Vec<Proposal>,
    /// Where authorisation stands on them.
    authorisations: Vec<Authorisation>,
    /// Their nodes and labels.
    proposal_taint: Vec<Taint>,
    /// The decisions.
    decisions: Vec<Decision>,
    /// The messages.
    messages: Vec<Message>,
    /// Their nodes and labels.
    message_taint: Vec<Taint>,
    /// The policy's state.
    policy_state: PluginState,
    /// The model's state.
    model_state: PluginState,
}

/// One column as bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Section<'a> {
    name: &'a str,
    #[serde(borrow, serialize_with = "in_one_piece")]
    bytes: Cow<'a, [u8]>,
}

/// Without this, serde writes a slice byte by byte. The format is the same.
fn in_one_piece<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes.as_ref())
}

pub(crate) fn encode<T: Serialize>(column: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(column, &mut bytes);
    bytes
}

/// Somewhat more than most states take as bytes.
const USUAL_STATE_BYTES: usize = 8192;
/// The columns that a policy-free hash leaves out, and those of the trace, which have a form of their
/// own in it.
const HASHED_APART: [&str; 6] = [
    "nodes",
    "edges",
    "calls",
    "events",
    "labels",
    "policy_state",
];

fn decode<T: for<'de> Deserialize<'de>>(
    name: &str,
    sections: &[Section],
) -> Result<T, RestoreError> {
    let missing = || RestoreError::Column(name.to_owned());
    let section = sections
        .iter()
        .find(|section| section.name == name)
        .ok_or_else(missing)?;
    match postcard::take_from_bytes(&section.bytes) {
        Ok((column, [])) => Ok(column),
        _ => Err(missing()),
    }
}

impl Columns {
    /// The columns of a rollout that is about to begin, but for the labels behind the ids.
    pub(crate) fn initial(
        scenario: &Scenario,
        source_labels: &[LabelId],
        field_labels: &[FieldLabels],
    ) -> Self {
        let briefing = &scenario.briefing;
        let begin = AgendaEvent::Begin(0);
        let key = EventKey::ROOT.child(begin.role(), 0);
        let mut agenda = Agenda::default();
        agenda.push(Scheduled {
            tick: 0,
            actor: 0,
            sequence: 0,
            key,
            event: begin,
        });
        let agents = briefing.agents.len();
        let untouched = |label: LabelId| Taint {
            node: None,
            recorded: label,
            exact: label,
        };
        let (records, record_taint) = initial_records(scenario, source_labels, field_labels);
        Self {
            clock: Clock {
                sequence: 1,
                ..Clock::default()
            },
            agenda,
            activities: vec![Activity::default(); agents],
            contexts: vec![Context::default(); agents],
            utterances: vec![Utterance::default(); agents],
            masks: vec![Mask::default(); agents],
            agent_taint: vec![Taint::default(); agents],
            source_taint: source_labels
                .iter()
                .map(|&label| untouched(label))
                .collect(),
            held_calls: vec![HeldCalls::default(); briefing.tools.len()],
            landed: vec![Landed::default(); briefing.sinks.len()],
            stores: (0..scenario.stores.len())
                .map(|index| Store {
                    store: plugins::ids::StoreId::at(index),
                    automatic_records: 0,
                })
                .collect(),
            records,
            record_taint,
            ..Self::default()
        }
    }

    /// Appends what is hashed of a state without policy, whose trace is in the columns.
    pub(crate) fn append_with_trace(&self, out: &mut Vec<u8>) {
        let trace = Prefix {
            nodes: &self.nodes,
            edges: &self.edges,
            calls: &self.calls,
            events: &self.events,
        };
        self.append_policy_free(out);
        append_trace(trace, fingerprints(&self.labels), out);
    }

    /// Appends the same of columns without trace; that of `recorder` is theirs.
    pub(crate) fn append_with_trace_of(&self, recorder: &Recorder, out: &mut Vec<u8>) {
        self.append_policy_free(out);
        recorder.append_trace(out);
    }

    /// Makes room for so many agents; what is there stays for what it has allocated.
    pub(crate) fn resize_agents(&mut self, count: usize) {
        self.activities.resize_with(count, Activity::default);
        self.contexts.resize_with(count, Context::default);
        self.utterances.resize_with(count, Utterance::default);
        self.masks.resize_with(count, Mask::default);
        self.agent_taint.resize_with(count, Taint::default);
    }

    /// Forgets what comes into being during a rollout.
    pub(crate) fn clear_what_came(&mut self) {
        self.records.clear();
        self.record_taint.clear();
        self.proposals.clear();
        self.authorisations.clear();
        self.proposal_taint.clear();
        self.decisions.clear();
        self.messages.clear();
        self.message_taint.clear();
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            agents: self.activities.len(),
            sources: self.source_taint.len(),
            tools: self.held_calls.len(),
            sinks: self.landed.len(),
            stores: self.stores.len(),
            records: self.records.len(),
            proposals: self.proposals.len(),
            decisions: self.decisions.len(),
            messages: self.messages.len(),
        }
    }
}

/// The records from before the rollout, in stable order: by store, then file order.
fn initial_records(
    scenario: &Scenario,
    source_labels: &[LabelId],
    field_labels: &[FieldLabels],
) -> (Vec<Record>, Vec<Taint>) {
    let (mut records, mut taints) = (Vec::new(), Vec::new());
    for (store, spec) in scenario.stores.iter().enumerate() {
        for initial in &spec.records {
            let source = initial.source.index();
            let label = source_labels[source];
            records.push(Record {
                record: plugins::ids::RecordId::at(records.len()),
                store: plugins::ids::StoreId::at(store),
                key: initial.key.clone(),
                content: scenario.sources[source].content.clone(),
                labels: field_labels[source].clone(),
                live: true,
                initial: Some(initial.source),
                ..Record::default()
            });
            taints.push(Taint {
                node: None,
                recorded: label,
                exact: label,
            });
        }
    }
    (records, taints)
}

/// To which rollout a snapshot belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Belonging {
    pub(crate) scenario_hash: u128,
    /// Hash of seeds, identity, strata, instrumentation and user.
    pub(crate) setting_hash: u128,
    pub(crate) model_hash: u128,
    pub(crate) policy_hash: u128,
}

/// The hash of a state without policy, which `append_state` appends.
pub(crate) fn policy_free_hash(
    belonging: &Belonging,
    append_state: impl FnOnce(&mut Vec<u8>),
) -> u128 {
    let Belonging {
        scenario_hash,
        setting_hash,
        model_hash,
        policy_hash: _,
    } = belonging;
    let mut bytes = Vec::with_capacity(USUAL_STATE_BYTES);
    for hash in [scenario_hash, setting_hash, model_hash] {
        bytes.extend_from_slice(&hash.to_le_bytes());
    }
    append_state(&mut bytes);
    xxh3_128(&bytes)
}
