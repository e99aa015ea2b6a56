//! What a by-reference argument stands for.

use plugins::action::Referent;
use plugins::briefing::Channel;
use plugins::ids::{RecordId, SourceId};
use plugins::tool::Passing;
use plugins::trace::Subject;
use plugins::value::Value;

use super::entities::Records;
use crate::identity::Identity;
use crate::setup::Prepared;

/// The object that a value names: of its strings the first that names, as `store/key`, a live
/// unquarantined record, or else a source instance that is neither a goal nor an initial record.
fn named_object(
    value: &Value,
    prepared: &Prepared,
    records: &Records,
    identity: &Identity,
) -> Option<Subject> {
    value.strings().find_map(|name| {
        named_record(name, prepared, records, identity)
            .map(Subject::Record)
            .or_else(|| named_source(name, prepared).map(Subject::Source))
    })
}

fn named_record(
    name: &str,
    prepared: &Prepared,
    records: &Records,
    identity: &Identity,
) -> Option<RecordId> {
    // The name of a store may itself have slashes.
    name.match_indices('/')
        .filter_map(|(slash, _)| {
            let store = *prepared.stores.get(&name[..slash])?;
            records.readable(identity, store, &name[slash + 1..])
        })
        .max()
}

fn named_source(name: &str, prepared: &Prepared) -> Option<SourceId> {
    let briefing = &prepared.scenario.briefing;
    prepared.sources.get(name).copied().filter(|source| {
        !matches!(
            briefing.sources[source.index()].channel,
            Channel::Goal | Channel::PersistentMemory
        )
    })
}

/// The content behind a by-reference value.
pub(crate) fn resolve(
    value: &Value,
    passing: Passing,
    prepared: &Prepared,
    records: &Records,
    identity: &Identity,
) -> Option<Referent> {
    if passing == Passing::Value {
        return None;
    }
    let object = named_object(value, prepared, records, identity)?;
    match object {
        Subject::Record(record) => {
            let (record, _) = records.read(identity, record);
            Some(Referent {
                object,
                content: record.content.clone(),
                labels: record.labels.clone(),
            })
        }
        Subject::Source(source) => Some(Referent {
            object,
            content: prepared.scenario.sources[source.index()].content.clone(),
            labels: prepared.field_labels[source.index()].clone(),
        }),
        _ => None,
    }
}
