//! What is run: a command, the bytes of its files, and its limits. What was hashed is what runs,
//! because each process gets these bytes in a folder of its own.

use std::fs;
use std::path::{Component, Path};

use plugins::loaded::{Mistake, content_hash};
use serde::Deserialize;

/// The largest file that is read, in bytes.
const LARGEST_FILE_BYTES: u64 = 64 << 20;

/// How the name of a description ends.
const DESCRIPTION: &str = ".process.ron";

/// A program that can be started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The command and its arguments. The command is a file of `files` or found on the path.
    pub(crate) command: Vec<String>,
    /// Every file, by its path in the folder of the process.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// What it may use.
    pub(crate) limits: Limits,
}

/// What a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From a question to its answer, in milliseconds.
    pub(crate) answer_ms: u64,
    /// From the start to the answer to `hello`, in milliseconds.
    pub(crate) start_ms: u64,
    /// Address space, in MiB.
    pub(crate) memory_mib: u64,
    /// The longest line that is read, in bytes.
    pub(crate) line_bytes: usize,
}

/// A description as it stands in a file.
#[derive(Deserialize)]
#[serde(rename = "Process", deny_unknown_fields)]
struct Description {
    command: Vec<String>,
    files: Vec<String>,
    #[serde(default = "answer_ms")]
    answer_ms: u64,
    #[serde(default = "start_ms")]
    start_ms: u64,
    #[serde(default = "memory_mib")]
    memory_mib: u64,
    #[serde(default = "line_bytes")]
    line_bytes: usize,
}

const fn answer_ms() -> u64 {
    2_000
}
const fn start_ms() -> u64 {
    10_000
}
const fn memory_mib() -> u64 {
    512
}
const fn line_bytes() -> usize {
    1 << 20
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            answer_ms: answer_ms(),
            start_ms: start_ms(),
            memory_mib: memory_mib(),
            line_bytes: line_bytes(),
        }
    }
}

