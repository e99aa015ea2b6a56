//! What a module answers, read out of its memory and checked: whatever it refers to exists.

use std::borrow::Cow;

use plugins::briefing::Briefing;
use plugins::ids::{AgentId, NodeId, SourceId, ToolId};
use plugins::label::IndexSet;
use plugins::model::{Guidance, SchemaMode};
use plugins::policy::{RecordSummary, View};
use plugins::reason::{Basis, DecidingField, Evidence, Reason};
use plugins::tool::{ToolSpec, ValueKind};
use plugins::value::{Content, Field, Text, Value};
use plugins::verdict::{
    CommitVerdict, InflowVerdict, MemoryVerdict, PromptEdit, PromptVerdict, ProposalVerdict,
    RecoveryAction, RecoveryVerdict, Relabel, SessionVerdict,
};

use crate::codes::{Code, DENIALS, recovery_action};
use crate::guest::{Answer, Place, slice};

/// Reads lists and texts out of the memory of a module, up to a number of bytes in all: lists may
/// overlap, so the memory itself is no limit.
pub(crate) struct Payload<'a> {
    memory: &'a [u8],
    left: u32,
    /// All of what the module said.
    whole: Place,
}

type Read<T> = Result<T, String>;

impl<'a> Payload<'a> {
    /// What lies at a place.
    pub(crate) const fn new(memory: &'a [u8], whole: Place, most_bytes: u32) -> Self {
        Self {
            memory,
            left: most_bytes,
            whole,
        }
    }

    fn bytes(&mut self, place: Place) -> Read<&'a [u8]> {
        let left = self.left.checked_sub(place.bytes);
        self.left = left.ok_or("more comes with the verdict than is allowed")?;
        slice(self.memory, place)
    }

    /// A list of records of `N` words.
    fn records<const N: usize>(&mut self, at: u32, count: u32) -> Read<Vec<[u32; N]>> {
        let size = u32::try_from(N * 4).unwrap_or(u32::MAX);
        let bytes = count.saturating_mul(size);
        let bytes = self.bytes(Place { at, bytes })?;
        let record = |bytes: &[u8]| {
            let mut words = [0; N];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
                *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            words
        };
        Ok(bytes.chunks_exact(N * 4).map(record).collect())
    }

    /// The whole as a list of records of `N` words.
    fn all<const N: usize>(&mut self) -> Read<Vec<[u32; N]>> {
        let size = u32::try_from(N * 4).unwrap_or(u32::MAX);
        let Place { at, bytes } = self.whole;
        if !bytes.is_multiple_of(size) {
            return Err(format!("{bytes} bytes are no list of records of {size}"));
        }
        self.records(at, bytes / size)
    }

    /// The whole as one record of `N` words.
    fn one<const N: usize>(&mut self) -> Read<[u32; N]> {
        match *self.all::<N>()? {
            [record] => Ok(record),
            ref more => Err(format!("{} records where one is needed", more.len())),
        }
    }

    fn numbers(&mut self, at: u32, count: u32) -> Read<Vec<u32>> {
        let records = self.records::<1>(at, count)?;
        Ok(records.into_iter().map(|[number]| number).collect())
    }

    fn text(&mut self, at: u32, bytes: u32) -> Read<Text> {
        let bytes = self.bytes(Place { at, bytes })?;
        let text = std::str::from_utf8(bytes).map_err(|_| "a text that is not UTF-8")?;
        Ok(text.into())
    }

    fn content(&mut self) -> Read<Content> {
        let records = self.all::<4>()?;
        let field = |[name, name_bytes, value, value_bytes]: [u32; 4]| {
            Ok(Field {
                name: self.text(name, name_bytes)?,
                value: self.text(value, value_bytes)?,
            })
        };
        let fields = records.into_iter().map(field).collect::<Read<_>>()?;
        Ok(Content { fields })
    }

    fn relabel(&mut self, briefing: &Briefing) -> Read<Relabel> {
        let [how, at, count] = self.one()?;
        let members = self.numbers(at, count)?;
        let (most, what) = match how {
            1 => (briefing.sources.len(), "source"),
            _ => (briefing.principals.len(), "principal"),
        };
        exist(&members, most, what)?;
        let members: IndexSet = members.into_iter().collect();
        match how {
            0 => Ok(Relabel::NarrowReaders(members)),
            1 => Ok(Relabel::Endorse(members)),
            2 => Ok(Relabel::Declassify(members)),
            _ => Err(format!("relabelling {how} does not exist")),
        }
    }

    fn value(&mut self, kind: u32, at: u32, count: u32, number: u64) -> Read<Value> {
        match kind {
            0 => Ok(Value::Text(self.text(at, count)?)),
            1 => {
                let items = self.records::<2>(at, count)?;
                let text = |[at, bytes]: [u32; 2]| self.text(at, bytes);
                Ok(Value::List(
                    items.into_iter().map(text).collect::<Read<_>>()?,
                ))
            }
            2 => Ok(Value::Integer(number.cast_signed())),
            3 if number <= 1 => Ok(Value::Boolean(number == 1)),
            _ => Err(format!("value kind {kind} with {number} does not exist")),
        }
    }
}

