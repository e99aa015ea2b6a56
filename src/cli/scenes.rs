//! Worlds with their scripts, ready to run: one, or all of a family.

use std::path::{Path, PathBuf};

use containment_bench::Scene;
use worlds::family::is_family;

use super::failure::Failure;
use super::families::{self, Family};
use super::world_text::{Loaded, WorldText, find};

/// The world at `path` with its script, both without errors; `FILE#FAMILY/VARIANT` is one of a family.
pub(crate) fn load(path: &Path) -> Result<Loaded, Failure> {
    if let Some((file, identity)) = families::member_of(path) {
        return families::load(&file, &identity);
    }
    let world = find(path)?;
    if is_family(&world.text) {
        return Err(families::which_member(&world));
    }
    world.load()
}

/// The world at `path`, or all worlds of the family there, with their scripts and without errors.
pub(crate) fn load_all(path: &Path) -> Result<Family, Failure> {
    if families::member_of(path).is_some() {
        return load(path).map(alone);
    }
    load_text(find(path)?)
}

/// The same, of a text.
pub(crate) fn load_text(world: WorldText) -> Result<Family, Failure> {
    if is_family(&world.text) {
        return families::load_all(&world);
    }
    world.load().map(alone)
}

fn alone(Loaded { scene, warnings }: Loaded) -> Family {
    Family {
        scenes: vec![scene],
        warnings,
    }
}

/// The path that names a world at `path`, which may be one of a family.
pub(crate) fn path_of(path: &Path, scene: &Scene) -> PathBuf {
    let is_family = find(path).is_ok_and(|world| is_family(&world.text));
    if is_family && families::member_of(path).is_none() {
        families::member_path(path, &scene.scenario.identity)
    } else {
        path.to_owned()
    }
}
