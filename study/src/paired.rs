//! Two rows of one pair: the same scenario, model and seed under two policies.

use crate::columns::Hash;
use crate::metrics::projection::{FIELDS, Field};
use crate::row::{Identity, Row};
use worlds::spec::Stage;

/// What two rows of a pair have in common. Everything of a rollout but the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PairKey<'a> {
    /// The scenario.
    pub scenario_id: &'a str,
    /// The model.
    pub model: &'a str,
    /// Its version, parameters and configuration.
    pub profile_hash: Hash,
    /// What recorded labels are.
    pub instrumentation: &'a str,
    /// Who answers confirmations.
    pub user: &'a str,
    /// The seed of the study.
    pub study_seed: u64,
    /// The seed of the rollout.
    pub seed: u64,
}

impl<'a> PairKey<'a> {
    /// The key of a row.
    #[must_use]
    pub fn of(identity: &'a Identity) -> Self {
        Self {
            scenario_id: &identity.scenario_id,
            model: &identity.model,
            profile_hash: identity.profile_hash,
            instrumentation: &identity.instrumentation,
            user: &identity.user,
            study_seed: identity.study_seed,
            seed: identity.seed,
        }
    }

    /// Every part by name.
    fn parts(&self) -> [(&'static str, String); 7] {
        [
            ("scenario_id", self.scenario_id.to_owned()),
            ("model", self.model.to_owned()),
            ("profile_hash", self.profile_hash.to_string()),
            ("instrumentation", self.instrumentation.to_owned()),
            ("user", self.user.to_owned()),
            ("study_seed", self.study_seed.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }
}

/// Two rows that are no pair. The other pairs of a study are not affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    /// They are about different things.
    #[error("the two rows are no pair: `{column}` is `{first}` in one and `{second}` in the other")]
    Key {
        /// Which part of the key.
        column: &'static str,
        /// In the first row.
        first: String,
        /// In the second row.
        second: String,
    },
    /// They did not start from the same state, so a difference says nothing about the policies.
    #[error(
        "`{first_policy}` and `{second_policy}` did not start from the same state: pre-state hash \
         {first} and {second}"
    )]
    Prestate {
        /// Policy of the first row.
        first_policy: String,
        /// Policy of the second row.
        second_policy: String,
        /// In the first row.
        first: Hash,
        /// In the second row.
        second: Hash,
    },
    /// One of them has no numbers. The pair is dropped and counted.
    #[error("the rollout under `{policy}` errored, so it has no numbers to compare")]
    Errored {
        /// Its policy.
        policy: String,
    },
}

/// What differs between the two rows of a pair. Policy hashes, rules, ledger matches and versions
/// never enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The fields of the projection that differ: the trajectory diverges iff there is one.
    pub differing: Vec<Field>,
    /// Equal `committed_harm`.
    pub same_endpoint: bool,
    /// Equal `committed_harm`, and it is 0.
    pub same_zero: bool,
    /// Equal utility of the stage.
    pub same_utility: bool,
}

/// Compares two rows.
///
/// # Errors
/// When they are no pair, did not start from the same state, or one has no numbers.
pub fn compare(first: &Row, second: &Row) -> Result<Comparison, PairError> {
    check_pair(first, second)?;
    let harm = |row: &Row| row.metrics.endpoints.committed_harm;
    let same_endpoint = harm(first) == harm(second);
    let differs = |field: &Field| field.of(&first.metrics) != field.of(&second.metrics);
    Ok(Comparison {
        differing: FIELDS.into_iter().filter(differs).collect(),
        same_endpoint,
        same_zero: same_endpoint && harm(first) == Some(false),
        same_utility: stage_utility(first) == stage_utility(second),
    })
}

/// The utility of the row's stage: the primary metric of the two utility stages, `B` elsewhere.
#[must_use]
pub fn stage_utility(row: &Row) -> Option<bool> {
    let utility = &row.metrics.utility;
    match row.identity.stage {
        Stage::ActiveTainted => utility.authorized_tainted_action_success,
        Stage::Clean => utility.clean_benign_completion,
        Stage::Security | Stage::MemoryRecovery => utility.benign_completion,
    }
}

fn check_pair(first: &Row, second: &Row) -> Result<(), PairError> {
    let parts = PairKey::of(&first.identity).parts();
    let others = PairKey::of(&second.identity).parts();
    for ((column, first), (_, second)) in parts.into_iter().zip(others) {
        if first != second {
            return Err(PairError::Key {
                column,
                first,
                second,
            });
        }
    }
    if first.identity.prestate_hash != second.identity.prestate_hash {
        return Err(PairError::Prestate {
            first_policy: first.identity.policy.to_string(),
            second_policy: second.identity.policy.to_string(),
            first: first.identity.prestate_hash,
            second: second.identity.prestate_hash,
        });
    }
    match [first, second]
        .into_iter()
        .find(|row| row.identity.has_errored())
    {
        None => Ok(()),
        Some(row) => Err(PairError::Errored {
            policy: row.identity.policy.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests;
