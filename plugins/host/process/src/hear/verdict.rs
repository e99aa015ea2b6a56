//! From an answer to the ruling of each hook.

use plugins::ids::{AgentId, CallId, RecordId, ToolId};
use plugins::label::IndexSet;
use plugins::model::{Guidance, SchemaMode};
use plugins::policy::{
    CommitVerdict, InflowVerdict, MemoryVerdict, PromptEdit, PromptVerdict, ProposalVerdict,
    RecoveryAction, RecoveryNotice, RecoveryVerdict, Relabel, Ruling, SessionVerdict, View,
};
use plugins::tool::{ToolSpec, ValueKind};
use plugins::value::{Content, Field, Value};
use serde_json::Value as Json;

use super::reason::{argument, reason};
use super::{Action, Answer, Edited, Masked, Relabelled, Said};
use crate::words::Word;

/// The answer to `session`.
pub(crate) fn session(answer: &Answer, view: &View<'_>) -> Result<Ruling<SessionVerdict>, String> {
    let verdict = match answer.word(&["pass", "mask_tools", "abort"])? {
        "mask_tools" => {
            SessionVerdict::MaskTools(mask(required(answer.mask.as_ref(), "mask")?, view)?)
        }
        "abort" => SessionVerdict::Abort,
        _ => SessionVerdict::Pass,
    };
    answer.ruling(verdict, view, "pass", None)
}

/// The answer to `prompt`, about a context of `segments` segments.
pub(crate) fn prompt(
    answer: &Answer,
    view: &View<'_>,
    segments: usize,
) -> Result<Ruling<PromptVerdict>, String> {
    let verdict = match answer.word(&["pass", "edit"])? {
        "edit" => PromptVerdict::Edit(edit(
            required(answer.edit.as_ref(), "edit")?,
            view,
            segments,
        )?),
        _ => PromptVerdict::Pass,
    };
    answer.ruling(verdict, view, "pass", None)
}

/// The answer to `observation` and `message`.
pub(crate) fn inflow(answer: &Answer, view: &View<'_>) -> Result<Ruling<InflowVerdict>, String> {
    let words = ["pass", "relabel", "transform", "quarantine", "drop"];
    let verdict = match answer.word(&words)? {
        "relabel" => InflowVerdict::Relabel(relabel(
            required(answer.relabel.as_ref(), "relabel")?,
            view,
        )?),
        "transform" => {
            InflowVerdict::Transform(content(required(answer.content.as_ref(), "content")?))
        }
        "quarantine" => InflowVerdict::Quarantine,
        "drop" => InflowVerdict::Drop,
        _ => InflowVerdict::Pass,
    };
    answer.ruling(verdict, view, "pass", None)
}

/// The answer to `proposal`, about a call of `tool`.
pub(crate) fn proposal(
    answer: &Answer,
    view: &View<'_>,
    tool: &ToolSpec,
) -> Result<Ruling<ProposalVerdict>, String> {
    let words = [
        "allow", "block", "confirm", "hold", "rewrite", "simulate", "abort",
    ];
    let verdict = match answer.word(&words)? {
        "block" => ProposalVerdict::Block,
        "confirm" => ProposalVerdict::Confirm,
        "hold" => ProposalVerdict::Hold,
        "rewrite" => {
            let arguments = required(answer.arguments.as_ref(), "arguments")?.iter();
            let changes = arguments.map(|(name, value)| rewritten(name, value, tool));
            let mut changes = changes.collect::<Result<Vec<_>, _>>()?;
            changes.sort_unstable_by_key(|(position, _)| *position);
            ProposalVerdict::Rewrite(changes)
        }
        "simulate" => {
            ProposalVerdict::Simulate(content(required(answer.content.as_ref(), "content")?))
        }
        "abort" => ProposalVerdict::Abort,
        _ => ProposalVerdict::Allow,
    };
    answer.ruling(verdict, view, "allow", Some(tool))
}

