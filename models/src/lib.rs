//! Model backends and the action parser.
//!
//! [`register`] names what is in here; [`parser`] turns text into actions, [`emit`] writes them, and
//! [`scripted`] is the model that follows a script, [`profile`] decides as a known model would what
//! a script leaves open, and [`recorded`] says again what was said before.

pub mod emit;
pub mod parser;
pub mod profile;
pub mod recorded;
pub mod scripted;
mod special;

use std::sync::Arc;

use plugins::parameters::{ParameterError, ParameterKind, ParameterSpec, Parameters};
use plugins::registry::{CreateError, DuplicateName, PluginInfo, Registry};

use parser::AppendixIParser;
use profile::{Profile, Profiled};
use recorded::{Recorded, Recording};
use scripted::{Script, ScriptError, Scripted};

/// Registers the parser `appendix_i`, the models `scripted` and `recorded`, and a model for every
/// shipped profile.
///
/// # Errors
/// When one of the names is taken.
pub fn register(registry: &mut Registry) -> Result<(), DuplicateName> {
    registry.parsers.add(
        PluginInfo {
            name: "appendix_i".into(),
            summary: "Reads actions out of strict, fenced, prefixed, aliased and nearly valid JSON"
                .into(),
            version: 1,
            parameters: Vec::new(),
        },
        Arc::new(|_| Ok(Box::new(AppendixIParser))),
    )?;
    registry.models.add(
        PluginInfo {
            name: "scripted".into(),
            summary:
                "Says what the script beside the world says, as far as it has seen what it needs"
                    .into(),
            version: 1,
            parameters: Vec::new(),
        },
        Arc::new(|_, script| {
            let refuse = |error: ScriptError| CreateError::Configuration(error.to_string());
            let script = Script::parse(script).map_err(refuse)?;
            if let Some((agent, step)) = script.open_step() {
                return Err(CreateError::Configuration(leaves_open(agent, step)));
            }
            Ok(Arc::new(Scripted::new(script)) as _)
        }),
    )?;
    for (name, summary, text) in profile::SHIPPED {
        register_profile(registry, name, summary, text)?;
    }
    register_recorded(registry)
}

/// That the model `scripted` cannot play a script.
fn leaves_open(agent: &str, step: usize) -> String {
    let profile = profile::SHIPPED[0].0;
    format!(
        "step {step} of `{agent}` leaves something to a behaviour profile, and `scripted` has none; \
         name a model that has one: `models: [\"{profile}\"]` in a study, `--model {profile}` elsewhere"
    )
}

/// The model that plays a script if none is named: one with a behaviour profile if the script leaves
/// something to it.
#[must_use]
pub fn default_model(script: &str) -> &'static str {
    let is_open = |script: Script| script.open_step().is_some();
    if Script::parse(script).is_ok_and(is_open) {
        profile::SHIPPED[0].0
    } else {
        "scripted"
    }
}

/// Registers a model that follows the script of a world as the profile in `text` says.
///
/// # Errors
/// When the name is taken. A profile that is not well formed is told when the model is made.
pub fn register_profile(
    registry: &mut Registry,
    name: &str,
    summary: &str,
    text: &str,
) -> Result<(), DuplicateName> {
    let profile = Profile::parse(text).map(Arc::new);
    let factory = move |_: &Parameters, script: &str| {
        let refuse = |error: ScriptError| CreateError::Configuration(error.to_string());
        let profile = profile.clone().map_err(refuse)?;
        let script = Script::parse(script).map(Arc::new).map_err(refuse)?;
        Ok(Arc::new(Profiled::new(script, profile)) as _)
    };
    let info = PluginInfo {
        name: name.into(),
        summary: summary.into(),
        version: 1,
        parameters: Vec::new(),
    };
    registry.models.add_from_text(info, text, Arc::new(factory))
}

/// Registers the model that plays a recording. The recording is a parameter and not the configuration,
/// which is the script of the world: so it is part of the hash of the model.
fn register_recorded(registry: &mut Registry) -> Result<(), DuplicateName> {
    let parameters = vec![ParameterSpec {
        name: recorded::PARAMETER,
        doc: "What the recording says, not the name of its file",
        kind: ParameterKind::Text(""),
    }];
    let info = PluginInfo {
        name: recorded::NAME.into(),
        summary:
            "Says again what was recorded with `run --record`, and fails if it is shown anything \
                  else; needs --recording FILE"
                .into(),
        version: 1,
        parameters,
    };
    registry.models.add(
        info,
        Arc::new(|parameters, _| {
            let text = parameters.text(recorded::PARAMETER);
            if text.is_empty() {
                return Err(CreateError::Parameters(ParameterError::Value {
                    plugin: recorded::NAME.to_owned(),
                    name: recorded::PARAMETER.to_owned(),
                    expected: "what a recording says".to_owned(),
                    found: String::new(),
                }));
            }
            match Recording::parse(text) {
                Ok(recording) => Ok(Arc::new(Recorded::new(recording))),
                Err(error) => Err(CreateError::Configuration(error.to_string())),
            }
        }),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn registration_names_both_and_refuses_twice() {
        let mut registry = Registry::new();
        register(&mut registry).unwrap();
        assert!(register(&mut registry).is_err());
        assert!(registry.parsers.find("appendix_i").is_ok());
    }

    #[test]
    fn the_model_is_made_from_its_script() {
        let mut registry = Registry::new();
        register(&mut registry).unwrap();
        let (parameters, _) = registry
            .models
            .resolve("scripted", &BTreeMap::new())
            .unwrap();
        let (_, factory) = registry.models.find("scripted").unwrap();
        assert!(factory(&parameters, "Script(agents: {})").is_ok());
        let error = factory(&parameters, "Script(\nagents: 3)").err().unwrap();
        assert_eq!(error.to_string(), "line 2, column 8: expected opening `{`");
    }
}
