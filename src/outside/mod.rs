//! Policies from outside the program: from a reference, and the files that it names, to the registry.
//! Attackers and auditors can be processes too.

pub mod reference;

mod host;
mod others;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plugins::compose::Composition;
use plugins::loaded::{LoadedPolicy, Mistake};
use plugins::parameters::Parameters;
use plugins::policy::Policy;
use plugins::registry::{COMPOSED, CreateError, Factory, PluginInfo, Registry};
use xxhash_rust::xxh3::xxh3_128;

pub use host::{Decisions, check_text, foreign_names, is_of_the_kernel, read};
pub use others::{Other, attacker, auditor};
pub use reference::Host;
use reference::{FileReference, Operator, Reference};

/// A policy that was named by a reference and is now in the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    /// What it is called there, in rows and in tables.
    pub name: String,
    /// How it was named, in the form that reads back.
    pub written: String,
    /// The policies from files in it, each by what it is called.
    pub files: Vec<LoadedFile>,
}

/// A policy from a file.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    /// What named it, with the path as it was written.
    pub reference: FileReference,
    /// The file.
    pub path: PathBuf,
    /// What the file holds.
    pub policy: LoadedPolicy,
}

/// A policy that could not be brought into the registry.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OutsideError {
    /// A file is wrong.
    #[error("{}: {}", file.display(), summary(mistakes))]
    File {
        /// The file.
        file: PathBuf,
        /// What it says, if it is text.
        text: Option<String>,
        /// What is wrong, at least one.
        mistakes: Vec<Mistake>,
    },
    /// Two files would be called the same.
    #[error(
        "two different policies would be called `{0}`: rename one of the files, or take them into two studies"
    )]
    SameName(String),
    /// A name or parameter is wrong.
    #[error(transparent)]
    Plugin(#[from] CreateError),
}

fn summary(mistakes: &[Mistake]) -> String {
    let messages: Vec<&str> = mistakes.iter().map(|mistake| &*mistake.message).collect();
    messages.join("; ")
}

/// Registers the policy that `reference` names, and what it is made of. Paths are relative to
/// `folder`. A policy that is registered already is left as it is.
///
/// # Errors
/// When a file is wrong, a name is unknown, or two files would be called the same.
pub fn register(
    registry: &mut Registry,
    reference: &Reference,
    folder: &Path,
) -> Result<Registered, OutsideError> {
    register_with(registry, reference, folder, &|_| None)
}

/// The same, where the answers of some processes are recorded, or played instead of asked for.
///
/// # Errors
/// As [`register`]; also when a recording is of another file.
pub fn register_with(
    registry: &mut Registry,
    reference: &Reference,
    folder: &Path,
    decisions: &dyn Fn(&FileReference) -> Option<Decisions>,
) -> Result<Registered, OutsideError> {
    let mut files = Vec::new();
    let place = Place { folder, decisions };
    let name = put(registry, reference, &place, &mut files)?.name;
    Ok(Registered {
        name,
        written: reference.written(),
        files,
    })
}

/// Where files are, and what was recorded of them.
struct Place<'p> {
    folder: &'p Path,
    decisions: &'p dyn Fn(&FileReference) -> Option<Decisions>,
}

/// A policy in the registry, as part of another one.
struct Part {
    name: String,
    hash: u128,
    make: Factory<Box<dyn Policy>>,
    parameters: Parameters,
}

impl Part {
    fn make(&self) -> Result<Box<dyn Policy>, CreateError> {
        (self.make)(&self.parameters)
    }
}

fn put(
    registry: &mut Registry,
    reference: &Reference,
    place: &Place<'_>,
    files: &mut Vec<LoadedFile>,
) -> Result<Part, OutsideError> {
    match reference {
        Reference::Named { name, parameters } => {
            let (resolved, hash) = registry.policies.resolve(name, parameters)?;
            let make = Arc::clone(registry.policies.find(name)?.1);
            if parameters.is_empty() {
                let parameters = resolved;
                let name = name.clone();
                return Ok(Part {
                    name,
                    hash,
                    make,
                    parameters,
                });
            }
            let summary = format!("`{name}` with parameters of its own");
            let set: Factory<Box<dyn Policy>> = Arc::new(move |_| make(&resolved));
            let origin = registry.policies.origin(name);
            let origin = origin.expect("it was resolved above");
            let identity = (origin.kind, origin.version, hash);
            add(registry, reference, summary, identity, set)
        }
        Reference::File(file) => {
            let policy = host::load(file, place.folder, (place.decisions)(file))?;
            let make = Arc::clone(&policy.make);
            let factory: Factory<Box<dyn Policy>> = Arc::new(move |_| Ok(make()));
            let identity = (policy.kind, policy.version, policy.content);
            let summary = policy.summary.clone();
            files.push(LoadedFile {
                reference: file.clone(),
                path: place.folder.join(&file.path),
                policy,
            });
            add(registry, reference, summary, identity, factory)
        }
        Reference::Composed { operator, members } => {
            let mut parts = Vec::new();
            for (number, member) in members {
                parts.push((*number, put(registry, member, place, files)?));
            }
            let content = content_of(*operator, &parts);
            let factory = composed(*operator, parts);
            let summary = format!("Several policies: {}", operator.name());
            add(
                registry,
                reference,
                summary,
                (COMPOSED, 1, content),
                factory,
            )
        }
    }
}

/// Hash of all that a composition is made of.
fn content_of(operator: Operator, parts: &[(i32, Part)]) -> u128 {
    let mut bytes = operator.name().as_bytes().to_vec();
    for (number, part) in parts {
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&part.hash.to_le_bytes());
    }
    xxh3_128(&bytes)
}

fn composed(operator: Operator, parts: Vec<(i32, Part)>) -> Factory<Box<dyn Policy>> {
    Arc::new(move |_| {
        let made = parts
            .iter()
            .map(|(number, part)| Ok((*number, part.make()?)));
        let made = made.collect::<Result<Vec<_>, CreateError>>()?;
        let plain =
            |made: Vec<(i32, Box<dyn Policy>)>| made.into_iter().map(|(_, it)| it).collect();
        Ok(Box::new(match operator {
            Operator::Strictest => Composition::strictest(plain(made)),
            Operator::FirstHit => Composition::first_hit(plain(made)),
            Operator::Priority => Composition::priority(made),
        }))
    })
}

/// Registers a policy under what its reference calls it.
fn add(
    registry: &mut Registry,
    reference: &Reference,
    summary: String,
    (kind, version, content): (&'static str, u32, u128),
    make: Factory<Box<dyn Policy>>,
) -> Result<Part, OutsideError> {
    let name = reference.to_string();
    match registry.policies.origin(&name) {
        Some(known) if known.kind == kind && known.content == Some(content) => {}
        Some(_) => return Err(OutsideError::SameName(name)),
        None => {
            let info = PluginInfo {
                name: name.as_str().into(),
                summary: summary.into(),
                version,
                parameters: Vec::new(),
            };
            let added = registry
                .policies
                .add_from_outside(info, kind, content, make);
            added.map_err(|_| OutsideError::SameName(name.clone()))?;
        }
    }
    let none = std::collections::BTreeMap::new();
    let (parameters, hash) = registry.policies.resolve(&name, &none)?;
    let make = Arc::clone(registry.policies.find(&name)?.1);
    Ok(Part {
        name,
        hash,
        make,
        parameters,
    })
}
