//! The files of the project, and how a violation is told.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file of the project.
pub(crate) struct TextFile {
    /// From the root of the repository, with `/` between folders.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    pub(crate) fn is_rust(&self) -> bool {
        has_extension(&self.path, "rs")
    }

    /// Lines with their numbers, counted from one.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == extension)
}

/// A file made up for a test of a rule.
pub(crate) fn made_up(path: &str, text: &str) -> TextFile {
    TextFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// What is wrong, where, and what to do about it.
pub(crate) fn violation(path: &str, line: usize, what: &str, fix: &str) -> String {
    format!("{path}:{line}: {what}\n    {fix}")
}

/// Fails with every violation at once.
pub(crate) fn assert_none(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} found\n\n{}\n",
        violations.len(),
        violations.join("\n")
    );
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &str) -> TextFile {
    let bytes = fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    TextFile {
        path: path.to_owned(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// Every file, in the order of paths, but for what git ignores.
pub(crate) fn files() -> Vec<TextFile> {
    let mut skipped: Vec<String> = vec![".git".to_owned()];
    let ignored = read(".gitignore");
    skipped.extend(
        ignored
            .text
            .lines()
            .map(|line| line.trim_matches('/').to_owned()),
    );
    let mut paths = Vec::new();
    collect(&root(), "", &skipped, &mut paths);
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn collect(folder: &Path, prefix: &str, skipped: &[String], paths: &mut Vec<String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{prefix}: {error}"));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("{prefix}: {error}"));
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if skipped.contains(&path) {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), skipped, paths);
        } else {
            paths.push(path);
        }
    }
}

#[test]
fn the_walk_sees_the_project_and_not_the_build() {
    let files = files();
    let has = |path: &str| files.iter().any(|file| file.path == path);
    for path in [
        "Cargo.toml",
        ".ci/run",
        "engine/src/lib.rs",
        "tests/it/tidy/tree.rs",
    ] {
        assert!(has(path), "{path} is not seen");
    }
    assert!(!files.iter().any(|file| file.path.starts_with("target/")));
}
