//! Untrusted content in labels and in the arguments of a call.

use plugins::ids::SourceId;
use plugins::label::{LabelId, SourceSet};
use plugins::policy::{Evidence, Proposal, View};

/// The untrusted source instances that flowed into the value labelled `label`, ascending.
pub(crate) fn untrusted_sources<'a>(
    view: &'a View<'_>,
    label: LabelId,
) -> impl Iterator<Item = Evidence> + 'a {
    sources_of(view, label, &view.briefing.untrusted)
}

/// The source instances of `mask` that flowed into the value labelled `label`, ascending.
fn sources_of<'a>(
    view: &'a View<'_>,
    label: LabelId,
    mask: &'a SourceSet,
) -> impl Iterator<Item = Evidence> + 'a {
    let sources = view.labels.get(label).sources.iter();
    sources
        .filter(|&source| mask.contains(source))
        .map(|source| Evidence::Source(SourceId(source)))
}

/// The positions of the arguments of authority into which a source of `mask` flowed.
pub(crate) fn tainted_authority_fields(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    mask: &SourceSet,
) -> Vec<u16> {
    let specs = &proposal.tool.arguments;
    let arguments = proposal.arguments.iter();
    arguments
        .filter(|argument| specs[usize::from(argument.position)].role.is_authority())
        .filter(|argument| view.labels.get(argument.label).carries(mask))
        .map(|argument| argument.position)
        .collect()
}

/// The source instances of `mask` that flowed into the arguments at `fields`, each once.
pub(crate) fn carried_sources(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    fields: &[u16],
    mask: &SourceSet,
) -> Vec<Evidence> {
    let mut carried = Vec::new();
    let arguments = proposal.arguments.iter();
    for argument in arguments.filter(|argument| fields.contains(&argument.position)) {
        for source in sources_of(view, argument.label, mask) {
            if !carried.contains(&source) {
                carried.push(source);
            }
        }
    }
    carried
}
