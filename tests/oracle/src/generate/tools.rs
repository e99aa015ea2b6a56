//! Random tools, who knows them, and the ledger over them.

use plugins::ids::{SinkId, SourceId, StoreId, ToolId};
use plugins::ledger::{Condition, Entry};
use plugins::tool::{
    ArgumentSpec, Operation, Passing, RiskClass, Role, Target, ToolSpec, Undo, ValueKind,
};
use worlds::spec::Scenario;

use super::{ADDRESSES, KEYS, Random};

/// The most tools in a world.
const MOST: usize = 12;

pub(super) fn generate(scenario: &mut Scenario, random: &mut Random) {
    let mut operations = vec![Operation::ReadSource, Operation::Act];
    for store in (0..scenario.stores.len()).map(StoreId::at) {
        operations.extend([Operation::MemoryRead(store), Operation::MemoryWrite(store)]);
        let rest = [
            Operation::MemoryUpdate(store),
            Operation::MemoryDelete(store),
            Operation::MemoryRestore(store),
        ];
        operations.extend(random.some(rest, 50));
    }
    for _ in 0..random.below(5) {
        operations.push(match random.below(4) {
            0 => Operation::ReadSource,
            1 => Operation::ReturnSource(SourceId::at(random.size(scenario.sources.len()))),
            _ => Operation::Act,
        });
    }
    operations.truncate(MOST);
    let count = operations.len();
    for (position, operation) in operations.into_iter().enumerate() {
        let tool = tool(scenario, random, (position, count), operation);
        scenario.briefing.tools.push(tool);
    }
    for agent in &mut scenario.briefing.agents {
        agent.tools = random.some((0..count).map(ToolId::at), 75);
    }
}

fn tool(
    scenario: &Scenario,
    random: &mut Random,
    (position, count): (usize, usize),
    operation: Operation,
) -> ToolSpec {
    let risks = [RiskClass::Low, RiskClass::Write, RiskClass::Outbound];
    let is_read = operation.is_read();
    let risk = if is_read {
        RiskClass::Low
    } else {
        *random.pick(&risks)
    };
    let role = match operation {
        Operation::ReadSource => Role::Document,
        Operation::ReturnSource(_) | Operation::Act => *random.pick(&ROLES),
        _ => Role::MemoryKey,
    };
    let named_by_target = is_read || operation.written_store().is_some();
    let mut arguments = vec![ArgumentSpec {
        name: "target".into(),
        aliases: vec!["destination".into()],
        kind: ValueKind::Text,
        role,
        passing: passing(random, 20),
        required: named_by_target || random.chance(70),
    }];
    let more = if is_read {
        random.size(2)
    } else {
        1 + random.size(4)
    };
    for more in 0..more {
        let role = if random.chance(45) {
            Role::Content
        } else {
            *random.pick(&ROLES)
        };
        arguments.push(ArgumentSpec {
            // Two names are fields of contents, too, so that a model copies one into the other.
            name: ["text", "who", "note", "count"][more].into(),
            aliases: random
                .some(["body", "recipient"], 10)
                .into_iter()
                .map(Into::into)
                .collect(),
            kind: kind(random),
            role,
            passing: passing(random, 35),
            required: random.chance(50),
        });
    }
    let target = if random.chance(80) {
        Target::Argument(0)
    } else if operation.is_read() && operation == Operation::ReadSource {
        Target::Fixed("doc:0".into())
    } else {
        Target::Fixed(random.text(KEYS))
    };
    ToolSpec {
        name: format!("tool_{position}").into(),
        operation,
        risk,
        arguments,
        target,
        sink: (operation == Operation::Act)
            .then(|| SinkId::at(random.size(scenario.briefing.sinks.len()))),
        latency_ticks: random.below(4),
        undo: if random.chance(60) {
            Undo::Inverse(ToolId::at(random.size(count)))
        } else {
            Undo::Irrevocable
        },
        irrevocable_email: random.chance(20),
    }
}

const ROLES: [Role; 7] = [
    Role::Recipient,
    Role::Document,
    Role::Visibility,
    Role::Event,
    Role::Contact,
    Role::Scope,
    Role::Content,
];

fn passing(random: &mut Random, percent: u64) -> Passing {
    if random.chance(percent) {
        Passing::Reference
    } else {
        Passing::Value
    }
}

fn kind(random: &mut Random) -> ValueKind {
    let kinds = [
        ValueKind::Text,
        ValueKind::Text,
        ValueKind::List,
        ValueKind::Integer,
        ValueKind::Boolean,
    ];
    *random.pick(&kinds)
}

/// Entries wide enough that some calls match.
pub(super) fn ledger(scenario: &mut Scenario, random: &mut Random) {
    for _ in 0..random.below(8) {
        let tool = random.pick(&scenario.briefing.tools);
        let target = match &tool.target {
            Target::Fixed(target) => target.clone(),
            Target::Argument(_) if random.chance(40) => random.text(KEYS),
            Target::Argument(_) => random.text(ADDRESSES),
        };
        let mut conditions = Vec::new();
        for argument in random.some(&tool.arguments[1..], 25) {
            let condition = match random.below(4) {
                0 => Condition::Equals(random.value(argument.kind)),
                1 => Condition::OneOf((0..3).map(|_| random.value(argument.kind)).collect()),
                2 => Condition::Absent,
                _ => Condition::Present,
            };
            conditions.push((argument.name.clone(), condition));
        }
        scenario.briefing.ledger.entries.push(Entry {
            action: tool.name.clone(),
            target,
            conditions,
        });
    }
}
