//! Scenarios from a seed.

use std::sync::Arc;

use super::hostile::hostile_world;
use super::random::Random;
use super::sample::{World, argument, given, tool};
use crate::action::{Argument, Referent};
use crate::briefing::Trust;
use crate::ids::{AgentId, CallId, SourceId, StoreId, ToolId};
use crate::label::{LabelId, Readers};
use crate::ledger::Condition;
use crate::model::{OwnTurn, Segment, SegmentKind};
use crate::policy::DenialReason;
use crate::predicate::PUBLIC;
use crate::tool::{Operation, Passing, RiskClass, Role, Target, ToolSpec, Undo, ValueKind};
use crate::trace::Subject;
use crate::value::{Content, Field, Text, Value};

/// The scenario of one round: every fourth is hostile.
#[must_use]
pub fn world(round: u64) -> World {
    if round % 4 == 3 {
        hostile_world(round / 4)
    } else {
        random_world(round)
    }
}

/// An ordinary scenario: a few agents, sources, tools, ledger entries and calls.
#[must_use]
pub fn random_world(seed: u64) -> World {
    let random = &mut Random::new(seed);
    let mut world = World::new();
    for name in ["assistant", "helper"].iter().take(1 + random.index(2)) {
        world.add_agent(name);
    }
    for name in [
        "ann@trusted.local",
        "bob@trusted.local",
        "eve@external.local",
    ] {
        world.add_principal(name);
        if random.one_in(2) {
            world.briefing.allowed_recipients.push(name.into());
        }
    }
    add_sources(&mut world, random);
    for position in 0..=random.below(6) {
        let spec = random_tool(&world, random, position);
        world.add_tool(spec);
    }
    for _ in 0..random.below(8) {
        add_entry(&mut world, random);
    }
    for _ in 0..4 + random.below(8) {
        add_random_call(&mut world, random);
    }
    world
}

fn add_sources(world: &mut World, random: &mut Random) {
    let count = if random.one_in(6) {
        70
    } else {
        1 + random.below(5)
    };
    for position in 0..count {
        let trust = if random.one_in(2) {
            Trust::Untrusted
        } else {
            Trust::Trusted
        };
        let readers = random_readers(random);
        world.add_source(&format!("doc:{position}"), trust, readers);
    }
    if random.one_in(2) {
        let readers = random_readers(random);
        world.add_canary("CANARY-1", readers);
    }
    if random.one_in(2) {
        let outsider = crate::ids::PrincipalId(2);
        world.add_sink("outbox", random.some_of(&[outsider], 2));
    }
}

fn random_readers(random: &mut Random) -> Readers {
    if random.one_in(2) {
        Readers::Everyone
    } else {
        Readers::Only(random.some_of(&[0, 1, 2], 2).into_iter().collect())
    }
}

const ROLES: [Role; 9] = [
    Role::Recipient,
    Role::Document,
    Role::Visibility,
    Role::MemoryKey,
    Role::Event,
    Role::Contact,
    Role::Scope,
    Role::Content,
    Role::Content,
];

fn random_tool(world: &World, random: &mut Random, position: u32) -> ToolSpec {
    let risk = [RiskClass::Low, RiskClass::Write, RiskClass::Outbound][random.index(3)];
    let mut spec = tool(&format!("tool_{position}"), risk, "calendar");
    for number in 0..random.below(5) {
        let role = ROLES[random.index(ROLES.len())];
        let mut argument = argument(&format!("argument_{number}"), role);
        // Most are texts.
        argument.kind = [
            ValueKind::Text,
            ValueKind::List,
            ValueKind::Integer,
            ValueKind::Boolean,
        ][random.index(8).saturating_sub(4)];
        argument.required = random.one_in(4);
        if random.one_in(4) {
            argument.passing = Passing::Reference;
        }
        spec.arguments.push(argument);
    }
    if !spec.arguments.is_empty() && random.one_in(2) {
        let target = random.below(u32::try_from(spec.arguments.len()).unwrap_or(1));
        spec.target = Target::Argument(u16::try_from(target).unwrap_or(0));
    }
    spec.operation = random_operation(random, risk, &spec.target);
    if spec.operation == Operation::Act && !world.briefing.sinks.is_empty() {
        spec.sink = Some(crate::ids::SinkId(0));
    }
    if random.one_in(2) {
        spec.undo = Undo::Inverse(ToolId(random.below(position + 1)));
    }
    spec.irrevocable_email = risk != RiskClass::Low && random.one_in(3);
    spec
}

