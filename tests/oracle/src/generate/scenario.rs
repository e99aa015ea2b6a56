//! Random scenarios, constructed as the checked specification.

use plugins::briefing::{AgentInfo, Briefing, Canary, Channel, SourceInfo, Trust};
use plugins::ids::{AgentId, PrincipalId, SourceId, StoreId};
use plugins::label::{IndexSet, Label, Readers};
use plugins::tool::SinkSpec;
use plugins::value::Text;
use worlds::spec::{
    AfterSending, Arrival, ChannelSpec, Domain, EpisodeSpec, InitialRecord, Limits, MemoryMode,
    RecoveryOperation, RecoveryScope, RecoveryStep, Scenario, SourceSpec, Stage, StoreFilter,
    StoreSpec, Success,
};

use super::{ADDRESSES, KEYS, Random, WorldSeed, tools};

/// Principals that a reader can be; the last address belongs to nobody.
const PRINCIPALS: usize = ADDRESSES.len() - 1;

pub(super) fn generate(seed: WorldSeed, random: &mut Random) -> Scenario {
    let mut scenario = Scenario {
        identity: seed.identity(),
        content_hash: u128::from(seed.0) << 64 | u128::from(random.bits()),
        family: "random".into(),
        stage: *random.pick(&[
            Stage::Security,
            Stage::MemoryRecovery,
            Stage::ActiveTainted,
            Stage::Clean,
        ]),
        domain: *random.pick(&[Domain::Email, Domain::Documents, Domain::CalendarCrm]),
        topology: "single".into(),
        briefing: Briefing::default(),
        sources: Vec::new(),
        channels: Vec::new(),
        stores: Vec::new(),
        episodes: Vec::new(),
        recovery: Vec::new(),
        success: Success::default(),
        limits: limits(random),
    };
    principals(&mut scenario.briefing, random);
    topology(&mut scenario, random);
    sources(&mut scenario, random);
    stores(&mut scenario, random);
    tools::generate(&mut scenario, random);
    tools::ledger(&mut scenario, random);
    recovery(&mut scenario, random);
    scenario
}

fn limits(random: &mut Random) -> Limits {
    let mut limits = Limits {
        ticks: 400,
        events: 1_500,
        queue: 100,
        turns: 16,
        delegations: 12,
        text_bytes: 4_096,
    };
    if random.chance(25) {
        match random.below(6) {
            0 => limits.ticks = random.below(20),
            1 => limits.events = random.small(40),
            2 => limits.queue = random.small(5),
            3 => limits.turns = random.small(4),
            4 => limits.delegations = random.small(3),
            _ => limits.text_bytes = 20 + random.small(80),
        }
    }
    limits
}

fn principals(briefing: &mut Briefing, random: &mut Random) {
    let principals = ADDRESSES[..PRINCIPALS].iter();
    briefing.principals = principals.map(|&address| address.into()).collect();
    briefing.allowed_recipients = random
        .some(ADDRESSES, 40)
        .into_iter()
        .map(|&address| address.into())
        .collect();
    for sink in 0..=random.below(2) {
        let readers = random.some(0..PRINCIPALS, 30).into_iter();
        briefing.sinks.push(SinkSpec {
            name: format!("sink_{sink}").into(),
            readers: readers.map(PrincipalId::at).collect(),
        });
    }
    for token in random.some(["SECRET-7", "SECRET-8"], 40) {
        briefing.canaries.push(Canary {
            token: token.into(),
            readers: readers(random),
        });
    }
}

fn readers(random: &mut Random) -> Readers {
    let readers = random.some(0..u32::try_from(PRINCIPALS).unwrap_or(0), 50);
    Readers::Only(readers.into_iter().collect::<IndexSet>())
}

/// Agents and the channels between them.
fn topology(scenario: &mut Scenario, random: &mut Random) {
    let kinds = [
        "single",
        "peer_chain",
        "supervisor_worker",
        "ring",
        "hub",
        "tree",
        "random",
    ];
    let topology = *random.pick(&kinds);
    let agents = if topology == "single" {
        1
    } else {
        2 + random.size(4)
    };
    scenario.topology = topology.into();
    for agent in 0..agents {
        scenario.briefing.agents.push(AgentInfo {
            name: format!("agent_{agent}").into(),
            tools: Vec::new(),
        });
    }
    let mut wires = wires(topology, agents, random);
    if random.below(3) == 0 {
        // This one may check itself.
        let agent = random.size(agents);
        wires.push((agent, agent));
    }
    for (from, to) in wires {
        let ways = [
            AfterSending::HandOff,
            AfterSending::Continue,
            AfterSending::AwaitReply,
        ];
        scenario.channels.push(ChannelSpec {
            from: AgentId::at(from),
            to: AgentId::at(to),
            latency_ticks: random.below(4),
            after: if topology == "supervisor_worker" {
                AfterSending::AwaitReply
            } else {
                *random.pick(&ways)
            },
        });
    }
}

