//! Model backends and the action parser.
//!
//! [`register`] names what is in here; [`parser`] turns text into actions, [`emit`] writes them, and
//! [`scripted`] is the model that follows a script.

pub mod emit;
pub mod parser;
pub mod scripted;

use std::sync::Arc;

use plugins::registry::{CreateError, DuplicateName, PluginInfo, Registry};

use parser::AppendixIParser;
use scripted::Scripted;

/// Registers the parser `appendix_i` and the model `scripted`.
///
/// # Errors
/// When one of the names is taken.
pub fn register(registry: &mut Registry) -> Result<(), DuplicateName> {
    registry.parsers.add(
        PluginInfo {
            name: "appendix_i",
            summary: "Reads actions out of strict, fenced, prefixed, aliased and nearly valid JSON",
            version: 1,
            parameters: Vec::new(),
        },
        Arc::new(|_| Ok(Box::new(AppendixIParser))),
    )?;
    registry.models.add(
        PluginInfo {
            name: "scripted",
            summary: "Says what the script beside the world says, as far as it has seen what it needs",
            version: 1,
            parameters: Vec::new(),
        },
        Arc::new(|_, script| {
            Scripted::from_text(script)
                .map(|model| Box::new(model) as _)
                .map_err(|error| CreateError::Configuration(error.to_string()))
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
