//! Who receives what a call commits.

use plugins::briefing::Briefing;
use plugins::ids::PrincipalId;
use plugins::label::Readers;
use plugins::predicate::{CallView, PUBLIC};
use plugins::tool::Role;

/// Who receives what a call commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody, or somebody whom nobody declared: no restriction can be met.
    Anybody,
    /// These; may be none.
    Known(Vec<PrincipalId>),
}

impl Audience {
    /// The recipients of the call and the readers of its sink. Public visibility means everybody.
    #[must_use]
    pub fn of(call: CallView<'_>, briefing: &Briefing) -> Self {
        let mut visibility = call.with_role(Role::Visibility);
        if visibility.any(|argument| argument.value.strings().any(|value| value == PUBLIC)) {
            return Self::Anybody;
        }
        let sink = call.tool.sink;
        let mut known = sink.map_or_else(Vec::new, |sink| {
            briefing.sinks[sink.index()].readers.clone()
        });
        let recipients = call.with_role(Role::Recipient);
        for name in recipients.flat_map(|argument| argument.value.strings()) {
            match briefing.principal_named(name) {
                Some(principal) => known.push(principal),
                None => return Self::Anybody,
            }
        }
        Self::Known(known)
    }

    /// Whether all of them may read what `readers` may read.
    #[must_use]
    pub fn is_within(&self, readers: &Readers) -> bool {
        match (self, readers) {
            (_, Readers::Everyone) => true,
            (Self::Anybody, Readers::Only(_)) => false,
            (Self::Known(known), readers) => known.iter().all(|&one| readers.permits(one)),
        }
    }
}
