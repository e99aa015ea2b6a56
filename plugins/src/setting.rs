//! What a study fixes for a rollout besides scenario, policy and model.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::draws::{Chance, Draws};
use crate::label::{LabelId, LabelTable, SourceSet};

/// What the study's instrumentation logs on a node: the recorded layer
/// (`docs/SEMANTICS.md`, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instrumentation {
    /// Only authority-bearing arguments label a proposal; otherwise every argument does.
    pub authority_only: bool,
    /// The choice of tool, or of what to say, labels too.
    pub choice: bool,
    /// Low-risk proposals can be labelled too.
    pub low_risk: bool,
}

impl Instrumentation {
    /// The setting that reproduces the published counts.
    pub const PAPER: Self = Self {
        authority_only: true,
        choice: false,
        low_risk: false,
    };
    /// The join of all fields and of the choice.
    pub const FULL: Self = Self {
        authority_only: false,
        choice: true,
        low_risk: true,
    };

    /// Its name: `paper`, `full`, or `custom` with its three switches.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::PAPER => "paper".into(),
            Self::FULL => "full".into(),
            Self {
                authority_only,
                choice,
                low_risk,
            } => format!(
                "custom(authority_only={authority_only},choice={choice},low_risk={low_risk})"
            )
            .into(),
        }
    }

    /// Whether something said is logged as quoting an untrusted source: by one of its fields, or by
    /// the choice to say it.
    #[must_use]
    pub fn quotes(
        self,
        fields: impl IntoIterator<Item = LabelId>,
        choice: LabelId,
        labels: &LabelTable,
        untrusted: &SourceSet,
    ) -> bool {
        let tainted = |label: LabelId| labels.get(label).carries(untrusted);
        fields.into_iter().any(tainted) || self.choice && tainted(choice)
    }
}

/// The simulated user who is asked for confirmations (`docs/SEMANTICS.md`, section 7).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum User {
    /// Never answers: nothing that needs a confirmation commits.
    #[default]
    Absent,
    /// Approves everything.
    RubberStamp,
    /// Approves exactly what the true ledger authorises.
    Oracle,
    /// As the oracle, with 2 % false denials and 5 % false approvals.
    Careful,
}

impl User {
    /// Every user.
    pub const ALL: [Self; 4] = [Self::Absent, Self::RubberStamp, Self::Oracle, Self::Careful];

    /// Its name in rows, traces and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::RubberStamp => "rubber_stamp",
            Self::Oracle => "oracle",
            Self::Careful => "careful",
        }
    }

    /// The user of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|user| user.name() == name)
    }

    /// Whether the user approves; none if nobody is there.
    #[must_use]
    pub fn approves(self, authorized: bool, draws: &mut Draws) -> Option<bool> {
        match self {
            Self::Absent => None,
            Self::RubberStamp => Some(true),
            Self::Oracle => Some(authorized),
            Self::Careful => {
                let error = Chance::from_millionths(if authorized { 20_000 } else { 50_000 });
                Some(authorized != draws.happens("user", error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_is_found_by_its_name_and_nobody_else() {
        for user in User::ALL {
            assert_eq!(User::named(user.name()), Some(user));
        }
        let mut distinct = User::ALL.map(User::name).to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), User::ALL.len());
        for unknown in ["", "Absent", "rubber-stamp"] {
            assert_eq!(User::named(unknown), None, "{unknown}");
        }
    }
}
