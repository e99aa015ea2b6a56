//! Rollouts, run again: the trace digest and every cell are those of the row. If the study itself is
//! still to be found, inside the program or where its file was, all of it is run again at once, which is
//! fast; otherwise a sample is, each rollout from its row alone.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use study::columns::Hash;
use study::folder::ROWS;
use study::journal::Segment;
use study::manifest::{Circumstances, Manifest};
use study::plan::Plan;
use study::row::Row;
use study::runner;

use super::check::{Check, RESTORE, Trouble};
use super::found::Found;
use super::scenes::Worlds;
use crate::cli::differences;
use crate::cli::library::case_of_row;
use crate::cli::policies;
use crate::cli::replay::run_again;
use crate::cli::study::plans::Changes;
use crate::cli::study::{plans, processors};

/// The name of the check.
const NAME: &str = "replay";

/// How many rollouts are run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of them if the study is to be found, else so many.
    AllOr(usize),
    /// So many, spread evenly over the rows.
    Some(usize),
}

/// Events of all rows together, more of which are not run again unasked: several minutes of work. Rows
/// can state less than is true, but then they differ from what is run, and that soon ends it.
const MOST_EVENTS: u64 = 100_000_000;

/// Rows that differ, after which no more are looked for.
const ENOUGH: usize = 20;

/// Runs rollouts again.
pub(super) fn check(found: &Found, worlds: &mut Worlds, wanted: Wanted) -> Check {
    let Some(rows) = found.rows.as_ref().filter(|rows| !rows.is_empty()) else {
        return Check::skipped(NAME, "there are no rows that can be read");
    };
    let circumstances = found
        .manifest
        .as_ref()
        .map(|manifest| &manifest.circumstances);
    if let Some(circumstances) = circumstances.filter(|it| !it.not_replayable.is_empty()) {
        return replayable(rows, circumstances, worlds, wanted);
    }
    match wanted {
        Wanted::Some(0) => Check::skipped(NAME, "no rollout was to be run again"),
        Wanted::Some(count) => some(&positioned(rows, |_| true), worlds, count),
        Wanted::AllOr(count) => {
            let events = rows.iter().map(|row| row.identity.events);
            let is_little = events.fold(0, u64::saturating_add) <= MOST_EVENTS;
            // A plan loads every policy of the study, and a process is run by being loaded.
            let may_load = |manifest: &&Manifest| {
                let mut written = manifest.circumstances.policy_files.iter();
                worlds.library.runs_processes() || !written.any(|it| policies::is_process(it))
            };
            let plan = found.manifest.as_ref().filter(|_| is_little);
            let plan = plan.filter(may_load);
            let all = plan.and_then(|manifest| {
                let as_written = Changes::of_seed(manifest.frozen.study_seed);
                plan_of(manifest, &found.folder, &as_written).or_else(|| {
                    let changed = changed(manifest, worlds)?;
                    plan_of(manifest, &found.folder, &changed)
                })
            });
            let all = all.and_then(|plan| all_of(rows, &plan));
            all.unwrap_or_else(|| some(&positioned(rows, |_| true), worlds, count))
        }
    }
}

/// The rows that count, each with its position.
fn positioned(rows: &[Row], counts: impl Fn(&Row) -> bool) -> Vec<(usize, &Row)> {
    let rows = rows.iter().enumerate();
    rows.filter(|(_, row)| counts(row)).collect()
}

/// Runs a sample of those rows again that can be expected to come out the same.
fn replayable(
    rows: &[Row],
    circumstances: &Circumstances,
    worlds: &mut Worlds,
    wanted: Wanted,
) -> Check {
    let names = circumstances.not_replayable.join(", ");
    let rows = positioned(rows, |row| circumstances.is_replayable(row));
    let (Wanted::AllOr(count) | Wanted::Some(count)) = wanted;
    if rows.is_empty() || count == 0 {
        let why = format!("{names} answered one question in two ways");
        return Check::skipped(NAME, why);
    }
    let check = some(&rows, worlds, count);
    let more = format!("; none of those under {names}, which answered one question in two ways");
    check.looked_at_also(&more)
}

/// The policies and the shadow of a manifest, for a study that was run under others than its file names.
fn changed(manifest: &Manifest, worlds: &Worlds) -> Option<Changes> {
    let frozen = &manifest.frozen;
    let policies: Vec<&str> = frozen.policies.iter().map(|it| &*it.name).collect();
    let shadow: Vec<&str> = frozen.shadow.iter().map(|it| &*it.name).collect();
    Some(Changes {
        policies: Some(worlds.library.written(&policies)?),
        shadow: worlds.library.written(&shadow)?.pop(),
        ..Changes::of_seed(frozen.study_seed)
    })
}

/// The plan of a result, if there is one that freezes everything as the manifest does.
fn plan_of(manifest: &Manifest, folder: &Path, changes: &Changes) -> Option<Plan> {
    let frozen = &manifest.frozen;
    let is_it = |plan: &Plan| Manifest::freeze(plan).frozen == *frozen;
    let Some(file) = &manifest.circumstances.study_file else {
        let shipped = plans::load_shipped(&frozen.name, changes).ok()?;
        return Some(shipped.plan).filter(is_it);
    };
    // It was named relative to the folder where the study ran: this one, or one around the result.
    let absolute = folder.canonicalize().unwrap_or_default();
    let around = absolute.ancestors().map(|around| around.join(file));
    let places = std::iter::once(PathBuf::from(file)).chain(around);
    let loaded = places
        .filter(|place| place.is_file())
        .filter_map(|place| plans::load(Some(&place), changes).ok());
    loaded.map(|loaded| loaded.plan).find(is_it)
}

