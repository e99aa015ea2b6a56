//! Words and sizes that source files must not have.

use super::tree::{TextFile, assert_none, files, made_up, violation};

/// The number of lines above which a file says why it is that long.
const LONGEST_FILE_LINES: usize = 600;

/// A word, and what to do instead. The words are put together here so that this file may be
/// searched like every other.
type Word = (&'static str, &'static str);

const NOT_IN_CODE: &[Word] = &[
    (concat!("todo", "!"), "finish it, or leave it out"),
    (concat!("unimplemented", "!"), "finish it, or leave it out"),
    (concat!("dbg", "!"), "remove it"),
    (
        concat!("#[", "ignore"),
        "make the test able to run, or remove it",
    ),
];

/// What bevy keeps outside the components, and so outside a snapshot.
const NOT_IN_ENGINE: &[Word] = &[
    (
        concat!("Local", "<"),
        "keep the value in a component or a saved resource",
    ),
    (concat!("Message", "Reader"), "put the event on the agenda"),
    (concat!("Message", "Writer"), "put the event on the agenda"),
    (
        concat!("Changed", "<"),
        "mark what changed with a component that is saved",
    ),
    (
        concat!("Added", "<"),
        "mark what is new with a component that is saved",
    ),
    (
        concat!("clear_", "entities"),
        "reset the pools: clearing changes entity ids",
    ),
    (concat!(".obs", "erve("), "put the event on the agenda"),
    (concat!("add_", "observer"), "put the event on the agenda"),
];

const NOT_ANYWHERE: &[Word] = &[
    (
        concat!("/wo", "rk/"),
        "write a path from the root of the repository",
    ),
    (
        concat!("/ro", "ot/"),
        "write a path from the root of the repository",
    ),
    (
        concat!("/ho", "me/"),
        "write a path from the root of the repository",
    ),
    (
        concat!("index.", "crates.io"),
        "leave the registry to the user's settings",
    ),
    (
        concat!("static.", "crates.io"),
        "leave the registry to the user's settings",
    ),
    (
        concat!("py", "pi.org"),
        "leave the registry to the user's settings",
    ),
    (
        concat!("registry.", "npmjs"),
        "leave the registry to the user's settings",
    ),
    (
        concat!("deb.", "debian.org"),
        "leave the registry to the user's settings",
    ),
    (
        concat!("replace-", "with ="),
        "leave the registry to the user's settings",
    ),
    (
        concat!("index-", "url"),
        "leave the registry to the user's settings",
    ),
];

/// Folders whose files users write or read, with errors that point at a line and column.
const WITH_SPANS: &[&str] = &["worlds/", "models/", "study/"];

#[test]
fn no_unfinished_code_and_no_switched_off_test() {
    check(|file| {
        if file.is_rust() {
            unfinished(file)
        } else {
            Vec::new()
        }
    });
}

#[test]
fn nothing_in_the_engine_escapes_a_snapshot() {
    check(|file| {
        let is_engine = file.path.starts_with("engine/src/");
        if is_engine {
            words_in_code(file, NOT_IN_ENGINE)
        } else {
            Vec::new()
        }
    });
}

#[test]
fn no_machine_path_and_no_registry_host() {
    check(|file| words_on_lines(file, NOT_ANYWHERE));
}

#[test]
fn long_files_say_why() {
    check(|file| {
        if file.is_rust() {
            too_long(file)
        } else {
            Vec::new()
        }
    });
}

#[test]
fn file_formats_keep_their_spans() {
    check(|file| {
        let has_spans = WITH_SPANS
            .iter()
            .any(|folder| file.path.starts_with(folder));
        if has_spans && file.is_rust() {
            lost_spans(file)
        } else {
            Vec::new()
        }
    });
}

fn check(rule: impl Fn(&TextFile) -> Vec<String>) {
    let violations: Vec<String> = files().iter().flat_map(rule).collect();
    assert_none(&violations);
}

fn unfinished(file: &TextFile) -> Vec<String> {
    let mut violations = words_in_code(file, NOT_IN_CODE);
    let skipped_example = (
        concat!("```", "ignore"),
        "let it compile, or mark it `text`",
    );
    violations.extend(words_on_lines(file, &[skipped_example]));
    violations
}

