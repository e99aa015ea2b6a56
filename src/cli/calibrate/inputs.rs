//! What `calibrate` reads: a profile and its targets, from files or from inside the program. A file
//! comes first.

use std::path::Path;

use models::profile::SHIPPED;
use worlds::places::place_of;

use super::targets::Source;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{self, MAX_SOURCE_BYTES};
use crate::cli::nearest;
use crate::cli::problem::Problem;
use crate::cli::profiles;

/// What the shipped profiles were fitted to, by the name of the profile.
const TARGETS: [(&str, &str); 2] = [
    (
        "qwen2_5_7b_instruct",
        include_str!("../../../models/profiles/qwen2_5_7b_instruct.targets.ron"),
    ),
    (
        "mistral_7b_instruct_v0_2",
        include_str!("../../../models/profiles/mistral_7b_instruct_v0_2.targets.ron"),
    ),
];

/// The profile in a file, or the shipped one of that name.
pub(super) fn profile(path: &Path) -> Result<Source, Failure> {
    if let Some((name, text)) = shipped_profile(path) {
        return Ok(Source {
            origin: format!("models/profiles/{name}.ron"),
            text: text.to_owned(),
        });
    }
    let origin = files::shown(path);
    let text = files::text(path, MAX_SOURCE_BYTES).map_err(|problem| {
        let known = SHIPPED.iter().map(|(name, ..)| *name);
        problem.maybe_help(nearest::suggestion(&origin, known))
    })?;
    let exit = if profiles::is_of_another_version(&text) {
        Exit::UnsupportedVersion
    } else {
        Exit::Invalid
    };
    profiles::parse(&origin, &text).map_err(|problem| Failure::new(exit, problem))?;
    if place_of(&text, "schema").is_none() {
        let message = format!("no value of `{origin}` can be found again to be changed");
        let help = "leave out `#![enable(...)]`, and keep every list below 4,096 entries";
        return Err(Problem::new(message).file(origin).help(help).into());
    }
    Ok(Source { origin, text })
}

/// The targets in a file, or those of the shipped profile that is named.
pub(super) fn targets(path: Option<&Path>, profile: &Path) -> Result<Source, Failure> {
    let Some(named) = path.or_else(|| shipped_profile(profile).map(|_| profile)) else {
        let message = "a profile from a file needs `--targets FILE`";
        let help = "name the file that says which published number identifies which parameter; \
                    the shipped ones are named like their profiles";
        return Err(Failure::usage(message, Some(help.to_owned())));
    };
    if !named.is_file()
        && let Some((name, text)) = TARGETS.iter().find(|(name, _)| named == Path::new(name))
    {
        return Ok(Source {
            origin: format!("models/profiles/{name}.targets.ron"),
            text: (*text).to_owned(),
        });
    }
    Ok(Source {
        origin: files::shown(named),
        text: files::text(named, MAX_SOURCE_BYTES)?,
    })
}

/// Name and text of the shipped profile that a path means.
fn shipped_profile(path: &Path) -> Option<(&'static str, &'static str)> {
    if path.is_file() {
        return None;
    }
    let mut shipped = SHIPPED.iter();
    let (name, _, text) = shipped.find(|(name, ..)| path == Path::new(name))?;
    Some((name, text))
}

#[cfg(test)]
mod tests {
    use super::super::targets::Targets;
    use super::*;

    #[test]
    fn every_shipped_profile_has_its_targets_inside() {
        let profiles = SHIPPED.map(|(name, ..)| name);
        assert_eq!(profiles, TARGETS.map(|(name, _)| name));
        for name in profiles {
            let path = Path::new(name);
            let profile = profile(path).expect("a profile");
            let source = targets(None, path).expect("targets");
            Targets::read(source, &profile.text).expect("targets that fit");
        }
    }
}
