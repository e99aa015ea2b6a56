//! From what was written down of a rollout back to the rollout: its world, plugins and setting.

use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};

use containment_bench::outside::LoadedFile;
use containment_bench::outside::reference::FileReference;
use containment_bench::{Bench, Choice, Scene};
use engine::Setting;
use engine::export::jsonl::POLICY_FILES;
use plugins::draws::{RolloutKey, Stratum};
use plugins::setting::User;
use study::manifest::Circumstances;
use study::row::Row;

use super::codes::Code;
use super::decisions::Recordings;
use super::failure::Failure;
use super::options::{self, Case};
use super::policies;
use super::problem::Problem;
use super::profiles;
use super::records::TraceFile;
use super::scenes;
use super::shipped;

/// The rows with an id that begins so; all of them without one.
pub(crate) fn chosen<'r>(rows: &'r [Row], id: Option<&str>) -> Result<Vec<&'r Row>, Failure> {
    let Some(id) = id else {
        return Ok(rows.iter().collect());
    };
    let begins = |row: &&Row| row.identity.rollout_id.to_string().starts_with(id);
    let found: Vec<&Row> = rows.iter().filter(begins).collect();
    match found.len() {
        1 => Ok(found),
        0 => {
            let help = "the column `rollout_id` of rows.csv has the ids; the beginning is enough";
            Err(Failure::usage(
                format!("no row has an id that begins with `{id}`"),
                Some(help.into()),
            ))
        }
        count => {
            let message = format!("{count} rows have an id that begins with `{id}`");
            Err(Failure::usage(message, Some("give more of it".to_owned())))
        }
    }
}

/// The worlds that a record may be about.
pub(crate) struct Library {
    /// Where each may lie, best first.
    candidates: Vec<PathBuf>,
    /// What lies at the paths that were looked at.
    read: BTreeMap<PathBuf, Vec<Scene>>,
    found: BTreeMap<String, (PathBuf, Scene)>,
    /// Where the profile of a model may lie that is not inside the program.
    profiles: Vec<PathBuf>,
    /// The files of policies.
    policies: Vec<FileReference>,
    /// Where the files that a trace names may lie.
    around: Vec<PathBuf>,
    /// The folder of the result, until what is recorded there was read.
    folder: Option<PathBuf>,
    /// The answers of processes that were recorded.
    recordings: Recordings,
    /// Whether processes are run that a record names.
    processes: bool,
    /// The plugins that were put together so far, by the names of model and policies: to load a
    /// policy can take long.
    equipped: BTreeMap<Vec<String>, Equipped>,
}

impl Library {
    /// The worlds of the result in `folder`: those given, those of its study file, and the shipped
    /// ones. The study file was named relative to the folder where the study ran: this one, or one in
    /// which the result lies.
    pub(crate) fn of(circumstances: &Circumstances, folder: &Path, given: &[PathBuf]) -> Self {
        let file = circumstances.study_file.as_ref().map(Path::new);
        let beside = file.and_then(Path::parent);
        let absolute = folder.canonicalize().unwrap_or_default();
        let roots = iter::once(Path::new("")).chain(absolute.ancestors());
        let folders = roots.filter_map(|root| Some(root.join(beside?)));
        let folders: Vec<PathBuf> = folders.collect();
        let named_by_study = |names: &[String]| -> Vec<PathBuf> {
            let in_folder = |folder: &PathBuf| -> Vec<PathBuf> {
                names.iter().map(|name| folder.join(name)).collect()
            };
            folders.iter().flat_map(in_folder).collect()
        };
        // Those named on the command line are relative to the folder where the study ran.
        let roots = iter::once(PathBuf::new()).chain(absolute.ancestors().map(PathBuf::from));
        let of_policies: Vec<PathBuf> = folders.iter().cloned().chain(roots).collect();
        let of_study = named_by_study(&circumstances.world_files);
        // A study inside the program names worlds inside it.
        let names = circumstances.world_files.iter().filter_map(|world| {
            let name = Path::new(world).file_stem()?;
            shipped::world(name.to_str()?).map(|world| PathBuf::from(world.name))
        });
        Self {
            candidates: given.iter().cloned().chain(of_study).chain(names).collect(),
            read: BTreeMap::new(),
            found: BTreeMap::new(),
            profiles: named_by_study(&circumstances.model_files),
            policies: policies::existing(&circumstances.policy_files, &of_policies),
            around: Vec::new(),
            folder: Some(folder.to_owned()),
            recordings: Recordings::default(),
            processes: false,
            equipped: BTreeMap::new(),
        }
    }

