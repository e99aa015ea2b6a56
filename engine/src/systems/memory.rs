//! Commits on memory: reads, writes, deletions, restorations.

use std::sync::Arc;

use plugins::action::Argument;
use plugins::ids::{AgentId, CallId, RecordId, StoreId};
use plugins::label::{Flags, LabelId};
use plugins::policy::{DenialReason, Hook, MemoryVerdict, RecordView, Ruling, Verdict};
use plugins::predicate::CallView;
use plugins::tool::{Role, ToolSpec};
use plugins::trace::{EdgeKind, Happening, NodeKind, Subject};
use plugins::value::{Content, Field, Text};
use worlds::spec::StoreFilter;

use super::authorize::{deny, is_authorized};
use super::backup::{backup_of, put_back};
use super::effect::{acknowledge, content_origins, effect, origin_label};
use super::entities::{Hands, Records};
use super::hooks::{Flow, Ruled, ask, ask_user, quarantine_detail, relabel, rule};
use super::stage::Stage;
use crate::agenda::AgendaEvent;
use crate::components::FieldLabels;
use crate::components::call::{Returned, ReturnedRecord};
use crate::components::memory::Record;
use crate::identity::Identity;
use crate::recorder::NewNode;
use crate::setup::Guard;

/// The key that a call names: its target.
fn key_of(hands: &Hands, call: CallId, spec: &ToolSpec) -> Option<Text> {
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
    CallView {
        tool: spec,
        arguments: &proposal.arguments,
    }
    .target()
    .map(Into::into)
}

/// A read: the live, unquarantined record of the key, unless filter or policy keep it.
pub(crate) fn read(
    stage: &mut Stage,
    guard: &mut Guard,
    hands: &mut Hands,
    call: CallId,
    store: StoreId,
    spec: &ToolSpec,
) {
    let found =
        key_of(hands, call, spec).and_then(|key| Records::live(hands.identity, store, &key));
    let readable =
        found.filter(|&record| !hands.records.read(hands.identity, record).0.quarantined);
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
    let agent = proposal.agent;
    let Some(record) = readable else {
        acknowledge(stage, hands, call, spec);
        return;
    };
    let recorded = hands.records.read(hands.identity, record).1.recorded;
    if let Some(filter) = hiding_filter(stage, store, recorded) {
        stage.happen(Some(agent), Happening::Filtered { store, filter });
        acknowledge(stage, hands, call, spec);
        return;
    }
    let Some(flow) = rule_on_read(stage, guard, hands, call, record) else {
        return;
    };
    let (mut proposal, _) = hands.proposals.get(hands.identity, call);
    let Flow {
        labels,
        recorded,
        taint,
        ..
    } = flow;
    proposal.returned = Some(Returned::Record(ReturnedRecord {
        record,
        labels,
        recorded,
        taint,
    }));
    stage.schedule(agent, spec.latency_ticks.max(1), AgendaEvent::Result(call));
}

/// Asks `on_memory_read`; the record as it is returned, or none if it is not.
fn rule_on_read(
    stage: &mut Stage,
    guard: &mut Guard,
    hands: &mut Hands,
    call: CallId,
    record: RecordId,
) -> Option<Flow> {
    let agent = hands.proposals.read(hands.identity, call).0.agent;
    let node = hands
        .records
        .touch(stage, hands.identity, record, Some(agent));
    let (state, taint) = hands.records.read(hands.identity, record);
    let flow = Flow {
        content: state.content.clone(),
        labels: state.labels.clone(),
        recorded: taint.recorded,
        taint: true,
    };
    let access = RecordView {
        record,
        store: state.store,
        key: &state.key,
        content: &state.content,
        labels: &state.labels,
        recorded: taint.recorded,
        agent: Some(agent),
        call: Some(call),
    };
    let ruling = ask(
        stage,
        guard,
        Hook::MemoryRead,
        Some(agent),
        |policy, view, _| policy.on_memory_read(view, access),
    );
    if ruling.verdict == MemoryVerdict::Allow {
        return Some(flow);
    }
    let subject = Subject::Record(record);
    let verdict = ruling.verdict.kind();
    let decision = stage.decision(subject, Some(agent), quarantine_detail(verdict), &[node]);
    let denial = ruling.reason.denial;
    let ruled = Ruled {
        hook: Hook::MemoryRead,
        subject,
        verdict,
        reason: ruling.reason,
        node: Some(decision),
    };
    rule(
        stage,
        hands.identity,
        &mut hands.decisions,
        Some(agent),
        ruled,
    );
    let returned = apply_read_verdict(stage, guard, hands, call, record, ruling.verdict, flow);
    if returned.is_none() {
        deny(stage, agent, call, denial);
    }
    returned
}

