//! Memory stores, recovery steps, and the recovery objective.

use plugins::ids::{AgentId, SourceId, StoreId, ToolId};
use plugins::tool::{Operation, ToolSpec};
use plugins::value::Text;

use super::Context;
use super::limits::{require_ticks, require_within_episode};
use super::sources::require_episode;
use crate::diagnostic::{Code, Problem, shortened};
use crate::file::{self, Filter, Store, World};
use crate::outline::At;
use crate::spec::{
    InitialRecord, Limits, MemoryMode, RecoveryObjective, RecoveryOperation, RecoveryScope,
    RecoveryStep, StoreFilter, StoreSpec,
};

/// The stores. Their records are the source instances after the declared ones.
pub(super) fn stores(
    world: &World,
    tools: &[ToolSpec],
    limits: &Limits,
    context: &mut Context<'_>,
) -> Vec<StoreSpec> {
    let mut next = world.sources.len();
    let mut stores = Vec::with_capacity(world.memory.len());
    for (index, store) in world.memory.iter().enumerate() {
        let at = context.root.field("memory").item(index);
        if let (MemoryMode::Session, Some(first)) = (store.mode, at.named("records"))
            && !store.records.is_empty()
        {
            let message = "a session store holds nothing from before the rollout";
            context.problems.push(
                Problem::new(Code::SessionRecord, first.span(), message)
                    .label("records here")
                    .also(at.field("mode").span(), "the mode"),
            );
        }
        let records = store.records.iter().map(|record| {
            next += 1;
            InitialRecord {
                key: Text::from(record.key.as_str()),
                source: SourceId::at(next - 1),
                backup: record.backup,
            }
        });
        stores.push(StoreSpec {
            name: Text::from(store.name.as_str()),
            mode: store.mode,
            records: records.collect(),
            persists: persists(world, store, tools, limits, at.field("automatic"), context),
            filters: store.filters.iter().map(filter).collect(),
        });
    }
    stores
}

fn filter(filter: &Filter) -> StoreFilter {
    match filter {
        Filter::RefuseUntrustedWrites => StoreFilter::RefuseUntrustedWrites,
        Filter::HideUntrustedReads => StoreFilter::HideUntrustedReads,
        Filter::RefuseKeyPrefix(prefix) => {
            StoreFilter::RefuseKeyPrefix(Text::from(prefix.as_str()))
        }
    }
}

fn persists(
    world: &World,
    store: &Store,
    tools: &[ToolSpec],
    limits: &Limits,
    at: At<'_>,
    context: &mut Context<'_>,
) -> Vec<(AgentId, u64)> {
    let mut persists: Vec<(AgentId, u64)> = Vec::new();
    for (index, automatic) in store.automatic.iter().enumerate() {
        let place = at.item(index);
        let delay = place.field("after_ticks");
        require_ticks(automatic.after_ticks, delay, context);
        require_within_episode(automatic.after_ticks, limits, delay, context);
        let agents = &context.names.agents;
        let Some(agent) = agents.find(&automatic.agent, place.field("agent"), context.problems)
        else {
            continue;
        };
        if persists.iter().any(|(other, _)| other.0 == agent) {
            let message = format!("the agent `{}` is given twice", shortened(&automatic.agent));
            let span = place.field("agent").span();
            context
                .problems
                .push(Problem::new(Code::DuplicateName, span, message).label("again here"));
        }
        require_observer(world, agent, tools, place.field("agent"), context);
        persists.push((AgentId(agent), automatic.after_ticks));
    }
    persists
}