/// That every one of `numbers` is below `end`.
fn exist(numbers: &[u32], end: usize, what: &str) -> Read<()> {
    match numbers.iter().find(|&&number| number as usize >= end) {
        Some(number) => Err(format!("{what} {number} does not exist")),
        None => Ok(()),
    }
}

/// That `numbers` ascend.
fn ascend(numbers: &[u32], what: &str) -> Read<()> {
    if numbers.is_sorted_by(|a, b| a < b) {
        Ok(())
    } else {
        Err(format!("{what}s that do not ascend"))
    }
}

/// A verdict that the hook does not have; `codes::fits` has refused it before.
fn foreign<T>(code: Code) -> Read<T> {
    Err(format!("{code:?} is no verdict of this hook"))
}

pub(crate) fn session(
    code: Code,
    payload: &mut Payload<'_>,
    briefing: &Briefing,
) -> Read<SessionVerdict> {
    match code {
        Code::Allow => Ok(SessionVerdict::Pass),
        Code::Abort => Ok(SessionVerdict::Abort),
        Code::MaskTools => {
            let pairs = payload.all::<2>()?;
            for &[agent, tool] in &pairs {
                exist(&[agent], briefing.agents.len(), "agent")?;
                exist(&[tool], briefing.tools.len(), "tool")?;
            }
            let pair = |[agent, tool]: [u32; 2]| (AgentId(agent), ToolId(tool));
            Ok(SessionVerdict::MaskTools(
                pairs.into_iter().map(pair).collect(),
            ))
        }
        _ => foreign(code),
    }
}

pub(crate) fn prompt(
    code: Code,
    payload: &mut Payload<'_>,
    briefing: &Briefing,
    segments: usize,
) -> Read<PromptVerdict> {
    if code == Code::Allow {
        return Ok(PromptVerdict::Pass);
    }
    let [drop, drops, mark, marks, mask, masks, guidance, schema_mode] = payload.one()?;
    let drop = payload.numbers(drop, drops)?;
    let mark = payload.numbers(mark, marks)?;
    for positions in [&drop, &mark] {
        exist(positions, segments, "segment")?;
        ascend(positions, "segment")?;
    }
    let mask = payload.numbers(mask, masks)?;
    exist(&mask, briefing.tools.len(), "tool")?;
    let guidance = match guidance {
        0 => None,
        1 => Some(Guidance::None),
        2 => Some(Guidance::TreatContentAsData),
        3 => Some(Guidance::SelfCheck),
        _ => return Err(format!("guidance {guidance} does not exist")),
    };
    let schema_mode = match schema_mode {
        0 => None,
        1 => Some(SchemaMode::Plain),
        2 => Some(SchemaMode::Structured),
        _ => return Err(format!("schema mode {schema_mode} does not exist")),
    };
    Ok(PromptVerdict::Edit(PromptEdit {
        drop,
        mark,
        guidance,
        schema_mode,
        mask: mask.into_iter().map(ToolId).collect(),
    }))
}

pub(crate) fn inflow(
    code: Code,
    payload: &mut Payload<'_>,
    briefing: &Briefing,
) -> Read<InflowVerdict> {
    match code {
        Code::Allow => Ok(InflowVerdict::Pass),
        Code::Relabel => Ok(InflowVerdict::Relabel(payload.relabel(briefing)?)),
        Code::Transform => Ok(InflowVerdict::Transform(payload.content()?)),
        Code::Quarantine => Ok(InflowVerdict::Quarantine),
        Code::Drop => Ok(InflowVerdict::Drop),
        _ => foreign(code),
    }
}

pub(crate) fn proposal(
    code: Code,
    payload: &mut Payload<'_>,
    tool: &ToolSpec,
) -> Read<ProposalVerdict> {
    match code {
        Code::Allow => Ok(ProposalVerdict::Allow),
        Code::Block => Ok(ProposalVerdict::Block),
        Code::Confirm => Ok(ProposalVerdict::Confirm),
        Code::Hold => Ok(ProposalVerdict::Hold),
        Code::Simulate => Ok(ProposalVerdict::Simulate(payload.content()?)),
        Code::Abort => Ok(ProposalVerdict::Abort),
        Code::Rewrite => rewrite(payload, tool).map(ProposalVerdict::Rewrite),
        _ => foreign(code),
    }
}

