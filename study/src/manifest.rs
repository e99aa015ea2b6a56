//! The manifest of a study: what was frozen before it ran, and its hash.

use std::fmt;

use plugins::registry::Origin;
use plugins::setting::{Instrumentation, User};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::columns::Hash;
use crate::plan::Plan;
use crate::plan::cast::{CastPolicy, PARSER};
use crate::plan::file::{Latents, SCHEMA as STUDY_SCHEMA};
use crate::rollout_id::{ROLLOUT_ID_VERSION, hash_of_ids};
use crate::row::{ROW_SCHEMA, Row};
use crate::shard::Shard;

/// The version of the manifest. A reader refuses any other; a study is run again rather than
/// migrated.
pub const MANIFEST_SCHEMA: u32 = 4;

/// A manifest: what is frozen, its digest, and what happened to be so when it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the manifest.
    pub schema: u32,
    /// Hash of `frozen`.
    pub digest: Hash,
    /// Everything that decides the rows.
    pub frozen: Frozen,
    /// Paths, the number of workers, the shard. Not part of the digest.
    pub circumstances: Circumstances,
}

/// Everything that decides the rows of a study. Two studies with equal digests have equal rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The name of the study.
    pub name: String,
    /// The seed from which all draws derive.
    pub study_seed: u64,
    /// The seeds of the rollouts.
    pub seeds: Vec<u64>,
    /// What recorded labels are.
    pub instrumentation: Instrumentation,
    /// Who answers confirmations.
    pub user: User,
    /// How latent variables are drawn.
    pub latents: Latents,
    /// The policies over which the common denominator of spread is taken.
    pub denominator_policies: Vec<String>,
    /// The policies, and where each comes from.
    pub policies: Vec<FrozenPolicy>,
    /// The policy that was evaluated beside each of them and never enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<FrozenPolicy>,
    /// The model backends, with the hash of version and parameters.
    pub models: Vec<NamedHash>,
    /// The action parser, with the hash of version and parameters.
    pub parser: NamedHash,
    /// The scenarios.
    pub scenarios: Vec<FrozenScenario>,
    /// How many rollouts there are.
    pub rollouts: u64,
    /// Hash of the rollout ids in plan order.
    pub rollout_ids: Hash,
    /// The versions of program and formats.
    pub versions: Versions,
}

/// A name and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedHash {
    /// The name.
    pub name: String,
    /// The hash.
    pub hash: Hash,
}

/// A policy of the study. A changed file has another content, and so another hash: a study under it
/// is another study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenPolicy {
    /// The name.
    pub name: String,
    /// Hash of version, parameters and content.
    pub hash: Hash,
    /// `built_in`, `composed`, or the host that runs it.
    pub kind: String,
    /// Its version; for a policy from a file, of the protocol or grammar that it speaks.
    pub version: u32,
    /// Hash of what it is made of, unless that is code of this program.
    pub content_hash: Option<Hash>,
}

impl FrozenPolicy {
    fn of(policy: &CastPolicy) -> Self {
        let Origin {
            kind,
            version,
            content,
        } = policy.origin;
        Self {
            name: policy.name.to_string(),
            hash: policy.hash,
            kind: kind.to_owned(),
            version,
            content_hash: content.map(Hash),
        }
    }
}

/// A scenario of the study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenScenario {
    /// Its identity.
    pub id: String,
    /// Hash of what it says.
    pub hash: Hash,
    /// Hash of the configuration of the model in it.
    pub configuration_hash: Hash,
    /// The group over which its latent variables are stratified, if they are. Its places follow the
    /// order of its scenarios, and the slices that of the seeds.
    pub group: Option<String>,
}

/// The versions under which the study was frozen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// The program.
    pub program: String,
    /// The grammar of study files.
    pub study_schema: u32,
    /// The columns of rows.
    pub row_schema: u32,
    /// The fields of rollout ids.
    pub rollout_id: u32,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program,
            study_schema,
            row_schema,
            rollout_id,
        } = self;
        write!(
            f,
            "{program} (study schema {study_schema}, row schema {row_schema}, rollout ids \
             {rollout_id})"
        )
    }
}

