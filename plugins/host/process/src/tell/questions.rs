//! What each hook is asked with.

use plugins::facts::{CallFacts, Counts};
use plugins::ids::AgentId;
use plugins::model::{OwnTurn, Segment, SegmentKind};
use plugins::policy::{Inflow, Proposal, RecordView, RecoveryNotice, View};
use serde_json::{Value as Json, json};

use super::{Object, agent, content, label, label_facts, labelled, object, tool, value};
use crate::words::Word;

/// The context that a model is about to be called with.
pub(crate) fn prompt(view: &View<'_>, whose: AgentId, segments: &[Segment]) -> Object {
    let segments = segments.iter().map(|part| {
        let mut told = segment(view, part.kind);
        told.insert("content".into(), content(&part.content));
        told.insert("marked".into(), json!(part.marked));
        Json::Object(told)
    });
    object(json!({
        "agent": agent(view, whose),
        "segments": segments.collect::<Json>(),
    }))
}

fn segment(view: &View<'_>, kind: SegmentKind) -> Object {
    object(match kind {
        SegmentKind::Goal => json!({ "kind": "goal" }),
        SegmentKind::Message { from } => {
            json!({ "kind": "message", "from": from.map(|from| agent(view, from)) })
        }
        SegmentKind::Own { turn, .. } => match turn {
            OwnTurn::Call(id) => json!({ "kind": "own", "turn": "call", "tool": tool(view, id) }),
            OwnTurn::Delegate(to) => {
                json!({ "kind": "own", "turn": "delegate", "to": agent(view, to) })
            }
            OwnTurn::Final => json!({ "kind": "own", "turn": "final" }),
            OwnTurn::Invalid => json!({ "kind": "own", "turn": "invalid" }),
        },
        SegmentKind::Observation { tool: id, source } => json!({
            "kind": "observation",
            "tool": tool(view, id),
            "source": source.map(|source| &*view.briefing.sources[source.index()].name),
        }),
        SegmentKind::Acknowledged { tool: id } => {
            json!({ "kind": "acknowledged", "tool": tool(view, id) })
        }
        SegmentKind::Denied { tool: id, reason } => {
            json!({ "kind": "denied", "tool": tool(view, id), "reason": reason.word() })
        }
        SegmentKind::Rejected => json!({ "kind": "rejected" }),
    })
}

/// Content about to enter a context.
pub(crate) fn inflow(view: &View<'_>, inflow: &Inflow<'_>) -> Object {
    object(json!({
        "agent": agent(view, inflow.agent),
        "from": inflow.from.map(|from| agent(view, from)),
        "content": labelled(view, inflow.content, inflow.labels),
        "recorded": label(view, inflow.recorded),
        "node": inflow.node.map(|node| node.0),
    }))
}

/// A call under decision.
pub(crate) fn proposal(view: &View<'_>, proposal: &Proposal<'_>) -> Object {
    let facts = CallFacts::of(view, proposal);
    let counts = Counts::of_high_risk(view.prefix, view.briefing);
    let names = |positions: &[u16]| -> Json {
        let specs = &facts.tool.arguments;
        let names = positions
            .iter()
            .map(|&position| &specs[usize::from(position)].name);
        names.map(|name| json!(**name)).collect()
    };
    let arguments = facts.arguments.iter().map(|argument| {
        json!({
            "name": argument.name,
            "role": argument.role.word(),
            "value": value(argument.value),
            "label": label_facts(&argument.label),
        })
    });
    object(json!({
        "call": proposal.call.id.0,
        "node": proposal.node.map(|node| node.0),
        "agent": facts.agent,
        "tool": *facts.tool.name,
        "risk": facts.tool.risk.word(),
        "high_risk": facts.high_risk,
        "target": facts.target,
        "arguments": arguments.collect::<Json>(),
        "recorded": label_facts(&facts.recorded),
        "choice": label_facts(&facts.choice),
        "ledger_entry": facts.ledger_entry,
        "expanding": names(&facts.expanding),
        "leaking": names(&facts.leaking),
        "wrong_recipient": facts.wrong_recipient,
        "counts": {
            "proposed": counts.proposed,
            "committed": counts.committed,
            "denied": counts.denied,
            "asked": counts.asked,
            "approved": counts.approved,
        },
    }))
}

/// A record about to be stored or returned.
pub(crate) fn record(view: &View<'_>, record: &RecordView<'_>) -> Object {
    object(json!({
        "record": record.record.0,
        "store": record.store.0,
        "key": record.key,
        "content": labelled(view, record.content, record.labels),
        "recorded": label(view, record.recorded),
        "agent": record.agent.map(|whose| agent(view, whose)),
        "call": record.call.map(|call| call.0),
    }))
}

/// A recovery step that just ran.
pub(crate) fn recovery(view: &View<'_>, notice: &RecoveryNotice<'_>) -> Object {
    let records = notice.records.iter().map(|record| {
        json!({
            "record": record.record.0,
            "store": record.store.0,
            "call": record.call.map(|call| call.0),
            "recorded": label(view, record.recorded),
            "has_backup": record.has_backup,
        })
    });
    let revoked = notice
        .revoked
        .map(|source| &view.briefing.sources[source.index()]);
    object(json!({
        "step": notice.step,
        "kind": notice.kind.word(),
        "revoked": revoked.map(|source| &*source.name),
        "records": records.collect::<Json>(),
    }))
}
