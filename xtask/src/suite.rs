//! Running: every test of the workspace, in the fewest builds.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::tally::Tally;

/// Integration tests that also run without optimisation, to show that the results are the same.
/// Each word selects the tests whose name contains it, and must select at least one.
const DEBUG_SUBSET: &[&str] = &["golden"];

/// The hosts that are not built unless asked for.
const FEATURES: &str = "containment-bench/cedar,containment-bench/wasm";

/// The tests that build a WebAssembly module from its source in C, and the compiler for it.
const FROM_SOURCE: &str = "wasm_host/build-from-source";
const COMPILER: &str = "clang-19";

/// With this variable set, the golden tests write their digests instead of comparing them.
const RECORD_VARIABLE: &str = "CONTAINMENT_RECORD_GOLDEN";

/// With this variable set, the tests of corpora write them instead of comparing them.
const WRITE_VARIABLE: &str = "CONTAINMENT_WRITE_CORPUS";

/// Runs every test and ends with the line `N passed, N failed, N skipped`.
pub(crate) fn test() -> ExitCode {
    let mut total = Tally::default();
    // Every target of every crate in one call: each dependency is built once, with one set of
    // features.
    let mut features = FEATURES.to_owned();
    if has_compiler() {
        features = format!("{features},{FROM_SOURCE}");
    } else {
        let why = format!("{FROM_SOURCE}: {COMPILER} is not installed");
        total.skipped.push(why);
    }
    let optimised = run_cargo(&[
        "test",
        "--workspace",
        "--features",
        &features,
        "--release",
        "--no-fail-fast",
    ]);
    // Cargo builds everything before the first test runs.
    let examples_are_built = optimised.passed > 0;
    total.add(optimised);
    if examples_are_built {
        total.add(run_examples());
    } else {
        say("the examples are not run: they may be older than the code\n");
    }
    total.add(run_debug_subset());

    for skip in &total.skipped {
        say(&format!("skipped: {skip}\n"));
    }
    say(&format!("{}\n", total.summary()));
    if total.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether there is a compiler of C for WebAssembly.
fn has_compiler() -> bool {
    let version = Command::new(COMPILER).arg("--version").output();
    version.is_ok_and(|said| said.status.success())
}

/// Lets the golden tests write what they see.
pub(crate) fn record_golden() -> ExitCode {
    write("golden", RECORD_VARIABLE)
}

/// Lets the tests of corpora write what is generated.
pub(crate) fn write_corpus() -> ExitCode {
    write("the_corpus_is_what_is_generated", WRITE_VARIABLE)
}

/// Runs the integration tests whose name contains `word`, with `variable` set.
fn write(word: &str, variable: &str) -> ExitCode {
    let mut command = cargo(&[
        "test",
        "--workspace",
        "--features",
        FEATURES,
        "--release",
        "--test",
        "it",
        "--",
        word,
    ]);
    command.env(variable, "1");
    let tally = run_tests(command);
    say(&format!("{}\n", tally.summary()));
    if tally.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Writes to standard output. A closed pipe is nobody listening, which is no reason to stop.
pub(crate) fn say(text: &str) {
    let mut output = io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}

fn run_debug_subset() -> Tally {
    let mut arguments = vec![
        "test",
        "--workspace",
        "--no-fail-fast",
        "--test",
        "it",
        "--",
    ];
    arguments.extend(DEBUG_SUBSET);
    let mut tally = run_cargo(&arguments);
    if tally.failed == 0 {
        for word in DEBUG_SUBSET {
            if !tally.ran.iter().any(|name| name.contains(word)) {
                say(&format!(
                    "no test of tests/it has `{word}` in its name: mend DEBUG_SUBSET\n"
                ));
                tally.failed += 1;
            }
        }
    }
    tally
}

/// Runs each example as a program: an example asserts what it shows.
///
/// `cargo test` has just built them beside this binary; building them again one by one could select
/// other features and compile much of the tree twice.
fn run_examples() -> Tally {
    let mut tally = Tally::default();
    let names = match example_names(&root().join("examples")) {
        Ok(names) => names,
        Err(error) => {
            say(&format!("cannot list examples/: {error}\n"));
            tally.failed += 1;
            return tally;
        }
    };
    let built = std::env::current_exe().ok();
    let built = built
        .as_deref()
        .and_then(Path::parent)
        .map(|folder| folder.join("examples"));
    for name in names {
        say(&format!("\nexample {name}\n"));
        let program = built.clone().unwrap_or_default().join(&name);
        match Command::new(&program).current_dir(root()).status() {
            Ok(status) if status.success() => tally.passed += 1,
            Ok(status) => {
                say(&format!("example {name} failed: {status}\n"));
                tally.failed += 1;
            }
            Err(error) => {
                say(&format!("example {name} cannot be run: {error}\n"));
                tally.failed += 1;
            }
        }
    }
    tally
}

/// The names of the examples in `folder`, sorted. No folder means no examples.
fn example_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    if !folder.exists() {
        return Ok(names);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn run_cargo(arguments: &[&str]) -> Tally {
    run_tests(cargo(arguments))
}

fn cargo(arguments: &[&str]) -> Command {
    // Cargo names itself to the programs it runs; asking for it keeps the same toolchain.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is how cargo hands over its own path"
    )]
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root()).args(arguments);
    command
}

/// Runs a `cargo test` command, passing its output on as it comes.
///
/// A command that fails without a failed test (a compile error, a crash) counts as one failure.
fn run_tests(mut command: Command) -> Tally {
    let mut tally = Tally::default();
    let succeeded = stream(&mut command, &mut tally);
    if let Err(error) = &succeeded {
        say(&format!("cargo test cannot be run: {error}\n"));
    }
    if !succeeded.unwrap_or(false) && tally.failed == 0 {
        say("cargo test failed before or outside a test: see above\n");
        tally.failed += 1;
    }
    tally
}

/// Whether the command succeeded. Its lines go to the tally and to standard output.
fn stream(command: &mut Command, tally: &mut Tally) -> io::Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    if let Some(output) = child.stdout.take() {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        // Bytes, not `lines()`: a test may print what is not UTF-8.
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            say(&text);
            tally.read(text.trim_end());
            line.clear();
        }
    }
    Ok(child.wait()?.success())
}

/// The root of the workspace, which is the folder above this crate.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
