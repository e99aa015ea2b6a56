//! The registry: name to factory. Registration is one visible call and stores, never acts.

use std::collections::BTreeMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use crate::action::ActionParser;
use crate::attacker::Attacker;
use crate::auditor::Auditor;
use crate::model::PreparedModel;
use crate::parameters::{ParameterError, ParameterSpec, Parameters};
use crate::policy::Policy;
use crate::value::Text;

/// What every plugin says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginInfo {
    /// Its name, unique within its kind.
    pub name: Text,
    /// One sentence for `list`.
    pub summary: Text,
    /// Bumped whenever its behaviour changes; part of its hash.
    pub version: u32,
    /// The parameters it takes.
    pub parameters: Vec<ParameterSpec>,
}

/// Two plugins of one kind have the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {kind} called `{name}` is already registered")]
pub struct DuplicateName {
    /// The kind of plugin.
    pub kind: &'static str,
    /// The name.
    pub name: Text,
}

/// A plugin could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// No plugin of that name.
    #[error("no {kind} is called `{name}`; there are: {known}")]
    Unknown {
        /// The kind of plugin.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Its parameters are wrong.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// Its configuration text is wrong; the message names line and column.
    #[error("{0}")]
    Configuration(String),
}

/// Where a plugin comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// [`BUILT_IN`] for code of this program, [`PROFILE`] for a behaviour profile, [`COMPOSED`] for
    /// several policies as one; otherwise the host that loaded it, for example `rules`.
    pub kind: &'static str,
    /// The version of the plugin; for one from a file, of the protocol or grammar that it speaks.
    pub version: u32,
    /// Hash of the text or bytes that it is made of besides code, if there are some.
    pub content: Option<u128>,
}

/// The kind of a plugin that is code of this program.
pub const BUILT_IN: &str = "built_in";
/// The kind of a model that is made of the text of a behaviour profile.
pub const PROFILE: &str = "profile";
/// The kind of a policy that is made of others.
pub const COMPOSED: &str = "composed";

/// Makes a plugin from checked parameters.
pub type Factory<P> = Arc<dyn Fn(&Parameters) -> Result<P, CreateError> + Send + Sync>;

/// Prepares a model from checked parameters and the configuration text that comes with the world.
pub type ModelFactory =
    Arc<dyn Fn(&Parameters, &str) -> Result<Arc<dyn PreparedModel>, CreateError> + Send + Sync>;

/// The plugins of one kind.
#[derive(Clone)]
pub struct Shelf<F> {
    kind: &'static str,
    entries: BTreeMap<Text, Entry<F>>,
}

#[derive(Clone)]
struct Entry<F> {
    info: PluginInfo,
    kind: &'static str,
    /// A hash of the text that the plugin is made of besides its code, if there is one.
    content: Option<u128>,
    factory: F,
}

impl<F> Shelf<F> {
    const fn new(kind: &'static str) -> Self {
        Self {
            kind,
            entries: BTreeMap::new(),
        }
    }

    /// Registers a plugin.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add(&mut self, info: PluginInfo, factory: F) -> Result<(), DuplicateName> {
        self.insert(Entry {
            info,
            kind: BUILT_IN,
            content: None,
            factory,
        })
    }

    /// Registers a plugin that is made of a text, for example a behaviour profile: the text is part
    /// of its hash.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add_from_text(
        &mut self,
        info: PluginInfo,
        text: &str,
        factory: F,
    ) -> Result<(), DuplicateName> {
        self.insert(Entry {
            info,
            kind: PROFILE,
            content: Some(xxh3_128(text.as_bytes())),
            factory,
        })
    }

    /// Registers a plugin of this kind that came from outside the program: `content` is a hash of all
    /// that it is made of, and with the kind part of its own hash.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add_from_outside(
        &mut self,
        info: PluginInfo,
        kind: &'static str,
        content: u128,
        factory: F,
    ) -> Result<(), DuplicateName> {
        self.insert(Entry {
            info,
            kind,
            content: Some(content),
            factory,
        })
    }

    /// Where the plugin called `name` comes from, if there is one.
    #[must_use]
    pub fn origin(&self, name: &str) -> Option<Origin> {
        self.entries.get(name).map(|entry| Origin {
            kind: entry.kind,
            version: entry.info.version,
            content: entry.content,
        })
    }

    fn insert(&mut self, entry: Entry<F>) -> Result<(), DuplicateName> {
        let info = &entry.info;
        if self.entries.contains_key(&info.name) {
            return Err(DuplicateName {
                kind: self.kind,
                name: info.name.clone(),
            });
        }
        self.entries.insert(entry.info.name.clone(), entry);
        Ok(())
    }

    /// Every plugin, by name.
    pub fn infos(&self) -> impl Iterator<Item = &PluginInfo> {
        self.entries.values().map(|entry| &entry.info)
    }

    /// The plugin called `name`.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, name: &str) -> Result<(&PluginInfo, &F), CreateError> {
        self.entries
            .get(name)
            .map(|entry| (&entry.info, &entry.factory))
            .ok_or_else(|| CreateError::Unknown {
                kind: self.kind,
                name: name.to_owned(),
                known: self
                    .entries
                    .keys()
                    .map(|name| &**name)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// The checked parameters of `name` and their content hash: of its name, version, parameters and
    /// the text that it is made of.
    ///
    /// # Errors
    /// When there is no such plugin or a parameter is wrong.
    pub fn resolve(
        &self,
        name: &str,
        given: &BTreeMap<String, String>,
    ) -> Result<(Parameters, u128), CreateError> {
        let (info, _) = self.find(name)?;
        let parameters = Parameters::resolve(name, &info.parameters, given)?;
        let mut identity = Vec::new();
        push_framed(&mut identity, self.kind);
        push_framed(&mut identity, name);
        push_framed(&mut identity, &info.version.to_string());
        for (name, value) in parameters.iter() {
            push_framed(&mut identity, name);
            push_framed(&mut identity, &value.to_string());
        }
        if let Some(Entry { kind, content, .. }) = self.entries.get(name) {
            if let Some(content) = content {
                identity.extend_from_slice(&content.to_le_bytes());
            }
            // Those of this program are told apart by their names alone.
            if ![BUILT_IN, PROFILE].contains(kind) {
                push_framed(&mut identity, kind);
            }
        }
        Ok((parameters, xxh3_128(&identity)))
    }
}

/// Appends `text` with its length, so that no text can pass for the end of one part and the
/// beginning of the next.
fn push_framed(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Every plugin by kind.
#[derive(Clone)]
pub struct Registry {
    /// Policies.
    pub policies: Shelf<Factory<Box<dyn Policy>>>,
    /// Model backends.
    pub models: Shelf<ModelFactory>,
    /// Action parsers.
    pub parsers: Shelf<Factory<Box<dyn ActionParser>>>,
    /// Attackers.
    pub attackers: Shelf<Factory<Box<dyn Attacker>>>,
    /// Auditors.
    pub auditors: Shelf<Factory<Box<dyn Auditor>>>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            policies: Shelf::new("policy"),
            models: Shelf::new("model"),
            parsers: Shelf::new("parser"),
            attackers: Shelf::new("attacker"),
            auditors: Shelf::new("auditor"),
        }
    }
}

#[cfg(test)]
mod tests;
