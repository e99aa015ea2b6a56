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
    if let Some(family) = family_at(path) {
        return families::load_all(&family);
    }
    let Loaded { scene, warnings } = load(path)?;
    Ok(Family {
        scenes: vec![scene],
        warnings,
    })
}

/// The world at `path` that is called so, which may be one of a family, and the path that names it.
pub(crate) fn load_called(path: &Path, identity: &str) -> Option<(PathBuf, Scene)> {
    let is_it = |scene: &Scene| &*scene.scenario.identity == identity;
    let scene = load_all(path).ok()?.scenes.into_iter().find(is_it)?;
    let path = match family_at(path) {
        Some(_) => families::member_path(path, identity),
        None => path.to_owned(),
    };
    Some((path, scene))
}

/// The family file at `path`, if it is one.
fn family_at(path: &Path) -> Option<WorldText> {
    if families::member_of(path).is_some() {
        return None;
    }
    find(path).ok().filter(|world| is_family(&world.text))
}