/// The answer to `memory_write` and `memory_read`.
pub(crate) fn memory(answer: &Answer, view: &View<'_>) -> Result<Ruling<MemoryVerdict>, String> {
    let words = ["allow", "block", "quarantine", "relabel", "confirm"];
    let verdict = match answer.word(&words)? {
        "block" => MemoryVerdict::Block,
        "quarantine" => MemoryVerdict::Quarantine,
        "relabel" => MemoryVerdict::Relabel(relabel(
            required(answer.relabel.as_ref(), "relabel")?,
            view,
        )?),
        "confirm" => MemoryVerdict::Confirm,
        _ => MemoryVerdict::Allow,
    };
    answer.ruling(verdict, view, "allow", None)
}

/// The answer to `commit`, about a call of `tool`.
pub(crate) fn commit(
    answer: &Answer,
    view: &View<'_>,
    tool: &ToolSpec,
) -> Result<Ruling<CommitVerdict>, String> {
    let verdict = match answer.word(&["allow", "block", "hold"])? {
        "block" => CommitVerdict::Block,
        "hold" => CommitVerdict::Hold,
        _ => CommitVerdict::Allow,
    };
    answer.ruling(verdict, view, "allow", Some(tool))
}

/// The answer to `recovery`.
pub(crate) fn recovery(
    answer: &Answer,
    view: &View<'_>,
    notice: &RecoveryNotice<'_>,
) -> Result<Ruling<RecoveryVerdict>, String> {
    let verdict = match answer.word(&["pass", "act"])? {
        "act" => {
            let actions = required(answer.actions.as_ref(), "actions")?.iter();
            let actions = actions.map(|action| act(action, view, notice));
            RecoveryVerdict::Act(actions.collect::<Result<_, _>>()?)
        }
        _ => RecoveryVerdict::Pass,
    };
    answer.ruling(verdict, view, "pass", None)
}

impl Answer {
    /// The verdict, if it is one of `known`.
    fn word(&self, known: &[&'static str]) -> Result<&'static str, String> {
        known
            .iter()
            .copied()
            .find(|word| *word == self.verdict)
            .ok_or_else(|| {
                let verdict = super::shortened(&self.verdict);
                format!("verdict `{verdict}` is none of: {}", known.join(", "))
            })
    }

    /// The verdict with its reason, if nothing was said that does not belong to it.
    fn ruling<V>(
        &self,
        verdict: V,
        view: &View<'_>,
        neutral: &str,
        tool: Option<&ToolSpec>,
    ) -> Result<Ruling<V>, String> {
        let parts = [
            ("mask", self.mask.is_some(), ["mask_tools", ""]),
            ("edit", self.edit.is_some(), ["edit", ""]),
            ("relabel", self.relabel.is_some(), ["relabel", ""]),
            ("content", self.content.is_some(), ["transform", "simulate"]),
            ("arguments", self.arguments.is_some(), ["rewrite", ""]),
            ("actions", self.actions.is_some(), ["act", ""]),
        ];
        for (part, is_given, verdicts) in parts {
            if is_given && !verdicts.contains(&&*self.verdict) {
                return Err(format!("`{part}` does not belong to `{}`", self.verdict));
            }
        }
        Ok(Ruling::new(verdict, reason(self, view, neutral, tool)?))
    }
}

fn required<'a, T>(part: Option<&'a T>, name: &str) -> Result<&'a T, String> {
    part.ok_or_else(|| format!("a verdict without its `{name}`"))
}

fn tool(name: &str, view: &View<'_>) -> Result<ToolId, String> {
    let tool = view.briefing.tool_named(name);
    tool.ok_or_else(|| format!("there is no tool `{name}`"))
}

fn mask(masked: &[Masked], view: &View<'_>) -> Result<Vec<(AgentId, ToolId)>, String> {
    let mut pairs = Vec::new();
    for Masked { agent, tools } in masked {
        let agents = &view.briefing.agents;
        let position = agents.iter().position(|known| *known.name == **agent);
        let id = AgentId::at(position.ok_or_else(|| format!("there is no agent `{agent}`"))?);
        for name in tools {
            pairs.push((id, tool(name, view)?));
        }
    }
    Ok(pairs)
}

