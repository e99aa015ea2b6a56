//! The shards of a study as the one result that it has when it is run in one place.
//!
//! A shard holds every N-th group, so the groups are taken from the shards in turn. That they are the
//! groups of the study is not taken on trust: the ids of all rows in their order must have the hash
//! that every manifest states.

use std::collections::BTreeMap;

use crate::columns::Hash;
use crate::manifest::{Circumstances, Manifest};
use crate::results::Results;
use crate::rollout_id::hash_of_ids;
use crate::row::{Row, csv_header, write_csv_records};
use crate::shard::Shard;

/// Missing shards that are named one by one.
const MOST_NAMED: usize = 8;

/// Shards that are being put together. Each is checked as it comes, and only its rows are kept.
#[derive(Clone, Debug, Default)]
pub struct Merger {
    first: Option<First>,
    shards: BTreeMap<Shard, Kept>,
}

/// The first shard by number among those that came, which speaks for all.
#[derive(Clone, Debug)]
struct First {
    name: String,
    shard: Shard,
    manifest: Manifest,
}

/// What is kept of a shard.
#[derive(Clone, Debug)]
struct Kept {
    name: String,
    workers: Option<u64>,
    rows: Vec<Row>,
}

/// A whole result, to be written as any other.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The manifest. Its paths are those of the first shard; the number of workers is told if it was
    /// the same everywhere.
    pub manifest: Manifest,
    /// The rows in plan order.
    pub rows: Vec<Row>,
    /// The same as the text of `rows.csv`.
    pub csv: Vec<u8>,
}

/// Results that are not the shards of one study. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is none.
    #[error("no shard is named")]
    Nothing,
    /// A whole result.
    #[error("`{0}` is no shard: it holds a whole result")]
    NoShard(String),
    /// Two studies.
    #[error("`{}` is of the study `{}`, but `{}` of `{}`", names[0], studies[0], names[1], studies[1])]
    OtherStudy {
        /// The shards.
        names: [String; 2],
        /// Their studies.
        studies: [String; 2],
    },
    /// One study, run by two versions of the program.
    #[error("`{}` and `{}` were written by different versions: {} and {}", names[0], names[1], versions[0], versions[1])]
    OtherVersion {
        /// The shards.
        names: [String; 2],
        /// Program and formats of each.
        versions: [String; 2],
    },
    /// One study, which was changed between the shards.
    #[error("`{}` has manifest {}, but `{}` has {}: they are of different forms of the study", names[0], manifests[0], names[1], manifests[1])]
    Changed {
        /// The shards.
        names: [String; 2],
        /// Their manifests.
        manifests: [Hash; 2],
    },
    /// The study was divided in two ways.
    #[error("`{}` is shard {}, but `{}` is shard {}: the study was divided in two ways", names[0], shards[0], names[1], shards[1])]
    OtherCount {
        /// The shards.
        names: [String; 2],
        /// Which they are.
        shards: [Shard; 2],
    },
    /// A shard is there twice.
    #[error("`{}` and `{}` are both shard {shard}", names[0], names[1])]
    Twice {
        /// Where.
        names: [String; 2],
        /// Which.
        shard: Shard,
    },
    /// Shards are not there.
    #[error("{}", missing(shards))]
    Missing {
        /// Which.
        shards: Vec<Shard>,
    },
    /// A shard has more or fewer rows than its share.
    #[error("`{name}` has {found} rows, but shard {shard} has {expected}")]
    RowCount {
        /// Where.
        name: String,
        /// Which.
        shard: Shard,
        /// How many rows it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// The shards name different scenarios.
    #[error("`{}` and `{}` describe the scenarios of the study differently", .0[0], .0[1])]
    OtherScenarios([String; 2]),
    /// The rows are those of other rollouts.
    #[error(
        "the rows together are not those of the study: their ids have hash {found}, the manifest says {stated}"
    )]
    OtherRows {
        /// In the manifests.
        stated: Hash,
        /// Of the rows.
        found: Hash,
    },
}

impl Merger {
    /// Takes a shard that was read back; the shards come in any order. `name` is what messages call
    /// it.
    ///
    /// # Errors
    /// When it is no shard of the study of those before it, is one of them, or is damaged.
    pub fn add(&mut self, name: String, results: Results) -> Result<(), MergeError> {
        let Results { manifest, rows } = results;
        let shard = manifest.circumstances.shard;
        let shard = shard.ok_or_else(|| MergeError::NoShard(name.clone()))?;
        let new = First {
            name,
            shard,
            manifest,
        };
        if let Some(first) = &self.first {
            require_same_study(first, &new)?;
        }
        if let Some(there) = self.shards.get(&shard) {
            return Err(MergeError::Twice {
                names: [there.name.clone(), new.name],
                shard,
            });
        }
        require_share(&new, rows.len())?;
        let kept = Kept {
            name: new.name.clone(),
            workers: new.manifest.circumstances.workers,
            rows,
        };
        self.shards.insert(shard, kept);
        if self.first.as_ref().is_none_or(|first| shard < first.shard) {
            self.first = Some(new);
        }
        Ok(())
    }

