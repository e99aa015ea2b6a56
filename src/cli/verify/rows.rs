//! Which rows there are: every rollout of the manifest once, in plan order, and what the rows of a
//! pair have in common.

use std::collections::BTreeMap;

use study::columns::{Hash, STAGES};
use study::folder::{MANIFEST, ROWS};
use study::manifest::{Manifest, ScenarioLine};
use study::row::{Identity, Row};

use super::chain::Positions;
use super::check::{Check, RESTORE, Trouble};
use super::found::Found;

/// The counts, the order and the pairs.
pub(super) fn check(found: &Found) -> Check {
    const NAME: &str = "row accounting";
    let (Some(manifest), Some(rows)) = (&found.manifest, &found.rows) else {
        return Check::skipped(NAME, "it needs a manifest and rows that can be read");
    };
    let mut check = Check::new(NAME);
    let Some(positions) = Positions::of(&manifest.frozen) else {
        return Check::skipped(
            NAME,
            "the manifest lists more rollouts than a study may have",
        );
    };
    count(&mut check, manifest, &positions, rows);
    order(&mut check, &positions, rows);
    pairs(&mut check, rows);
    let by_stage = found.scenarios.as_ref().map(|lines| {
        described(&mut check, lines, rows);
        stages(&mut check, manifest, lines, rows)
    });
    let frozen = &manifest.frozen;
    let looked_at = format!(
        "{} rows: {} scenarios x {} policies x {} models x {} seeds{}",
        rows.len(),
        frozen.scenarios.len(),
        frozen.policies.len(),
        frozen.models.len(),
        frozen.seeds.len(),
        by_stage.unwrap_or_default()
    );
    check.looked_at(looked_at)
}

fn count(check: &mut Check, manifest: &Manifest, positions: &Positions<'_>, rows: &[Row]) {
    let product = positions.expected.rollouts();
    let stated = manifest.frozen.rollouts;
    check.require(stated == product as u64, || {
        let message = format!("it says {stated} rollouts, its lists make {product}");
        Trouble::of(MANIFEST, message, RESTORE).field("rollouts")
    });
    check.require(positions.different() == product, || {
        let message = "it lists a scenario, policy, model or seed twice";
        Trouble::of(MANIFEST, message, RESTORE)
    });
    check.require(rows.len() == product, || {
        let message = format!("it has {} rows, the study {product} rollouts", rows.len());
        Trouble::of(ROWS, message, RESTORE)
    });
}

/// Every rollout once, in plan order.
fn order(check: &mut Check, positions: &Positions<'_>, rows: &[Row]) {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut last = None;
    for (number, row) in (1..).zip(rows) {
        let Some(position) = positions.position(&row.identity) else {
            continue;
        };
        if let Some(first) = seen.insert(position, number) {
            let message = format!("it is about the same rollout as row {first}");
            check.add(Trouble::of(ROWS, message, RESTORE).row(number));
            continue;
        }
        check.require(last.is_none_or(|last| last < position), || {
            let message = "it stands after a row that comes later in plan order";
            Trouble::of(ROWS, message, RESTORE).row(number)
        });
        last = Some(position);
    }
    for position in (0..positions.expected.rollouts()).filter(|at| !seen.contains_key(at)) {
        let fields = positions.expected.fields(position);
        let message = format!(
            "no row is about `{}` under `{}` with `{}` and seed {}",
            fields.scenario, fields.policy, fields.model, fields.seed
        );
        check.add(Trouble::of(ROWS, message, RESTORE));
    }
}

/// What the policies of a pair have in common: the state before any of them, and where two of them
/// fork at the same event, the state there; two that fork at the same state do so at the same event.
fn pairs(check: &mut Check, rows: &[Row]) {
    let mut before: BTreeMap<(&str, &str, u64), (usize, Hash)> = BTreeMap::new();
    let mut forks: BTreeMap<(&str, &str, u64, u64), (usize, Hash)> = BTreeMap::new();
    let mut events: BTreeMap<(&str, &str, u64, Hash), (usize, u64)> = BTreeMap::new();
    for (number, identity) in (1..).zip(rows.iter().map(|row| &row.identity)) {
        let Identity {
            scenario_id,
            model,
            seed,
            prestate_hash,
            ..
        } = identity;
        let group = (&**scenario_id, &**model, *seed);
        let (first, hash) = *before.entry(group).or_insert((number, *prestate_hash));
        differs(
            check,
            number,
            "prestate_hash",
            first,
            hash == *prestate_hash,
        );
        if let (Some(event), Some(fork)) = (identity.fork_event, identity.fork_hash) {
            let place = (group.0, group.1, group.2, event);
            let (first, hash) = *forks.entry(place).or_insert((number, fork));
            differs(check, number, "fork_hash", first, hash == fork);
            let state = (group.0, group.1, group.2, fork);
            let (first, at) = *events.entry(state).or_insert((number, event));
            differs(check, number, "fork_event", first, at == event);
        }
    }
}

fn differs(check: &mut Check, row: usize, column: &str, first: usize, holds: bool) {
    check.require(holds, || {
        let message = format!("it is another than in row {first}, of the same pair");
        Trouble::of(ROWS, message, RESTORE).row(row).field(column)
    });
}

/// Every row describes its scenario as `scenarios.jsonl` does.
fn described(check: &mut Check, lines: &[ScenarioLine], rows: &[Row]) {
    let by_id = lines.iter().map(|line| (line.scenario_id.as_str(), line));
    let by_id: BTreeMap<&str, &ScenarioLine> = by_id.collect();
    for (number, identity) in (1..).zip(rows.iter().map(|row| &row.identity)) {
        let Some(line) = by_id.get(&*identity.scenario_id) else {
            continue;
        };
        for (column, said, known) in [
            ("family", &*identity.family, &line.family),
            ("stage", identity.stage.name(), &line.stage),
            ("domain", identity.domain.name(), &line.domain),
            ("topology", &*identity.topology, &line.topology),
            ("memory", &*identity.memory, &line.memory),
        ] {
            check.require(said == known, || {
                let message = format!("it is `{said}`, in scenarios.jsonl `{known}`");
                Trouble::of(ROWS, message, RESTORE)
                    .row(number)
                    .field(column)
            });
        }
    }
}

/// Each stage has as many rows as its scenarios make.
fn stages(check: &mut Check, manifest: &Manifest, lines: &[ScenarioLine], rows: &[Row]) -> String {
    let frozen = &manifest.frozen;
    // A manifest without scenarios may list any number of the rest.
    let each = [frozen.policies.len(), frozen.models.len()];
    let each = each
        .into_iter()
        .fold(frozen.seeds.len(), usize::saturating_mul);
    let mut told = String::new();
    for stage in STAGES {
        let scenarios = lines.iter().filter(|line| line.stage == stage.name());
        let expected = scenarios.count().saturating_mul(each);
        let found = rows
            .iter()
            .filter(|row| row.identity.stage == stage)
            .count();
        check.require(found == expected, || {
            let name = stage.name();
            let message = format!("it has {found} rows of stage {name}, its scenarios {expected}");
            Trouble::of(ROWS, message, RESTORE).field("stage")
        });
        if found > 0 {
            told += &format!(", {} {found}", stage.name());
        }
    }
    told
}