/// Complains about an agent that never observes anything.
fn require_observer(
    world: &World,
    agent: u32,
    tools: &[ToolSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) {
    let agent = &world.agents[agent as usize];
    let reads = |name: &String| {
        let id = context.names.tools.get(name);
        id.is_some_and(|id| tools[ToolId(id).index()].operation.is_read())
    };
    if !agent.tools.iter().any(reads) {
        let message = format!("the agent `{}` observes nothing", shortened(&agent.name));
        context.problems.push(
            Problem::new(Code::NothingToPersist, at.span(), message)
                .label("no tool that reads")
                .help("give the agent a tool that reads, or remove the entry"),
        );
    }
}

/// The largest number of recovery steps: `limits.events` does not count them, and each goes through
/// every record.
const MOST_STEPS: usize = 32;

/// The recovery steps.
pub(super) fn recovery(
    world: &World,
    stores: &[StoreSpec],
    tools: &[ToolSpec],
    context: &mut Context<'_>,
) -> Vec<RecoveryStep> {
    let root = context.root;
    if world.recovery.len() > MOST_STEPS {
        let at = root.field("recovery");
        let message = format!("{} recovery steps", world.recovery.len());
        context.problems.push(
            Problem::new(Code::AbsurdLimit, at.item(MOST_STEPS).span(), message)
                .label("one too many")
                .help(format!(
                    "at most {MOST_STEPS}: no limit of the rollout stops recovery"
                )),
        );
    }
    let mut steps = Vec::with_capacity(world.recovery.len());
    for (index, step) in world.recovery.iter().enumerate() {
        let at = root.field("recovery").item(index);
        require_episode(step.episode, at.field("episode"), world, context);
        let delay = at.field("after_ticks");
        super::limits::require_at_most(step.after_ticks, delay, context);
        let place = at.field("operation");
        let mut scope = |store: &str, keys: &[String]| {
            let scope = Scope {
                stores,
                tools,
                at: place,
            };
            scope.resolve(store, keys, context)
        };
        let operation = match &step.operation {
            file::Operation::Scrub { store, keys } => RecoveryOperation::Scrub(scope(store, keys)),
            file::Operation::Quarantine { store, keys } => {
                RecoveryOperation::Quarantine(scope(store, keys))
            }
            file::Operation::Restore { store, keys } => {
                let scope = scope(store, keys);
                require_backup(&scope, stores, place, context);
                RecoveryOperation::Restore(scope)
            }
            file::Operation::Revoke { source } => {
                let names = &context.names.sources;
                let found = names.find(source, place.field("source"), context.problems);
                RecoveryOperation::Revoke(SourceId(found.unwrap_or_default()))
            }
        };
        steps.push(RecoveryStep {
            episode: step.episode,
            after_ticks: step.after_ticks,
            operation,
        });
    }
    steps
}

fn require_backup(
    scope: &RecoveryScope,
    stores: &[StoreSpec],
    at: At<'_>,
    context: &mut Context<'_>,
) {
    let Some(store) = stores.get(scope.store.index()) else {
        return;
    };
    let is_restorable =
        |record: &InitialRecord| record.backup && scope.covers(scope.store, &record.key);
    if !store.records.iter().any(is_restorable) {
        let message = "no record in the scope has a backup";
        context.problems.push(
            Problem::new(Code::NothingToRestore, at.span(), message)
                .label("nothing to restore")
                .help("give a record `backup: true`"),
        );
    }
}

/// The recovery objective.
pub(super) fn objective(
    world: &World,
    stores: &[StoreSpec],
    tools: &[ToolSpec],
    context: &mut Context<'_>,
) -> RecoveryObjective {
    let at = context.root.field("success").field("recovery");
    let given = &world.success.recovery;
    let mut clean = Vec::with_capacity(given.clean.len());
    for (index, scope) in given.clean.iter().enumerate() {
        let at = at.field("clean").item(index);
        clean.push(Scope { stores, tools, at }.resolve(&scope.store, &scope.keys, context));
    }
    let mut at_initial_value = Vec::new();
    for (index, record) in given.at_initial_value.iter().enumerate() {
        let at = at.field("at_initial_value").item(index);
        let found = context
            .names
            .stores
            .find(&record.store, at.field("store"), context.problems);
        let Some(store) = found else {
            continue;
        };
        let spec = &stores[store as usize];
        if !spec
            .records
            .iter()
            .any(|initial| *initial.key == *record.key)
        {
            unknown_record(&record.store, &record.key, at.field("key"), context);
        }
        at_initial_value.push((StoreId(store), Text::from(record.key.as_str())));
    }
    RecoveryObjective {
        clean,
        at_initial_value,
    }
}

/// A place that names records by store and keys.
struct Scope<'a> {
    stores: &'a [StoreSpec],
    tools: &'a [ToolSpec],
    at: At<'a>,
}

impl Scope<'_> {
    fn resolve(&self, store: &str, keys: &[String], context: &mut Context<'_>) -> RecoveryScope {
        let names = &context.names.stores;
        let found = names.find(store, self.at.field("store"), context.problems);
        if let Some(id) = found {
            for (index, key) in keys.iter().enumerate() {
                if !self.can_exist(StoreId(id), key) {
                    let at = self.at.field("keys").item(index);
                    unknown_record(store, key, at, context);
                }
            }
        }
        RecoveryScope {
            store: StoreId(found.unwrap_or_default()),
            keys: keys.iter().map(|key| Text::from(key.as_str())).collect(),
        }
    }

    /// Whether a record of this key is there from the start or can be created.
    fn can_exist(&self, id: StoreId, key: &str) -> bool {
        let store = &self.stores[id.index()];
        let creates = |tool: &ToolSpec| {
            matches!(tool.operation,
                Operation::MemoryWrite(store) | Operation::MemoryUpdate(store) if store == id)
        };
        store.records.iter().any(|record| &*record.key == key)
            || !store.persists.is_empty()
            || self.tools.iter().any(creates)
    }
}

fn unknown_record(store: &str, key: &str, at: At<'_>, context: &mut Context<'_>) {
    let message = format!(
        "the store `{}` never holds a record `{}`",
        shortened(store),
        shortened(key)
    );
    context
        .problems
        .push(Problem::new(Code::UnknownRecord, at.span(), message).label("never there"));
}
