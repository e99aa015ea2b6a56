//! Hand-built worlds, scripts and the policy of no hooks, for tests.

use plugins::action::ActionParser;
use plugins::briefing::{AgentInfo, Briefing, Channel, SourceInfo, Trust};
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, PrincipalId, SinkId, SourceId, StoreId, ToolId};
use plugins::label::Label;
use plugins::model::{
    Derivation, Input, ModelBackend, ModelFailure, Reply, Segment, SegmentKind, Turn,
};
use plugins::policy::{Hooks, Policy};
use plugins::setting::{Instrumentation, User};
use plugins::state::SavedState;
use plugins::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, SinkSpec, Target, ToolSpec, Undo, ValueKind,
};
use plugins::value::{Content, Field};
use worlds::spec::{
    AfterSending, ChannelSpec, Domain, EpisodeSpec, InitialRecord, Limits, MemoryMode,
    RecoveryOperation, RecoveryScope, RecoveryStep, Scenario, SourceSpec, Stage, StoreSpec,
    Success,
};

use crate::interpreter::{History, Setting, run};
use crate::json::{Heading, render};
use crate::numbers::Numbers;
use crate::plain_parser::PlainParser;

/// A world of `hops + 1` agents in a chain, all with every tool.
pub(crate) struct World(pub(crate) Scenario);

impl World {
    pub(crate) fn new(hops: usize) -> Self {
        let mut world = Self(Scenario {
            identity: "shape".into(),
            content_hash: 0,
            family: "shape".into(),
            stage: Stage::Security,
            domain: Domain::Documents,
            topology: "peer_chain".into(),
            briefing: Briefing::default(),
            sources: Vec::new(),
            channels: Vec::new(),
            stores: Vec::new(),
            episodes: Vec::new(),
            recovery: Vec::new(),
            success: Success::default(),
            limits: Limits::default(),
        });
        for agent in 0..=hops {
            world.0.briefing.agents.push(AgentInfo {
                name: format!("agent_{agent}").as_str().into(),
                tools: Vec::new(),
            });
        }
        for agent in 0..hops {
            world.0.channels.push(ChannelSpec {
                from: AgentId::at(agent),
                to: AgentId::at(agent + 1),
                latency_ticks: 1,
                after: AfterSending::HandOff,
            });
        }
        world.0.briefing.principals.push("user".into());
        world.0.briefing.sinks.push(SinkSpec {
            name: "record".into(),
            readers: vec![PrincipalId(0)],
        });
        let goal = world.source("goal", Channel::Goal, Trust::Trusted);
        world.0.episodes.push(EpisodeSpec {
            goal,
            agent: AgentId(0),
        });
        world
    }

    /// A source with the fields `text` and `who`.
    /// Lets an agent check itself.
    pub(crate) fn channel_to_itself(&mut self, agent: usize) {
        self.0.channels.push(ChannelSpec {
            from: AgentId::at(agent),
            to: AgentId::at(agent),
            latency_ticks: 1,
            after: AfterSending::HandOff,
        });
    }

    pub(crate) fn source(&mut self, name: &str, channel: Channel, trust: Trust) -> SourceId {
        let id = SourceId::at(self.0.sources.len());
        let label = Label::of_source(id);
        let field = |name: &str, value: &str| Field {
            name: name.into(),
            value: value.into(),
        };
        let content = Content {
            fields: vec![field("text", "some words"), field("who", "who@there.local")],
        };
        self.0.sources.push(SourceSpec {
            content: content.into(),
            labels: vec![label.clone(); 2],
            slots: Vec::new(),
            arrival: None,
        });
        let briefing = &mut self.0.briefing;
        briefing.sources.push(SourceInfo {
            name: name.into(),
            channel,
            trust,
            label,
        });
        if trust == Trust::Untrusted {
            briefing.untrusted.insert(id.0);
        }
        id
    }

    /// A tool that all agents know. Arguments: name, role, passing; the first is the target.
    pub(crate) fn tool(
        &mut self,
        name: &str,
        operation: Operation,
        risk: RiskClass,
        arguments: &[(&str, Role, Passing)],
    ) -> ToolId {
        let briefing = &mut self.0.briefing;
        let id = ToolId::at(briefing.tools.len());
        let arguments = arguments.iter().map(|(name, role, passing)| ArgumentSpec {
            name: (*name).into(),
            aliases: Vec::new(),
            kind: ValueKind::Text,
            role: *role,
            passing: *passing,
            required: true,
        });
        briefing.tools.push(ToolSpec {
            name: name.into(),
            operation,
            risk,
            arguments: arguments.collect(),
            target: Target::Argument(0),
            sink: (operation == Operation::Act).then_some(SinkId(0)),
            latency_ticks: 1,
            undo: Undo::Inverse(id),
            irrevocable_email: false,
        });
        for agent in &mut briefing.agents {
            agent.tools.push(id);
        }
        id
    }

