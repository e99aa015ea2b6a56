//! Options that several commands share, and the rollouts that they describe.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use containment_bench::outside::LoadedFile;
use containment_bench::{Bench, Choice, Scene};
use engine::{Plugins, Rollout, Setting};
use models::recorded::NAME;
use plugins::compose::shadow::Shadow;
use plugins::draws::{RolloutKey, Stratum};
use plugins::parameters::ParameterError;
use plugins::registry::{CreateError, Origin, Registry};
use plugins::setting::{Instrumentation, User};
use study::columns::Hash;
use study::runner::ShadowPolicy;

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::nearest;
use super::policies;
use super::problem::Problem;
use super::profiles;
use super::recordings::{self, Tape};
use super::scenes;
use super::terminal::Terminal;
use super::world_text::Loaded;

/// What is fixed for a rollout besides its world and policy.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SettingArgs {
    /// The model backend, or the file of a behaviour profile; without it `scripted`, or `qwen2_5_7b_instruct` if the script leaves
    /// something to a behaviour profile
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What the model `recorded` says: a file written by `run --record` under the same policy
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// The seed of the rollout
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The seed of the study
    #[arg(long, default_value_t = 1, value_name = "N")]
    study_seed: u64,
    /// The place of the rollout in the group of a study with stratified latent variables, as the
    /// column `stratum` has it
    #[arg(long, value_name = "GROUP:PLACE/PLACES:SLICE/SLICES")]
    stratum: Option<Stratum>,
    /// What the recorded labels are: `paper`, `full`, or
    /// `custom(authority_only=BOOL,choice=BOOL,low_risk=BOOL)`
    #[arg(long, default_value = "paper", value_name = "WHAT", value_parser = instrumentation)]
    instrumentation: Instrumentation,
    /// Who answers confirmations
    #[arg(long, value_parser = users(), default_value = "absent")]
    user: User,
}

impl Default for SettingArgs {
    /// What the options say if none of them is given.
    fn default() -> Self {
        Self {
            model: None,
            recording: None,
            seed: 1,
            study_seed: 1,
            stratum: None,
            instrumentation: Instrumentation::PAPER,
            user: User::Absent,
        }
    }
}

impl SettingArgs {
    fn setting(&self, scene: &Scene) -> Setting {
        Setting {
            key: RolloutKey {
                stratum: self.stratum.clone(),
                ..RolloutKey::new(self.study_seed, scene.scenario.identity.clone(), self.seed)
            },
            instrumentation: self.instrumentation,
            user: self.user,
        }
    }
}

/// Reads the name of an instrumentation, as rows and traces write it.
pub(crate) fn instrumentation(name: &str) -> Result<Instrumentation, String> {
    let choices = [true, false];
    let switches = choices.into_iter().flat_map(|authority_only| {
        let rest = choices
            .into_iter()
            .flat_map(move |choice| choices.map(|low| (choice, low)));
        rest.map(move |(choice, low_risk)| Instrumentation {
            authority_only,
            choice,
            low_risk,
        })
    });
    let mut all = switches.filter(|instrumentation| instrumentation.name() == name);
    all.next().ok_or_else(|| {
        "write `paper`, `full` or `custom(authority_only=true,choice=false,low_risk=true)`".into()
    })
}

/// Reads the name of a user, as rows and traces write it.
fn users() -> impl TypedValueParser<Value = User> {
    let value = |user: User| PossibleValue::new(user.name()).help(answers(user));
    PossibleValuesParser::new(User::ALL.map(value))
        .map(|name| User::named(&name).expect("one of the possible values"))
}

/// What a user says to a confirmation.
const fn answers(user: User) -> &'static str {
    match user {
        User::Absent => "Nobody: what needs a confirmation does not happen",
        User::RubberStamp => "Somebody who approves everything",
        User::Oracle => "Somebody who approves exactly what the true ledger authorises",
        User::Careful => "As the oracle, with 2 % false denials and 5 % false approvals",
    }
}

/// A policy with its parameters.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    /// The policy: a name that `containment list policies` shows, a file as HOST:FILE with the host
    /// process, rules, cedar or wasm, or several as `strictest(A,B)`, `first_hit(A,B)` or
    /// `priority(1:A,2:B)`
    #[arg(long, value_name = "POLICY")]
    policy: String,
    /// A parameter of the policy; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parameter)]
    set: Vec<(String, String)>,
}

impl PolicyArgs {
    /// The policy as the bench of `case` takes it.
    pub(crate) fn choice(&self, case: &mut Case) -> Result<Choice, Failure> {
        case.choice(&self.policy, self.set.iter().cloned().collect())
    }
}

/// Reads `KEY=VALUE`.
pub(crate) fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as KEY=VALUE, for example `checkpoint=true`".to_owned()),
    }
}

