//! The chain of hashes: from the manifest to the files, to the scenarios and to every rollout.

use std::collections::BTreeMap;

use study::columns::Hash;
use study::expected::Expected;
use study::folder::{MANIFEST, ROWS, SCENARIOS};
use study::manifest::FrozenPolicy;
use study::manifest::{Frozen, ScenarioLine};
use study::rollout_id::{RolloutFields, hash_of_ids};
use study::row::{Identity, Row};

use super::check::{Check, RESTORE, Trouble};
use super::found::Found;

/// The digests of the manifest: of what it freezes, of the two other files, of all rollout ids.
pub(super) fn files(found: &Found) -> Check {
    const NAME: &str = "hash chain";
    let Some(manifest) = &found.manifest else {
        return Check::skipped(NAME, "there is no manifest that can be read");
    };
    let mut check = Check::new(NAME);
    let frozen = &manifest.frozen;
    let circumstances = &manifest.circumstances;
    let mut looked_at = vec![format!("manifest {}", manifest.digest)];
    same(&mut check, "digest", Some(manifest.digest), frozen.digest());
    for (field, stated, digest) in [
        (
            "rows_digest",
            circumstances.rows_digest,
            found.rows_digest.map(|digest| (ROWS, digest)),
        ),
        (
            "scenarios_digest",
            circumstances.scenarios_digest,
            found.scenarios_digest.map(|digest| (SCENARIOS, digest)),
        ),
    ] {
        let Some((file, digest)) = digest else {
            continue;
        };
        looked_at.push(file.to_owned());
        check.require(stated == Some(digest), || {
            let stated = stated.map_or_else(|| "none".to_owned(), |stated| stated.to_string());
            let message = format!("the manifest says digest {stated}, the file has {digest}");
            Trouble::of(file, message, RESTORE).field(field)
        });
    }
    if let Some(rows) = &found.rows {
        looked_at.push(format!("{} rollout ids", rows.len()));
        let ids = hash_of_ids(rows.iter().map(|row| row.identity.rollout_id));
        same(&mut check, "rollout_ids", Some(frozen.rollout_ids), ids);
    }
    if let Some(lines) = &found.scenarios {
        looked_at.push(format!("{} scenarios", lines.len()));
        scenarios(&mut check, frozen, lines);
    }
    check.looked_at(looked_at.join(", "))
}

/// A digest of the manifest is that of what it is about.
fn same(check: &mut Check, field: &str, stated: Option<Hash>, found: Hash) {
    check.require(stated == Some(found), || {
        let stated = stated.map_or_else(|| "none".to_owned(), |stated| stated.to_string());
        let message = format!("it says {stated}, but what it is about has {found}");
        Trouble::of(MANIFEST, message, RESTORE).field(field)
    });
}

/// The lines of `scenarios.jsonl` are the scenarios of the manifest, in order.
fn scenarios(check: &mut Check, frozen: &Frozen, lines: &[ScenarioLine]) {
    let (listed, found) = (frozen.scenarios.len(), lines.len());
    check.require(listed == found, || {
        let message = format!("it has {found} scenarios, the manifest {listed}");
        Trouble::of(SCENARIOS, message, RESTORE)
    });
    for (index, (line, scenario)) in lines.iter().zip(&frozen.scenarios).enumerate() {
        for (field, stated, found) in [
            ("scenario_id", scenario.id.clone(), line.scenario_id.clone()),
            (
                "scenario_hash",
                scenario.hash.to_string(),
                line.scenario_hash.to_string(),
            ),
        ] {
            check.require(stated == found, || {
                let message = format!("it is `{found}`, in the manifest `{stated}`");
                let trouble = Trouble::of(SCENARIOS, message, RESTORE);
                trouble.line(index + 1).field(field)
            });
        }
    }
}

/// The rollouts that the manifest says, by what tells them apart.
pub(super) struct Positions<'m> {
    /// What the manifest says.
    pub(super) expected: Expected<'m>,
    by_name: BTreeMap<(String, String, String, u64), usize>,
}

impl<'m> Positions<'m> {
    /// Those of a manifest; none if it lists more than a study may have.
    pub(super) fn of(frozen: &'m Frozen) -> Option<Self> {
        let expected = Expected::of(frozen).ok()?;
        let named = |position: usize| {
            let fields = expected.fields(position);
            let names = [fields.scenario, fields.policy, fields.model];
            let [scenario, policy, model] = names.map(|name| name.to_string());
            ((scenario, policy, model, fields.seed), position)
        };
        Some(Self {
            by_name: (0..expected.rollouts()).map(named).collect(),
            expected,
        })
    }