fn random_operation(random: &mut Random, risk: RiskClass, target: &Target) -> Operation {
    let store = StoreId(0);
    if risk == RiskClass::Low {
        return match (random.below(3), target) {
            (0, Target::Argument(_)) => Operation::ReadSource,
            (1, Target::Argument(_)) => Operation::MemoryRead(store),
            (2, _) => Operation::ReturnSource(SourceId(0)),
            _ => Operation::Act,
        };
    }
    match (random.below(6), target) {
        (0, Target::Argument(_)) => Operation::MemoryWrite(store),
        (1, Target::Argument(_)) => Operation::MemoryUpdate(store),
        (2, Target::Argument(_)) => Operation::MemoryDelete(store),
        (3, Target::Argument(_)) => Operation::MemoryRestore(store),
        _ => Operation::Act,
    }
}

/// A text that means something somewhere in a scenario.
fn random_text(world: &World, random: &mut Random) -> Text {
    let any = match random.below(6) {
        0 => random
            .pick(&world.briefing.sources)
            .map(|source| source.name.clone()),
        1 | 2 => random.pick(&world.briefing.principals).cloned(),
        3 => Some(PUBLIC.into()),
        4 => Some("see CANARY-1".into()),
        _ => None,
    };
    any.unwrap_or_else(|| "calendar".into())
}

/// A value of the kind that the argument takes.
pub(super) fn random_value(world: &World, random: &mut Random, kind: ValueKind) -> Value {
    match kind {
        ValueKind::Text => Value::Text(random_text(world, random)),
        ValueKind::List => Value::List(
            (0..random.below(3))
                .map(|_| random_text(world, random))
                .collect(),
        ),
        ValueKind::Integer => Value::Integer(i64::from(random.below(5)) - 2),
        ValueKind::Boolean => Value::Boolean(random.one_in(2)),
    }
}

/// An authorisation of some tool; now and then of one that does not exist.
fn add_entry(world: &mut World, random: &mut Random) {
    let Some(spec) = random.pick(&world.briefing.tools).cloned() else {
        return;
    };
    let action: &str = if random.one_in(8) {
        "no_such_tool"
    } else {
        &spec.name
    };
    let target = match &spec.target {
        Target::Fixed(target) => target.clone(),
        Target::Argument(_) => random_text(world, random),
    };
    let mut conditions = Vec::new();
    for argument in &spec.arguments {
        let value = random_value(world, random, argument.kind);
        let other = random_value(world, random, argument.kind);
        let condition = match random.below(8) {
            0 => Condition::Equals(value),
            1 => Condition::OneOf(vec![value, other]),
            2 => Condition::Absent,
            3 | 4 => Condition::Present,
            _ => continue,
        };
        conditions.push((&*argument.name, condition));
    }
    world.authorize(action, &target, &conditions);
}

/// A call of some tool: every other one is drawn towards a ledger entry, so that matches occur.
fn add_random_call(world: &mut World, random: &mut Random) {
    let tool = ToolId::at(random.index(world.briefing.tools.len()));
    let spec = world.briefing.tools[tool.index()].clone();
    let entries = world.briefing.ledger.entries.iter();
    let own: Vec<_> = entries
        .filter(|entry| entry.action == spec.name)
        .cloned()
        .collect();
    let wanted = random.pick(&own).filter(|_| !random.one_in(3)).cloned();
    let mut arguments = Vec::new();
    for (position, argument) in (0_u16..).zip(&spec.arguments) {
        let condition = wanted.as_ref().and_then(|entry| {
            let mut conditions = entry.conditions.iter();
            conditions.find(|(name, _)| *name == argument.name)
        });
        let is_target = spec.target == Target::Argument(position);
        let mut value = random_value(world, random, argument.kind);
        match (condition.map(|(_, condition)| condition), &wanted) {
            (Some(Condition::Equals(wanted)), _) => value = wanted.clone(),
            (Some(Condition::OneOf(wanted)), _) if !wanted.is_empty() => value = wanted[0].clone(),
            (Some(Condition::Absent), _) => continue,
            (None, Some(entry)) if is_target => value = Value::Text(entry.target.clone()),
            (None, _) if random.one_in(3) && !argument.required => continue,
            _ => {}
        }
        let label = random_label(world, random);
        let referent = (argument.passing == Passing::Reference)
            .then(|| referent_of(world, &value))
            .flatten();
        arguments.push(Argument {
            referent,
            ..given(position, value, label)
        });
    }
    let call = world.add_call(tool, arguments);
    if !spec.operation.is_read() && random.one_in(2) {
        world.commit(call);
    }
}

