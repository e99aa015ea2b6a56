//! The plugins of a study, looked up once: names, checked parameters, hashes and factories.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugins::action::ActionParser;
use plugins::compose::shadow::Shadow;
use plugins::model::PreparedModel;
use plugins::parameters::Parameters;
use plugins::policy::Policy;
use plugins::registry::{CreateError, Factory, ModelFactory, Origin, Registry};
use plugins::value::Text;
use xxhash_rust::xxh3::xxh3_128;

use super::file::Study;
use super::places::Field;
use super::problem::{StudyCode, StudyReport};
use super::{PlanError, PlannedScenario};
use crate::columns::Hash;
use crate::readings::{Readings, SharedReadings};

/// The parser through which every action passes.
pub const PARSER: &str = "appendix_i";

/// A policy of the study.
#[derive(Clone)]
pub struct CastPolicy {
    /// Its name.
    pub name: Text,
    /// Hash of its version, its parameters and what it is made of.
    pub hash: Hash,
    /// Where it comes from.
    pub origin: Origin,
    parameters: Parameters,
    factory: Factory<Box<dyn Policy>>,
}

/// A model backend of the study.
#[derive(Clone)]
pub struct CastModel {
    /// Its name.
    pub name: Text,
    /// Hash of its version and parameters, without configuration.
    pub hash: Hash,
    parameters: Parameters,
    factory: ModelFactory,
}

/// A model backend in one scenario, prepared once for all its rollouts.
#[derive(Clone)]
pub struct Part {
    /// Hash of the backend together with the scenario's configuration.
    pub profile_hash: Hash,
    /// What its rollouts get their instances from.
    pub prepared: Arc<dyn PreparedModel>,
    /// The parser, with what it has read so far.
    pub readings: Arc<Readings>,
}

/// Every plugin of a study.
#[derive(Clone)]
pub struct Cast {
    /// The policies in the order of the study.
    pub policies: Vec<CastPolicy>,
    /// The policy that is evaluated beside each of them and never enforced.
    pub shadow: Option<CastPolicy>,
    /// The models in the order of the study.
    pub models: Vec<CastModel>,
    /// The parser.
    pub parser: Arc<dyn ActionParser>,
    /// Hash of the parser's version and parameters.
    pub parser_hash: Hash,
}

impl std::fmt::Debug for Cast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.policies.iter().map(|policy| &*policy.name).collect();
        f.debug_struct("Cast")
            .field("policies", &names)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("profile_hash", &self.profile_hash)
            .finish_non_exhaustive()
    }
}

/// The hash of a model backend together with the configuration text that it is made from.
#[must_use]
pub fn profile_hash(resolved: Hash, configuration: &str) -> Hash {
    profile_hash_of(resolved, Hash(xxh3_128(configuration.as_bytes())))
}

/// The same, of the hash of the configuration text.
#[must_use]
pub const fn profile_hash_of(resolved: Hash, configuration_hash: Hash) -> Hash {
    Hash(resolved.0 ^ configuration_hash.0)
}

impl CastPolicy {
    /// A new instance.
    ///
    /// # Panics
    /// When the factory refuses parameters with which it made an instance before.
    #[must_use]
    pub fn make(&self) -> Box<dyn Policy> {
        (self.factory)(&self.parameters).expect("made before from the same parameters")
    }
}

impl Cast {
    /// A new instance of the policy at this position, with the shadow beside it if there is one.
    #[must_use]
    pub fn make(&self, policy: usize) -> Box<dyn Policy> {
        let live = self.policies[policy].make();
        match &self.shadow {
            Some(shadow) => Box::new(Shadow::new(live, shadow.make())),
            None => live,
        }
    }
}

impl CastModel {
    /// Hash of the backend as it plays a scenario with this configuration.
    #[must_use]
    pub fn profile_hash(&self, configuration: &str) -> Hash {
        profile_hash(self.hash, configuration)
    }