/// A scene in a setting: everything of a rollout but its policy.
pub(crate) struct Case {
    /// Every plugin.
    pub(crate) bench: Bench,
    /// The world and its script.
    pub(crate) scene: Scene,
    /// The model backend.
    pub(crate) model: Choice,
    /// The file of its behaviour profile, if it is named by one.
    pub(crate) model_file: Option<PathBuf>,
    /// The recording that the model plays, as the user named it.
    pub(crate) recording: Option<PathBuf>,
    /// The policy that is evaluated beside the others and never enforced.
    pub(crate) shadow: Option<Choice>,
    /// The policies from files.
    pub(crate) outside: Vec<LoadedFile>,
    /// How policies were named by the user that are called otherwise.
    pub(crate) written: BTreeMap<String, String>,
    /// What is fixed for the rollout.
    pub(crate) setting: Setting,
    /// The world as the user named it.
    pub(crate) world: PathBuf,
}

/// The content hashes of the plugins of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashes {
    /// Of the policy.
    pub(crate) policy: u128,
    /// Of the model.
    pub(crate) model: u128,
}

impl Case {
    /// The case that the options describe. Warnings about its world are told at once.
    pub(crate) fn load(
        world: &Path,
        args: &SettingArgs,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let Loaded { scene, warnings } = scenes::load(world)?;
        terminal.complain_all(&warnings);
        let mut bench = Bench::built_in();
        let model_file = args.model.as_ref().filter(|model| profiles::is_file(model));
        let model_file = model_file.map(PathBuf::from);
        let model = match (&model_file, &args.recording) {
            (Some(file), None) => {
                let name = profiles::register(&mut bench.registry, file)?;
                Some(name.as_str().into())
            }
            (_, recording) => {
                recordings::model(args.model.as_deref(), recording.as_deref(), &scene)?
            }
        };
        Ok(Self {
            bench,
            setting: args.setting(&scene),
            model: model.unwrap_or_else(|| models::default_model(&scene.script).into()),
            model_file,
            recording: args.recording.clone(),
            shadow: None,
            outside: Vec::new(),
            written: BTreeMap::new(),
            scene,
            world: world.to_owned(),
        })
    }

    /// The policy that `reference` names, with these parameters, as the bench takes it. What it is made
    /// of is registered.
    pub(crate) fn choice(
        &mut self,
        reference: &str,
        parameters: BTreeMap<String, String>,
    ) -> Result<Choice, Failure> {
        let parsed = policies::parse(reference)?;
        let registered = policies::register(&mut self.bench.registry, &parsed, Path::new(""))?;
        if registered.name != reference {
            let written = reference.to_owned();
            self.written.insert(registered.name.clone(), written);
        }
        self.outside.extend(registered.files);
        Ok(Choice {
            name: registered.name,
            parameters,
        })
    }

    /// How a policy of this case is named on the command line.
    pub(crate) fn written<'n>(&'n self, policy: &'n str) -> &'n str {
        self.written.get(policy).map_or(policy, |written| written)
    }

    /// The plugins of a rollout under `policy`.
    pub(crate) fn plugins(&self, policy: &Choice) -> Result<Plugins, Failure> {
        let made = |error: &CreateError| plugin_failure(&self.bench.registry, error);
        let plugins = self.bench.plugins(&self.scene, policy, &self.model);
        let plugins = plugins.map_err(|error| made(&error))?;
        let Some(shadow) = &self.shadow else {
            return Ok(plugins);
        };
        let shadow = self.bench.policy(shadow).map_err(|error| made(&error))?;
        Ok(Plugins {
            policy: Box::new(Shadow::new(plugins.policy, shadow.policy)),
            ..plugins
        })
    }

    /// The policy in the shadow, as rows have it.
    pub(crate) fn shadow_policy(&self) -> Option<ShadowPolicy> {
        let shadow = self.shadow.as_ref()?;
        let policies = &self.bench.registry.policies;
        let (_, hash) = policies.resolve(&shadow.name, &shadow.parameters).ok()?;
        Some(ShadowPolicy {
            name: shadow.name.as_str().into(),
            hash: Hash(hash),
        })
    }

    /// Where a policy comes from.
    pub(crate) fn origin(&self, policy: &Choice) -> Origin {
        let origin = self.bench.registry.policies.origin(&policy.name);
        origin.expect("the policy was made before")
    }

    /// A rollout under `policy` that is about to begin, and the hashes of its plugins.
    pub(crate) fn start(&self, policy: &Choice) -> Result<(Rollout, Hashes), Failure> {
        Ok(self.start_with(self.plugins(policy)?))
    }

    /// The same, with everything written down that the model says.
    pub(crate) fn start_recorded(
        &self,
        policy: &Choice,
    ) -> Result<(Rollout, Hashes, Tape), Failure> {
        let plugins = self.plugins(policy)?;
        let (plugins, tape) = Tape::insert(plugins, &self.model.name, &self.scene);
        let (rollout, hashes) = self.start_with(plugins);
        Ok((rollout, hashes, tape))
    }