    /// The worlds given, and those beside a trace.
    pub(crate) fn beside(trace: &Path, given: &[PathBuf]) -> Self {
        let folder = match trace.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let beside = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let worlds = beside.map(|entry| entry.path());
        let worlds = worlds.filter(|path| path.extension().is_some_and(|ending| ending == "ron"));
        let worlds: Vec<PathBuf> = worlds.collect();
        Self {
            candidates: given.iter().chain(&worlds).cloned().collect(),
            read: BTreeMap::new(),
            found: BTreeMap::new(),
            profiles: worlds,
            policies: Vec::new(),
            around: vec![PathBuf::new(), folder.to_owned()],
            folder: None,
            recordings: Recordings::default(),
            processes: false,
            equipped: BTreeMap::new(),
        }
    }

    /// With the processes that a record names, or without them.
    pub(crate) fn with_processes(mut self, processes: bool) -> Self {
        self.processes = processes;
        self
    }

    /// What policies that are called so are with their files.
    pub(crate) fn written(&self, names: &[&str]) -> Option<Vec<String>> {
        let names = names.iter();
        names
            .map(|name| policies::found(name, &self.policies))
            .collect()
    }

    /// Whether processes are run that a record names.
    pub(crate) const fn runs_processes(&self) -> bool {
        self.processes
    }

    /// The world of this identity that says what the record is about.
    pub(crate) fn world(
        &mut self,
        identity: &str,
        hash: &str,
    ) -> Result<(PathBuf, Scene), Failure> {
        if let Some(found) = self.found.get(identity) {
            return Ok(found.clone());
        }
        // A world of a family is called by family and variant, whatever its file is called.
        let is_named = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == identity);
        let (mut paths, others): (Vec<PathBuf>, Vec<PathBuf>) =
            self.candidates.iter().cloned().partition(is_named);
        paths.push(PathBuf::from(identity));
        paths.extend(others);
        if identity.contains('/') {
            paths.extend(shipped::families().map(PathBuf::from));
        }
        let fits = |scene: &Scene| format!("{:032x}", scene.scenario.content_hash) == hash;
        let mut others = 0;
        for path in paths {
            let called = self.called(&path, identity);
            if let Some(scene) = called.iter().find(|scene| fits(scene)) {
                let found = (scenes::path_of(&path, scene), scene.clone());
                self.found.insert(identity.to_owned(), found.clone());
                return Ok(found);
            }
            others += called.len();
        }
        Err(missing_world(identity, hash, others))
    }

    /// Every plugin, with model and policies of these names if they are found.
    fn bench(&mut self, model: &str, policies: &[&str]) -> Result<Equipped, Failure> {
        let names = iter::once(&model).chain(policies);
        let names: Vec<String> = names.map(|&name| name.to_owned()).collect();
        if let Some(equipped) = self.equipped.get(&names) {
            return Ok(equipped.clone());
        }
        if let Some(folder) = self.folder.take() {
            self.recordings = Recordings::read(&folder, &self.policies)?;
        }
        let mut bench = Bench::built_in();
        let model_file = profiles::register_found(&mut bench.registry, model, &self.profiles)?;
        let mut outside = Vec::new();
        let mut written = BTreeMap::new();
        for name in policies {
            if !self.processes && !policies::is_played(name, &self.recordings) {
                return Err(no_consent(name));
            }
            let files = &self.policies;
            let registered =
                policies::register_called(&mut bench.registry, name, files, &self.recordings)?;
            written.insert(registered.name, registered.written);
            outside.extend(registered.files);
        }
        let equipped = Equipped {
            bench,
            model_file,
            outside,
            written,
        };
        self.equipped.insert(names, equipped.clone());
        Ok(equipped)
    }

    /// The worlds at `path` that are called so.
    fn called(&mut self, path: &Path, identity: &str) -> Vec<Scene> {
        let read = self.read.entry(path.to_owned()).or_insert_with(|| {
            let family = scenes::load_all(path);
            family.map_or_else(|_| Vec::new(), |family| family.scenes)
        });
        let called = read.iter();
        let called = called.filter(|scene| &*scene.scenario.identity == identity);
        called.cloned().collect()
    }
}