/// Where and how a study ran. No time of day: the same study gives the same result whenever it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Circumstances {
    /// The study file.
    pub study_file: Option<String>,
    /// The world files, in the order of the scenarios.
    pub world_files: Vec<String>,
    /// The models that were named by the file of a behaviour profile.
    #[serde(default)]
    pub model_files: Vec<String>,
    /// The policies from files, as references relative to the study file: `rules:my.rules.ron`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_files: Vec<String>,
    /// The policies that answered differently when they were asked twice before the study: its rows
    /// cannot be expected to come out the same again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_replayable: Vec<String>,
    /// How many workers it had.
    pub workers: Option<u64>,
    /// Hash of `rows.csv` as it was written.
    pub rows_digest: Option<Hash>,
    /// Hash of `scenarios.jsonl` as it was written.
    pub scenarios_digest: Option<Hash>,
    /// Which part of the study the rows are; a whole result does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Circumstances {
    /// Whether a row can be expected to come out the same again: none of its policies answered
    /// differently when it was asked twice.
    #[must_use]
    pub fn is_replayable(&self, row: &Row) -> bool {
        let named = [Some(&row.identity.policy), row.shadow.shadow.as_ref()];
        let mut named = named.into_iter().flatten();
        // A composition is called by all that is in it.
        !named.any(|name| self.not_replayable.iter().any(|one| mentions(name, one)))
    }
}

/// Whether the name of a policy is that of `one`, or of a composition with it.
fn mentions(name: &str, one: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-:".contains(letter);
    let mut found = name.match_indices(one);
    found.any(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + one.len()..]);
        !before.ends_with(|letter| is_part(letter) && letter != ':') && !after.starts_with(is_part)
    })
}

impl Manifest {
    /// Freezes a plan.
    #[must_use]
    pub fn freeze(plan: &Plan) -> Self {
        let frozen = frozen(plan);
        Self {
            schema: MANIFEST_SCHEMA,
            digest: frozen.digest(),
            frozen,
            circumstances: Circumstances {
                world_files: plan.study.worlds.clone(),
                shard: plan.shard,
                ..Circumstances::default()
            },
        }
    }

    /// The text of `manifest.json`.
    ///
    /// # Panics
    /// Never: a manifest is plain data with text keys.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data with text keys");
        text.push('\n');
        text
    }

    /// Reads [`Manifest::to_json`] back.
    ///
    /// # Errors
    /// When the text is no manifest of this version, or its digest is not that of its content.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        let damaged = |error: serde_json::Error| ManifestError::Damaged(error.to_string());
        let any: serde_json::Value = serde_json::from_str(text).map_err(damaged)?;
        let schema = any.get("schema").and_then(serde_json::Value::as_u64);
        if schema != Some(u64::from(MANIFEST_SCHEMA)) {
            return Err(ManifestError::Version {
                found: schema.map_or_else(|| "none".to_owned(), |schema| schema.to_string()),
            });
        }
        let manifest: Self = serde_json::from_str(text).map_err(damaged)?;
        let found = manifest.frozen.digest();
        if manifest.digest != found {
            return Err(ManifestError::Digest {
                stated: manifest.digest,
                found,
            });
        }
        Ok(manifest)
    }
}

/// A manifest that cannot be read. Nothing of its study can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The text is no manifest.
    #[error("the manifest cannot be read: {0}")]
    Damaged(String),
    /// Another version.
    #[error("the manifest has schema {found}, this build reads schema {MANIFEST_SCHEMA}")]
    Version {
        /// In the text.
        found: String,
    },
    /// Its content was changed.
    #[error("the manifest says digest {stated}, its content has {found}: it was changed by hand")]
    Digest {
        /// In the text.
        stated: Hash,
        /// Of the content.
        found: Hash,
    },
}

