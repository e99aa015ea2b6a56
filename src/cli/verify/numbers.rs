//! What holds within every row, so that a number changed by hand is noticed although every digest was
//! made anew.

use study::folder::ROWS;
use study::laws;

use super::check::{Check, RESTORE, Trouble};
use super::found::Found;

/// The laws of `study::laws`, row by row.
pub(super) fn check(found: &Found) -> Check {
    const NAME: &str = "laws of rows";
    let Some(rows) = &found.rows else {
        return Check::skipped(NAME, "there are no rows that can be read");
    };
    let errored = rows.iter().filter(|row| row.identity.has_errored()).count();
    let looked_at = format!(
        "{} rows, {errored} of them errored: sums, ratios, what is part of what, what is null",
        rows.len()
    );
    let mut check = Check::new(NAME).looked_at(looked_at);
    for (number, row) in (1..).zip(rows) {
        for broken in laws::broken(row) {
            let message = format!("the law does not hold: {}", broken.law);
            let trouble = Trouble::of(ROWS, message, RESTORE).row(number);
            check.add(trouble.field(broken.columns));
        }
    }
    check
}
