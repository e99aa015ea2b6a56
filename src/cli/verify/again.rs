//! A sample of rollouts, run again: the trace digest and every cell are those of the row.

use study::folder::ROWS;
use study::row::Row;

use super::check::{Check, RESTORE, Trouble};
use super::found::Found;
use super::scenes::Worlds;
use crate::cli::differences;
use crate::cli::library::case_of_row;
use crate::cli::replay::run_again;

/// Runs `wanted` rollouts again.
pub(super) fn check(found: &Found, worlds: &mut Worlds, wanted: usize) -> Check {
    const NAME: &str = "replay";
    let Some(rows) = found.rows.as_ref().filter(|rows| !rows.is_empty()) else {
        return Check::skipped(NAME, "there are no rows that can be read");
    };
    if wanted == 0 {
        return Check::skipped(NAME, "no rollout was to be run again");
    }
    let mut check = Check::new(NAME);
    let (mut same, mut missing, mut why) = (0, 0, None);
    let sample = sample(rows.len(), wanted);
    for &index in &sample {
        let row = &rows[index];
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
        let cells = differences::cells(row, &again);
        same += usize::from(cells.is_empty());
        for cell in cells {
            let [recorded, now] = cell.values;
            let message = format!("the row says `{recorded}`, the rollout run again has `{now}`");
            let trouble = Trouble::of(ROWS, message, RESTORE).row(index + 1);
            check.add(trouble.field(cell.column));
        }
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
