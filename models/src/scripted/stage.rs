//! A hand-built turn for tests: an agent, what it has seen, and what it says next.

use std::sync::Arc;

use plugins::briefing::{AgentInfo, Briefing, Channel, SourceInfo, Trust};
use plugins::draws::{Draws, EventKey, RolloutKey};
use plugins::ids::{AgentId, SourceId, StoreId, ToolId};
use plugins::label::Label;
use plugins::model::{
    Guidance, Input, ModelBackend, ModelFailure, OwnTurn, Reply, SchemaMode, Segment, SegmentKind,
    Turn,
};
use plugins::policy::DenialReason;
use plugins::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, Target, ToolSpec, Undo, ValueKind,
};
use plugins::value::{Content, Field};

use super::{Scripted, World};

pub(super) const READ: ToolId = ToolId(0);
pub(super) const INVITE: ToolId = ToolId(1);
pub(super) const CONTACT: ToolId = ToolId(2);
pub(super) const NOTE: SourceId = SourceId(1);
pub(super) const RECORD: SourceId = SourceId(2);

fn argument(name: &str, alias: &str, kind: ValueKind) -> ArgumentSpec {
    ArgumentSpec {
        name: name.into(),
        aliases: vec![alias.into()],
        kind,
        role: Role::Content,
        passing: Passing::Value,
        required: true,
    }
}

fn tool(name: &str, arguments: Vec<ArgumentSpec>) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        operation: Operation::Act,
        risk: RiskClass::Outbound,
        arguments,
        target: Target::Fixed("target".into()),
        sink: None,
        latency_ticks: 1,
        undo: Undo::Irrevocable,
        irrevocable_email: false,
    }
}

pub(super) fn briefing() -> Briefing {
    let agent = |name: &str, tools| AgentInfo {
        name: name.into(),
        tools,
    };
    let source = |name: &str, channel| SourceInfo {
        name: name.into(),
        channel,
        trust: Trust::Trusted,
        label: Label::default(),
    };
    let reading = |name: &str, operation, arguments| ToolSpec {
        operation,
        ..tool(name, arguments)
    };
    Briefing {
        goals: vec!["meet the partner".into()],
        agents: vec![
            agent("assistant", vec![READ, INVITE, CONTACT]),
            agent("worker", vec![READ]),
        ],
        tools: vec![
            reading(
                "read_note",
                Operation::ReadSource,
                vec![argument("note", "id", ValueKind::Text)],
            ),
            tool(
                "send_invite",
                vec![
                    argument("event", "meeting", ValueKind::Text),
                    argument("recipient", "to", ValueKind::List),
                ],
            ),
            reading(
                "read_contact",
                Operation::MemoryRead(StoreId(0)),
                Vec::new(),
            ),
        ],
        sources: vec![
            source("goal:0", Channel::Goal),
            source("note:partner", Channel::RetrievedDocument),
            source("contacts/partner", Channel::PersistentMemory),
            source("note:mail", Channel::InterAgentMessage),
        ],
        ..Briefing::default()
    }
}

/// What the sources say.
pub(super) fn contents() -> Vec<Content> {
    let field = |name: &str| Field {
        name: name.into(),
        value: "x".into(),
    };
    vec![
        Content::single("text", "meet the partner"),
        Content {
            fields: vec![field("topic"), field("address")],
        },
        Content::single("phone", "x"),
        Content::single("text", "x"),
    ]
}

/// The assistant hands off to the worker and hears its answer.
pub(super) fn world<'w>(briefing: &'w Briefing, contents: &'w [Content]) -> World<'w> {
    let (assistant, worker) = (AgentId(0), AgentId(1));
    World {
        briefing,
        contents: contents.iter().collect(),
        goals: vec![assistant],
        channels: vec![(assistant, worker)],
        answers: vec![(worker, assistant)],
        injected: vec![(SourceId(3), assistant)],
    }
}

/// An agent with its context.
pub(super) struct Stage {
    pub(super) briefing: Briefing,
    pub(super) context: Vec<Segment>,
    pub(super) episode: u32,
    pub(super) guidance: Guidance,
    pub(super) draws: Draws,
}

impl Stage {
    /// The assistant with its goal.
    pub(super) fn new() -> Self {
        let stage = Self {
            briefing: briefing(),
            context: Vec::new(),
            episode: 0,
            guidance: Guidance::None,
            draws: Draws::new(RolloutKey::default()),
        };
        stage.with(SegmentKind::Goal, &[("text", "meet the partner")])
    }

    pub(super) fn with(mut self, kind: SegmentKind, fields: &[(&str, &str)]) -> Self {
        let fields = fields.iter().map(|(name, value)| Field {
            name: (*name).into(),
            value: (*value).into(),
        });
        self.context.push(Segment {
            kind,
            content: Arc::new(Content {
                fields: fields.collect(),
            }),
            marked: false,
        });
        self
    }

    pub(super) fn own(self, tag: u32) -> Self {
        let turn = OwnTurn::Call(INVITE);
        self.with(SegmentKind::Own { turn, tag }, &[])
    }

    pub(super) fn denied(self, reason: DenialReason) -> Self {
        let tool = INVITE;
        self.with(SegmentKind::Denied { tool, reason }, &[])
    }

    pub(super) fn observed(self, source: Option<SourceId>, fields: &[(&str, &str)]) -> Self {
        let tool = READ;
        self.with(SegmentKind::Observation { tool, source }, fields)
    }

    pub(super) fn note(self) -> Self {
        self.observed(Some(NOTE), &[("topic", "tea"), ("address", "p@t.local")])
    }

    pub(super) fn message(self, from: Option<AgentId>, fields: &[(&str, &str)]) -> Self {
        self.with(SegmentKind::Message { from }, fields)
    }

    /// What the assistant says next under a script of these steps.
    pub(super) fn reply(&mut self, steps: &str) -> Reply {
        self.try_reply(steps).unwrap()
    }

    /// The same, where it may fail.
    pub(super) fn try_reply(&mut self, steps: &str) -> Result<Reply, ModelFailure> {
        let text = format!("Script(agents: {{ \"assistant\": [{steps}] }})");
        let mut model = Scripted::from_text(&text).unwrap();
        let mut reply = Reply::default();
        reply.clear();
        let tools = [READ, INVITE];
        let turn = Turn {
            agent: AgentId(0),
            episode: self.episode,
            briefing: &self.briefing,
            tools: &tools,
            context: &self.context,
            guidance: self.guidance,
            schema_mode: SchemaMode::Plain,
        };
        let draws = self.draws.at(self.episode, "assistant", EventKey::ROOT);
        model.complete(turn, draws, &mut reply).map(|()| reply)
    }

    /// The tag of what comes next; every step is called by its tag.
    #[track_caller]
    pub(super) fn check_next(mut self, steps: &str, expected: u32) {
        assert_eq!(self.reply(steps).tag, expected, "{:?}", self.context);
    }
}

/// The inputs of a field of the reply, as positions of segment and field.
pub(super) fn inputs(reply: &Reply, field: &str) -> Vec<(u32, Option<u16>)> {
    let derivation = reply
        .derivations
        .iter()
        .find(|derivation| &*derivation.field == field)
        .unwrap();
    positions(&derivation.inputs)
}

pub(super) fn positions(inputs: &[Input]) -> Vec<(u32, Option<u16>)> {
    inputs
        .iter()
        .map(|input| (input.segment, input.field))
        .collect()
}