    /// The backend as it plays a scenario.
    fn part(&self, planned: &PlannedScenario, readings: Arc<Readings>) -> Result<Part, PlanError> {
        let refused = |error: CreateError| PlanError::Model {
            model: self.name.to_string(),
            scenario: planned.scenario.identity.to_string(),
            problem: error.to_string(),
        };
        let prepared = (self.factory)(&self.parameters, &planned.configuration);
        Ok(Part {
            profile_hash: self.profile_hash(&planned.configuration),
            prepared: prepared.map_err(refused)?,
            readings,
        })
    }
}

impl Cast {
    /// Looks up what the study names, and makes each policy once.
    pub(super) fn resolve(study: &Study, registry: &Registry) -> Result<Self, StudyReport> {
        let mut report = study.report();
        let mut policies = Vec::new();
        for (index, name) in study.policies.iter().enumerate() {
            match policy(name, registry) {
                Ok(policy) => policies.push(policy),
                Err(error) => {
                    let known = registry.policies.infos().map(|info| &*info.name);
                    report.refuse(
                        Field::Policies,
                        index,
                        StudyCode::UnknownPolicy,
                        &error,
                        known,
                    );
                }
            }
        }
        let mut models = Vec::new();
        for (index, name) in study.models.iter().enumerate() {
            match model(name, registry) {
                Ok(model) => models.push(model),
                Err(error) => {
                    let known = registry.models.infos().map(|info| &*info.name);
                    report.refuse(Field::Models, index, StudyCode::UnknownModel, &error, known);
                }
            }
        }
        let mut shadow = None;
        if let Some(name) = &study.shadow {
            match policy(name, registry) {
                Ok(policy) => shadow = Some(policy),
                Err(error) => {
                    let known = registry.policies.infos().map(|info| &*info.name);
                    report.refuse(Field::Shadow, 0, StudyCode::UnknownPolicy, &error, known);
                }
            }
        }
        match parser(registry) {
            Ok((parser, parser_hash)) if report.is_empty() => Ok(Self {
                policies,
                shadow,
                models,
                parser,
                parser_hash,
            }),
            Ok(_) => Err(report),
            Err(error) => {
                report.refuse(Field::Name, 0, StudyCode::UnknownParser, &error, []);
                Err(report)
            }
        }
    }

    /// Prepares every model for a scenario.
    pub(super) fn audition(
        &self,
        planned: &PlannedScenario,
        shared: &mut SharedReadings,
    ) -> Result<Vec<Part>, PlanError> {
        let readings = shared.of(&planned.scenario.briefing.tools, &self.parser);
        let models = self.models.iter();
        models
            .map(|model| model.part(planned, Arc::clone(&readings)))
            .collect()
    }
}

fn policy(name: &str, registry: &Registry) -> Result<CastPolicy, CreateError> {
    let (parameters, hash) = registry.policies.resolve(name, &BTreeMap::new())?;
    let factory = Arc::clone(registry.policies.find(name)?.1);
    factory(&parameters)?;
    Ok(CastPolicy {
        name: name.into(),
        hash: Hash(hash),
        origin: registry.policies.origin(name).expect("it was found before"),
        parameters,
        factory,
    })
}

fn model(name: &str, registry: &Registry) -> Result<CastModel, CreateError> {
    let (parameters, hash) = registry.models.resolve(name, &BTreeMap::new())?;
    Ok(CastModel {
        name: name.into(),
        hash: Hash(hash),
        parameters,
        factory: Arc::clone(registry.models.find(name)?.1),
    })
}

fn parser(registry: &Registry) -> Result<(Arc<dyn ActionParser>, Hash), CreateError> {
    let (parameters, hash) = registry.parsers.resolve(PARSER, &BTreeMap::new())?;
    let made = (registry.parsers.find(PARSER)?.1)(&parameters)?;
    Ok((Arc::from(made), Hash(hash)))
}