    /// The whole result.
    ///
    /// # Errors
    /// When a shard is missing, or the rows are not those of the study.
    pub fn finish(self) -> Result<Merged, MergeError> {
        let First {
            shard, manifest, ..
        } = self.first.ok_or(MergeError::Nothing)?;
        let all = (1..=shard.of()).filter_map(|index| Shard::new(index, shard.of()).ok());
        let missing: Vec<Shard> = all
            .filter(|shard| !self.shards.contains_key(shard))
            .collect();
        if !missing.is_empty() {
            return Err(MergeError::Missing { shards: missing });
        }
        let told = manifest.circumstances;
        let is_same = |kept: &Kept| kept.workers == told.workers;
        let workers = told.workers.filter(|_| self.shards.values().all(is_same));
        let manifest = Manifest {
            circumstances: Circumstances {
                workers,
                rows_digest: None,
                shard: None,
                ..told
            },
            ..manifest
        };
        let shards = self.shards.into_values().map(|kept| kept.rows);
        let rows = in_turn(shards.collect(), manifest.frozen.policies.len());
        let ids = rows.iter().map(|row| row.identity.rollout_id);
        let (stated, found) = (manifest.frozen.rollout_ids, hash_of_ids(ids));
        if stated != found {
            return Err(MergeError::OtherRows { stated, found });
        }
        let mut csv = csv_header().to_vec();
        csv.extend(write_csv_records(&rows));
        Ok(Merged {
            manifest,
            rows,
            csv,
        })
    }
}

/// Fails if the two are of different studies, of one that was changed in between, or of one that was
/// divided in two ways.
fn require_same_study(first: &First, other: &First) -> Result<(), MergeError> {
    let names = [first.name.clone(), other.name.clone()];
    let [one, another] = [&first.manifest, &other.manifest];
    let (old, new) = (&one.frozen, &another.frozen);
    if old.name != new.name {
        let studies = [old.name.clone(), new.name.clone()];
        return Err(MergeError::OtherStudy { names, studies });
    }
    if old.versions != new.versions {
        let versions = [old.versions.to_string(), new.versions.to_string()];
        return Err(MergeError::OtherVersion { names, versions });
    }
    if one.digest != another.digest {
        let manifests = [one.digest, another.digest];
        return Err(MergeError::Changed { names, manifests });
    }
    if first.shard.of() != other.shard.of() {
        let shards = [first.shard, other.shard];
        return Err(MergeError::OtherCount { names, shards });
    }
    let described = [one, another].map(|manifest| manifest.circumstances.scenarios_digest);
    if described[0] != described[1] {
        return Err(MergeError::OtherScenarios(names));
    }
    Ok(())
}

/// Fails if a shard does not have as many rows as fall to it.
fn require_share(new: &First, found: usize) -> Result<(), MergeError> {
    let frozen = &new.manifest.frozen;
    let policies = frozen.policies.len();
    let rollouts = usize::try_from(frozen.rollouts).unwrap_or(usize::MAX);
    let groups = rollouts.checked_div(policies).unwrap_or_default();
    let (of, index) = (new.shard.of() as usize, new.shard.index() as usize);
    // The groups index - 1, index - 1 + of, ... of all; a manifest may say any number.
    let share = groups.saturating_add(of - index) / of;
    let expected = policies.saturating_mul(share);
    if found == expected {
        return Ok(());
    }
    Err(MergeError::RowCount {
        name: new.name.clone(),
        shard: new.shard,
        found,
        expected,
    })
}

/// The rows of all shards in plan order: a group of each in turn.
fn in_turn(shards: Vec<Vec<Row>>, policies: usize) -> Vec<Row> {
    let total = shards.iter().map(Vec::len).sum();
    let mut shards: Vec<_> = shards.into_iter().map(Vec::into_iter).collect();
    let mut rows = Vec::with_capacity(total);
    while rows.len() < total {
        for shard in &mut shards {
            rows.extend(shard.take(policies));
        }
    }
    rows
}

fn missing(shards: &[Shard]) -> String {
    let named: Vec<String> = shards
        .iter()
        .take(MOST_NAMED)
        .map(Shard::to_string)
        .collect();
    let named = named.join(", ");
    match shards.len() {
        1 => format!("shard {named} is missing"),
        count if count > MOST_NAMED => {
            format!("shards {named} and {} more are missing", count - MOST_NAMED)
        }
        _ => format!("shards {named} are missing"),
    }
}

#[cfg(test)]
mod tests;