/// What a ruling on a read leaves of the record.
fn apply_read_verdict(
    stage: &mut Stage,
    guard: &mut Guard,
    hands: &mut Hands,
    call: CallId,
    record: RecordId,
    verdict: MemoryVerdict,
    flow: Flow,
) -> Option<Flow> {
    let agent = hands.proposals.read(hands.identity, call).0.agent;
    let subject = Subject::Record(record);
    match verdict {
        MemoryVerdict::Allow => Some(flow),
        MemoryVerdict::Relabel(change) => Some(relabel(stage, Some(agent), subject, flow, &change)),
        MemoryVerdict::Confirm => {
            let authorized = is_authorized(stage, hands.identity, &hands.proposals, call);
            ask_user(stage, guard, Some(agent), subject, authorized).then_some(flow)
        }
        MemoryVerdict::Quarantine => {
            hands.records.get(hands.identity, record).0.quarantined = true;
            stage.happen(Some(agent), Happening::Quarantined { record });
            None
        }
        MemoryVerdict::Block => None,
    }
}

/// The first filter of the store that hides a record with this recorded label.
fn hiding_filter(stage: &Stage, store: StoreId, recorded: LabelId) -> Option<u32> {
    let filters = &stage.scenario().stores[store.index()].filters;
    let hides = |filter: &StoreFilter| {
        matches!(filter, StoreFilter::HideUntrustedReads) && stage.tainted(recorded)
    };
    filters
        .iter()
        .position(hides)
        .and_then(|index| u32::try_from(index).ok())
}

/// The first filter of the store that refuses to store this key under this recorded label.
pub(crate) fn refusing_filter(
    stage: &Stage,
    store: StoreId,
    key: &str,
    recorded: LabelId,
) -> Option<u32> {
    let filters = &stage.scenario().stores[store.index()].filters;
    let refuses = |filter: &StoreFilter| match filter {
        StoreFilter::RefuseUntrustedWrites => stage.tainted(recorded),
        StoreFilter::RefuseKeyPrefix(prefix) => key.starts_with(&**prefix),
        StoreFilter::HideUntrustedReads => false,
    };
    filters
        .iter()
        .position(refuses)
        .and_then(|index| u32::try_from(index).ok())
}

/// A write or update: filters, then the policy, then the effect and the new record.
pub(crate) fn write(
    stage: &mut Stage,
    guard: &mut Guard,
    hands: &mut Hands,
    call: CallId,
    store: StoreId,
    spec: &ToolSpec,
) {
    let key = key_of(hands, call, spec).unwrap_or_else(|| "".into());
    let (proposal, ..) = hands.proposals.read(hands.identity, call);
    let agent = proposal.agent;
    let arguments = proposal.arguments.clone();
    let recorded = future_label(stage, hands, call, spec);
    if let Some(filter) = refusing_filter(stage, store, &key, recorded) {
        stage.happen(Some(agent), Happening::Filtered { store, filter });
        acknowledge(stage, hands, call, spec);
        return;
    }
    let (content, labels) = record_content(&arguments, spec);
    let flow = Flow {
        content: Arc::new(content),
        labels,
        recorded,
        taint: true,
    };
    let writing = Writing {
        call: Some(call),
        agent,
        store,
        key: &key,
    };
    let ruling = ask_write(stage, guard, hands.identity, &writing, &flow);
    let Some((mut flow, quarantined)) = apply_write_ruling(stage, guard, hands, call, ruling, flow)
    else {
        return;
    };
    for label in &mut flow.labels {
        *label = stage.recorder.labels.flagged(*label, Flags::VIA_MEMORY);
    }
    let effect_node = effect(stage, hands, call, spec);
    if let Some(replaced) = Records::live(hands.identity, store, &key) {
        hands
            .records
            .remove(stage, hands.identity, Some(agent), replaced, None);
        hands.proposals.get(hands.identity, call).0.replaced = Some(replaced);
    }
    let new = Record {
        store,
        key,
        quarantined,
        call: Some(call),
        content: flow.content.clone(),
        labels: flow.labels.clone(),
        ..Record::default()
    };
    let id = Records::next_id(hands.identity);
    let exact = stage.recorder.join_all(flow.labels.iter().copied());
    let node = stage.node(
        NewNode::new(NodeKind::Memory, Subject::Record(id))
            .agent(agent)
            .exact(exact),
    );
    stage
        .recorder
        .edge_carrying(effect_node, node, EdgeKind::Data, flow.taint, flow.recorded);
    let stored = hands
        .records
        .store(stage, hands.identity, Some(agent), new, node);
    hands.proposals.get(hands.identity, call).0.stored = Some(stored);
    acknowledge(stage, hands, call, spec);
}

/// A record about to be stored.
pub(crate) struct Writing<'a> {
    pub(crate) call: Option<CallId>,
    pub(crate) agent: AgentId,
    pub(crate) store: StoreId,
    pub(crate) key: &'a str,
}

/// Asks `on_memory_write`.
pub(crate) fn ask_write(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &Identity,
    writing: &Writing,
    flow: &Flow,
) -> Ruling<MemoryVerdict> {
    let access = RecordView {
        record: Records::next_id(identity),
        store: writing.store,
        key: writing.key,
        content: &flow.content,
        labels: &flow.labels,
        recorded: flow.recorded,
        agent: Some(writing.agent),
        call: writing.call,
    };
    ask(
        stage,
        guard,
        Hook::MemoryWrite,
        Some(writing.agent),
        |policy, view, _| policy.on_memory_write(view, access),
    )
}

