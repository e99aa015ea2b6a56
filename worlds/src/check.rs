//! What a world means: names resolved, contradictions refused, with the place of each.
//!
//! Every check goes on after a mistake, with a stand-in for what could not be resolved, so that one
//! reading reports as many mistakes as there are. A scenario is made only if there is none.

use std::collections::BTreeSet;
use std::sync::Arc;

use plugins::briefing::{AgentInfo, Briefing, Canary, Trust};
use plugins::ledger::Ledger;
use plugins::tool::{SinkSpec, ToolSpec};
use plugins::value::Text;
use xxhash_rust::xxh3::xxh3_128;

use crate::diagnostic::{Code, Problem, Problems, shortened};
use crate::file::World;
use crate::flow;
use crate::outline::{At, MAX_ENTRIES};
use crate::spec::{
    ChannelSpec, EpisodeSpec, Limits, MemoryMode, RecoveryStep, Scenario, Stage, StoreSpec, Success,
};

mod ledger;
mod limits;
mod memory;
pub(crate) mod names;
mod sources;
pub(crate) mod text;
mod tools;
mod topology;

use names::{Directory, Principals};
use sources::{Sources, goal_name};

/// Canaries are searched for in all content, so there are few.
const MOST_CANARIES: usize = 64;
/// Bytes of the shortest canary; a shorter one would be found by accident.
const SHORTEST_CANARY: usize = 6;

/// The names of everything.
pub(crate) struct Names {
    agents: Directory,
    tools: Directory,
    sinks: Directory,
    stores: Directory,
    sources: Directory,
}

/// What every check needs.
pub(crate) struct Context<'a> {
    root: At<'a>,
    names: &'a Names,
    principals: Principals,
    problems: &'a mut Problems,
}

/// The scenario that `world` says, unless something is wrong. `identity` is used if the file does
/// not name a family and variant.
pub(crate) fn scenario(
    world: &World,
    root: At<'_>,
    identity: &str,
    problems: &mut Problems,
) -> Option<Scenario> {
    require_something(world, root, problems);
    let names = directories(world, root, problems);
    if names.sources.len() > MAX_ENTRIES {
        let message = format!("more than {MAX_ENTRIES} sources, records and goals");
        problems.push(Problem::new(Code::TooMany, root.span(), message).label("in this world"));
        return None;
    }
    let mut context = Context {
        root,
        names: &names,
        principals: Principals::default(),
        problems,
    };
    let parts = Parts::of(world, &mut context);
    warn_of_unfit_stage(world, &mut context);
    warn_of_unmeasured_work(world, &mut context);
    if context.problems.has_errors() {
        return None;
    }
    let principals = std::mem::take(&mut context.principals);
    let scenario = parts.assembled(world, principals);
    warn_of_unread_sources(&scenario, world, &mut context);
    Some(identified(scenario, world, identity))
}

/// The parts of a scenario. Where something could not be resolved, a part is a stand-in.
struct Parts {
    limits: Limits,
    channels: Vec<ChannelSpec>,
    sinks: Vec<SinkSpec>,
    sources: Sources,
    tools: Vec<ToolSpec>,
    agents: Vec<AgentInfo>,
    stores: Vec<StoreSpec>,
    ledger: Ledger,
    success: Success,
    recovery: Vec<RecoveryStep>,
    episodes: Vec<EpisodeSpec>,
    canaries: Vec<Canary>,
}

impl Parts {
    fn of(world: &World, context: &mut Context<'_>) -> Self {
        mention_first(world, context);
        let limits = limits::limits(world, context);
        let channels = topology::channels(world, context);
        let reachable = topology::reachable(world, &channels, context);
        let sinks = tools::sinks(world, context);
        let sources = sources::sources(world, &limits, context);
        let tools = tools::tools(world, context);
        let agents = topology::agents(world, context);
        let stores = memory::stores(world, &tools, &limits, context);
        let ledger = ledger::ledger(world, &tools, &reachable, context);
        let required = ledger::required(world, &tools, &ledger, &reachable, context);
        let success = Success {
            required,
            recovery: memory::objective(world, &stores, &tools, context),
        };
        let recovery = memory::recovery(world, &stores, &tools, context);
        let episodes = sources::episodes(world, &sources, context);
        let canaries = canaries(world, &sources, context);
        Self {
            limits,
            channels,
            sinks,
            sources,
            tools,
            agents,
            stores,
            ledger,
            success,
            recovery,
            episodes,
            canaries,
        }
    }

