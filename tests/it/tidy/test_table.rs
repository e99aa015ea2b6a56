//! The table of promises names only tests that exist, and leaves no promise without one.

use super::tree::{TextFile, assert_none, files, made_up, read, violation};

const TABLE: &str = "docs/TESTS.md";

/// Where the modules of a crate stand. Names are written as `crate::module::test`, or as
/// `path/of/file.rs::test`.
const ROOTS: &[(&str, &str)] = &[
    ("cedar_host", "plugins/host/cedar/src"),
    ("containment", "src"),
    ("engine", "engine/src"),
    ("field_policies", "policies/field/src"),
    ("it", "tests/it"),
    ("models", "models/src"),
    ("oracle", "tests/oracle/src"),
    ("plugins", "plugins/src"),
    ("policies", "policies/src"),
    ("process_host", "plugins/host/process/src"),
    ("report", "report/src"),
    ("rules_host", "plugins/host/rules/src"),
    ("statistics", "statistics/src"),
    ("study", "study/src"),
    ("wasm_host", "plugins/host/wasm/src"),
    ("worlds", "worlds/src"),
    ("xtask", "xtask/src"),
];

#[test]
fn every_promise_is_shown_by_tests_that_exist() {
    assert_none(&violations(&read(TABLE), &files()));
}

fn violations(table: &TextFile, files: &[TextFile]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut in_body = false;
    for (number, line) in table.lines() {
        let is_row = line.starts_with('|');
        let is_ruler = line.starts_with("| ---");
        let mut shown_by = 0;
        // Every second piece between backticks is quoted.
        for quoted in line.split('`').skip(1).step_by(2) {
            let (is_test, problem) = match quoted.rsplit_once("::") {
                Some((place, name)) => (true, missing_test(place, name, files)),
                None => (is_program(quoted), None),
            };
            shown_by += usize::from(is_test);
            if let Some(fix) = problem {
                let what = format!("there is no test `{quoted}`");
                violations.push(violation(&table.path, number, &what, &fix));
            }
        }
        if is_row && in_body && shown_by == 0 {
            violations.push(violation(
                &table.path,
                number,
                "a promise that no test shows",
                "write the test and name it in the last column, or promise less",
            ));
        }
        in_body = is_ruler || (in_body && is_row);
    }
    violations
}

/// Whether a path is that of a program which asserts what it shows. That it exists is checked with
/// the other paths.
fn is_program(quoted: &str) -> bool {
    quoted.starts_with("examples/") || quoted.starts_with("benches/")
}

/// What to do if `place` holds no test `name`.
fn missing_test(place: &str, name: &str, files: &[TextFile]) -> Option<String> {
    let file = if place.ends_with(".rs") {
        files.iter().find(|file| file.path == place)
    } else {
        match module(place, files) {
            Ok(file) => file,
            Err(fix) => return Some(fix),
        }
    };
    let Some(file) = file else {
        return Some(format!("`{place}` is no module and no file: mend the path"));
    };
    if tests(file).any(|test| test == name) {
        return None;
    }
    let elsewhere = files
        .iter()
        .filter(|file| file.is_rust())
        .find(|file| tests(file).any(|test| test == name));
    Some(match elsewhere {
        Some(other) => format!("it stands in {}: mend the path", other.path),
        None => format!("no test of {} is called that: name one that is", file.path),
    })
}

/// The file of a module such as `plugins::label::tests`. Trailing modules may stand in the file of
/// their parent.
fn module<'a>(place: &str, files: &'a [TextFile]) -> Result<Option<&'a TextFile>, String> {
    let mut segments = place.split("::");
    let first = segments.next().unwrap_or_default();
    let Some((_, root)) = ROOTS.iter().find(|(name, _)| *name == first) else {
        let names: Vec<&str> = ROOTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("begin with one of: {}", names.join(", ")));
    };
    let segments: Vec<&str> = segments.collect();
    for split in (0..=segments.len()).rev() {
        let (outer, inner) = segments.split_at(split);
        let folder = [&[*root], outer].concat().join("/");
        let candidates = [
            format!("{folder}.rs"),
            format!("{folder}/mod.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        let found = files.iter().find(|file| candidates.contains(&file.path));
        if let Some(file) = found {
            let holds = |name: &&str| file.text.contains(&format!("mod {name} {{"));
            return Ok(inner.iter().all(|name| holds(name)).then_some(file));
        }
    }
    Ok(None)
}

/// The names of the tests in a file: each function after a `#[test]`.
fn tests(file: &TextFile) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    file.lines().filter_map(move |(_, line)| {
        let line = line.trim();
        is_test |= line == "#[test]";
        let rest = line.strip_prefix("fn ")?;
        let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        std::mem::take(&mut is_test).then(|| name.take(1).last().unwrap_or_default())
    })
}

#[test]
fn a_promise_without_a_test_is_found() {
    let files = [
        made_up(
            "plugins/src/label.rs",
            "mod tests {\n    #[test]\n    /// Why.\n    #[expect(a)]\n    fn joins(a in b) {}\n    fn helps() {}\n}\n",
        ),
        made_up("plugins/src/draws/tests.rs", "#[test]\nfn draws() {}\n"),
        made_up("tests/it/cli/mod.rs", "#[test]\nfn runs() {}\n"),
    ];
    let head = "| what is promised | shown by |\n| --- | --- |\n";
    let table = |row: &str| made_up("docs/TESTS.md", &format!("{head}{row}\n"));
    for good in [
        "| labels join | `plugins::label::tests::joins` |",
        "| a `word` | `plugins::draws::tests::draws`, `it::cli::runs` |",
        "| a file | `tests/it/cli/mod.rs::runs` |",
        "| a program | `examples/library.rs` |",
        "a line of text",
    ] {
        assert_none(&violations(&table(good), &files));
    }
    for (bad, fix) in [
        ("| nothing | |", "write the test"),
        ("| words only | `helps` |", "write the test"),
        (
            "| a helper | `plugins::label::tests::helps` |",
            "is called that",
        ),
        (
            "| moved | `plugins::label::tests::draws` |",
            "it stands in plugins/src/draws/tests.rs",
        ),
        (
            "| no module | `plugins::label::laws::joins` |",
            "mend the path",
        ),
        ("| no crate | `labels::tests::joins` |", "begin with one of"),
        ("| no file | `tests/it/gone.rs::runs` |", "mend the path"),
        ("also in text: `it::cli::walks`", "is called that"),
    ] {
        let found = violations(&table(bad), &files);
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
        assert!(found[0].starts_with("docs/TESTS.md:3: "), "{}", found[0]);
        assert!(found[0].contains(fix), "{}", found[0]);
    }
}
