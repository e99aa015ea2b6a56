//! Figures and case studies that lie in the folder: made again, and compared byte for byte. A file that
//! is the same is the program's own, so what it says needs no further search; one that differs is
//! somebody else's, and is searched like any other.

use std::collections::BTreeSet;
use std::path::PathBuf;

use study::results::Results;

use super::check::Trouble;
use super::derived::differing_line;
use super::found::{Found, Listed};
use crate::cli::cases;
use crate::cli::failure::Failure;
use crate::cli::figures::{self, Drawn};
use crate::cli::files::{self, MAX_RESULT_BYTES};
use crate::cli::shipped;
use crate::cli::terminal::Terminal;

/// A file by its name, and what it should say.
type Made = Vec<(String, String)>;

/// What became of the figures and case studies of a folder.
#[derive(Debug, Default)]
pub(super) struct Redrawn {
    /// Files that are byte for byte what the program makes.
    pub(super) same: BTreeSet<String>,
    /// What is wrong with the others.
    pub(super) troubles: Vec<Trouble>,
    /// How many of each there are, in words.
    pub(super) told: Vec<String>,
}

impl Redrawn {
    /// Makes what is there of them again: figures of `results` if those are a study's, case studies in
    /// any case, for they are made of worlds inside the program.
    pub(super) fn of(
        found: &Found,
        results: Option<&Results>,
        worlds: &[PathBuf],
        terminal: &Terminal,
    ) -> Self {
        let mut redrawn = Self::default();
        redrawn.cases(found, terminal);
        if let Some(results) = results {
            redrawn.figures(found, results, worlds, terminal);
        }
        redrawn
    }

    fn figures(
        &mut self,
        found: &Found,
        results: &Results,
        worlds: &[PathBuf],
        terminal: &Terminal,
    ) {
        let is_figure = |file: &&Listed| figures::is_called_so(file_name(&file.name));
        let there: Vec<&Listed> = found.files.iter().filter(is_figure).collect();
        if there.is_empty() {
            return;
        }
        let help = format!(
            "draw it again with `containment figures {}`; if it is of a world in a file, give that to `verify` as well, with `--world`",
            files::shown(&found.folder)
        );
        let drawn = match Drawn::of(results, &worlds_of(worlds), terminal) {
            Ok(drawn) => drawn,
            Err(failure) => {
                self.unmade(there[0], &failure, &help);
                return;
            }
        };
        let same = self.same.len();
        for file in &there {
            let name = file_name(&file.name);
            let said = files::text(&file.path, MAX_RESULT_BYTES).unwrap_or_default();
            let Some(expected) = drawn.nearest(name, &said) else {
                let message = "the program draws no such figure of these rows";
                self.troubles.push(Trouble::of(&file.name, message, &*help));
                continue;
            };
            self.compare(file, &said, expected, &help);
        }
        self.tell(same, there.len(), "figures");
    }

    fn cases(&mut self, found: &Found, terminal: &Terminal) {
        if !found.files.iter().any(|file| is_of_case(&file.name)) {
            return;
        }
        let help = "write it again with `containment cases --out DIR`";
        let made = match cases::files(terminal) {
            Ok(made) => made,
            Err(failure) => {
                let mut there = found.files.iter();
                let first = there.find(|file| is_of_case(&file.name));
                self.unmade(first.expect("there is one"), &failure, help);
                return;
            }
        };
        let (same, mut count) = (self.same.len(), 0);
        for prefix in prefixes(found, &made) {
            for file in &found.files {
                let Some(path) = file.name.strip_prefix(&*prefix) else {
                    continue;
                };
                if let Some((_, expected)) = made.iter().find(|(name, _)| name == path) {
                    let said = files::text(&file.path, MAX_RESULT_BYTES).unwrap_or_default();
                    self.compare(file, &said, expected, help);
                    count += 1;
                }
            }
        }
        self.tell(same, count, "files of case studies");
    }

    fn unmade(&mut self, file: &Listed, failure: &Failure, help: &str) {
        let message = format!("it cannot be made again: {}", failure.message());
        self.troubles.push(Trouble::of(&file.name, message, help));
    }

    fn compare(&mut self, file: &Listed, said: &str, expected: &str, help: &str) {
        if said == expected {
            self.same.insert(file.name.clone());
            return;
        }
        let message = "it is not what the program makes";
        let trouble = Trouble::of(&file.name, message, help);
        self.troubles
            .push(trouble.line(differing_line(said, expected)));
    }

    fn tell(&mut self, same_before: usize, count: usize, what: &str) {
        if count > 0 {
            let same = self.same.len() - same_before;
            self.told.push(format!("{same} of {count} {what} the same"));
        }
    }
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The worlds that Figures 1 and 2 may be of: the usual one first.
fn worlds_of(given: &[PathBuf]) -> Vec<PathBuf> {
    let shipped = shipped::WORLDS
        .iter()
        .filter(|world| world.script.is_some());
    let shipped = shipped.map(|world| PathBuf::from(world.name));
    let usual = std::iter::once(PathBuf::from(figures::WORLD));
    usual.chain(given.iter().cloned()).chain(shipped).collect()
}

/// Whether a file lies in a folder that is called as that of a case study.
fn is_of_case(name: &str) -> bool {
    let mut folders = name.split('/').rev().skip(1);
    folders.next().is_some_and(|folder| {
        let number = folder.strip_prefix("case").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The folders in which case studies lie, each with `/` at its end if it is not that of the result.
fn prefixes(found: &Found, made: &Made) -> BTreeSet<String> {
    let own = made.iter().filter(|(path, _)| !cases::is_index(path));
    let own: Vec<&str> = own.map(|(path, _)| &**path).collect();
    let names = found.files.iter().filter(|file| is_of_case(&file.name));
    let prefix = |file: &Listed| {
        let path = own.iter().find(|path| {
            let rest = file.name.strip_suffix(**path);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })?;
        Some(file.name[..file.name.len() - path.len()].to_owned())
    };
    names.filter_map(prefix).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn files_of_case_studies_are_known_by_their_folder() {
        for name in ["case1/case.md", "cases/case8/a.b.jsonl", "a/b/case2/x"] {
            assert!(is_of_case(name), "{name}");
        }
        for name in [
            "case1",
            "cases/x",
            "case/x",
            "casex/x",
            "case1/deep/x",
            "rows.csv",
        ] {
            assert!(!is_of_case(name), "{name}");
        }
        assert_eq!(file_name("figures/figure1.svg"), "figure1.svg");
    }

    #[test]
    fn figures_are_of_the_usual_world_before_any_other() {
        let worlds = worlds_of(&[PathBuf::from("mine.ron")]);
        assert_eq!(worlds[0], Path::new(figures::WORLD));
        assert_eq!(worlds[1], Path::new("mine.ron"));
        assert!(worlds.len() > 10);
    }
}
