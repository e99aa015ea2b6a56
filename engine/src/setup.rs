//! What is fixed for a rollout before it starts.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugins::action::ActionParser;
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{RecordId, SourceId, StoreId};
use plugins::label::{LabelId, LabelTable};
use plugins::model::{ModelBackend, Reply};
use plugins::policy::{Hooks, Policy};
use plugins::setting::{Instrumentation, User};
use plugins::value::{Content, Text};
use worlds::spec::{Scenario, StoreSpec};
use xxhash_rust::xxh3::xxh3_128;

use crate::bytes::append;
use crate::columns::{Columns, PluginState};
use crate::components::FieldLabels;

/// Somewhat more than most settings take as bytes.
const USUAL_SETTING_BYTES: usize = 256;

/// What a study fixes for one rollout besides scenario, policy and model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Seeds, scenario identity and strata: what all draws have in common.
    pub key: RolloutKey,
    /// What the recorded layer logs.
    pub instrumentation: Instrumentation,
    /// Who answers confirmations.
    pub user: User,
}

impl Setting {
    /// A hash of the whole setting.
    pub(crate) fn hash(&self) -> u128 {
        let parts = (&self.key, self.instrumentation, self.user);
        let mut bytes = Vec::with_capacity(USUAL_SETTING_BYTES);
        append(&parts, &mut bytes);
        xxh3_128(&bytes)
    }
}

/// The plugins of one rollout, each with its content hash as the registry gives it.
pub struct Plugins {
    /// The defence.
    pub policy: Box<dyn Policy>,
    /// Its content hash.
    pub policy_hash: u128,
    /// The model backend.
    pub model: Box<dyn ModelBackend>,
    /// Its content hash.
    pub model_hash: u128,
    /// The action parser.
    pub parser: Arc<dyn ActionParser>,
}

/// A record from before the rollout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InitialRecord {
    pub(crate) record: RecordId,
    /// Whether its store keeps a copy of it.
    pub(crate) is_backup: bool,
}

/// The scenario with its labels interned, and how a rollout of it begins. Made once per scenario and
/// shared by its rollouts.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) scenario: Arc<Scenario>,
    /// The label of each source instance.
    pub(crate) source_labels: Vec<LabelId>,
    /// The label of each field of each source instance.
    pub(crate) field_labels: Vec<FieldLabels>,
    /// The stores by name.
    pub(crate) stores: BTreeMap<Text, StoreId>,
    /// The source instances by name.
    pub(crate) sources: BTreeMap<Text, SourceId>,
    /// What a turn of an agent's own says in its context.
    pub(crate) nothing: Arc<Content>,
    /// By store: the initial records by key.
    pub(crate) initial_by_key: Vec<BTreeMap<Text, InitialRecord>>,
    /// The state in which every rollout begins.
    pub(crate) initial: Columns,
    /// That state as the bytes of which every rollout tells the hash.
    pub(crate) initial_bytes: Vec<u8>,
}

impl Prepared {
    pub(crate) fn new(scenario: Arc<Scenario>) -> Self {
        let mut labels = LabelTable::new();
        let source_labels: Vec<LabelId> = scenario
            .briefing
            .sources
            .iter()
            .map(|source| labels.intern(source.label.clone()))
            .collect();
        let field_labels: Vec<FieldLabels> = scenario
            .sources
            .iter()
            .map(|source| {
                source
                    .labels
                    .iter()
                    .map(|label| labels.intern(label.clone()))
                    .collect()
            })
            .collect();
        let stores = scenario.stores.iter().enumerate();
        let stores = stores.map(|(index, store)| (store.name.clone(), StoreId::at(index)));
        let sources = scenario.briefing.sources.iter().enumerate();
        let sources = sources.map(|(index, source)| (source.name.clone(), SourceId::at(index)));
        let initial = Columns {
            labels: labels.labels().to_vec(),
            ..Columns::initial(&scenario, &source_labels, &field_labels)
        };
        let mut initial_bytes = Vec::new();
        initial.append_with_trace(&mut initial_bytes);
        Self {
            nothing: Arc::default(),
            stores: stores.collect(),
            sources: sources.collect(),
            initial_by_key: initial_by_key(&scenario),
            scenario,
            source_labels,
            field_labels,
            initial_bytes,
            initial,
        }
    }
}