fn words_on_lines(file: &TextFile, words: &[Word]) -> Vec<String> {
    words_on(file, words, |line| line)
}

/// Like `words_on_lines`, leaving out what follows `//`.
fn words_in_code(file: &TextFile, words: &[Word]) -> Vec<String> {
    words_on(file, words, |line| line.split("//").next().unwrap_or(line))
}

fn words_on(file: &TextFile, words: &[Word], part: fn(&str) -> &str) -> Vec<String> {
    let mut violations = Vec::new();
    for (number, line) in file.lines() {
        for (word, fix) in words {
            if part(line).contains(word) {
                violations.push(violation(&file.path, number, &format!("`{word}`"), fix));
            }
        }
    }
    violations
}

fn too_long(file: &TextFile) -> Vec<String> {
    let lines = file.text.lines().count();
    let says_why = file
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("// Length:"))
        .any(|reason| !reason.trim().is_empty());
    if lines <= LONGEST_FILE_LINES || says_why {
        return Vec::new();
    }
    let what = format!("{lines} lines, over {LONGEST_FILE_LINES}");
    let fix = "split it, or say why not in a line that starts with `// Length:`";
    vec![violation(&file.path, LONGEST_FILE_LINES + 1, &what, fix)]
}

/// Serde attributes that make an error lose its place in the file.
fn lost_spans(file: &TextFile) -> Vec<String> {
    let mut violations = Vec::new();
    for (start, _) in file.text.match_indices("serde(") {
        let attribute = file.text[start..].split(")]").next().unwrap_or_default();
        let words: Vec<&str> = attribute
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .collect();
        for word in [concat!("flat", "ten"), concat!("un", "tagged")] {
            if words.contains(&word) {
                violations.push(violation(
                    &file.path,
                    file.text[..start].lines().count().max(1),
                    &format!("serde's `{word}` loses the line and column of an error"),
                    "write the fields out, or tag the variants",
                ));
            }
        }
    }
    violations
}

fn assert_found(violations: &[String], place: &str) {
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert!(violations[0].starts_with(place), "{}", violations[0]);
}

#[test]
fn each_word_is_found_in_code_and_not_in_comments() {
    for words in [NOT_IN_CODE, NOT_IN_ENGINE] {
        for (word, _) in words {
            let bad = made_up("a.rs", &format!("fn f() {{\n    {word}\n}}\n"));
            assert_found(&words_in_code(&bad, words), "a.rs:2: ");
            let good = made_up("a.rs", &format!("// no {word} here\n"));
            assert_none(&words_in_code(&good, words));
        }
    }
    for (word, _) in NOT_ANYWHERE {
        let bad = made_up("README.md", &format!("# at {word}\n"));
        assert_found(&words_on_lines(&bad, NOT_ANYWHERE), "README.md:1: ");
    }
    let skipped = made_up("a.rs", &format!("/// ```{}\n", "ignore"));
    assert_found(&unfinished(&skipped), "a.rs:1: ");
}

#[test]
fn a_long_file_is_found() {
    let long = "\n".repeat(LONGEST_FILE_LINES + 1);
    assert_found(&too_long(&made_up("a.rs", &long)), "a.rs:601: ");
    assert_found(
        &too_long(&made_up("a.rs", &format!("// Length:{long}"))),
        "a.rs:601: ",
    );
    assert_none(&too_long(&made_up(
        "a.rs",
        &format!("// Length: one table.{long}"),
    )));
    assert_none(&too_long(&made_up("a.rs", &long[1..])));
}

#[test]
fn a_lost_span_is_found() {
    for word in [concat!("flat", "ten"), concat!("un", "tagged")] {
        let one_line = made_up("a.rs", &format!("\n#[serde(default, {word})]\n"));
        assert_found(&lost_spans(&one_line), "a.rs:2: ");
        let many_lines = made_up("a.rs", &format!("#[serde(\n    {word},\n)]\n"));
        assert_found(&lost_spans(&many_lines), "a.rs:1: ");
    }
    let iterator = "#[serde(rename = \"a\")]\nfn f() { x.iter().flatten() }\n";
    assert_none(&lost_spans(&made_up("a.rs", iterator)));
}