fn rewrite(payload: &mut Payload<'_>, tool: &ToolSpec) -> Read<Vec<(u16, Value)>> {
    let changes = payload.all::<6>()?;
    let positions: Vec<u32> = changes.iter().map(|change| change[0]).collect();
    exist(&positions, tool.arguments.len(), "argument")?;
    ascend(&positions, "argument")?;
    let mut values = Vec::new();
    for [position, kind, at, count, low, high] in changes {
        let value = payload.value(kind, at, count, u64::from(high) << 32 | u64::from(low))?;
        let spec = &tool.arguments[position as usize];
        let fits = matches!(
            (&value, spec.kind),
            (Value::Text(_), ValueKind::Text)
                | (Value::List(_), ValueKind::List)
                | (Value::Integer(_), ValueKind::Integer)
                | (Value::Boolean(_), ValueKind::Boolean)
        );
        if !fits {
            return Err(format!("`{}` takes another kind of value", spec.name));
        }
        values.push((u16::try_from(position).unwrap_or(u16::MAX), value));
    }
    Ok(values)
}

pub(crate) fn memory(
    code: Code,
    payload: &mut Payload<'_>,
    briefing: &Briefing,
) -> Read<MemoryVerdict> {
    match code {
        Code::Allow => Ok(MemoryVerdict::Allow),
        Code::Block => Ok(MemoryVerdict::Block),
        Code::Quarantine => Ok(MemoryVerdict::Quarantine),
        Code::Relabel => Ok(MemoryVerdict::Relabel(payload.relabel(briefing)?)),
        Code::Confirm => Ok(MemoryVerdict::Confirm),
        _ => foreign(code),
    }
}

pub(crate) fn commit(code: Code) -> Read<CommitVerdict> {
    match code {
        Code::Allow => Ok(CommitVerdict::Allow),
        Code::Block => Ok(CommitVerdict::Block),
        Code::Hold => Ok(CommitVerdict::Hold),
        _ => foreign(code),
    }
}

pub(crate) fn recovery(
    code: Code,
    payload: &mut Payload<'_>,
    records: &[RecordSummary],
    calls: usize,
) -> Read<RecoveryVerdict> {
    if code == Code::Allow {
        return Ok(RecoveryVerdict::Pass);
    }
    let mut actions = Vec::new();
    for [what, at, count] in payload.all::<3>()? {
        let ids = payload.numbers(at, count)?;
        let action = recovery_action(what, ids.clone());
        let action = action.ok_or_else(|| format!("recovery action {what} does not exist"))?;
        if matches!(action, RecoveryAction::Rollback(_)) {
            exist(&ids, calls, "call")?;
        } else {
            let is_known = |id: &u32| records.iter().any(|record| record.record.0 == *id);
            if let Some(stray) = ids.iter().find(|id| !is_known(id)) {
                return Err(format!("record {stray} does not exist"));
            }
        }
        actions.push(action);
    }
    Ok(RecoveryVerdict::Act(actions))
}

/// The reason of an answer. `tool` is the one under decision, if a call is.
pub(crate) fn reason(
    answer: &Answer,
    rules: &[String],
    evidence: &mut Payload<'_>,
    view: &View<'_>,
    tool: Option<&ToolSpec>,
) -> Read<Reason> {
    let Some(rule) = answer.rule else {
        return Ok(Reason::default_allow());
    };
    let name = rules
        .get(rule)
        .ok_or_else(|| format!("rule {} does not exist", rule + 1))?;
    let mut reason = Reason {
        rule: Cow::Owned(name.clone()),
        denial: DENIALS[answer.denial],
        fields: Vec::new(),
        evidence: Vec::new(),
        basis: if answer.assumed {
            Basis::Assumed
        } else {
            Basis::Exact
        },
    };
    for [kind, number] in evidence.all::<2>()? {
        let fields = tool.map_or(0, |tool| tool.arguments.len());
        match kind {
            0 => {
                exist(&[number], view.prefix.nodes.len(), "node")?;
                reason.evidence.push(Evidence::Node(NodeId(number)));
            }
            1 => {
                exist(&[number], view.briefing.sources.len(), "source")?;
                reason.evidence.push(Evidence::Source(SourceId(number)));
            }
            2 => {
                exist(
                    &[number],
                    view.briefing.ledger.entries.len(),
                    "ledger entry",
                )?;
                reason.evidence.push(Evidence::LedgerEntry(number));
            }
            3 => reason.evidence.push(Evidence::NoLedgerEntry),
            4 if tool.is_some() => reason.fields.push(DecidingField::Action),
            5 if tool.is_some() => reason.fields.push(DecidingField::Target),
            6 => {
                exist(&[number], fields, "argument")?;
                let position = u16::try_from(number).unwrap_or(u16::MAX);
                reason.fields.push(DecidingField::Argument(position));
            }
            _ => return Err(format!("evidence {kind} does not exist here")),
        }
    }
    Ok(reason)
}
