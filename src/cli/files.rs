//! Reading files that anybody may have written: regular ones only, up to a limit, as text. Writing files
//! whole or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write as _};
use std::path::Path;

use containment_bench::outside::is_of_the_kernel;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::problem::Problem;
use super::shown::on_one_line;

/// Bytes of the largest world, script, study or list of completions.
pub(crate) const MAX_SOURCE_BYTES: u64 = worlds::MAX_BYTES as u64;
/// Bytes of the largest trace or results file.
pub(crate) const MAX_RESULT_BYTES: u64 = 256 << 20;

/// The name that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// The files of a result, which no other command writes over.
const RESULT_FILES: [&str; 4] = [
    "rows.csv",
    "rows.journal",
    "manifest.json",
    "scenarios.jsonl",
];

/// A file's text.
pub(crate) fn text(path: &Path, limit: u64) -> Result<String, Problem> {
    let bytes = bytes(path, limit)?;
    decoded(bytes, &shown(path))
}

/// A file's text, or that of standard input if the path is `-`.
pub(crate) fn text_or_stdin(path: &Path, limit: u64) -> Result<String, Problem> {
    if path != Path::new(STDIN) {
        return text(path, limit);
    }
    decoded(
        limited(io::stdin().lock(), limit, "standard input")?,
        "standard input",
    )
}

/// Whether there is a regular file of at most `limit` bytes.
pub(crate) fn check(path: &Path, limit: u64) -> Result<(), Problem> {
    let name = shown(path);
    let metadata = fs::metadata(path).map_err(|error| unreadable(&name, &error))?;
    check_kind(&metadata, &name)?;
    if is_of_the_kernel(path) {
        let problem = Problem::new(format!("`{name}` is a file of the kernel"));
        let help = "copy what it says into a file of your own";
        return Err(problem.code(Code::Unreadable).file(name).help(help));
    }
    if metadata.len() > limit {
        return Err(too_large(&name, metadata.len(), limit));
    }
    Ok(())
}

/// A file's bytes.
pub(crate) fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Problem> {
    check(path, limit)?;
    let name = shown(path);
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    limited(file, limit, &name)
}

/// The path as messages show it, on one line.
pub(crate) fn shown(path: &Path) -> String {
    on_one_line(&path.display().to_string()).into_owned()
}

/// Reads at most `limit` bytes, whatever the size was said to be.
fn limited(from: impl Read, limit: u64, name: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > limit {
        return Err(too_large(name, length, limit));
    }
    Ok(bytes)
}

fn check_kind(metadata: &Metadata, name: &str) -> Result<(), Problem> {
    let problem = |message: String| Problem::new(message).code(Code::Unreadable).file(name);
    if metadata.is_dir() {
        let help = "name the file itself";
        return Err(problem(format!("`{name}` is a folder")).help(help));
    }
    if !metadata.is_file() {
        let help = "only regular files are read; some commands take `-` for standard input";
        return Err(problem(format!("`{name}` is not a regular file")).help(help));
    }
    Ok(())
}

fn unreadable(name: &str, error: &io::Error) -> Problem {
    let problem = |message: String| Problem::new(message).code(Code::Unreadable).file(name);
    match error.kind() {
        io::ErrorKind::NotFound => {
            problem(format!("`{name}` does not exist")).help("check the path")
        }
        io::ErrorKind::PermissionDenied => {
            problem(format!("`{name}` may not be read")).help("give yourself permission to read it")
        }
        _ => problem(format!("`{name}` cannot be read: {error}")),
    }
}

fn too_large(name: &str, length: u64, limit: u64) -> Problem {
    Problem::new(format!(
        "`{name}` has at least {length} bytes, more than {limit}"
    ))
    .code(Code::TooLarge)
    .file(name)
    .help("a file that large was not meant to be read here")
}

fn decoded(bytes: Vec<u8>, name: &str) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let before = text.get(..valid).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        Problem::new(format!("the byte at {valid} is not UTF-8 text"))
            .code(Code::NotText)
            .at(name, &text, line, column)
            .help("save the file as UTF-8")
    })
}

/// Writes a file as a whole, or leaves what is there as it is.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = shown(path);
    let failure = |why: &str, help: &str| {
        let problem = Problem::new(format!("`{name}` cannot be written: {why}"));
        Failure::new(Exit::Incomplete, problem.file(&name).help(help))
    };
    if path.extension().is_some_and(|extension| extension == "ron") {
        let help = "name a file that is no world, script or study";
        return Err(failure("its ending is that of an input", help));
    }
    if RESULT_FILES.iter().any(|file| path.ends_with(file)) && path.exists() {
        let help = "name another file; this one is part of the result of a study";
        return Err(failure(
            "it is there, and called as a file of a result",
            help,
        ));
    }
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let help = "name a file; what has a reader or a device behind it may wait for ever";
        return Err(failure("it is there, and is not a regular file", help));
    }
    replace(path, bytes).map_err(|error| {
        let help = "write to a folder that exists and may be written";
        failure(&error.to_string(), help)
    })
}

/// Writes a file that is not there yet, of whatever kind.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let name = shown(path);
        let problem = Problem::new(format!("`{name}` cannot be written: {error}"));
        let help = "name a file that is not there, in a folder that exists and may be written";
        Failure::new(Exit::Incomplete, problem.file(name).help(help))
    })
}

/// Puts a file with these bytes at `path`, whole or not at all. What lies where it is written at first is
/// removed and never followed: a folder can come from anybody, and hold links.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_added_extension("unfinished");
    // If there is nothing to remove, or it cannot be removed, creating the file says so.
    drop(fs::remove_file(&unfinished));
    let written = File::create_new(&unfinished)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&unfinished, path));
    written.inspect_err(|_| {
        // What is half written helps nobody; what was there before is still there.
        drop(fs::remove_file(&unfinished));
    })
}
