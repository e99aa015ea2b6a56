//! The hosts that this program is built with, and the reading of a file for each.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use plugins::briefing::Briefing;
use plugins::loaded::{LoadedPolicy, Mistake};

use super::OutsideError;
use super::reference::{FileReference, Host};

/// Bytes of the largest file that holds a policy.
const MAX_BYTES: u64 = 16 << 20;

/// What the file holds, for its host.
pub(super) fn load(
    reference: &FileReference,
    folder: &Path,
    decisions: Option<Decisions>,
) -> Result<LoadedPolicy, OutsideError> {
    let path = folder.join(&reference.path);
    let wrong = |text: Option<String>, mistakes| OutsideError::File {
        file: path.clone(),
        text,
        mistakes,
    };
    let text = || -> Result<String, OutsideError> {
        let bytes = read(&path).map_err(|mistake| wrong(None, vec![mistake]))?;
        String::from_utf8(bytes).map_err(|_| {
            let mistake = Mistake::new("the file is not UTF-8 text").help("save it as UTF-8");
            wrong(None, vec![mistake])
        })
    };
    match reference.host {
        Host::Rules => {
            let text = text()?;
            rules(&text).map_err(|mistakes| wrong(Some(text), mistakes))
        }
        Host::Cedar => {
            let text = text()?;
            cedar(&text).map_err(|mistakes| wrong(Some(text), mistakes))
        }
        Host::Wasm => {
            let bytes = read(&path).map_err(|mistake| wrong(None, vec![mistake]))?;
            wasm(&bytes).map_err(|mistakes| wrong(None, mistakes))
        }
        Host::Process => {
            read(&path).map_err(|mistake| wrong(None, vec![mistake]))?;
            process(path.as_path(), decisions).map_err(|mistakes| {
                // A description of a process is text with places; a program need not be.
                let is_description = path.extension().is_some_and(|ending| ending == "ron");
                wrong(text().ok().filter(|_| is_description), mistakes)
            })
        }
    }
}

/// Whether a file is a window into the kernel: such files say that they are regular, and can have no end
/// or never answer.
#[must_use]
pub fn is_of_the_kernel(path: &Path) -> bool {
    let real = std::fs::canonicalize(path).unwrap_or_default();
    ["/proc", "/sys"].iter().any(|root| real.starts_with(root))
}

/// The bytes of a regular file.
///
/// # Errors
/// When there is none, it cannot be read, or it is too large.
pub fn read(path: &Path) -> Result<Vec<u8>, Mistake> {
    let unreadable = |error: std::io::Error| {
        Mistake::new(format!("the file cannot be read: {error}")).help("check the path")
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || is_of_the_kernel(path) {
        return Err(Mistake::new("it is not a regular file").help("name the file itself"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("the file has more than {MAX_BYTES} bytes");
        return Err(Mistake::new(message).help("name a smaller file"));
    }
    Ok(bytes)
}

/// What a text in rules or in Cedar is, in a few words: a policy, or metrics.
///
/// # Errors
/// When there are mistakes in it, or its host is not built in.
pub fn check_text(host: Host, text: &str) -> Result<String, Vec<Mistake>> {
    let loaded = match host {
        #[cfg(feature = "rules")]
        Host::Rules if rules_host::is_metrics(text) => {
            let metrics = rules_host::load_metrics(text)?;
            let names: Vec<&str> = metrics.described().map(|(name, _)| name).collect();
            return Ok(format!("metrics {}", names.join(", ")));
        }
        Host::Rules => rules(text)?,
        Host::Cedar => cedar(text)?,
        Host::Process | Host::Wasm => {
            return Err(vec![Mistake::new("it is no text in rules or in Cedar")]);
        }
    };
    Ok(format!("policy for the host {}", loaded.kind))
}

/// What a policy text names that a world does not have: agents, tools, arguments, sources. Only the
/// texts of rules and of Cedar name such things.
#[must_use]
pub fn foreign_names(host: Host, text: &str, briefing: &Briefing) -> Vec<Mistake> {
    match host {
        #[cfg(feature = "rules")]
        Host::Rules => rules_host::validate(text, briefing),
        #[cfg(feature = "cedar")]
        Host::Cedar => cedar_host::validate(text, briefing),
        _ => {
            let _ = (text, briefing);
            Vec::new()
        }
    }
}

#[cfg(feature = "process")]
pub use process_host::Decisions;

/// Recorded answers of a process; there are none without that host.
#[cfg(not(feature = "process"))]
#[derive(Clone, Debug)]
pub enum Decisions {}

type Loaded = Result<LoadedPolicy, Vec<Mistake>>;

#[cfg(feature = "rules")]
fn rules(text: &str) -> Loaded {
    rules_host::load(text)
}

#[cfg(feature = "cedar")]
fn cedar(text: &str) -> Loaded {
    cedar_host::load(text)
}

#[cfg(feature = "wasm")]
fn wasm(bytes: &[u8]) -> Loaded {
    wasm_host::load(bytes, wasm_host::Limits::default())
}

#[cfg(feature = "process")]
fn process(path: &Path, decisions: Option<Decisions>) -> Loaded {
    process_host::load_with(path, decisions)
}

#[cfg(not(feature = "process"))]
fn process(_: &Path, _: Option<Decisions>) -> Loaded {
    Err(vec![
        Mistake::new("this program was built without the host `process`")
            .help("build it with `--features process`"),
    ])
}

macro_rules! left_out {
    ($($feature:literal: $name:ident($what:ty);)+) => {$(
        #[cfg(not(feature = $feature))]
        fn $name(_: $what) -> Loaded {
            Err(vec![
                Mistake::new(concat!("this program was built without the host `", $feature, "`"))
                    .help(concat!("build it with `--features ", $feature, "`")),
            ])
        }
    )+};
}
left_out! {
    "rules": rules(&str);
    "cedar": cedar(&str);
    "wasm": wasm(&[u8]);
}