fn edit(edited: &Edited, view: &View<'_>, segments: usize) -> Result<PromptEdit, String> {
    let positions = |list: &[u32]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list.dedup();
        match list.iter().find(|&&position| position as usize >= segments) {
            Some(stray) => Err(format!("there is no segment {stray}")),
            None => Ok(list),
        }
    };
    let guidance = edited
        .guidance
        .as_deref()
        .map(Guidance::named)
        .transpose()?;
    let schema_mode = edited
        .schema_mode
        .as_deref()
        .map(SchemaMode::named)
        .transpose()?;
    let mask = edited.mask.iter().map(|name| tool(name, view));
    Ok(PromptEdit {
        drop: positions(&edited.drop)?,
        mark: positions(&edited.mark)?,
        guidance: guidance.copied(),
        schema_mode: schema_mode.copied(),
        mask: mask.collect::<Result<_, _>>()?,
    })
}

fn relabel(change: &Relabelled, view: &View<'_>) -> Result<Relabel, String> {
    let briefing = view.briefing;
    let principals = |names: &[String]| -> Result<IndexSet, String> {
        let ids = names.iter().map(|name| {
            let id = briefing.principal_named(name).map(|id| id.0);
            id.ok_or_else(|| format!("there is no principal `{name}`"))
        });
        ids.collect()
    };
    let sources = |names: &[String]| -> Result<IndexSet, String> {
        let ids = names.iter().map(|name| {
            let id = briefing.source_named(name).map(|id| id.0);
            id.ok_or_else(|| format!("there is no source `{name}`"))
        });
        ids.collect()
    };
    Ok(match change {
        Relabelled::NarrowReaders(names) => Relabel::NarrowReaders(principals(names)?),
        Relabelled::Endorse(names) => Relabel::Endorse(sources(names)?),
        Relabelled::Declassify(names) => Relabel::Declassify(principals(names)?),
    })
}

fn content(said: &[Said]) -> Content {
    let fields = said.iter().map(|field| Field {
        name: field.name.as_str().into(),
        value: field.value.as_str().into(),
    });
    Content {
        fields: fields.collect(),
    }
}

/// The position and value of an argument that is rewritten. The value has the argument's kind; one
/// string stands for a list of one.
fn rewritten(name: &str, value: &Json, tool: &ToolSpec) -> Result<(u16, Value), String> {
    let position = argument(name, tool)?;
    let kind = tool.arguments[usize::from(position)].kind;
    let fitting = match (kind, value) {
        (ValueKind::Text | ValueKind::List, Json::String(text)) => Some(Value::text(text)),
        (ValueKind::List, Json::Array(items)) => {
            let items = items.iter().map(|item| item.as_str().map(Into::into));
            items.collect::<Option<_>>().map(Value::List)
        }
        (ValueKind::Integer, Json::Number(number)) => number.as_i64().map(Value::Integer),
        (ValueKind::Boolean, Json::Bool(truth)) => Some(Value::Boolean(*truth)),
        _ => None,
    };
    let fitting = fitting.ok_or_else(|| format!("argument `{name}` takes a {}", kind.word()))?;
    Ok((position, fitting))
}

fn act(
    action: &Action,
    view: &View<'_>,
    notice: &RecoveryNotice<'_>,
) -> Result<RecoveryAction, String> {
    let records = |ids: &[u32]| -> Result<Vec<RecordId>, String> {
        let exists = |id: u32| notice.records.iter().any(|record| record.record.0 == id);
        match ids.iter().find(|&&id| !exists(id)) {
            Some(stray) => Err(format!("there is no record {stray}")),
            None => Ok(ids.iter().copied().map(RecordId).collect()),
        }
    };
    Ok(match action {
        Action::Scrub(ids) => RecoveryAction::Scrub(records(ids)?),
        Action::Quarantine(ids) => RecoveryAction::Quarantine(records(ids)?),
        Action::Restore(ids) => RecoveryAction::Restore(records(ids)?),
        Action::Rollback(ids) => {
            let calls = ids.iter().copied().map(CallId);
            match calls.clone().find(|&id| view.prefix.call(id).is_none()) {
                Some(stray) => return Err(format!("there is no call {}", stray.0)),
                None => RecoveryAction::Rollback(calls.collect()),
            }
        }
    })
}
