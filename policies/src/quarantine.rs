//! Quarantine of tainted memory at retrieval.

use plugins::policy::{MemoryVerdict, RecordView, Ruling, View};

use crate::rules;
use crate::taint::untrusted_sources;

/// Quarantines a record whose recorded label is tainted. *Inferred*: see
/// [`rules::QUARANTINE_TAINTED_MEMORY`].
pub(crate) fn quarantine_tainted(
    view: &View<'_>,
    record: &RecordView<'_>,
) -> Ruling<MemoryVerdict> {
    if !view.tainted(record.recorded) {
        return Ruling::<MemoryVerdict>::neutral();
    }
    let reason = rules::QUARANTINE_TAINTED_MEMORY
        .reason()
        .with_evidence(untrusted_sources(view, record.recorded));
    Ruling::new(MemoryVerdict::Quarantine, reason)
}