/// Runs a whole study again, until enough rows differ; nothing if no thread can be started.
fn all_of(rows: &[Row], plan: &Plan) -> Option<Check> {
    let places = (0..).zip(rows);
    let places: BTreeMap<Hash, usize> = places
        .map(|(at, row)| (row.identity.rollout_id, at))
        .collect();
    let mut check = Check::new(NAME);
    let (mut same, mut differing) = (0, 0);
    let compare = |_, segment: &Segment| {
        for again in &segment.rows {
            let Some(&at) = places.get(&again.identity.rollout_id) else {
                continue;
            };
            let is_same = compare(&mut check, at, &rows[at], again);
            same += usize::from(is_same);
            differing += usize::from(!is_same);
        }
        if differing < ENOUGH {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let groups = vec![None; plan.groups().len()];
    runner::run(plan, processors(), groups, &AtomicBool::new(false), compare).ok()?;
    let total = rows.len();
    Some(check.looked_at(if same == total {
        format!("all {total} rows the same")
    } else if differing < ENOUGH {
        format!("{same} of {total} rows the same, all run again")
    } else {
        format!("{differing} of {total} rows differ, and no more were run again")
    }))
}

/// Whether a row is that of the rollout run again; each cell that is another is told.
fn compare(check: &mut Check, at: usize, row: &Row, again: &Row) -> bool {
    let cells = differences::cells(row, again);
    let is_same = cells.is_empty();
    for cell in cells {
        let [recorded, now] = cell.values;
        let message = format!("the row says `{recorded}`, the rollout run again has `{now}`");
        let trouble = Trouble::of(ROWS, message, RESTORE).row(at + 1);
        check.add(trouble.field(cell.column));
    }
    is_same
}

/// Runs `wanted` rollouts again.
fn some(rows: &[(usize, &Row)], worlds: &mut Worlds, wanted: usize) -> Check {
    let mut check = Check::new(NAME);
    let (mut same, mut missing, mut why) = (0, 0, None);
    let sample = sample(rows.len(), wanted);
    for &chosen in &sample {
        let (index, row) = rows[chosen];
        let again = case_of_row(row, &mut worlds.library)
            .and_then(|(case, policy)| run_again(&case, &policy));
        let again = again.map_err(|failure| failure.message());
        let again = match again.and_then(|again| require_same_plugins(row, again)) {
            Ok(again) => again,
            Err(message) => {
                missing += 1;
                why.get_or_insert(format!("row {}: {message}", index + 1));
                continue;
            }
        };
        same += usize::from(compare(&mut check, index, row, &again));
    }
    let total = rows.len();
    let mut looked_at = format!("{same} of {} rows the same, of {total}", sample.len());
    if let Some(why) = why {
        looked_at += &format!("; {missing} cannot be run again: {why}");
        if missing == sample.len() {
            return Check::skipped(NAME, looked_at);
        }
    }
    check.looked_at(looked_at)
}

/// The row run again, if it was run with the script, profile and policy of then. Whether a row says of
/// itself what the manifest says is another check.
fn require_same_plugins(row: &Row, again: Row) -> Result<Row, String> {
    let (then, now) = (&row.identity, &again.identity);
    if then.profile_hash != now.profile_hash {
        return Err("the script or the profile is another than it was".to_owned());
    }
    if then.policy_hash != now.policy_hash {
        return Err("the policy is another than it was".to_owned());
    }
    Ok(again)
}

/// `wanted` different positions out of `count`, spread evenly. The step has no divisor in common with
/// the count: so no two positions are the same, and one after the other they take turns in policies
/// and seeds, which a step of `count / wanted` would hit always at the same place.
pub(super) fn sample(count: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(count);
    if wanted == 0 {
        return Vec::new();
    }
    let mut step = (count / wanted).max(1);
    while greatest_common_divisor(step, count) != 1 {
        step += 1;
    }
    let mut sample: Vec<usize> = (0..wanted).map(|index| index * step % count).collect();
    sample.sort_unstable();
    sample
}

const fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_sample_is_of_different_rows_and_spread() {
        for (count, wanted) in [
            (1, 1),
            (1, 9),
            (8, 8),
            (200, 8),
            (17_640, 8),
            (17_640, 17_640),
        ] {
            let sample = sample(count, wanted);
            let different: BTreeSet<_> = sample.iter().collect();
            assert_eq!(different.len(), wanted.min(count), "{count} {wanted}");
            assert!(sample.iter().all(|&index| index < count));
        }
        assert!(sample(0, 8).is_empty() && sample(8, 0).is_empty());
        let main = sample(17_640, 7);
        for (number, every) in [("policies", 7), ("seeds", 5)] {
            let hit: BTreeSet<_> = main.iter().map(|index| index % every).collect();
            assert!(hit.len() >= 5, "{number}: {main:?}");
        }
    }
}
