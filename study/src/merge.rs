//! The shards of a study as the one result that it has when it is run in one place.
//!
//! A shard holds every N-th group, so the groups are taken from the shards in turn. That they are the
//! groups of the study is not taken on trust: the ids of all rows in their order must have the hash
//! that every manifest states.

use xxhash_rust::xxh3::Xxh3;

use crate::columns::Hash;
use crate::manifest::{Circumstances, Manifest, ScenarioLine};
use crate::results::Results;
use crate::row::{Row, csv_header, write_csv_records};
use crate::shard::Shard;

/// Missing shards that are named one by one.
const MOST_NAMED: usize = 8;

/// A shard that was read back.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What messages call it.
    pub name: String,
    /// Its manifest and rows.
    pub results: Results,
    /// The scenarios of the study, which every shard names all.
    pub scenarios: Vec<ScenarioLine>,
}

/// A whole result, to be written as any other.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The manifest. Its paths are those of the first shard; the number of workers is told if it was
    /// the same everywhere.
    pub manifest: Manifest,
    /// The scenarios.
    pub scenarios: Vec<ScenarioLine>,
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

/// Puts the shards of a study together, in whatever order they come.
///
/// # Errors
/// When they are not all the shards of one study, each once and whole.
pub fn merge(pieces: Vec<Piece>) -> Result<Merged, MergeError> {
    let pieces = in_order(pieces)?;
    for (shard, piece) in &pieces {
        require_share(*shard, piece)?;
    }
    let (_, first) = pieces.first().ok_or(MergeError::Nothing)?;
    for (_, piece) in &pieces {
        if piece.scenarios != first.scenarios {
            return Err(MergeError::OtherScenarios(names(first, piece)));
        }
    }
    let manifest = Manifest {
        circumstances: circumstances(&pieces),
        ..first.results.manifest.clone()
    };
    let scenarios = first.scenarios.clone();
    let rows = in_turn(pieces, manifest.frozen.policies.len());
    let (stated, found) = (manifest.frozen.rollout_ids, hash_of_ids(&rows));
    if stated != found {
        return Err(MergeError::OtherRows { stated, found });
    }
    let mut csv = csv_header();
    csv.extend(write_csv_records(&rows));
    Ok(Merged {
        manifest,
        scenarios,
        rows,
        csv,
    })
}

/// Every shard of one study, each once, by its position.
fn in_order(pieces: Vec<Piece>) -> Result<Vec<(Shard, Piece)>, MergeError> {
    let mut shards = Vec::new();
    for piece in pieces {
        let shard = piece.results.manifest.circumstances.shard;
        let shard = shard.ok_or_else(|| MergeError::NoShard(piece.name.clone()))?;
        shards.push((shard, piece));
    }
    let (expected, first) = shards.first().ok_or(MergeError::Nothing)?;
    for (shard, piece) in &shards {
        require_same_study(first, piece)?;
        if shard.of() != expected.of() {
            return Err(MergeError::OtherCount {
                names: names(first, piece),
                shards: [*expected, *shard],
            });
        }
    }
    let of = expected.of();
    shards.sort_by_key(|(shard, _)| *shard);
    for pair in shards.windows(2) {
        let [(shard, one), (other, another)] = pair else {
            continue;
        };
        if shard == other {
            return Err(MergeError::Twice {
                names: names(one, another),
                shard: *shard,
            });
        }
    }
    let is_missing = |shard: &Shard| {
        let found = shards.binary_search_by_key(shard, |(shard, _)| *shard);
        found.is_err()
    };
    let all = (1..=of).filter_map(|index| Shard::new(index, of).ok());
    let missing: Vec<Shard> = all.filter(is_missing).collect();
    if missing.is_empty() {
        Ok(shards)
    } else {
        Err(MergeError::Missing { shards: missing })
    }
}

/// Fails if the two are of different studies, or of one that was changed in between.
fn require_same_study(first: &Piece, other: &Piece) -> Result<(), MergeError> {
    let [one, another] = [first, other].map(|piece| &piece.results.manifest);
    if one.digest == another.digest {
        return Ok(());
    }
    let names = names(first, other);
    let (old, new) = (&one.frozen, &another.frozen);
    Err(if old.name != new.name {
        MergeError::OtherStudy {
            names,
            studies: [old.name.clone(), new.name.clone()],
        }
    } else if old.versions != new.versions {
        MergeError::OtherVersion {
            names,
            versions: [old.versions.to_string(), new.versions.to_string()],
        }
    } else {
        MergeError::Changed {
            names,
            manifests: [one.digest, another.digest],
        }
    })
}

/// Fails if the shard does not have as many rows as fall to it.
fn require_share(shard: Shard, piece: &Piece) -> Result<(), MergeError> {
    let frozen = &piece.results.manifest.frozen;
    let policies = frozen.policies.len();
    let rollouts = usize::try_from(frozen.rollouts).unwrap_or(usize::MAX);
    let groups = rollouts.checked_div(policies).unwrap_or_default();
    let (of, index) = (shard.of() as usize, shard.index() as usize);
    // The groups index - 1, index - 1 + of, ... of all; a manifest may say any number.
    let share = groups.saturating_add(of - index) / of;
    let expected = policies.saturating_mul(share);
    let found = piece.results.rows.len();
    if found == expected {
        return Ok(());
    }
    Err(MergeError::RowCount {
        name: piece.name.clone(),
        shard,
        found,
        expected,
    })
}

/// The rows of all shards in plan order: a group of each in turn.
fn in_turn(pieces: Vec<(Shard, Piece)>, policies: usize) -> Vec<Row> {
    let rows = pieces.iter().map(|(_, piece)| piece.results.rows.len());
    let total = rows.sum();
    let mut shards: Vec<_> = pieces
        .into_iter()
        .map(|(_, piece)| piece.results.rows.into_iter())
        .collect();
    let mut rows = Vec::with_capacity(total);
    while rows.len() < total {
        for shard in &mut shards {
            rows.extend(shard.take(policies));
        }
    }
    rows
}

fn hash_of_ids(rows: &[Row]) -> Hash {
    let mut ids = Xxh3::new();
    for row in rows {
        ids.update(&row.identity.rollout_id.0.to_le_bytes());
    }
    Hash(ids.digest128())
}

/// What is told of the run: the paths of the first shard, and what is true of all.
fn circumstances(pieces: &[(Shard, Piece)]) -> Circumstances {
    let mut all = pieces
        .iter()
        .map(|(_, piece)| &piece.results.manifest.circumstances);
    let first = all.next().cloned().unwrap_or_default();
    let is_same = all.all(|other| other.workers == first.workers);
    Circumstances {
        workers: first.workers.filter(|_| is_same),
        rows_digest: None,
        scenarios_digest: None,
        shard: None,
        ..first
    }
}

fn names(one: &Piece, another: &Piece) -> [String; 2] {
    [one.name.clone(), another.name.clone()]
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
