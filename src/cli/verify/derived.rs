//! The files that other commands made of the rows: they are what those commands make of them now.

use std::path::Path;

use study::results::Results;

use super::check::{Check, Trouble};
use super::found::{Found, Listed};
use super::redrawn::Redrawn;
use crate::cli::failure::Failure;
use crate::cli::files::{self, MAX_RESULT_BYTES};
use crate::cli::terminal::Terminal;
use crate::cli::{scorecard, tables};

/// The name of the check.
const NAME: &str = "derived files";

/// A derived file and what it should say.
type Made = Vec<(&'static str, String)>;

/// What else the check tells: figures and case studies, with what is wrong with them. Tables, claims and
/// scorecard are made again of `results`, those of them that are there; or it is said why not.
pub(super) fn check(
    found: &Found,
    redrawn: Redrawn,
    results: Result<&Results, &str>,
    terminal: &Terminal,
) -> Check {
    let mut check = Check::new(NAME);
    let mut told = redrawn.told;
    for trouble in redrawn.troubles {
        check.add(trouble);
    }
    match results {
        Err(why) if told.is_empty() && !check.has_failed() => return Check::skipped(NAME, why),
        Err(why) => told.push(format!("the other derived files are not looked at: {why}")),
        Ok(results) => {
            let seen = remade(&mut check, found, results, terminal);
            if !seen.is_empty() {
                told.insert(0, format!("{}, made again", seen.join(", ")));
            }
        }
    }
    check.looked_at(if told.is_empty() {
        "there are none".to_owned()
    } else {
        told.join("; ")
    })
}

/// Tables, claims and scorecard; those that are there, by name.
fn remade(check: &mut Check, found: &Found, results: &Results, terminal: &Terminal) -> Vec<String> {
    let mut seen = Vec::new();
    compare(check, &mut seen, found, &tables::FILES, "tables", || {
        tables::files(results)
    });
    compare(
        check,
        &mut seen,
        found,
        &scorecard::FILES,
        "scorecard",
        || scorecard::files(results, &found.folder, terminal),
    );
    seen
}

/// Compares those of `names` that are there with what `make` makes, if any is.
fn compare(
    check: &mut Check,
    seen: &mut Vec<String>,
    found: &Found,
    names: &[&str],
    command: &str,
    make: impl FnOnce() -> Result<Made, Failure>,
) {
    let there = |listed: &&Listed| names.contains(&&*listed.name);
    let there: Vec<&Listed> = found.files.iter().filter(there).collect();
    if there.is_empty() {
        return;
    }
    let folder = files::shown(Path::new(&found.folder));
    let help = format!("write them again with `containment {command} {folder}`");
    let made = match make() {
        Ok(made) => made,
        Err(failure) => {
            let message = format!("it cannot be made of these rows: {}", failure.message());
            check.add(Trouble::of(&there[0].name, message, help));
            return;
        }
    };
    for listed in there {
        let Some((_, expected)) = made.iter().find(|(name, _)| *name == listed.name) else {
            continue;
        };
        let said = files::text(&listed.path, MAX_RESULT_BYTES).unwrap_or_default();
        if let Some(note) = same(&said, expected) {
            seen.push(format!("{}{note}", listed.name));
            continue;
        }
        seen.push(listed.name.clone());
        let line = differing_line(&said, expected);
        let message = "it is not what the program makes of these rows";
        check.add(Trouble::of(&listed.name, message, &*help).line(line));
    }
}

/// Whether a file says what it should, and what of it cannot be told. After a scorecard stands what
/// `--fresh-seeds` found, if it was asked for.
fn same(said: &str, expected: &str) -> Option<&'static str> {
    let rest = said.strip_prefix(expected)?;
    if rest.is_empty() {
        return Some("");
    }
    let is_fresh = rest.trim_start().contains(scorecard::FRESH_HEADING);
    is_fresh.then_some(" (but for its fresh seeds)")
}

/// The first line, from 1, that differs.
pub(super) fn differing_line(said: &str, expected: &str) -> usize {
    let same = said.lines().zip(expected.lines());
    same.take_while(|(said, expected)| said == expected).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(differing_line("a\nb\nc", "a\nx\nc"), 2);
        assert_eq!(differing_line("a", "a\nb"), 2);
        assert_eq!(differing_line("", "a"), 1);
    }

    #[test]
    fn only_fresh_seeds_may_come_after_a_scorecard() {
        assert_eq!(same("a\n", "a\n"), Some(""));
        assert_eq!(same("b\n", "a\n"), None);
        assert_eq!(same("a\nmore\n", "a\n"), None);
        let fresh = format!("a\n\n## {}\n", scorecard::FRESH_HEADING);
        assert!(same(&fresh, "a\n").is_some());
    }
}