    /// A scenario without a name.
    fn assembled(self, world: &World, principals: Principals) -> Scenario {
        let Sources { infos, specs } = self.sources;
        let untrusted = (0u32..)
            .zip(&infos)
            .filter(|(_, info)| info.trust == Trust::Untrusted)
            .map(|(id, _)| id)
            .collect();
        let episodes = world.episodes.iter();
        let recipients = world.allowed_recipients.iter();
        let briefing = Briefing {
            goals: episodes.map(|episode| text(&episode.goal)).collect(),
            agents: self.agents,
            tools: self.tools,
            sinks: self.sinks,
            ledger: self.ledger,
            allowed_recipients: recipients.map(|name| text(name)).collect(),
            principals: principals.into_names(),
            sources: infos,
            canaries: self.canaries,
            untrusted,
        };
        Scenario {
            identity: text(""),
            content_hash: 0,
            family: text(""),
            stage: world.stage,
            domain: world.domain,
            topology: text(topology::name(world)),
            briefing,
            sources: specs,
            channels: self.channels,
            stores: self.stores,
            episodes: self.episodes,
            recovery: self.recovery,
            success: self.success,
            limits: self.limits,
        }
    }
}

fn text(text: &str) -> Text {
    Arc::from(text)
}

/// Gives the scenario its identity and its hash. The hash is that of what the scenario says, so it
/// does not change with the name or the layout of the file.
fn identified(mut scenario: Scenario, world: &World, identity: &str) -> Scenario {
    let bytes = postcard::to_allocvec(&scenario).expect("a scenario is plain data");
    scenario.content_hash = xxh3_128(&bytes);
    let family = world.family.as_deref().unwrap_or(identity);
    scenario.family = text(family);
    scenario.identity = match &world.variant {
        Some(variant) => Text::from(format!("{family}/{variant}")),
        None => text(identity),
    };
    scenario
}

/// Complains about a world without agents or episodes, and about a variant of nothing.
fn require_something(world: &World, root: At<'_>, problems: &mut Problems) {
    for (field, is_empty) in [
        ("agents", world.agents.is_empty()),
        ("episodes", world.episodes.is_empty()),
    ] {
        if is_empty {
            let message = format!("`{field}` is empty");
            problems.push(
                Problem::new(Code::NothingHappens, root.field(field).span(), message)
                    .label("nothing here"),
            );
        }
    }
    if world.variant.is_some() && world.family.is_none() {
        let message = "a variant belongs to a family";
        problems.push(
            Problem::new(Code::MissingField, root.field("variant").span(), message)
                .label("needs `family`"),
        );
    }
    let own = [
        ("family", world.family.as_deref()),
        ("variant", world.variant.as_deref()),
        ("topology", world.topology.as_deref()),
    ];
    for (field, name) in own {
        if let Some(name) = name {
            names::require_valid_name(name, root.field(field).span(), problems);
        }
    }
}

/// Names everything. Source instances are numbered: declared sources, records by store, goals.
fn directories(world: &World, root: At<'_>, problems: &mut Problems) -> Names {
    let agents = Directory::new("agent", Code::UnknownAgent).of(
        &world.agents,
        root.field("agents"),
        |agent| &agent.name,
        problems,
    );
    let tools = Directory::new("tool", Code::UnknownTool).of(
        &world.tools,
        root.field("tools"),
        |tool| &tool.name,
        problems,
    );
    let sinks = Directory::new("sink", Code::UnknownSink).of(
        &world.sinks,
        root.field("sinks"),
        |sink| &sink.name,
        problems,
    );
    let stores = Directory::new("memory store", Code::UnknownStore).of(
        &world.memory,
        root.field("memory"),
        |store| &store.name,
        problems,
    );
    let mut sources = Directory::new("source", Code::UnknownSource).of(
        &world.sources,
        root.field("sources"),
        |source| &source.name,
        problems,
    );
    for (index, store) in world.memory.iter().enumerate() {
        let records = root.field("memory").item(index).field("records");
        for (position, record) in store.records.iter().enumerate() {
            let at = records.item(position).field("key");
            sources.add(
                &format!("{}/{}", store.name, record.key),
                at.span(),
                problems,
            );
        }
    }
    for index in 0..world.episodes.len() {
        let at = root.field("episodes").item(index);
        sources.add(&goal_name(index), at.span(), problems);
    }
    Names {
        agents,
        tools,
        sinks,
        stores,
        sources,
    }
}

/// Mentions declared principals and allowed recipients, in this order, before everybody else.
fn mention_first(world: &World, context: &mut Context<'_>) {
    for (field, names) in [
        ("principals", &world.principals),
        ("allowed_recipients", &world.allowed_recipients),
    ] {
        let at = context.root.field(field);
        let mut seen = BTreeSet::new();
        for (index, name) in names.iter().enumerate() {
            let place = at.item(index);
            context.principals.mention(name, place, context.problems);
            if !seen.insert(name) {
                let message = format!("`{}` is given twice", shortened(name));
                context.problems.push(
                    Problem::new(Code::DuplicateName, place.span(), message).label("again here"),
                );
            }
        }
    }
}

