//! Untrusted content in a label, as evidence.

use plugins::ids::SourceId;
use plugins::label::LabelId;
use plugins::policy::{Evidence, View};

/// The untrusted source instances that flowed into the value labelled `label`, ascending.
pub(crate) fn untrusted_sources<'a>(
    view: &'a View<'_>,
    label: LabelId,
) -> impl Iterator<Item = Evidence> + 'a {
    let untrusted = &view.briefing.untrusted;
    let sources = view.labels.get(label).sources.iter();
    sources
        .filter(|&source| untrusted.contains(source))
        .map(|source| Evidence::Source(SourceId(source)))
}