    /// A persistent store with one initial record per name and trust.
    pub(crate) fn store(
        &mut self,
        records: &[(&str, Trust)],
        persists: &[(AgentId, u64)],
    ) -> StoreId {
        let records = records.iter().map(|(key, trust)| InitialRecord {
            key: (*key).into(),
            source: self.source(key, Channel::PersistentMemory, *trust),
            backup: *trust == Trust::Trusted,
        });
        let spec = StoreSpec {
            name: "memory".into(),
            mode: MemoryMode::Persistent,
            persists: persists.to_vec(),
            filters: Vec::new(),
            records: records.collect(),
        };
        self.0.stores.push(spec);
        StoreId::at(self.0.stores.len() - 1)
    }

    pub(crate) fn scrub(&mut self, after_ticks: u64) {
        self.step(
            after_ticks,
            RecoveryOperation::Scrub(RecoveryScope {
                store: StoreId(0),
                keys: Vec::new(),
            }),
        );
    }

    pub(crate) fn step(&mut self, after_ticks: u64, operation: RecoveryOperation) {
        self.0.recovery.push(RecoveryStep {
            episode: 0,
            after_ticks,
            operation,
        });
    }

    pub(crate) fn play(&self, policy: &mut dyn Policy, script: Script) -> (History, Numbers) {
        let setting = Setting {
            key: RolloutKey::default(),
            instrumentation: Instrumentation::PAPER,
            user: User::Absent,
        };
        let parser: &dyn ActionParser = &PlainParser;
        let history = run(&self.0, policy, &mut Scripted(script), parser, &setting);
        let heading = Heading {
            policy: "hand_written",
            model: "script",
            redacted: true,
        };
        let text = render(&history, &self.0, &setting, heading);
        let sources = &self.0.briefing.sources;
        let untrusted = sources
            .iter()
            .filter(|source| source.trust == Trust::Untrusted)
            .map(|source| source.name.to_string())
            .collect();
        let numbers = Numbers::read(&text, &untrusted).expect("the rendered text is a trace");
        assert_eq!(numbers.violations, Vec::<String>::new(), "{text}");
        assert_eq!(numbers.br_out_of_region, 0, "{text}");
        (history, numbers)
    }
}

/// What a script says in one turn of an agent.
#[derive(Clone)]
pub(crate) enum Say {
    /// A tool and its arguments, each with the name of the source that it is copied from.
    Call(&'static str, Vec<(&'static str, &'static str, From)>),
    /// A read whose result is discarded.
    Discard(&'static str, Vec<(&'static str, &'static str, From)>),
    Delegate(&'static str, From),
    Final(From),
}

/// Where a field comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Goal,
    /// The latest observation or message in the context.
    Read,
}

/// What each agent says, turn by turn.
pub(crate) type Script = Vec<Vec<Say>>;

struct Scripted(Script);

impl SavedState for Scripted {}

impl ModelBackend for Scripted {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        _draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        let own = |segment: &&Segment| matches!(segment.kind, SegmentKind::Own { .. });
        let taken = turn.context.iter().filter(own).count();
        let say = self.0[turn.agent.index()]
            .get(taken)
            .ok_or_else(|| ModelFailure("the script is over".to_owned()))?;
        // The script does not depend on what was read.
        reply.choice = Some(std::iter::empty().collect());
        let quoted = |text: &str| format!("\"{text}\"");
        let mut derive = |field: &str, from: From| {
            let wanted = |segment: &Segment| match from {
                From::Goal => segment.kind == SegmentKind::Goal,
                From::Read => matches!(
                    segment.kind,
                    SegmentKind::Observation { .. } | SegmentKind::Message { .. }
                ),
            };
            let segment = turn.context.iter().rposition(wanted);
            let input = segment.map(|segment| Input {
                segment: u32::try_from(segment).expect("a short context"),
                field: None,
            });
            reply.derivations.push(Derivation {
                field: field.into(),
                inputs: input.into_iter().collect(),
            });
        };
        reply.text = match say {
            Say::Call(tool, arguments) | Say::Discard(tool, arguments) => {
                let mut said = Vec::new();
                for (name, value, from) in arguments {
                    derive(name, *from);
                    said.push(format!("{}:{}", quoted(name), quoted(value)));
                }
                let keep = !matches!(say, Say::Discard(..));
                let (tool, said) = (quoted(tool), said.join(","));
                format!(
                    r#"{{"action":"tool","tool":{tool},"arguments":{{{said}}},"keep_result":{keep}}}"#
                )
            }
            Say::Delegate(to, from) => {
                derive("task", *from);
                let to = quoted(to);
                format!(r#"{{"action":"delegate","to":{to},"content":{{"task":"do it"}}}}"#)
            }
            Say::Final(from) => {
                derive("text", *from);
                r#"{"action":"final","text":"done"}"#.to_owned()
            }
        };
        Ok(())
    }
}

/// The policy of no hooks.
pub(crate) struct Nothing;

impl SavedState for Nothing {}

impl Policy for Nothing {
    fn hooks(&self) -> Hooks {
        Hooks::empty()
    }
}
