//! Changes of labels, by name.

use plugins::briefing::Briefing;
use plugins::policy::Relabel;

use crate::answer::NewLabel;

/// The change with ids. What the world does not have cannot be read by or cleared of, so it is left
/// out: fewer readers, fewer sources cleared.
pub(crate) fn change(label: &NewLabel, briefing: &Briefing) -> Relabel {
    let principals = |names: &[plugins::value::Text]| {
        let ids = names
            .iter()
            .filter_map(|name| briefing.principal_named(name));
        ids.map(|id| id.0).collect()
    };
    match label {
        NewLabel::NarrowReaders(names) => Relabel::NarrowReaders(principals(names)),
        NewLabel::Declassify(names) => Relabel::Declassify(principals(names)),
        NewLabel::Endorse(names) => {
            let ids = names.iter().filter_map(|name| briefing.source_named(name));
            Relabel::Endorse(ids.map(|id| id.0).collect())
        }
    }
}
