//! One event of the trace: the words and keys of the exported trace, with every value told.

use plugins::ids::CallId;
use plugins::policy::{DecidingField, Evidence, Reason, View};
use plugins::trace::{Happening, Outcome, Subject};
use serde_json::{Value as Json, json};

use super::{Object, agent, arguments, content, label, object, subject, tool};
use crate::words::Word;

/// The event at `position` of the prefix, with its nodes and edges if `graph`.
pub(crate) fn event(view: &View<'_>, position: usize, graph: bool) -> Object {
    let event = &view.prefix.events[position];
    let mut told = object(json!({
        "event": position,
        "tick": event.tick,
        "episode": event.episode,
        "agent": event.agent.map(|whose| agent(view, whose)),
        "what": word(&event.what),
    }));
    told.extend(object(what(view, &event.what)));
    if let Some(call) = call(&event.what).and_then(|id| view.prefix.call(id)) {
        told.entry("tool")
            .or_insert_with(|| json!(tool(view, call.tool)));
    }
    if graph {
        add_graph(view, position, &mut told);
    }
    told
}

const fn word(what: &Happening) -> &'static str {
    match what {
        Happening::EpisodeBegan => "episode_began",
        Happening::Delivered { .. } => "delivered",
        Happening::Completed { .. } => "completed",
        Happening::Proposed { .. } => "proposed",
        Happening::Sent { .. } => "sent",
        Happening::Finished { .. } => "finished",
        Happening::Ruled { .. } => "ruled",
        Happening::Asked { .. } => "asked",
        Happening::HoldReleased { .. } => "hold_released",
        Happening::Denied { .. } => "denied",
        Happening::Committed { .. } => "committed",
        Happening::Observed { .. } => "observed",
        Happening::Acknowledged { .. } => "acknowledged",
        Happening::Stored { .. } => "stored",
        Happening::Removed { .. } => "removed",
        Happening::Quarantined { .. } => "quarantined",
        Happening::Filtered { .. } => "filtered",
        Happening::Recovered { .. } => "recovered",
        Happening::Undone { .. } => "undone",
        Happening::Relabelled { .. } => "relabelled",
        Happening::Rewritten { .. } => "rewritten",
        Happening::Drawn { .. } => "drawn",
        Happening::Ended { .. } => "ended",
    }
}

/// The call that an event is about.
const fn call(what: &Happening) -> Option<CallId> {
    match what {
        Happening::Proposed { call }
        | Happening::HoldReleased { call }
        | Happening::Denied { call, .. }
        | Happening::Committed { call, .. }
        | Happening::Observed { call, .. }
        | Happening::Acknowledged { call }
        | Happening::Undone { call, .. }
        | Happening::Rewritten { call, .. } => Some(*call),
        _ => None,
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "one arm per happening: the schema on one page"
)]
fn what(view: &View<'_>, what: &Happening) -> Json {
    match what {
        Happening::EpisodeBegan => json!({}),
        Happening::Delivered { message } => json!({ "message": message.map(|id| id.0) }),
        Happening::Completed {
            class,
            status,
            repairs,
            strict_reading_is_final,
            named,
        } => json!({
            "class": class.word(),
            "status": status.word(),
            "repairs": repairs.iter_names().map(|(name, _)| json!(name.to_lowercase())).collect::<Json>(),
            "strict_reading_is_final": strict_reading_is_final,
            "named": named.as_deref(),
        }),
        Happening::Proposed { call } => proposed(view, *call),
        Happening::Sent { message, to } => json!({ "message": message.0, "to": agent(view, *to) }),
        Happening::Finished { message } => json!({ "message": message.0 }),
        Happening::Ruled {
            hook,
            subject: on,
            verdict,
            reason,
            node,
        } => {
            let mut told = object(json!({
                "hook": hook.word(),
                "subject": subject(view, *on),
                "verdict": verdict.word(),
                "node": node.map(|node| node.0),
            }));
            told.extend(self::reason(view, *on, reason));
            Json::Object(told)
        }
        Happening::Asked {
            subject: on,
            answer,
        } => json!({ "subject": subject(view, *on), "answer": answer.word() }),
        Happening::HoldReleased { call } | Happening::Acknowledged { call } => {
            json!({ "call": call.0 })
        }
        Happening::Denied { call, reason } => json!({ "call": call.0, "reason": reason.word() }),
        Happening::Committed { call, node } | Happening::Undone { call, node } => {
            json!({ "call": call.0, "node": node.0 })
        }
        Happening::Observed { call, kept } => json!({ "call": call.0, "kept": kept }),
        Happening::Stored {
            record,
            store,
            key,
            content: said,
            node,
            quarantined,
        } => json!({
            "record": record.0,
            "store": store.0,
            "key": **key,
            "content": content(said),
            "node": node.0,
            "quarantined": quarantined,
        }),
        Happening::Removed { record, step } => json!({ "record": record.0, "step": step }),
        Happening::Quarantined { record } => json!({ "record": record.0 }),
        Happening::Filtered { store, filter } => json!({ "store": store.0, "filter": filter }),
        Happening::Recovered {
            step,
            kind,
            node,
            removed,
        } => json!({
            "step": step,
            "kind": kind.word(),
            "node": node.map(|node| node.0),
            "removed": removed.iter().map(|record| json!(record.0)).collect::<Json>(),
        }),
        Happening::Relabelled {
            subject: on,
            before,
            after,
        } => json!({
            "subject": subject(view, *on),
            "before": label(view, *before),
            "after": label(view, *after),
        }),
        Happening::Rewritten {
            call,
            arguments: given,
        } => {
            let arguments = view
                .prefix
                .call(*call)
                .map(|call| arguments(view, call, given));
            json!({ "call": call.0, "arguments": arguments })
        }
        Happening::Drawn { name, value } => json!({ "name": **name, "value": value }),
        Happening::Ended { outcome } => json!({ "outcome": self::outcome(outcome) }),
    }
}

