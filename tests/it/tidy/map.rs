//! The map and the guide name only what exists, and the map names every crate.

use super::tree::{TextFile, assert_none, files, has_extension, made_up, read, violation};

const DOCUMENTS: &[&str] = &["docs/ARCHITECTURE.md", "docs/TESTS.md", "CONTRIBUTING.md"];

#[test]
fn every_path_named_in_a_document_exists() {
    let paths: Vec<String> = files().into_iter().map(|file| file.path).collect();
    let violations: Vec<String> = DOCUMENTS
        .iter()
        .flat_map(|document| missing_paths(&read(document), &paths))
        .collect();
    assert_none(&violations);
}

#[test]
fn every_crate_is_on_the_map() {
    let map = read("docs/ARCHITECTURE.md");
    let mut violations = Vec::new();
    for file in files() {
        if let Some(folder) = file
            .path
            .strip_suffix("Cargo.toml")
            .filter(|path| !path.is_empty())
            && !map.text.contains(&format!("`{folder}`"))
        {
            let fix = format!("give `{folder}` a line in it");
            violations.push(violation(&map.path, 1, "a crate is not on the map", &fix));
        }
    }
    assert_none(&violations);
}

fn missing_paths(document: &TextFile, paths: &[String]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut fenced = false;
    for (number, line) in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second piece between backticks is quoted.
            for quoted in line.split('`').skip(1).step_by(2) {
                // What stands in a file is looked for in `test_table`.
                let quoted = quoted.split("::").next().unwrap_or_default();
                if is_path(quoted) && !exists(quoted, paths) {
                    violations.push(violation(
                        &document.path,
                        number,
                        &format!("`{quoted}` does not exist"),
                        "write the path from the root of the repository, or drop it",
                    ));
                }
            }
        }
    }
    violations
}

fn is_path(quoted: &str) -> bool {
    let is_placeholder = quoted.contains(['<', '>', ' ']) || quoted.contains("://");
    let is_file = ["rs", "toml", "md", "ron"]
        .iter()
        .any(|extension| has_extension(quoted, extension));
    !is_placeholder && (quoted.contains('/') || is_file)
}

/// Whether `quoted` is a file, a folder, or a pattern with one `*` that some file fits.
fn exists(quoted: &str, paths: &[String]) -> bool {
    if let Some((before, after)) = quoted.split_once('*') {
        return paths
            .iter()
            .any(|path| path.starts_with(before) && path.ends_with(after));
    }
    let folder = format!("{}/", quoted.trim_end_matches('/'));
    paths
        .iter()
        .any(|path| path == quoted || path.starts_with(&folder))
}

#[test]
fn a_missing_path_is_found() {
    let paths = [
        "src/main.rs".to_owned(),
        "worlds/demos/email.ron".to_owned(),
    ];
    let good = made_up(
        "map.md",
        "`src/main.rs` `src/` `src` `worlds/demos/*.ron` `src/<name>.rs` `cargo run a/b`\n\
         ```\n`src/gone.rs`\n```\n",
    );
    assert_none(&missing_paths(&good, &paths));
    for bad in ["`src/gone.rs`", "`main.rs`", "`worlds/demos/*.md`", "`sr/`"] {
        let found = missing_paths(&made_up("map.md", &format!("one\n{bad}\n")), &paths);
        assert_eq!(found.len(), 1, "{bad}");
        assert!(found[0].starts_with("map.md:2: "), "{}", found[0]);
    }
}
