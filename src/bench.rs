//! The registry of plugins, and how a rollout is put together from names.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Plugins, Rollout, Setting};
use plugins::action::ActionParser;
use plugins::attacker::Fixed;
use plugins::auditor::ClosureAuditor;
use plugins::draws::RolloutKey;
use plugins::parameters::Parameters;
use plugins::policy::Policy;
use plugins::registry::{CreateError, DuplicateName, PluginInfo, Registry};
use plugins::setting::{Instrumentation, User};
use study::columns::Hash;
use study::plan::cast::{PARSER, profile_hash};

use crate::{Error, Scene};

/// A plugin by name, with the parameters a user gave as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Its parameters by name; the rest have their defaults.
    pub parameters: BTreeMap<String, String>,
}

impl From<&str> for Choice {
    fn from(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            parameters: BTreeMap::new(),
        }
    }
}

/// A policy for one rollout.
pub struct MadePolicy {
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// Hash of its version, its parameters and what it is made of.
    pub hash: u128,
}

/// Everything that rollouts are made from.
#[derive(Clone)]
pub struct Bench {
    /// The plugins by name. Add your own before you run.
    pub registry: Registry,
}

impl Bench {
    /// A bench with every built-in plugin.
    ///
    /// # Panics
    /// Never: the built-in names are distinct, which a test checks.
    #[must_use]
    pub fn built_in() -> Self {
        let mut registry = Registry::new();
        register(&mut registry).expect("the names of built-in plugins are distinct");
        Self { registry }
    }

    /// The plugins of one rollout.
    ///
    /// # Errors
    /// When a name is unknown, a parameter is wrong or the script has mistakes.
    pub fn plugins(
        &self,
        scene: &Scene,
        policy: &Choice,
        model: &Choice,
    ) -> Result<Plugins, CreateError> {
        let MadePolicy {
            policy,
            hash: policy_hash,
        } = self.policy(policy)?;
        let (parameters, model_hash) = self
            .registry
            .models
            .resolve(&model.name, &model.parameters)?;
        let Hash(model_hash) = profile_hash(Hash(model_hash), &scene.script);
        let model = (self.registry.models.find(&model.name)?.1)(&parameters, &scene.script)?.make();
        Ok(Plugins {
            policy,
            policy_hash,
            model,
            model_hash,
            parser: self.parser()?,
        })
    }

    /// A policy and its hash.
    ///
    /// # Errors
    /// When the name is unknown or a parameter is wrong.
    pub fn policy(&self, choice: &Choice) -> Result<MadePolicy, CreateError> {
        let policies = &self.registry.policies;
        let (parameters, hash) = policies.resolve(&choice.name, &choice.parameters)?;
        let policy = (policies.find(&choice.name)?.1)(&parameters)?;
        Ok(MadePolicy { policy, hash })
    }

    /// The action parser.
    ///
    /// # Errors
    /// When it is not registered.
    pub fn parser(&self) -> Result<Arc<dyn ActionParser>, CreateError> {
        let (_, make) = self.registry.parsers.find(PARSER)?;
        make(&Parameters::default()).map(Arc::from)
    }

    /// A rollout under the policy called `policy` with the world's own script, played by
    /// [`models::default_model`], paper
    /// instrumentation and an absent user.
    ///
    /// # Errors
    /// When a plugin cannot be made.
    pub fn rollout(&self, scene: &Scene, policy: &str, seed: u64) -> Result<Rollout, Error> {
        let model = models::default_model(&scene.script);
        let plugins = self.plugins(scene, &policy.into(), &model.into())?;
        Ok(Rollout::new(
            &scene.scenario,
            plugins,
            &setting(scene, seed),
        ))
    }
}

/// The setting of a single rollout: study seed 1, no stratum, paper instrumentation, absent user.
#[must_use]
pub fn setting(scene: &Scene, seed: u64) -> Setting {
    Setting {
        key: RolloutKey::new(1, scene.scenario.identity.clone(), seed),
        instrumentation: Instrumentation::PAPER,
        user: User::Absent,
    }
}

fn register(registry: &mut Registry) -> Result<(), DuplicateName> {
    policies::register(registry)?;
    field_policies::register(registry)?;
    models::register(registry)?;
    let info = |name: &str, summary: &str| PluginInfo {
        name: name.into(),
        summary: summary.into(),
        version: 1,
        parameters: Vec::new(),
    };
    registry.attackers.add(
        info(
            "fixed",
            "Every untrusted slot keeps what the world file says",
        ),
        Arc::new(|_| Ok(Box::new(Fixed))),
    )?;
    registry.auditors.add(
        info(
            "closure",
            "Checks that the labelled nodes are the reach of the untrusted sources",
        ),
        Arc::new(|_| Ok(Box::new(ClosureAuditor))),
    )
}
