//! The worlds of family files, with their scripts: `FILE#FAMILY/VARIANT` is one of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use containment_bench::Scene;
use worlds::family::{CheckedFamily, Member, check_family};

use super::codes::Code;
use super::failure::Failure;
use super::files;
use super::nearest;
use super::problem::{Complaint, Problem};
use super::world_text::{self, Loaded, WorldText};

/// What stands between a family file and the identity of one of its worlds.
const MARK: char = '#';

/// The worlds of a family file, none of them with an error.
pub(crate) struct Family {
    /// The worlds with their scripts, in the order of the file.
    pub(crate) scenes: Vec<Scene>,
    /// What is suspicious about them: warnings only.
    pub(crate) warnings: Vec<Complaint>,
}

/// The file and the identity if `path` names a world of a family. A file of that name comes first.
pub(crate) fn member_of(path: &Path) -> Option<(PathBuf, String)> {
    if path.exists() {
        return None;
    }
    let (file, identity) = path.to_str()?.rsplit_once(MARK)?;
    Some((file.into(), identity.to_owned()))
}

/// The path that names a world of a family.
pub(crate) fn member_path(file: &Path, identity: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(format!("{MARK}{identity}"));
    path.into()
}

/// One world of a family.
pub(crate) fn load(file: &Path, identity: &str) -> Result<Loaded, Failure> {
    let Family { scenes, warnings } = load_all(&world_text::find(file)?)?;
    let is_it = |scene: &&Scene| &*scene.scenario.identity == identity;
    match scenes.iter().find(is_it) {
        Some(scene) => Ok(Loaded {
            scene: scene.clone(),
            warnings,
        }),
        None => Err(no_such_member(file, identity, &scenes).into()),
    }
}

/// Every world of a family.
pub(crate) fn load_all(family: &WorldText) -> Result<Family, Failure> {
    let CheckedFamily { members, report } = check_family(&family.text, &family.origin);
    let Some(members) = members else {
        return Err(report.into());
    };
    let mut problems = world_text::family_script_problems(family, &members);
    if let Some(wrong) = problems.iter().position(Problem::is_error) {
        return Err(problems.swap_remove(wrong).into());
    }
    let scenes = members.into_iter().map(|member| scene(member, family));
    let scenes: Vec<Scene> = scenes.collect::<Result<_, _>>()?;
    let report = (!report.is_empty()).then(|| Complaint::from(report));
    let problems = problems.into_iter().map(Complaint::from);
    Ok(Family {
        scenes,
        warnings: report.into_iter().chain(problems).collect(),
    })
}

fn scene(member: Member, family: &WorldText) -> Result<Scene, Failure> {
    let Some(script) = member.script else {
        let message = format!("the world `{}` has no script", member.scenario.identity);
        let problem = Problem::new(message)
            .code(Code::WrongFile)
            .file(&family.origin);
        let help = "give `script: Script(agents: {})` beside `world`; with it agents answer `done`";
        return Err(problem.help(help).into());
    };
    Ok(Scene {
        scenario: Arc::new(member.scenario),
        script: script.text().into(),
    })
}

fn no_such_member(file: &Path, identity: &str, scenes: &[Scene]) -> Problem {
    let name = files::shown(file);
    let known = || scenes.iter().map(|scene| &*scene.scenario.identity);
    let help = nearest::suggestion(identity, known()).or_else(|| first_member(file, scenes));
    Problem::new(format!("`{name}` has no world `{identity}`"))
        .code(Code::Unreadable)
        .file(name)
        .maybe_help(help)
}

/// That a command which takes one world was given a whole family.
pub(crate) fn which_member(family: &WorldText) -> Failure {
    let file = Path::new(&family.origin);
    let message = format!("`{}` is a family of worlds", family.origin);
    let problem = Problem::new(message)
        .code(Code::WrongFile)
        .file(&family.origin);
    match load_all(family) {
        Ok(Family { scenes, .. }) => problem.maybe_help(first_member(file, &scenes)).into(),
        Err(failure) => failure,
    }
}

fn first_member(file: &Path, scenes: &[Scene]) -> Option<String> {
    let first = scenes.first()?;
    let path = member_path(file, &first.scenario.identity);
    Some(format!(
        "name one of its worlds, for example `{}`",
        files::shown(&path)
    ))
}
