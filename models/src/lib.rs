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