    /// Where the rollout of a row stands in plan order.
    pub(super) fn position(&self, identity: &Identity) -> Option<usize> {
        let names = [&identity.scenario_id, &identity.policy, &identity.model];
        let [scenario, policy, model] = names.map(|name| name.to_string());
        let key = (scenario, policy, model, identity.seed);
        self.by_name.get(&key).copied()
    }

    /// How many rollouts can be told apart.
    pub(super) fn different(&self) -> usize {
        self.by_name.len()
    }
}

/// Every row says of itself what the manifest says of its rollout, and its id is that of all of it.
pub(super) fn identities(found: &Found) -> Check {
    const NAME: &str = "row identities";
    let (Some(manifest), Some(rows)) = (&found.manifest, &found.rows) else {
        return Check::skipped(NAME, "it needs a manifest and rows that can be read");
    };
    let Some(positions) = Positions::of(&manifest.frozen) else {
        let message = "its lists are for more rollouts than a study may have";
        let mut check = Check::new(NAME);
        check.add(Trouble::of(MANIFEST, message, RESTORE));
        return check;
    };
    let looked_at = format!(
        "{} rows: ids again from scenario, policy, model, seeds and setting of the manifest",
        rows.len()
    );
    let mut check = Check::new(NAME).looked_at(looked_at);
    for (row, whole) in (1..).zip(rows) {
        let identity = &whole.identity;
        let Some(position) = positions.position(identity) else {
            let Identity {
                scenario_id,
                policy,
                model,
                seed,
                ..
            } = identity;
            let message = format!(
                "the manifest has no rollout of `{scenario_id}` under `{policy}` with `{model}` and \
                 seed {seed}"
            );
            check.add(Trouble::of(ROWS, message, RESTORE).row(row));
            continue;
        };
        let fields = positions.expected.fields(position);
        let policy = positions.expected.policy(position);
        let of_policy = of_policy(policy, positions.expected.shadow(), whole);
        for (column, stated, found) in compared(&fields, identity).into_iter().chain(of_policy) {
            check.require(stated == found, || {
                let message = format!("it is `{found}`, by the manifest `{stated}`");
                Trouble::of(ROWS, message, RESTORE).row(row).field(column)
            });
        }
    }
    check
}

/// The columns that say where a policy comes from and which stood in its shadow: what the manifest says,
/// and what the row says. A row without numbers names no shadow.
fn of_policy(
    policy: &FrozenPolicy,
    shadow: Option<&FrozenPolicy>,
    row: &Row,
) -> [(&'static str, String, String); 5] {
    let hash = |hash: Option<Hash>| hash.map_or_else(|| "null".to_owned(), |it| it.to_string());
    let text = |text: Option<&str>| text.unwrap_or("null").to_owned();
    let (identity, seen) = (&row.identity, &row.shadow);
    let shadow = shadow.filter(|_| !identity.has_errored());
    [
        (
            "policy_kind",
            policy.kind.clone(),
            identity.policy_kind.to_string(),
        ),
        (
            "policy_version",
            policy.version.to_string(),
            identity.policy_version.to_string(),
        ),
        (
            "policy_content",
            hash(policy.content_hash),
            hash(identity.policy_content),
        ),
        (
            "shadow",
            text(shadow.map(|shadow| &*shadow.name)),
            text(seen.shadow.as_deref()),
        ),
        (
            "shadow_hash",
            hash(shadow.map(|shadow| shadow.hash)),
            hash(seen.shadow_hash),
        ),
    ]
}

/// The columns that the manifest decides: what it says, and what the row says.
fn compared(fields: &RolloutFields, identity: &Identity) -> [(&'static str, String, String); 8] {
    let text = |text: &Option<plugins::value::Text>| text.as_deref().unwrap_or("null").to_owned();
    [
        (
            "scenario_hash",
            fields.scenario_hash.to_string(),
            identity.scenario_hash.to_string(),
        ),
        (
            "policy_hash",
            fields.policy_hash.to_string(),
            identity.policy_hash.to_string(),
        ),
        (
            "profile_hash",
            fields.profile_hash.to_string(),
            identity.profile_hash.to_string(),
        ),
        (
            "instrumentation",
            fields.instrumentation.name().into_owned(),
            identity.instrumentation.to_string(),
        ),
        (
            "user",
            fields.user.name().to_owned(),
            identity.user.to_string(),
        ),
        (
            "study_seed",
            fields.study_seed.to_string(),
            identity.study_seed.to_string(),
        ),
        ("stratum", text(&fields.stratum), text(&identity.stratum)),
        (
            "rollout_id",
            fields.id().to_string(),
            identity.rollout_id.to_string(),
        ),
    ]
}
