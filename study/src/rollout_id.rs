//! The identity of a rollout: a hash of everything that decides what happens in it.

use plugins::setting::{Instrumentation, User};
use plugins::value::Text;
use xxhash_rust::xxh3::xxh3_128;

use crate::columns::Hash;

/// The version of the field list below. A change of the list, of an encoding or of the hash bumps
/// it, so that ids of two versions never compare equal by accident.
pub const ROLLOUT_ID_VERSION: u32 = 3;

/// What decides what happens in a rollout. Two rollouts with equal fields have equal traces.
#[derive(Clone, Debug)]
pub struct RolloutFields {
    /// The seed of the study.
    pub study_seed: u64,
    /// The identity of the scenario.
    pub scenario: Text,
    /// What the scenario says.
    pub scenario_hash: Hash,
    /// The policy.
    pub policy: Text,
    /// Its version and parameters.
    pub policy_hash: Hash,
    /// The model backend.
    pub model: Text,
    /// Its version, parameters and configuration.
    pub profile_hash: Hash,
    /// What recorded labels are.
    pub instrumentation: Instrumentation,
    /// Who answers confirmations.
    pub user: User,
    /// The seed of the rollout.
    pub seed: u64,
    /// Its place in its group as `GROUP:PLACE/PLACES:SLICE/SLICES`, if the study stratifies latent
    /// variables.
    pub stratum: Option<Text>,
}

/// Somewhat more than most fields take as bytes.
const USUAL_BYTES: usize = 512;

impl RolloutFields {
    /// The id.
    #[must_use]
    pub fn id(&self) -> Hash {
        let mut bytes = Vec::with_capacity(USUAL_BYTES);
        bytes.extend(b"rollout");
        bytes.extend(ROLLOUT_ID_VERSION.to_le_bytes());
        bytes.extend(self.study_seed.to_le_bytes());
        append(&mut bytes, &self.scenario);
        bytes.extend(self.scenario_hash.0.to_le_bytes());
        append(&mut bytes, &self.policy);
        bytes.extend(self.policy_hash.0.to_le_bytes());
        append(&mut bytes, &self.model);
        bytes.extend(self.profile_hash.0.to_le_bytes());
        append(&mut bytes, &self.instrumentation.name());
        append(&mut bytes, self.user.name());
        bytes.extend(self.seed.to_le_bytes());
        if let Some(stratum) = &self.stratum {
            append(&mut bytes, stratum);
        }
        Hash(xxh3_128(&bytes))
    }
}

/// Adds a text so that no two lists of texts run into each other.
fn append(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn fields() -> RolloutFields {
        RolloutFields {
            study_seed: 1,
            scenario: "demo".into(),
            scenario_hash: Hash(2),
            policy: "none".into(),
            policy_hash: Hash(3),
            model: "scripted".into(),
            profile_hash: Hash(4),
            instrumentation: Instrumentation::PAPER,
            user: User::Absent,
            seed: 5,
            stratum: None,
        }
    }

    #[test]
    fn every_field_enters_the_id() {
        let ids: BTreeSet<Hash> = [
            fields(),
            RolloutFields {
                study_seed: 9,
                ..fields()
            },
            RolloutFields {
                scenario: "other".into(),
                ..fields()
            },
            RolloutFields {
                scenario_hash: Hash(9),
                ..fields()
            },
            RolloutFields {
                policy: "other".into(),
                ..fields()
            },
            RolloutFields {
                policy_hash: Hash(9),
                ..fields()
            },
            RolloutFields {
                model: "other".into(),
                ..fields()
            },
            RolloutFields {
                profile_hash: Hash(9),
                ..fields()
            },
            RolloutFields {
                instrumentation: Instrumentation::FULL,
                ..fields()
            },
            RolloutFields {
                user: User::Oracle,
                ..fields()
            },
            RolloutFields {
                seed: 9,
                ..fields()
            },
            RolloutFields {
                stratum: Some("all:1/2:0/3".into()),
                ..fields()
            },
        ]
        .iter()
        .map(RolloutFields::id)
        .collect();
        assert_eq!(ids.len(), 12);
    }

    /// A stored result is found again by its ids: this value may change only with the version.
    #[test]
    fn the_id_of_version_3_is_fixed() {
        assert_eq!(ROLLOUT_ID_VERSION, 3);
        assert_eq!(
            fields().id().to_string(),
            "7f0cf43dc2836f15b409844e3f149241"
        );
    }
}
