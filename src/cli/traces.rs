//! Traces as JSON Lines, with all in the header that is needed to run the rollout again.

use containment_bench::Choice;
use engine::Rollout;
use engine::export::jsonl::{self, Header, Recipe};

use super::options::{Case, Hashes};
use super::policies;

/// The trace of a rollout, with its recipe in the header.
pub(crate) fn jsonl(
    case: &Case,
    policy: &Choice,
    hashes: Hashes,
    rollout: &Rollout,
    reveal: bool,
) -> String {
    let written: Vec<String> = case.outside.iter().map(policies::written).collect();
    let header = Header {
        scenario: &case.scene.scenario,
        policy: &policy.name,
        model: &case.model.name,
        setting: &case.setting,
        recipe: Some(Recipe {
            policy_parameters: &policy.parameters,
            policy_files: &written,
            policy_hash: hashes.policy,
            profile_hash: hashes.model,
        }),
    };
    jsonl::write(header, rollout.trace(), rollout.labels(), reveal)
}