/// The initial records of each store. They have the first ids, by store and then in file order.
fn initial_by_key(scenario: &Scenario) -> Vec<BTreeMap<Text, InitialRecord>> {
    let mut ids = (0..).map(RecordId::at);
    let of_store = |store: &StoreSpec| {
        let records = store.records.iter().zip(&mut ids);
        let by_key = records.map(|(spec, record)| {
            let is_backup = spec.backup;
            (spec.key.clone(), InitialRecord { record, is_backup })
        });
        by_key.collect()
    };
    scenario.stores.iter().map(of_store).collect()
}

/// Scenario and setting, for the systems to read.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) instrumentation: Instrumentation,
    pub(crate) user: User,
}

impl Setup {
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.prepared.scenario
    }
}

/// A plugin inside a resource. A resource must be `Sync`, which a plugin need not be; a mutex that
/// is never locked makes it so.
#[expect(
    clippy::disallowed_types,
    reason = "never locked, only reached through an exclusive borrow"
)]
pub(crate) struct Exclusive<T>(std::sync::Mutex<T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(plugin: T) -> Self {
        #[expect(clippy::disallowed_types, reason = "as above")]
        Self(std::sync::Mutex::new(plugin))
    }

    pub(crate) fn get(&mut self) -> &mut T {
        self.0.get_mut().expect("never locked, so never poisoned")
    }
}

/// The policy and its keyed draws. Several policies can go through one rollout together, for as long
/// as they rule the same.
pub(crate) struct Guard {
    /// Never empty. What is asked of the rollout's policy is asked of the first.
    pub(crate) members: Vec<Member>,
    /// Those that ruled otherwise than the first at the running event: what follows is not theirs.
    pub(crate) parted: Vec<Member>,
    pub(crate) draws: Draws,
}

impl Guard {
    /// The policy, with its draws.
    pub(crate) fn first(&mut self) -> (&mut Member, &mut Draws) {
        (&mut self.members[0], &mut self.draws)
    }
}

/// A policy of a guard.
pub(crate) struct Member {
    /// Its place in the group.
    pub(crate) position: usize,
    pub(crate) policy: Exclusive<Box<dyn Policy>>,
    pub(crate) hash: u128,
    /// The hooks at which it is asked.
    pub(crate) hooks: Hooks,
    /// Those of them at which its answer counts.
    pub(crate) enforced: Hooks,
    /// Its state when it was last saved.
    saved: PluginState,
}

impl Member {
    pub(crate) fn new(position: usize, policy: Box<dyn Policy>, hash: u128) -> Self {
        Self {
            position,
            hooks: policy.hooks(),
            enforced: policy.enforced_hooks(),
            policy: Exclusive::new(policy),
            hash,
            saved: PluginState::default(),
        }
    }

    /// Saves its state, to come back to.
    pub(crate) fn save(&mut self) {
        let policy = self.policy.get();
        self.saved.version = policy.version();
        self.saved.bytes.clear();
        policy.save(&mut self.saved.bytes);
    }

    /// Goes back to the state that was last saved.
    pub(crate) fn go_back(&mut self) {
        self.policy
            .get()
            .restore(&self.saved.bytes, self.saved.version)
            .expect("a policy takes the state that it saved");
    }
}

/// The model, the parser and what they reuse from call to call.
pub(crate) struct Mind {
    pub(crate) model: Exclusive<Box<dyn ModelBackend>>,
    pub(crate) parser: Arc<dyn ActionParser>,
    pub(crate) draws: Draws,
    pub(crate) reply: Reply,
}