impl Program {
    /// Reads what `path` names: a Python file, another executable file, or a description.
    pub(crate) fn read(path: &Path) -> Result<Self, Vec<Mistake>> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| vec![Mistake::new("the file has no name in UTF-8")])?;
        let bytes = bytes(path).map_err(|message| vec![Mistake::new(message)])?;
        if name.ends_with(DESCRIPTION) {
            let text = String::from_utf8(bytes)
                .map_err(|error| vec![Mistake::new(format!("not UTF-8: {error}"))])?;
            return Self::described(path.parent().unwrap_or(Path::new("")), &text);
        }
        let command = if name.ends_with(".py") {
            vec!["python3".to_owned(), name.to_owned()]
        } else if is_executable(path) {
            vec![name.to_owned()]
        } else {
            let help = format!(
                "make it executable, or describe how it is run in a file `NAME{DESCRIPTION}`"
            );
            return Err(vec![
                Mistake::new("neither a Python file nor an executable one").help(help),
            ]);
        };
        Ok(Self {
            command,
            files: vec![(name.to_owned(), bytes)],
            limits: Limits::default(),
        })
    }

    /// Reads a description whose files lie beside it in `folder`.
    fn described(folder: &Path, text: &str) -> Result<Self, Vec<Mistake>> {
        let description: Description =
            ron::from_str(text).map_err(|error| vec![misread(text, &error)])?;
        let mut mistakes = check(&description, text);
        let mut files = Vec::new();
        for name in &description.files {
            match (is_plain(name), bytes(&folder.join(name))) {
                (false, _) => {
                    let message = format!("`{name}` is no plain path below the description");
                    mistakes.push(at(text, name, Mistake::new(message)));
                }
                (true, Err(message)) => mistakes.push(at(text, name, Mistake::new(message))),
                (true, Ok(bytes)) => files.push((name.clone(), bytes)),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            command: description.command,
            files,
            limits: Limits {
                answer_ms: description.answer_ms,
                start_ms: description.start_ms,
                memory_mib: description.memory_mib,
                line_bytes: description.line_bytes,
            },
        })
    }

    /// Hash of the command, the limits, and the names and bytes of all files.
    pub(crate) fn content(&self) -> u128 {
        let words = (self.command.len() as u64).to_le_bytes();
        let limits = self.limits;
        let limits = [
            limits.answer_ms,
            limits.start_ms,
            limits.memory_mib,
            limits.line_bytes as u64,
        ];
        let limits = limits.map(u64::to_le_bytes);
        let mut parts: Vec<&[u8]> = vec![b"process 1", &words];
        parts.extend(self.command.iter().map(|word| word.as_bytes()));
        parts.extend(limits.iter().map(|limit| &limit[..]));
        for (name, bytes) in &self.files {
            parts.extend([name.as_bytes(), &bytes[..]]);
        }
        content_hash(parts)
    }

    /// Whether the command is one of the files.
    pub(crate) fn brings_command(&self) -> bool {
        self.files.iter().any(|(name, _)| *name == self.command[0])
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    let cannot = |error: std::io::Error| format!("cannot read `{name}`: {error}");
    let about = fs::metadata(path).map_err(cannot)?;
    if !about.is_file() {
        return Err(format!("`{name}` is no file"));
    }
    if about.len() > LARGEST_FILE_BYTES {
        return Err(format!(
            "`{name}` is larger than {LARGEST_FILE_BYTES} bytes"
        ));
    }
    fs::read(path).map_err(cannot)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

/// Whether a path leads from the folder of a description downwards and nowhere else.
fn is_plain(name: &str) -> bool {
    let parts = Path::new(name).components();
    !name.is_empty()
        && !name.ends_with('/')
        && parts
            .clone()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// What a description says that cannot be.
fn check(description: &Description, text: &str) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    match description.command.first() {
        None => mistakes.push(Mistake::new("the command has no word")),
        Some(command) => {
            let is_found = description.files.contains(command)
                || !command.contains('/')
                || Path::new(command).is_absolute();
            if command.is_empty() || !is_found {
                let message = format!("the command `{command}` is none of the files");
                let help = "list it in `files`, or name a program that is on the path";
                mistakes.push(at(text, command, Mistake::new(message).help(help)));
            }
        }
    }
    let words = description.command.iter().chain(&description.files);
    for word in words.filter(|word| word.contains('\0')) {
        mistakes.push(Mistake::new(format!(
            "`{}` has a zero in it",
            word.escape_default()
        )));
    }
    for (position, name) in description.files.iter().enumerate() {
        if description.files[..position].contains(name) {
            mistakes.push(at(
                text,
                name,
                Mistake::new(format!("`{name}` is listed twice")),
            ));
        }
    }
    for (name, value, most) in [
        ("answer_ms", description.answer_ms, 3_600_000),
        ("start_ms", description.start_ms, 3_600_000),
        ("memory_mib", description.memory_mib, 1 << 30),
        ("line_bytes", description.line_bytes as u64, 1 << 30),
    ] {
        if !(1..=most).contains(&value) {
            let message = format!("`{name}` is {value}, and can be 1 to {most}");
            mistakes.push(Mistake::new(message));
        }
    }
    mistakes
}

/// A mistake at the place where `word` is quoted.
fn at(text: &str, word: &str, mistake: Mistake) -> Mistake {
    match text.find(&format!("\"{word}\"")) {
        Some(start) => mistake.at(start..start + word.len() + 2),
        None => mistake,
    }
}

/// A mistake at the place that a reader of RON names by line and column.
fn misread(text: &str, error: &ron::error::SpannedError) -> Mistake {
    let offset = |position: ron::error::Position| {
        let before: usize = text
            .split_inclusive('\n')
            .take(position.line.saturating_sub(1))
            .map(str::len)
            .sum();
        let line = text.get(before..).unwrap_or_default();
        let within: usize = line
            .chars()
            .take(position.col.saturating_sub(1))
            .map(char::len_utf8)
            .sum();
        before + within
    };
    let (start, end) = (offset(error.span.start), offset(error.span.end));
    Mistake::new(error.code.to_string()).at(start..end.max(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.py"), "print(1)\n").unwrap();
        folder
    }

    fn messages(text: &str) -> Vec<String> {
        let refused = Program::described(folder().path(), text).unwrap_err();
        refused.into_iter().map(|mistake| mistake.message).collect()
    }

    #[test]
    fn every_part_of_a_program_is_in_its_hash() {
        let folder = folder();
        let of = |text: &str| Program::described(folder.path(), text).unwrap().content();
        let first = of(r#"Process(command: ["python3", "a.py"], files: ["a.py"])"#);
        for other in [
            r#"Process(command: ["python3", "-u", "a.py"], files: ["a.py"])"#,
            r#"Process(command: ["python3 a.py"], files: ["a.py"])"#,
            r#"Process(command: ["python3", "a.py"], files: [])"#,
            r#"Process(command: ["python3", "a.py"], files: ["a.py"], answer_ms: 1)"#,
            r#"Process(command: ["python3", "a.py"], files: ["a.py"], start_ms: 1)"#,
            r#"Process(command: ["python3", "a.py"], files: ["a.py"], memory_mib: 1)"#,
            r#"Process(command: ["python3", "a.py"], files: ["a.py"], line_bytes: 1)"#,
        ] {
            assert_ne!(of(other), first, "{other}");
        }
        let direct = Program::read(&folder.path().join("a.py")).unwrap();
        assert_eq!(direct.content(), first);
        fs::write(folder.path().join("a.py"), "print(2)\n").unwrap();
        assert_ne!(
            of(r#"Process(command: ["python3", "a.py"], files: ["a.py"])"#),
            first
        );
    }

    #[test]
    fn a_description_that_cannot_be_run_is_refused_with_its_place() {
        for (text, message) in [
            ("Process(command: [], files: [])", "the command has no word"),
            (
                r#"Process(command: ["./a.py"], files: [])"#,
                "none of the files",
            ),
            (
                r#"Process(command: ["a"], files: ["../a.py"])"#,
                "no plain path",
            ),
            (
                r#"Process(command: ["a"], files: ["b.py"])"#,
                "cannot read `b.py`",
            ),
            (
                r#"Process(command: ["a"], files: ["a.py", "a.py"])"#,
                "listed twice",
            ),
            (
                r#"Process(command: ["a"], files: [], answer_ms: 0)"#,
                "`answer_ms` is 0",
            ),
            (
                r#"Process(command: ["a"], files: [], shell: 1)"#,
                "Unexpected field named `shell`",
            ),
            (
                r#"Policy(command: ["a"], files: [])"#,
                "Expected struct `Process`",
            ),
        ] {
            let found = messages(text);
            assert!(found[0].contains(message), "{text}: {found:?}");
        }
        let text = "Process(\n    command: [\"a\"],\n    files: [\"b.py\"],\n)";
        let refused = Program::described(folder().path(), text).unwrap_err();
        assert_eq!(&text[refused[0].place.clone().unwrap()], "\"b.py\"");
        let text = "Process(\n    command: 7,\n)";
        let refused = Program::described(folder().path(), text).unwrap_err();
        assert_eq!(
            text[..refused[0].place.clone().unwrap().start]
                .lines()
                .count(),
            2
        );
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let folder = folder();
        let path = folder.path().join("notes.txt");
        fs::write(&path, "notes").unwrap();
        let refused = Program::read(&path).unwrap_err();
        assert!(refused[0].message.contains("neither"), "{refused:?}");
        assert!(Program::read(folder.path()).is_err());
        assert!(Program::read(&folder.path().join("gone.py")).is_err());
    }
}