/// From which agent to which other there is a channel.
fn wires(topology: &str, agents: usize, random: &mut Random) -> Vec<(usize, usize)> {
    let others = 1..agents;
    match topology {
        "supervisor_worker" => others.map(|worker| (0, worker)).collect(),
        "ring" => (0..agents).map(|at| (at, (at + 1) % agents)).collect(),
        "hub" => others.flat_map(|spoke| [(0, spoke), (spoke, 0)]).collect(),
        "tree" => others.map(|child| ((child - 1) / 2, child)).collect(),
        "random" => {
            let pairs = (0..agents).flat_map(|from| (0..agents).map(move |to| (from, to)));
            random.some(pairs.filter(|(from, to)| from != to), 45)
        }
        _ => others.map(|next| (next - 1, next)).collect(),
    }
}

/// A source with random content. Some fields have restricted readers.
fn source(
    scenario: &mut Scenario,
    random: &mut Random,
    name: &str,
    channel: Channel,
    trust: Trust,
) -> SourceId {
    let id = SourceId::at(scenario.sources.len());
    let fields = 1 + random.size(3);
    let content = if random.chance(5) {
        plugins::value::Content::default()
    } else {
        random.content(fields)
    };
    let mut whole = Label::of_source(id);
    let mut labels = Vec::new();
    for _ in &content.fields {
        let mut label = Label::of_source(id);
        if random.chance(15) {
            label.readers = readers(random);
        }
        whole = whole.join(&label);
        labels.push(label);
    }
    scenario.sources.push(SourceSpec {
        content: content.into(),
        labels,
        slots: Vec::new(),
        arrival: None,
    });
    let briefing = &mut scenario.briefing;
    briefing.sources.push(SourceInfo {
        name: name.into(),
        channel,
        trust,
        label: whole,
    });
    if trust == Trust::Untrusted {
        briefing.untrusted.insert(id.0);
    }
    id
}

fn trust(random: &mut Random) -> Trust {
    if random.chance(65) {
        Trust::Untrusted
    } else {
        Trust::Trusted
    }
}

fn sources(scenario: &mut Scenario, random: &mut Random) {
    let agents = scenario.briefing.agents.len();
    let episodes = 1 + random.size(3);
    for episode in 0..episodes {
        let name = format!("goal:{episode}");
        let goal = source(scenario, random, &name, Channel::Goal, Trust::Trusted);
        let said = scenario.sources[goal.index()].content.fields.first();
        let said: Text = said.map_or_else(|| "".into(), |field| field.value.clone());
        scenario.briefing.goals.push(said);
        scenario.episodes.push(EpisodeSpec {
            goal,
            agent: AgentId::at(if random.chance(80) {
                0
            } else {
                random.size(agents)
            }),
        });
    }
    for (count, name, channel) in [
        (random.below(4), "doc", Channel::RetrievedDocument),
        (random.below(3), "tool", Channel::ToolResult),
        (random.below(3), "message", Channel::InterAgentMessage),
    ] {
        for position in 0..count {
            let name = format!("{name}:{position}");
            let trust = trust(random);
            let id = source(scenario, random, &name, channel, trust);
            if channel == Channel::InterAgentMessage {
                scenario.sources[id.index()].arrival = Some(Arrival {
                    to: AgentId::at(random.size(agents)),
                    episode: random.small(3),
                    after_ticks: random.below(12),
                });
            }
        }
    }
}

fn stores(scenario: &mut Scenario, random: &mut Random) {
    let agents = scenario.briefing.agents.len();
    for store in 0..random.below(3) {
        let mut records = Vec::new();
        for (position, key) in random.some(KEYS, 50).into_iter().enumerate() {
            let name = format!("record:{store}:{position}");
            let trust = trust(random);
            records.push(InitialRecord {
                key: (*key).into(),
                source: source(scenario, random, &name, Channel::PersistentMemory, trust),
                backup: random.chance(60),
            });
        }
        let persists = random.some(0..agents, 35).into_iter();
        let persists = persists.map(|agent| (AgentId::at(agent), random.below(6)));
        let persists = persists.collect();
        let mut filters = Vec::new();
        for filter in random.some(0..3, 15) {
            filters.push(match filter {
                0 => StoreFilter::RefuseUntrustedWrites,
                1 => StoreFilter::HideUntrustedReads,
                _ => StoreFilter::RefuseKeyPrefix("blocked/".into()),
            });
        }
        scenario.stores.push(StoreSpec {
            name: format!("store_{store}").into(),
            mode: *random.pick(&[MemoryMode::Session, MemoryMode::Persistent]),
            persists,
            filters,
            records,
        });
    }
}

fn recovery(scenario: &mut Scenario, random: &mut Random) {
    for _ in 0..random.below(4) {
        let operation = if scenario.stores.is_empty() || random.chance(25) {
            let source = random.size(scenario.sources.len());
            RecoveryOperation::Revoke(SourceId::at(source))
        } else {
            let keys = if random.chance(60) {
                Vec::new()
            } else {
                vec![random.text(KEYS), random.text(KEYS)]
            };
            let scope = RecoveryScope {
                store: StoreId::at(random.size(scenario.stores.len())),
                keys,
            };
            match random.below(3) {
                0 => RecoveryOperation::Scrub(scope),
                1 => RecoveryOperation::Restore(scope),
                _ => RecoveryOperation::Quarantine(scope),
            }
        };
        scenario.recovery.push(RecoveryStep {
            episode: random.small(3),
            after_ticks: random.below(25),
            operation,
        });
    }
}
