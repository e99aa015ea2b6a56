//! Dependencies run one way, and the strict lints contain the common ones.

use super::tree::{TextFile, assert_none, files, made_up, read, violation};

/// What each crate, named by its folder, may use of the others. `""` is the root package.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "plugins",
            "cedar_host",
            "process_host",
            "rules_host",
            "wasm_host",
            "policies",
            "field_policies",
            "models",
            "worlds",
            "engine",
            "statistics",
            "study",
            "report",
        ],
    ),
    ("plugins", &[]),
    ("plugins/host/cedar", &["plugins", "policies"]),
    ("plugins/host/process", &["plugins"]),
    ("plugins/host/rules", &["plugins"]),
    ("plugins/host/wasm", &["plugins"]),
    ("policies", &["plugins"]),
    ("policies/field", &["plugins"]),
    ("models", &["plugins"]),
    ("worlds", &["plugins"]),
    ("engine", &["plugins", "worlds"]),
    ("statistics", &[]),
    ("study", &["plugins", "worlds", "engine"]),
    ("report", &["plugins", "worlds", "statistics", "study"]),
    ("xtask", &[]),
    ("tests/oracle", &["plugins", "worlds"]),
    (
        "tests/faults",
        &["plugins", "policies", "models", "worlds", "oracle"],
    ),
];

/// The crates that compute and do nothing else.
const STRICT: &[&str] = &[
    "engine",
    "models",
    "plugins",
    "policies",
    "statistics",
    "worlds",
];

#[test]
fn crates_depend_in_one_direction() {
    let violations: Vec<String> = files()
        .iter()
        .filter(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"))
        .flat_map(wrong_dependencies)
        .collect();
    assert_none(&violations);
}

#[test]
fn strict_lints_contain_the_common_ones() {
    let root = read("clippy.toml");
    let first = read(&format!("{}/clippy.toml", STRICT[0]));
    for folder in STRICT {
        let strict = read(&format!("{folder}/clippy.toml"));
        assert_none(&missing_lines(&root, &strict));
        assert!(
            strict.text == first.text,
            "{} differs from {}: copy one over the other",
            strict.path,
            first.path
        );
    }
}

fn wrong_dependencies(manifest: &TextFile) -> Vec<String> {
    let folder = manifest
        .path
        .trim_end_matches("Cargo.toml")
        .trim_end_matches('/');
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == folder) else {
        let fix = "give it a line in ALLOWED and in docs/ARCHITECTURE.md";
        return vec![violation(
            &manifest.path,
            1,
            "a crate without a direction",
            fix,
        )];
    };
    let mut violations = Vec::new();
    for Dependency {
        name,
        line,
        for_tests,
    } in dependencies(manifest)
    {
        let ours = ALLOWED.iter().any(|(crate_name, _)| *crate_name == name);
        if ours && !allowed.contains(&name.as_str()) {
            violations.push(violation(
                &manifest.path,
                line,
                &format!("{folder} must not depend on {name}"),
                "turn the dependency round, or move the code (or its test to tests/it)",
            ));
        }
        // The sources of the engine are compiled in tests/faults once more.
        let is_engine = ["engine", "tests/faults"].contains(&folder);
        if name == "bevy_ecs" && !is_engine && !(folder.is_empty() && for_tests) {
            violations.push(violation(
                &manifest.path,
                line,
                "bevy_ecs is used outside engine",
                "let engine offer what is needed in words of its own",
            ));
        }
    }
    violations
}

struct Dependency {
    name: String,
    line: usize,
    for_tests: bool,
}

/// The dependencies of one manifest, of whatever kind and target, without a TOML parser: every
/// entry of ours stands on one line, or under a heading of its own.
fn dependencies(manifest: &TextFile) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut listing = false;
    let mut for_tests = false;
    for (line, text) in manifest.lines() {
        let text = text.trim();
        if let Some(heading) = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            // The list of versions for the whole workspace is not a use.
            let used = !heading.starts_with("workspace.");
            for_tests = heading.contains("dev-dependencies");
            listing = used && heading.ends_with("dependencies");
            if let Some((_, name)) = heading.split_once("dependencies.").filter(|_| used) {
                found.push(Dependency {
                    name: name.to_owned(),
                    line,
                    for_tests,
                });
            }
        } else if listing && let Some((key, value)) = text.split_once('=') {
            let alias = key.trim().trim_end_matches(".workspace");
            let name = value
                .split_once("package = \"")
                .and_then(|(_, rest)| rest.split('"').next())
                .unwrap_or(alias);
            found.push(Dependency {
                name: name.to_owned(),
                line,
                for_tests,
            });
        }
    }
    found
}

/// The lines of `root`, comments and brackets aside, that `strict` does not repeat.
fn missing_lines(root: &TextFile, strict: &TextFile) -> Vec<String> {
    root.lines()
        .filter(|(_, line)| line.contains('=') && !line.starts_with('#'))
        .filter(|(_, line)| !strict.text.lines().any(|other| other == *line))
        .map(|(number, line)| {
            let fix = format!("repeat the line in {}", strict.path);
            violation(
                &root.path,
                number,
                &format!("not in every crate: {}", line.trim()),
                &fix,
            )
        })
        .collect()
}

#[test]
fn a_wrong_dependency_is_found() {
    let cases = [
        (
            "plugins/Cargo.toml",
            "[dependencies]\nworlds.workspace = true\n",
            2,
        ),
        (
            "engine/Cargo.toml",
            "[dependencies]\npolicies = { path = \"../policies\" }\n",
            2,
        ),
        (
            "study/Cargo.toml",
            "[dependencies]\nserde = \"1\"\nbevy_ecs = \"0.20\"\n",
            3,
        ),
        (
            "study/Cargo.toml",
            "[dev-dependencies]\nmodels.workspace = true\n",
            2,
        ),
        (
            "models/Cargo.toml",
            "[target.'cfg(unix)'.dependencies]\nstudy.workspace = true\n",
            2,
        ),
        (
            "worlds/Cargo.toml",
            "[dependencies.engine]\nworkspace = true\n",
            1,
        ),
        (
            "worlds/Cargo.toml",
            "[dependencies]\ncore = { package = \"engine\" }\n",
            2,
        ),
        (
            "Cargo.toml",
            "[dependencies]\nbevy_ecs.workspace = true\n",
            2,
        ),
        ("extra/Cargo.toml", "[dependencies]\n", 1),
    ];
    for (path, text, line) in cases {
        let found = wrong_dependencies(&made_up(path, text));
        assert_eq!(found.len(), 1, "{text}");
        assert!(
            found[0].starts_with(&format!("{path}:{line}: ")),
            "{}",
            found[0]
        );
    }
    let good = "[workspace.dependencies]\nstudy = { path = \"study\" }\n\
                [dependencies]\nplugins.workspace = true\nserde.workspace = true\n";
    assert_none(&wrong_dependencies(&made_up("policies/Cargo.toml", good)));
    let tests = "[dev-dependencies]\nbevy_ecs.workspace = true\n";
    assert_none(&wrong_dependencies(&made_up("Cargo.toml", tests)));
}

#[test]
fn a_lint_missing_from_a_strict_file_is_found() {
    let root = made_up(
        "clippy.toml",
        "# why = because\nmethods = [\n    { path = \"a\" },\n]\n",
    );
    let strict = made_up(
        "engine/clippy.toml",
        "methods = [\n    { path = \"b\" },\n]\n",
    );
    let found = missing_lines(&root, &strict);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("clippy.toml:3: "), "{}", found[0]);
    assert_none(&missing_lines(&root, &root));
}