/// What a by-reference value stands for, if it names a source.
fn referent_of(world: &mut World, value: &Value) -> Option<Referent> {
    let source = value
        .strings()
        .find_map(|name| world.briefing.source_named(name))?;
    let label = world.label_of(&[source]);
    Some(Referent {
        object: Subject::Source(source),
        content: Arc::new(Content::single("text", "dates and CANARY-1")),
        labels: std::iter::once(label).collect(),
    })
}

/// The join of up to two sources; often bottom.
pub(super) fn random_label(world: &mut World, random: &mut Random) -> LabelId {
    let count = world.briefing.sources.len();
    let sources: Vec<_> = (0..random.below(3).min(u32::try_from(count).unwrap_or(0)))
        .map(|_| SourceId::at(random.index(count)))
        .collect();
    world.label_of(&sources)
}

/// Some content with a label for each field.
pub(super) fn random_content(world: &mut World, random: &mut Random) -> (Content, Vec<LabelId>) {
    let mut content = Content::default();
    let mut labels = Vec::new();
    for number in 0..random.below(4) {
        content.fields.push(Field {
            name: format!("field_{number}").into(),
            value: random_text(world, random),
        });
        labels.push(random_label(world, random));
    }
    (content, labels)
}

/// What a model sees: a goal, then anything. Empty now and then.
pub(super) fn random_context(world: &mut World, random: &mut Random) -> Vec<Segment> {
    let count = if random.one_in(6) {
        0
    } else {
        1 + random.below(8)
    };
    (0..count)
        .map(|position| {
            let kind = if position == 0 {
                SegmentKind::Goal
            } else {
                random_segment_kind(world, random)
            };
            Segment {
                kind,
                content: Arc::new(random_content(world, random).0),
                marked: random.one_in(4),
            }
        })
        .collect()
}

fn random_segment_kind(world: &World, random: &mut Random) -> SegmentKind {
    let tool = ToolId::at(random.index(world.briefing.tools.len()));
    let source = SourceId::at(random.index(world.briefing.sources.len()));
    let agent = AgentId::at(random.index(world.briefing.agents.len()));
    if world.briefing.tools.is_empty() || world.briefing.sources.is_empty() {
        return SegmentKind::Rejected;
    }
    match random.below(7) {
        0 => SegmentKind::Message {
            from: random.one_in(2).then_some(agent),
        },
        1 => SegmentKind::Own {
            turn: OwnTurn::Call(tool),
            tag: random.below(4),
        },
        2 | 3 => SegmentKind::Observation {
            tool,
            source: random.one_in(2).then_some(source),
        },
        4 => SegmentKind::Acknowledged { tool },
        5 => SegmentKind::Denied {
            tool,
            reason: DENIALS[random.index(DENIALS.len())],
        },
        _ => SegmentKind::Rejected,
    }
}

const DENIALS: [DenialReason; 7] = [
    DenialReason::TargetNotAuthorized,
    DenialReason::OutsideUserGoal,
    DenialReason::TaintedPrivilegeJump,
    DenialReason::ConfirmationRequired,
    DenialReason::CheckpointHold,
    DenialReason::MemoryQuarantined,
    DenialReason::PluginFault,
];

/// The calls of a scenario.
pub(super) fn calls(world: &World) -> Vec<CallId> {
    world.trace.calls.iter().map(|call| call.id).collect()
}