/// A record can come from anybody, and what it names must not run unasked.
fn no_consent(name: &str) -> Failure {
    let message =
        format!("`{name}` runs as a process, and the record that names it may be anybody's");
    let help = "add --processes if you trust who wrote it";
    Problem::new(message)
        .code(Code::WrongFile)
        .help(help)
        .into()
}

/// Every plugin, with those from files.
#[derive(Clone)]
struct Equipped {
    bench: Bench,
    model_file: Option<PathBuf>,
    outside: Vec<LoadedFile>,
    /// How the policies are named on a command line.
    written: BTreeMap<String, String>,
}

fn missing_world(identity: &str, hash: &str, others: usize) -> Failure {
    let message = if others == 0 {
        format!("the world `{identity}` is not found")
    } else {
        format!("the world `{identity}` has changed: it no longer has the hash {hash}")
    };
    let help = if identity.contains('/') {
        "name its family file as it was then: --world .../FAMILY.ron".to_owned()
    } else {
        format!("name the file as it was then: --world .../{identity}.ron")
    };
    Problem::new(message)
        .code(Code::WrongFile)
        .help(help)
        .into()
}

/// The case of a row, and its policy.
pub(crate) fn case_of_row(row: &Row, library: &mut Library) -> Result<(Case, Choice), Failure> {
    let identity = &row.identity;
    let hash = identity.scenario_hash.to_string();
    let (world, scene) = library.world(&identity.scenario_id, &hash)?;
    let damaged = |column: &str| Failure::from(unknown_value(column));
    let instrumentation = options::instrumentation(&identity.instrumentation);
    let stratum = identity.stratum.as_ref().map(|stratum| stratum.parse());
    let stratum = stratum.transpose().map_err(|_| damaged("stratum"))?;
    let shadow = row.shadow.shadow.as_deref();
    let policies: Vec<&str> = iter::once(&*identity.policy).chain(shadow).collect();
    let Equipped {
        bench,
        model_file,
        outside,
        written,
    } = library.bench(&identity.model, &policies)?;
    let case = Case {
        bench,
        model: (&*identity.model).into(),
        model_file,
        recording: None,
        shadow: shadow.map(Choice::from),
        written,
        outside,
        setting: Setting {
            key: key(&scene, identity.study_seed, identity.seed, stratum),
            instrumentation: instrumentation.map_err(|_| damaged("instrumentation"))?,
            user: User::named(&identity.user).ok_or_else(|| damaged("user"))?,
        },
        scene,
        world,
    };
    Ok((case, (&*identity.policy).into()))
}

/// The case of a trace, and its policy.
pub(crate) fn case_of_trace(
    trace: &TraceFile,
    library: &mut Library,
) -> Result<(Case, Choice), Failure> {
    let (world, scene) = library.world(trace.text("scenario")?, trace.text("scenario_hash")?)?;
    let damaged = |key: &str| Failure::from(unknown_value(key).file(&*trace.name));
    let instrumentation = options::instrumentation(trace.text("instrumentation")?);
    let user = trace.text("user")?;
    let stratum = trace.optional_text("stratum")?.map(str::parse);
    let stratum = stratum.transpose().map_err(|_| damaged("stratum"))?;
    let policy = Choice {
        name: trace.text("policy")?.to_owned(),
        parameters: trace.texts("policy_parameters")?,
    };
    let model = trace.text("model")?;
    let files = trace.texts_in(POLICY_FILES)?;
    library.policies = policies::existing(&files, &library.around);
    let Equipped {
        bench,
        model_file,
        outside,
        written,
    } = library.bench(model, &[&policy.name])?;
    let case = Case {
        bench,
        model: model.into(),
        model_file,
        recording: None,
        shadow: None,
        written,
        outside,
        setting: Setting {
            key: key(
                &scene,
                trace.number("study_seed")?,
                trace.number("seed")?,
                stratum,
            ),
            instrumentation: instrumentation.map_err(|_| damaged("instrumentation"))?,
            user: User::named(user).ok_or_else(|| damaged("user"))?,
        },
        scene,
        world,
    };
    Ok((case, policy))
}

fn key(scene: &Scene, study_seed: u64, seed: u64, stratum: Option<Stratum>) -> RolloutKey {
    RolloutKey {
        stratum,
        ..RolloutKey::new(study_seed, scene.scenario.identity.clone(), seed)
    }
}

fn unknown_value(what: &str) -> Problem {
    Problem::new(format!(
        "`{what}` holds a value that this program does not know"
    ))
    .code(Code::WrongFile)
}