impl Frozen {
    /// The hash: of the compact JSON, fields in the order of their declaration.
    ///
    /// # Panics
    /// Never: it is plain data with text keys.
    #[must_use]
    pub fn digest(&self) -> Hash {
        let text = serde_json::to_vec(self).expect("plain data with text keys");
        Hash(xxh3_128(&text))
    }

    /// A hash of what all scenarios say, in the order of the study.
    #[must_use]
    pub fn scenario_set(&self) -> Hash {
        hash_of_ids(self.scenarios.iter().map(|scenario| scenario.hash))
    }
}

fn frozen(plan: &Plan) -> Frozen {
    let study = &plan.study;
    let named = |name: &str, hash| NamedHash {
        name: name.to_owned(),
        hash,
    };
    let policies = plan.cast.policies.iter();
    let models = plan.cast.models.iter();
    Frozen {
        name: study.name.clone(),
        study_seed: study.study_seed,
        seeds: study.seeds.clone(),
        instrumentation: study.instrumentation,
        user: study.user,
        latents: study.latents,
        denominator_policies: study.denominator_policies.clone(),
        policies: policies.map(FrozenPolicy::of).collect(),
        shadow: plan.cast.shadow.as_ref().map(FrozenPolicy::of),
        models: models.map(|model| named(&model.name, model.hash)).collect(),
        parser: named(PARSER, plan.cast.parser_hash),
        scenarios: plan
            .scenarios
            .iter()
            .map(|planned| FrozenScenario {
                id: planned.scenario.identity.to_string(),
                hash: Hash(planned.scenario.content_hash),
                configuration_hash: Hash(xxh3_128(planned.configuration.as_bytes())),
                group: (study.latents == Latents::Stratified).then(|| planned.group.to_string()),
            })
            .collect(),
        rollouts: plan.ids().len() as u64,
        rollout_ids: hash_of_ids(plan.ids().iter().copied()),
        versions: Versions {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            study_schema: STUDY_SCHEMA,
            row_schema: ROW_SCHEMA,
            rollout_id: ROLLOUT_ID_VERSION,
        },
    }
}

/// The version of a line of `scenarios.jsonl`.
pub const SCENARIO_SCHEMA: u32 = 1;

/// One line of `scenarios.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioLine {
    /// The version of the line.
    pub schema: u32,
    /// The identity.
    pub scenario_id: String,
    /// Hash of what it says.
    pub scenario_hash: Hash,
    /// The family.
    pub family: String,
    /// The stage.
    pub stage: String,
    /// The domain.
    pub domain: String,
    /// The topology.
    pub topology: String,
    /// The memory mode.
    pub memory: String,
    /// The agents by name.
    pub agents: Vec<String>,
    /// How many episodes it has.
    pub episodes: u64,
    /// The untrusted sources by name.
    pub untrusted: Vec<String>,
    /// How many actions are required.
    pub required: u64,
}

/// The lines of `scenarios.jsonl`, in plan order.
#[must_use]
pub fn scenario_lines(plan: &Plan) -> Vec<ScenarioLine> {
    plan.scenarios
        .iter()
        .map(|planned| {
            let scenario = &planned.scenario;
            let briefing = &scenario.briefing;
            let untrusted = briefing.untrusted.iter();
            ScenarioLine {
                schema: SCENARIO_SCHEMA,
                scenario_id: scenario.identity.to_string(),
                scenario_hash: Hash(scenario.content_hash),
                family: scenario.family.to_string(),
                stage: scenario.stage.name().to_owned(),
                domain: scenario.domain.name().to_owned(),
                topology: scenario.topology.to_string(),
                memory: scenario.memory_mode().to_owned(),
                agents: briefing
                    .agents
                    .iter()
                    .map(|agent| agent.name.to_string())
                    .collect(),
                episodes: scenario.episodes.len() as u64,
                untrusted: untrusted
                    .map(|source| briefing.sources[source as usize].name.to_string())
                    .collect(),
                required: scenario.success.required.len() as u64,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
