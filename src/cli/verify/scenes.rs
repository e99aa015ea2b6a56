//! The worlds that a result is about, as far as they are still to be found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use containment_bench::Scene;
use plugins::label::Readers;

use super::found::Found;
use crate::cli::library::Library;

/// Bytes of the shortest private value that is searched for: a shorter one is an ordinary word.
const SHORTEST_PRIVATE: usize = 12;

/// Scenarios times world files, more of which no study has; a manifest may name any number.
const MOST_LOOKED_FOR: usize = 20_000_000;

/// The worlds of a result.
pub(super) struct Worlds {
    /// From rows and traces back to their rollouts.
    pub(super) library: Library,
    /// Those that are as they were.
    pub(super) scenes: Vec<Scene>,
    /// How many the manifest names.
    pub(super) named: usize,
}

impl Worlds {
    /// Looks for the worlds that the manifest names: in `given` files, where the study was, and inside
    /// the program.
    pub(super) fn of(found: &Found, folder: &Path, given: &[PathBuf], processes: bool) -> Self {
        let circumstances = found.manifest.as_ref().map(|found| &found.circumstances);
        let circumstances = circumstances.cloned().unwrap_or_default();
        let mut library = Library::of(&circumstances, folder, given).with_processes(processes);
        let named = found
            .manifest
            .iter()
            .flat_map(|found| &found.frozen.scenarios);
        let named: Vec<_> = named.collect();
        let places = circumstances.world_files.len() + given.len() + 1;
        let mut scenes = Vec::new();
        if named.len().saturating_mul(places) <= MOST_LOOKED_FOR {
            for scenario in &named {
                let world = library.world(&scenario.id, &scenario.hash.to_string());
                scenes.extend(world.map(|(_, scene)| scene));
            }
        }
        Self {
            library,
            scenes,
            named: named.len(),
        }
    }

    /// How many of them were found, in words.
    pub(super) fn counted(&self) -> String {
        format!("{} of {} worlds", self.scenes.len(), self.named)
    }

    /// The canaries that the worlds declare.
    pub(super) fn canaries(&self) -> BTreeSet<String> {
        let canaries = self.scenes.iter().flat_map(|scene| {
            let canaries = scene.scenario.briefing.canaries.iter();
            canaries.map(|canary| canary.token.to_string())
        });
        canaries.collect()
    }

    /// The values that not everybody may read.
    pub(super) fn private(&self) -> BTreeSet<String> {
        let sources = self.scenes.iter().flat_map(|scene| &scene.scenario.sources);
        let fields = sources.flat_map(|source| source.content.fields.iter().zip(&source.labels));
        let private = fields.filter(|(field, label)| {
            label.readers != Readers::Everyone && field.value.len() >= SHORTEST_PRIVATE
        });
        private.map(|(field, _)| field.value.to_string()).collect()
    }

    /// Every value in the worlds.
    pub(super) fn values(&self) -> impl Iterator<Item = (&Scene, &str)> {
        self.scenes.iter().flat_map(|scene| {
            let sources = scene.scenario.sources.iter();
            let fields = sources.flat_map(|source| &source.content.fields);
            fields.map(move |field| (scene, &*field.value))
        })
    }
}