fn proposed(view: &View<'_>, id: CallId) -> Json {
    let Some(call) = view.prefix.call(id) else {
        return json!({ "call": id.0 });
    };
    json!({
        "call": id.0,
        "tool": tool(view, call.tool),
        "high_risk": view.briefing.tools[call.tool.index()].high_risk(),
        "keep_result": call.keep_result,
        "arguments": arguments(view, call, &call.arguments),
        "recorded": label(view, call.recorded),
        "choice": label(view, call.choice),
    })
}

fn reason(view: &View<'_>, subject: Subject, reason: &Reason) -> Object {
    let argument = |position: u16| {
        let Subject::Call(call) = subject else {
            return position.to_string();
        };
        let tool = view
            .prefix
            .call(call)
            .map(|call| &view.briefing.tools[call.tool.index()]);
        let spec = tool.and_then(|tool| tool.arguments.get(usize::from(position)));
        spec.map_or_else(|| position.to_string(), |spec| spec.name.to_string())
    };
    let fields = reason.fields.iter().map(|&field| match field {
        DecidingField::Action => json!("action"),
        DecidingField::Target => json!("target"),
        DecidingField::Argument(position) => json!(format!("argument:{}", argument(position))),
    });
    let evidence = reason.evidence.iter().map(|&evidence| match evidence {
        Evidence::Node(node) => json!(format!("node:{}", node.0)),
        Evidence::Source(source) => {
            json!(format!(
                "source:{}",
                view.briefing.sources[source.index()].name
            ))
        }
        Evidence::LedgerEntry(entry) => json!(format!("ledger:{entry}")),
        Evidence::NoLedgerEntry => json!("no_ledger_entry"),
    });
    object(json!({
        "rule": *reason.rule,
        "denial": reason.denial.word(),
        "fields": fields.collect::<Json>(),
        "evidence": evidence.collect::<Json>(),
        "basis": reason.basis.word(),
    }))
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::LimitReached(limit) => format!("limit_reached:{}", limit.word()),
        Outcome::Errored(_) => "errored".to_owned(),
    }
}

/// The nodes and edges since the event before.
fn add_graph(view: &View<'_>, position: usize, told: &mut Object) {
    let prefix = view.prefix;
    let event = &prefix.events[position];
    let before = position.checked_sub(1).map(|before| &prefix.events[before]);
    let (first_node, first_edge) =
        before.map_or((0, 0), |event| (event.nodes_after, event.edges_after));
    let nodes = (first_node..event.nodes_after).filter_map(|id| {
        let node = prefix.nodes.get(id as usize)?;
        Some(json!({
            "node": id,
            "kind": node.kind.word(),
            "detail": node.detail.word(),
            "tick": node.tick,
            "agent": node.agent.map(|whose| agent(view, whose)),
            "subject": subject(view, node.subject),
            "recorded": label(view, node.recorded),
            "exact": label(view, node.exact),
        }))
    });
    let edges = prefix
        .edges
        .iter()
        .take(event.edges_after as usize)
        .skip(first_edge as usize);
    let edges = edges.map(|edge| {
        json!({
            "from": edge.from.0,
            "to": edge.to.0,
            "kind": edge.kind.word(),
            "taint": edge.taint,
        })
    });
    told.insert("nodes".into(), nodes.collect());
    told.insert("edges".into(), edges.collect());
}