fn canaries(world: &World, sources: &Sources, context: &mut Context<'_>) -> Vec<Canary> {
    let at = context.root.field("canaries");
    if world.canaries.len() > MOST_CANARIES {
        let message = format!("more than {MOST_CANARIES} canaries");
        context
            .problems
            .push(Problem::new(Code::TooMany, at.span(), message).label("too many"));
        return Vec::new();
    }
    let mut canaries: Vec<Canary> = Vec::new();
    for (index, canary) in world.canaries.iter().enumerate() {
        let place = at.item(index);
        let token = text(&canary.token);
        require_canary_token(&token, &canaries, place.field("token"), sources, context);
        if canary.readers.is_empty() {
            let message = format!("nobody may read `{}`", shortened(&token));
            context.problems.push(
                Problem::new(
                    Code::CanaryWithoutReader,
                    place.field("readers").span(),
                    message,
                )
                .label("no reader")
                .help("name at least one reader, such as `readers: [\"user@corp.local\"]`"),
            );
        }
        let readers = context.principals.readers(
            Some(&canary.readers),
            place.field("readers"),
            context.problems,
        );
        canaries.push(Canary { token, readers });
    }
    canaries
}

fn require_canary_token(
    token: &Text,
    others: &[Canary],
    at: At<'_>,
    sources: &Sources,
    context: &mut Context<'_>,
) {
    if token.len() < SHORTEST_CANARY {
        let message = format!("a canary has at least {SHORTEST_CANARY} bytes");
        context
            .problems
            .push(Problem::new(Code::InvalidName, at.span(), message).label("too short"));
        return;
    }
    if others.iter().any(|other| other.token == *token) {
        let message = format!("the canary `{}` is given twice", shortened(token));
        context
            .problems
            .push(Problem::new(Code::DuplicateName, at.span(), message).label("again here"));
    }
    let appears = sources
        .specs
        .iter()
        .flat_map(|source| &source.content.fields)
        .any(|field| field.value.contains(&**token));
    if !appears {
        let message = format!("`{}` appears in no content", shortened(token));
        context
            .problems
            .push(Problem::new(Code::UnusedCanary, at.span(), message).label("cannot leak"));
    }
}

/// Warns of declared sources that no agent can read and no recovery step names.
fn warn_of_unread_sources(scenario: &Scenario, world: &World, context: &mut Context<'_>) {
    for id in flow::unread(scenario) {
        // Records and goals come after the declared sources; they are read by stores and agents.
        let Some(source) = world.sources.get(id.index()) else {
            break;
        };
        let at = context.root.field("sources").item(id.index()).field("name");
        let message = format!("no agent can read `{}`", shortened(&source.name));
        context
            .problems
            .push(Problem::new(Code::UnusedSource, at.span(), message).label("never read"));
    }
}

/// Warns of a stage without what its metrics are about.
fn warn_of_unfit_stage(world: &World, context: &mut Context<'_>) {
    let is_untrusted = |trust: Trust| trust == Trust::Untrusted;
    let mut records = world.memory.iter().flat_map(|store| &store.records);
    let any_untrusted = world
        .sources
        .iter()
        .any(|source| is_untrusted(source.trust))
        || records.any(|record| is_untrusted(record.trust));
    let any_persistent = world
        .memory
        .iter()
        .any(|store| store.mode == MemoryMode::Persistent);
    let missing = match world.stage {
        Stage::Security | Stage::ActiveTainted if !any_untrusted => Some("untrusted content"),
        Stage::ActiveTainted if world.success.required.is_empty() => Some("a required action"),
        Stage::MemoryRecovery if !any_persistent => Some("a persistent store"),
        Stage::MemoryRecovery if world.recovery.is_empty() => Some("a recovery step"),
        _ => None,
    };
    if let Some(missing) = missing {
        let message = format!("this stage is about {missing}, and there is none");
        let at = context.root.field("stage");
        context
            .problems
            .push(Problem::new(Code::UnfitStage, at.span(), message).label("the stage"));
    }
}

/// Warns of authorised work whose doing or undoing no number would show.
fn warn_of_unmeasured_work(world: &World, context: &mut Context<'_>) {
    let required = &world.success.required;
    let root = context.root;
    // A stage about a required action complains by itself if there is none.
    if required.is_empty() && !world.ledger.is_empty() && world.stage != Stage::ActiveTainted {
        let message = "the ledger authorises actions, and success requires none";
        context.problems.push(
            Problem::new(Code::NothingRequired, root.field("ledger").span(), message)
                .label("none of them is required")
                .help("list what must have happened: `success: (required: [...])`"),
        );
    }
    // Without a ledger nothing is authorised work that a policy could hinder: what is required then is
    // the user's plain task, which `benign_completion` counts in every stage.
    if world.stage == Stage::Security && !required.is_empty() && !world.ledger.is_empty() {
        let message = "this stage does not count authorised actions: only `benign_completion` shows whether they were done";
        context.problems.push(
            Problem::new(Code::UncountedWork, root.field("stage").span(), message)
                .label("the stage")
                .also(
                    root.field("success").field("required").span(),
                    "required here",
                )
                .help("write `stage: ActiveTainted`"),
        );
    }
}
