//! Backups, and records that are put back.

use plugins::ids::{AgentId, CallId, NodeId, RecordId, StoreId};
use plugins::trace::{EdgeKind, NodeKind, Subject};

use super::entities::Records;
use super::stage::Stage;
use crate::components::memory::Record;
use crate::identity::Identity;
use crate::recorder::NewNode;

/// The initial record that is the store's backup of `key`.
pub(crate) fn backup_of(stage: &Stage, store: StoreId, key: &str) -> Option<RecordId> {
    let records = &stage.setup.prepared.initial_by_key[store.index()];
    let initial = records.get(key)?;
    initial.is_backup.then_some(initial.record)
}

/// Stores a new record with the content of an earlier one: over an edge from that record, and over
/// one from the effect that put it back, if there is one.
pub(crate) fn put_back(
    stage: &mut Stage,
    records: &mut Records,
    identity: &mut Identity,
    agent: Option<AgentId>,
    earlier: RecordId,
    cause: Option<(NodeId, EdgeKind, bool)>,
    call: Option<CallId>,
) -> RecordId {
    let earlier_node = records.touch(stage, identity, earlier, agent);
    let (state, _) = records.read(identity, earlier);
    let new = Record {
        store: state.store,
        key: state.key.clone(),
        content: state.content.clone(),
        labels: state.labels.clone(),
        call,
        ..Record::default()
    };
    let exact = stage.recorder.join_all(new.labels.iter().copied());
    let id = Records::next_id(identity);
    let node = stage.node(NewNode {
        agent,
        ..NewNode::new(NodeKind::Memory, Subject::Record(id)).exact(exact)
    });
    if let Some((from, kind, taint)) = cause {
        stage.recorder.edge(from, node, kind, taint);
    }
    stage
        .recorder
        .edge(earlier_node, node, EdgeKind::Data, true);
    records.store(stage, identity, agent, new, node)
}