/// What becomes of a called write: its content and whether it is quarantined, or none if it was
/// denied.
fn apply_write_ruling(
    stage: &mut Stage,
    guard: &mut Guard,
    hands: &mut Hands,
    call: CallId,
    ruling: Ruling<MemoryVerdict>,
    flow: Flow,
) -> Option<(Flow, bool)> {
    if ruling.verdict == MemoryVerdict::Allow {
        return Some((flow, false));
    }
    let (proposal, taint, _) = hands.proposals.read(hands.identity, call);
    let (agent, origins) = (proposal.agent, taint.node);
    let (verdict, denial): (_, DenialReason) = (ruling.verdict.kind(), ruling.reason.denial);
    let subject = Subject::Call(call);
    let decision = stage.decision(
        subject,
        Some(agent),
        quarantine_detail(verdict),
        origins.as_slice(),
    );
    let ruled = Ruled {
        hook: Hook::MemoryWrite,
        subject,
        verdict,
        reason: ruling.reason,
        node: Some(decision),
    };
    rule(
        stage,
        hands.identity,
        &mut hands.decisions,
        Some(agent),
        ruled,
    );
    match ruling.verdict {
        MemoryVerdict::Allow => Some((flow, false)),
        MemoryVerdict::Quarantine => Some((flow, true)),
        MemoryVerdict::Relabel(change) => {
            Some((relabel(stage, Some(agent), subject, flow, &change), false))
        }
        MemoryVerdict::Block => {
            deny(stage, agent, call, denial);
            None
        }
        MemoryVerdict::Confirm => {
            let authorized = is_authorized(stage, hands.identity, &hands.proposals, call);
            if ask_user(stage, guard, Some(agent), subject, authorized) {
                return Some((flow, false));
            }
            deny(stage, agent, call, denial);
            None
        }
    }
}

/// The recorded label that the side effect of a call would have.
fn future_label(stage: &mut Stage, hands: &mut Hands, call: CallId, spec: &ToolSpec) -> LabelId {
    let (proposal, taint, _) = hands.proposals.read(hands.identity, call);
    if proposal.labelled {
        return taint.recorded;
    }
    let origins = content_origins(stage, hands, call, spec);
    let labels: Vec<LabelId> = origins
        .into_iter()
        .map(|origin| origin_label(stage, hands, origin))
        .collect();
    stage.recorder.join_all(labels)
}

/// What a called write stores: its content arguments; a referent stands for its fields.
fn record_content(arguments: &[Argument], spec: &ToolSpec) -> (Content, FieldLabels) {
    let mut content = Content::default();
    let mut labels = FieldLabels::new();
    for argument in arguments {
        let argument_spec = &spec.arguments[usize::from(argument.position)];
        if argument_spec.role != Role::Content {
            continue;
        }
        if let Some(referent) = &argument.referent {
            content
                .fields
                .extend(referent.content.fields.iter().cloned());
            labels.extend(referent.labels.iter().copied());
        } else {
            let value = argument.value.to_string().into();
            content.fields.push(Field {
                name: argument_spec.name.clone(),
                value,
            });
            labels.push(argument.label);
        }
    }
    (content, labels)
}

/// A deletion.
pub(crate) fn delete(
    stage: &mut Stage,
    hands: &mut Hands,
    call: CallId,
    store: StoreId,
    spec: &ToolSpec,
) {
    effect(stage, hands, call, spec);
    remove_current(stage, hands, call, store, spec);
    acknowledge(stage, hands, call, spec);
}

/// Removes the live record that a call names; its key.
fn remove_current(
    stage: &mut Stage,
    hands: &mut Hands,
    call: CallId,
    store: StoreId,
    spec: &ToolSpec,
) -> Option<Text> {
    let key = key_of(hands, call, spec)?;
    if let Some(record) = Records::live(hands.identity, store, &key) {
        let agent = hands.proposals.read(hands.identity, call).0.agent;
        hands
            .records
            .remove(stage, hands.identity, Some(agent), record, None);
        hands.proposals.get(hands.identity, call).0.replaced = Some(record);
    }
    Some(key)
}

/// An agent puts a record back to its backup.
pub(crate) fn restore(
    stage: &mut Stage,
    hands: &mut Hands,
    call: CallId,
    store: StoreId,
    spec: &ToolSpec,
) {
    let effect_node = effect(stage, hands, call, spec);
    let backup = key_of(hands, call, spec).and_then(|key| backup_of(stage, store, &key));
    if let Some(backup) = backup {
        remove_current(stage, hands, call, store, spec);
        let agent = hands.proposals.read(hands.identity, call).0.agent;
        let restored = put_back(
            stage,
            &mut hands.records,
            hands.identity,
            Some(agent),
            backup,
            Some((effect_node, EdgeKind::Control, false)),
            Some(call),
        );
        hands.proposals.get(hands.identity, call).0.stored = Some(restored);
    }
    acknowledge(stage, hands, call, spec);
}