    fn start_with(&self, plugins: Plugins) -> (Rollout, Hashes) {
        let hashes = Hashes {
            policy: plugins.policy_hash,
            model: plugins.model_hash,
        };
        let rollout = Rollout::new(&self.scene.scenario, plugins, &self.setting);
        (rollout, hashes)
    }

    /// The command that runs this case under `policy`.
    pub(crate) fn command(&self, policy: &Choice) -> String {
        let mut words = vec!["run".to_owned(), self.world.display().to_string()];
        words.extend(["--policy".to_owned(), self.written(&policy.name).to_owned()]);
        for (key, value) in &policy.parameters {
            words.extend(["--set".to_owned(), format!("{key}={value}")]);
        }
        if let Some(shadow) = &self.shadow {
            words.extend(["--shadow".to_owned(), self.written(&shadow.name).to_owned()]);
        }
        words.extend(self.setting_words());
        command_line(&words)
    }

    /// The model as it is named: by its file if it has one.
    fn model_words(&self) -> String {
        match &self.model_file {
            Some(file) => file.display().to_string(),
            None => self.model.name.clone(),
        }
    }

    fn setting_words(&self) -> Vec<String> {
        let Setting {
            key,
            instrumentation,
            user,
        } = &self.setting;
        let recording = self
            .recording
            .as_ref()
            .map(|path| path.display().to_string());
        let words = [
            flag(
                "--model",
                &self.model_words(),
                models::default_model(&self.scene.script),
            ),
            flag("--recording", &recording.unwrap_or_default(), ""),
            flag("--seed", &key.rollout_seed.to_string(), ""),
            flag("--study-seed", &key.study_seed.to_string(), "1"),
            flag("--instrumentation", &instrumentation.name(), "paper"),
            flag("--user", user.name(), "absent"),
            key.stratum.as_ref().map_or_else(Vec::new, |stratum| {
                flag("--stratum", &stratum.to_string(), "")
            }),
        ];
        words.concat()
    }
}

/// `--flag value`, unless the value is the default.
fn flag(name: &str, value: &str, default: &str) -> Vec<String> {
    if value == default {
        Vec::new()
    } else {
        vec![name.to_owned(), value.to_owned()]
    }
}

/// A command line of this program that a shell reads back as `words`.
pub(crate) fn command_line(words: &[String]) -> String {
    let mut line = "containment".to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&quoted(word));
    }
    line
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@+%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Why a plugin could not be made, with the nearest name there is.
pub(crate) fn plugin_failure(registry: &Registry, error: &CreateError) -> Failure {
    let help = match error {
        CreateError::Unknown { kind, name, .. } => {
            let policies = registry.policies.infos().map(|info| &*info.name);
            let models = registry.models.infos().map(|info| &*info.name);
            match *kind {
                "policy" => nearest::suggestion(name, policies),
                "model" => nearest::suggestion(name, models),
                _ => None,
            }
        }
        CreateError::Parameters(ParameterError::Unknown { plugin, .. }) => Some(format!(
            "`containment list policies` shows the parameters of `{plugin}`"
        )),
        CreateError::Parameters(ParameterError::Value { plugin, .. }) if plugin == NAME => Some(
            "name its file with --recording to `run`, `step`, `trace` or `pair`; rows and traces do \
             not hold it"
                .to_owned(),
        ),
        CreateError::Parameters(ParameterError::Value { .. }) => None,
        CreateError::Configuration(message) => {
            let problem = Problem::new(format!("the model cannot play this script: {message}"));
            return Failure::new(Exit::Invalid, problem.code(Code::ScriptSyntax));
        }
    };
    Failure::usage(error.to_string(), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["run", "my world.ron", "it's", ""].map(str::to_owned);
        let expected = r"containment run 'my world.ron' 'it'\''s' ''";
        assert_eq!(command_line(&words), expected);
    }

    #[test]
    fn every_instrumentation_is_read_by_its_name() {
        assert_eq!(instrumentation("paper"), Ok(Instrumentation::PAPER));
        assert_eq!(instrumentation("full"), Ok(Instrumentation::FULL));
        let custom = Instrumentation {
            low_risk: true,
            ..Instrumentation::PAPER
        };
        assert_eq!(instrumentation(&custom.name()), Ok(custom));
        assert!(instrumentation("papr").is_err());
    }

    #[test]
    fn a_parameter_is_a_pair() {
        let pair = ("key".to_owned(), "a=b".to_owned());
        assert_eq!(parameter("key=a=b"), Ok(pair));
        assert!(parameter("key").is_err());
        assert!(parameter("=value").is_err());
    }
}
